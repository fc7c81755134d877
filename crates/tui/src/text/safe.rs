//! Text of models and tools is hostile: this is what makes it safe to show.

use unicode_width::UnicodeWidthChar;

use super::escape::Escape;
use super::spoof::{self, Seen};

/// Tab stops stand this far apart. Markdown counts the same way.
const TAB_STOP: usize = 4;
/// More marks than this on one character are noise that runs over the lines above and below.
const MOST_MARKS: u8 = 8;

/// The text without anything that steers a terminal or deceives a reader: only visible characters, spaces
/// and line ends are left. A line that overwrites itself keeps its last version.
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut cleaner = Cleaner::default();
    cleaner.push(text, &mut out);
    out
}

/// Like [`clean`], on one line: every run of line ends, tabs and spaces becomes one space.
pub fn clean_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in clean(text).split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Cleans text that comes in chunks, cut at any place.
///
/// The cleaned text grows at the end of a string of the caller. What changes there is never before its last
/// line end: a carriage return makes the last line begin anew, as a progress bar does. In prose nothing
/// changes at all.
#[derive(Debug, Clone, Default)]
pub struct Cleaner {
    kind: Kind,
    escape: Escape,
    /// A carriage return was seen; what comes next tells whether it ended the line.
    returned: bool,
    /// A joiner waits for the character it would join.
    joiner: Option<char>,
    last: Option<char>,
    marks: u8,
    column: usize,
}

/// What a text was written for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Kind {
    /// A terminal, where a line can be written over.
    #[default]
    Output,
    /// Readers: a carriage return ends a line, and nothing is taken back.
    Prose,
}

impl Cleaner {
    /// For a text like Markdown.
    pub fn prose() -> Self {
        Self {
            kind: Kind::Prose,
            ..Self::default()
        }
    }

    /// Cleans a chunk and puts what is left at the end of `out`.
    pub fn push(&mut self, chunk: &str, out: &mut String) {
        for c in chunk.chars() {
            if (' '..'\u{7f}').contains(&c) && self.escape == Escape::Ground && !self.returned {
                self.joiner = None;
                self.put(c, 1, out);
            } else if !self.escape.swallows(c) {
                self.take(c, out);
            }
        }
    }

    fn take(&mut self, c: char, out: &mut String) {
        match c {
            '\n' | '\u{85}' | '\u{2028}' | '\u{2029}' => return self.end_line(out),
            '\r' => {
                if self.returned && self.kind == Kind::Prose {
                    self.end_line(out);
                }
                self.returned = true;
                return;
            }
            _ => {}
        }
        if std::mem::take(&mut self.returned) {
            self.write_over(out);
        }
        match c {
            '\t' => {
                for _ in 0..TAB_STOP - self.column % TAB_STOP {
                    self.put(' ', 1, out);
                }
            }
            '\u{8}' if self.kind == Kind::Output => self.step_back(out),
            c if c.is_control() => {}
            c => self.show(c, out),
        }
    }

    fn show(&mut self, c: char, out: &mut String) {
        let before = self.last;
        match spoof::judge(c) {
            Seen::Never => {}
            Seen::Joiner => self.joiner = Some(c),
            Seen::Variation if before.is_some_and(spoof::varies) => self.put(c, 0, out),
            Seen::Tag if before.is_some_and(spoof::carries_tags) => self.put(c, 0, out),
            Seen::Variation | Seen::Tag => {}
            Seen::Yes => {
                if let Some(joiner) = self.joiner.take()
                    && before.is_some_and(|before| spoof::joins(before, c))
                {
                    out.push(joiner);
                }
                self.put(c, c.width().unwrap_or(0), out);
            }
        }
    }

    fn put(&mut self, c: char, width: usize, out: &mut String) {
        if width == 0 {
            self.marks = self.marks.saturating_add(1);
            if self.marks > MOST_MARKS {
                return;
            }
        } else {
            self.marks = 0;
        }
        out.push(c);
        self.column += width;
        self.last = Some(c);
    }

    fn step_back(&mut self, out: &mut String) {
        if let Some(last) = out.chars().next_back()
            && last != '\n'
        {
            out.pop();
            self.column = self.column.saturating_sub(last.width().unwrap_or(0));
            self.last = None;
        }
    }

    /// What a carriage return does that no line end follows.
    fn write_over(&mut self, out: &mut String) {
        match self.kind {
            Kind::Output => {
                let line = out.rfind('\n').map_or(0, |end| end + 1);
                out.truncate(line);
                self.begin_line();
            }
            Kind::Prose => self.end_line(out),
        }
    }

    fn end_line(&mut self, out: &mut String) {
        out.push('\n');
        self.begin_line();
    }

    fn begin_line(&mut self) {
        *self = Self {
            kind: self.kind,
            escape: self.escape,
            ..Self::default()
        };
    }
}

#[cfg(test)]
#[path = "safe_tests.rs"]
mod tests;
