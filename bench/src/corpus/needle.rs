//! Planted facts: a message somebody will look for, what they will type, and lookalikes.

use serde::{Deserialize, Serialize};

use super::dice::Dice;
use super::guard::Guard;
use super::language::Language;
use super::specification::Specification;
use super::writer::Writer;

/// Chance rarely needs more than two; a needle that cannot be written is a mistake in the data.
const MOST_TRIES: usize = 500;

/// What makes a needle findable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// Two common words that stand together nowhere else.
    Pair,
    /// Three common words; any two of them meet elsewhere.
    Triple,
    /// Common words in one order; lookalikes have them in another.
    Phrase,
    /// A name that occurs once.
    Name,
    /// A name that occurs once, typed with a word the message does not hold.
    Loose,
    /// The beginning of a word.
    Prefix,
    /// `snake_case`, `foo-bar`, `v1.2.3`, a path, an error code.
    Identifier,
    /// Another spelling: accents, ß, vowel marks, full width.
    Variant,
    /// A product name and a word.
    Mixed,
    /// A word of one, two or three characters in a script without spaces.
    Short,
    /// A Latin name glued to such a word.
    Glued,
    /// Two common words that meet only here, typed with a third that is not there.
    /// Reported apart: nothing promises it yet.
    Partial,
}

impl Kind {
    /// Whether recall must reach the budget.
    pub(crate) fn is_promised(self) -> bool {
        self != Self::Partial
    }
}

pub(super) struct Needle {
    pub(super) language: Language,
    pub(super) kind: Kind,
    pub(super) query: String,
    pub(super) text: String,
    /// Messages that come close and are newer.
    pub(super) lookalikes: Vec<String>,
}

/// Writes the messages for what was specified.
pub(super) fn write(
    writer: &Writer,
    dice: &Dice,
    guard: &Guard,
    specifications: Vec<Specification>,
    most_lookalikes: usize,
) -> anyhow::Result<Vec<Needle>> {
    let mut needles = Vec::with_capacity(specifications.len());
    for (index, wanted) in specifications.into_iter().enumerate() {
        let text = (0..MOST_TRIES)
            .map(|_| writer.with(dice, wanted.language, &wanted.fixed))
            .find(|text| {
                let holds_absent = wanted
                    .absent
                    .as_ref()
                    .is_some_and(|word| text.contains(word.as_str()));
                !holds_absent && !guard.gives_away(text, Some(index))
            });
        let Some(text) = text else {
            anyhow::bail!(
                "no message can hold {:?} and nothing else that is looked for",
                wanted.fixed
            );
        };
        let mut lookalikes = Vec::new();
        let shapes = wanted
            .lookalikes
            .iter()
            .cycle()
            .take(if wanted.lookalikes.is_empty() {
                0
            } else {
                most_lookalikes
            });
        for fixed in shapes {
            let text = (0..MOST_TRIES)
                .map(|_| writer.with(dice, wanted.language, fixed))
                .find(|text| !guard.gives_away(text, None));
            lookalikes.extend(text);
        }
        needles.push(Needle {
            language: wanted.language,
            kind: wanted.kind,
            query: wanted.query,
            text,
            lookalikes,
        });
    }
    Ok(needles)
}
