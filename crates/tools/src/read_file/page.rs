//! Some lines of a text, numbered.

use hermes_exec::{LineWindow, Lines};

use crate::files::FileLimits;

/// Most bytes of one character.
const WIDEST: usize = 4;

/// Which lines are wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    /// Counted from 1.
    pub(super) first: usize,
    pub(super) lines: usize,
}

impl Window {
    /// The bytes a page is made from.
    pub(super) fn raw(self, limits: FileLimits, is_text: fn(&[u8]) -> bool) -> LineWindow {
        LineWindow {
            first: self.first,
            count: self.lines,
            keep: limits.line_length * WIDEST,
            is_text,
        }
    }
}

/// The lines that were wanted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) content: String,
    /// Lines in it.
    pub(super) shown: usize,
    /// Lines of the whole text.
    pub(super) total: usize,
    /// More lines were wanted than fit.
    pub(super) full: bool,
    /// Some bytes were not UTF-8.
    pub(super) foreign: bool,
    first: usize,
}

impl Page {
    /// Whether there is more after it.
    pub(super) fn truncated(&self) -> bool {
        self.first + self.shown <= self.total
    }

    /// Adds a line, if there is room; the first one always, however long.
    fn take(&mut self, rendered: &str, characters: &mut usize, limits: FileLimits) -> bool {
        let length = rendered.chars().count();
        if self.shown > 0 && *characters + length > limits.characters {
            self.full = true;
            return false;
        }
        *characters += length;
        self.content.push_str(rendered);
        self.shown += 1;
        true
    }
}

/// Lines of a file.
pub(super) fn of_lines(found: Lines, window: Window, limits: FileLimits) -> Page {
    let mut page = Page {
        first: window.first,
        total: found.total,
        ..Page::default()
    };
    let mut characters = 0;
    for (line, number) in found.lines.iter().zip(window.first..) {
        let bytes = match line.bytes.strip_prefix(b"\xEF\xBB\xBF") {
            Some(rest) if number == 1 => rest,
            _ => line.bytes.as_slice(),
        };
        let text = decoded(bytes, line.length > line.bytes.len(), &mut page.foreign);
        if !page.take(
            &rendered(number, &text, line.length, limits.line_length),
            &mut characters,
            limits,
        ) {
            break;
        }
    }
    page
}

/// Lines of a text.
pub(super) fn of_text(text: &str, window: Window, limits: FileLimits) -> Page {
    let mut page = Page {
        first: window.first,
        ..Page::default()
    };
    let mut characters = 0;
    for (line, number) in text.split_terminator('\n').zip(1..) {
        page.total = number;
        let wanted = (window.first..window.first + window.lines).contains(&number);
        if wanted && !page.full {
            let length = line.len();
            let line = line.strip_suffix('\r').unwrap_or(line);
            let rendered = rendered(number, line, length, limits.line_length);
            page.take(&rendered, &mut characters, limits);
        }
    }
    page
}

/// The text with its long lines in pieces, each of which counts as a line.
pub(super) fn in_pieces(text: &str, longest: usize) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / longest.max(1));
    for line in text.split_inclusive('\n') {
        let mut rest = line;
        while let Some((end, _)) = rest.char_indices().nth(longest) {
            let (piece, more) = rest.split_at(end);
            if more == "\n" {
                break;
            }
            out.push_str(piece);
            out.push('\n');
            rest = more;
        }
        out.push_str(rest);
    }
    out
}

fn rendered(number: usize, text: &str, whole: usize, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        None => format!("{number}|{text}\n"),
        Some((end, _)) => {
            let kept = text.get(..end).unwrap_or(text);
            format!("{number}|{kept} [cut: the line has {whole} bytes]\n")
        }
    }
}

/// A line as text. One that is not UTF-8 is shown byte by byte, as `patch` finds it.
fn decoded(line: &[u8], is_cut: bool, foreign: &mut bool) -> String {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    match std::str::from_utf8(line) {
        Ok(text) => text.to_owned(),
        // The last character of a cut line may be incomplete.
        Err(error) if is_cut && error.error_len().is_none() => {
            let valid = line.get(..error.valid_up_to()).unwrap_or_default();
            String::from_utf8_lossy(valid).into_owned()
        }
        Err(_) => {
            *foreign = true;
            line.iter().copied().map(char::from).collect()
        }
    }
}
