//! One old text that becomes a new one.

use std::ops::Range;

use serde::Serialize;

use super::lines::line_of;
use super::made;
use super::mapped::Mapped;
use super::matching::{Align, Found, Strategy, find};
use super::rewrite::{Splice, rewrite, splice};
use super::text::{Spelling, Text};

/// What is to be replaced.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Replacement<'r> {
    pub(crate) old: &'r str,
    pub(crate) new: &'r str,
    /// Every place and not the only one.
    pub(crate) all: bool,
    /// Of several places, the one nearest to this line.
    pub(crate) near_line: Option<usize>,
}

/// A changed text.
#[derive(Debug)]
pub(crate) struct Edited {
    pub(crate) body: String,
    pub(crate) strategy: Strategy,
    /// The replaced lines of the old text.
    pub(crate) lines: Vec<LineRange>,
}

/// Lines from the first to the last, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct LineRange {
    pub(crate) first: usize,
    pub(crate) last: usize,
}

/// Why nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("old_string is empty; use write_file for a new file")]
    Empty,
    #[error("old_string and new_string are the same")]
    Same,
    #[error("old_string was not found in the file{}", beside(*new_in))]
    Absent {
        /// The line in which the new text is.
        new_in: Option<usize>,
    },
    #[error("the file already has the new text, in line {line}; nothing was changed")]
    Already { line: usize },
    #[error(
        "old_string is in the file {} times; add lines around it, give near_line, or set replace_all",
        lines.len()
    )]
    Ambiguous { lines: Vec<usize> },
    #[error(
        "both strings escape quotes with a backslash and the file does not; write the quotes as they are in the file"
    )]
    Drift,
    #[error("{0}")]
    Spelling(#[from] super::text::NoSpelling),
}

/// Replaces.
pub(crate) fn replace(text: &Text, request: &Replacement<'_>) -> Result<Edited, Refusal> {
    if request.old.is_empty() {
        return Err(Refusal::Empty);
    }
    if request.old == request.new {
        return Err(Refusal::Same);
    }
    let single = Mapped::with_single_breaks(&text.body);
    let body = single.text();
    let (old, found, spelling) =
        locate(text, body, request.old).ok_or_else(|| not_there(text, body, request))?;
    let new = spelling.spell_beside(request.new, request.old)?;
    let new = new.replace("\r\n", "\n");
    let chosen = choose(body, &found, &old, &new, request)?;
    let mut splices: Vec<Splice> = Vec::with_capacity(chosen.len());
    for span in &chosen {
        splices.push(rewrite(body, &found, span, &old, &new).map_err(|_| Refusal::Drift)?);
    }
    Ok(Edited {
        strategy: found.strategy,
        lines: chosen.iter().map(|span| line_range(body, span)).collect(),
        body: splice(&text.body, &single, splices),
    })
}

/// The lines a span touches.
pub(super) fn line_range(text: &str, span: &Range<usize>) -> LineRange {
    let first = line_of(text, span.start);
    let inside = text
        .get(span.start..span.end.saturating_sub(1))
        .unwrap_or_default();
    LineRange {
        first,
        last: first + memchr::memchr_iter(b'\n', inside.as_bytes()).count(),
    }
}

fn locate(text: &Text, body: &str, old: &str) -> Option<(String, Found, Spelling)> {
    text.spellings().iter().find_map(|spelling| {
        let old = spelling.spell(old).ok()?.replace("\r\n", "\n");
        let found = find(body, &old, Align::Anywhere)?;
        Some((old, found, *spelling))
    })
}

/// What is said of a new text that is there.
pub(super) fn beside(new_in: Option<usize>) -> String {
    new_in.map_or_else(String::new, |line| {
        format!("; the new text is in it, in line {line}")
    })
}

/// Why the old text is not in the file: perhaps because the new one is.
fn not_there(text: &Text, body: &str, request: &Replacement<'_>) -> Refusal {
    let found = text.spellings().iter().find_map(|spelling| {
        let spell = |text: &str| Some(spelling.spell(text).ok()?.replace("\r\n", "\n"));
        let (old, new) = (spell(request.old)?, spell(request.new)?);
        let (old, new) = (old.trim_end_matches('\n'), new.trim_end_matches('\n'));
        made::look(body, old, new, Align::Anywhere)
    });
    match found {
        Some(made) if made.is_sure => Refusal::Already { line: made.line },
        found => Refusal::Absent {
            new_in: found.map(|made| made.line),
        },
    }
}

fn choose(
    body: &str,
    found: &Found,
    old: &str,
    new: &str,
    request: &Replacement<'_>,
) -> Result<Vec<Range<usize>>, Refusal> {
    let spans = match (found.spans.as_slice(), request.near_line) {
        (all, _) if request.all || all.len() == 1 => all.to_vec(),
        (all, Some(wanted)) => all
            .iter()
            .min_by_key(|span| line_of(body, span.start).abs_diff(wanted))
            .cloned()
            .into_iter()
            .collect(),
        (all, None) => {
            let lines = all.iter().map(|span| line_of(body, span.start)).collect();
            return Err(Refusal::Ambiguous { lines });
        }
    };
    let first = spans.first().map_or(0, |span| span.start);
    let open: Vec<_> = spans
        .into_iter()
        .filter(|span| found.strategy != Strategy::Exact || !is_done(body, span, old, new))
        .collect();
    if open.is_empty() {
        let line = line_of(body, first);
        return Err(Refusal::Already { line });
    }
    Ok(open)
}

/// Whether a change that adds to the old text was made here before: doing it again would add it twice.
fn is_done(body: &str, span: &Range<usize>, old: &str, new: &str) -> bool {
    new.match_indices(old).any(|(before, _)| {
        let whole = span
            .start
            .checked_sub(before)
            .and_then(|start| body.get(start..start + new.len()));
        whole == Some(new)
    })
}
