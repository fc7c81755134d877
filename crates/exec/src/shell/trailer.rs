//! What a shell says to us at its end, between the lines of its output.
//!
//! It travels in the output because that is the one thing every backend carries: a record separator, a
//! word nobody can guess, and the fields. It is taken out wherever it stands. Without fields it says that nothing
//! began; the state itself, which may hold anything, comes between an empty field and the word once more.

use std::path::PathBuf;

use memchr::memchr;
use memchr::memmem;

use super::script::LONGEST_TOLD;

const MARK: u8 = 0x1e;
const FIELD: u8 = 0x1f;
/// More than a path can be; a longer one is output like any other.
const LONGEST: usize = 16 << 10;
/// More than a state that is told of has bytes.
const LONGEST_STATE: usize = 4 * LONGEST_TOLD + 1024;

/// What the shell said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trailer {
    /// Whether its state was saved.
    pub(super) saved: bool,
    /// Whether it could start where it was asked to.
    pub(super) moved: bool,
    /// Where it ended.
    pub(super) directory: PathBuf,
}

/// Takes the trailer out of a stream of output.
pub(super) struct Filter {
    opening: Vec<u8>,
    held: Vec<u8>,
    /// The newest one: a command that runs several shells' ends says it more than once.
    pub(super) trailer: Option<Trailer>,
    /// The state that was told with it.
    pub(super) state: Option<Vec<u8>>,
    /// Nothing began, because the state is not there any more.
    pub(super) lost: bool,
}

impl Filter {
    pub(super) fn new(word: &str) -> Self {
        let opening = [&[MARK], word.as_bytes(), &[FIELD]].concat();
        Self {
            opening,
            held: Vec::new(),
            trailer: None,
            state: None,
            lost: false,
        }
    }

    /// Hands the output in `bytes` to `sink`; what could be the beginning of a trailer waits.
    pub(super) fn push(&mut self, bytes: &[u8], sink: &mut impl FnMut(&[u8])) {
        if self.held.is_empty() && memchr(MARK, bytes).is_none() {
            sink(bytes);
            return;
        }
        let joined = [std::mem::take(&mut self.held).as_slice(), bytes].concat();
        let mut rest = joined.as_slice();
        while let Some(place) = memchr(MARK, rest) {
            let (before, from) = rest.split_at(place);
            if !before.is_empty() {
                sink(before);
            }
            match self.read(from) {
                Read::Trailer(length) => rest = from.split_at(length).1,
                Read::Output => {
                    sink(&[MARK]);
                    rest = from.split_at(1).1;
                }
                Read::Unknown => {
                    self.held = from.to_vec();
                    return;
                }
            }
        }
        if !rest.is_empty() {
            sink(rest);
        }
    }

    /// What waited for more turns out to be output.
    pub(super) fn finish(&mut self, sink: &mut impl FnMut(&[u8])) {
        let held = std::mem::take(&mut self.held);
        if !held.is_empty() {
            sink(&held);
        }
    }

    fn read(&mut self, bytes: &[u8]) -> Read {
        let known = bytes.len().min(self.opening.len());
        if bytes.get(..known) != self.opening.get(..known) {
            return Read::Output;
        }
        let body = bytes.split_at(known).1;
        if body.first() == Some(&FIELD) {
            return self.read_state(body, known);
        }
        let Some(end) = memchr(MARK, body) else {
            return match body.len() > LONGEST {
                true => Read::Output,
                false => Read::Unknown,
            };
        };
        if end == 0 && known == self.opening.len() {
            self.lost = true;
            return Read::Trailer(known + 1);
        }
        let mut fields = body.split_at(end).0.split(|byte| *byte == FIELD);
        let (Some(saved), Some(moved), Some(directory), None) =
            (fields.next(), fields.next(), fields.next(), fields.next())
        else {
            return Read::Output;
        };
        self.trailer = Some(Trailer {
            saved: saved == b"1",
            moved: moved == b"1",
            directory: path(directory),
        });
        Read::Trailer(known + end + 1)
    }

    fn read_state(&mut self, body: &[u8], known: usize) -> Read {
        let word = self
            .opening
            .get(1..self.opening.len() - 1)
            .unwrap_or_default();
        let closing = [&[FIELD], word, &[MARK]].concat();
        match memmem::find(body, &closing) {
            Some(end) => {
                self.state = body.get(1..end).map(<[u8]>::to_vec);
                Read::Trailer(known + end + closing.len())
            }
            None if body.len() > LONGEST_STATE => Read::Output,
            None => Read::Unknown,
        }
    }
}

enum Read {
    /// A trailer of this length.
    Trailer(usize),
    Output,
    /// Too short to tell.
    Unknown,
}

fn path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_told_whatever_is_in_it_and_its_loss_too() {
        let stream =
            b"one\x1eword\x1f\x1fdeclare -x A=\"\x1e\x1f\"\n\x1fword\x1e\x1eword\x1f1\x1f0\x1f/\x1etwo\x1eword\x1f\x1e";
        for cut in 0..=stream.len() {
            let mut filter = Filter::new("word");
            let mut output = Vec::new();
            let (first, second) = stream.split_at(cut);
            for piece in [first, second] {
                filter.push(piece, &mut |bytes| output.extend_from_slice(bytes));
            }
            filter.finish(&mut |bytes| output.extend_from_slice(bytes));
            assert_eq!(output, b"onetwo", "{cut}");
            let state = filter.state.unwrap();
            assert_eq!(state, b"declare -x A=\"\x1e\x1f\"\n", "{cut}");
            assert!(filter.lost && filter.trailer.is_some());
        }
    }

    #[test]
    fn is_found_wherever_the_stream_is_cut() {
        let stream = b"one\x1etwo\x1eword\x1f1\x1f0\x1f/a b\x1ethree\x1ewor".as_slice();
        for cut in 0..=stream.len() {
            let mut filter = Filter::new("word");
            let mut output = Vec::new();
            let (first, second) = stream.split_at(cut);
            for piece in [first, second] {
                filter.push(piece, &mut |bytes| output.extend_from_slice(bytes));
            }
            filter.finish(&mut |bytes| output.extend_from_slice(bytes));
            assert_eq!(output, b"one\x1etwothree\x1ewor");
            let expected = Trailer {
                saved: true,
                moved: false,
                directory: "/a b".into(),
            };
            assert_eq!(filter.trailer, Some(expected));
        }
    }
}
