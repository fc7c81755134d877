//! Skills of others: found, looked at, installed, kept up to date and removed.
//!
//! | module | holds |
//! |---|---|
//! | `identifier` | how a skill of others is named |
//! | `sources` | the ten places skills come from, behind one seam, and the folders of this machine |
//! | `web` | fetching, within our rules about addresses and sizes |
//! | `archive`, `file_path` | packed files, and names that stay where they belong |
//! | `bundle` | a skill that was fetched and is not on the disk yet |
//! | `search` | all places at once |
//! | `state` | what is kept below `skills/.hub` |
//! | `quarantine` | where a skill waits until it is allowed in |
//! | `condition` | how the hub's own files stand |
//! | `install`, `remove`, `recover` | the one way in and out, and back after a crash |
//! | `update` | whether there is something newer, and what it changes |
//! | `snapshot` | the list of what is installed, to install it elsewhere |
//! | `publish` | giving a skill to others |
//!
//! Nothing that was fetched touches the skills before it was looked at and allowed. A step that fails leaves
//! everything as it was.

mod archive;
mod bundle;
mod condition;
mod error;
mod file_path;
mod identifier;
mod ignore;
mod install;
mod name;
mod publish;
mod quarantine;
mod recover;
mod referred;
mod remove;
mod search;
mod shelf;
mod snapshot;
mod sources;
mod state;
mod trust;
mod update;
mod web;

use std::path::PathBuf;
use std::sync::Arc;

use hermes_config::SkillsHub;
use hermes_core::{Clock, Random};

pub use bundle::{Bundle, Origin};
pub use condition::{Condition, condition};
pub use error::{HeadFault, HubError, SourceError};
pub use file_path::{FilePath, PathFault};
pub use identifier::{Identifier, Repository};
pub use install::{Choice, Consent, Installed, Plan, Standing};
pub use name::{SkillName, slug};
pub use publish::{Published, Target};
pub use recover::{Recovered, recover};
pub use remove::Removed;
pub use search::{Answer, Found, Query};
pub use shelf::Shelf;
pub use snapshot::{Snapshot, SnapshotEntry};
pub use sources::{AppLogin, GithubLogin, Listing, SourceName};
pub use state::{AuditLine, Locked, Phase, Tap, Taps};
pub(crate) use state::{copy_of_list, hold_list, put_list_back};
pub use update::{Change, Newer};
pub use web::Reach;

use sources::Sources;
use state::State;
use web::Web;

/// What the hub stands on.
pub struct Ground {
    /// The directory of skills, `HOME/skills`.
    pub skills: PathBuf,
    /// Where others are looked for.
    pub settings: SkillsHub,
    /// How addresses are reached.
    pub reach: Reach,
    /// Who we are at GitHub.
    pub github: GithubLogin,
    /// Official skills that are not installed from the start.
    pub shelf: Shelf,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
}

/// The hub. Making one touches nothing.
pub struct Hub {
    state: State,
    sources: Sources,
    settings: SkillsHub,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
}

impl Hub {
    /// Fails only on addresses in the settings that are none.
    pub fn new(ground: Ground) -> Result<Self, HubError> {
        let state = State::new(ground.skills, ground.clock.clone());
        let web = Web::new(ground.reach, ground.clock.clone());
        let sources = Sources::new(
            &ground.settings,
            web,
            ground.github,
            ground.shelf,
            state.clone(),
            ground.clock.clone(),
        )?;
        Ok(Self {
            state,
            sources,
            settings: ground.settings,
            clock: ground.clock,
            random: ground.random,
        })
    }

    /// The name under which a skill is installed, whatever way it writes its own.
    pub fn installed_as(&self, name: &str) -> Result<String, HubError> {
        let lock = self.state.lock()?;
        let key = lock.key(name).map(str::to_owned);
        key.ok_or_else(|| HubError::NotInstalled {
            name: name.to_owned(),
        })
    }

    /// What is installed, by name.
    pub fn installed(&self) -> Result<Vec<(String, Locked)>, HubError> {
        Ok(self.state.lock()?.installed())
    }

    /// What was done, the newest last; at most so many lines.
    pub fn audit_lines(&self, most: usize) -> Result<Vec<AuditLine>, HubError> {
        self.state.audit_lines(most)
    }

    /// Repositories the user added.
    pub fn taps(&self) -> Result<Taps, HubError> {
        self.state.taps()
    }

    /// Adds a repository; `false` when it was there.
    pub fn add_tap(&self, tap: Tap) -> Result<bool, HubError> {
        self.state.change_taps(|taps| taps.add(tap))
    }

    /// Takes a repository away; `false` when it was not there.
    pub fn remove_tap(&self, repository: &Repository) -> Result<bool, HubError> {
        self.state.change_taps(|taps| taps.remove(repository))
    }

    /// Repositories that are looked at without being added.
    pub fn default_taps() -> Vec<Tap> {
        sources::default_taps()
    }

    /// Fetches a skill. Nothing is written.
    pub async fn fetch(&self, identifier: &Identifier) -> Result<Bundle, HubError> {
        let bundle = self.sources.fetch(identifier).await?;
        ignore::apply(bundle)
    }
}
