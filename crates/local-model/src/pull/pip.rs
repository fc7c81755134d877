//! Running the machine's pip.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use tokio_util::sync::CancellationToken;

use super::PullError;
use super::child::{self, Ended};

/// The ways to start pip, the likeliest first.
const WAYS: [&[&str]; 4] = [
    &["python3", "-m", "pip"],
    &["pip3"],
    &["pip"],
    &["python", "-m", "pip"],
];

/// No dependencies, nothing built, nothing asked, no copy in pip's own cache.
const OPTIONS: [&str; 12] = [
    "download",
    "--no-deps",
    "--only-binary=:all:",
    "--no-cache-dir",
    "--no-input",
    "--disable-pip-version-check",
    "--progress-bar=off",
    "--no-color",
    "--retries=2",
    "--timeout=20",
    // Says where each package lies.
    "-vv",
    "--dest",
];

/// How the folders begin that pip works in.
pub(super) const UNFINISHED: &str = "pip-";

const NETWORK_SIGNS: [&str; 8] = [
    "NewConnectionError",
    "ConnectTimeoutError",
    "ReadTimeoutError",
    "Connection broken",
    "Connection aborted",
    "Failed to establish a new connection",
    "name resolution",
    "ProxyError",
];

/// Downloads a package into a folder, telling how many bytes have come and, once it is known, where from.
pub(super) fn download(
    package: &str,
    folder: &Path,
    environment: &[(OsString, OsString)],
    mut report: impl FnMut(u64),
    found: impl FnMut(&str) + Send + 'static,
    cancel: &CancellationToken,
) -> Result<(), PullError> {
    // pip collects the package in a temporary folder first: here its size can be watched, and what a killed
    // pip leaves can be found.
    let unfinished = tempfile::Builder::new()
        .prefix(UNFINISHED)
        .disable_cleanup(true)
        .tempdir_in(folder)
        .map_err(|error| PullError::file(folder, error))?;
    let found = Arc::new(Mutex::new(found));
    for way in WAYS {
        let Some((program, first)) = way.split_first() else {
            continue;
        };
        let mut command = Command::new(program);
        command
            .args(first)
            .args(OPTIONS)
            .arg(folder)
            .arg(package)
            .env_clear()
            .envs(environment.iter().cloned())
            .env("TMPDIR", unfinished.path());
        let found = Arc::clone(&found);
        let heard = move |line: &str| {
            if let Ok(mut found) = found.lock() {
                found(line);
            }
        };
        let report = || report(bytes_in(unfinished.path()));
        let Some(ended) = child::watch(&mut command, heard, report, cancel)? else {
            continue;
        };
        match explain(&ended, folder) {
            Outcome::Fetched => return Ok(()),
            Outcome::NoPip => {}
            Outcome::Failed(error) => return Err(error),
        }
    }
    Err(PullError::NoPip)
}

enum Outcome {
    Fetched,
    NoPip,
    Failed(PullError),
}

fn explain(ended: &Ended, folder: &Path) -> Outcome {
    let Ended { status, complaint } = ended;
    let says = |sign: &str| complaint.contains(sign);
    let last = complaint.lines().rev().find(|line| !line.trim().is_empty());
    if status.success() {
        Outcome::Fetched
    } else if says("No module named pip") {
        Outcome::NoPip
    } else if says("No space left on device") {
        Outcome::Failed(PullError::DiskFull(folder.to_owned()))
    } else if NETWORK_SIGNS.iter().any(|sign| says(sign)) {
        Outcome::Failed(PullError::NoNetwork)
    } else {
        let last = last.map_or_else(|| status.to_string(), |line| line.trim().to_owned());
        Outcome::Failed(PullError::Pip(last))
    }
}

/// Bytes of all files below a folder. Files come and go meanwhile; those do not count.
fn bytes_in(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else {
        return 0;
    };
    let sizes = entries.flatten().map(|entry| match entry.metadata() {
        Ok(found) if found.is_dir() => bytes_in(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    });
    sizes.sum()
}
