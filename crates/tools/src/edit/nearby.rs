//! What looks like the text that was not found. Only shown, never changed.

use std::ops::Range;

use serde::Serialize;

use super::diff::unified;
use super::lines::{Lines, is_blank, trim};
use super::mapped::Mapped;
use super::request::LineRange;

/// Lines of a file that are looked at.
const MOST_LINES: usize = 20_000;
/// Lines of a request that are compared.
const MOST_PATTERN_LINES: usize = 200;
/// Regions that are shown.
const MOST_REGIONS: usize = 3;
/// Lines shown around each.
const AROUND: usize = 2;
/// Characters shown of a line.
const LONGEST_LINE: usize = 100;
/// How alike a first line must be to be shown.
const ALIKE: f64 = 0.3;
/// How alike the middle of a block must be when its first and last line are the ones asked for.
const BLOCK: f64 = 0.50;
/// The same when there are several such blocks.
const ONE_OF_BLOCKS: f64 = 0.70;
/// How alike a line must be to count as the one that was meant.
const SAME_LINE: f64 = 0.80;
/// Most characters of a suggestion's difference.
const LONGEST_DIFF: usize = 600;

/// The one place that may have been meant.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Suggestion {
    pub(crate) match_strategy: &'static str,
    pub(crate) lines: LineRange,
    pub(crate) similarity: f64,
    /// From the requested old text to what the file has.
    pub(crate) diff: String,
}

/// The regions of a file whose first line is most like the one asked for, with line numbers.
pub(crate) fn regions(body: &str, pattern: &str) -> Vec<String> {
    let single = Mapped::with_single_breaks(body);
    let file = Lines::new(single.text());
    let asked = Lines::new(pattern);
    let Some(first) = asked.iter().find(|line| !is_blank(line)).map(trim) else {
        return Vec::new();
    };
    let mut scored: Vec<(f64, usize)> = (0..file.len().min(MOST_LINES))
        .map(|index| (alike(trim(file.get(index)), first), index))
        .filter(|(score, _)| *score > ALIKE)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut shown: Vec<Range<usize>> = Vec::new();
    for (_, index) in scored {
        let height = asked.len().clamp(1, 2 * AROUND + 1);
        let range = index.saturating_sub(AROUND)..(index + height + AROUND).min(file.len());
        let overlaps = |other: &Range<usize>| range.start < other.end && other.start < range.end;
        if !shown.iter().any(overlaps) {
            shown.push(range);
        }
        if shown.len() == MOST_REGIONS {
            break;
        }
    }
    shown
        .into_iter()
        .map(|range| numbered(&file, range))
        .collect()
}

/// The one block that is similar enough; `None` when there is none or more than one.
pub(crate) fn suggestion(body: &str, pattern: &str) -> Option<Suggestion> {
    let single = Mapped::with_single_breaks(body);
    let file = Lines::new(single.text());
    let asked = Lines::new(pattern);
    if asked.len() > MOST_PATTERN_LINES || file.len() > MOST_LINES {
        return None;
    }
    let (name, (score, range)) = block_anchor(&file, &asked)
        .map(|found| ("block_anchor", found))
        .or_else(|| context_aware(&file, &asked).map(|found| ("context_aware", found)))?;
    let there = single
        .text()
        .get(file.span(range.clone()))
        .unwrap_or_default();
    let mut diff = unified("old_string", pattern.trim_end_matches('\n'), there);
    diff.truncate(diff.floor_char_boundary(LONGEST_DIFF));
    Some(Suggestion {
        match_strategy: name,
        lines: LineRange {
            first: range.start + 1,
            last: range.end,
        },
        similarity: (score * 100.0).round() / 100.0,
        diff,
    })
}

/// A block whose first and last line are the ones asked for.
fn block_anchor(file: &Lines<'_>, asked: &Lines<'_>) -> Option<(f64, Range<usize>)> {
    let count = asked.len();
    if count < 3 {
        return None;
    }
    let (first, last) = (trim(asked.get(0)), trim(asked.get(count - 1)));
    let mut blocks = Vec::new();
    for at in 0..(file.len() + 1).saturating_sub(count) {
        if trim(file.get(at)) == first && trim(file.get(at + count - 1)) == last {
            let middle: f64 = (1..count - 1)
                .map(|index| alike(trim(file.get(at + index)), trim(asked.get(index))))
                .sum();
            blocks.push((middle / (count - 2) as f64, at..at + count));
        }
    }
    let least = if blocks.len() == 1 {
        BLOCK
    } else {
        ONE_OF_BLOCKS
    };
    blocks.retain(|(score, _)| *score >= least);
    only(blocks)
}

/// As many lines as asked for, at least half of which are nearly the same.
fn context_aware(file: &Lines<'_>, asked: &Lines<'_>) -> Option<(f64, Range<usize>)> {
    let count = asked.len();
    let mut blocks = Vec::new();
    for at in 0..(file.len() + 1).saturating_sub(count.max(1)) {
        let (mut same, mut sum) = (0, 0.0);
        for index in 0..count {
            // Too many lines differ already.
            if (index - same) * 2 > count {
                break;
            }
            let score = alike(trim(file.get(at + index)), trim(asked.get(index)));
            same += usize::from(score >= SAME_LINE);
            sum += score;
        }
        if count > 0 && same * 2 >= count {
            blocks.push((sum / count as f64, at..at + count));
        }
    }
    only(blocks)
}

fn only(mut blocks: Vec<(f64, Range<usize>)>) -> Option<(f64, Range<usize>)> {
    let last = blocks.pop()?;
    blocks.is_empty().then_some(last)
}

/// How alike two lines are, between 0 and 1. Lines of very different length are not compared.
fn alike(a: &str, b: &str) -> f64 {
    if a == b {
        return 1.0;
    }
    let (short, long) = (a.len().min(b.len()), a.len().max(b.len()));
    if short * 4 < long || long > 4 * LONGEST_LINE {
        return 0.0;
    }
    strsim::normalized_levenshtein(a, b)
}

fn numbered(file: &Lines<'_>, range: Range<usize>) -> String {
    let mut out = String::new();
    for index in range {
        let line: String = file.get(index).chars().take(LONGEST_LINE).collect();
        out.push_str(&format!("{}|{line}\n", index + 1));
    }
    out
}
