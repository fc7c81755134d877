//! A run: a copy of everything first, then one skill after the other, then, where somebody merges skills, what that
//! came to, then the report.

use std::fs;
use std::time::Duration;

use hermes_config::{FileLock, create_directory, lock_file};
use jiff::{SignedDuration, Timestamp};

use super::archive::INTO;
use super::plan::Move;
use super::report::{self, Absorbed, Merging, Run};
use super::state::StateFile;
use super::{Curator, CuratorError, schedules};
use crate::catalog::CatalogEntry;
use crate::manage::PROTECTED;
use crate::usage::UsageState;

/// Held by whoever tidies up.
const LOCK: &str = ".curator.lock";
/// Work that was begun so long ago goes on no more.
const LEFT_FOR: SignedDuration = SignedDuration::from_hours(24);
/// Fewer skills than this cannot be merged.
const FEWEST: usize = 2;

/// A run that has begun. Nobody else tidies up while it is held.
pub struct Begun {
    _held: FileLock,
    started: Timestamp,
    backup: Option<String>,
    moves: Vec<Move>,
    failed: Vec<(String, String)>,
    /// The skills there were before any could be merged.
    names: Vec<String>,
}

impl Curator {
    /// Tidies up without merging anything.
    pub fn run(&self) -> Result<Run, CuratorError> {
        let begun = self.begin()?;
        self.finish(begun, None)
    }

    /// The first part of a run: the copy, and what is due.
    pub fn begin(&self) -> Result<Begun, CuratorError> {
        let own = self.own();
        create_directory(&own)?;
        let Some(held) = lock_file(&own.join(LOCK), Duration::ZERO)? else {
            return Err(CuratorError::Busy);
        };
        let started = self.now();
        self.clear_left(started);
        let backup = match self.settings.backup.enabled {
            true => Some(self.backup("before a run")?.name),
            false => None,
        };
        // A skill nobody has counted yet is as old as the day it was first seen.
        let candidates = self.candidates().into_iter();
        let seen: Vec<String> = candidates.map(|candidate| candidate.name).collect();
        let today = started.to_string();
        self.library.usage().change(|records| {
            for name in seen {
                let record = records.entry(name).or_default();
                record.created_at.get_or_insert_with(|| today.clone());
            }
        })?;
        let (mut moves, mut failed) = (Vec::new(), Vec::new());
        for step in self.plan() {
            match self.carry_out(&step) {
                Ok(()) => moves.push(step),
                Err(error) => failed.push((step.name, error.to_string())),
            }
        }
        Ok(Begun {
            _held: held,
            started,
            backup,
            moves,
            failed,
            names: self.names(),
        })
    }

    /// The second part: what merging came to, if it was tried, and the report.
    pub fn finish(&self, begun: Begun, merging: Option<Merging>) -> Result<Run, CuratorError> {
        self.library.forget();
        let absorbed = match merging.is_some() {
            true => self.absorbed_since(&begun),
            false => Vec::new(),
        };
        let written = match merging.is_some() {
            true => self.names(),
            false => Vec::new(),
        };
        let written = written.into_iter();
        let run = Run {
            started_at: begun.started,
            ended_at: self.now(),
            moves: begun.moves,
            failed: begun.failed,
            backup: begun.backup,
            merging,
            rewrites: schedules::follow(self.library.home(), &absorbed)?,
            absorbed,
            written: written.filter(|name| !begun.names.contains(name)).collect(),
        };
        let report = report::write(self.library.home(), &run)?;
        StateFile::of(&self.own()).change(|state| state.ran(&run, &report))?;
        Ok(run)
    }

    /// The skills a model may merge, and what each is for; none when there are too few. Those that jobs name are among
    /// them: the jobs follow.
    pub fn mergeable(&self) -> Vec<(String, String)> {
        let records = self.library.usage().records();
        let may = |entry: &&CatalogEntry| {
            let record = records.get(&entry.name);
            self.library.is_own(entry)
                && record.is_some_and(|record| record.is_agents() && !record.pinned)
                && !PROTECTED.contains(&entry.name.as_str())
                && !self.library.is_installed(entry)
                && !self.library.is_shipped(&entry.name)
        };
        let catalog = self.library.catalog();
        let entries = catalog.entries.iter().filter(may);
        let found: Vec<(String, String)> = entries
            .map(|entry| (entry.name.clone(), entry.description.clone()))
            .collect();
        match found.len() < FEWEST {
            true => Vec::new(),
            false => found,
        }
    }

    fn carry_out(&self, step: &Move) -> Result<(), CuratorError> {
        match step.to {
            UsageState::Archived => {
                let catalog = self.library.catalog();
                let mut entries = catalog.entries.iter();
                // Another one may have its name.
                let entry = entries.find(|entry| entry.directory == step.directory);
                let gone = || CuratorError::Unknown {
                    name: step.name.clone(),
                };
                self.put_away(entry.ok_or_else(gone)?)
            }
            UsageState::Active | UsageState::Stale => {
                let to = step.to;
                self.library.usage().change(|records| {
                    records.entry(step.name.clone()).or_default().state = to;
                })?;
                Ok(())
            }
        }
    }

    /// Removes what programs that were killed left beside the skills.
    fn clear_left(&self, now: Timestamp) {
        let left = fs::read_dir(self.own().join(".sync"));
        for entry in left.into_iter().flatten().flatten() {
            let changed = entry.metadata().and_then(|facts| facts.modified());
            let changed = changed.ok().and_then(|at| Timestamp::try_from(at).ok());
            let is_old = changed.is_some_and(|at| now.duration_since(at) > LEFT_FOR);
            if is_old && let Err(error) = fs::remove_dir_all(entry.path()) {
                tracing::warn!(%error, path = %entry.path().display(), "was not removed");
            }
        }
    }

    fn names(&self) -> Vec<String> {
        let catalog = self.library.catalog();
        let entries = catalog.entries.iter();
        entries.map(|entry| entry.name.clone()).collect()
    }

    /// The skills that were there when merging began and were put away for another since.
    fn absorbed_since(&self, begun: &Begun) -> Vec<Absorbed> {
        let now = self.names();
        let records = self.library.usage().records().into_iter();
        let gone = records.filter(|(name, record)| {
            record.state == UsageState::Archived
                && begun.names.contains(name)
                && !now.contains(name)
        });
        gone.filter_map(|(name, record)| {
            let into = record.other.get(INTO)?.as_str()?.to_owned();
            Some(Absorbed { name, into })
        })
        .collect()
    }
}
