//! The Tirith scanner, when it is installed: a second pair of eyes on commands.

use std::ffi::OsString;
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hermes_policy::Finding;
use hermes_policy::tirith::{Breaker, Ended, Failing, read_check};
use tokio::process::Command;
use tokio_util::sync::CancellationToken;

/// Runs the scanner.
pub struct Tirith {
    program: OsString,
    environment: Vec<(String, String)>,
    limit: Duration,
    failing: Failing,
    breaker: Mutex<Breaker>,
}

impl Tirith {
    /// The scanner at `program`, with this environment and this much time.
    pub fn new(
        program: OsString,
        environment: Vec<(String, String)>,
        limit: Duration,
        failing: Failing,
    ) -> Self {
        Self {
            program,
            environment,
            limit,
            failing,
            breaker: Mutex::default(),
        }
    }

    /// What it finds in a command. A scanner that keeps crashing is left alone for the rest of the run.
    pub(super) async fn check(&self, command: &str, cancel: &CancellationToken) -> Vec<Finding> {
        if self.breaker().is_open() {
            return Vec::new();
        }
        let (ended, output) = tokio::select! {
            biased;
            () = cancel.cancelled() => return Vec::new(),
            ran = self.run(command) => ran,
        };
        {
            let mut breaker = self.breaker();
            *breaker = breaker.after(&ended);
        }
        let reading = read_check(&ended, &output, self.failing, command);
        if let Some(failure) = &reading.failure {
            tracing::warn!(failure, "the command scanner gave no answer");
        }
        reading.findings
    }

    async fn run(&self, command: &str) -> (Ended, String) {
        let started = Command::new(&self.program)
            .args([
                "check",
                "--json",
                "--non-interactive",
                "--shell",
                "posix",
                "--",
            ])
            .arg(command)
            .env_clear()
            .envs(self.environment.iter().cloned())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn();
        let child = match started {
            Ok(child) => child,
            Err(error) => return (Ended::NotStarted(error.to_string()), String::new()),
        };
        match tokio::time::timeout(self.limit, child.wait_with_output()).await {
            Err(_) => (Ended::TimedOut, String::new()),
            Ok(Err(error)) => (Ended::NotStarted(error.to_string()), String::new()),
            Ok(Ok(output)) => {
                use std::os::unix::process::ExitStatusExt as _;
                let ended = match (output.status.code(), output.status.signal()) {
                    (Some(code), _) => Ended::Code(code),
                    (None, signal) => Ended::Signal(signal.unwrap_or_default()),
                };
                (ended, String::from_utf8_lossy(&output.stdout).into_owned())
            }
        }
    }

    fn breaker(&self) -> std::sync::MutexGuard<'_, Breaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
