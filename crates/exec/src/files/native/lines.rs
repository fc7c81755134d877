//! Some lines of a file, in bounded memory.

use std::io::{self, BufRead, BufReader};
use std::path::Path;

use tokio_util::sync::CancellationToken;

use super::{describe, open};
use crate::files::{FilesError, HEAD, Line, LineWindow, Lines};

/// How much is read at a time.
const BUFFER: usize = 256 << 10;

/// Cuts the wanted lines out of a file and counts all of them.
pub(super) fn of(
    path: &Path,
    window: LineWindow,
    cancel: &CancellationToken,
) -> Result<Lines, FilesError> {
    let (file, data) = open(path)?;
    let mut reader = Reader {
        source: BufReader::with_capacity(BUFFER, file),
        cancel,
    };
    let mut found = Lines {
        stat: describe(&data),
        head: Vec::new(),
        lines: Vec::new(),
        total: 0,
    };
    fill(&mut reader, window, &mut found).map_err(|error| FilesError::new(path, error))?;
    Ok(found)
}

fn fill<S: BufRead>(
    reader: &mut Reader<'_, S>,
    window: LineWindow,
    found: &mut Lines,
) -> io::Result<()> {
    let buffer = reader.fill()?;
    found.head = buffer.get(..HEAD).unwrap_or(buffer).to_vec();
    if !(window.is_text)(&found.head) {
        return Ok(());
    }
    while found.lines.len() < window.count {
        let wanted = found.total + 1 >= window.first;
        let keep = if wanted { window.keep } else { 0 };
        let mut bytes = Vec::new();
        let Some(length) = reader.next(&mut bytes, keep)? else {
            return Ok(());
        };
        found.total += 1;
        if wanted {
            found.lines.push(Line { bytes, length });
        }
    }
    found.total += reader.count()?;
    Ok(())
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
