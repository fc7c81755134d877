//! Where two pieces of one answer meet: a model that is asked to go on where it stopped may begin with its last words
//! again, which nobody wants to read twice.

/// A repetition is at least this long, in bytes and in letters: less of it may be meant, such as brackets in code.
const LEAST: usize = 16;
const LEAST_LETTERS: usize = 8;
/// Bytes of the piece before that are compared.
const MOST: usize = 4_096;

/// How many bytes at the beginning of a piece repeat the end of the one before.
pub(crate) fn repeated(before: &str, next: &str) -> usize {
    let tail = tail(before);
    let repeats = |length: &usize| {
        let start = next.get(..*length);
        start.is_some_and(|start| tail.ends_with(start) && has_letters(start))
    };
    let most = tail.len().min(next.len());
    (LEAST..=most).rev().find(repeats).unwrap_or(0)
}

fn tail(text: &str) -> &str {
    let from = text.ceil_char_boundary(text.len().saturating_sub(MOST));
    text.get(from..).unwrap_or_default()
}

fn has_letters(text: &str) -> bool {
    let letters = text.chars().filter(|letter| letter.is_alphabetic());
    letters.take(LEAST_LETTERS).count() == LEAST_LETTERS
}

/// Holds the beginning of a piece back until it is clear what of it is new.
#[derive(Debug, Default)]
pub(crate) struct Joint {
    /// The end of the piece before; empty once that is clear.
    before: String,
    held: String,
}

impl Joint {
    pub(crate) fn new(before: &str) -> Self {
        Self {
            before: tail(before).to_owned(),
            held: String::new(),
        }
    }

    /// Takes some of the piece in and gives what can be shown.
    pub(crate) fn push(&mut self, text: String) -> String {
        if self.before.is_empty() {
            return text;
        }
        self.held.push_str(&text);
        // It may go on to the end of the piece before.
        match self.before.contains(&self.held) {
            true => String::new(),
            false => self.finish(),
        }
    }

    /// What is left to show when nothing more comes.
    pub(crate) fn finish(&mut self) -> String {
        let before = std::mem::take(&mut self.before);
        let mut held = std::mem::take(&mut self.held);
        held.split_off(repeated(&before, &held))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BEFORE: &str = "The garden has roses and tulips";

    // AG-16
    #[test]
    fn the_last_words_are_not_said_twice() {
        for (next, new) in [
            (" and a pond.", " and a pond."),
            ("has roses and tulips, and a pond.", ", and a pond."),
            (
                "The garden has roses and tulips. It is old.",
                ". It is old.",
            ),
            // All of it, and nothing new.
            (BEFORE, ""),
            // Too little to be sure, or another place.
            ("tulips, and a pond.", "tulips, and a pond."),
            ("The garden has lilies.", "The garden has lilies."),
        ] {
            assert_eq!(&next[repeated(BEFORE, next)..], new, "{next}");
        }
        let code = "        }\n            }\n";
        assert_eq!(repeated(code, code), 0, "brackets are meant");
        let umlauts = "über größere Gärten hinaus";
        assert_eq!(repeated(umlauts, umlauts), umlauts.len());
    }

    proptest! {
        // AG-16
        #[test]
        fn what_is_shown_piece_by_piece_is_what_is_kept(
            start in 0..BEFORE.len(),
            rest in "[a-z ä.]{0,30}",
            sizes in prop::collection::vec(1..9_usize, 0..40),
        ) {
            let next = format!("{}{rest}", &BEFORE[start..]);
            let mut joint = Joint::new(BEFORE);
            let mut letters = next.chars();
            let mut shown = String::new();
            for size in sizes {
                shown += &joint.push(letters.by_ref().take(size).collect());
            }
            shown += &joint.push(letters.collect());
            shown += &joint.finish();
            prop_assert_eq!(&shown, &next[repeated(BEFORE, &next)..]);
        }
    }
}
