//! Reading files of this machine.

use std::fs::{self, File, Metadata};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::SystemTime;

use super::FileFault;

/// The largest file that is edited.
pub(crate) const LARGEST: u64 = 256 << 20;

/// Tells one state of a file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    modified: Option<SystemTime>,
    size: u64,
    inode: u64,
}

impl Stamp {
    pub(super) fn new(facts: &Metadata) -> Self {
        Self {
            modified: facts.modified().ok(),
            size: facts.len(),
            inode: facts.ino(),
        }
    }

    /// How many bytes it had.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }
}

/// A file's content and the state it was in.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) bytes: Vec<u8>,
    pub(crate) stamp: Stamp,
}

/// The state of a plain file.
pub(crate) fn stamp(path: &Path) -> Result<Stamp, FileFault> {
    Ok(Stamp::new(&plain(path)?))
}

/// The facts of a file, if it is a plain one. Devices and pipes may never end, or wait for ever.
pub(super) fn plain(path: &Path) -> Result<Metadata, FileFault> {
    let facts = fs::metadata(path).map_err(|error| FileFault::new(path, error))?;
    if facts.is_dir() {
        return Err(FileFault::Directory(path.to_owned()));
    }
    if !facts.is_file() {
        return Err(FileFault::NotPlain(path.to_owned()));
    }
    Ok(facts)
}

/// A whole file.
pub(crate) fn load(path: &Path) -> Result<Loaded, FileFault> {
    let failed = |error| FileFault::new(path, error);
    let too_large = || FileFault::TooLarge {
        path: path.to_owned(),
        limit: LARGEST,
    };
    let facts = plain(path)?;
    if facts.len() > LARGEST {
        return Err(too_large());
    }
    let file = File::open(path).map_err(failed)?;
    let mut bytes = Vec::with_capacity(usize::try_from(facts.len()).unwrap_or(0) + 1);
    file.take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > LARGEST {
        return Err(too_large());
    }
    Ok(Loaded {
        bytes,
        stamp: Stamp::new(&facts),
    })
}

/// Whether a file holds exactly these bytes.
pub(crate) fn holds(path: &Path, bytes: &[u8]) -> Result<bool, FileFault> {
    const STEP: usize = 256 << 10;
    let failed = |error| FileFault::new(path, error);
    let mut file = File::open(path).map_err(failed)?;
    let mut buffer = vec![0; STEP];
    let mut rest = bytes;
    loop {
        let count = file.read(&mut buffer).map_err(failed)?;
        if count == 0 {
            return Ok(rest.is_empty());
        }
        match rest.split_at_checked(count) {
            Some((part, after)) if buffer.get(..count) == Some(part) => rest = after,
            _ => return Ok(false),
        }
    }
}
