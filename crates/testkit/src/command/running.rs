//! A program under way: its lines, its signals, its end.

use std::io::Write as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

use super::capture::{Capture, Line};
use super::exit::{self, ExitNotice};
use super::{HermeticCommand, Output};

const SAMPLE_INTERVAL: Duration = Duration::from_millis(1);
/// How long a killed process may take to disappear.
const KILL_LIMIT: Duration = Duration::from_secs(5);

/// A child in a process group of its own; dropping it kills the group.
///
/// A group that outlives its leader after a normal end is left alone, so that a test can find it.
#[derive(Debug)]
pub struct Running {
    name: String,
    pid: Pid,
    started_at: Instant,
    stdout: Capture,
    stderr: Capture,
    exit: ExitNotice,
    reaped: bool,
}

impl Running {
    pub(super) fn start(command: &HermeticCommand) -> anyhow::Result<Self> {
        let name = command.program.display().to_string();
        let started_at = Instant::now();
        let stdin = if command.input.is_empty() {
            Stdio::null()
        } else {
            Stdio::piped()
        };
        let mut child = Command::new(&command.program)
            .args(&command.arguments)
            .env_clear()
            .envs(&command.environment)
            .current_dir(&command.directory)
            .process_group(0)
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("could not start {name}"))?;
        let pid = Pid::from_raw(i32::try_from(child.id())?);
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            bail!("{name} started without pipes");
        };
        if let Some(mut stdin) = child.stdin.take() {
            let input = command.input.clone();
            // A child that ends without reading its input is not an error of the test.
            thread::spawn(move || drop(stdin.write_all(&input)));
        }
        Ok(Self {
            name,
            pid,
            started_at,
            stdout: Capture::of(stdout),
            stderr: Capture::of(stderr),
            exit: ExitNotice::watch(pid),
            reaped: false,
        })
    }

    /// Process id, which is also the process group.
    pub fn pid(&self) -> i32 {
        self.pid.as_raw()
    }

    /// Waits for the next line on standard output; `None` once it is closed.
    pub fn next_line(&self, timeout: Duration) -> anyhow::Result<Option<String>> {
        match self.stdout.next_line(Instant::now() + timeout) {
            Line::Text(text) => Ok(Some(text)),
            Line::Closed => Ok(None),
            Line::TimedOut => bail!(
                "{} printed no line within {timeout:?}\n{}",
                self.name,
                self.printed()
            ),
        }
    }

    /// Sends a signal to the process, not to its group.
    pub fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        kill(self.pid, signal).with_context(|| format!("could not send {signal} to {}", self.name))
    }

    /// Waits for the end; past `timeout` the group is killed and that is an error.
    pub fn wait(mut self, timeout: Duration) -> anyhow::Result<Output> {
        let deadline = Instant::now() + timeout;
        let mut sampled_kib = 0;
        let ended_at = loop {
            if let Some(ended_at) = self.exit.wait(SAMPLE_INTERVAL) {
                break ended_at;
            }
            sampled_kib = exit::peak_kib(&self.pid.to_string()).unwrap_or(sampled_kib);
            if Instant::now() >= deadline {
                self.kill_group()?;
                bail!(
                    "{} was not done within {timeout:?}\n{}",
                    self.name,
                    self.printed()
                );
            }
        };
        // A descendant may hold the pipes open after the process itself has ended.
        let closed = self.stdout.wait_closed(deadline) && self.stderr.wait_closed(deadline);
        if !closed {
            self.kill_group()?;
            bail!(
                "{} ended but a descendant kept its output open for {timeout:?}\n{}",
                self.name,
                self.printed()
            );
        }
        ensure!(
            !self.stdout.overflowed() && !self.stderr.overflowed(),
            "{} printed without bound",
            self.name
        );
        let reaped =
            exit::reap(self.pid).with_context(|| format!("could not reap {}", self.name))?;
        self.reaped = true;
        let own_peak_kib = exit::peak_kib("self").unwrap_or(0);
        let exact = reaped.peak_kib > own_peak_kib || sampled_kib == 0;
        Ok(Output {
            stdout: self.stdout.text(),
            stderr: self.stderr.text(),
            code: reaped.status.code(),
            signal: reaped.status.signal(),
            wall: ended_at - self.started_at,
            max_rss_kib: if exact { reaped.peak_kib } else { sampled_kib },
            cpu: reaped.cpu,
        })
    }

    /// Kills the whole process group and waits for the leader to be gone.
    pub fn kill(mut self) -> anyhow::Result<()> {
        self.kill_group()
    }

    fn kill_group(&mut self) -> anyhow::Result<()> {
        if self.reaped {
            return Ok(());
        }
        match killpg(self.pid, Signal::SIGKILL) {
            Ok(()) | Err(Errno::ESRCH) => {}
            Err(error) => {
                return Err(error).with_context(|| format!("could not kill {}", self.name));
            }
        }
        ensure!(
            self.exit.wait(KILL_LIMIT).is_some(),
            "{} survived SIGKILL for {KILL_LIMIT:?}",
            self.name
        );
        exit::reap(self.pid).with_context(|| format!("could not reap {}", self.name))?;
        self.reaped = true;
        Ok(())
    }

    fn printed(&self) -> String {
        format!(
            "--- stdout\n{}\n--- stderr\n{}",
            self.stdout.text(),
            self.stderr.text()
        )
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Nobody is left to tell; the test has its result already.
        let _ = self.kill_group();
    }
}
