//! Some lines of a text, in bounded memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use tokio_util::sync::CancellationToken;

use crate::edit::Text;
use crate::files::{FileFault, FileLimits, load};

/// How much is read at a time.
const BUFFER: usize = 256 << 10;
/// Most bytes of one character.
const WIDEST: usize = 4;

/// Which lines are wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    /// Counted from 1.
    pub(super) first: usize,
    pub(super) lines: usize,
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
}

/// Lines of a file.
pub(super) fn of_file(
    path: &Path,
    window: Window,
    limits: FileLimits,
    cancel: &CancellationToken,
) -> Result<Page, FileFault> {
    let failed = |error| stopped(path, error);
    let file = File::open(path).map_err(failed)?;
    cut(
        BufReader::with_capacity(BUFFER, file),
        window,
        limits,
        cancel,
    )
    .map_err(failed)
}

/// Lines of a UTF-16 file.
pub(super) fn of_utf16(
    path: &Path,
    window: Window,
    limits: FileLimits,
    cancel: &CancellationToken,
) -> Result<Page, FileFault> {
    let failed = |error| stopped(path, error);
    let text = Text::decode(load(path)?.bytes)
        .map_err(|error| failed(io::Error::other(error.to_string())))?;
    cut(text.body.as_bytes(), window, limits, cancel).map_err(failed)
}

fn stopped(path: &Path, error: io::Error) -> FileFault {
    match error.kind() {
        io::ErrorKind::Interrupted => FileFault::Stopped,
        _ => FileFault::new(path, error),
    }
}

/// Cuts the wanted lines out of a text and counts all of them.
pub(super) fn cut(
    source: impl BufRead,
    window: Window,
    limits: FileLimits,
    cancel: &CancellationToken,
) -> io::Result<Page> {
    let mut lines = Reader { source, cancel };
    let mut page = Page {
        first: window.first,
        ..Page::default()
    };
    let mut line = Vec::new();
    let mut characters = 0;
    while page.shown < window.lines && !page.full {
        let wanted = page.total + 1 >= window.first;
        let keep = if wanted {
            limits.line_length * WIDEST
        } else {
            0
        };
        line.clear();
        let Some(whole) = lines.next(&mut line, keep)? else {
            return Ok(page);
        };
        page.total += 1;
        if !wanted {
            continue;
        }
        if page.total == 1 && line.starts_with(b"\xEF\xBB\xBF") {
            line.drain(..3);
        }
        let text = decoded(&line, whole > line.len(), &mut page.foreign);
        let rendered = rendered(page.total, &text, whole, limits.line_length);
        let length = rendered.chars().count();
        // The first line is always shown, however long.
        if page.shown > 0 && characters + length > limits.characters {
            page.full = true;
            break;
        }
        characters += length;
        page.content.push_str(&rendered);
        page.shown += 1;
    }
    page.total += lines.count()?;
    Ok(page)
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

struct Reader<'c, S> {
    source: S,
    cancel: &'c CancellationToken,
}

impl<S: BufRead> Reader<'_, S> {
    fn fill(&mut self) -> io::Result<&[u8]> {
        if self.cancel.is_cancelled() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        self.source.fill_buf()
    }

    /// Reads one line, of which at most `keep` bytes are kept. Says how long it was without its break.
    fn next(&mut self, line: &mut Vec<u8>, keep: usize) -> io::Result<Option<usize>> {
        let mut length = 0;
        let mut any = false;
        loop {
            let buffer = self.fill()?;
            if buffer.is_empty() {
                return Ok(any.then_some(length));
            }
            any = true;
            let end = memchr::memchr(b'\n', buffer);
            let part = buffer
                .get(..end.unwrap_or(buffer.len()))
                .unwrap_or_default();
            let room = keep.saturating_sub(line.len()).min(part.len());
            line.extend_from_slice(part.get(..room).unwrap_or_default());
            length += part.len();
            let used = part.len() + usize::from(end.is_some());
            self.source.consume(used);
            if end.is_some() {
                return Ok(Some(length));
            }
        }
    }

    /// Counts the lines that are left.
    fn count(&mut self) -> io::Result<usize> {
        let mut lines = 0;
        let mut open = false;
        loop {
            let buffer = self.fill()?;
            let length = buffer.len();
            if length == 0 {
                return Ok(lines + usize::from(open));
            }
            lines += memchr::memchr_iter(b'\n', buffer).count();
            open = buffer.last() != Some(&b'\n');
            self.source.consume(length);
        }
    }
}
