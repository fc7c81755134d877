//! What operations make of entries. Nothing here touches a file.

use serde::{Deserialize, Serialize};

use crate::entries::{Entry, fresh_id, is_separator, size};
use crate::merge::{self, Merge};
use crate::number::with_commas;
use crate::planted::planted;

/// Operations of one call.
const MOST_OPERATIONS: usize = 100;
/// Characters of what was looked for that are repeated.
const REPEATED: usize = 80;

/// What is done to an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// A new one at the end.
    Add,
    /// Other words for one that is there.
    Replace,
    /// One goes.
    Remove,
}

impl Action {
    /// Its name in calls.
    pub fn word(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Replace => "replace",
            Self::Remove => "remove",
        }
    }
}

/// One step of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    /// What is done.
    pub action: Action,
    /// The new words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The entry that is meant: words that stand in no other, or its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_text: Option<String>,
}

impl Operation {
    /// Remembers something.
    pub fn add(content: impl Into<String>) -> Self {
        Self {
            action: Action::Add,
            content: Some(content.into()),
            old_text: None,
        }
    }

    /// Puts other words in the place of an entry's.
    pub fn replace(old_text: impl Into<String>, content: impl Into<String>) -> Self {
        Self {
            action: Action::Replace,
            content: Some(content.into()),
            old_text: Some(old_text.into()),
        }
    }

    /// Forgets something.
    pub fn remove(old_text: impl Into<String>) -> Self {
        Self {
            action: Action::Remove,
            content: None,
            old_text: Some(old_text.into()),
        }
    }
}

/// Why nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{why}", at(*step, *steps))]
pub struct Refusal {
    /// The step that failed, counted from one.
    pub step: usize,
    /// How many steps there were.
    pub steps: usize,
    /// What was wrong.
    pub why: Why,
}

/// What was wrong with a step.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// There is nothing to remember.
    #[error("{} needs content", action.word())]
    Empty { action: Action },
    /// It does not say which entry is meant.
    #[error("{} needs old_text: a few words of the entry that is meant, or its id", action.word())]
    Unnamed { action: Action },
    /// No entry has these words.
    #[error("no entry holds `{old_text}`")]
    Missing { old_text: String },
    /// Several entries have these words.
    #[error("`{old_text}` stands in {} entries; use more words of the one that is meant, or its id", matches.len())]
    Ambiguous {
        old_text: String,
        /// All that have them.
        matches: Vec<Entry>,
    },
    /// There is no room.
    #[error(
        "this would take {} characters of {}; {} too many",
        with_commas(*needed), with_commas(*limit), with_commas(needed - limit)
    )]
    Full {
        /// What all entries would take.
        needed: usize,
        limit: usize,
        /// Two entries that say much the same.
        merge: Option<Merge>,
    },
    /// The words look planted.
    #[error("the text looks like an attack ({}) and is not kept", ids.join(", "))]
    Threat {
        /// The ids of the patterns.
        ids: Vec<String>,
    },
    /// The words would become two entries.
    #[error("a line that holds only § separates entries and cannot be part of one")]
    Separator,
    /// No operation, or too many.
    #[error("a call has 1 to {MOST_OPERATIONS} operations, this one has {count}")]
    Count { count: usize },
}

impl Why {
    /// Whether the call can be repeated with other words and succeed: there is no room, or no such entry.
    pub fn is_capacity_or_match(&self) -> bool {
        match self {
            Self::Full { .. } | Self::Missing { .. } | Self::Ambiguous { .. } => true,
            Self::Empty { .. }
            | Self::Unnamed { .. }
            | Self::Threat { .. }
            | Self::Separator
            | Self::Count { .. } => false,
        }
    }
}

fn at(step: usize, steps: usize) -> String {
    match steps {
        0 | 1 => String::new(),
        _ => format!("step {step} of {steps}, and nothing was changed: "),
    }
}

/// What a change came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Effect {
    /// Entries that are new.
    pub added: usize,
    /// Entries with other words.
    pub replaced: usize,
    /// Entries that are gone.
    pub removed: usize,
    /// What was to be added and was there.
    pub present: usize,
}

