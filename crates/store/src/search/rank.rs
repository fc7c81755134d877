//! How good a match is: relevance, recency and where it was said, multiplied.

use super::fold::Folded;
use super::query::{Atom, Query};

/// BM25's usual constants, with a typical message as the average length.
const SATURATION: f64 = 1.2;
const LENGTH_WEIGHT: f64 = 0.6;
const TYPICAL_BYTES: f64 = 400.0;
/// A match counts half as much extra after this many days.
const HALF_LIFE_DAYS: f64 = 30.0;

/// Whether a text must hold all of the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    All,
    Some,
}

/// How much each atom of the query tells; rare words tell more.
pub(super) struct Weights(Vec<f64>);

impl Weights {
    /// All alike, for a search in which every atom must match.
    pub(super) fn equal(query: &Query) -> Self {
        Self(vec![1.0; query.atoms().count()])
    }

    /// By how many of `total` messages hold the atom.
    pub(super) fn by_rarity(frequencies: &[f64], total: f64) -> Self {
        let rarity = |frequency: &f64| {
            ((total - frequency + 0.5) / (frequency + 0.5))
                .max(0.01)
                .ln_1p()
        };
        Self(frequencies.iter().map(rarity).collect())
    }
}

/// The relevance of a text; `None` when it does not really match (no phrase, an excluded word).
pub(super) fn relevance(
    query: &Query,
    weights: &Weights,
    text: &str,
    folded: &Folded,
    need: Need,
) -> Option<f64> {
    if query
        .excluded
        .iter()
        .any(|atom| occurrences(atom, folded) > 0)
    {
        return None;
    }
    let length = folded.text.len() as f64 / TYPICAL_BYTES;
    let damping = SATURATION * (1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * length);
    let mut weights = weights.0.iter();
    let mut best: Option<f64> = None;
    for group in &query.groups {
        let mut score = 0.0;
        let mut matched = 0;
        for atom in group {
            let weight = weights.next().copied().unwrap_or(1.0);
            let count = occurrences(atom, folded);
            if count > 0 {
                matched += 1;
                let count = f64::from(count);
                score +=
                    weight * count * (SATURATION + 1.0) / (count + damping) * exactness(atom, text);
            }
        }
        let complete = matched == group.len();
        if matched > 0 && (complete || need == Need::Some) {
            best = Some(best.map_or(score, |best| best.max(score)));
        }
    }
    best
}

/// Up to 16 occurrences; more say nothing new.
fn occurrences(atom: &Atom, folded: &Folded) -> u32 {
    folded
        .find(&atom.folded, atom.open_end)
        .take(16)
        .map(|_| 1)
        .sum()
}

/// A match with the very punctuation that was typed is better than one of the words alone.
fn exactness(atom: &Atom, text: &str) -> f64 {
    let plain = atom.literal.chars().all(char::is_alphanumeric);
    if !plain && contains_ignoring_case(text, &atom.literal) {
        1.3
    } else {
        1.0
    }
}

fn contains_ignoring_case(text: &str, lower: &str) -> bool {
    text.contains(lower) || text.to_lowercase().contains(lower)
}

/// Relevance times recency times who said it.
pub(super) fn score(relevance: f64, age_seconds: f64, role: &str) -> f64 {
    let age_days = (age_seconds / 86_400.0).max(0.0);
    let recency = 0.7 + 0.3 * (-age_days / HALF_LIFE_DAYS * std::f64::consts::LN_2).exp();
    let role = if role == "tool" { 0.8 } else { 1.0 };
    relevance * recency * role
}

/// What a conversation with a person counts more than what ran by itself; never above 1.
pub(super) fn source_weight(source: &str) -> f64 {
    match source {
        "cron" => 0.5,
        "subagent" | "tool" => 0.7,
        _ => 1.0,
    }
}
