use std::collections::{BTreeMap, HashSet};

use hermes_store::{SearchFilter, SearchOrder};

use super::language::Language;
use super::lexicon::Lexicon;
use super::*;

#[test]
fn a_seed_gives_the_same_messages() {
    let (first, second) = (Plan::new(7, 5_000).unwrap(), Plan::new(7, 5_000).unwrap());
    let other = Plan::new(8, 5_000).unwrap();
    assert_eq!(first.messages(), 5_000);
    for index in [0, 1, first.sessions() - 1] {
        assert_eq!(first.session(index), second.session(index));
        assert_ne!(first.session(index), other.session(index));
    }
}

#[test]
fn every_language_has_words_enough() {
    for language in Language::ALL {
        let lexicon = Lexicon::read(language);
        let words: HashSet<_> = [&lexicon.nouns, &lexicon.verbs, &lexicon.adjectives]
            .into_iter()
            .flat_map(|list| &list.words)
            .collect();
        assert!(words.len() >= 400, "{}: {}", language.name(), words.len());
    }
}

/// LN-17: found by one, two or three characters, and glued to Latin.
#[test]
fn finds_what_was_planted_in_every_language() {
    let folder = tempfile::tempdir().unwrap();
    let plan = Plan::new(SEED, 5_000).unwrap();
    let answers = fill(folder.path(), &plan, |_| {}).unwrap();
    let store = open(folder.path()).unwrap();
    let mut recall: BTreeMap<Language, (usize, usize)> = BTreeMap::new();
    let mut missed = Vec::new();
    for answer in answers.iter().filter(|answer| answer.kind.is_promised()) {
        let hits = store
            .search(
                &answer.query,
                SearchFilter::default(),
                SearchOrder::Relevance,
                5,
            )
            .wait()
            .unwrap();
        let found = hits.iter().any(|hit| hit.message == answer.message);
        let (good, all) = recall.entry(answer.language).or_default();
        *good += usize::from(found);
        *all += 1;
        if !found {
            missed.push(answer);
        }
    }
    for language in Language::ALL {
        let (good, all) = recall.get(&language).copied().unwrap_or_default();
        assert!(all >= 60, "{}: only {all} questions", language.name());
        assert!(
            good * 100 >= all * 95,
            "{}: {good} of {all}; missed {missed:?}",
            language.name()
        );
    }
}
