//! Reads assignments.

use super::read::{Reader, Trouble, is_name};
use super::tree::{Assignment, Word};

impl Reader<'_> {
    /// `name=value` here, if there is one.
    pub(super) fn assignment(&mut self) -> Option<Assignment> {
        let rest = self.slice(self.at, self.end);
        let length = rest
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            .count();
        let name = rest.get(..length).filter(|name| is_name(name))?;
        let mut behind = rest.get(length..)?;
        let mut skipped = length;
        if behind.starts_with('[') {
            let close = behind
                .bytes()
                .take(MAX_INDEX)
                .position(|byte| byte == b']')?;
            skipped += close + 1;
            behind = behind.get(close + 1..)?;
        }
        let append = behind.starts_with("+=");
        if !append && !behind.starts_with('=') {
            return None;
        }
        self.at += skipped + 1 + usize::from(append);
        let values = if self.peek() == Some(b'(') {
            self.at += 1;
            self.array()
        } else {
            vec![self.word()]
        };
        let name = name.to_owned();
        Some(Assignment {
            name,
            append,
            values,
        })
    }

    fn array(&mut self) -> Vec<Word> {
        let mut words = Vec::new();
        loop {
            self.gap();
            let found = self.words_until(b")\n#;&|<>");
            let none = found.is_empty();
            words.extend(found);
            match self.peek() {
                Some(b'\n' | b'#') => {}
                Some(b')') => {
                    self.at += 1;
                    return words;
                }
                _ if none => {
                    self.fault(Trouble::Malformed);
                    return words;
                }
                _ => {}
            }
        }
    }
}

/// How far the end of an array's index is looked for.
const MAX_INDEX: usize = 64;
