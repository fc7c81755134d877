//! Tidying skills up: what is long unused gets stale and is then put away. Nothing is deleted.
//!
//! | module | holds |
//! |---|---|
//! | `plan` | who moves on, as a pure function |
//! | `state` | when it ran last, and whether it is paused |
//! | `archive` | putting away, bringing back, throwing away |
//! | `backup` | copies of all skills, and going back to one |
//! | `schedules` | jobs that name skills |
//! | `absorbed` | whether one skill says what another said |
//! | `run` | a run from the copy to the report |
//! | `report` | what a run did, for people and programs |
//! | `trial` | the same on a copy, to see what would come of it |
//!
//! Only skills the agent wrote, and those that came with the program where that is wished, are touched;
//! pinned ones and those that jobs name stay.

mod absorbed;
mod archive;
mod backup;
mod plan;
mod report;
mod run;
mod schedules;
mod state;
mod trial;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hermes_config::{Curator as Settings, FileError};
use jiff::{SignedDuration, Timestamp};

use crate::catalog::{CatalogEntry, Found};
use crate::library::Library;
use crate::manage::PROTECTED;
use crate::usage::{UsageError, UsageRecord};

pub use absorbed::missing_from;
pub(crate) use absorbed::unheld;
pub use archive::Archived;
pub(crate) use archive::{ARCHIVE, free_place};
pub use backup::Backup;
pub use plan::Move;
pub use report::{Absorbed, Merging, Rewrite, Run};
pub use run::Begun;
pub use state::State;
pub use trial::Trial;

use plan::{Candidate, Spared};
use state::StateFile;

/// Looks after the skills of a home. Everything blocks.
pub struct Curator {
    library: Arc<Library>,
    settings: Settings,
}

/// Something that was not done.
#[derive(Debug, thiserror::Error)]
pub enum CuratorError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Usage(#[from] UsageError),
    #[error("there is no skill {name}")]
    Unknown { name: String },
    #[error("several skills are called {name}: {}", matches.join(", "))]
    Ambiguous { name: String, matches: Vec<String> },
    #[error("{name} is not among the skills that were put away")]
    NotArchived { name: String },
    #[error("there is a skill {name} already")]
    Taken { name: String },
    #[error("{} is in the way and holds no skill", path.display())]
    InTheWay { path: PathBuf },
    #[error("there is no copy {name}")]
    NoBackup { name: String },
    #[error("the copy {name} cannot be used: {why}")]
    BadBackup { name: String, why: String },
    #[error("{name} is pinned")]
    Pinned { name: String },
    #[error("{name} cannot be put away: {why}")]
    Foreign { name: String, why: &'static str },
    #[error("another program is tidying up")]
    Busy,
    #[error("{} could not be changed", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl CuratorError {
    /// What helps.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::File(error) => error.hint(),
            Self::Usage(error) => error.hint(),
            Self::Unknown { .. } => "hermes skills list shows the skills there are",
            Self::Ambiguous { .. } => "give the name with its category before it",
            Self::NotArchived { .. } => "hermes curator list-archived shows those",
            Self::Taken { .. } => "rename or put away the one that is there first",
            Self::InTheWay { .. } => "move it somewhere else, then try again",
            Self::NoBackup { .. } => "hermes curator rollback --list shows the copies there are",
            Self::BadBackup { .. } => "choose another copy; nothing was changed",
            Self::Pinned { .. } => "hermes curator unpin releases it",
            Self::Foreign { .. } => "remove it where it comes from",
            Self::Busy => "try again in a moment",
            Self::Io { .. } => "check who owns the directory, and whether the disk is full",
        }
    }

    fn io(path: &Path, source: io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            source,
        }
    }
}

impl Curator {
    /// Over the skills of a library.
    pub fn new(library: Arc<Library>, settings: Settings) -> Self {
        Self { library, settings }
    }

    fn now(&self) -> Timestamp {
        self.library.clock().now()
    }

    fn own(&self) -> PathBuf {
        self.library.own()
    }

    /// When it ran last, and whether it is paused.
    pub fn state(&self) -> Result<State, CuratorError> {
        Ok(StateFile::of(&self.own()).read()?)
    }

    /// Stops or resumes runs by itself.
    pub fn pause(&self, paused: bool) -> Result<(), CuratorError> {
        Ok(StateFile::of(&self.own()).change(|state| state.paused = paused)?)
    }

    /// Whether it is time for a run by itself, given when anything was last done here. The first look only
    /// starts the clock: nobody's skills are tidied on the day they arrive.
    pub fn is_due(&self, last_activity: Option<Timestamp>) -> Result<bool, CuratorError> {
        let state = self.state()?;
        if !self.settings.enabled || state.paused {
            return Ok(false);
        }
        let now = self.now();
        let Some(last) = state.last_run_at else {
            StateFile::of(&self.own()).change(|state| state.last_run_at = Some(now))?;
            return Ok(false);
        };
        let idle = last_activity
            .is_none_or(|at| now.duration_since(at) >= hours(self.settings.min_idle_hours));
        Ok(idle && now.duration_since(last) >= hours(self.settings.interval_hours))
    }

    /// What a run would do.
    pub fn plan(&self) -> Vec<Move> {
        plan::moves(&self.candidates(), self.now(), &self.settings)
    }

    /// Keeps a skill from being touched, or no longer.
    pub fn pin(&self, name: &str, pinned: bool) -> Result<(), CuratorError> {
        let entry = self.entry(name)?;
        self.library.usage().change(|records| {
            records.entry(entry.name).or_default().pinned = pinned;
        })?;
        Ok(())
    }

    /// The skills a run looks at, with what speaks against touching them.
    fn candidates(&self) -> Vec<Candidate> {
        let records = self.library.usage().records();
        let named = schedules::skills_of(self.library.home());
        let catalog = self.library.catalog();
        let none = UsageRecord::default();
        let of = |entry: &CatalogEntry| {
            let record = records.get(&entry.name).unwrap_or(&none);
            let spared = self.spared(entry, record, &named);
            Candidate::new(&entry.name, &entry.directory, record, spared)
        };
        catalog.entries.iter().map(of).collect()
    }

    fn spared(
        &self,
        entry: &CatalogEntry,
        record: &UsageRecord,
        named: &[String],
    ) -> Option<Spared> {
        let shipped = self.library.is_shipped(&entry.name);
        if !self.library.is_own(entry) || self.library.is_installed(entry) {
            Some(Spared::Foreign)
        } else if record.pinned {
            Some(Spared::Pinned)
        } else if named.contains(&entry.name) {
            Some(Spared::Scheduled)
        } else if PROTECTED.contains(&entry.name.as_str()) {
            Some(Spared::Protected)
        } else if (shipped && self.settings.prune_builtins) || record.is_agents() {
            None
        } else {
            Some(Spared::Yours)
        }
    }

    /// The skill a name stands for.
    fn entry(&self, name: &str) -> Result<CatalogEntry, CuratorError> {
        let name = name.to_owned();
        match self.library.catalog().find(&name) {
            Found::One(entry) => Ok(entry.clone()),
            Found::Several(several) => Err(CuratorError::Ambiguous {
                matches: several.iter().map(|entry| entry.full_name()).collect(),
                name,
            }),
            Found::Nothing => Err(CuratorError::Unknown { name }),
        }
    }
}

fn hours(hours: f64) -> SignedDuration {
    SignedDuration::try_from_secs_f64(hours * 3600.0).unwrap_or(SignedDuration::MAX)
}
