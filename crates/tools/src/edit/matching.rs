//! Finding the text a change is about, exactly or nearly.
//!
//! The strategies are tried in order and the first that finds anything decides. All of them are safe: what
//! they find differs from the request only in blanks, escapes or typographic characters. Guesses by
//! similarity are in `nearby` and never change anything.

use std::ops::Range;

use super::lines::{Lines, trim};
use super::mapped::Mapped;

/// Above this, only exact text is looked for.
const LARGEST_FUZZY: usize = 64 << 20;

/// How a text was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strategy {
    /// Character by character.
    Exact,
    /// Line by line, without the blanks around each.
    LineTrimmed,
    /// Runs of blanks count as one blank.
    WhitespaceNormalized,
    /// Lines without their indentation, runs of blanks as one.
    IndentationFlexible,
    /// `\n`, `\t` and `\r` in the request are the characters they stand for.
    EscapeNormalized,
    /// Without the blanks before the first line and after the last.
    TrimmedBoundary,
    /// Typographic characters count as plain ones.
    UnicodeNormalized,
}

impl Strategy {
    /// In the order they are tried.
    const ALL: [Self; 7] = [
        Self::Exact,
        Self::LineTrimmed,
        Self::WhitespaceNormalized,
        Self::IndentationFlexible,
        Self::EscapeNormalized,
        Self::TrimmedBoundary,
        Self::UnicodeNormalized,
    ];

    /// The name in results.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::LineTrimmed => "line_trimmed",
            Self::WhitespaceNormalized => "whitespace_normalized",
            Self::IndentationFlexible => "indentation_flexible",
            Self::EscapeNormalized => "escape_normalized",
            Self::TrimmedBoundary => "trimmed_boundary",
            Self::UnicodeNormalized => "unicode_normalized",
        }
    }
}

/// Where matches may begin and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    Anywhere,
    /// Whole lines only.
    Lines,
}

/// What was found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) strategy: Strategy,
    /// In order, not overlapping, and only empty where an empty line was looked for.
    pub(super) spans: Vec<Range<usize>>,
    /// The request as it was looked for.
    pub(super) pattern: String,
}

/// Looks for a text in which line breaks are single characters.
pub(super) fn find(text: &str, pattern: &str, align: Align) -> Option<Found> {
    let blank = pattern.trim().is_empty();
    let strategies = Strategy::ALL.into_iter().take(
        if blank || text.len() > LARGEST_FUZZY || pattern.len() > text.len().saturating_mul(4) {
            1
        } else {
            Strategy::ALL.len()
        },
    );
    let mut search = Search {
        text,
        align,
        lines: None,
    };
    for strategy in strategies {
        let (pattern, spans) = search.run(strategy, pattern);
        if !spans.is_empty() {
            return Some(Found {
                strategy,
                spans,
                pattern,
            });
        }
    }
    None
}

struct Search<'t> {
    text: &'t str,
    align: Align,
    lines: Option<Lines<'t>>,
}

impl<'t> Search<'t> {
    fn run(&mut self, strategy: Strategy, pattern: &str) -> (String, Vec<Range<usize>>) {
        let spans = match strategy {
            Strategy::Exact => self.exact(pattern),
            Strategy::LineTrimmed => self.windows(pattern, |file, asked| trim(file) == trim(asked)),
            Strategy::WhitespaceNormalized => {
                self.through(pattern, |text| Mapped::with_single_blanks(text))
            }
            Strategy::IndentationFlexible => self.windows(pattern, |file, asked| {
                let words = |line: &'_ str| !line.is_empty();
                let split = |line| str::split(line, [' ', '\t', '\r']);
                split(file)
                    .filter(|w| words(w))
                    .eq(split(asked).filter(|w| words(w)))
            }),
            Strategy::EscapeNormalized => {
                let meant = unescaped(pattern);
                if meant == pattern {
                    return (meant, Vec::new());
                }
                let mut spans = self.exact(&meant);
                if spans.is_empty() {
                    spans = self.windows(&meant, |file, asked| trim(file) == trim(asked));
                }
                return (meant, spans);
            }
            Strategy::TrimmedBoundary => {
                let trimmed = pattern.trim_matches([' ', '\t', '\n', '\r']);
                // Whole lines were compared without their ends already.
                if self.align == Align::Lines {
                    return (trimmed.to_owned(), Vec::new());
                }
                return (trimmed.to_owned(), self.exact(trimmed));
            }
            Strategy::UnicodeNormalized => {
                self.through(pattern, |text| Mapped::with_plain_punctuation(text))
            }
        };
        (pattern.to_owned(), spans)
    }

