//! Facts held against one another.

use std::collections::{BTreeMap, BTreeSet};

use hermes_store::{Fact, entity_key, terms};
use serde_json::{Value as Json, json};

/// Below this two facts do not contradict one another enough to be worth a look.
const LEAST: f64 = 0.3;

/// What is named along with a thing: how often, and by which facts.
pub(super) fn related(entity: &str, facts: &[Fact], most: usize) -> Vec<Json> {
    let own = entity_key(entity);
    let mut beside: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
    for fact in facts {
        for name in fact.entities.iter().filter(|name| **name != own) {
            beside.entry(name).or_default().push(fact.id);
        }
    }
    let mut beside: Vec<_> = beside.into_iter().collect();
    beside.sort_by_key(|(_, facts)| std::cmp::Reverse(facts.len()));
    beside
        .into_iter()
        .take(most)
        .map(|(name, facts)| json!({"entity": name, "shared": facts.len(), "facts": facts}))
        .collect()
}

/// The facts that name all of these.
pub(super) fn joint(entities: &[String], facts: &[Fact], most: usize) -> Vec<Fact> {
    let wanted: Vec<String> = entities.iter().map(|name| entity_key(name)).collect();
    facts
        .iter()
        .filter(|fact| wanted.iter().all(|name| fact.entities.contains(name)))
        .take(most)
        .cloned()
        .collect()
}

/// Pairs about the same things that say different things, the most striking first.
pub(super) fn contradictions(facts: &[Fact], most: usize) -> Vec<Json> {
    let words: Vec<BTreeSet<String>> = facts
        .iter()
        .map(|fact| terms(&fact.content).into_iter().collect())
        .collect();
    let mut pairs = Vec::new();
    for (at, (first, said)) in facts.iter().zip(&words).enumerate() {
        for (second, other) in facts.iter().zip(&words).skip(at + 1) {
            let same = share(&names(first), &names(second));
            let score = same * (1.0 - share(said, other));
            if score >= LEAST {
                pairs.push((score, first, second));
            }
        }
    }
    pairs.sort_by(|left, right| right.0.total_cmp(&left.0));
    pairs
        .into_iter()
        .take(most)
        .map(|(score, first, second)| json!({"score": (score * 100.0).round() / 100.0, "facts": [first, second]}))
        .collect()
}

fn names(fact: &Fact) -> BTreeSet<String> {
    fact.entities.iter().cloned().collect()
}

/// How much two sets have in common, from 0 to 1.
fn share(left: &BTreeSet<String>, right: &BTreeSet<String>) -> f64 {
    let all = left.union(right).count();
    match all {
        0 => 0.0,
        all => left.intersection(right).count() as f64 / all as f64,
    }
}
