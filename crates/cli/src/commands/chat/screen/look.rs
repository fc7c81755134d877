//! How the terminal at hand looks and behaves.

use std::cell::Cell;
use std::io::ErrorKind;

use hermes_config::{Config, Variable};
use hermes_tui::{Background, Depth, Skin, Theme};

use crate::commands::chat::profile;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;

/// Entries of the folder of skins that are looked at.
const MOST_SKINS: usize = 200;

/// What was found out about the terminal, and the theme for it.
pub(super) struct Look {
    pub(super) theme: Theme,
    /// Why it is not the one the settings name.
    pub(super) fault: Option<String>,
    depth: Depth,
    background: Cell<Background>,
    /// The profile in use, where it has a name.
    profile: Option<String>,
    /// Whether nobody said what the text stands on: the terminal may know.
    pub(super) asks: bool,
}

impl Look {
    pub(super) fn of(config: &Config, context: &Context) -> Self {
        let environment = &context.environment;
        let get = |variable: &Variable| environment.get(variable).unwrap_or_default();
        let depth = depth(get);
        let told = background(get);
        let mut look = Self {
            theme: Theme::plain(),
            fault: None,
            depth,
            background: Cell::new(told.unwrap_or(Background::Dark)),
            profile: profile(context),
            // Without colours it makes no difference.
            asks: told.is_none() && depth != Depth::None,
        };
        look.dress(&config.display.skin, context);
        look
    }

    /// The theme of a skin: the user's own file, or one that is built in.
    pub(super) fn dressed(&self, name: &str, context: &Context) -> Outcome<Theme> {
        let skin = match name {
            "" => Some(usual()),
            name => own(name, context)?.or_else(|| Skin::builtin(name)),
        };
        let skin = skin.ok_or_else(|| {
            let names = Self::names(context);
            let hint = match hermes_config::nearest(name, names.iter().map(String::as_str)) {
                Some(near) => format!("did you mean /skin {near}?"),
                None => "/skin lists them".to_owned(),
            };
            Complaint::bad_request(format!("there is no skin {name}")).hint(hint)
        })?;
        Ok(self.theme_of(&skin))
    }

    /// The theme of a skin, or the default one and why it is that.
    pub(super) fn shown(&self, name: &str, context: &Context) -> (Theme, Option<String>) {
        match self.dressed(name, context) {
            Ok(theme) => (theme, None),
            Err(complaint) => {
                let hint = match &complaint {
                    Complaint::Failed(failure) => failure.hint.clone(),
                    Complaint::ReaderGone | Complaint::Parser(_) | Complaint::Code(_) => None,
                };
                let cause = complaint.cause();
                let fault = match hint {
                    Some(hint) => format!("{cause}, so this is the default one; {hint}"),
                    None => format!("{cause}, so this is the default one"),
                };
                (self.theme_of(&usual()), Some(fault))
            }
        }
    }

    /// Looks like a skin from now on, as far as that can be used.
    pub(super) fn dress(&mut self, name: &str, context: &Context) {
        (self.theme, self.fault) = self.shown(name, context);
    }

    fn theme_of(&self, skin: &Skin) -> Theme {
        let theme = skin.theme(self.depth, self.background.get());
        match &self.profile {
            Some(name) => theme.named(name),
            None => theme,
        }
    }

    /// The terminal told what its text stands on; says whether that is new.
    pub(super) fn stand_on(&self, background: Background) -> bool {
        self.asks && self.background.replace(background) != background
    }
}

impl Look {
    /// The skins there are: those that are built in, and the user's own.
    pub(super) fn names(context: &Context) -> Vec<String> {
        let builtin = Skin::builtin_names().iter().map(ToString::to_string);
        let mut names: Vec<String> = builtin.collect();
        let folder = context.home().map(|home| home.path().join("skins"));
        let entries = folder
            .ok()
            .and_then(|folder| std::fs::read_dir(folder).ok());
        for entry in entries.into_iter().flatten().take(MOST_SKINS).flatten() {
            let path = entry.path();
            let name = path.file_stem().and_then(|stem| stem.to_str());
            if let Some(name) = name.filter(|_| path.extension().is_some_and(|end| end == "yaml"))
                && !names.iter().any(|known| known == name)
            {
                names.push(name.to_owned());
            }
        }
        names
    }

    /// What a skin says about itself; nothing where it cannot be read.
    pub(super) fn about(name: &str, context: &Context) -> String {
        let skin = own(name, context).ok().flatten();
        let skin = skin.or_else(|| Skin::builtin(name));
        skin.map(|skin| skin.description).unwrap_or_default()
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
    let unusable = |cause: &dyn std::fmt::Display| {
        let text = format!("the skin {} cannot be used: {cause}", path.display());
        Complaint::bad_request(text).hint("correct the file, or choose another skin with /skin")
    };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unusable(&error)),
    };
    let node = hermes_config::parse(&text, hermes_config::Layer::File)
        .map_err(|error| unusable(&error))?;
    let skin = serde_json::from_value(node.value.to_json()).map_err(|error| unusable(&error))?;
    Ok(Some(skin))
}

fn usual() -> Skin {
    Skin::builtin("default").unwrap_or_default()
}

fn depth<'a>(get: impl Fn(&Variable) -> &'a str) -> Depth {
    if !get(&Variable::NO_COLOR).is_empty() {
        return Depth::None;
    }
    if matches!(get(&Variable::COLORTERM), "truecolor" | "24bit") {
        return Depth::True;
    }
    match get(&Variable::TERM) {
        term if term.contains("direct") => Depth::True,
        term if term.contains("256color") => Depth::Ansi256,
        _ => Depth::Ansi16,
    }
}

/// `HERMES_TUI_THEME`, or the background that some terminals tell in `COLORFGBG`; nothing when neither says it.
fn background<'a>(get: impl Fn(&Variable) -> &'a str) -> Option<Background> {
    match get(&Variable::HERMES_TUI_THEME) {
        "light" => return Some(Background::Light),
        "dark" => return Some(Background::Dark),
        _ => {}
    }
    let colours = get(&Variable::COLORFGBG);
    match colours.rsplit(';').next() {
        Some("7" | "15") => Some(Background::Light),
        Some(colour) if colour.parse::<u8>().is_ok() => Some(Background::Dark),
        _ => None,
    }
}
