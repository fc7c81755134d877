//! What a command printed and nobody was shown yet.

/// Most bytes that are held back for the end of a line, or for a listener that is slow.
const MOST: usize = 64 << 10;
/// Shown in place of what was too much.
const LEFT_OUT: &str = "\n[some output is not shown here]\n";

/// Output on its way to somebody who watches. It is cut where no secret can be in the middle: at the end of a
/// line, or between words when a line does not end. Bounded: what nobody takes in time is left out.
#[derive(Debug, Default)]
pub(super) struct Unsent {
    text: String,
    /// A word too long to keep was left out, and goes on.
    skipping: bool,
}

impl Unsent {
    /// Adds what came, leaving out what is too much.
    pub(super) fn push(&mut self, piece: &str) {
        let piece = match (self.skipping, piece.find(char::is_whitespace)) {
            (false, _) => piece,
            (true, Some(end)) => piece.split_at(end).1,
            (true, None) => return,
        };
        self.skipping = false;
        if self.text.len() + piece.len() <= 2 * MOST {
            self.text.push_str(piece);
            return;
        }
        // Nobody took the old text; of the new only its last words are worth keeping.
        let start = piece.ceil_char_boundary(piece.len().saturating_sub(MOST));
        let last = piece.split_at(start).1;
        self.text.clear();
        self.text.push_str(LEFT_OUT);
        match last.find(char::is_whitespace) {
            Some(word) => self.text.push_str(last.split_at(word).1),
            None => self.skipping = true,
        }
    }

    /// What can be shown now.
    pub(super) fn ready(&self) -> Option<&str> {
        let end = match self.text.rfind('\n') {
            Some(end) => end,
            None if self.text.len() > MOST => self.text.rfind(char::is_whitespace)?,
            None => return None,
        };
        let next = self.text.ceil_char_boundary(end + 1);
        Some(self.text.split_at(next).0)
    }

    /// Forgets so many bytes of what was ready, because they were shown.
    pub(super) fn sent(&mut self, bytes: usize) {
        self.text.drain(..bytes);
    }

    /// What is left when no more comes: a last line without an end.
    pub(super) fn rest(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // EX-8
    #[test]
    fn a_line_that_never_ends_takes_no_more_room_than_any_other() {
        let chunk = "\0".repeat(64 << 10);
        let mut unsent = Unsent::default();
        let mut largest = 0;
        for _ in 0..256 {
            unsent.push(&chunk);
            largest = largest.max(unsent.text.capacity());
            if let Some(shown) = unsent.ready().map(str::len) {
                unsent.sent(shown);
            }
        }
        assert!(largest <= 4 * MOST, "{largest}");
        unsent.push(" then a line\n");
        assert!(
            unsent
                .ready()
                .is_some_and(|text| text.ends_with("then a line\n"))
        );
    }

    // EX-8
    #[test]
    fn a_listener_that_takes_nothing_costs_nothing() {
        let mut unsent = Unsent::default();
        for number in 0..100_000 {
            unsent.push(&format!("line {number}\n"));
        }
        assert!(unsent.text.len() <= 2 * MOST + LEFT_OUT.len());
        assert!(
            unsent
                .ready()
                .is_some_and(|text| text.ends_with("line 99999\n"))
        );
    }

    // EX-13
    #[test]
    fn a_word_is_never_cut_in_two() {
        let key = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
        for before in (MOST - 60)..(MOST + 60) {
            let mut unsent = Unsent::default();
            unsent.push(&format!("{} {key}", "x".repeat(before)));
            unsent.push(&format!("{key} and more"));
            let mut shown = String::new();
            while let Some(piece) = unsent.ready().map(str::to_owned) {
                unsent.sent(piece.len());
                assert!(
                    !piece.contains("ghp_") || piece.contains(&key.repeat(2)),
                    "{before}"
                );
                shown.push_str(&piece);
            }
            let rest = &unsent.text;
            assert!(
                !rest.contains("6789") || rest.contains(&key.repeat(2)),
                "{before}"
            );
        }
    }
}
