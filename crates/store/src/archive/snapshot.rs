//! Quick snapshots: the state that matters, copied beside it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::database::{self, Copied};
use super::error::ArchiveError;
use super::held::{self, Held};
use super::list::{self, Listed};
use super::note::{NoteKind, Notes};
use super::rules::{self, with_tail};

/// How many snapshots are kept.
pub const KEPT_SNAPSHOTS: usize = 20;
const FOLDER: &str = "state-snapshots";
const MANIFEST: &str = "manifest.json";
const LONGEST_LABEL: usize = 40;
/// Snapshots that are listed; more are there only when somebody put them there.
const MOST_LISTED: usize = 100;
/// Bytes of a description that are read.
const LARGEST_MANIFEST: u64 = 4 * 1024 * 1024;
/// How long the time at the start of an id is.
const STAMP: usize = "20260704-120000".len();

/// What is in a snapshot: settings, credentials, conversations, schedules, gateway state, pairings.
const CONTENT: &[&str] = &[
    "hermes.db",
    "state.db",
    "config.yaml",
    ".env",
    ".op.env",
    "auth.json",
    ".anthropic_oauth.json",
    "mcp-tokens",
    "SOUL.md",
    "memories",
    "profile.yaml",
    "cron/jobs.json",
    "cron/executions.db",
    "gateway.json",
    "gateway_state.json",
    "gateway_voice_mode.json",
    "gateway",
    "processes.json",
    "channel_directory.json",
    "channel_aliases.json",
    "pairing",
    "platforms/pairing",
    "response_store.db",
    "kanban.db",
    "projects.db",
    "memory_store.db",
    "shell-hooks-allowlist.json",
];

/// What a person calls a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label(String);

impl Label {
    /// Letters, digits, `-`, `_` and `.`, so that it can be part of a directory's name.
    pub fn new(label: &str) -> Result<Self, ArchiveError> {
        let legal = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        let fits = label.chars().count() <= LONGEST_LABEL
            && label.chars().all(legal)
            && label.chars().next().is_some_and(char::is_alphanumeric);
        if fits {
            return Ok(Self(label.to_owned()));
        }
        Err(ArchiveError::BadLabel {
            label: label.to_owned(),
        })
    }
}

/// A snapshot to be taken.
#[derive(Debug, Clone, Copy)]
pub struct TakeSnapshot<'a> {
    pub home: &'a Path,
    pub label: Option<&'a Label>,
    pub at: Timestamp,
}

/// A snapshot that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    pub id: String,
    pub path: PathBuf,
    pub files: u64,
    pub bytes: u64,
    /// Older snapshots that had to go.
    pub removed: Vec<String>,
    pub notes: Notes,
}

#[derive(Debug, Serialize)]
struct SnapshotManifest<'a> {
    id: &'a str,
    timestamp: String,
    label: Option<&'a str>,
    file_count: usize,
    total_size: u64,
    files: &'a BTreeMap<String, u64>,
}

/// A snapshot that is kept.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct KeptSnapshot {
    pub id: String,
    /// When it was taken, in UTC.
    pub timestamp: String,
    pub label: Option<String>,
    pub file_count: u64,
    pub total_size: u64,
}

impl KeptSnapshot {
    /// Those of a home, the latest first. What has no readable description is left out.
    pub fn all(home: &Path) -> Vec<Self> {
        let folder = home.join(FOLDER);
        let mut ids = ids(&folder);
        ids.sort_by_cached_key(|id| {
            let stamp = id.get(..STAMP).map(ToOwned::to_owned);
            std::cmp::Reverse((stamp, number_of(id), id.clone()))
        });
        let kept = ids.into_iter().take(MOST_LISTED);
        kept.filter_map(|id| {
            let file = fs::File::open(folder.join(&id).join(MANIFEST)).ok()?;
            let file = io::BufReader::new(file.take(LARGEST_MANIFEST));
            let kept: Self = serde_json::from_reader(file).ok()?;
            // It is where it is, whatever it says.
            Some(Self { id, ..kept })
        })
        .collect()
    }

    /// Where its files are.
    pub fn folder(&self, home: &Path) -> PathBuf {
        home.join(FOLDER).join(&self.id)
    }

    /// Removes all but the latest so many. The answer is what is gone.
    pub fn prune(home: &Path, keep: usize) -> Result<Vec<String>, ArchiveError> {
        let _held = Held::take(home)?;
        Ok(remove_old(&home.join(FOLDER), None, keep))
    }

    /// The files in it that can be put back.
    pub(super) fn files(
        &self,
        home: &Path,
        notes: &mut Notes,
    ) -> Result<Vec<Listed>, ArchiveError> {
        let mut files = list::files_of(&self.folder(home), notes)?;
        files.retain(|file| file.relative != MANIFEST);
        Ok(files)
    }
}

