//! What can be taken back.

use std::collections::VecDeque;

const MOST_EDITS: usize = 1_000;
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// A change of a text: what stood at a place and what stands there now.
#[derive(Debug, Clone)]
pub(super) struct Edit {
    pub(super) at: usize,
    pub(super) removed: String,
    pub(super) inserted: String,
    /// The cursor before and after.
    pub(super) before: usize,
    pub(super) after: usize,
}

impl Edit {
    fn reversed(&self) -> Self {
        Self {
            at: self.at,
            removed: self.inserted.clone(),
            inserted: self.removed.clone(),
            before: self.after,
            after: self.before,
        }
    }

    fn bytes(&self) -> usize {
        self.removed.len() + self.inserted.len()
    }
}

/// How a change came about; changes of the same kind next to each other are undone together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Typing,
    Erasing,
    Other,
}

/// The changes made and the changes taken back.
#[derive(Debug, Clone, Default)]
pub(super) struct Undo {
    done: VecDeque<Edit>,
    undone: Vec<Edit>,
    bytes: usize,
    /// What the next change may be added to.
    open: Option<Kind>,
}

impl Undo {
    pub(super) fn note(&mut self, edit: Edit, kind: Kind) {
        self.undone.clear();
        self.bytes += edit.bytes();
        let goes_on = self.open == Some(kind);
        self.open = (kind != Kind::Other).then_some(kind);
        let merged = match self.done.back_mut().filter(|_| goes_on) {
            Some(last) => match kind {
                Kind::Typing => type_on(last, &edit),
                Kind::Erasing => erase_on(last, &edit),
                Kind::Other => false,
            },
            None => false,
        };
        if merged {
            return;
        }
        self.done.push_back(edit);
        while self.done.len() > MOST_EDITS || (self.bytes > MOST_BYTES && self.done.len() > 1) {
            let gone = self.done.pop_front();
            self.bytes -= gone.map_or(0, |gone| gone.bytes());
        }
    }

    pub(super) fn close(&mut self) {
        self.open = None;
    }

    pub(super) fn back(&mut self) -> Option<Edit> {
        let edit = self.done.pop_back()?;
        self.bytes -= edit.bytes();
        let reversed = edit.reversed();
        self.undone.push(edit);
        Some(reversed)
    }

    pub(super) fn forth(&mut self) -> Option<Edit> {
        let edit = self.undone.pop()?;
        self.bytes += edit.bytes();
        self.done.push_back(edit.clone());
        Some(edit)
    }
}

/// A word goes with the space behind it.
fn type_on(last: &mut Edit, edit: &Edit) -> bool {
    let new_word = last.inserted.ends_with(char::is_whitespace)
        && !edit.inserted.starts_with(char::is_whitespace);
    if new_word || edit.at != last.at + last.inserted.len() || !edit.removed.is_empty() {
        return false;
    }
    last.inserted.push_str(&edit.inserted);
    last.after = edit.after;
    true
}

fn erase_on(last: &mut Edit, edit: &Edit) -> bool {
    if !last.inserted.is_empty() {
        return false;
    }
    if edit.at + edit.removed.len() == last.at {
        last.removed.insert_str(0, &edit.removed);
    } else if edit.at == last.at {
        last.removed.push_str(&edit.removed);
    } else {
        return false;
    }
    last.at = edit.at;
    last.after = edit.after;
    true
}

#[cfg(test)]
mod tests {
    use crate::composer::buffer::Buffer;

    fn typed(text: &str) -> Buffer {
        let mut buffer = Buffer::default();
        for letter in text.chars() {
            buffer.insert(&letter.to_string());
        }
        buffer
    }

    #[test]
    fn typing_is_undone_word_by_word() {
        let mut buffer = typed("one two three");
        assert!(buffer.undo());
        assert_eq!(buffer.text(), "one two ");
        assert!(buffer.undo());
        assert_eq!(buffer.text(), "one ");
        assert!(buffer.redo());
        assert_eq!(buffer.text(), "one two ");
        buffer.insert("x");
        assert!(!buffer.redo(), "a new change forgets what was taken back");
    }

    #[test]
    fn moving_ends_what_is_undone_together() {
        let mut buffer = typed("ab");
        buffer.left();
        buffer.insert("x");
        buffer.undo();
        assert_eq!((buffer.text(), buffer.cursor()), ("ab", 1));
    }

    #[test]
    fn erasing_is_undone_together() {
        let mut buffer = typed("abc");
        buffer.backspace();
        buffer.backspace();
        buffer.undo();
        assert_eq!(buffer.text(), "abc");
        assert_eq!(buffer.cursor(), 3);
    }
}
