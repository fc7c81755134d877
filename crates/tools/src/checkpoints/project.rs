//! Which directory a snapshot is of.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::CheckpointError;

/// What the top of a project contains.
const MARKS: [&str; 9] = [
    ".git",
    "pyproject.toml",
    "package.json",
    "Cargo.toml",
    "go.mod",
    "Makefile",
    "pom.xml",
    ".hg",
    "Gemfile",
];
/// Hexadecimal digits of a directory's name in the store.
const DIGITS: usize = 16;

/// A directory snapshots are taken of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Project {
    pub(super) workdir: PathBuf,
    /// Its name in the store.
    pub(super) hash: String,
}

/// What is known of a directory in the store.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectStatus {
    /// The directory.
    pub workdir: PathBuf,
    /// Its snapshots.
    pub snapshots: usize,
    /// Whether it is still there.
    pub exists: bool,
    /// When the last snapshot was taken, in seconds since 1970.
    pub last_touch: f64,
}

/// The file that tells which directory a ref belongs to.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) workdir: PathBuf,
    #[serde(default)]
    pub(super) created_at: f64,
    #[serde(default)]
    pub(super) last_touch: f64,
}

impl Project {
    /// The project a directory is in: the nearest one above it with a mark, or the directory itself.
    pub(super) fn around(
        directory: &Path,
        user_home: Option<&Path>,
    ) -> Result<Self, CheckpointError> {
        let unfit = |reason| CheckpointError::Unfit {
            directory: directory.to_owned(),
            reason,
        };
        // A directory that is about to be made belongs to the one it is made in.
        let found = directory
            .ancestors()
            .find_map(|known| fs::canonicalize(known).ok())
            .ok_or_else(|| unfit("it does not exist"))?;
        let home = user_home.and_then(|home| fs::canonicalize(home).ok());
        let too_wide = |path: &Path| path.parent().is_none() || home.as_deref() == Some(path);
        let marked = found
            .ancestors()
            .take_while(|path| !too_wide(path))
            .find(|path| MARKS.iter().any(|mark| path.join(mark).exists()));
        let workdir = marked.unwrap_or(&found).to_owned();
        if too_wide(&workdir) {
            return Err(unfit("it holds everything"));
        }
        Ok(Self::new(workdir))
    }

    fn new(workdir: PathBuf) -> Self {
        let digest = Sha256::digest(workdir.as_os_str().as_encoded_bytes());
        let mut hash: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        hash.truncate(DIGITS);
        Self { workdir, hash }
    }

    pub(super) fn reference(&self) -> String {
        format!("refs/hermes/{}", self.hash)
    }

    fn record(store: &Path, hash: &str) -> PathBuf {
        store.join("projects").join(format!("{hash}.json"))
    }

    /// Takes down that a snapshot was taken.
    pub(super) fn touch(&self, store: &Path, now: f64) -> Result<(), CheckpointError> {
        let path = Self::record(store, &self.hash);
        let known: Option<Record> = fs::read(&path)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let record = Record {
            workdir: self.workdir.clone(),
            created_at: known.map_or(now, |known| known.created_at),
            last_touch: now,
        };
        let failed = |source| CheckpointError::Io {
            path: path.clone(),
            source,
        };
        let text = serde_json::to_vec(&record).map_err(|error| failed(error.into()))?;
        fs::write(&path, text).map_err(failed)
    }

    /// All directories of the store.
    pub(super) fn all(store: &Path) -> Vec<(Self, Record)> {
        let Ok(entries) = fs::read_dir(store.join("projects")) else {
            return Vec::new();
        };
        let mut projects: Vec<(Self, Record)> = entries
            .flatten()
            .filter_map(|entry| {
                let path = entry.path();
                let hash = path.file_stem()?.to_str()?.to_owned();
                let record: Record = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
                let workdir = record.workdir.clone();
                Some((Self { workdir, hash }, record))
            })
            .collect();
        projects.sort_by(|a, b| a.0.workdir.cmp(&b.0.workdir));
        projects
    }

    /// Forgets the directory's files in the store.
    pub(super) fn forget(&self, store: &Path) {
        // What is not there needs no removing.
        let _ = fs::remove_file(store.join("indexes").join(&self.hash));
        let _ = fs::remove_file(Self::record(store, &self.hash));
    }
}