    fn exact(&self, pattern: &str) -> Vec<Range<usize>> {
        if pattern.is_empty() {
            return self.empty_lines();
        }
        memchr::memmem::find_iter(self.text.as_bytes(), pattern.as_bytes())
            .map(|at| at..at + pattern.len())
            .filter(|span| self.aligned(span))
            .collect()
    }

    /// Where whole lines are meant, no text is a line without any.
    fn empty_lines(&self) -> Vec<Range<usize>> {
        match self.align {
            Align::Anywhere => Vec::new(),
            Align::Lines => {
                let bytes = self.text.as_bytes();
                let breaks = memchr::memchr_iter(b'\n', bytes);
                breaks
                    .filter(|at| {
                        at.checked_sub(1)
                            .is_none_or(|before| bytes.get(before) == Some(&b'\n'))
                    })
                    .map(|at| at..at)
                    .collect()
            }
        }
    }

    fn aligned(&self, span: &Range<usize>) -> bool {
        is_aligned(self.text, span, self.align)
    }

    /// Finds the changed pattern in the changed text.
    fn through(
        &self,
        pattern: &str,
        change: impl for<'a> Fn(&'a str) -> Mapped<'a>,
    ) -> Vec<Range<usize>> {
        let (text, pattern) = (change(self.text), change(pattern));
        // Then there is nothing the exact look did not see.
        if text.is_same() && pattern.is_same() {
            return Vec::new();
        }
        let needle = pattern.text();
        memchr::memmem::find_iter(text.text().as_bytes(), needle.as_bytes())
            .map(|at| text.original(&(at..at + needle.len())))
            .filter(|span| !span.is_empty() && self.aligned(span))
            .collect()
    }

    /// Finds runs of whole lines that are equal to the pattern's, one by one.
    fn windows(&mut self, pattern: &str, same: impl Fn(&str, &str) -> bool) -> Vec<Range<usize>> {
        let text = self.text;
        let lines = self.lines.get_or_insert_with(|| Lines::new(text));
        let asked = Lines::new(pattern);
        let count = asked.len();
        let mut spans = Vec::new();
        let mut at = 0;
        while count > 0 && at + count <= lines.len() {
            if (0..count).all(|index| same(lines.get(at + index), asked.get(index))) {
                let span = lines.span(at..at + count);
                if !span.is_empty() {
                    spans.push(span);
                }
                at += count;
            } else {
                at += 1;
            }
        }
        spans
    }
}

/// Whether a match may begin and end there.
pub(super) fn is_aligned(text: &str, span: &Range<usize>, align: Align) -> bool {
    if !text.is_char_boundary(span.start) || !text.is_char_boundary(span.end) {
        return false;
    }
    let bytes = text.as_bytes();
    align == Align::Anywhere
        || (span
            .start
            .checked_sub(1)
            .is_none_or(|before| bytes.get(before) == Some(&b'\n'))
            && bytes.get(span.end).is_none_or(|after| *after == b'\n'))
}

/// The text with `\n`, `\t` and `\r` read as what they stand for.
fn unescaped(text: &str) -> String {
    text.replace("\\r\\n", "\n")
        .replace("\\n", "\n")
        .replace("\\t", "\t")
        .replace("\\r", "\r")
}
