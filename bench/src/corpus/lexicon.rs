//! A language's words and sentence shapes, read from its data file.

use std::collections::HashMap;

use super::dice::Dice;
use super::language::Language;

/// Everything a data file says.
pub(super) struct Lexicon {
    pub(super) language: Language,
    pub(super) nouns: Ranked,
    pub(super) verbs: Ranked,
    pub(super) adjectives: Ranked,
    pub(super) openers: Vec<&'static str>,
    pub(super) templates: Vec<Template>,
    /// Shapes of phrases that stand in exact order.
    pub(super) phrases: Vec<&'static str>,
    /// Shapes that glue a Latin product name to a word.
    pub(super) glue: Vec<&'static str>,
    /// What is written, and what is typed to find it.
    pub(super) variants: Vec<(&'static str, &'static str)>,
    /// A beginning, and a text with a word that begins so.
    pub(super) stems: Vec<(&'static str, &'static str)>,
    /// Words of one, two and three characters that occur nowhere else.
    pub(super) short: [Vec<&'static str>; 3],
    pub(super) syllables: Vec<&'static str>,
}

/// Words by rank; the first are the most frequent, as in any language.
pub(super) struct Ranked {
    pub(super) words: Vec<&'static str>,
    cumulative: Vec<f64>,
}

/// A sentence with gaps.
pub(super) struct Template(pub(super) Vec<Piece>);

#[derive(Clone, Copy)]
pub(super) enum Piece {
    Text(&'static str),
    Gap(Slot),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    Noun,
    Verb,
    Adjective,
    Name,
    Product,
    Identifier,
    Path,
    Number,
}

impl Slot {
    fn from_mark(mark: &str) -> Option<Self> {
        Some(match mark {
            "n" => Self::Noun,
            "v" => Self::Verb,
            "a" => Self::Adjective,
            "nm" => Self::Name,
            "p" => Self::Product,
            "i" => Self::Identifier,
            "f" => Self::Path,
            "d" => Self::Number,
            _ => return None,
        })
    }
}

impl Lexicon {
    pub(super) fn read(language: Language) -> Self {
        let sections = sections(language.source());
        let lines = |name: &str| sections.get(name).cloned().unwrap_or_default();
        let words = |name: &str| -> Vec<&'static str> {
            lines(name)
                .iter()
                .flat_map(|line| line.split_whitespace())
                .collect()
        };
        let pairs = |name: &str| -> Vec<(&'static str, &'static str)> {
            lines(name)
                .iter()
                .filter_map(|line| line.split_once('='))
                .collect()
        };
        Self {
            language,
            nouns: Ranked::new(words("nouns")),
            verbs: Ranked::new(words("verbs")),
            adjectives: Ranked::new(words("adjectives")),
            openers: lines("openers")
                .iter()
                .flat_map(|line| line.split('|'))
                .collect(),
            templates: lines("templates")
                .iter()
                .map(|line| Template::parse(line))
                .collect(),
            phrases: lines("phrases"),
            glue: lines("glue"),
            variants: pairs("variants"),
            stems: pairs("stems"),
            short: [words("short1"), words("short2"), words("short3")],
            syllables: words("syllables"),
        }
    }
}

fn sections(source: &'static str) -> HashMap<&'static str, Vec<&'static str>> {
    let mut found: HashMap<_, Vec<_>> = HashMap::new();
    let mut current = "";
    for line in source
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        match line
            .strip_prefix('[')
            .and_then(|line| line.strip_suffix(']'))
        {
            Some(name) => current = name,
            None => found.entry(current).or_default().push(line),
        }
    }
    found
}

impl Ranked {
    fn new(words: Vec<&'static str>) -> Self {
        let mut sum = 0.0;
        let cumulative = (0..words.len())
            .map(|rank| {
                sum += 1.0 / (rank as f64 + 2.0).powf(0.9);
                sum
            })
            .collect();
        Self { words, cumulative }
    }

    /// A word, frequent ones more often.
    pub(super) fn draw(&self, dice: &Dice) -> &'static str {
        let total = self.cumulative.last().copied().unwrap_or(0.0);
        let point = dice.unit() * total;
        let rank = self.cumulative.partition_point(|&sum| sum <= point);
        self.words.get(rank).copied().unwrap_or_default()
    }
}

impl Template {
    /// `{n}` and its like are gaps; everything else is text.
    pub(super) fn parse(line: &'static str) -> Self {
        let mut pieces = Vec::new();
        let mut rest = line;
        while let Some((before, after)) = rest.split_once('{') {
            if !before.is_empty() {
                pieces.push(Piece::Text(before));
            }
            let Some((mark, after)) = after.split_once('}') else {
                break;
            };
            pieces.extend(Slot::from_mark(mark).map(Piece::Gap));
            rest = after;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest));
        }
        Self(pieces)
    }

    pub(super) fn gaps(&self, slot: Slot) -> usize {
        self.0
            .iter()
            .filter(|piece| matches!(piece, Piece::Gap(gap) if *gap == slot))
            .count()
    }
}
