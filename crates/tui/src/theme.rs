//! The colours and words of a skin, resolved for the terminal at hand.

use std::collections::BTreeMap;

use ratatui::style::{Modifier, Style};
use ratatui::text::Line;

use crate::skin::{Background, Depth, Skin, Spinner};
use crate::text::{clean_line, cut};

/// How things look. Made from a skin once, and again when the user chooses another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme {
    /// Ordinary text.
    pub text: Style,
    /// Text that matters less: hints, times, paths of results.
    pub faint: Style,
    /// Text that matters more.
    pub strong: Style,
    /// What can be acted on: prompts, selected entries, links.
    pub accent: Style,
    /// Names of things: headings, labels of panels.
    pub label: Style,
    /// It went well.
    pub good: Style,
    /// It needs attention.
    pub warn: Style,
    /// It failed, or is dangerous.
    pub bad: Style,
    /// Lines around panels and the composer.
    pub rule: Style,
    /// Inline code and code without a language.
    pub code: Style,
    /// Lines a change adds.
    pub added: Style,
    /// Lines a change removes.
    pub removed: Style,
    /// The entry of a list that is chosen.
    pub selected: Style,
    /// The status bar where nothing else is said.
    pub status: Style,
    /// What stands in front of the composer's first line.
    pub prompt_symbol: String,
    /// What stands in front of the agent's answers.
    pub response_label: String,
    /// What stands in front of a tool's line.
    pub tool_prefix: String,
    /// What the agent is called.
    pub agent_name: String,
    /// The symbol in front of the draft.
    pub prompt: Style,
    /// Lines around the agent's answers.
    pub answer_rule: Style,
    /// Names and titles of sessions.
    pub session_label: Style,
    /// The line that says a recording is under way.
    pub voice: Style,
    /// Parts of the status bar that say more than [`Theme::status`].
    pub bar: BarStyles,
    /// The list of completions.
    pub menu: MenuStyles,
    /// What is shown at the start.
    pub banner: BannerStyles,
    /// Parts of code.
    pub syntax: SyntaxStyles,
    /// What moves while the agent works.
    pub spinner: Spinner,
    /// Emoji of tools, by the tool's name.
    pub tool_emojis: BTreeMap<String, String>,
    /// What is said at the start, at the end and above the help.
    pub words: Words,
    /// Large letters above the banner.
    pub logo: Vec<Line<'static>>,
    /// The picture inside the banner.
    pub hero: Vec<Line<'static>>,
    /// How many colours there are.
    pub depth: Depth,
    /// What the text stands on.
    pub background: Background,
}

/// Styles of the status bar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BarStyles {
    /// What matters most: the model.
    pub strong: Style,
    /// What separates the parts.
    pub dim: Style,
    /// Plenty of context is left.
    pub good: Style,
    /// Half of the context is used.
    pub warn: Style,
    /// Little context is left, or something is down.
    pub bad: Style,
    /// The context is nearly full, or the mode is dangerous.
    pub critical: Style,
}

/// Styles of the list of completions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MenuStyles {
    /// An entry.
    pub entry: Style,
    /// The entry that is chosen.
    pub current: Style,
    /// What is said about an entry.
    pub meta: Style,
    /// What is said about the entry that is chosen.
    pub meta_current: Style,
}

/// Styles of what is shown at the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BannerStyles {
    /// The frame.
    pub border: Style,
    /// The name and version.
    pub title: Style,
    /// Headings.
    pub accent: Style,
    /// What matters less.
    pub dim: Style,
    /// What is listed.
    pub text: Style,
}

/// Styles of parts of code. Everything else is as [`Theme::text`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SyntaxStyles {
    /// Comments.
    pub comment: Style,
    /// Strings.
    pub string: Style,
    /// Numbers and other constants.
    pub constant: Style,
    /// Keywords and operators that are words.
    pub keyword: Style,
    /// Functions and macros.
    pub function: Style,
    /// Types, classes and tags.
    pub kind: Style,
}

/// What is said beside answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words {
    /// At the start.
    pub welcome: String,
    /// At the end.
    pub goodbye: String,
    /// Above the list of commands.
    pub help_header: String,
}

/// Columns of a name in front of the prompt.
const LONGEST_NAME: usize = 12;

impl Theme {
    /// The same with a name in front of the prompt, which says where one is.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        let name = cut(&clean_line(name), LONGEST_NAME);
        self.prompt_symbol = format!("{name} {}", self.prompt_symbol.trim());
        self
    }

    /// Without colours: for terminals that have none and people who want none.
    pub fn plain() -> Self {
        let plain = Style::new();
        let bold = plain.add_modifier(Modifier::BOLD);
        let dim = plain.add_modifier(Modifier::DIM);
        Self {
            text: plain,
            faint: dim,
            strong: bold,
            accent: bold,
            label: bold,
            good: plain,
            warn: bold,
            bad: bold,
            rule: dim,
            code: plain,
            added: plain,
            removed: dim,
            selected: plain.add_modifier(Modifier::REVERSED),
            status: plain.add_modifier(Modifier::REVERSED),
            prompt_symbol: "❯".to_owned(),
            response_label: "Hermes".to_owned(),
            tool_prefix: "┊".to_owned(),
            agent_name: "Hermes".to_owned(),
            prompt: plain,
            answer_rule: dim,
            session_label: bold,
            voice: plain.add_modifier(Modifier::REVERSED),
            bar: BarStyles {
                strong: plain.add_modifier(Modifier::REVERSED | Modifier::BOLD),
                dim: plain.add_modifier(Modifier::REVERSED),
                good: plain.add_modifier(Modifier::REVERSED),
                warn: plain.add_modifier(Modifier::REVERSED),
                bad: plain.add_modifier(Modifier::REVERSED | Modifier::BOLD),
                critical: plain.add_modifier(Modifier::REVERSED | Modifier::BOLD),
            },
            menu: MenuStyles {
                entry: plain,
                current: plain.add_modifier(Modifier::REVERSED),
                meta: dim,
                meta_current: dim,
            },
            banner: BannerStyles {
                border: dim,
                title: bold,
                accent: bold,
                dim,
                text: plain,
            },
            syntax: SyntaxStyles::default(),
            spinner: Spinner::default(),
            tool_emojis: BTreeMap::new(),
            words: Words::default(),
            logo: Vec::new(),
            hero: Vec::new(),
            depth: Depth::None,
            background: Background::Dark,
        }
    }
}

impl Default for Theme {
    fn default() -> Self {
        Skin::builtin("default")
            .unwrap_or_default()
            .theme(Depth::True, Background::Dark)
    }
}
