//! `auth.json` on disk: private, replaced whole, changed under a lock.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_config::{FileError, FileLock, create_directory, lock_file, read_file, replace_file};

use super::document::{AuthDocument, Damage};

/// How long a change waits for another one, which may be renewing a token over the network.
const PATIENCE: Duration = Duration::from_secs(15);
const PRIVATE: u32 = 0o600;

/// Where the credentials of a profile are kept: its own file, and behind it the file of the root
/// home, which is read for providers the profile has nothing for.
///
/// Nothing is ever added to or removed from the root's file. Only a token that was lent from it and
/// had to be renewed is replaced there: the old one is void, and a copy elsewhere would leave the
/// root with a dead login.
#[derive(Debug, Clone)]
pub struct AuthFile {
    own: PathBuf,
    root: Option<PathBuf>,
}

/// Which of the two files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Home {
    Own,
    Root,
}

/// Why credentials could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthFileError {
    /// The file system said no.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is not what it should be; it is left as it is.
    #[error("{} is damaged: {damage}; it was left as it is, mend it or move it away", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        damage: Damage,
    },
    /// Somebody else has been changing the file for too long.
    #[error("{} is being changed by another program, which does not finish", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
}

impl AuthFile {
    /// The file of a profile and, unless it is the same, the one of the root home.
    pub fn new(own: PathBuf, root: Option<PathBuf>) -> Self {
        let root = root.filter(|root| *root != own);
        Self { own, root }
    }

    /// The profile's own file.
    pub fn path(&self) -> &Path {
        &self.own
    }

    /// The file that all profiles have in common.
    pub(super) fn shared_path(&self) -> &Path {
        self.root.as_deref().unwrap_or(&self.own)
    }

    /// What the profile's own file says; an absent file is an empty one.
    pub fn read(&self) -> Result<AuthDocument, AuthFileError> {
        read(&self.own)
    }

    /// Reads the profile's own file, lets `change` change it, and replaces it if it did, all under the
    /// lock. Waits for the lock: call it where waiting is allowed.
    pub fn change<T>(
        &self,
        change: impl FnOnce(&mut AuthDocument) -> T,
    ) -> Result<T, AuthFileError> {
        let mut open = self.open(Home::Own)?;
        let before = open.document.clone();
        let result = change(&mut open.document);
        if open.document != before {
            open.save()?;
        }
        Ok(result)
    }

    /// Both files as they are now.
    pub(super) fn read_both(&self) -> Result<Both, AuthFileError> {
        Ok(Both {
            own: read(&self.own)?,
            root: self
                .root
                .as_deref()
                .map_or_else(|| Ok(AuthDocument::default()), read)?,
        })
    }

    /// Takes the lock of a file and reads it. Blocks.
    pub(super) fn open(&self, home: Home) -> Result<OpenAuthFile, AuthFileError> {
        let path = match (home, &self.root) {
            (Home::Root, Some(root)) => root,
            (Home::Root, None) | (Home::Own, _) => &self.own,
        };
        let lock = lock(path)?;
        Ok(OpenAuthFile {
            document: read(path)?,
            path: path.clone(),
            _lock: lock,
        })
    }
}

/// What both files say.
pub(super) struct Both {
    pub(super) own: AuthDocument,
    pub(super) root: AuthDocument,
}

/// A file under its lock, which is given back on drop.
pub(super) struct OpenAuthFile {
    pub(super) document: AuthDocument,
    path: PathBuf,
    _lock: FileLock,
}

impl OpenAuthFile {
    /// Replaces the file.
    pub(super) fn save(&self) -> Result<(), AuthFileError> {
        // A replaced file keeps its mode, and somebody may have loosened it.
        if fs::metadata(&self.path)
            .is_ok_and(|found| found.permissions().mode() & 0o7777 != PRIVATE)
        {
            fs::set_permissions(&self.path, fs::Permissions::from_mode(PRIVATE))
                .map_err(|source| denied(&self.path, source))?;
        }
        Ok(replace_file(&self.path, &self.document.to_bytes())?)
    }
}

fn read(path: &Path) -> Result<AuthDocument, AuthFileError> {
    match read_file(path)? {
        None => Ok(AuthDocument::default()),
        Some(bytes) => AuthDocument::parse(&bytes).map_err(|damage| AuthFileError::Damaged {
            path: path.to_owned(),
            damage,
        }),
    }
}

fn lock(path: &Path) -> Result<FileLock, AuthFileError> {
    if let Some(directory) = path.parent() {
        create_directory(directory)?;
    }
    lock_file(&path.with_extension("lock"), PATIENCE)?.ok_or_else(|| AuthFileError::Busy {
        path: path.to_owned(),
    })
}

fn denied(path: &Path, source: io::Error) -> AuthFileError {
    FileError::Denied {
        path: path.to_owned(),
        source,
    }
    .into()
}
