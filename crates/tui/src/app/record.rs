//! Where what is finished goes: to the terminal's own history, or into a transcript.

use std::time::Duration;

use ratatui::text::Line;

use super::{App, Mode, Settings};
use crate::banner::Heading;
use crate::cells::{Answer, Cell, User, Writing};
use crate::theme::Theme;
use crate::transcript::{Look, Transcript, stamped};

/// What is finished.
pub(super) enum Record {
    /// Lines for the terminal's history, which were not written yet.
    Inline(Lines),
    /// Everything that was said.
    Full(Box<Transcript>),
}

/// Lines for the terminal's history.
#[derive(Default)]
pub(super) struct Lines {
    pub(super) finished: Vec<Line<'static>>,
    /// Whether something stands above the next line.
    pub(super) begun: bool,
}

impl Lines {
    fn push(&mut self, lines: Vec<Line<'static>>, apart: bool) {
        if lines.is_empty() {
            return;
        }
        if apart && self.begun {
            self.finished.push(Line::default());
        }
        self.finished.extend(lines);
        self.begun = true;
    }
}

impl Record {
    pub(super) fn new(settings: &Settings, theme: &Theme, size: (u16, u16)) -> Self {
        match settings.mode {
            Mode::Inline => Self::Inline(Lines::default()),
            Mode::Full => {
                let look = Look {
                    theme: theme.clone(),
                    sections: settings.sections,
                    stamps: settings.stamps.clone().filter(|_| settings.timestamps),
                };
                let mut transcript = Transcript::new(look, usize::from(size.0));
                transcript.resize(usize::from(size.0), usize::from(size.1));
                Self::Full(Box::new(transcript))
            }
        }
    }
}

impl App {
    pub(super) fn transcript(&mut self) -> Option<&mut Transcript> {
        match &mut self.record {
            Record::Inline(_) => None,
            Record::Full(transcript) => Some(transcript),
        }
    }

    /// Lines that are history from now on. In full screen there are none.
    pub fn take_finished(&mut self) -> Vec<Line<'static>> {
        match &mut self.record {
            Record::Inline(lines) => std::mem::take(&mut lines.finished),
            Record::Full(_) => Vec::new(),
        }
    }

    /// Makes a cell part of the history.
    pub(super) fn show(&mut self, cell: Cell) {
        let at = cell.is_said().then_some(self.now);
        self.show_from(cell, at);
    }

    pub(super) fn show_from(&mut self, cell: Cell, at: Option<Duration>) {
        let columns = self.columns();
        match &mut self.record {
            Record::Full(transcript) => transcript.push(cell, at),
            Record::Inline(lines) => {
                let mut made = cell.lines(columns, &self.theme);
                if let Some(time) = at.and_then(|at| self.settings.time(at)) {
                    stamped(&mut made, &time, columns, &self.theme);
                }
                lines.push(made, cell.stands_apart());
            }
        }
    }

    pub(super) fn show_heading(&mut self, heading: Heading) {
        let columns = self.columns();
        match &mut self.record {
            Record::Full(transcript) => transcript.push_heading(heading),
            Record::Inline(lines) => {
                let above = match heading.cleared {
                    true => usize::from(self.size.1),
                    false => 0,
                };
                let mut made = vec![Line::default(); above];
                made.extend(heading.lines(columns, &self.theme));
                lines.push(made, false);
            }
        }
    }

    pub(super) fn show_user(&mut self, text: impl Into<String>) {
        let cell = self.user_cell(text);
        self.show(cell);
    }

    /// What the user said, which is looked at now.
    pub(super) fn user_cell(&mut self, text: impl Into<String>) -> Cell {
        let preview = self.settings.preview;
        if let Some(transcript) = self.transcript() {
            transcript.go_to_end();
        }
        Cell::User(User {
            text: text.into(),
            first: preview.first,
            last: preview.last,
        })
    }

    /// The line above the answer under way.
    pub(super) fn answer_head(&self, since: Duration) -> Vec<Line<'static>> {
        let columns = self.columns();
        let answer = Answer {
            text: String::new(),
            label: None,
            marks: self.settings.marks,
        };
        let mut lines = vec![answer.head(columns, &self.theme)];
        if let Some(time) = self.settings.time(since) {
            stamped(&mut lines, &time, columns, &self.theme);
        }
        lines
    }

    /// An answer begins: its head is history already, where history cannot change any more.
    pub(super) fn begin_answer(&mut self) -> Writing {
        let head = self.answer_head(self.now);
        if let Record::Inline(lines) = &mut self.record {
            lines.push(head, true);
        }
        Writing::new(self.settings.marks, self.columns(), &self.theme)
    }

    /// What is complete of an answer goes to the terminal at once.
    pub(super) fn show_written(&mut self, writing: &mut Writing) {
        if let Record::Inline(lines) = &mut self.record {
            lines.finished.extend(writing.take_done());
        }
    }

    /// An answer is complete.
    pub(super) fn show_answer(&mut self, text: String, since: Duration) {
        let marks = self.settings.marks;
        if let Record::Full(transcript) = &mut self.record {
            let label = None;
            let answer = Answer { text, label, marks };
            transcript.push(Cell::Answer(answer), Some(since));
        }
    }
}

impl Settings {
    /// What time it was, when that is shown.
    fn time(&self, since_start: Duration) -> Option<String> {
        let stamps = self.stamps.as_ref().filter(|_| self.timestamps)?;
        Some(stamps.at(since_start))
    }
}
