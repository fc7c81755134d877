//! What was said, as cells that are laid out where they are looked at.
//!
//! A place in it is a cell and a row of that cell, so nothing has to be known of the cells before: a new width
//! costs as much as one screen, however long the conversation is.

mod layout;
mod place;

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use ratatui::text::Line;

use crate::app::{Sections, Stamps};
use crate::banner::Heading;
use crate::cells::{Cell, Fold};
use crate::theme::Theme;

use layout::Laid;
pub(crate) use layout::{Shown, Tail, stamped};
use place::{Place, Spot};

/// Cells that are kept; the oldest go first. They are still in the session.
const MOST_CELLS: usize = 20_000;
/// Bytes of text that are kept.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// An entry of a transcript.
#[derive(Debug)]
struct Entry {
    body: Body,
    /// When it was said, since the start.
    at: Option<Duration>,
}

#[derive(Debug)]
enum Body {
    Cell(Cell),
    Heading(Box<Heading>),
}

/// How everything is shown.
#[derive(Debug)]
pub(crate) struct Look {
    pub(crate) theme: Theme,
    pub(crate) sections: Sections,
    /// What tells the times, when they are shown.
    pub(crate) stamps: Option<Stamps>,
}

/// What was said. Cells have numbers that stay theirs when older ones are dropped.
#[derive(Debug)]
pub(crate) struct Transcript {
    entries: VecDeque<Entry>,
    /// The number of the first.
    first: usize,
    weight: usize,
    look: Look,
    columns: usize,
    /// Rows of the window.
    window: usize,
    laid: Laid,
    place: Place,
    /// What was last drawn, which keys and clicks refer to.
    seen: Seen,
    /// The cell that keys fold.
    marked: Option<usize>,
}

#[derive(Debug, Default)]
struct Seen {
    top: Spot,
    rows: usize,
    /// The cell in each row.
    cells: Vec<Option<usize>>,
}

impl Transcript {
    pub(crate) fn new(look: Look, columns: usize) -> Self {
        Self {
            entries: VecDeque::new(),
            first: 0,
            weight: 0,
            look,
            columns: columns.max(1),
            window: usize::MAX,
            laid: Laid::default(),
            place: Place::End,
            seen: Seen::default(),
            marked: None,
        }
    }

    /// Adds a cell at the end.
    pub(crate) fn push(&mut self, mut cell: Cell, at: Option<Duration>) {
        if let Some(fold) = self.look.sections.of(&cell).fold() {
            cell.set_fold(fold);
        }
        self.add(Body::Cell(cell), at);
    }

    /// Adds what stands above a conversation.
    pub(crate) fn push_heading(&mut self, heading: Heading) {
        self.add(Body::Heading(Box::new(heading)), None);
    }

    fn add(&mut self, body: Body, at: Option<Duration>) {
        self.weight += body.weight();
        self.entries.push_back(Entry { body, at });
        while self.entries.len() > MOST_CELLS || self.weight > MOST_BYTES && self.entries.len() > 1
        {
            let Some(oldest) = self.entries.pop_front() else {
                break;
            };
            self.weight -= oldest.body.weight();
            self.laid.forget(self.first);
            self.first += 1;
            // It is the first now, and nothing sets it apart.
            self.laid.forget(self.first);
        }
    }

    /// Another conversation begins.
    pub(crate) fn clear(&mut self) {
        self.first += self.entries.len();
        self.entries.clear();
        self.weight = 0;
        self.laid.clear();
        self.place = Place::End;
        self.marked = None;
    }