/// The entries after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Applied {
    pub(crate) entries: Vec<Entry>,
    pub(crate) effect: Effect,
}

/// Carries operations out one after the other, all or none. Only what is left at the end has to fit; a change
/// that makes a file shorter which is too long already does.
pub(crate) fn apply(
    before: &[Entry],
    operations: &[Operation],
    limit: usize,
) -> Result<Applied, Refusal> {
    let steps = operations.len();
    let refuse = |step, why| Refusal { step, steps, why };
    if steps == 0 || steps > MOST_OPERATIONS {
        return Err(refuse(0, Why::Count { count: steps }));
    }
    let mut applied = Applied {
        entries: before.to_vec(),
        effect: Effect::default(),
    };
    for (operation, step) in operations.iter().zip(1..) {
        one(&mut applied, operation).map_err(|why| refuse(step, why))?;
    }
    let needed = size_of(&applied.entries);
    if needed > limit && needed > size_of(before) {
        let merge = merge::suggest(before);
        let why = Why::Full {
            needed,
            limit,
            merge,
        };
        return Err(refuse(steps, why));
    }
    Ok(applied)
}

pub(crate) fn size_of(entries: &[Entry]) -> usize {
    size(entries.iter().map(|entry| entry.text.as_str()))
}

fn one(applied: &mut Applied, operation: &Operation) -> Result<(), Why> {
    let Applied { entries, effect } = applied;
    match operation.action {
        Action::Add => {
            let text = content(operation)?;
            if entries.iter().any(|entry| entry.text == text) {
                effect.present += 1;
                return Ok(());
            }
            let id = fresh_id(&text, entries);
            entries.push(Entry { id, text });
            effect.added += 1;
        }
        Action::Replace => {
            let at = meant(entries, operation)?;
            let text = content(operation)?;
            let twin = entries.iter().position(|entry| entry.text == text);
            match twin {
                Some(twin) if twin == at => effect.present += 1,
                // Two equal entries are one.
                Some(_) => {
                    entries.remove(at);
                    effect.removed += 1;
                }
                None => {
                    if let Some(entry) = entries.get_mut(at) {
                        entry.text = text;
                        effect.replaced += 1;
                    }
                }
            }
        }
        Action::Remove => {
            let at = meant(entries, operation)?;
            entries.remove(at);
            effect.removed += 1;
        }
    }
    Ok(())
}

/// The words of an operation, as they are kept.
fn content(operation: &Operation) -> Result<String, Why> {
    let text = operation.content.as_deref().unwrap_or_default();
    let text = text.replace("\r\n", "\n").trim().to_owned();
    if text.is_empty() {
        return Err(Why::Empty {
            action: operation.action,
        });
    }
    if text.lines().any(is_separator) {
        return Err(Why::Separator);
    }
    match planted(&text) {
        ids if ids.is_empty() => Ok(text),
        ids => Err(Why::Threat { ids }),
    }
}

/// Where the entry stands that an operation means.
fn meant(entries: &[Entry], operation: &Operation) -> Result<usize, Why> {
    let old_text = operation.old_text.as_deref().unwrap_or_default().trim();
    if old_text.is_empty() {
        return Err(Why::Unnamed {
            action: operation.action,
        });
    }
    // The whole of an entry means that entry, also when it is part of another.
    if let Some(at) = entries.iter().position(|entry| entry.text == old_text) {
        return Ok(at);
    }
    let hits: Vec<(usize, &Entry)> = entries
        .iter()
        .enumerate()
        .filter(|(_, entry)| entry.text.contains(old_text))
        .collect();
    match hits.as_slice() {
        [] => entries
            .iter()
            .position(|entry| entry.id == old_text)
            .ok_or_else(|| Why::Missing {
                old_text: old_text.chars().take(REPEATED).collect(),
            }),
        [(at, first), rest @ ..] if rest.iter().all(|(_, other)| other.text == first.text) => {
            Ok(*at)
        }
        several => Err(Why::Ambiguous {
            old_text: old_text.chars().take(REPEATED).collect(),
            matches: several.iter().map(|(_, entry)| (*entry).clone()).collect(),
        }),
    }
}

#[cfg(test)]
#[path = "change_tests.rs"]
mod tests;
