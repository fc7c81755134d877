//! Changes of files as coloured lines.

mod lines;
mod parse;

use similar::{ChangeTag, TextDiff};

use crate::text::clean_line;

/// More lines than this are counted, not shown.
const MOST_LINES: usize = 80;
/// More files than this are counted, not shown.
const MOST_FILES: usize = 6;
/// Lines around a change.
const CONTEXT: usize = 3;
/// Texts whose changed parts are larger than this, old lines times new lines, are not compared.
const MOST_WORK: usize = 16_000_000;

/// What changed in some files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diff {
    files: Vec<File>,
    /// Files beyond the limit.
    more_files: usize,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct File {
    path: String,
    rows: Vec<Row>,
    added: usize,
    removed: usize,
    /// Lines beyond the limit.
    more: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Row {
    /// Something between two places was left out.
    Skip,
    Same {
        number: usize,
        text: String,
    },
    Added {
        number: usize,
        text: String,
    },
    Removed {
        number: usize,
        text: String,
    },
}

impl Diff {
    /// What changed from one text of a file to another.
    pub fn of_texts(path: &str, old: &str, new: &str) -> Self {
        let mut file = File {
            path: clean_line(path),
            ..File::default()
        };
        if is_too_much(old, new) {
            file.removed = old.lines().count();
            file.added = new.lines().count();
            file.more = file.removed + file.added;
        } else {
            file.compare(old, new);
        }
        let mut diff = Self::default();
        diff.push(file);
        diff
    }

    /// Reads a unified diff, of one file or several.
    pub fn parse(unified: &str) -> Self {
        parse::parse(unified)
    }

    /// Files below a directory by what stands behind it. Tools name files by their whole path, without its first
    /// slash.
    #[must_use]
    pub fn below(mut self, directory: &str) -> Self {
        let start = format!("{}/", directory.trim_matches('/'));
        for file in &mut self.files {
            if let Some(name) = file
                .path
                .strip_prefix(&start)
                .filter(|name| !name.is_empty())
            {
                file.path = name.to_owned();
            }
        }
        self
    }

    /// Adds the files of another one.
    pub fn append(&mut self, other: Self) {
        for file in other.files {
            self.push(file);
        }
        self.more_files += other.more_files;
    }

    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// About how much it holds.
    pub(crate) fn bytes(&self) -> usize {
        let rows = self.files.iter().flat_map(|file| &file.rows);
        rows.map(|row| match row {
            Row::Skip => 0,
            Row::Same { text, .. } | Row::Added { text, .. } | Row::Removed { text, .. } => {
                text.len()
            }
        })
        .sum()
    }

    fn push(&mut self, file: File) {
        if file.added + file.removed == 0 {
            return;
        }
        if self.files.len() < MOST_FILES {
            self.files.push(file);
        } else {
            self.more_files += 1;
        }
    }
}

impl File {
    fn compare(&mut self, old: &str, new: &str) {
        let diff = TextDiff::from_lines(old, new);
        for (index, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
            if index > 0 {
                self.push(Row::Skip);
            }
            for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
                let text = change.value().trim_end_matches(['\n', '\r']).to_owned();
                let place = |index: Option<usize>| index.map_or(0, |index| index + 1);
                self.push(match change.tag() {
                    ChangeTag::Equal => Row::Same {
                        number: place(change.new_index()),
                        text,
                    },
                    ChangeTag::Insert => Row::Added {
                        number: place(change.new_index()),
                        text,
                    },
                    ChangeTag::Delete => Row::Removed {
                        number: place(change.old_index()),
                        text,
                    },
                });
            }
        }
    }

    fn push(&mut self, row: Row) {
        match row {
            Row::Added { .. } => self.added += 1,
            Row::Removed { .. } => self.removed += 1,
            Row::Skip | Row::Same { .. } => {}
        }
        if self.rows.len() < MOST_LINES {
            self.rows.push(row);
        } else if row != Row::Skip {
            self.more += 1;
        }
    }
}

/// Whether comparing would take too long, once what is equal at both ends is left out.
fn is_too_much(old: &str, new: &str) -> bool {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let tail = old
        .iter()
        .skip(head)
        .rev()
        .zip(new.iter().skip(head).rev())
        .take_while(|(a, b)| a == b)
        .count();
    (old.len() - head - tail).saturating_mul(new.len() - head - tail) > MOST_WORK
}

#[cfg(test)]
#[path = "diff_tests.rs"]
mod tests;
