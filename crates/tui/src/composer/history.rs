//! What was sent before.
//!
//! The file is the reference's: for each entry a line `# timestamp`, then its lines with a `+` in front.
//! Reading and appending it is the caller's.

mod search;

pub use search::Search;

/// What is kept; older entries are forgotten here, not in the file.
pub const MOST_ENTRIES: usize = 10_000;

/// The entries, oldest first, and where among them somebody is looking.
#[derive(Debug, Clone, Default)]
pub struct History {
    entries: Vec<String>,
    looking: Option<Looking>,
}

#[derive(Debug, Clone)]
struct Looking {
    at: usize,
    /// What was being written when the looking began.
    draft: String,
}

/// Reads the entries of a history file, oldest first.
pub fn parse(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let mut entries = Vec::new();
    let mut open: Option<String> = None;
    for line in text.lines() {
        match (line.strip_prefix('+'), &mut open) {
            (Some(more), Some(entry)) => {
                entry.push('\n');
                entry.push_str(more);
            }
            (Some(first), None) => open = Some(first.to_owned()),
            (None, _) => entries.extend(open.take()),
        }
    }
    entries.extend(open);
    entries.retain(|entry| !entry.trim().is_empty());
    let extra = entries.len().saturating_sub(MOST_ENTRIES);
    entries.drain(..extra);
    entries
}

/// What is appended to a history file for an entry, sent at a time in words.
pub fn block(entry: &str, timestamp: &str) -> Vec<u8> {
    let mut made = format!("\n# {timestamp}\n");
    for line in entry.split('\n') {
        made.push('+');
        made.push_str(line);
        made.push('\n');
    }
    made.into_bytes()
}

impl History {
    /// A history of these entries, oldest first.
    pub fn new(mut entries: Vec<String>) -> Self {
        let extra = entries.len().saturating_sub(MOST_ENTRIES);
        entries.drain(..extra);
        Self {
            entries,
            looking: None,
        }
    }

    /// The entries, oldest first.
    pub fn entries(&self) -> &[String] {
        &self.entries
    }

    /// Adds what was sent; the same again is not added. Says whether it was.
    pub fn push(&mut self, entry: &str) -> bool {
        self.looking = None;
        if entry.trim().is_empty() || self.entries.last().is_some_and(|last| last == entry) {
            return false;
        }
        self.entries.push(entry.to_owned());
        if self.entries.len() > MOST_ENTRIES {
            self.entries.remove(0);
        }
        true
    }

    /// The entry before the one looked at; the text being written is kept.
    pub fn older(&mut self, writing: &str) -> Option<&str> {
        let at = match &self.looking {
            Some(looking) => looking.at.checked_sub(1)?,
            None => self.entries.len().checked_sub(1)?,
        };
        match &mut self.looking {
            Some(looking) => looking.at = at,
            None => {
                self.looking = Some(Looking {
                    at,
                    draft: writing.to_owned(),
                })
            }
        }
        self.entries.get(at).map(String::as_str)
    }

    /// The entry after the one looked at, and behind the newest the text that was being written.
    pub fn newer(&mut self) -> Option<String> {
        let looking = self.looking.as_mut()?;
        looking.at += 1;
        match self.entries.get(looking.at) {
            Some(entry) => Some(entry.clone()),
            None => self.looking.take().map(|looking| looking.draft),
        }
    }

    /// Ends the looking: what is shown is being written now.
    pub fn settle(&mut self) {
        self.looking = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // CL-17
    #[test]
    fn reads_what_the_reference_wrote() {
        let file = b"\n# 2025-03-01 10:00:00.123456\n+hello\n\n# 2025-03-01 10:01:00.000001\n+two\n+ lines\n+\n+end\n";
        assert_eq!(parse(file), ["hello", "two\n lines\n\nend"]);
        assert_eq!(parse(b""), Vec::<String>::new());
        assert_eq!(parse(b"+a\xff\n#x\n+b"), ["a\u{fffd}", "b"]);
    }

    #[test]
    fn what_is_appended_reads_back() {
        let entries = ["one", "two\n\n+plus\n# hash", " spaced "];
        let file: Vec<u8> = entries
            .iter()
            .flat_map(|entry| block(entry, "2026-01-02 03:04:05.000006"))
            .collect();
        assert_eq!(parse(&file), entries);
        assert!(file.starts_with(b"\n# 2026-01-02 03:04:05.000006\n+one\n"));
    }

    #[test]
    fn only_the_last_ten_thousand_are_kept() {
        let file: Vec<u8> = (0..MOST_ENTRIES + 5)
            .flat_map(|number| block(&number.to_string(), "t"))
            .collect();
        let mut history = History::new(parse(&file));
        assert_eq!(history.entries().len(), MOST_ENTRIES);
        assert_eq!(history.entries()[0], "5");
        history.push("new");
        assert_eq!(history.entries().len(), MOST_ENTRIES);
        assert_eq!(history.entries()[0], "6");
    }

    #[test]
    fn looking_through_it_keeps_the_draft() {
        let mut history = History::new(vec!["one".into(), "two".into()]);
        assert_eq!(history.newer(), None);
        assert_eq!(history.older("draft"), Some("two"));
        assert_eq!(history.older("two"), Some("one"));
        assert_eq!(history.older("one"), None);
        assert_eq!(history.newer().as_deref(), Some("two"));
        assert_eq!(history.newer().as_deref(), Some("draft"));
        assert_eq!(history.newer(), None);
    }

    #[test]
    fn the_same_again_and_nothing_are_not_added() {
        let mut history = History::default();
        assert!(history.push("a"));
        assert!(!history.push("a"));
        assert!(!history.push("  "));
        assert_eq!(history.entries(), ["a"]);
    }
}
