//! Entries that say much the same, proposed when there is no room.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::entries::{DELIMITER, Entry};

/// Pairs looked at; a file with more entries than that has other problems.
const MOST_PAIRS: usize = 20_000;
/// Words two entries must share, as a part of the shorter one.
const ALIKE: f64 = 0.34;
/// Words this short say nothing about what an entry is about.
const SHORTEST_WORD: usize = 3;

/// Two entries that could be one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Merge {
    /// Their ids.
    pub ids: [String; 2],
    /// About how many characters one entry in their place would free.
    pub frees: usize,
}

/// The two entries that share most, if any share enough.
pub(crate) fn suggest(entries: &[Entry]) -> Option<Merge> {
    let words: Vec<BTreeSet<String>> = entries.iter().map(|entry| words(&entry.text)).collect();
    let mut best: Option<(f64, &Entry, &Entry, usize)> = None;
    let pairs = (0..entries.len())
        .flat_map(|left| (left + 1..entries.len()).map(move |right| (left, right)));
    for (left, right) in pairs.take(MOST_PAIRS) {
        let (Some(mine), Some(theirs)) = (words.get(left), words.get(right)) else {
            continue;
        };
        let (Some(one), Some(other)) = (entries.get(left), entries.get(right)) else {
            continue;
        };
        let shared = mine.intersection(theirs);
        let count = shared.clone().count();
        let share = count as f64 / mine.len().min(theirs.len()).max(1) as f64;
        if count < 2 || share < ALIKE || best.is_some_and(|(most, ..)| share <= most) {
            continue;
        }
        let said_twice: usize = shared.map(|word| word.chars().count() + 1).sum();
        best = Some((share, one, other, said_twice + DELIMITER.chars().count()));
    }
    best.map(|(_, one, other, frees)| Merge {
        ids: [one.id.clone(), other.id.clone()],
        frees,
    })
}

fn words(text: &str) -> BTreeSet<String> {
    text.to_lowercase()
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| word.chars().count() >= SHORTEST_WORD)
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // LN-4
    #[test]
    fn the_pair_that_shares_most_is_proposed() {
        let entry = |id: &str, text: &str| Entry {
            id: id.to_owned(),
            text: text.to_owned(),
        };
        let entries = [
            entry("a", "User drinks green tea in the morning"),
            entry("b", "The build runs with make"),
            entry("c", "User drinks black tea in the evening"),
        ];
        let merge = suggest(&entries).unwrap();
        assert_eq!(merge.ids, ["a".to_owned(), "c".to_owned()]);
        assert!(merge.frees > 10, "{merge:?}");
        assert_eq!(suggest(&entries[..2]), None);
        assert_eq!(suggest(&[]), None);
    }
}
