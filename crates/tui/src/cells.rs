//! What a transcript is made of. A cell turns into lines for a width.

mod ends;
mod output;
mod says;
mod thinks;
mod tool;
mod writing;

use ratatui::text::Line;

use crate::diff::Diff;
use crate::theme::Theme;

pub use ends::{Exchange, Failure, Level, Notice, Recap, TurnEnd};
pub use output::Output;
pub use says::{Answer, Marks, User};
pub use thinks::Reasoning;
pub use tool::{Tool, ToolState, tool_verb};
pub(crate) use writing::Writing;

/// Whether a cell shows everything it has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Fold {
    /// One line.
    #[default]
    Folded,
    /// A few lines of a thought; anything else is folded.
    Clamped,
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

    /// Whether it stands apart from what is before it. Calls and what they changed stand together.
    pub(crate) fn stands_apart(&self) -> bool {
        !matches!(self, Self::Tool(_) | Self::Diff(_))
    }

    /// Whether somebody said it.
    pub(crate) fn is_said(&self) -> bool {
        matches!(self, Self::User(_) | Self::Answer(_))
    }

    /// Whether it shows everything; nothing when there is no more to show.
    pub(crate) fn fold(&self) -> Option<Fold> {
        match self {
            Self::Reasoning(cell) => Some(cell.fold),
            Self::Tool(cell) => Some(cell.fold),
            Self::User(_)
            | Self::Answer(_)
            | Self::Diff(_)
            | Self::Notice(_)
            | Self::Failure(_)
            | Self::TurnEnd(_)
            | Self::Recap(_) => None,
        }
    }

    /// Folds it or opens it, where it can be.
    pub(crate) fn set_fold(&mut self, fold: Fold) {
        match self {
            Self::Reasoning(cell) => cell.fold = fold,
            Self::Tool(cell) => cell.fold = fold,
            _ => {}
        }
    }

    /// About how many bytes of text it holds.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Self::User(cell) => cell.text.len(),
            Self::Answer(cell) => cell.text.len(),
            Self::Reasoning(cell) => cell.text.len(),
            Self::Tool(cell) => cell.preview.len() + cell.output.bytes(),
            Self::Diff(cell) => cell.bytes(),
            Self::Notice(cell) => cell.text.len(),
            Self::Failure(cell) => cell.message.len() + cell.next.as_ref().map_or(0, String::len),
            Self::TurnEnd(_) => 0,
            Self::Recap(cell) => {
                let said = cell.exchanges.iter();
                said.map(|one| {
                    let steps = one.steps.iter().map(Self::weight).sum::<usize>();
                    one.asked.len() + one.answered.len() + steps
                })
                .sum()
            }
        }
    }
}

#[cfg(test)]
#[path = "cells_tests.rs"]
mod tests;
