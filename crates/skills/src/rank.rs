//! Which skills fit some words best (BM25 over name, tags, category and description).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use hermes_store::{terms, visit_terms};

use crate::catalog::CatalogEntry;

const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.75;
/// How often a word counts where it stands.
const IN_NAME: f64 = 3.0;
const IN_TAGS: f64 = 2.0;
/// Words of a question that are looked at.
const MOST_WORDS: usize = 200;

/// The entries that share a word with the question, best first; equal ones in the order they came in.
pub fn best<'a>(entries: &[&'a CatalogEntry], question: &str) -> Vec<&'a CatalogEntry> {
    let words: BTreeSet<String> = terms(question).into_iter().take(MOST_WORDS).collect();
    if words.is_empty() {
        return Vec::new();
    }
    let documents: Vec<Document<'_>> = entries
        .iter()
        .map(|entry| Document::read(entry, &words))
        .collect();
    let count = entries.len() as f64;
    let whole: f64 = documents.iter().map(|document| document.length).sum();
    let average = (whole / count.max(1.0)).max(1.0);
    let mut holding: HashMap<&str, f64> = HashMap::new();
    for word in documents.iter().flat_map(|document| document.found.keys()) {
        *holding.entry(word).or_insert(0.0) += 1.0;
    }
    let rare: HashMap<&str, f64> = holding
        .into_iter()
        .map(|(word, holding)| {
            let rare = ((count - holding + 0.5) / (holding + 0.5) + 1.0).ln();
            (word, rare)
        })
        .collect();
    let mut scored: Vec<(f64, &'a CatalogEntry)> = Vec::new();
    for (document, entry) in documents.iter().zip(entries) {
        let norm = SATURATION * (1.0 - LENGTH + LENGTH * document.length / average);
        let found = document.found.iter();
        let score: f64 = found
            .filter_map(|(word, weight)| {
                let rare = rare.get(word)?;
                Some(rare * weight * (SATURATION + 1.0) / (weight + norm))
            })
            .sum();
        if score > 0.0 {
            scored.push((score, entry));
        }
    }
    // A stable sort: equal scores keep their order.
    scored.sort_by(|left, right| right.0.total_cmp(&left.0));
    scored.into_iter().map(|(_, entry)| entry).collect()
}

/// What a skill says about itself, as far as the question is concerned.
struct Document<'w> {
    /// How much all its words weigh together.
    length: f64,
    /// The words of the question it holds, and how much they weigh.
    found: BTreeMap<&'w str, f64>,
}

impl<'w> Document<'w> {
    fn read(entry: &CatalogEntry, words: &'w BTreeSet<String>) -> Self {
        let mut document = Self {
            length: 0.0,
            found: BTreeMap::new(),
        };
        document.add(&entry.name, IN_NAME, words);
        document.add(&entry.category, 1.0, words);
        document.add(&entry.description, 1.0, words);
        for tag in &entry.tags {
            document.add(tag, IN_TAGS, words);
        }
        document
    }

    fn add(&mut self, text: &str, weight: f64, words: &'w BTreeSet<String>) {
        visit_terms(text, |term| {
            self.length += weight;
            if let Some(word) = words.get(term) {
                *self.found.entry(word).or_insert(0.0) += weight;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, description: &str) -> CatalogEntry {
        CatalogEntry {
            name: name.to_owned(),
            description: description.to_owned(),
            category: String::new(),
            directory: name.into(),
            external: false,
            tags: Vec::new(),
            conditions: Default::default(),
        }
    }

    #[test]
    fn rare_words_and_names_count_more() {
        let all = [
            entry("mail", "write and send letters"),
            entry("pdf-forms", "fill in forms"),
            entry("notes", "write notes about pdf files"),
            entry("翻译", "把文字翻译成英文"),
        ];
        let all: Vec<&CatalogEntry> = all.iter().collect();
        let names = |question: &str| -> Vec<&str> {
            let found = best(&all, question).into_iter();
            found.map(|entry| entry.name.as_str()).collect()
        };
        assert_eq!(names("Fill in this PDF, please"), ["pdf-forms", "notes"]);
        assert_eq!(names("write"), ["mail", "notes"]);
        assert_eq!(names("请翻译这个"), ["翻译"]);
        assert!(names("").is_empty() && names("zzz").is_empty());
    }
}
