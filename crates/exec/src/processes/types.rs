//! What the registry is told and tells.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hermes_core::{Clock, Random};
use hermes_secrets::RedactorHandle;
use hermes_store::Store;

use crate::guidance::Masking;
use crate::{Backend, ExecError, Launch};

/// What the registry needs.
pub struct ProcessesOptions {
    /// Where processes and events are rows.
    pub store: Store,
    /// Masks secrets in what is told of their output.
    pub redactor: RedactorHandle,
    /// How much of it is masked.
    pub masking: Masking,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Makes names.
    pub random: Arc<dyn Random>,
    /// The folder for their output.
    pub logs: PathBuf,
    /// How long a process that is to end may take before it is killed; nothing means that it is not.
    pub grace: Duration,
}

/// What is started.
pub struct StartProcess {
    /// The conversation it belongs to.
    pub session: String,
    /// The command as it was asked for.
    pub command: String,
    /// Where it starts, as shown.
    pub directory: PathBuf,
    /// Where it runs.
    pub backend: Arc<dyn Backend>,
    /// How it is started; its id is replaced.
    pub launch: Launch,
    /// Whether its end is told.
    pub notify_on_complete: bool,
    /// Lines with one of these are told.
    pub watch_patterns: Vec<String>,
}

/// What was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartedProcess {
    /// Its name.
    pub id: String,
    /// Its process id, where it runs.
    pub pid: Option<u32>,
    /// A process of the same command in the same directory that runs already.
    pub equal_running: Option<String>,
}

/// A process, as it is now.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessInfo {
    /// Its name.
    pub id: String,
    /// The conversation it belongs to.
    pub session: String,
    /// The command.
    pub command: String,
    /// Where it started.
    pub directory: PathBuf,
    /// Its process id, where it runs.
    pub pid: Option<u32>,
    /// Seconds since 1970.
    pub started_at: f64,
    /// How long it has run or ran.
    pub uptime: Duration,
    /// Whether it runs.
    pub state: ProcessState,
    /// Whether its end is told.
    pub notify_on_complete: bool,
    /// What is looked for in its output.
    pub watch_patterns: Vec<String>,
    /// Whether something of that was found.
    pub watch_hit: bool,
    /// Whether an earlier program started it: it can be ended, not followed.
    pub detached: bool,
    /// The end of its output.
    pub output: String,
}

/// Whether a process runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessState {
    /// It does.
    Running,
    /// It does not.
    Exited {
        /// Its code; negative for a signal. Unknown when nobody was there to see it.
        exit_code: Option<i32>,
        /// Why.
        reason: EndReason,
    },
}

/// Why a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    /// By itself.
    Exited,
    /// It was ended through us.
    Killed,
    /// It went while nobody was looking.
    Lost,
}

impl EndReason {
    /// The word rows and results use.
    pub fn word(self) -> &'static str {
        match self {
            Self::Exited => "exited",
            Self::Killed => "killed",
            Self::Lost => "lost",
        }
    }

    /// Who ended it, in the word results use.
    pub fn source(self) -> &'static str {
        match self {
            Self::Exited => "process",
            Self::Killed => "hermes",
            Self::Lost => "unknown",
        }
    }
}

/// A page of output.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessLog {
    /// The process.
    pub info: ProcessInfo,
    /// The lines.
    pub text: String,
    /// How many lines there are.
    pub total_lines: usize,
    /// The number of the first line shown, from 0.
    pub first_line: usize,
    /// How many are shown.
    pub line_count: usize,
    /// Whether older output is gone.
    pub beginning_lost: bool,
}

/// How waiting ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Waited {
    /// The process has ended.
    Exited(ProcessInfo),
    /// It still runs.
    TimedOut(ProcessInfo),
    /// Somebody stopped the waiting.
    Interrupted(ProcessInfo),
}

/// What came of ending a process.
#[derive(Debug, Clone, PartialEq)]
pub enum Killed {
    /// It is gone now.
    Killed(ProcessInfo),
    /// It had ended.
    AlreadyExited(ProcessInfo),
    /// It does not react to anything.
    Survived(ProcessInfo),
}

/// Why nothing could be done with a process.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// There is none of this name.
    #[error("there is no process {0}")]
    NotFound(String),
    /// Too many run.
    #[error("{0} processes run in the background already; end one first")]
    TooMany(usize),
    /// It takes no input.
    #[error("the process takes no input: {0}")]
    NoInput(&'static str),
    /// Somebody else typed since it was looked at.
    #[error("something else was typed into the process meanwhile; read its output and try again")]
    TypedMeanwhile,
    /// It could not be started or reached.
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// It could not be remembered.
    #[error(transparent)]
    Store(#[from] hermes_store::StoreError),
}
