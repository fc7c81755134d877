//! What is asked of the guard, and what it answers.

/// Something a tool wants to do.
pub(crate) struct Action<'a> {
    pub(super) tool: &'static str,
    pub(super) text: &'a str,
    pub(super) kind: Kind<'a>,
}

/// Of which kind it is.
pub(super) enum Kind<'a> {
    /// A shell command.
    Command,
    /// A Python script.
    Script,
    /// A command the sandbox refused, and the line that says so.
    Outside(&'a str),
}

impl<'a> Action<'a> {
    /// Running a shell command.
    pub(crate) fn command(tool: &'static str, text: &'a str) -> Self {
        let kind = Kind::Command;
        Self { tool, text, kind }
    }

    /// Running a Python script.
    pub(crate) fn script(tool: &'static str, text: &'a str) -> Self {
        let kind = Kind::Script;
        Self { tool, text, kind }
    }

    /// Running a command again without its sandbox.
    pub(crate) fn outside(tool: &'static str, text: &'a str, line: &'a str) -> Self {
        let kind = Kind::Outside(line);
        Self { tool, text, kind }
    }
}

/// What came of asking.
pub(crate) enum Clearance {
    /// It may run.
    Cleared(Cleared),
    /// It must not; what the model is told.
    Refused(String),
}

/// How something may run.
#[derive(Default)]
pub(crate) struct Cleared {
    /// What results say about the approval.
    pub(crate) note: Option<String>,
    /// Whether files may be other ones after it.
    pub(crate) changes_files: bool,
}
