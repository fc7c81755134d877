//! A skin and a terminal make a theme.

use std::collections::BTreeMap;

use ratatui::style::{Modifier, Style};

use super::colour::{Background, Depth, Rgb};
use super::data::{Skin, Spinner};
use super::markup::markup;
use crate::text::clean_line;
use crate::theme::{BannerStyles, BarStyles, MenuStyles, SyntaxStyles, Theme, Words};

impl Skin {
    /// How things look on a terminal with these abilities. Colours that could not be read on its ground are
    /// moved until they can.
    pub fn theme(&self, depth: Depth, background: Background) -> Theme {
        let base = Self::builtin("default").unwrap_or_default();
        let from = Source {
            skin: self,
            base: &base,
            depth,
            background,
        };
        let mut theme = if depth == Depth::None {
            Theme::plain()
        } else {
            from.coloured()
        };
        from.speak(&mut theme);
        theme
    }
}

struct Source<'a> {
    skin: &'a Skin,
    base: &'a Skin,
    depth: Depth,
    background: Background,
}

impl Source<'_> {
    fn rgb(&self, key: &str) -> Rgb {
        let read = |skin: &Skin| skin.colors.get(key).and_then(|value| Rgb::parse(value));
        read(self.skin)
            .or_else(|| read(self.base))
            .unwrap_or(Rgb(0x88, 0x88, 0x88))
    }

    /// Text in this colour on the terminal's own ground.
    fn ink(&self, key: &str) -> Style {
        self.paint(self.rgb(key).legible_on(self.background.ground()), None)
    }

    /// Text in one colour on a ground of another. Sixteen colours hold no tint: two grounds that differ may
    /// become one, so there the terminal's own is kept.
    fn block(&self, text: &str, ground: &str) -> Style {
        if self.depth == Depth::Ansi16 {
            return self.ink(text);
        }
        let ground = self.rgb(ground).ground_for(self.background);
        self.paint(self.rgb(text).legible_on(ground), Some(ground))
    }

    /// Like a block, for what must be told from its neighbours.
    fn chosen(&self, text: &str, ground: &str) -> Style {
        let style = self.block(text, ground).add_modifier(Modifier::BOLD);
        if self.depth == Depth::Ansi16 {
            style.add_modifier(Modifier::REVERSED)
        } else {
            style
        }
    }

    fn paint(&self, ink: Rgb, ground: Option<Rgb>) -> Style {
        let mut style = Style::new();
        style.fg = ink.shown(self.depth);
        style.bg = ground.and_then(|ground| ground.shown(self.depth));
        style
    }

    fn coloured(&self) -> Theme {
        let bold = |style: Style| style.add_modifier(Modifier::BOLD);
        let text = |key| self.block(key, "status_bar_bg");
        Theme {
            faint: self.ink("session_border"),
            accent: self.ink("ui_accent"),
            label: self.ink("ui_label"),
            good: self.ink("ui_ok"),
            warn: self.ink("ui_warn"),
            bad: self.ink("ui_error"),
            rule: self.ink("input_rule"),
            code: self.ink("banner_dim"),
            added: self.ink("ui_ok"),
            removed: self.ink("ui_error"),
            selected: self.chosen("ui_accent", "selection_bg"),
            status: text("status_bar_text"),
            prompt: self.ink("prompt"),
            answer_rule: self.ink("response_border"),
            session_label: self.ink("session_label"),
            voice: self.block("status_bar_text", "voice_status_bg"),
            bar: BarStyles {
                strong: bold(text("status_bar_strong")),
                dim: text("status_bar_dim"),
                good: text("status_bar_good"),
                warn: text("status_bar_warn"),
                bad: text("status_bar_bad"),
                critical: bold(text("status_bar_critical")),
            },
            menu: MenuStyles {
                entry: self.block("banner_text", "completion_menu_bg"),
                current: self.chosen("banner_title", "completion_menu_current_bg"),
                meta: self.block("status_bar_dim", "completion_menu_meta_bg"),
                meta_current: self.block("banner_text", "completion_menu_meta_current_bg"),
            },
            banner: BannerStyles {
                border: self.ink("banner_border"),
                title: bold(self.ink("banner_title")),
                accent: self.ink("banner_accent"),
                dim: self.ink("banner_dim"),
                text: self.ink("banner_text"),
            },
            syntax: SyntaxStyles {
                comment: self.ink("session_border"),
                string: self.ink("ui_ok"),
                constant: self.ink("ui_warn"),
                keyword: self.ink("ui_accent"),
                function: self.ink("banner_title"),
                kind: self.ink("ui_label"),
            },
            ..Theme::plain()
        }
    }

    /// The words. They come from a file that anybody may have written, and go to the screen.
    fn speak(&self, theme: &mut Theme) {
        let word = |key: &str| {
            let own = |skin: &Skin| {
                skin.branding
                    .get(key)
                    .map(|text| clean_line(text))
                    .filter(|text| !text.is_empty())
            };
            own(self.skin)
                .or_else(|| own(self.base))
                .unwrap_or_default()
        };
        theme.depth = self.depth;
        theme.background = self.background;
        theme.agent_name = word("agent_name");
        theme.prompt_symbol = word("prompt_symbol");
        theme.response_label = word("response_label");
        theme.words = Words {
            welcome: word("welcome"),
            goodbye: word("goodbye"),
            help_header: word("help_header"),
        };
        let prefix = [&self.skin.tool_prefix, &self.base.tool_prefix]
            .into_iter()
            .find(|prefix| !prefix.is_empty());
        theme.tool_prefix = prefix.map(|prefix| clean_line(prefix)).unwrap_or_default();
        theme.tool_emojis = cleaned(self.base)
            .chain(cleaned(self.skin))
            .collect::<BTreeMap<_, _>>();
        theme.spinner = self.spinner();
        let art = |own: &str, base: &str| {
            markup(
                if own.is_empty() { base } else { own },
                self.depth,
                self.background,
            )
        };
        theme.logo = art(&self.skin.banner_logo, &self.base.banner_logo);
        theme.hero = art(&self.skin.banner_hero, &self.base.banner_hero);
    }

    fn spinner(&self) -> Spinner {
        let list = |pick: fn(&Spinner) -> &Vec<String>| -> Vec<String> {
            let own = pick(&self.skin.spinner);
            let chosen = if own.is_empty() {
                pick(&self.base.spinner)
            } else {
                own
            };
            chosen
                .iter()
                .map(|text| clean_line(text))
                .filter(|text| !text.is_empty())
                .collect()
        };
        let wings = self.skin.spinner.wings.iter();
        Spinner {
            waiting_faces: list(|spinner| &spinner.waiting_faces),
            thinking_faces: list(|spinner| &spinner.thinking_faces),
            thinking_verbs: list(|spinner| &spinner.thinking_verbs),
            wings: wings
                .map(|(left, right)| (clean_line(left), clean_line(right)))
                .collect(),
        }
    }
}

fn cleaned(skin: &Skin) -> impl Iterator<Item = (String, String)> {
    skin.tool_emojis
        .iter()
        .map(|(tool, emoji)| (tool.clone(), clean_line(emoji)))
}

#[cfg(test)]
#[path = "resolve_tests.rs"]
mod tests;
