//! What a line that begins with a slash asks for.

/// A command of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slash<'a> {
    Exit,
    Help,
    Status,
    /// Show the model, or change it.
    Model(Option<&'a str>),
    /// Make the history shorter, dwelling on something.
    Compress(Option<&'a str>),
    Retry,
    Undo,
    Rollback(Rollback<'a>),
    /// Switch asking off and on again.
    Yolo,
    /// End the processes in the background.
    Stop,
    /// Read the settings of MCP servers again.
    ReloadMcp(Option<&'a str>),
    Unknown(&'a str),
}

/// What is asked about the states files were in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rollback<'a> {
    List,
    Diff(&'a str),
    To {
        which: &'a str,
        file: Option<&'a str>,
    },
}

/// The commands and what they do, for `/help`.
pub(super) const HELP: &[(&str, &str)] = &[
    ("/status", "show the conversation and the model"),
    (
        "/model [NAME] [--provider NAME]",
        "show or change the model of this conversation",
    ),
    (
        "/compress [TOPIC]",
        "make the history shorter, keeping what concerns the topic",
    ),
    ("/retry", "answer the last message again"),
    ("/undo", "take the last message and its answer back"),
    ("/rollback", "list the checkpoints of this directory"),
    (
        "/rollback N [FILE]",
        "put the files, or one, back to a checkpoint",
    ),
    ("/rollback diff N", "show what changed since a checkpoint"),
    ("/yolo", "stop asking before risky commands, or ask again"),
    ("/stop", "end all processes in the background"),
    (
        "/reload-mcp",
        "read the settings of MCP servers again; `now` does not ask",
    ),
    ("/exit", "end"),
];

impl<'a> Slash<'a> {
    /// Reads a line; `None` when it is a message, such as one that begins with a path.
    pub(super) fn parse(line: &'a str) -> Option<Self> {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let name = word.strip_prefix('/')?;
        if name.is_empty() || name.contains('/') {
            return None;
        }
        let rest = Some(rest.trim()).filter(|rest| !rest.is_empty());
        Some(match name {
            "exit" | "quit" => Self::Exit,
            "help" => Self::Help,
            "status" => Self::Status,
            "model" => Self::Model(rest),
            "compress" | "compact" => Self::Compress(rest),
            "retry" => Self::Retry,
            "undo" => Self::Undo,
            "rollback" => Self::Rollback(Rollback::parse(rest)),
            "yolo" => Self::Yolo,
            "stop" => Self::Stop,
            "reload-mcp" | "reload_mcp" => Self::ReloadMcp(rest),
            _ => Self::Unknown(word),
        })
    }
}

impl<'a> Rollback<'a> {
    fn parse(rest: Option<&'a str>) -> Self {
        let Some(rest) = rest else {
            return Self::List;
        };
        match rest.split_once(char::is_whitespace) {
            Some(("diff", which)) => Self::Diff(which.trim()),
            Some((which, file)) => Self::To {
                which,
                file: Some(file.trim()),
            },
            None => Self::To {
                which: rest,
                file: None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Rollback, Slash};

    #[test]
    fn commands_are_told_from_messages() {
        for (line, expected) in [
            ("/quit", Some(Slash::Exit)),
            (" /model ", Some(Slash::Model(None))),
            ("/model lab:small", Some(Slash::Model(Some("lab:small")))),
            (
                "/compress the tests",
                Some(Slash::Compress(Some("the tests"))),
            ),
            ("/rollback", Some(Slash::Rollback(Rollback::List))),
            (
                "/rollback diff 2",
                Some(Slash::Rollback(Rollback::Diff("2"))),
            ),
            (
                "/rollback 2 src/my file.rs",
                Some(Slash::Rollback(Rollback::To {
                    which: "2",
                    file: Some("src/my file.rs"),
                })),
            ),
            ("/reload_mcp now", Some(Slash::ReloadMcp(Some("now")))),
            ("/nonsense", Some(Slash::Unknown("/nonsense"))),
            ("/etc/hosts looks wrong", None),
            ("what is 1/2", None),
            ("/", None),
        ] {
            assert_eq!(Slash::parse(line), expected, "{line}");
        }
    }
}
