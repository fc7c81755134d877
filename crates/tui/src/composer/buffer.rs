//! The text being written, with its cursor.

mod erase;
mod kill;
mod place;
mod step;
mod undo;

#[cfg(test)]
mod properties;

use std::ops::Range;

use unicode_segmentation::GraphemeCursor;

use kill::Kills;
pub use place::Placed;
use undo::{Edit, Kind, Undo};

/// What a text being written may take; pastes that are longer are kept aside.
pub const LONGEST_TEXT: usize = 1024 * 1024;

/// A text and a cursor that always stands between two graphemes.
#[derive(Debug, Clone, Default)]
pub struct Buffer {
    text: String,
    cursor: usize,
    /// The column that moving up and down aims for.
    goal: Option<usize>,
    undo: Undo,
    kills: Kills,
    /// Whether the last thing done was a kill or a yank, which the next one goes on with.
    chain: Chain,
}

/// What the last action was, as far as the next one depends on it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Chain {
    #[default]
    None,
    Kill,
    Yank(Range<usize>),
}

impl Buffer {
    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where the cursor stands, in bytes.
    pub fn cursor(&self) -> usize {
        self.cursor
    }

    /// Whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// What stands in front of the cursor.
    pub fn before(&self) -> &str {
        self.text.get(..self.cursor).unwrap_or_default()
    }

    /// What stands behind the cursor.
    pub fn after(&self) -> &str {
        self.text.get(self.cursor..).unwrap_or_default()
    }

    /// Puts a text at the cursor. What would exceed the limit is left out, and then it says no.
    pub fn insert(&mut self, text: &str) -> bool {
        let fitting = fitting(text, LONGEST_TEXT.saturating_sub(self.text.len()));
        let kind = match fitting.chars().nth(1) {
            None => Kind::Typing,
            Some(_) => Kind::Other,
        };
        self.edit(self.cursor..self.cursor, fitting, kind);
        fitting.len() == text.len()
    }

    /// Replaces a stretch; offsets inside a character count as the character's start.
    pub fn replace(&mut self, range: Range<usize>, with: &str) {
        let start = floor(&self.text, range.start);
        let end = floor(&self.text, range.end).max(start);
        self.edit(start..end, with, Kind::Other);
    }

    /// Replaces everything; the cursor goes to the end. Undo brings the old text back.
    pub fn set_text(&mut self, text: &str) {
        let whole = 0..self.text.len();
        self.edit(whole, fitting(text, LONGEST_TEXT), Kind::Other);
    }

    /// Takes the text away, with everything that could be undone.
    pub fn take(&mut self) -> String {
        self.undo = Undo::default();
        self.chain = Chain::None;
        self.goal = None;
        self.cursor = 0;
        std::mem::take(&mut self.text)
    }

    /// Takes the last change back.
    pub fn undo(&mut self) -> bool {
        let undone = self.undo.back();
        self.apply(undone)
    }

    /// Makes the last change that was taken back again.
    pub fn redo(&mut self) -> bool {
        let redone = self.undo.forth();
        self.apply(redone)
    }

    fn apply(&mut self, edit: Option<Edit>) -> bool {
        let Some(edit) = edit else { return false };
        self.text
            .replace_range(edit.at..edit.at + edit.removed.len(), &edit.inserted);
        self.moved(edit.after);
        true
    }

    /// Every change goes through here.
    fn edit(&mut self, range: Range<usize>, with: &str, kind: Kind) {
        let removed = self.text.get(range.clone()).unwrap_or_default().to_owned();
        if removed.is_empty() && with.is_empty() {
            return;
        }
        // A carriage return in front of a newline would make one grapheme of two.
        let with = match with.contains('\r') {
            true => with.replace("\r\n", "\n").replace('\r', "\n"),
            false => with.to_owned(),
        };
        let before = self.cursor;
        self.text.replace_range(range.clone(), &with);
        self.goal = None;
        self.chain = Chain::None;
        self.cursor = self.boundary(range.start + with.len());
        let edit = Edit {
            at: range.start,
            removed,
            inserted: with,
            before,
            after: self.cursor,
        };
        self.undo.note(edit, kind);
    }

    /// The cursor was moved: what is typed next is undone by itself.
    fn moved(&mut self, to: usize) {
        self.cursor = to;
        self.goal = None;
        self.chain = Chain::None;
        self.undo.close();
    }

    /// The first place between graphemes that is not in front of an offset.
    fn boundary(&self, offset: usize) -> usize {
        let mut place = GraphemeCursor::new(offset, self.text.len(), true);
        match place.is_boundary(&self.text, 0) {
            Ok(true) => offset,
            _ => place
                .next_boundary(&self.text, 0)
                .ok()
                .flatten()
                .unwrap_or(self.text.len()),
        }
    }
}

/// As much of a text as a number of bytes holds.
fn fitting(text: &str, bytes: usize) -> &str {
    text.get(..floor(text, bytes)).unwrap_or_default()
}

/// The start of the character an offset lies in.
fn floor(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}
