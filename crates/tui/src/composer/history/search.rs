//! Looking for an entry by a part of it.

use super::History;

const LONGEST_QUERY: usize = 200;

/// A search that is going on.
#[derive(Debug, Clone)]
pub struct Search {
    query: String,
    /// The entry shown.
    at: Option<usize>,
    /// The text that was being written, for the way back.
    draft: String,
}

impl Search {
    /// Starts looking; nothing is found before something is looked for.
    pub fn new(draft: &str) -> Self {
        Self {
            query: String::new(),
            at: None,
            draft: draft.to_owned(),
        }
    }

    /// What is looked for.
    pub fn query(&self) -> &str {
        &self.query
    }

    /// The text that was being written when the search began.
    pub fn draft(&self) -> &str {
        &self.draft
    }

    /// The entry found.
    pub fn found<'h>(&self, history: &'h History) -> Option<&'h str> {
        history.entries.get(self.at?).map(String::as_str)
    }

    /// Whether something was looked for in vain.
    pub fn failed(&self) -> bool {
        !self.query.is_empty() && self.at.is_none()
    }

    /// Adds a letter; the entry shown stays when it still fits.
    pub fn add(&mut self, letter: char, history: &History) {
        if self.query.len() < LONGEST_QUERY {
            self.query.push(letter);
        }
        let from = self.at.map_or(history.entries.len(), |at| at + 1);
        self.at = self.before(from, history);
    }

    /// Takes the last letter away and looks from the newest again.
    pub fn shorten(&mut self, history: &History) {
        self.query.pop();
        self.at = self.before(history.entries.len(), history);
    }

    /// The next older entry that fits and differs.
    pub fn older(&mut self, history: &History) {
        let shown = self.found(history);
        let mut from = self.at.unwrap_or(history.entries.len());
        while let Some(at) = self.before(from, history) {
            if history.entries.get(at).map(String::as_str) != shown {
                self.at = Some(at);
                return;
            }
            from = at;
        }
    }

    /// The next newer entry that fits and differs.
    pub fn newer(&mut self, history: &History) {
        let Some(at) = self.at else { return };
        let shown = self.found(history);
        let later = history.entries.iter().enumerate().skip(at + 1);
        let fitting = later.filter(|(_, entry)| Some(entry.as_str()) != shown);
        let next = fitting
            .filter(|(_, entry)| fits(entry, &self.query))
            .map(|(at, _)| at)
            .next();
        self.at = next.or(self.at);
    }

    fn before(&self, from: usize, history: &History) -> Option<usize> {
        if self.query.is_empty() {
            return None;
        }
        let earlier = history.entries.get(..from.min(history.entries.len()))?;
        earlier.iter().rposition(|entry| fits(entry, &self.query))
    }
}

/// Small letters find both; a capital finds only itself.
fn fits(entry: &str, query: &str) -> bool {
    match query.chars().any(char::is_uppercase) {
        true => entry.contains(query),
        false => entry.to_lowercase().contains(query),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history() -> History {
        let entries = ["cargo build", "git push", "Cargo test", "ls", "Cargo test"];
        History::new(entries.map(str::to_owned).to_vec())
    }

    #[test]
    fn each_letter_narrows_and_asking_again_goes_back() {
        let history = history();
        let mut search = Search::new("draft");
        assert_eq!(search.found(&history), None);
        assert!(!search.failed());
        for letter in "carg".chars() {
            search.add(letter, &history);
        }
        assert_eq!(search.found(&history), Some("Cargo test"));
        search.older(&history);
        assert_eq!(search.found(&history), Some("cargo build"));
        search.older(&history);
        assert_eq!(
            search.found(&history),
            Some("cargo build"),
            "the oldest stays"
        );
        search.newer(&history);
        assert_eq!(search.found(&history), Some("Cargo test"));
        assert_eq!(search.draft(), "draft");
    }

    #[test]
    fn says_when_nothing_fits_and_recovers() {
        let history = history();
        let mut search = Search::new("");
        for letter in "gitx".chars() {
            search.add(letter, &history);
        }
        assert!(search.failed());
        search.shorten(&history);
        assert_eq!(search.found(&history), Some("git push"));
    }

    #[test]
    fn a_capital_finds_only_itself() {
        let history = history();
        let mut search = Search::new("");
        search.add('C', &history);
        search.older(&history);
        assert_eq!(search.found(&history), Some("Cargo test"));
    }
}
