//! What is pasted: cleaned, kept aside when it is long, and put back when it is sent.

mod leaks;
mod paths;

use std::collections::VecDeque;
use std::sync::Arc;

pub use leaks::clean;
pub use paths::{image_path, leading_path};

/// How many pastes are kept aside. One that is forgotten is still in its file, which its chip names.
pub const MOST_PASTES: usize = 100;
/// How much of them is kept; the newest always is.
pub const MOST_BYTES: usize = 64 * 1024 * 1024;
/// A command is not kept aside up to this length.
pub const LONGEST_COMMAND: usize = 64 * 1024;

/// When a paste is kept aside instead of written out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thresholds {
    /// From this many newlines on; nothing means never.
    pub newlines: usize,
    /// From this many characters on; nothing means never.
    pub characters: usize,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            newlines: 5,
            characters: 2_000,
        }
    }
}

impl Thresholds {
    /// Whether a cleaned paste is kept aside.
    pub fn collapse(&self, text: &str) -> bool {
        if text.starts_with('/') && text.len() <= LONGEST_COMMAND {
            return false;
        }
        let reaches = |count: usize, limit: usize| limit > 0 && count >= limit;
        reaches(text.matches('\n').count(), self.newlines)
            || (text.len() >= self.characters && reaches(text.chars().count(), self.characters))
            || text.len() > LONGEST_COMMAND
    }
}

/// A paste that is kept aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// What stands for it in the text.
    pub chip: String,
    /// Where its file is.
    pub path: String,
    /// What was pasted.
    pub content: Arc<str>,
}

/// The pastes kept aside, newest last.
#[derive(Debug, Clone, Default)]
pub struct Pastes {
    made: u32,
    kept: VecDeque<Kept>,
}

impl Pastes {
    /// Keeps a text aside; `path` names the file for its number.
    pub fn keep(&mut self, content: &str, path: impl FnOnce(u32) -> String) -> Kept {
        self.made += 1;
        let path = path(self.made);
        let lines = content.lines().count().max(1);
        let number = self.made;
        let kept = Kept {
            chip: format!("[Pasted text #{number}: {lines} lines → {path}]"),
            path,
            content: Arc::from(content),
        };
        self.kept.push_back(kept.clone());
        while self.kept.len() > MOST_PASTES || (self.bytes() > MOST_BYTES && self.kept.len() > 1) {
            self.kept.pop_front();
        }
        kept
    }

    fn bytes(&self) -> usize {
        self.kept.iter().map(|kept| kept.content.len()).sum()
    }

    /// A text with everything that was kept aside back in its place.
    pub fn expand(&self, text: &str) -> String {
        let mut made = String::with_capacity(text.len());
        let mut rest = text;
        // What was pasted is not searched for chips: it may well talk about them.
        while let Some((at, kept)) = self.first(rest) {
            made.push_str(rest.get(..at).unwrap_or_default());
            made.push_str(&kept.content);
            rest = rest.get(at + kept.chip.len()..).unwrap_or_default();
        }
        made.push_str(rest);
        made
    }

    fn first(&self, text: &str) -> Option<(usize, &Kept)> {
        if !text.contains("[Pasted text #") {
            return None;
        }
        let found = self
            .kept
            .iter()
            .filter_map(|kept| text.find(&kept.chip).map(|at| (at, kept)));
        found.min_by_key(|(at, _)| *at)
    }

    /// The chip a text ends with, so that it is taken away as a whole.
    pub fn chip_at_end(&self, text: &str) -> Option<&str> {
        let mut chips = self.kept.iter().map(|kept| kept.chip.as_str());
        chips.rfind(|chip| text.ends_with(*chip))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // CL-17
    #[test]
    fn long_pastes_are_kept_aside_and_commands_are_not() {
        let rules = Thresholds::default();
        assert!(!rules.collapse("a\nb\nc\nd\ne"));
        assert!(rules.collapse("a\nb\nc\nd\ne\nf"));
        assert!(!rules.collapse(&"é".repeat(1_999)));
        assert!(rules.collapse(&"é".repeat(2_000)));
        assert!(!rules.collapse(&format!("/background {}", "x\n".repeat(50))));
        assert!(rules.collapse(&format!("/{}", "x".repeat(LONGEST_COMMAND))));
        let never = Thresholds {
            newlines: 0,
            characters: 0,
        };
        assert!(!never.collapse(&"a\n".repeat(3_000)));
    }

    #[test]
    fn what_is_kept_aside_comes_back_word_for_word() {
        let mut pastes = Pastes::default();
        let first = pastes.keep("1\n2\n3", |number| {
            format!("pastes/paste_{number}_101112.txt")
        });
        assert_eq!(
            first.chip,
            "[Pasted text #1: 3 lines → pastes/paste_1_101112.txt]"
        );
        let second = pastes.keep(&format!("see {}", first.chip), |number| {
            format!("p{number}")
        });
        let text = format!("a {} b {} c", second.chip, first.chip);
        assert_eq!(
            pastes.expand(&text),
            format!("a see {} b 1\n2\n3 c", first.chip)
        );
        assert_eq!(
            pastes.expand("[Pasted text #9: 1 lines → x]"),
            "[Pasted text #9: 1 lines → x]"
        );
        assert_eq!(pastes.chip_at_end(&text), None);
        assert_eq!(pastes.chip_at_end(&second.chip), Some(second.chip.as_str()));
    }

    #[test]
    fn only_so_many_are_kept() {
        let mut pastes = Pastes::default();
        let first = pastes.keep("x", |number| number.to_string());
        for _ in 0..MOST_PASTES {
            pastes.keep("y", |number| number.to_string());
        }
        assert_eq!(pastes.expand(&first.chip), first.chip);
        assert_eq!(pastes.kept.len(), MOST_PASTES);
    }
}
