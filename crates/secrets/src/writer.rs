//! Redaction of a stream that arrives in arbitrary pieces.

use std::io::{self, Write};

use crate::{Redactor, RedactorHandle, Scope, shapes};

/// A line longer than this is released in parts, each masked on its own with an overlap held back.
const MAX_LINE: usize = 64 * 1024;
/// A PEM block longer than this is given up waiting for; what has come is masked as a cut-off block.
const MAX_BLOCK: usize = 32 * 1024;
/// The longest run of key characters that is held back at a forced cut.
const MAX_RUN: usize = 4 * 1024;

const BLOCK_START: &[u8] = b"-----BEGIN ";
const BLOCK_END: &[u8] = b"-----END ";

/// Passes text on to another writer with the secrets masked, also those split over several writes.
///
/// Complete lines are passed on at once, unless a secret of several lines may have begun. `flush` also passes on an
/// unfinished line when nothing in it can still turn into a secret. [`finish`](Self::finish) or drop ends the stream.
pub struct RedactingWriter<W: Write> {
    /// `None` after [`finish`](Self::finish).
    inner: Option<W>,
    redactor: RedactorHandle,
    scope: Scope,
    held: Vec<u8>,
}

impl<W: Write> RedactingWriter<W> {
    /// Wraps a writer; values added to the handle later are masked too.
    pub fn new(inner: W, redactor: RedactorHandle, scope: Scope) -> Self {
        Self {
            inner: Some(inner),
            redactor,
            scope,
            held: Vec::new(),
        }
    }

    /// Writes what is held back and returns the wrapped writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.release(self.held.len())?;
        let mut inner = self.inner.take().ok_or(io::ErrorKind::BrokenPipe)?;
        inner.flush()?;
        Ok(inner)
    }

    fn release(&mut self, length: usize) -> io::Result<()> {
        let rest = self.held.split_off(length.min(self.held.len()));
        let ready = std::mem::replace(&mut self.held, rest);
        if ready.is_empty() {
            return Ok(());
        }
        let inner = self.inner.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        inner.write_all(&self.redactor.snapshot().redact_bytes(self.scope, &ready))
    }

    /// How many bytes of whole lines cannot be part of a secret that is still arriving.
    fn complete_lines(&self) -> usize {
        let Some(last) = self.held.iter().rposition(|byte| *byte == b'\n') else {
            return 0;
        };
        let redactor = self.redactor.snapshot();
        let lines = self.held.get(..=last).unwrap_or_default();
        let mut end = redactor.known().pending_from(lines).unwrap_or(lines.len());
        if let Some(start) = open_block(lines)
            && lines.len() - start <= MAX_BLOCK
        {
            end = end.min(start);
        }
        self.whole(&redactor, end, line_start)
    }

    /// Where to cut a line that never ends: before the last run of key characters, and before any known beginning.
    fn forced_cut(&self) -> usize {
        let redactor = self.redactor.snapshot();
        let text = self.held.as_slice();
        let end = redactor.known().pending_from(text).unwrap_or(text.len());
        let run = text
            .iter()
            .rev()
            .take(MAX_RUN)
            .take_while(|byte| is_key_byte(**byte))
            .count();
        let end = if run < MAX_RUN {
            end.min(text.len() - run)
        } else {
            end
        };
        self.whole(&redactor, end, |_, at| at)
    }

    /// Moves a cut left until it is where `align` allows and goes through no secret that is already complete.
    fn whole(
        &self,
        redactor: &Redactor,
        mut cut: usize,
        align: fn(&[u8], usize) -> usize,
    ) -> usize {
        loop {
            let aligned = align(&self.held, cut);
            if aligned == 0 || aligned == self.held.len() {
                return aligned;
            }
            cut = redactor.cut_before(self.scope, &self.held, aligned);
            if cut == aligned {
                return cut;
            }
        }
    }
}

impl<W: Write> Write for RedactingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // One bounded step at a time, so that a huge write does not grow the buffer.
        let taken = bytes.get(..bytes.len().min(MAX_LINE)).unwrap_or_default();
        self.held.extend_from_slice(taken);
        if taken.contains(&b'\n') {
            self.release(self.complete_lines())?;
        }
        if self.held.len() > MAX_LINE + self.redactor.snapshot().known().longest() {
            self.release(self.forced_cut())?;
        }
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let line = self
            .held
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |last| last + 1);
        let unfinished = self.held.get(line..).unwrap_or_default();
        // Lines before it are held for a reason, and a line that mentions an anchor is held to its end.
        if line == 0 && !unfinished.is_empty() && !shapes::may_become_secret(unfinished) {
            self.release(self.forced_cut())?;
        }
        self.inner
            .as_mut()
            .ok_or(io::ErrorKind::BrokenPipe)?
            .flush()
    }
}

impl<W: Write> Drop for RedactingWriter<W> {
    fn drop(&mut self) {
        if self.inner.is_some() {
            // A destructor has nobody to tell; `finish` reports the error.
            let _ = self.release(self.held.len());
        }
    }
}

/// Where a private key block begins that has no end yet.
fn open_block(text: &[u8]) -> Option<usize> {
    let start = rfind(text, BLOCK_START)?;
    let block = text.get(start..).unwrap_or_default();
    let header = block
        .split(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    (rfind(header, b"PRIVATE KEY").is_some() && rfind(block, BLOCK_END).is_none()).then_some(start)
}

/// Moves a cut back to the beginning of its line, so that shapes are always seen with what stands before them.
fn line_start(text: &[u8], at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    before
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |newline| newline + 1)
}

fn rfind(text: &[u8], needle: &[u8]) -> Option<usize> {
    text.windows(needle.len())
        .rposition(|window| window == needle)
}

fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.:/+=@%~?&#".contains(&byte)
}
