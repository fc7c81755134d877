//! How often skills are used, and who made them: `HOME/skills/.usage.json`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hermes_config::{FileError, create_directory, keep_copy, lock_file, read_file, replace_file};
use hermes_core::Clock;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

const FILE: &str = ".usage.json";
const LOCK: &str = ".usage.json.lock";
/// How long a change waits for another one.
const PATIENCE: Duration = Duration::from_secs(5);
/// What stands for the agent as the maker of a skill.
pub const BY_AGENT: &str = "agent";

/// What is known of one skill. Fields of a newer version are kept.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct UsageRecord {
    /// `agent` when it wrote the skill itself.
    pub created_by: Option<String>,
    pub use_count: u64,
    pub view_count: u64,
    pub patch_count: u64,
    pub last_used_at: Option<String>,
    pub last_viewed_at: Option<String>,
    pub last_patched_at: Option<String>,
    pub created_at: Option<String>,
    pub state: UsageState,
    pub pinned: bool,
    pub archived_at: Option<String>,
    #[serde(flatten)]
    pub other: Map<String, Json>,
}

/// How alive a skill is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageState {
    Stale,
    Archived,
    /// Also what a word of a newer version means to us.
    #[default]
    #[serde(other)]
    Active,
}

impl UsageRecord {
    /// Whether the agent wrote it. Older records of the reference say so in a field of their own.
    pub fn is_agents(&self) -> bool {
        self.created_by.as_deref() == Some(BY_AGENT)
            || self.other.get("agent_created") == Some(&Json::Bool(true))
    }
}

/// Something that happened to a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsageEvent {
    /// Its text was read by the model, which is how a skill is used.
    Viewed,
    /// A person called for it.
    Used,
    Patched,
    /// The agent wrote it.
    Created,
    /// It is gone.
    Deleted,
}

/// The records of a home.
#[derive(Clone)]
pub struct Usage {
    directory: PathBuf,
    clock: Arc<dyn Clock>,
}

/// Records that could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum UsageError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{} is in use by another program", path.display())]
    Busy { path: PathBuf },
}

impl UsageError {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::File(error) => error.hint(),
            Self::Busy { .. } => "try again in a moment",
        }
    }
}

impl Usage {
    /// Those kept in the directory of our own skills.
    pub fn new(skills: &Path, clock: Arc<dyn Clock>) -> Self {
        Self {
            directory: skills.to_owned(),
            clock,
        }
    }

    /// All of them; none when there is no file, or one that nobody can read.
    pub fn records(&self) -> BTreeMap<String, UsageRecord> {
        let read = read_file(&self.file()).ok().flatten();
        read.and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default()
    }

    pub fn record(&self, name: &str) -> UsageRecord {
        self.records().remove(name).unwrap_or_default()
    }

    /// Changes all records at once while nobody else does.
    pub fn change(
        &self,
        change: impl FnOnce(&mut BTreeMap<String, UsageRecord>),
    ) -> Result<(), UsageError> {
        create_directory(&self.directory)?;
        let path = self.directory.join(LOCK);
        let Some(_held) = lock_file(&path, PATIENCE)? else {
            return Err(UsageError::Busy { path });
        };
        let file = self.file();
        let bytes = read_file(&file)?;
        let bytes = bytes.unwrap_or_else(|| b"{}".to_vec());
        let mut records = match serde_json::from_slice(&bytes) {
            Ok(records) => records,
            Err(error) => {
                tracing::warn!(%error, "the counts of skills cannot be read; they begin anew");
                keep_copy(&file, self.clock.now().into(), &bytes)?;
                BTreeMap::new()
            }
        };
        let before = records.clone();
        change(&mut records);
        if records != before {
            let text = serde_json::to_string_pretty(&records).unwrap_or_default();
            replace_file(&file, text.as_bytes())?;
        }
        Ok(())
    }

    /// Counts something. A count that is lost is no reason for anything to fail.
    pub fn note(&self, name: &str, event: UsageEvent) {
        let now = self.clock.now().to_string();
        let noted = self.change(|records| {
            if event == UsageEvent::Deleted {
                records.remove(name);
                return;
            }
            let record = records.entry(name.to_owned()).or_default();
            record.created_at.get_or_insert_with(|| now.clone());
            apply(record, event, now);
        });
        if let Err(error) = noted {
            tracing::warn!(%error, skill = name, "its use was not counted");
        }
    }

    fn file(&self) -> PathBuf {
        self.directory.join(FILE)
    }
}

fn apply(record: &mut UsageRecord, event: UsageEvent, now: String) {
    match event {
        UsageEvent::Viewed => {
            record.view_count += 1;
            record.use_count += 1;
            record.last_viewed_at = Some(now.clone());
            record.last_used_at = Some(now);
            record.state = UsageState::Active;
        }
        UsageEvent::Used => {
            record.use_count += 1;
            record.last_used_at = Some(now);
            record.state = UsageState::Active;
        }
        UsageEvent::Patched => {
            record.patch_count += 1;
            record.last_patched_at = Some(now);
            record.state = UsageState::Active;
        }
        UsageEvent::Created => {
            record.created_by = Some(BY_AGENT.to_owned());
            record.created_at = Some(now);
            record.state = UsageState::Active;
        }
        UsageEvent::Deleted => {}
    }
}
