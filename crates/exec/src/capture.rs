//! Output in bounded memory: its beginning and its end, and how much there was.

use std::fmt::Write as _;

/// The share of the room that the beginning gets, in percent; the end is worth more.
const HEAD_PERCENT: usize = 40;

/// Collects bytes, forgetting the middle when there are too many.
#[derive(Debug)]
pub struct Capture {
    head: Vec<u8>,
    head_room: usize,
    /// The newest bytes, up to twice the room: forgetting half of it at a time keeps that cheap.
    tail: Vec<u8>,
    tail_room: usize,
    total: u64,
}

/// What was collected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// The text, with a notice where something is left out. What is not UTF-8 shows as U+FFFD.
    pub text: String,
    /// How many bytes there were.
    pub total_bytes: u64,
    /// How many of them are left out.
    pub omitted_bytes: u64,
}

impl Capture {
    /// Room for `limit` bytes.
    pub fn new(limit: usize) -> Self {
        let head_room = limit / 100 * HEAD_PERCENT + limit % 100 * HEAD_PERCENT / 100;
        Self {
            head: Vec::new(),
            head_room,
            tail: Vec::new(),
            tail_room: limit - head_room,
            total: 0,
        }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = self.head_room.saturating_sub(self.head.len());
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(head);
        let newest = rest.split_at(rest.len().saturating_sub(self.tail_room)).1;
        if newest.len() == self.tail_room {
            self.tail.clear();
        }
        self.tail.extend_from_slice(newest);
        if self.tail.len() >= self.tail_room.saturating_mul(2) {
            self.tail.drain(..self.tail.len() - self.tail_room);
        }
    }

    /// How many bytes came in.
    pub fn total_bytes(&self) -> u64 {
        self.total
    }

    /// What there is.
    pub fn finish(&self) -> Captured {
        let (_, tail) = self
            .tail
            .split_at(self.tail.len().saturating_sub(self.tail_room));
        let kept = (self.head.len() + tail.len()) as u64;
        if kept == self.total {
            let whole = [self.head.as_slice(), tail].concat();
            return Captured {
                text: String::from_utf8_lossy(&whole).into_owned(),
                total_bytes: self.total,
                omitted_bytes: 0,
            };
        }
        let head = without_cut_end(&self.head);
        let tail = without_cut_start(tail);
        let omitted = self.total - (head.len() + tail.len()) as u64;
        let mut text = String::from_utf8_lossy(head).into_owned();
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\n\n[{omitted} of {} bytes of output left out here]\n\n",
            self.total
        );
        text.push_str(&String::from_utf8_lossy(tail));
        Captured {
            text,
            total_bytes: self.total,
            omitted_bytes: omitted,
        }
    }
}

/// Without a character that has lost its end.
fn without_cut_end(bytes: &[u8]) -> &[u8] {
    match bytes.utf8_chunks().last() {
        Some(last) if is_unfinished(last.invalid()) => {
            bytes.split_at(bytes.len() - last.invalid().len()).0
        }
        Some(_) | None => bytes,
    }
}

/// Without a character that has lost its start.
fn without_cut_start(bytes: &[u8]) -> &[u8] {
    let lost = bytes
        .iter()
        .take(3)
        .take_while(|byte| (0x80..0xc0).contains(*byte))
        .count();
    bytes.split_at(lost).1
}

/// Whether these bytes could still become a character.
fn is_unfinished(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

/// Turns bytes into text piece by piece; a character cut between two pieces arrives whole.
#[derive(Debug, Default)]
pub struct Decoder {
    pending: Vec<u8>,
}

impl Decoder {
    /// The text of the next bytes. What is not UTF-8 becomes U+FFFD.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        let joined;
        let bytes = if self.pending.is_empty() {
            bytes
        } else {
            self.pending.extend_from_slice(bytes);
            joined = std::mem::take(&mut self.pending);
            &joined
        };
        let whole = without_cut_end(bytes);
        self.pending = bytes.split_at(whole.len()).1.to_vec();
        String::from_utf8_lossy(whole).into_owned()
    }

    /// What is left when nothing follows.
    pub fn finish(self) -> String {
        String::from_utf8_lossy(&self.pending).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn captured(limit: usize, pieces: &[&[u8]]) -> Captured {
        let mut capture = Capture::new(limit);
        for piece in pieces {
            capture.push(piece);
        }
        capture.finish()
    }

    // EX-8
    #[test]
    fn keeps_two_fifths_of_the_beginning_and_three_of_the_end() {
        let bytes: Vec<u8> = (0..1_000_u32).map(|n| b'a' + (n / 100) as u8).collect();
        let captured = captured(100, &[&bytes]);
        let expected = format!(
            "{}\n\n[900 of 1000 bytes of output left out here]\n\n{}",
            "a".repeat(40),
            "j".repeat(60)
        );
        assert_eq!(captured.text, expected);
        assert_eq!((captured.total_bytes, captured.omitted_bytes), (1_000, 900));
    }

    #[test]
    fn a_character_is_never_cut() {
        let text = "ä".repeat(1_000);
        let captured = captured(101, &[text.as_bytes()]);
        assert!(!captured.text.contains('\u{fffd}'), "{}", captured.text);
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(text in "\\PC{0,200}", cuts in prop::collection::vec(0_usize..400, 0..8), limit in 0_usize..300) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.sort_unstable();
            let (mut pieces, mut from) = (Vec::new(), 0);
            for cut in cuts {
                pieces.push(&bytes[from..cut]);
                from = cut;
            }
            pieces.push(&bytes[from..]);
            prop_assert_eq!(captured(limit, &pieces), captured(limit, &[bytes]));
            let mut decoder = Decoder::default();
            let mut decoded: String = pieces.iter().map(|piece| decoder.push(piece)).collect();
            decoded.push_str(&decoder.finish());
            prop_assert_eq!(decoded, text);
        }

        #[test]
        fn a_small_output_is_whole(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let captured = captured(200, &[&bytes]);
            prop_assert_eq!(captured.text, String::from_utf8_lossy(&bytes));
            prop_assert_eq!(captured.omitted_bytes, 0);
        }
    }
}
