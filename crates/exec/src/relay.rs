//! The lines that carry a shell's bytes where a vendor carries only text, see `relay.sh`.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::supervise::quote;

const RELAY: &str = include_str!("relay.sh");
/// No line of ours is longer.
const MAX_LINE: usize = 64 << 10;
/// How much of what is not ours is kept.
const MAX_COMPLAINT: usize = 4 << 10;
/// Some versions of the daemon put one of these before each line, by the stream it came from.
const PREFIXES: [&[u8]; 2] = [b"\x01\x01\x01", b"\x02\x02\x02"];

/// How much input goes into one line.
pub(crate) const CHUNK: usize = 96 << 10;

/// The command that relays for a shell which runs `boot`: one word list, since it is put between braces.
pub(crate) fn command(boot: &str) -> String {
    format!("/bin/sh -c {} relay {}", quote(RELAY), quote(boot))
}

/// The line with so many lines before it.
pub(crate) fn input(number: u64, bytes: &[u8]) -> String {
    format!("{number} {}\n", BASE64_STANDARD.encode(bytes))
}

/// The line that ends the input.
pub(crate) fn end(number: u64) -> String {
    format!("{number} -\n")
}

/// What a line says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Said {
    Output(Vec<u8>),
    Code(i32),
    /// No more output.
    End,
}

/// Takes a log apart that may have to be read again from its beginning.
#[derive(Default)]
pub(crate) struct Log {
    partial: Vec<u8>,
    /// Lines that were understood.
    lines: u64,
    /// Of these, how many come again.
    again: u64,
    complaint: Vec<u8>,
}

impl Log {
    /// The log is read from its beginning again; what was understood before is passed over.
    pub(crate) fn rewind(&mut self) {
        self.partial.clear();
        self.again = self.lines;
        self.lines = 0;
    }

    /// Reads on.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<Said> {
        let mut said = Vec::new();
        self.partial.extend_from_slice(bytes);
        let mut start = 0;
        while let Some(length) = memchr::memchr(b'\n', self.partial.get(start..).unwrap_or(&[])) {
            let line = self
                .partial
                .get(start..start + length)
                .unwrap_or(&[])
                .to_vec();
            start += length + 1;
            self.lines += 1;
            if self.lines > self.again {
                said.extend(self.line(&line));
            }
        }
        self.partial.drain(..start);
        if self.partial.len() > MAX_LINE {
            let long = std::mem::take(&mut self.partial);
            self.complain(&long);
        }
        said
    }

    /// What else was written there, which is what the shells and the daemon complain about.
    pub(crate) fn complaint(&self) -> String {
        String::from_utf8_lossy(&self.complaint).trim().to_owned()
    }

    fn line(&mut self, line: &[u8]) -> Option<Said> {
        let mut text = line;
        while let Some(rest) = PREFIXES
            .iter()
            .find_map(|prefix| text.strip_prefix(*prefix))
        {
            text = rest;
        }
        let said = match text.split_first() {
            Some((b'>', data)) => BASE64_STANDARD.decode(data).ok().map(Said::Output),
            Some((b'=', code)) => std::str::from_utf8(code)
                .ok()
                .and_then(|code| code.parse().ok())
                .map(Said::Code),
            Some((b'.', [])) => Some(Said::End),
            Some(_) | None => None,
        };
        if said.is_none() {
            self.complain(text);
        }
        said
    }

    fn complain(&mut self, text: &[u8]) {
        self.complaint.extend_from_slice(text);
        self.complaint.push(b'\n');
        let extra = self.complaint.len().saturating_sub(MAX_COMPLAINT);
        self.complaint.drain(..extra);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_understood_however_it_is_cut_and_read_again() {
        let whole = b"\x01\x01\x01>aGVs\n\x02\x02\x02sh: oops\n>bG8=\n0 aWdub3JlZA==\n=3\n.\n";
        let expected = [
            Said::Output(b"hel".to_vec()),
            Said::Output(b"lo".to_vec()),
            Said::Code(3),
            Said::End,
        ];
        for cut in 0..whole.len() {
            let mut log = Log::default();
            let mut said = log.feed(&whole[..cut]);
            log.rewind();
            said.extend(log.feed(&whole[..cut]));
            said.extend(log.feed(&whole[cut..]));
            assert_eq!(said, expected, "{cut}");
            assert_eq!(log.complaint(), "sh: oops\n0 aWdub3JlZA==", "{cut}");
        }
    }

    #[test]
    fn a_line_without_end_is_not_kept() {
        let mut log = Log::default();
        for _ in 0..100 {
            assert_eq!(log.feed(&[b'x'; 10_000]), []);
        }
        assert!(log.partial.len() <= MAX_LINE && log.complaint.len() <= MAX_COMPLAINT);
    }
}
