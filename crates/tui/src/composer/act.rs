//! What actions do.

use super::buffer::Buffer;
use super::history::Search;
use super::keys::Action;
use super::paste::Expanded;
use super::{Composer, Message, Outcome, ghost};

impl Composer {
    pub(super) fn act(&mut self, action: Action) -> Outcome {
        match action {
            Action::Insert(letter) => self.insert(letter.encode_utf8(&mut [0; 4])),
            Action::NewLine => self.insert("\n"),
            Action::Send => self.send(),
            Action::Complete => self.tab(),
            Action::Escape if self.complete.is_open() => {
                self.complete.close();
                Outcome::Changed
            }
            Action::Up if self.complete.is_open() => {
                self.complete.up();
                Outcome::Changed
            }
            Action::Down if self.complete.is_open() => {
                self.complete.down();
                Outcome::Changed
            }
            Action::Up => self.up(),
            Action::Down => self.down(),
            Action::Right => self.right(),
            Action::Backspace => self.backspace(),
            Action::DeleteOrLeave if self.is_empty() => Outcome::Leave,
            Action::Search => {
                self.search = Some(Search::new(self.buffer.text()));
                self.complete.reset();
                Outcome::Changed
            }
            Action::Chord => {
                self.chord = true;
                Outcome::Nothing
            }
            Action::Editor => Outcome::Editor,
            Action::ClipboardImage => Outcome::ClipboardImage,
            Action::Record => Outcome::Record,
            Action::Interrupt => Outcome::Interrupt,
            Action::Cancel => Outcome::Cancel,
            Action::Suspend => Outcome::Suspend,
            Action::Repaint => Outcome::Repaint,
            Action::Escape => Outcome::Escape,
            Action::Help => Outcome::Help,
            Action::SearchNewer => Outcome::Nothing,
            other => self.change(other),
        }
    }

    /// Actions that concern the text alone.
    fn change(&mut self, action: Action) -> Outcome {
        let before = (self.buffer.text().len(), self.buffer.cursor());
        let text = match alters(action) {
            true => Some(self.buffer.text().to_owned()),
            false => None,
        };
        apply(&mut self.buffer, action);
        match text {
            Some(text) if text != self.buffer.text() => self.edited(),
            _ if before == (self.buffer.text().len(), self.buffer.cursor()) => Outcome::Nothing,
            // The popup belongs to the word the cursor was at.
            _ => {
                self.complete.reset();
                Outcome::Changed
            }
        }
    }

    /// The text is another one now.
    pub(super) fn edited(&mut self) -> Outcome {
        self.history.settle();
        self.look(false)
    }

    fn look(&mut self, asked: bool) -> Outcome {
        let request = self
            .complete
            .refresh(self.buffer.text(), self.buffer.cursor(), asked);
        request.map_or(Outcome::Changed, Outcome::WantCompletion)
    }

    /// Accepts what the popup offers, else the suggestion, else asks for an offer.
    fn tab(&mut self) -> Outcome {
        if let Some(accepted) = self.complete.accept() {
            let behind = self
                .buffer
                .text()
                .get(accepted.range.end..)
                .unwrap_or_default();
            let doubled = accepted.value.ends_with(' ') && behind.starts_with(' ');
            let value = accepted
                .value
                .strip_suffix(' ')
                .filter(|_| doubled)
                .unwrap_or(&accepted.value);
            self.buffer.replace(accepted.range, value);
            return self.edited();
        }
        match self.accept_suggestion() {
            true => self.edited(),
            false => self.look(true),
        }
    }

    pub(super) fn suggestion(&self) -> Option<&str> {
        let quiet =
            self.search.is_none() && !self.complete.is_open() && self.buffer.after().is_empty();
        ghost::suggestion(&self.history, self.buffer.text()).filter(|_| quiet)
    }

    fn accept_suggestion(&mut self) -> bool {
        let Some(rest) = self.suggestion().map(str::to_owned) else {
            return false;
        };
        self.buffer
            .replace(self.buffer.cursor()..self.buffer.cursor(), &rest);
        true
    }

    fn right(&mut self) -> Outcome {
        match self.accept_suggestion() {
            true => self.edited(),
            false => self.change(Action::Right),
        }
    }

    fn backspace(&mut self) -> Outcome {
        let cursor = self.buffer.cursor();
        if let Some(chip) = self.pastes.chip_at_end(self.buffer.before()) {
            let start = cursor - chip.len();
            self.buffer.replace(start..cursor, "");
            return self.edited();
        }
        if self.buffer.is_empty() && self.attachments.pop().is_some() {
            return Outcome::Changed;
        }
        self.change(Action::Backspace)
    }

    fn up(&mut self) -> Outcome {
        if self.buffer.up(self.text_width) {
            return Outcome::Changed;
        }
        match self.history.older(self.buffer.text()).map(str::to_owned) {
            Some(entry) => self.show(&entry),
            None => Outcome::Nothing,
        }
    }

    fn down(&mut self) -> Outcome {
        if self.buffer.down(self.text_width) {
            return Outcome::Changed;
        }
        match self.history.newer() {
            Some(entry) => self.show(&entry),
            None => Outcome::Nothing,
        }
    }

    /// Shows an entry of the history without leaving it.
    fn show(&mut self, entry: &str) -> Outcome {
        self.buffer.set_text(entry);
        self.complete.reset();
        Outcome::Changed
    }

