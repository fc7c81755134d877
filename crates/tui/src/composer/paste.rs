//! What is pasted: cleaned, kept aside when it is long, and put back when it is sent.

mod leaks;
mod paths;

use std::collections::VecDeque;
use std::fmt;
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
        if is_command(text) && text.len() <= LONGEST_COMMAND {
            return false;
        }
        let reaches = |count: usize, limit: usize| limit > 0 && count >= limit;
        reaches(text.matches('\n').count(), self.newlines)
            || (text.len() >= self.characters && reaches(text.chars().count(), self.characters))
            || text.len() > LONGEST_COMMAND
    }
}

/// Whether a text begins as a command does; a path is none.
pub fn is_command(text: &str) -> bool {
    let name = text
        .strip_prefix('/')
        .map(|rest| rest.split(char::is_whitespace).next());
    name.flatten().is_some_and(|name| !name.contains('/'))
}

/// What every chip begins with.
const CHIP: &str = "[Pasted text #";
/// Where the files of pastes are, as chips name them.
const FOLDER: &str = "pastes/";

/// The chip a text begins with, as an earlier run may have made it, and the path of its file.
fn earlier(text: &str) -> Option<(&str, &str)> {
    let end = text.find(']')?;
    let chip = text.get(..=end)?;
    let (_, path) = chip.trim_end_matches(']').split_once(" lines → ")?;
    let name = path.strip_prefix(FOLDER)?;
    let plain = !name.contains(['/', '\\', '\n']) && name.ends_with(".txt");
    plain.then_some((chip, path))
}

/// A text with everything that was kept aside back in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expanded {
    /// The text.
    pub text: String,
    /// The first file that is not there any more; its chip stands in the text.
    pub lost: Option<String>,
}

type ReadPaste = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Finds the texts of pastes that were made in an earlier run, by the paths in their chips: the composer has no disk.
#[derive(Clone)]
pub struct PasteTexts(Arc<ReadPaste>);

impl PasteTexts {
    /// Texts found this way.
    pub fn new(read: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    /// The text of a paste, if it is there.
    pub fn read(&self, path: &str) -> Option<String> {
        (self.0)(path)
    }
}

impl Default for PasteTexts {
    fn default() -> Self {
        Self::new(|_| None)
    }
}

impl fmt::Debug for PasteTexts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("PasteTexts")
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

    /// A text with everything that was kept aside back in its place: from memory, or from `texts`.
    pub fn expand(&self, text: &str, texts: &PasteTexts) -> Expanded {
        let mut made = String::with_capacity(text.len());
        let mut lost = None;
        let mut rest = text;
        // What was pasted is not searched for chips: it may well talk about them.
        while let Some(at) = rest.find(CHIP) {
            let (before, from) = rest.split_at(at);
            made.push_str(before);
            let known = self.kept.iter().find(|kept| from.starts_with(&kept.chip));
            let (chip, content) = match (known, earlier(from)) {
                (Some(kept), _) => (kept.chip.as_str(), Some(kept.content.to_string())),
                (None, Some((chip, path))) => {
                    let content = texts.read(path);
                    if content.is_none() {
                        lost.get_or_insert_with(|| path.to_owned());
                    }
                    (chip, content)
                }
                (None, None) => (CHIP, None),
            };
            made.push_str(content.as_deref().unwrap_or(chip));
            rest = from.get(chip.len()..).unwrap_or_default();
        }
        made.push_str(rest);
        Expanded { text: made, lost }
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
        assert!(rules.collapse(&"/usr/share/doc\n".repeat(6)), "no command");
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
        let expand = |text: &str| pastes.expand(text, &PasteTexts::default());
        assert_eq!(
            expand(&text).text,
            format!("a see {} b 1\n2\n3 c", first.chip)
        );
        let written = "[Pasted text #9: 1 lines → x]";
        assert_eq!(expand(written).text, written);
        assert_eq!(expand(written).lost, None);
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
        let texts = PasteTexts::default();
        assert_eq!(pastes.expand(&first.chip, &texts).text, first.chip);
        assert_eq!(pastes.kept.len(), MOST_PASTES);
    }

    // CL-17
    #[test]
    fn pastes_of_an_earlier_run_are_read_from_their_files_and_nowhere_else() {
        let texts = PasteTexts::new(|path| (path == "pastes/paste_1.txt").then(|| "old".into()));
        let expand = |text: &str| Pastes::default().expand(text, &texts);
        let whole = expand("a [Pasted text #1: 6 lines → pastes/paste_1.txt] b");
        assert_eq!((whole.text.as_str(), whole.lost), ("a old b", None));
        let gone = expand("[Pasted text #2: 6 lines → pastes/paste_2.txt]");
        assert_eq!(gone.lost.as_deref(), Some("pastes/paste_2.txt"));
        for text in [
            "[Pasted text #1: 6 lines → pastes/../paste_1.txt]",
            "[Pasted text #1: 6 lines → /etc/passwd]",
            "[Pasted text #1",
        ] {
            let same = expand(text);
            assert_eq!((same.text.as_str(), same.lost), (text, None));
        }
    }
}
