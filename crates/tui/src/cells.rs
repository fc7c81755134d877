//! What a transcript is made of. A cell turns into lines for a width.

mod ends;
mod output;
mod says;
mod thinks;
mod tool;

use ratatui::text::Line;

use crate::diff::Diff;
use crate::theme::Theme;

pub use ends::{Failure, Level, Notice, Recap, TurnEnd};
pub use output::Output;
pub use says::{Answer, Marks, User};
pub use thinks::Reasoning;
pub use tool::{Tool, ToolState, tool_verb};

/// Whether a cell shows everything it has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Fold {
    /// One line.
    #[default]
    Folded,
    /// Everything.
    Open,
}

/// An entry of a transcript.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// What the user wrote.
    User(User),
    /// What the agent answered.
    Answer(Answer),
    /// What the model thought.
    Reasoning(Reasoning),
    /// What a tool does or did.
    Tool(Tool),
    /// What changed in files.
    Diff(Diff),
    /// Something worth knowing.
    Notice(Notice),
    /// Something that failed.
    Failure(Failure),
    /// What a turn took.
    TurnEnd(TurnEnd),
    /// What was said before, in a session that is taken up again.
    Recap(Recap),
}

impl Cell {
    /// Its lines.
    pub fn lines(&self, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
        match self {
            Self::User(cell) => cell.lines(columns, theme),
            Self::Answer(cell) => cell.lines(columns, theme),
            Self::Reasoning(cell) => cell.lines(columns, theme),
            Self::Tool(cell) => cell.lines(columns, theme),
            Self::Diff(cell) => cell.lines(columns, theme),
            Self::Notice(cell) => cell.lines(columns, theme),
            Self::Failure(cell) => cell.lines(columns, theme),
            Self::TurnEnd(cell) => cell.lines(columns, theme),
            Self::Recap(cell) => cell.lines(columns, theme),
        }
    }
}

#[cfg(test)]
#[path = "cells_tests.rs"]
mod tests;
