//! Which rows a summary replaces, and whether that is worth it.
//!
//! A history is head, middle and tail; the middle goes. Some rows of it stay behind the summary, word for word: the
//! last thing the user asked, so that it can never be lost or answered twice, the last thing the model said about
//! it, and, where there is room, what the user added to it and asked for before. A call and its results are always
//! on the same side.

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
/// Requests of the user that stay word for word, if there is room for them.
const REQUESTS: usize = 3;
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
    let planned = |requests| planned(entries, &groups, tail, sizes, config, requests);
    planned(Some(REQUESTS)).or_else(|| planned(None))
}

/// The same for what came before the last so many exchanges, however long those are.
pub(crate) fn plan_before(
    entries: &[Entry],
    exchanges: u32,
    sizes: Sizes,
    config: &Compression,
) -> Option<Plan> {
    let groups = groups(entries);
    let asked = entries.iter().enumerate().rev();
    let mut asked = asked.filter(|(_, entry)| is_request(entry));
    let (start, _) = asked.nth((exchanges as usize).checked_sub(1)?)?;
    let tail = groups.iter().position(|group| group.contains(&start))?;
    let planned = |requests| planned(entries, &groups, tail, sizes, config, requests);
    planned(Some(1)).or_else(|| planned(None))
}

/// `requests` is how many of the user's stay, with what was added to the last of them; without it that stays alone.
fn planned(
    entries: &[Entry],
    groups: &[Range<usize>],
    tail: usize,
    sizes: Sizes,
    config: &Compression,
    requests: Option<usize>,
) -> Option<Plan> {
    let head = head(entries, &groups[..tail], sizes.limit, config);
    let room = tail_tokens(sizes.limit, config) / 2;
    let middle = &groups[head..tail];
    let mut kept = anchors(entries, middle, room);
    if let Some(requests) = requests {
        kept.extend(users_words(entries, middle, requests, room));
    }
    let replaced: Vec<usize> = middle
        .iter()
        .filter(|group| !kept.contains(group))
        .flat_map(Range::clone)
        .collect();
    let middle: u32 = replaced.iter().map(|at| entries[*at].tokens).sum();
    let budget = budget(middle, sizes.window);
    let whole = sizes.fixed + size(entries, &(0..entries.len()));
    let expected = budget + AROUND;
    let worth_it = middle >= expected * 2 && is_gain(whole, whole - middle + expected);
    worth_it.then_some(Plan { replaced, budget })
}

/// What stays of the middle whatever it is about: the last request, and the last thing said if it is not long.
fn anchors<'g>(entries: &[Entry], middle: &'g [Range<usize>], room: u32) -> Vec<&'g Range<usize>> {
    let asked = place(entries, is_request).map(|at| (at, u32::MAX));
    // What was said before an earlier summary is part of that.
    let spoken = place(entries, is_spoken)
        .filter(|at| place(entries, is_summary) < Some(*at))
        .map(|at| (at, room));
    let places = [asked, spoken];
    let is_anchor = |group: &&Range<usize>| {
        let mut places = places.iter().flatten();
        places.any(|(at, most)| group.contains(at) && size(entries, group) <= *most)
    };
    middle.iter().filter(is_anchor).collect()
}

/// What stays of the middle because the user wrote it: what was added to the last request, and so many requests up
/// to that one, the newest first, as long as there is room.
fn users_words<'g>(
    entries: &[Entry],
    middle: &'g [Range<usize>],
    requests: usize,
    room: u32,
) -> Vec<&'g Range<usize>> {
    let Some(asked) = place(entries, is_request) else {
        return Vec::new();
    };
    let summarised = place(entries, is_summary).map_or(0, |at| at + 1);
    let added = (asked..entries.len())
        .rev()
        .filter(|at| is_remark(&entries[*at].message));
    let before = (summarised..asked)
        .rev()
        .filter(|at| is_request(&entries[*at]))
        .take(requests.saturating_sub(1));
    let mut left = room;
    let mut kept = Vec::new();
    for at in added.chain(before) {
        let group = middle.iter().find(|group| group.contains(&at));
        if let Some(group) = group
            && let Some(rest) = left.checked_sub(size(entries, group))
        {
            left = rest;
            kept.push(group);
        }
    }
    kept
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