    /// How everything is shown from now on.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Look)) {
        let sections = self.look.sections;
        change(&mut self.look);
        self.laid.clear();
        if self.look.sections == sections {
            return;
        }
        for entry in &mut self.entries {
            if let Body::Cell(cell) = &mut entry.body
                && let Some(fold) = self.look.sections.of(cell).fold()
            {
                cell.set_fold(fold);
            }
        }
    }

    pub(crate) fn resize(&mut self, columns: usize, window: usize) {
        let columns = columns.max(1);
        if (columns, window) != (self.columns, self.window) {
            (self.columns, self.window) = (columns, window);
            self.laid.clear();
        }
    }

    /// The number behind the last cell: what is not history yet stands there.
    fn end(&self) -> usize {
        self.first + self.entries.len()
    }

    fn entry(&self, number: usize) -> Option<&Entry> {
        self.entries.get(number.checked_sub(self.first)?)
    }

    fn cell(&self, number: usize) -> Option<&Cell> {
        match &self.entry(number)?.body {
            Body::Cell(cell) => Some(cell),
            Body::Heading(_) => None,
        }
    }

    /// The lines of a cell; none of one that is hidden.
    fn lines(&mut self, number: usize) -> Rc<[Line<'static>]> {
        if let Some(lines) = self.laid.get(number) {
            return lines;
        }
        let lines: Rc<[Line<'static>]> = self.lay_out(number).into();
        self.laid.put(number, &lines);
        lines
    }

    fn lay_out(&self, number: usize) -> Vec<Line<'static>> {
        let Some(entry) = self.entry(number) else {
            return Vec::new();
        };
        let (mut lines, apart) = match &entry.body {
            Body::Heading(heading) => (
                heading.lines_within(self.columns, self.window, &self.look.theme),
                true,
            ),
            Body::Cell(cell) => {
                if self.look.sections.of(cell).fold().is_none() {
                    return Vec::new();
                }
                (
                    cell.lines(self.columns, &self.look.theme),
                    cell.stands_apart(),
                )
            }
        };
        if let (Some(stamps), Some(at)) = (&self.look.stamps, entry.at) {
            stamped(&mut lines, &stamps.at(at), self.columns, &self.look.theme);
        }
        if apart && number > self.first && !lines.is_empty() {
            lines.insert(0, Line::default());
        }
        lines
    }

    /// Opens a cell, or folds it again.
    pub(crate) fn toggle(&mut self, number: usize) -> bool {
        let Some(index) = number.checked_sub(self.first) else {
            return false;
        };
        let Some(Body::Cell(cell)) = self.entries.get_mut(index).map(|entry| &mut entry.body)
        else {
            return false;
        };
        let fold = match cell.fold() {
            Some(Fold::Folded | Fold::Clamped) => Fold::Open,
            Some(Fold::Open) => Fold::Folded,
            None => return false,
        };
        cell.set_fold(fold);
        self.laid.forget(number);
        true
    }

    /// Opens or folds the cell that is marked, or the last one that is seen.
    pub(crate) fn toggle_marked(&mut self) -> bool {
        let seen = || {
            let cells = self.seen.cells.iter().rev().flatten();
            cells.copied().find(|cell| self.folds(*cell))
        };
        match self.marked.or_else(seen) {
            Some(number) => self.toggle(number),
            None => false,
        }
    }

    fn folds(&self, number: usize) -> bool {
        self.cell(number).is_some_and(|cell| {
            cell.fold().is_some() && self.look.sections.of(cell).fold().is_some()
        })
    }

    /// Marks the next cell that can be folded, before or behind the one that is marked, and brings it into view.
    pub(crate) fn mark(&mut self, back: bool) {
        let from = self.marked.unwrap_or(match back {
            true => self.end(),
            false => self.seen.top.cell,
        });
        let found = match back {
            true => (self.first..from).rev().find(|number| self.folds(*number)),
            false => (from + 1..self.end()).find(|number| self.folds(*number)),
        };
        let Some(number) = found else {
            return;
        };
        self.marked = Some(number);
        if !self.seen.cells.contains(&Some(number)) {
            let spot = Spot {
                cell: number,
                row: 0,
            };
            let above = self.back(spot, self.seen.rows / 3);
            self.place = Place::At(above);
        }
    }

    /// Nothing is marked any more; says whether something was.
    pub(crate) fn unmark(&mut self) -> bool {
        self.marked.take().is_some()
    }

    /// The cell in a row of what was last drawn.
    pub(crate) fn cell_in(&self, row: usize) -> Option<usize> {
        self.seen.cells.get(row).copied().flatten()
    }
}

impl Body {
    fn weight(&self) -> usize {
        match self {
            Self::Cell(cell) => cell.weight(),
            Self::Heading(_) => 0,
        }
    }
}

#[cfg(test)]
#[path = "transcript_tests.rs"]
mod tests;
