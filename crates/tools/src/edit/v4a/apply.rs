//! Applying the hunks of one file.

use std::ops::Range;

use super::{Body, Hunk};
use crate::edit::lines::{Lines, is_blank, line_of};
use crate::edit::made;
use crate::edit::mapped::Mapped;
use crate::edit::matching::{Align, Found, Strategy, find};
use crate::edit::request::{LineRange, beside, line_range};
use crate::edit::rewrite::{Splice, rewrite_hunk, splice};
use crate::edit::text::{NoSpelling, Spelling, Text};

/// A file with all hunks applied.
#[derive(Debug)]
pub(crate) struct Applied {
    pub(crate) body: String,
    /// The places, as lines of the text each hunk found.
    pub(crate) places: Vec<(Strategy, LineRange)>,
    /// What the model should know.
    pub(crate) warnings: Vec<String>,
}

/// A hunk that does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("hunk in line {line} of the patch: {cause}")]
pub(crate) struct HunkFault {
    pub(crate) line: usize,
    pub(crate) cause: HunkCause,
    /// The lines that were looked for.
    pub(crate) wanted: String,
}

/// Why a hunk does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HunkCause {
    #[error("its lines were not found in the file{}", beside(*new_in))]
    Absent {
        /// The line in which the new lines are.
        new_in: Option<usize>,
    },
    #[error(
        "its lines are in the file several times, in lines {}; add context or a hint after @@",
        listed(lines)
    )]
    Ambiguous { lines: Vec<usize> },
    #[error(
        "it escapes quotes with a backslash and the file does not; write the quotes as they are in the file"
    )]
    Drift,
    #[error("{0}")]
    Spelling(#[from] NoSpelling),
}

impl HunkFault {
    /// Whether it fits in several places.
    pub(crate) fn is_ambiguous(&self) -> bool {
        matches!(self.cause, HunkCause::Ambiguous { .. })
    }
}

fn listed(lines: &[usize]) -> String {
    let numbers: Vec<String> = lines.iter().take(20).map(usize::to_string).collect();
    numbers.join(", ")
}

/// Applies hunks in order.
pub(crate) fn apply(text: &Text, hunks: &[Hunk]) -> Result<Applied, HunkFault> {
    let mut applied = Applied {
        body: text.body.clone(),
        places: Vec::new(),
        warnings: Vec::new(),
    };
    let mut cursor = 0;
    for hunk in hunks {
        let step = Step {
            text,
            hunk,
            cursor,
            body: &applied.body,
        };
        let done = step.run().map_err(|cause| HunkFault {
            line: hunk.line,
            cause,
            wanted: hunk.old_block(),
        })?;
        applied.warnings.extend(done.warning);
        applied.places.extend(done.place);
        cursor = done.cursor;
        if let Some(body) = done.body {
            applied.body = body;
        }
    }
    Ok(applied)
}

impl Hunk {
    fn block(&self, wanted: impl Fn(&Body) -> Option<&String>) -> Vec<&str> {
        self.body
            .iter()
            .filter_map(wanted)
            .map(String::as_str)
            .collect()
    }

    fn old_block(&self) -> String {
        self.block(|line| match line {
            Body::Keep(text) | Body::Remove(text) => Some(text),
            Body::Insert(_) => None,
        })
        .join("\n")
    }

    fn new_block(&self) -> Vec<&str> {
        self.block(|line| match line {
            Body::Keep(text) | Body::Insert(text) => Some(text),
            Body::Remove(_) => None,
        })
    }

    /// Without the empty context lines at its end, which are often only the end of the patch.
    fn without_blank_end(&self) -> Option<Self> {
        let kept = self
            .body
            .iter()
            .rposition(|line| !matches!(line, Body::Keep(text) if is_blank(text)))?
            + 1;
        (kept < self.body.len()).then(|| Self {
            body: self.body.iter().take(kept).cloned().collect(),
            ..self.clone()
        })
    }
}

struct Step<'s> {
    text: &'s Text,
    hunk: &'s Hunk,
    /// Where the hunk before ended; hunks mostly stand in order.
    cursor: usize,
    body: &'s str,
}

#[derive(Default)]
struct Done {
    body: Option<String>,
    place: Option<(Strategy, LineRange)>,
    warning: Option<String>,
    cursor: usize,
}