impl TakeSnapshot<'_> {
    /// Copies the state into a directory of its own, under its name only when it is complete.
    pub fn run(&self) -> Result<Snapshot, ArchiveError> {
        let _held = Held::take(self.home)?;
        self.run_held()
    }

    /// As `run`, by somebody who holds the home already.
    pub(super) fn run_held(&self) -> Result<Snapshot, ArchiveError> {
        let folder = self.home.join(FOLDER);
        held::create_private(&folder)?;
        held::remove_partial(&folder);
        let scratch = held::scratch_in(&folder)?;
        let mut notes = Notes::default();
        let mut copied = BTreeMap::new();
        for item in CONTENT {
            for file in list::files_below(self.home, item, &mut notes)? {
                if let Some(bytes) = copy_file(self.home, scratch.path(), &file, &mut notes)? {
                    copied.insert(file.relative, bytes);
                }
            }
        }
        let bytes = copied.values().sum();
        let (id, path) = self.name_for(&folder);
        self.write_manifest(scratch.path(), &id, &copied)?;
        fs::rename(scratch.path(), &path).map_err(ArchiveError::file(&path))?;
        // The directory has another name now; there is nothing left to clean up.
        drop(scratch.keep());
        held::sync_folder(&folder);
        Ok(Snapshot {
            removed: remove_old(&folder, Some(&id), KEPT_SNAPSHOTS),
            files: copied.len() as u64,
            id,
            path,
            bytes,
            notes,
        })
    }

    /// UTC, so that names sort by age whatever the time zone does. Snapshots in the same second are
    /// numbered, and no number is given twice, not even that of one that had to go.
    fn name_for(&self, folder: &Path) -> (String, PathBuf) {
        let stamp = self.at.strftime("%Y%m%d-%H%M%S").to_string();
        let last = ids(folder)
            .iter()
            .filter(|id| id.starts_with(&stamp))
            .map(|id| number_of(id))
            .max();
        let base = match self.label {
            Some(label) => format!("{stamp}-{}", label.0),
            None => stamp,
        };
        let Some(last) = last else {
            return (base.clone(), folder.join(base));
        };
        let mut number = last.saturating_add(1);
        loop {
            let name = format!("{base}.{number}");
            let path = folder.join(&name);
            if fs::symlink_metadata(&path).is_err() {
                return (name, path);
            }
            number = number.saturating_add(1);
        }
    }

    fn write_manifest(
        &self,
        folder: &Path,
        id: &str,
        files: &BTreeMap<String, u64>,
    ) -> Result<(), ArchiveError> {
        let path = folder.join(MANIFEST);
        let manifest = SnapshotManifest {
            id,
            timestamp: self.at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            label: self.label.map(|label| label.0.as_str()),
            file_count: files.len(),
            total_size: files.values().sum(),
            files,
        };
        serde_json::to_vec_pretty(&manifest)
            .map_err(io::Error::from)
            .and_then(|text| fs::write(&path, text))
            .and_then(|()| make_private(&path))
            .map_err(ArchiveError::file(&path))
    }
}

fn copy_file(
    home: &Path,
    folder: &Path,
    file: &Listed,
    notes: &mut Notes,
) -> Result<Option<u64>, ArchiveError> {
    let (from, to) = (home.join(&file.relative), folder.join(&file.relative));
    if let Some(parent) = to.parent() {
        held::create_private(parent)?;
    }
    let plain = || fs::copy(&from, &to);
    let copied = match database::is_database(&from) {
        Ok(true) => match database::copy(&from, &to, |_, _| {})? {
            Copied::Whole { .. } => fs::metadata(&to).map(|found| found.len()),
            Copied::Damaged => {
                notes.add(&*file.relative, NoteKind::Damaged);
                copy_sides(&from, &to).and_then(|()| plain())
            }
        },
        Ok(false) => plain(),
        Err(error) => Err(error),
    };
    match copied.and_then(|bytes| make_private(&to).map(|()| bytes)) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if is_gone(&from) || error.kind() == io::ErrorKind::PermissionDenied => {
            notes.add(&*file.relative, list::kind_of(&error));
            Ok(None)
        }
        Err(error) => Err(ArchiveError::file(&from)(error)),
    }
}

/// A damaged database is kept with its log: somebody may still get something out of it.
fn copy_sides(from: &Path, to: &Path) -> io::Result<()> {
    for side in rules::SIDES {
        let (from, to) = (with_tail(from, side), with_tail(to, side));
        // The attempt to copy it may have left something of its own.
        drop(fs::remove_file(&to));
        if from.is_file() {
            fs::copy(&from, &to)?;
            make_private(&to)?;
        }
    }
    Ok(())
}

fn is_gone(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err()
}

fn make_private(path: &Path) -> io::Result<()> {
    let file = fs::File::open(path)?;
    file.set_permissions(fs::Permissions::from_mode(0o600))?;
    file.sync_all()
}

/// Removes the oldest snapshots beyond the ones that are kept, the newest of all among these; directories with other
/// names stay.
fn remove_old(folder: &Path, newest: Option<&str>, keep: usize) -> Vec<String> {
    let mut ids = ids(folder);
    let keep = match newest {
        Some(newest) => {
            ids.retain(|id| id != newest);
            keep.saturating_sub(1)
        }
        None => keep,
    };
    ids.sort_by_cached_key(|id| {
        let stamp = id.get(..STAMP).map(ToOwned::to_owned);
        (stamp, number_of(id), id.clone())
    });
    let surplus = ids.len().saturating_sub(keep);
    ids.truncate(surplus);
    // One that cannot be removed now is tried again at the next snapshot.
    ids.retain(|id| fs::remove_dir_all(folder.join(id)).is_ok());
    ids
}

fn ids(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    names
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| is_id(name))
        .collect()
}

/// Which of its second's snapshots an id means. A label may end like a number; that leaves a gap.
fn number_of(id: &str) -> u64 {
    let number = id.rsplit_once('.').map(|(_, tail)| tail.parse::<u32>());
    number.and_then(Result::ok).map_or(1, u64::from)
}

fn is_id(name: &str) -> bool {
    let mut bytes = name.bytes();
    let day = bytes.by_ref().take(8).all(|byte| byte.is_ascii_digit());
    let dash = bytes.next() == Some(b'-');
    let mut time = bytes.by_ref().take(6);
    day && dash && time.len() == 6 && time.all(|byte| byte.is_ascii_digit())
}
