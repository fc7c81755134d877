//! Changes that wait for a person's yes: one small file each, in the format of the reference.

use std::path::PathBuf;
use std::sync::Arc;

use hermes_config::FileError;
use hermes_core::{Clock, Random};
use hermes_store::JournalOrigin;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value as Json;

/// Changes of one kind that may wait.
const MOST_WAITING: usize = 200;
/// Bytes of one file.
const MOST_BYTES: usize = 1024 * 1024;
/// Digits of an id.
const ID_DIGITS: usize = 8;
/// How often another id is tried when one is taken.
const MOST_IDS: usize = 16;

/// What a change is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subsystem {
    /// What the agent remembers.
    Memory,
    /// What it knows how to do.
    Skills,
}

impl Subsystem {
    /// Its name in files, and the folder of its changes.
    pub fn word(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Skills => "skills",
        }
    }
}

/// A change that waits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Staged {
    /// Names it: eight hexadecimal digits.
    pub id: String,
    /// What it is about.
    pub subsystem: Subsystem,
    /// What it would do, in a word.
    pub action: String,
    /// In one line, for people.
    pub summary: String,
    /// Who wants it.
    pub origin: JournalOrigin,
    /// Seconds since 1970.
    #[serde(deserialize_with = "seconds")]
    pub created_at: f64,
    /// The change itself, for whoever carries it out.
    pub payload: Json,
}

/// A change that is about to wait.
#[derive(Debug, Clone, PartialEq)]
pub struct ToStage {
    /// What it is about.
    pub subsystem: Subsystem,
    /// What it would do, in a word.
    pub action: String,
    /// In one line, for people.
    pub summary: String,
    /// Who wants it.
    pub origin: JournalOrigin,
    /// The change itself.
    pub payload: Json,
}

/// Why a change does not wait, or is not found.
#[derive(Debug, thiserror::Error)]
pub enum StagingError {
    /// Too many wait already.
    #[error("{MOST_WAITING} changes of {} wait for approval already", subsystem.word())]
    Full { subsystem: Subsystem },
    /// It is too large to be looked through.
    #[error("a change of {bytes} bytes is too large to wait for approval")]
    TooLarge { bytes: usize },
    /// There is none of this id.
    #[error("no change of {} waits under {id}", subsystem.word())]
    Missing { subsystem: Subsystem, id: String },
    /// Its file holds something else.
    #[error("{} cannot be read as a change", path.display())]
    Damaged {
        path: PathBuf,
        #[source]
        source: serde_json::Error,
    },
    /// Its file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

impl StagingError {
    /// The next step.
    pub fn hint(&self) -> String {
        match self {
            Self::Full { subsystem } | Self::Missing { subsystem, .. } => {
                format!("hermes {} pending lists them", subsystem.word())
            }
            Self::TooLarge { .. } => "make it smaller".to_owned(),
            Self::Damaged { .. } => "remove the file; what it held is lost".to_owned(),
            Self::File(error) => error.hint().to_owned(),
        }
    }
}

/// Where changes wait. Calls block for a moment.
pub struct Staging {
    /// The folder of all of them.
    pub folder: PathBuf,
    /// Tells when a change came.
    pub clock: Arc<dyn Clock>,
    /// Makes ids.
    pub random: Arc<dyn Random>,
}

impl Staging {
    /// Lets a change wait.
    pub fn stage(&self, change: ToStage) -> Result<Staged, StagingError> {
        let subsystem = change.subsystem;
        let folder = self.folder.join(subsystem.word());
        hermes_config::create_directory(&folder)?;
        if self.ids(subsystem).len() >= MOST_WAITING {
            return Err(StagingError::Full { subsystem });
        }
        let staged = Staged {
            id: self.free_id(subsystem),
            subsystem,
            action: change.action,
            summary: change.summary,
            origin: change.origin,
            created_at: self.clock.now().as_duration().as_secs_f64(),
            payload: change.payload,
        };
        let path = self.path(subsystem, &staged.id);
        let bytes = serde_json::to_vec_pretty(&staged).map_err(|source| StagingError::Damaged {
            path: path.clone(),
            source,
        })?;
        if bytes.len() > MOST_BYTES {
            let bytes = bytes.len();
            return Err(StagingError::TooLarge { bytes });
        }
        hermes_config::replace_file(&path, &bytes)?;
        Ok(staged)
    }

    /// What waits, the oldest first. What cannot be read is told in the log and left out.
    pub fn list(&self, subsystem: Subsystem) -> Vec<Staged> {
        let mut all: Vec<Staged> = Vec::new();
        for id in self.ids(subsystem) {
            match self.get(subsystem, &id) {
                Ok(staged) => all.push(staged),
                Err(error) => {
                    tracing::warn!(%error, "a change that waits for approval is left out")
                }
            }
        }
        all.sort_by(|left, right| {
            let times = left.created_at.total_cmp(&right.created_at);
            times.then_with(|| left.id.cmp(&right.id))
        });
        all
    }

    /// One change.
    pub fn get(&self, subsystem: Subsystem, id: &str) -> Result<Staged, StagingError> {
        let missing = || StagingError::Missing {
            subsystem,
            id: id.chars().take(ID_DIGITS * 2).collect(),
        };
        // Anything else could lead out of the folder.
        if !is_id(id) {
            return Err(missing());
        }
        let path = self.path(subsystem, id);
        let bytes = hermes_config::read_file(&path)?.ok_or_else(missing)?;
        let staged: Staged = serde_json::from_slice(&bytes)
            .map_err(|source| StagingError::Damaged { path, source })?;
        // The name of the file is what it was found by.
        Ok(Staged {
            id: id.to_owned(),
            ..staged
        })
    }

