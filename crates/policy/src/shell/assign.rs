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
        let mut inside = None;
        if behind.starts_with('[') {
            let close = index_end(behind)?;
            inside = Some((self.at + length + 1, self.at + length + close));
            skipped += close + 1;
            behind = behind.get(close + 1..)?;
        }
        let append = behind.starts_with("+=");
        if !append && !behind.starts_with('=') {
            return None;
        }
        let index = inside.map(|(start, stop)| self.part_of(start, stop));
        self.at += skipped + 1 + usize::from(append);
        let array = self.peek() == Some(b'(');
        let values = if array {
            self.at += 1;
            self.array()
        } else {
            vec![self.word()]
        };
        Some(Assignment {
            name: name.to_owned(),
            index,
            append,
            array,
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

/// How far the end of an array's index is looked for. What is longer is a word with all that it runs.
const MAX_INDEX: usize = 256;

/// Where the index that begins a text ends. None where that is not plain to see.
fn index_end(text: &str) -> Option<usize> {
    let (mut brackets, mut parentheses) = (0_usize, 0_usize);
    let mut quote = None;
    let mut bytes = text.bytes().enumerate().take(MAX_INDEX);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\n' => return None,
            b'\\' => drop(bytes.next()),
            _ if quote == Some(byte) => quote = None,
            _ if quote.is_some() => {}
            b'\'' | b'"' | b'`' => quote = Some(byte),
            b'(' => parentheses += 1,
            b')' => parentheses = parentheses.checked_sub(1)?,
            b'[' if parentheses == 0 => brackets += 1,
            b']' if parentheses == 0 => {
                brackets = brackets.checked_sub(1)?;
                if brackets == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}
