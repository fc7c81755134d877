//! Key shapes: the second net, for secrets whose value we were never told.
//!
//! Every shape is a row of data with examples that a test checks. One case-insensitive pass over all rows' anchors
//! decides which regexes run at all, so clean text costs that one pass; a regex is compiled when its anchor is first met.

mod assigned;
mod models;
mod services;
mod structured;
mod verdict;

use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex::bytes::{Captures, Regex};

use crate::Scope;
use crate::spans::Span;
pub(crate) use verdict::Check;

/// What kind of thing a shape is, which decides the scopes it is looked for in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeClass {
    /// A vendor's token with its own prefix, or another self-describing text such as a PEM block.
    Token,
    /// A secret part inside a larger text: header, connection string, URL user.
    Embedded,
    /// A value recognised by the name it is assigned to.
    Assignment,
    /// Something only worth hiding in logs: URL queries, phone numbers.
    LogOnly,
}

/// One row of the table.
///
/// In the examples `⟦…⟧` encloses what must be masked and `¦` is dropped before use, so that no example in this
/// repository looks like a live key to a scanner.
pub struct Shape {
    /// The marker's label.
    pub name: &'static str,
    /// Which scopes look for it.
    pub class: ShapeClass,
    /// Lower-case literals, one of which every match contains.
    pub anchors: &'static [&'static str],
    /// The regex; a group `v` or `q` is the part to mask, else the whole match. `n` is the name in an assignment.
    pub pattern: &'static str,
    /// What the regex cannot say.
    pub(crate) check: Check,
    /// Texts with the masked part enclosed.
    pub hits: &'static [&'static str],
    /// Texts that look alike and stay as they are.
    pub misses: &'static [&'static str],
}

/// All rows; an earlier row names the marker when two overlap.
pub static SHAPES: LazyLock<Vec<&'static Shape>> = LazyLock::new(|| {
    models::ROWS
        .iter()
        .chain(services::ROWS)
        .chain(structured::ROWS)
        .chain(assigned::ROWS)
        .collect()
});

static REGEXES: LazyLock<Vec<OnceLock<Option<Regex>>>> =
    LazyLock::new(|| SHAPES.iter().map(|_| OnceLock::new()).collect());

static ANCHORS: LazyLock<Anchors> = LazyLock::new(Anchors::build);

struct Anchors {
    automaton: Option<AhoCorasick>,
    /// For each anchor, the row it belongs to.
    rows: Vec<usize>,
    literals: Vec<&'static str>,
}

impl Anchors {
    fn build() -> Self {
        let (rows, literals): (Vec<usize>, Vec<&'static str>) = SHAPES
            .iter()
            .enumerate()
            .flat_map(|(row, shape)| shape.anchors.iter().map(move |anchor| (row, *anchor)))
            .unzip();
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::DFA))
            .ascii_case_insensitive(true)
            .build(&literals)
            .ok();
        Self {
            automaton,
            rows,
            literals,
        }
    }
}

/// Finds the shapes that belong to the scope.
pub(crate) fn find(scope: Scope, text: &[u8], spans: &mut Vec<Span<'_>>) {
    if scope == Scope::Known {
        return;
    }
    for row in rows_in(text) {
        let Some(shape) = SHAPES.get(row).filter(|shape| belongs(scope, shape.class)) else {
            continue;
        };
        let Some(regex) = regex(row, shape) else {
            continue;
        };
        for captures in regex.captures_iter(text) {
            if let Some(value) = value_of(&captures)
                && shape.check.accepts(
                    group(&captures, "n"),
                    value.as_bytes(),
                    group(&captures, "q").is_some(),
                )
            {
                spans.push(Span {
                    range: value.range(),
                    label: shape.name,
                    rank: 1 + row,
                });
            }
        }
    }
}

pub(crate) fn owns_label(label: &[u8]) -> bool {
    SHAPES.iter().any(|shape| shape.name.as_bytes() == label)
}

/// Whether the text holds an anchor, or ends in what may become one.
pub(crate) fn may_become_secret(line: &[u8]) -> bool {
    let anchors = &*ANCHORS;
    anchors
        .automaton
        .as_ref()
        .is_some_and(|automaton| automaton.is_match(line))
        || anchors.literals.iter().any(|anchor| {
            (1..anchor.len()).any(|length| {
                let tail = line
                    .len()
                    .checked_sub(length)
                    .and_then(|from| line.get(from..));
                tail.is_some_and(|tail| {
                    anchor
                        .as_bytes()
                        .get(..length)
                        .is_some_and(|head| tail.eq_ignore_ascii_case(head))
                })
            })
        })
}

fn rows_in(text: &[u8]) -> Vec<usize> {
    let anchors = &*ANCHORS;
    let Some(automaton) = &anchors.automaton else {
        return (0..SHAPES.len()).collect();
    };
    let mut rows = Vec::new();
    for found in automaton.find_overlapping_iter(text) {
        if let Some(row) = anchors.rows.get(found.pattern().as_usize())
            && !rows.contains(row)
        {
            rows.push(*row);
        }
    }
    rows.sort_unstable();
    rows
}

fn belongs(scope: Scope, class: ShapeClass) -> bool {
    match (scope, class) {
        (Scope::Log, _) | (Scope::Chat | Scope::Code, ShapeClass::Token | ShapeClass::Embedded) => {
            true
        }
        (Scope::Chat, ShapeClass::Assignment) => true,
        (Scope::Code, ShapeClass::Assignment)
        | (Scope::Chat | Scope::Code, ShapeClass::LogOnly) => false,
        (Scope::Known, _) => false,
    }
}

fn regex(row: usize, shape: &Shape) -> Option<&'static Regex> {
    let slot = REGEXES.get(row)?;
    // A Unicode word boundary is slow beside non-ASCII text, and keys are ASCII. A test compiles every row.
    slot.get_or_init(|| Regex::new(&shape.pattern.replace(r"\b", r"(?-u:\b)")).ok())
        .as_ref()
}

fn value_of<'t>(captures: &Captures<'t>) -> Option<regex::bytes::Match<'t>> {
    captures
        .name("v")
        .or_else(|| captures.name("q"))
        .or_else(|| captures.get(0))
}

fn group<'t>(captures: &Captures<'t>, name: &str) -> Option<&'t [u8]> {
    captures.name(name).map(|found| found.as_bytes())
}