    /// Lets go of a change, carried out or not.
    pub fn remove(&self, staged: &Staged) -> Result<(), StagingError> {
        let path = self.path(staged.subsystem, &staged.id);
        match std::fs::remove_file(&path) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(StagingError::Missing {
                    subsystem: staged.subsystem,
                    id: staged.id.clone(),
                })
            }
            Err(source) => Err(FileError::Write { path, source }.into()),
        }
    }

    fn path(&self, subsystem: Subsystem, id: &str) -> PathBuf {
        let folder = self.folder.join(subsystem.word());
        folder.join(format!("{id}.json"))
    }

    fn ids(&self, subsystem: Subsystem) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.folder.join(subsystem.word())) else {
            return Vec::new();
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names
            .filter_map(|name| Some(name.strip_suffix(".json")?.to_owned()))
            .filter(|id| is_id(id))
            .take(MOST_WAITING * 2)
            .collect()
    }

    fn free_id(&self, subsystem: Subsystem) -> String {
        let id = || format!("{:08x}", self.random.below(1 << 32));
        let mut ids = std::iter::repeat_with(id).take(MOST_IDS);
        let free = ids.find(|id| !self.path(subsystem, id).exists());
        free.unwrap_or_else(id)
    }
}

fn is_id(text: &str) -> bool {
    text.len() == ID_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A time in seconds; one in another form counts as long ago.
fn seconds<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Json::deserialize(from)?.as_f64().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hermes_core::{ManualClock, SeededRandom};
    use serde_json::json;

    use super::*;

    fn staging(folder: &tempfile::TempDir) -> (Staging, Arc<ManualClock>) {
        let clock = Arc::new(ManualClock::new("2026-07-01T12:00:00Z".parse().unwrap()));
        let staging = Staging {
            folder: folder.path().join("pending"),
            clock: clock.clone(),
            random: Arc::new(SeededRandom::new(7)),
        };
        (staging, clock)
    }

    fn change(subsystem: Subsystem, summary: &str) -> ToStage {
        ToStage {
            subsystem,
            action: "add".to_owned(),
            summary: summary.to_owned(),
            origin: JournalOrigin::BackgroundReview,
            payload: json!({"content": summary}),
        }
    }

    // LN-10
    #[test]
    fn changes_wait_in_files_of_their_own_until_they_are_let_go() {
        let folder = tempfile::tempdir().unwrap();
        let (staging, clock) = staging(&folder);
        assert_eq!(staging.list(Subsystem::Memory), []);
        let first = staging.stage(change(Subsystem::Memory, "tea")).unwrap();
        clock.advance(Duration::from_secs(5));
        let second = staging.stage(change(Subsystem::Memory, "tabs")).unwrap();
        staging.stage(change(Subsystem::Skills, "bake")).unwrap();
        let listed = staging.list(Subsystem::Memory);
        assert_eq!(listed, [first.clone(), second.clone()]);
        let path = folder
            .path()
            .join(format!("pending/memory/{}.json", first.id));
        let kept: Json = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let fields: Vec<_> = kept
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(
            fields,
            [
                "id",
                "subsystem",
                "action",
                "summary",
                "origin",
                "created_at",
                "payload"
            ]
        );
        assert_eq!(
            (&kept["subsystem"], &kept["origin"]),
            (&json!("memory"), &json!("background_review"))
        );
        staging.remove(&first).unwrap();
        assert!(matches!(
            staging.remove(&first),
            Err(StagingError::Missing { .. })
        ));
        assert_eq!(staging.list(Subsystem::Memory), [second]);
    }

    // LN-10
    #[test]
    fn what_is_no_change_is_left_out_and_no_id_leads_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let (staging, _) = staging(&folder);
        let staged = staging.stage(change(Subsystem::Memory, "tea")).unwrap();
        let at = |name: &str| folder.path().join("pending/memory").join(name);
        std::fs::write(at("0badc0de.json"), "{broken").unwrap();
        std::fs::write(at("notes.json"), "{}").unwrap();
        // As another version wrote it.
        let foreign = json!({"id": "x", "subsystem": "memory", "action": "add", "summary": "s",
            "origin": "foreground", "created_at": "2026-01-01", "payload": {}});
        std::fs::write(at("00000001.json"), foreign.to_string()).unwrap();
        let ids: Vec<_> = staging
            .list(Subsystem::Memory)
            .into_iter()
            .map(|one| one.id)
            .collect();
        assert_eq!(ids, ["00000001".to_owned(), staged.id]);
        for id in ["../x/abcd", "deadbeef", "", "0BADC0DE0"] {
            assert!(matches!(
                staging.get(Subsystem::Memory, id),
                Err(StagingError::Missing { .. })
            ));
        }
        assert!(matches!(
            staging.get(Subsystem::Memory, "0badc0de"),
            Err(StagingError::Damaged { .. })
        ));
    }

    // LN-10
    #[test]
    fn too_many_and_too_large_changes_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (staging, _) = staging(&folder);
        let large = ToStage {
            payload: json!("x".repeat(MOST_BYTES)),
            ..change(Subsystem::Memory, "large")
        };
        assert!(matches!(
            staging.stage(large),
            Err(StagingError::TooLarge { .. })
        ));
        for number in 0..MOST_WAITING {
            let path = folder
                .path()
                .join(format!("pending/memory/{number:08x}.json"));
            std::fs::write(path, "{}").unwrap();
        }
        assert!(matches!(
            staging.stage(change(Subsystem::Memory, "more")),
            Err(StagingError::Full { .. })
        ));
        staging.stage(change(Subsystem::Skills, "other")).unwrap();
    }
}
