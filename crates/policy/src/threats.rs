//! Planted instructions, theft and traces of a break-in, looked for in texts that reach a prompt.
//!
//! A pattern is data: its id, how far it is looked for, words without which it cannot match, what it looks
//! for, texts it must catch and look-alikes it must let pass. A test runs every example. This is the one
//! scanner of the program: context files, memory and skills all use it, each with its own scope.

mod anywhere;
mod context;
mod folded;
mod invisible;
mod pattern;
mod strict;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use regex::Regex;

use folded::Folded;
use pattern::Pattern;

/// How many characters of a text are looked at.
const LOOKED_AT: usize = 65_536;
/// Most threats told of one text.
const MOST_TOLD: usize = 1_000;

/// How much is looked for. Each scope holds the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// What has no business in any text.
    All,
    /// Also what has none in a file that instructs the agent, or in words from outside.
    Context,
    /// Also what has none in text the agent keeps for itself.
    Strict,
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Threat {
    /// The pattern's id; `invisible_unicode_U+XXXX` for a character nobody sees.
    pub id: Cow<'static, str>,
    /// Where, in bytes of the text.
    pub span: Range<usize>,
}

/// Everything found in a text, in the order it stands there.
///
/// Letters that only look different are read as what they look like, and characters nobody sees do not hide
/// a word. Only the first 65,536 characters are read for patterns.
pub fn threats(text: &str, scope: Scope) -> Vec<Threat> {
    let mut found: Vec<Threat> = invisible::find(text)
        .take(MOST_TOLD)
        .map(|(at, character)| Threat {
            id: format!("invisible_unicode_U+{:04X}", u32::from(character)).into(),
            span: at..at + character.len_utf8(),
        })
        .collect();
    let cut = text
        .char_indices()
        .nth(LOOKED_AT)
        .map_or(text.len(), |(at, _)| at);
    let folded = Folded::of(text.get(..cut).unwrap_or(text));
    let small = folded.text().to_lowercase();
    for (pattern, compiled) in all().zip(COMPILED.iter()) {
        if pattern.scope > scope || !pattern.words.iter().any(|word| small.contains(word)) {
            continue;
        }
        let Some(regex) = compiled.get_or_init(|| pattern.compile().ok()) else {
            continue;
        };
        let room = MOST_TOLD.saturating_sub(found.len());
        let matches = regex.find_iter(folded.text()).take(room);
        found.extend(matches.map(|hit| Threat {
            id: Cow::Borrowed(pattern.id),
            span: folded.origin(hit.range()),
        }));
    }
    found.sort_by_key(|threat| (threat.span.start, threat.span.end));
    found
}

/// The ids of what was found, each once, in order.
pub fn ids(threats: &[Threat]) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for threat in threats {
        if !ids.iter().any(|id| *id == threat.id) {
            ids.push(threat.id.clone().into_owned());
        }
    }
    ids
}

const FAMILIES: [&[Pattern]; 3] = [anywhere::PATTERNS, context::PATTERNS, strict::PATTERNS];

fn all() -> impl Iterator<Item = &'static Pattern> {
    FAMILIES.into_iter().flatten()
}

/// A pattern is compiled when a text holds one of its words for the first time: most never are.
static COMPILED: LazyLock<Vec<OnceLock<Option<Regex>>>> =
    LazyLock::new(|| all().map(|_| OnceLock::new()).collect());

#[cfg(test)]
#[path = "threats_tests.rs"]
mod tests;