    fn send(&mut self) -> Outcome {
        if self.complete.is_chosen() {
            return self.tab();
        }
        let backslashes = self
            .buffer
            .before()
            .chars()
            .rev()
            .take_while(|letter| *letter == '\\')
            .count();
        let at_line_end = self.buffer.after().is_empty() || self.buffer.after().starts_with('\n');
        // Two backslashes are meant as such.
        if backslashes % 2 == 1 && at_line_end {
            let cursor = self.buffer.cursor();
            self.buffer.replace(cursor - 1..cursor, "\n");
            return self.edited();
        }
        self.submit()
    }

    /// Sends what is written.
    pub fn submit(&mut self) -> Outcome {
        let Expanded { text, lost } = self.pastes.expand(self.buffer.text(), &self.texts);
        if let Some(path) = lost {
            return Outcome::Lost(path);
        }
        if text.trim().is_empty() && self.attachments.is_empty() {
            return Outcome::Nothing;
        }
        let written = self.buffer.take();
        self.history.push(&written);
        self.forget_offers();
        self.top = 0;
        let message = Message {
            text,
            written,
            attachments: std::mem::take(&mut self.attachments),
        };
        match message.text.starts_with('/') {
            true => Outcome::Command(message),
            false => Outcome::Submit(message),
        }
    }

    /// A key while the history is searched.
    pub(super) fn searching(&mut self, mut search: Search, action: Action) -> Outcome {
        match action {
            Action::Insert(letter) => search.add(letter, &self.history),
            Action::Backspace => search.shorten(&self.history),
            Action::Search | Action::Up => search.older(&self.history),
            Action::SearchNewer | Action::Down => search.newer(&self.history),
            // The draft was never touched; the way back is to show it again.
            Action::Escape | Action::Editor => return Outcome::Changed,
            Action::Interrupt | Action::Cancel => return self.act(action),
            _ => {
                if let Some(found) = search.found(&self.history).map(str::to_owned) {
                    self.buffer.set_text(&found);
                }
                return match action {
                    Action::Send | Action::Complete | Action::Right | Action::LineEnd => {
                        Outcome::Changed
                    }
                    other => match self.act(other) {
                        Outcome::Nothing => Outcome::Changed,
                        outcome => outcome,
                    },
                };
            }
        }
        self.search = Some(search);
        Outcome::Changed
    }
}

/// Whether an action concerns the text alone, whatever the moment.
pub(super) fn is_writing(action: Action) -> bool {
    match action {
        Action::Insert(_)
        | Action::NewLine
        | Action::Left
        | Action::Right
        | Action::WordLeft
        | Action::WordRight
        | Action::LineStart
        | Action::LineEnd
        | Action::TextStart
        | Action::TextEnd
        | Action::Backspace
        | Action::Delete
        | Action::KillToLineEnd
        | Action::KillToLineStart
        | Action::KillToSpace
        | Action::KillWordLeft
        | Action::KillWordRight
        | Action::Yank
        | Action::YankOlder
        | Action::Transpose
        | Action::Undo
        | Action::Redo => true,
        Action::Send
        | Action::Complete
        | Action::Escape
        | Action::Up
        | Action::Down
        | Action::DeleteOrLeave
        | Action::Search
        | Action::SearchNewer
        | Action::Editor
        | Action::Chord
        | Action::ClipboardImage
        | Action::Record
        | Action::Interrupt
        | Action::Cancel
        | Action::Suspend
        | Action::Repaint
        | Action::Help => false,
    }
}

fn alters(action: Action) -> bool {
    !matches!(
        action,
        Action::Left
            | Action::Right
            | Action::WordLeft
            | Action::WordRight
            | Action::LineStart
            | Action::LineEnd
            | Action::TextStart
            | Action::TextEnd
    )
}

/// Does to a text what concerns the text alone.
pub(crate) fn apply(buffer: &mut Buffer, action: Action) {
    match action {
        Action::Left => buffer.left(),
        Action::Right => buffer.right(),
        Action::WordLeft => buffer.word_left(),
        Action::WordRight => buffer.word_right(),
        Action::LineStart => buffer.line_start(),
        Action::LineEnd => buffer.line_end(),
        Action::TextStart => buffer.to_start(),
        Action::TextEnd => buffer.to_end(),
        Action::Backspace => buffer.backspace(),
        Action::Delete | Action::DeleteOrLeave => buffer.delete(),
        Action::KillToLineEnd => buffer.kill_to_line_end(),
        Action::KillToLineStart => buffer.kill_to_line_start(),
        Action::KillToSpace => buffer.kill_to_space(),
        Action::KillWordLeft => buffer.kill_word_left(),
        Action::KillWordRight => buffer.kill_word_right(),
        Action::Yank => buffer.yank(),
        Action::YankOlder => buffer.yank_older(),
        Action::Transpose => buffer.transpose(),
        Action::Undo => _ = buffer.undo(),
        Action::Redo => _ = buffer.redo(),
        // Everything else concerns more than the text.
        Action::Insert(_)
        | Action::Send
        | Action::NewLine
        | Action::Complete
        | Action::Escape
        | Action::Up
        | Action::Down
        | Action::Search
        | Action::SearchNewer
        | Action::Editor
        | Action::Chord
        | Action::ClipboardImage
        | Action::Record
        | Action::Interrupt
        | Action::Cancel
        | Action::Suspend
        | Action::Repaint
        | Action::Help => {}
    }
}