impl Step<'_> {
    fn run(&self) -> Result<Done, HunkCause> {
        let single = Mapped::with_single_breaks(self.body);
        let old = self.hunk.old_block();
        if old.trim().is_empty() && !self.hunk.body.iter().any(|l| matches!(l, Body::Remove(_))) {
            return self.insert(&single);
        }
        let shorter = self.hunk.without_blank_end();
        for hunk in [Some(self.hunk), shorter.as_ref()].into_iter().flatten() {
            for spelling in self.text.spellings() {
                if let Some(done) = self.replace(&single, hunk, *spelling)? {
                    return Ok(done);
                }
            }
        }
        let new = self.hunk.new_block().join("\n");
        match made::look(single.text(), &old, &new, Align::Lines) {
            Some(made) if made.is_sure => Ok(Done {
                warning: Some(format!(
                    "the hunk in line {} was applied before, see line {} of the file",
                    self.hunk.line, made.line
                )),
                cursor: self.cursor,
                ..Done::default()
            }),
            made => Err(HunkCause::Absent {
                new_in: made.map(|made| made.line),
            }),
        }
    }

    fn replace(
        &self,
        single: &Mapped<'_>,
        hunk: &Hunk,
        spelling: Spelling,
    ) -> Result<Option<Done>, HunkCause> {
        let text = single.text();
        let asked = hunk.old_block();
        let Ok(old) = spelling.spell(&asked) else {
            return Ok(None);
        };
        let Some(found) = find(text, &old, Align::Lines) else {
            return Ok(None);
        };
        let span = self.choose(text, &found)?;
        let mut new = Vec::new();
        for line in hunk.new_block() {
            new.push(spelling.spell_beside(line, &asked)?);
        }
        let new: Vec<&str> = new.iter().map(AsRef::as_ref).collect();
        let place = line_range(text, &span);
        let change = rewrite_hunk(text, &found, &span, &old, &new).map_err(|_| HunkCause::Drift)?;
        let cursor = change.0.start + change.1.len();
        Ok(Some(Done {
            body: Some(splice(self.body, single, vec![change])),
            place: Some((found.strategy, place)),
            warning: None,
            cursor,
        }))
    }

    /// The match that is meant, by what the hunk says about its place.
    fn choose(&self, text: &str, found: &Found) -> Result<Range<usize>, HunkCause> {
        let spans = &found.spans;
        if let [only] = spans.as_slice() {
            return Ok(only.clone());
        }
        if self.hunk.at_end
            && let Some(last) = spans.last()
            && text
                .get(last.end..)
                .is_some_and(|rest| rest.trim().is_empty())
        {
            return Ok(last.clone());
        }
        let chosen = if let Some(from) = self.hinted(text) {
            spans.iter().find(|span| span.start >= from)
        } else if let Some(near) = self.hunk.near {
            spans
                .iter()
                .min_by_key(|span| line_of(text, span.start).abs_diff(near))
        } else {
            let mut later = spans.iter().filter(|span| span.start >= self.cursor);
            match (later.next(), later.next(), self.cursor) {
                (Some(only), None, 1..) => Some(only),
                _ => None,
            }
        };
        chosen.cloned().ok_or_else(|| HunkCause::Ambiguous {
            lines: spans.iter().map(|span| line_of(text, span.start)).collect(),
        })
    }

    /// Where the last hint's line begins, each hint looked for after the one before.
    fn hinted(&self, text: &str) -> Option<usize> {
        if self.hunk.hints.is_empty() {
            return None;
        }
        let lines = Lines::new(text);
        let mut at = 0;
        for hint in &self.hunk.hints {
            at = (at..lines.len()).find(|index| lines.get(*index).contains(hint.trim()))?;
        }
        Some(lines.span(at..at + 1).start)
    }

    /// New lines without any old ones: after the line the hint names, or at the end.
    fn insert(&self, single: &Mapped<'_>) -> Result<Done, HunkCause> {
        let text = single.text();
        let mut new = String::new();
        for line in &self.hunk.body {
            if let Body::Insert(line) = line {
                if !self.text.is_known() && !line.is_ascii() {
                    return Err(NoSpelling.into());
                }
                new.push_str(line);
                new.push('\n');
            }
        }
        let lines = Lines::new(text);
        let hint = self.hunk.hints.last();
        let named: Vec<usize> = hint.map_or_else(Vec::new, |hint| {
            let holds = |index: &usize| lines.get(*index).contains(hint.trim());
            (0..lines.len()).filter(holds).collect()
        });
        let (at, warning) = match (hint, named.as_slice()) {
            (Some(_), [line]) => ((lines.span(*line..line + 1).end + 1).min(text.len()), None),
            (Some(hint), _) => {
                let found = named.len();
                let told = format!(
                    "{found} lines contain the hint {hint:?}; the new lines are at the end of the file"
                );
                (text.len(), Some(told))
            }
            (None, _) => (text.len(), None),
        };
        // A last line without a break gets one, or the new lines would continue it.
        if at == text.len() && !text.is_empty() && !text.ends_with('\n') {
            new.insert(0, '\n');
        }
        let first = line_of(text, at);
        let change: Splice = (at..at, new);
        let cursor = at + change.1.len();
        Ok(Done {
            body: Some(splice(self.body, single, vec![change])),
            place: Some((Strategy::Exact, LineRange { first, last: first })),
            warning,
            cursor,
        })
    }
}
