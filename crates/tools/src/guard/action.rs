//! What is asked of the guard, and what it answers.

use std::borrow::Cow;
use std::path::Path;

use hermes_core::Reach;
use hermes_policy::{Leaving, Reviewed, Typed};

/// Something a tool wants to do.
pub(crate) struct Action<'a> {
    pub(super) tool: &'static str,
    pub(super) text: &'a str,
    pub(super) kind: Kind<'a>,
}

/// Of which kind it is.
#[derive(Clone, Copy)]
pub(super) enum Kind<'a> {
    /// A shell command.
    Command,
    /// A Python script.
    Script,
    /// A text for a program that runs in the background, and where that was started.
    Typed(Typed<'a>, &'a Path),
    /// A command the sandbox refused, and the line that says so.
    Outside(&'a str),
    /// A script the sandbox refused something, and the line that says so.
    ScriptOutside(&'a str),
    /// A change of a file that the sandbox would not let a command make.
    Change(&'a Leaving),
}

impl Kind<'_> {
    /// How far a yes may reach, for what leaves the sandbox. One refusal of a command says nothing about the
    /// next one.
    pub(super) fn leaves(&self) -> Option<Reach> {
        match self {
            Self::Command | Self::Script | Self::Typed(..) => None,
            Self::Outside(_) | Self::ScriptOutside(_) | Self::Change(Leaving::Guarded(_)) => {
                Some(Reach::Once)
            }
            Self::Change(Leaving::Outside { .. }) => Some(Reach::Session),
        }
    }

    /// Whether a person may have another one run in its place.
    pub(super) fn is_editable(&self) -> bool {
        match self {
            Self::Command => true,
            Self::Script
            | Self::Typed(..)
            | Self::Outside(_)
            | Self::ScriptOutside(_)
            | Self::Change(_) => false,
        }
    }
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

    /// Typing something into a program that runs.
    pub(crate) fn typed(tool: &'static str, typed: Typed<'a>, directory: &'a Path) -> Self {
        Self {
            tool,
            text: typed.text,
            kind: Kind::Typed(typed, directory),
        }
    }

    /// What a reviewing model is shown of it.
    pub(super) fn reviewed(&self) -> (Reviewed, Cow<'a, str>) {
        match self.kind {
            Kind::Script | Kind::ScriptOutside(_) => (Reviewed::Script, self.text.into()),
            // What a text does depends on who reads it, and on the line that it ends.
            Kind::Typed(typed, _) => {
                let (command, line) = (typed.command, typed.line());
                let shown =
                    format!("{command}\n\nTyped into the program that this started:\n{line}");
                (Reviewed::Typed, shown.into())
            }
            Kind::Command | Kind::Outside(_) | Kind::Change(_) => {
                (Reviewed::Command, self.text.into())
            }
        }
    }

    /// Running a command again without its sandbox.
    pub(crate) fn outside(tool: &'static str, text: &'a str, line: &'a str) -> Self {
        let kind = Kind::Outside(line);
        Self { tool, text, kind }
    }

    /// Running a Python script again without its sandbox.
    pub(crate) fn script_outside(tool: &'static str, text: &'a str, line: &'a str) -> Self {
        let kind = Kind::ScriptOutside(line);
        Self { tool, text, kind }
    }

    /// Changing a file outside the sandbox. The text names the file.
    pub(crate) fn change(tool: &'static str, text: &'a str, leaving: &'a Leaving) -> Self {
        let kind = Kind::Change(leaving);
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
    /// What a person put in its place: this runs.
    pub(crate) instead: Option<String>,
    /// Whether files may be other ones after it.
    pub(crate) changes_files: bool,
    /// Whether functions or aliases of the shell may be other ones after it.
    pub(crate) defines: bool,
}
