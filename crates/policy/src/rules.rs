//! What is worth asking about, and what never runs.
//!
//! A rule is data: its category, how severe it is, why in words for people, what it looks for, commands it
//! must catch and look-alikes it must let pass. A test runs every example. All rules that match are
//! reported; the strictest decides.

mod changes;
mod delete;
mod disk;
mod files;
mod git;
mod infrastructure;
mod ours;
mod process;
mod running;
mod scripts;
mod secrets;
mod sql;
mod suspicion;
mod system;
mod touches;
mod windows;

pub(crate) use changes::changes_files;
pub(crate) use ours::lifts;
pub(crate) use running::hidden;
pub(crate) use system::reads_password;

use std::collections::HashSet;

use serde::Serialize;

use crate::Surroundings;
use crate::shell::{Invocation, Place, Resolved, Sign, Span};
use suspicion::suspicions;

/// What follows from a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Somebody is asked.
    Ask,
    /// It never runs; nobody is asked.
    Hard,
}

/// What a rule looks for.
pub(crate) enum Looks {
    /// A program with its arguments.
    Program(fn(&Invocation, &Surroundings) -> bool),
    /// A way of running things.
    Signs(&'static [Sign]),
    /// Several programs together; where the last of them stands.
    Script(fn(&[Invocation], &Surroundings) -> Option<Span>),
    /// The text itself.
    Text(fn(&str) -> Option<Span>),
    /// Anything dangerous that a program we do not know may start.
    Suspicion,
}

/// A rule.
pub(crate) struct Rule {
    /// The category: names it in grants, configuration and results.
    pub(crate) category: &'static str,
    pub(crate) severity: Severity,
    /// Why, for people.
    pub(crate) reason: &'static str,
    pub(crate) looks: Looks,
    /// Commands it must catch.
    pub(crate) catches: &'static [&'static str],
    /// Look-alikes it must not.
    pub(crate) passes: &'static [&'static str],
}

/// A rule that matched.
pub(crate) struct Hit {
    pub(crate) rule: &'static Rule,
    pub(crate) span: Span,
    pub(crate) place: Place,
}

const FAMILIES: [&[Rule]; 9] = [
    delete::RULES,
    disk::RULES,
    process::RULES,
    running::RULES,
    files::RULES,
    git::RULES,
    infrastructure::RULES,
    system::RULES,
    windows::RULES,
];

/// Every rule.
pub(crate) fn all() -> impl Iterator<Item = &'static Rule> {
    FAMILIES.into_iter().flatten()
}

/// A rule in words, for documents and user interfaces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Described {
    /// The category.
    pub category: &'static str,
    /// What follows from it.
    pub severity: Severity,
    /// Why.
    pub reason: &'static str,
    /// Commands it catches.
    pub catches: &'static [&'static str],
    /// Look-alikes it lets pass.
    pub passes: &'static [&'static str],
}

/// Every rule in words.
pub fn catalogue() -> Vec<Described> {
    let described = all().map(|rule| Described {
        category: rule.category,
        severity: rule.severity,
        reason: rule.reason,
        catches: rule.catches,
        passes: rule.passes,
    });
    described.collect()
}

/// Everything that matches.
pub(crate) fn hits(text: &str, resolved: &Resolved, around: &Surroundings) -> Vec<Hit> {
    let mut hits = Vec::new();
    let programs = distinct(&resolved.invocations);
    let suspicions = suspicions(&resolved.suspects, around);
    for rule in all() {
        match rule.looks {
            Looks::Program(matches) => {
                let found = programs.iter().filter(|one| matches(one, around));
                hits.extend(found.map(|one| Hit {
                    rule,
                    span: one.span,
                    place: one.place,
                }));
            }
            Looks::Signs(signs) => {
                let found = resolved
                    .signals
                    .iter()
                    .filter(|one| signs.contains(&one.sign));
                hits.extend(found.map(|one| Hit {
                    rule,
                    span: one.span,
                    place: one.place,
                }));
            }
            Looks::Script(find) => {
                hits.extend(find(&resolved.invocations, around).map(|span| Hit {
                    rule,
                    span,
                    place: Place::Here,
                }))
            }
            Looks::Suspicion => hits.extend(suspicions.iter().map(|one| Hit {
                rule,
                span: one.span,
                place: one.place,
            })),
            Looks::Text(find) => hits.extend(find(text).map(|span| Hit {
                rule,
                span,
                place: Place::Here,
            })),
        }
    }
    hits.extend(suspicions.into_iter().filter_map(|one| one.strong));
    hits
}

/// Programs that differ. A few are all taken, so that each can be marked where it stands; of the many in a
/// generated text, one of a kind is enough.
fn distinct(all: &[Invocation]) -> Vec<&Invocation> {
    const FEW: usize = 512;
    if all.len() <= FEW {
        return all.iter().collect();
    }
    let mut seen = HashSet::new();
    let kept = all.iter().filter(|one| seen.insert(one.likeness()));
    kept.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::judge::{judge, tests::around};

    // EX-53
    #[test]
    fn every_rule_catches_and_passes_its_own_examples() {
        let mut wrong = Vec::new();
        for rule in all() {
            let found = |command: &str| {
                let judgement = judge(command, &around());
                judgement
                    .findings
                    .iter()
                    .any(|finding| finding.category == rule.category)
            };
            for command in rule.catches.iter().filter(|command| !found(command)) {
                wrong.push(format!("{} misses: {command}", rule.category));
            }
            for command in rule.passes.iter().filter(|command| found(command)) {
                wrong.push(format!("{} takes: {command}", rule.category));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn a_category_has_one_severity_and_examples() {
        let mut seen: BTreeMap<&str, Severity> = BTreeMap::new();
        for rule in all() {
            let severity = *seen.entry(rule.category).or_insert(rule.severity);
            assert_eq!(severity, rule.severity, "{}", rule.category);
            assert!(!rule.catches.is_empty(), "{}", rule.category);
        }
    }
}
