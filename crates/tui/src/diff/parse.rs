//! Reads unified diffs.

use super::{Diff, File, Row};
use crate::text::clean_line;

pub(super) fn parse(unified: &str) -> Diff {
    let mut diff = Diff::default();
    let mut reader = Reader::default();
    for line in unified.lines() {
        if let Some(file) = reader.line(line) {
            diff.push(file);
        }
    }
    diff.push(reader.file);
    diff
}

#[derive(Default)]
struct Reader {
    file: File,
    /// Lines of the hunk that are still to come. Only they tell a removed `-- x` from the head of a file.
    old_left: usize,
    new_left: usize,
    old_number: usize,
    new_number: usize,
}

impl Reader {
    /// Takes a line; returns the file before it when the line begins another one.
    fn line(&mut self, line: &str) -> Option<File> {
        if self.old_left + self.new_left > 0 {
            self.change(line);
            return None;
        }
        if line.starts_with("@@") {
            self.hunk(line);
        } else if let Some(name) = line.strip_prefix("--- ") {
            let done = std::mem::take(&mut self.file);
            self.file.path = path(name).unwrap_or_default();
            return Some(done);
        } else if let Some(name) = line.strip_prefix("+++ ")
            && let Some(name) = path(name)
        {
            self.file.path = name;
        }
        None
    }

    fn hunk(&mut self, line: &str) {
        let mut words = line.split(' ').skip(1);
        let (old, new) = (words.next().and_then(range), words.next().and_then(range));
        if let (Some((old, old_left)), Some((new, new_left))) = (old, new) {
            if !self.file.rows.is_empty() {
                self.file.push(Row::Skip);
            }
            (self.old_number, self.old_left) = (old, old_left);
            (self.new_number, self.new_left) = (new, new_left);
        }
    }

    fn change(&mut self, line: &str) {
        let mut letters = line.chars();
        let sign = letters.next();
        let text = letters.as_str().to_owned();
        match sign {
            Some('+') => {
                self.file.push(Row::Added {
                    number: self.new_number,
                    text,
                });
                self.step(0, 1);
            }
            Some('-') => {
                self.file.push(Row::Removed {
                    number: self.old_number,
                    text,
                });
                self.step(1, 0);
            }
            // It says that the file has no line end at its end.
            Some('\\') => {}
            _ => {
                self.file.push(Row::Same {
                    number: self.new_number,
                    text,
                });
                self.step(1, 1);
            }
        }
    }

    fn step(&mut self, old: usize, new: usize) {
        self.old_left = self.old_left.saturating_sub(old);
        self.new_left = self.new_left.saturating_sub(new);
        self.old_number = self.old_number.saturating_add(old);
        self.new_number = self.new_number.saturating_add(new);
    }
}

/// Reads `-12,5` or `+3`.
fn range(word: &str) -> Option<(usize, usize)> {
    let numbers = word.strip_prefix(['-', '+'])?;
    let (start, length) = numbers.split_once(',').unwrap_or((numbers, "1"));
    Some((start.parse().ok()?, length.parse().ok()?))
}

/// The name in a head line, without the letter git puts before it and the time others put behind it.
fn path(name: &str) -> Option<String> {
    let name = name.split('\t').next().unwrap_or_default();
    let name = name
        .strip_prefix("a/")
        .or_else(|| name.strip_prefix("b/"))
        .unwrap_or(name);
    (name != "/dev/null").then(|| clean_line(name))
}
