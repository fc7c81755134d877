//! What is known of a command.

/// Where a command can be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surface {
    /// At a terminal.
    Terminal,
    /// In a chat of a messaging platform.
    Messaging,
    /// Everywhere.
    Both,
}

impl Surface {
    /// Whether what is for this surface can be given on another.
    pub fn includes(self, other: Self) -> bool {
        self == Self::Both || self == other
    }
}

/// What a command is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// The conversation.
    Session,
    /// How Hermes behaves.
    Settings,
    /// What it can do.
    Tools,
    /// What there is to know, and leaving.
    Info,
}

impl Group {
    /// All of them, in the order help shows them.
    pub const ALL: [Self; 4] = [Self::Session, Self::Settings, Self::Tools, Self::Info];

    /// The heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Session => "Conversation",
            Self::Settings => "Settings",
            Self::Tools => "Tools and skills",
            Self::Info => "Information and leaving",
        }
    }
}

/// A command that is built in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandInfo {
    /// Its name, without the slash.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// What its arguments look like.
    pub hint: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// Where it can be given.
    pub surface: Surface,
    /// First arguments that are always the same, for completion.
    pub arguments: &'static [&'static str],
    /// Whether only the surface knows its arguments, such as models.
    pub dynamic: bool,
    /// Whether it takes something away that the user may want to keep.
    pub destructive: bool,
}

/// Whether the user said in advance that a destructive command need not be confirmed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consent {
    /// Whether it was said.
    pub given: bool,
    /// Whether it was said for good, with `--always`.
    pub lasting: bool,
    /// The arguments without it.
    pub rest: String,
}

impl CommandInfo {
    const fn new(
        surface: Surface,
        name: &'static str,
        hint: &'static str,
        about: &'static str,
    ) -> Self {
        Self {
            name,
            aliases: &[],
            hint,
            about,
            surface,
            arguments: &[],
            dynamic: false,
            destructive: false,
        }
    }

    pub(super) const fn also(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    pub(super) const fn takes(mut self, arguments: &'static [&'static str]) -> Self {
        self.arguments = arguments;
        self
    }

    pub(super) const fn dynamic(mut self) -> Self {
        self.dynamic = true;
        self
    }

    pub(super) const fn destructive(mut self) -> Self {
        self.destructive = true;
        self
    }

    /// Its name and other names.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// Looks for `now`, `--yes`, `-y` or `--always` among the arguments of a destructive command.
    pub fn consent(&self, arguments: &str) -> Consent {
        let agrees = |word: &&str| matches!(*word, "now" | "--yes" | "-y" | "--always");
        let words = || arguments.split_whitespace();
        if !self.destructive || !words().any(|word| agrees(&word)) {
            return Consent {
                given: false,
                lasting: false,
                rest: arguments.to_owned(),
            };
        }
        let rest: Vec<&str> = words().filter(|word| !agrees(word)).collect();
        Consent {
            given: true,
            lasting: words().any(|word| word == "--always"),
            rest: rest.join(" "),
        }
    }
}

pub(super) const fn both(
    name: &'static str,
    hint: &'static str,
    about: &'static str,
) -> CommandInfo {
    CommandInfo::new(Surface::Both, name, hint, about)
}

pub(super) const fn terminal(
    name: &'static str,
    hint: &'static str,
    about: &'static str,
) -> CommandInfo {
    CommandInfo::new(Surface::Terminal, name, hint, about)
}

pub(super) const fn messaging(
    name: &'static str,
    hint: &'static str,
    about: &'static str,
) -> CommandInfo {
    CommandInfo::new(Surface::Messaging, name, hint, about)
}
