//! A file as entries, and back.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// What stands between two entries.
pub(crate) const DELIMITER: &str = "\n§\n";
/// Characters shown where a whole entry would be too much.
const PREVIEW: usize = 80;
/// Digits of an id; more when two would be alike.
const SHORTEST_ID: usize = 6;

/// One thing that is remembered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Names it for as long as it is there, also when its words are replaced.
    pub id: String,
    /// The words.
    pub text: String,
}

impl Entry {
    /// How it begins, in one line.
    pub fn preview(&self) -> String {
        preview(&self.text)
    }
}

/// How a text begins, in one line.
pub fn preview(text: &str) -> String {
    let line = text.replace('\n', " ");
    match line.chars().count() > PREVIEW {
        true => line.chars().take(PREVIEW - 1).chain(['…']).collect(),
        false => line,
    }
}

/// The entries of a text: split, trimmed, without empty ones, the first of equal ones.
pub(crate) fn parse(text: &str) -> Vec<&str> {
    let mut entries = Vec::new();
    let (mut start, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        let end = at;
        at += line.len();
        if is_separator(line) {
            entries.push(text.get(start..end).unwrap_or_default());
            start = at;
        }
    }
    entries.push(text.get(start..).unwrap_or_default());
    let mut seen = HashSet::new();
    entries
        .into_iter()
        .map(str::trim)
        .filter(|entry| !entry.is_empty() && seen.insert(*entry))
        .collect()
}

/// Whether a line separates entries, also with spaces around it or the line ends of other systems.
pub(crate) fn is_separator(line: &str) -> bool {
    line.trim() == "§"
}

/// Entries as the text of a file.
pub(crate) fn serialise<'e>(entries: impl IntoIterator<Item = &'e str>) -> String {
    entries.into_iter().collect::<Vec<_>>().join(DELIMITER)
}

/// How many characters entries take, with what stands between them.
pub(crate) fn size<'e>(entries: impl IntoIterator<Item = &'e str>) -> usize {
    let lengths = entries.into_iter().map(|entry| entry.chars().count());
    let (count, total) = lengths.fold((0usize, 0usize), |(count, total), length| {
        (count + 1, total.saturating_add(length))
    });
    total + count.saturating_sub(1) * DELIMITER.chars().count()
}

/// What is kept beside a file: ids of entries whose words were replaced, and what we wrote last. Everything in
/// it can be done without; ids then follow from the words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Aside {
    /// Digest of the whole file as we last wrote it.
    #[serde(default)]
    pub(crate) written: String,
    /// Ids by the digest of the words, where they are not the beginning of it.
    #[serde(default)]
    pub(crate) ids: BTreeMap<String, String>,
}

/// Entries with their ids.
pub(crate) fn identified(texts: &[&str], aside: &Aside) -> Vec<Entry> {
    let mut taken = HashSet::new();
    let mut entries: Vec<Entry> = Vec::with_capacity(texts.len());
    for text in texts {
        let digest = digest(text.as_bytes());
        let known = aside.ids.get(&digest).cloned();
        let id = known.filter(|id| !taken.contains(id));
        let id = id.unwrap_or_else(|| free(&digest, |id| taken.contains(id)));
        taken.insert(id.clone());
        entries.push(Entry {
            id,
            text: (*text).to_owned(),
        });
    }
    entries
}

/// The id of words that are new among these.
pub(crate) fn fresh_id(text: &str, among: &[Entry]) -> String {
    free(&digest(text.as_bytes()), |id| {
        among.iter().any(|entry| entry.id == id)
    })
}

/// What has to be kept aside so that entries are identified the same way again.
pub(crate) fn to_keep(entries: &[Entry]) -> BTreeMap<String, String> {
    let derived = identified(
        &entries
            .iter()
            .map(|entry| entry.text.as_str())
            .collect::<Vec<_>>(),
        &Aside::default(),
    );
    entries
        .iter()
        .zip(derived)
        .filter(|(entry, derived)| entry.id != derived.id)
        .map(|(entry, _)| (digest(entry.text.as_bytes()), entry.id.clone()))
        .collect()
}

/// A digest in hexadecimal digits.
pub(crate) fn digest(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn free(digest: &str, is_taken: impl Fn(&str) -> bool) -> String {
    (SHORTEST_ID..digest.len())
        .filter_map(|length| digest.get(..length))
        .find(|id| !is_taken(id))
        .unwrap_or(digest)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    // LN-1
    #[test]
    fn texts_are_split_trimmed_and_freed_of_doubles() {
        let text = "\n one \n§\n\n§\ntwo\nlines\n§\none\n§\nthree § not\n";
        assert_eq!(parse(text), ["one", "two\nlines", "three § not"]);
        assert_eq!(serialise(["a", "b"]), "a\n§\nb");
        assert_eq!(size(["é", "bc"]), 6);
        assert_eq!((size([]), parse(" \n")), (0, Vec::<&str>::new()));
        assert_eq!(preview("a\nb"), "a b");
        assert_eq!(preview(&"é".repeat(81)), format!("{}…", "é".repeat(79)));
    }

    // LN-4
    #[test]
    fn ids_follow_from_words_and_stay_when_words_are_replaced() {
        let first = identified(&["tea", "tabs"], &Aside::default());
        assert_eq!(first, identified(&["tea", "tabs"], &Aside::default()));
        assert_eq!(first[0].id.len(), SHORTEST_ID);
        assert_ne!(first[0].id, first[1].id);
        let mut changed = first.clone();
        changed[0].text = "green tea".to_owned();
        let aside = Aside {
            ids: to_keep(&changed),
            ..Aside::default()
        };
        assert_eq!(aside.ids.len(), 1);
        assert_eq!(
            identified(&["tabs", "green tea"], &aside)[1].id,
            first[0].id
        );
        // Words that come back take another id than the entry that has theirs now.
        let both = identified(&["green tea", "tea"], &aside);
        assert_eq!(both[0].id, first[0].id);
        assert!(both[1].id.len() > SHORTEST_ID && both[1].id.starts_with(&first[0].id));
    }

    proptest! {
        // LN-1
        #[test]
        fn what_is_written_is_read_again(texts in proptest::collection::vec("[a-z§\n ]{0,12}", 0..8)) {
            let whole = texts.join(DELIMITER);
            let entries = parse(&whole);
            let written = serialise(entries.iter().copied());
            prop_assert_eq!(parse(&written), entries.clone());
            prop_assert_eq!(size(entries.iter().copied()), written.chars().count());
        }
    }
}
