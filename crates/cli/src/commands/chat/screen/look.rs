//! How the terminal at hand looks and behaves.

use hermes_config::Config;
use hermes_tui::{Background, Depth, Skin, Theme};

use crate::complaint::Outcome;
use crate::context::Context;

/// What was found out about the terminal, and the theme for it.
pub(super) struct Look {
    pub(super) theme: Theme,
    depth: Depth,
    background: Background,
}

impl Look {
    pub(super) fn of(config: &Config, context: &Context) -> Outcome<Self> {
        let environment = &context.environment;
        let get = |name: &str| environment.get(name).unwrap_or_default();
        let depth = depth(get);
        let background = background(get);
        let mut look = Self {
            theme: Theme::plain(),
            depth,
            background,
        };
        look.theme = look.dressed(&config.display.skin, context)?;
        Ok(look)
    }

    /// The theme of a skin: the user's own file, or one that is built in, or the default.
    pub(super) fn dressed(&self, name: &str, context: &Context) -> Outcome<Theme> {
        if self.depth == Depth::None {
            return Ok(Theme::plain());
        }
        let skin = match own(name, context)? {
            Some(skin) => skin,
            None => Skin::builtin(name)
                .or_else(|| Skin::builtin("default"))
                .unwrap_or_default(),
        };
        Ok(skin.theme(self.depth, self.background))
    }
}

/// A skin of the user's: `skins/NAME.yaml` in the home.
fn own(name: &str, context: &Context) -> Outcome<Option<Skin>> {
    let plain = !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || "-_".contains(c));
    if !plain {
        return Ok(None);
    }
    let path = context
        .home()?
        .path()
        .join("skins")
        .join(format!("{name}.yaml"));
    let Ok(text) = std::fs::read_to_string(path) else {
        return Ok(None);
    };
    let value = hermes_config::parse(&text, hermes_config::Layer::File)
        .map(|node| node.value.to_json())
        .ok();
    Ok(value.and_then(|value| serde_json::from_value(value).ok()))
}

fn depth<'a>(get: impl Fn(&str) -> &'a str) -> Depth {
    if !get("NO_COLOR").is_empty() {
        return Depth::None;
    }
    if matches!(get("COLORTERM"), "truecolor" | "24bit") {
        return Depth::True;
    }
    match get("TERM") {
        term if term.contains("direct") => Depth::True,
        term if term.contains("256color") => Depth::Ansi256,
        _ => Depth::Ansi16,
    }
}

/// `HERMES_TUI_THEME`, or the background that some terminals tell in `COLORFGBG`.
fn background<'a>(get: impl Fn(&str) -> &'a str) -> Background {
    match get("HERMES_TUI_THEME") {
        "light" => return Background::Light,
        "dark" => return Background::Dark,
        _ => {}
    }
    match get("COLORFGBG").rsplit(';').next() {
        Some("7" | "15") => Background::Light,
        _ => Background::Dark,
    }
}
