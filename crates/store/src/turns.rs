//! One program at a time works in a conversation: a lock on a file, which ends with whoever holds it, however that
//! ends.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use hermes_core::SessionId;

use crate::store::Store;

/// Where the locks are, beside the database.
const FOLDER: &str = "cache/turns";
/// A holder that gives its lock back takes the file away; this often in a row nobody does so by chance.
const MOST_TRIES: usize = 100;
/// Digits of a number of a process.
const MOST_DIGITS: u64 = 10;

/// The right to work in one conversation. Dropping it gives it back.
#[derive(Debug)]
pub struct OwnTurn {
    /// `None` where files cannot be locked, as on some network mounts: there two programs can get in each other's way.
    lock: Option<(PathBuf, File)>,
}

/// Whose turn it is.
#[derive(Debug)]
pub enum TurnTaken {
    /// Ours.
    Ours(OwnTurn),
    /// Somebody else works in the conversation.
    Theirs {
        /// The number of the process, when it could be read.
        process: Option<u32>,
    },
}

impl Store {
    /// Takes the turn in a conversation, unless somebody has it. Does not wait.
    pub fn take_turn(&self, session: &SessionId) -> TurnTaken {
        let folder = self.path().parent().unwrap_or(Path::new(""));
        let path = folder.join(FOLDER).join(format!("{session}.lock"));
        match take(&path) {
            Ok(taken) => taken,
            // Whoever cannot lock works all the same: two at once are the lesser evil.
            Err(_) => TurnTaken::Ours(OwnTurn { lock: None }),
        }
    }
}

fn take(path: &Path) -> io::Result<TurnTaken> {
    if let Some(folder) = path.parent() {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true).mode(0o700).create(folder)?;
    }
    for _ in 0..MOST_TRIES {
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut digits = String::new();
                file.take(MOST_DIGITS).read_to_string(&mut digits)?;
                let process = digits.trim().parse().ok();
                return Ok(TurnTaken::Theirs { process });
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
        // Taken away between opening and locking: whoever opens that name next gets another file.
        if file.metadata()?.nlink() == 0 {
            continue;
        }
        file.set_len(0)?;
        write!(file, "{}", std::process::id())?;
        let lock = Some((path.to_owned(), file));
        return Ok(TurnTaken::Ours(OwnTurn { lock }));
    }
    Ok(TurnTaken::Theirs { process: None })
}

/// The file goes while it is still locked, so that only its holder ever takes it away.
impl Drop for OwnTurn {
    fn drop(&mut self) {
        if let Some((path, file)) = self.lock.take() {
            // One that is left lying about is taken the next time.
            drop(fs::remove_file(&path));
            drop(file);
        }
    }
}
