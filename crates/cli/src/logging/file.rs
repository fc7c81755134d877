//! A log file that is begun anew when it has grown too large. Several processes may write to it.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

const PRIVATE_FILE: u32 = 0o600;
const PRIVATE_DIRECTORY: u32 = 0o700;
const LOCK: &str = ".rotate.lock";

/// One log file and its predecessors `NAME.1`, `NAME.2` and so on.
#[derive(Debug)]
pub(super) struct LogFile {
    path: PathBuf,
    largest: u64,
    kept: u32,
    opened: Option<File>,
}

impl LogFile {
    /// Opens nothing yet.
    pub(super) fn new(path: PathBuf, largest: u64, kept: u32) -> Self {
        Self {
            path,
            largest,
            kept,
            opened: None,
        }
    }

    /// Appends a whole record with one write, so that records of several processes do not mix.
    pub(super) fn append(&mut self, record: &[u8]) -> io::Result<()> {
        let length = self.current()?.metadata()?.len();
        if length > 0 && length + record.len() as u64 > self.largest {
            self.rotate()?;
            self.opened = None;
        }
        let mut file = self.current()?;
        file.write_all(record)
    }

    /// The file under our path; another process may have moved the one we had open.
    fn current(&mut self) -> io::Result<&File> {
        let is_current = match (&self.opened, fs::metadata(&self.path)) {
            (Some(file), Ok(found)) => {
                let own = file.metadata()?;
                (own.dev(), own.ino()) == (found.dev(), found.ino())
            }
            _ => false,
        };
        if !is_current {
            self.opened = Some(open(&self.path)?);
        }
        self.opened
            .as_ref()
            .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    /// Moves each file to the next number. When another process is at it, this one goes on writing to
    /// the file it has; a record in a file that was just moved is not lost.
    fn rotate(&self) -> io::Result<()> {
        let lock = self.path.with_file_name(LOCK);
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(PRIVATE_FILE)
            .open(lock)?;
        if lock.try_lock().is_err() {
            return Ok(());
        }
        // It may have been done between our look at the size and the lock, and nobody may have written since.
        match fs::metadata(&self.path) {
            Ok(found) if found.len() >= self.largest / 2 => {}
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        }
        if self.kept == 0 {
            return fs::remove_file(&self.path);
        }
        for number in (1..self.kept).rev() {
            let moved = fs::rename(self.numbered(number), self.numbered(number + 1));
            if let Err(error) = moved
                && error.kind() != io::ErrorKind::NotFound
            {
                return Err(error);
            }
        }
        fs::rename(&self.path, self.numbered(1))
    }

    fn numbered(&self, number: u32) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(format!(".{number}"));
        PathBuf::from(name)
    }
}

fn open(path: &Path) -> io::Result<File> {
    let opening = || {
        OpenOptions::new()
            .append(true)
            .create(true)
            .mode(PRIVATE_FILE)
            .open(path)
    };
    let file = match (opening(), path.parent()) {
        (Err(error), Some(folder)) if error.kind() == io::ErrorKind::NotFound => {
            DirBuilder::new()
                .recursive(true)
                .mode(PRIVATE_DIRECTORY)
                .create(folder)?;
            opening()?
        }
        (opened, _) => opened?,
    };
    // A log that another program made may be open to everybody.
    if file.metadata()?.mode() & 0o077 != 0 {
        file.set_permissions(fs::Permissions::from_mode(PRIVATE_FILE))?;
    }
    Ok(file)
}
