//! The Tirith scanner, when it is installed: a second pair of eyes on commands.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hermes_core::ToolContext;
use hermes_policy::Finding;
use hermes_policy::tirith::{Breaker, Ended, Failing, left_alone, read_check};
use tokio::process::Command;

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

    /// What it finds in a command. A scanner that keeps crashing is left alone for the rest of the run, and the
    /// user is told.
    pub(super) async fn check(&self, command: &str, context: &ToolContext) -> Vec<Finding> {
        if self.breaker().is_open() {
            return left_alone(self.failing, command);
        }
        let (ended, output) = tokio::select! {
            biased;
            () = context.cancel.cancelled() => return Vec::new(),
            ran = self.run(command) => ran,
        };
        let given_up = {
            let mut breaker = self.breaker();
            let before = breaker.is_open();
            *breaker = breaker.after(&ended);
            breaker.is_open() && !before
        };
        if given_up {
            let text = given_up_on(self.failing);
            context.host.tell(context, text.to_owned()).await;
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
            Err(error) => return (not_started(&error), String::new()),
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

/// Why it did not start: the command may be at fault, which its author could arrange.
fn not_started(error: &std::io::Error) -> Ended {
    match error.kind() {
        ErrorKind::ArgumentListTooLong => Ended::NotTaken("it is too long".to_owned()),
        ErrorKind::InvalidInput => Ended::NotTaken(error.to_string()),
        _ => Ended::NotStarted(error.to_string()),
    }
}

fn given_up_on(failing: Failing) -> &'static str {
    match failing {
        Failing::Open => {
            "The command scanner (Tirith) failed several times in a row and is not asked any more: commands are \
             judged without it until Hermes is started again. `security.tirith_path` says which program it is."
        }
        Failing::Closed => {
            "The command scanner (Tirith) failed several times in a row and is not asked any more: every command \
             counts as suspicious until Hermes is started again. `security.tirith_path` says which program it is."
        }
    }
}
