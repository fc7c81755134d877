//! Which rows a summary replaces, and whether that is worth it.
//!
//! A history is head, middle and tail; the middle goes. Two rows of it may stay behind the summary: the
//! last thing the user asked, so that it can never be lost or answered twice, and the last thing the
//! model said about it. A call and its results are always on the same side.

use std::collections::HashMap;
use std::ops::Range;

use hermes_config::Compression;
use hermes_core::{CallId, MessageId, Part, Role};

use super::summary;
use crate::turn::{Entry, is_news, is_remark};

/// Rows the tail has at least, if there is room for them.
const FEWEST: u32 = 3;
/// As many as the settings may ask for: more would leave nothing to gain in a small window.
const MOST_ASKED: u32 = 8;
/// How far the tail may exceed its share to keep a group whole.
const TOLERANCE: f64 = 1.5;
/// The share of the limit that the first messages may take.
const HEAD_SHARE: f64 = 0.1;
/// Tokens of a summary: its share of what it replaces, and its bounds.
const SUMMARY_SHARE: u32 = 5;
const LEAST_SUMMARY: u32 = 2_000;
const MOST_SUMMARY: u32 = 10_000;
/// What stands around a summary: the preamble, the user's last request, the list of steps.
const AROUND: u32 = 700;

/// The sizes a plan is made for, in tokens as we estimate them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// What the request should stay below.
    pub(crate) limit: u32,
    /// The model's window.
    pub(crate) window: u32,
    /// What every request holds besides the history.
    pub(crate) fixed: u32,
}

/// What is replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Places in the history, in order.
    pub(crate) replaced: Vec<usize>,
    /// Tokens the summary may take.
    pub(crate) budget: u32,
}

impl Plan {
    /// The rows that are replaced.
    pub(crate) fn rows(&self, entries: &[Entry]) -> Vec<MessageId> {
        self.entries(entries).map(|entry| entry.row).collect()
    }

    /// What is replaced.
    pub(crate) fn entries<'a>(&'a self, entries: &'a [Entry]) -> impl Iterator<Item = &'a Entry> {
        self.replaced.iter().filter_map(|at| entries.get(*at))
    }
}

/// Plans a compaction; `None` when it would gain too little.
pub(crate) fn plan(entries: &[Entry], sizes: Sizes, config: &Compression) -> Option<Plan> {
    let groups = groups(entries);
    let tail = tail(entries, &groups, sizes.limit, config);
    let head = head(entries, &groups[..tail], sizes.limit, config);
    let room = tail_tokens(sizes.limit, config) / 2;
    let anchors = [
        place(entries, is_request).map(|at| (at, u32::MAX)),
        // What was said before an earlier summary is part of that.
        place(entries, is_spoken)
            .filter(|at| place(entries, is_summary) < Some(*at))
            .map(|at| (at, room)),
    ];
    let is_anchor = |group: &Range<usize>| {
        anchors
            .iter()
            .flatten()
            .any(|(at, most)| group.contains(at) && size(entries, group) <= *most)
    };
    let replaced: Vec<usize> = groups[head..tail]
        .iter()
        .filter(|group| !is_anchor(group))
        .flat_map(Range::clone)
        .collect();
    let middle: u32 = replaced.iter().map(|at| entries[*at].tokens).sum();
    let budget = budget(middle, sizes.window);
    let whole = sizes.fixed + size(entries, &(0..entries.len()));
    let expected = budget + AROUND;
    let worth_it = middle >= expected * 2 && is_gain(whole, whole - middle + expected);
    worth_it.then_some(Plan { replaced, budget })
}

/// Whether a history became enough shorter to be worth the loss: by a fifth.
pub(crate) fn is_gain(before: u32, after: u32) -> bool {
    u64::from(after) * 5 <= u64::from(before) * 4
}

/// Tokens for a summary of this much.
fn budget(tokens: u32, window: u32) -> u32 {
    let most = (window / 20).clamp(500, MOST_SUMMARY);
    (tokens / SUMMARY_SHARE).clamp(LEAST_SUMMARY.min(most), most)
}

fn tail_tokens(limit: u32, config: &Compression) -> u32 {
    (TOLERANCE * config.target_ratio * f64::from(limit)) as u32
}

/// The first group of the tail. The last group is always part of it.
fn tail(entries: &[Entry], groups: &[Range<usize>], limit: u32, config: &Compression) -> usize {
    let most = tail_tokens(limit, config);
    let fewest = FEWEST.max(config.protect_last_n.min(MOST_ASKED)) as usize;
    let (mut tokens, mut rows) = (0, 0);
    let mut start = groups.len();
    for (index, group) in groups.iter().enumerate().rev() {
        tokens += size(entries, group);
        // Few large rows must not take all the room that a compaction is for.
        let fits = tokens <= most || (rows < fewest && tokens <= limit / 2);
        if !fits && start < groups.len() {
            break;
        }
        rows += group.len();
        start = index;
    }
    start
}

/// The first group behind the head. Once there is a summary, the beginning is part of it.
fn head(entries: &[Entry], groups: &[Range<usize>], limit: u32, config: &Compression) -> usize {
    if entries.iter().any(is_summary) {
        return 0;
    }
    let most = (HEAD_SHARE * f64::from(limit)) as u32;
    let mut tokens = 0;
    groups
        .iter()
        .take_while(|group| {
            tokens += size(entries, group);
            group.end <= config.protect_first_n as usize && tokens <= most
        })
        .count()
}

fn size(entries: &[Entry], range: &Range<usize>) -> u32 {
    entries[range.clone()]
        .iter()
        .map(|entry| entry.tokens)
        .sum()
}

fn place(entries: &[Entry], wanted: impl Fn(&Entry) -> bool) -> Option<usize> {
    entries.iter().rposition(wanted)
}

/// Something the user asked for, in their own words.
pub(crate) fn is_request(entry: &Entry) -> bool {
    begins_turn(entry) && !is_news(&entry.message)
}

/// What a turn starts with: a request, or news that nobody typed.
pub(crate) fn begins_turn(entry: &Entry) -> bool {
    entry.message.role == Role::User && !is_summary(entry) && !is_remark(&entry.message)
}

fn is_summary(entry: &Entry) -> bool {
    summary::is_summary(&entry.message)
}

fn is_spoken(entry: &Entry) -> bool {
    entry.message.role == Role::Assistant && !entry.message.plain_text().trim().is_empty()
}

/// Rows that belong together: a call and everything up to its last result.
fn groups(entries: &[Entry]) -> Vec<Range<usize>> {
    let mut starts: Vec<usize> = Vec::new();
    let mut callers: HashMap<&CallId, usize> = HashMap::new();
    for (at, entry) in entries.iter().enumerate() {
        if entry.message.role != Role::Tool || starts.is_empty() {
            starts.push(at);
        }
        for part in &entry.message.parts {
            match part {
                Part::ToolCall(call) => {
                    callers.insert(&call.id, at);
                }
                Part::ToolResult { call, .. } => {
                    let caller = callers.get(call).copied().unwrap_or(at);
                    while starts.len() > 1 && starts.last().is_some_and(|start| *start > caller) {
                        starts.pop();
                    }
                }
                Part::Text { .. } | Part::Reasoning { .. } | Part::Media(_) => {}
            }
        }
    }
    let ends = starts.iter().skip(1).copied().chain([entries.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|(start, end)| *start..end)
        .collect()
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
