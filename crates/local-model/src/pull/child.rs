//! A program that is run for a pull, and ends with it.

use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{JoinHandle, sleep};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio_util::sync::CancellationToken;

use super::{POLL, PullError};

/// The most of a program's complaints that is kept.
const COMPLAINT_BYTES: u64 = 64 * 1024;
/// Longer lines are looked at in pieces.
const LINE_BYTES: u64 = 64 * 1024;

/// How a program ended.
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    /// What it wrote to standard error.
    pub(super) complaint: String,
}

/// Kills the program with everything it started when the pull ends early.
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

/// Runs a program to its end. `heard` gets the lines it prints, `report` is called again and again. `None` when
/// there is no such program.
pub(super) fn watch(
    command: &mut Command,
    heard: impl FnMut(&str) + Send + 'static,
    mut report: impl FnMut(),
    cancel: &CancellationToken,
) -> Result<Option<Ended>, PullError> {
    let spawned = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn();
    let mut running = match spawned {
        Ok(child) => Running(child),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(PullError::Pip(error.to_string())),
    };
    let lines = running.0.stdout.take().map(|out| listen(out, heard));
    let complaint = running.0.stderr.take().map(collect);
    let status = loop {
        if cancel.is_cancelled() {
            return Err(PullError::Cancelled);
        }
        match running.0.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) => {
                report();
                sleep(POLL);
            }
            Err(error) => return Err(PullError::Pip(error.to_string())),
        }
    };
    if let Some(lines) = lines {
        // One that panicked heard nothing more; what it heard before counts.
        let _: Result<(), _> = lines.join();
    }
    let complaint = complaint.and_then(|reader| reader.join().ok());
    Ok(Some(Ended {
        status,
        complaint: complaint.unwrap_or_default(),
    }))
}

fn listen(
    output: impl Read + Send + 'static,
    mut heard: impl FnMut(&str) + Send + 'static,
) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut output = BufReader::new(output);
        let mut line = Vec::new();
        while let Ok(1..) = output
            .by_ref()
            .take(LINE_BYTES)
            .read_until(b'\n', &mut line)
        {
            heard(&String::from_utf8_lossy(&line));
            line.clear();
        }
    })
}

fn collect(errors: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut text = Vec::new();
        let mut errors = errors;
        // What comes before a failure to read is still worth showing; the rest only keeps the program going.
        let _: Result<usize, _> = errors.by_ref().take(COMPLAINT_BYTES).read_to_end(&mut text);
        let _: Result<u64, _> = std::io::copy(&mut errors, &mut std::io::sink());
        String::from_utf8_lossy(&text).into_owned()
    })
}
