//! Running the machine's pip.

use std::ffi::OsString;
use std::fs;
use std::io::{ErrorKind, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{JoinHandle, sleep};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio_util::sync::CancellationToken;

use super::{POLL, PullError};

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
    "--quiet",
    "--dest",
];

/// The most of pip's complaints that is kept.
const COMPLAINT_BYTES: u64 = 64 * 1024;

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

/// Kills pip with everything it started when the pull ends early.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        if let (Ok(None), Ok(group)) = (self.0.try_wait(), i32::try_from(self.0.id())) {
            // It may end by itself in between; then there is nothing to kill.
            let _: Result<(), _> = killpg(Pid::from_raw(group), Signal::SIGKILL);
            let _: Result<ExitStatus, _> = self.0.wait();
        }
    }
}

/// Downloads a package into a folder, telling how many bytes have come.
pub(super) fn download(
    package: &str,
    folder: &Path,
    environment: &[(OsString, OsString)],
    mut report: impl FnMut(u64),
    cancel: &CancellationToken,
) -> Result<(), PullError> {
    let failed = |error| PullError::file(folder, error);
    // pip collects the package in a temporary folder first: here its size can be watched, and whatever
    // a killed pip leaves goes away.
    let unfinished = tempfile::Builder::new()
        .prefix("pip-")
        .tempdir_in(folder)
        .map_err(failed)?;
    for way in WAYS {
        let Some((program, first)) = way.split_first() else {
            continue;
        };
        let spawned = Command::new(program)
            .args(first)
            .args(OPTIONS)
            .arg(folder)
            .arg(package)
            .env_clear()
            .envs(environment.iter().cloned())
            .env("TMPDIR", unfinished.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn();
        let mut running = match spawned {
            Ok(child) => Running(child),
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(PullError::Pip(error.to_string())),
        };
        let complaint = running.0.stderr.take().map(collect);
        let status = loop {
            if cancel.is_cancelled() {
                return Err(PullError::Cancelled);
            }
            match running.0.try_wait().map_err(failed)? {
                Some(status) => break status,
                None => {
                    report(bytes_in(unfinished.path()));
                    sleep(POLL);
                }
            }
        };
        let complaint = complaint.and_then(|reader| reader.join().ok());
        match explain(status, &complaint.unwrap_or_default(), folder) {
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

fn explain(status: ExitStatus, complaint: &str, folder: &Path) -> Outcome {
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

fn collect(errors: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut text = Vec::new();
        let mut errors = errors;
        // What comes before a failure to read is still worth showing; the rest only keeps pip going.
        let _: Result<usize, _> = errors.by_ref().take(COMPLAINT_BYTES).read_to_end(&mut text);
        let _: Result<u64, _> = std::io::copy(&mut errors, &mut std::io::sink());
        String::from_utf8_lossy(&text).into_owned()
    })
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
