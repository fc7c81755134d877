//! Who moves on: a pure function of what is known of the skills and of the time.

use std::path::{Path, PathBuf};

use hermes_config::Curator as Settings;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::usage::{UsageRecord, UsageState};

/// A skill that changes its state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Move {
    pub name: String,
    /// Where it lies: a name may be that of several.
    #[serde(skip)]
    pub directory: PathBuf,
    pub from: UsageState,
    pub to: UsageState,
    /// Whole days since anything was done with it.
    pub idle_days: i64,
}

/// Why a skill is left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spared {
    Pinned,
    /// A job names it.
    Scheduled,
    /// It comes from the hub or from another directory.
    Foreign,
    /// The program counts on it.
    Protected,
    /// The user wrote it.
    Yours,
}

/// A skill as the plan sees it.
pub(super) struct Candidate {
    pub(super) name: String,
    directory: PathBuf,
    state: UsageState,
    /// `None` when it was not seen before.
    last_activity: Option<Timestamp>,
    spared: Option<Spared>,
}

impl Candidate {
    pub(super) fn new(
        name: &str,
        directory: &Path,
        record: &UsageRecord,
        spared: Option<Spared>,
    ) -> Self {
        let times = [
            &record.last_used_at,
            &record.last_viewed_at,
            &record.last_patched_at,
            &record.created_at,
        ];
        let times = times.into_iter().flatten();
        Self {
            name: name.to_owned(),
            directory: directory.to_owned(),
            state: record.state,
            last_activity: times.filter_map(|text| read_time(text)).max(),
            spared,
        }
    }
}

/// Times of ours end in a zone; those of the reference may lack it and are in UTC then.
fn read_time(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    text.parse().or_else(|_| format!("{text}Z").parse()).ok()
}

/// Every change that is due, in the order of names.
pub(super) fn moves(candidates: &[Candidate], now: Timestamp, settings: &Settings) -> Vec<Move> {
    let mut moves: Vec<Move> = candidates
        .iter()
        .filter(|candidate| candidate.spared.is_none())
        .filter_map(|candidate| next(candidate, now, settings))
        .collect();
    moves.sort_by(|a, b| a.name.cmp(&b.name));
    moves
}

fn next(candidate: &Candidate, now: Timestamp, settings: &Settings) -> Option<Move> {
    let idle = now.duration_since(candidate.last_activity?);
    let reached = |days: u32| idle >= SignedDuration::from_hours(i64::from(days) * 24);
    let to = if reached(settings.archive_after_days) {
        UsageState::Archived
    } else if reached(settings.stale_after_days) {
        UsageState::Stale
    } else {
        UsageState::Active
    };
    (to != candidate.state).then(|| Move {
        name: candidate.name.clone(),
        directory: candidate.directory.clone(),
        from: candidate.state,
        to,
        idle_days: idle.as_hours() / 24,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-06-01T00:00:00Z";

    fn check(record: &UsageRecord, spared: Option<Spared>, expected: Option<UsageState>) {
        let candidate = Candidate::new("a", Path::new("a"), record, spared);
        let now = NOW.parse().unwrap_or(Timestamp::UNIX_EPOCH);
        let moves = moves(&[candidate], now, &Settings::default());
        assert_eq!(moves.first().map(|step| step.to), expected);
    }

    fn used(at: &str) -> UsageRecord {
        UsageRecord {
            last_used_at: Some(at.to_owned()),
            created_at: Some("2020-01-01T00:00:00Z".to_owned()),
            ..UsageRecord::default()
        }
    }

    // LN-35
    #[test]
    fn skills_age_by_their_last_use() {
        check(&used("2026-05-30T00:00:00Z"), None, None);
        check(&used("2026-05-02T00:00:00Z"), None, Some(UsageState::Stale));
        check(
            &used("2026-03-03T00:00:00Z"),
            None,
            Some(UsageState::Archived),
        );
        check(
            &used("2026-03-03T00:00:00"),
            None,
            Some(UsageState::Archived),
        );
        check(&UsageRecord::default(), None, None);
    }

    // LN-35
    #[test]
    fn one_that_is_used_again_comes_back_to_life() {
        let stale = UsageRecord {
            state: UsageState::Stale,
            ..used("2026-05-31T00:00:00Z")
        };
        check(&stale, None, Some(UsageState::Active));
    }

    #[test]
    fn what_is_spared_stays_however_old_it_is() {
        for spared in [
            Spared::Pinned,
            Spared::Scheduled,
            Spared::Protected,
            Spared::Foreign,
            Spared::Yours,
        ] {
            check(&used("2021-01-01T00:00:00Z"), Some(spared), None);
        }
    }
}
