//! The Tirith scanner, when it is installed: a second pair of eyes on commands.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hermes_core::ToolContext;
use hermes_policy::Finding;
use hermes_policy::tirith::{Breaker, Ended, Failing, left_alone, read_check};
use hermes_program::{Limits, ProgramError};
use tokio::process::Command;

/// Bytes of a report on a command.
const LARGEST_REPORT: usize = 1024 * 1024;

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
        let mut scanner = Command::new(&self.program);
        scanner
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
            .envs(self.environment.iter().cloned());
        let limits = Limits {
            time: self.limit,
            printed: LARGEST_REPORT,
            complaint: 0,
        };
        let ended = match hermes_program::run(scanner, &[], limits).await {
            Ok(output) => {
                use std::os::unix::process::ExitStatusExt as _;
                let ended = match (output.status.code(), output.status.signal()) {
                    (Some(code), _) => Ended::Code(code),
                    (None, signal) => Ended::Signal(signal.unwrap_or_default()),
                };
                return (ended, String::from_utf8_lossy(&output.printed).into_owned());
            }
            Err(ProgramError::TooSlow(_)) => Ended::TimedOut,
            // The command may be made so that there is this much to say of it.
            Err(ProgramError::TooMuch(_)) => {
                Ended::NotTaken("there is too much to report".to_owned())
            }
            Err(ProgramError::NotStarted(error)) => not_started(&error),
            Err(ProgramError::Lost(error)) => Ended::NotStarted(error.to_string()),
        };
        (ended, String::new())
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
