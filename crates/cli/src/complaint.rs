//! The one way a command ends badly: one line that says what failed on what, one that says what to do.

use std::io::{self, Write};
use std::process::ExitCode;

use hermes_config::Problem;
use hermes_core::{Failure, FailureKind, causes};
use hermes_exec::ExecError;
use hermes_memory::{MemoryError, ProviderError};
use hermes_secrets::{Redactor, Scope};
use hermes_store::StoreError;
use hermes_tools::{ApproveError, CheckpointError, FillError, StagingError};

use crate::output::{self, Output};

/// What a command returns.
pub(crate) type Outcome<T = ()> = Result<T, Complaint>;

/// Why a command ended, and with which exit code.
#[derive(Debug)]
pub(crate) enum Complaint {
    /// Something failed.
    Failed(Failure),
    /// The reader of our output went away: stop without a word.
    ReaderGone,
    /// Help, version or a parse error, already worded by the parser.
    Parser(clap::Error),
    /// Everything was said; only the code is left.
    Code(u8),
}

impl Complaint {
    pub(crate) fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self::Failed(Failure::new(kind, message))
    }

    /// An error of a part, with everything it has to say.
    pub(crate) fn caused(
        kind: FailureKind,
        error: impl std::error::Error + Send + Sync + 'static,
    ) -> Self {
        Self::Failed(Failure::new(kind, error.to_string()).because(error))
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(FailureKind::BadRequest, message)
    }

    /// What failed, in a sentence for somebody who says more.
    pub(crate) fn cause(&self) -> String {
        match self {
            Self::Failed(failure) => failure.to_string(),
            Self::ReaderGone | Self::Code(_) => "it ended early".to_owned(),
            Self::Parser(error) => error.to_string(),
        }
    }

    #[must_use]
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        match self {
            Self::Failed(failure) => Self::Failed(failure.hint(hint)),
            other => other,
        }
    }

    /// Says it and gives the exit code: 2 for a command line that makes no sense, 1 for the rest.
    /// Known secrets are masked, wherever in the error they may be.
    pub(crate) fn print(self, output: &mut Output, redactor: &Redactor) -> ExitCode {
        // What was printed so far comes first, even when the command failed later.
        let flushed = output.flush().map_err(Self::from);
        match (self, flushed) {
            (Self::ReaderGone, _) | (Self::Failed(_), Err(Self::ReaderGone)) => ExitCode::SUCCESS,
            (Self::Failed(failure), _) => say(&failure, redactor),
            (Self::Code(_), Err(Self::Failed(failure))) => say(&failure, redactor),
            (Self::Code(code), _) => ExitCode::from(code),
            (Self::Parser(error), _) => match print_parser(&error) {
                Err(Self::Failed(failure)) => say(&failure, redactor),
                _ => ExitCode::from(if error.use_stderr() { 2 } else { 0 }),
            },
        }
    }
}

fn say(failure: &Failure, redactor: &Redactor) -> ExitCode {
    let mut errors = io::stderr().lock();
    let mut line = |label: &str, text: &str| {
        let text = one_line(text);
        let text = redactor.redact_in(Scope::Code, &text);
        // Nobody is left to tell when stderr is gone too.
        drop(writeln!(errors, "{label}: {text}"));
    };
    line("error", &causes(failure));
    if let Some(hint) = &failure.hint {
        line("hint", hint);
    }
    ExitCode::from(if failure.kind == FailureKind::BadRequest {
        2
    } else {
        1
    })
}

fn one_line(text: &str) -> String {
    let line = text.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    // What a file or a user wrote must not steer the terminal.
    output::one_line(&line)
}

/// Help and version go to stdout, errors to stderr.
fn print_parser(error: &clap::Error) -> Outcome {
    error.print()?;
    Ok(io::stdout().flush()?)
}

impl From<io::Error> for Complaint {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::ReaderGone;
        }
        let kind = if error.kind() == io::ErrorKind::StorageFull {
            FailureKind::Exhausted
        } else {
            FailureKind::Unavailable
        };
        Self::Failed(Failure::new(kind, "the output could not be written").because(error))
    }
}

impl From<FillError> for Complaint {
    fn from(error: FillError) -> Self {
        match error {
            FillError::Store(error) => error.into(),
            model => match model.hint() {
                Some(hint) => Self::caused(FailureKind::BadInput, model).hint(hint),
                None => Self::caused(FailureKind::Cancelled, model),
            },
        }
    }
}

impl From<StoreError> for Complaint {
    fn from(error: StoreError) -> Self {
        let error = match error {
            StoreError::Output(error) => return error.into(),
            other => other,
        };
        let kind = match &error {
            StoreError::Damaged { .. } | StoreError::NotADatabase { .. } => FailureKind::Damaged,
            StoreError::DiskFull { .. } => FailureKind::Exhausted,
            StoreError::NoSuchSession { .. } => FailureKind::NotFound,
            StoreError::Busy { .. } => FailureKind::Unavailable,
            _ => FailureKind::BadInput,
        };
        let hint = error.hint();
        let complaint = Self::caused(kind, error);
        match hint {
            Some(hint) => complaint.hint(hint),
            None => complaint,
        }
    }
}

impl From<ExecError> for Complaint {
    fn from(error: ExecError) -> Self {
        Self::caused(FailureKind::Unavailable, error)
    }
}

impl From<CheckpointError> for Complaint {
    fn from(error: CheckpointError) -> Self {
        let (kind, hint) = match &error {
            CheckpointError::NoGit(_) => (FailureKind::Unavailable, Some("install git")),
            CheckpointError::Unknown(_) => (
                FailureKind::NotFound,
                Some("hermes checkpoints list shows them"),
            ),
            CheckpointError::Unfit { .. } => (
                FailureKind::BadInput,
                Some("change to the directory of the project"),
            ),
            CheckpointError::Outside(_) => (FailureKind::BadInput, None),
            CheckpointError::Git { .. }
            | CheckpointError::TimedOut(_)
            | CheckpointError::Cancelled
            | CheckpointError::Io { .. } => (FailureKind::Unavailable, None),
        };
        let complaint = Self::caused(kind, error);
        match hint {
            Some(hint) => complaint.hint(hint),
            None => complaint,
        }
    }
}

impl From<MemoryError> for Complaint {
    fn from(error: MemoryError) -> Self {
        let kind = match &error {
            MemoryError::Refused { .. }
            | MemoryError::Overtaken { .. }
            | MemoryError::Masked { .. } => FailureKind::Refused,
            MemoryError::Drifted { .. } => FailureKind::BadInput,
            MemoryError::Busy { .. }
            | MemoryError::Contested { .. }
            | MemoryError::File(_)
            | MemoryError::Write { .. }
            | MemoryError::Journal(_) => FailureKind::Unavailable,
            MemoryError::NoSuchChange { .. }
            | MemoryError::NothingToUndo
            | MemoryError::UndoneAlready { .. } => FailureKind::NotFound,
        };
        let hint = error.hint();
        Self::caused(kind, error).hint(hint)
    }
}

impl From<ProviderError> for Complaint {
    fn from(error: ProviderError) -> Self {
        let kind = match &error {
            ProviderError::Unknown { .. } | ProviderError::Arguments { .. } => {
                FailureKind::BadInput
            }
            ProviderError::Setup { .. } => FailureKind::NotFound,
            ProviderError::Key { .. }
            | ProviderError::Page { .. }
            | ProviderError::Rejected { .. } => FailureKind::Refused,
            ProviderError::Unreachable { .. }
            | ProviderError::Slow { .. }
            | ProviderError::Store(_) => FailureKind::Unavailable,
        };
        let hint = error.hint();
        Self::caused(kind, error).hint(hint)
    }
}

impl From<StagingError> for Complaint {
    fn from(error: StagingError) -> Self {
        let kind = match &error {
            StagingError::Missing { .. } => FailureKind::NotFound,
            StagingError::Full { .. } | StagingError::TooLarge { .. } => FailureKind::Exhausted,
            StagingError::Damaged { .. } => FailureKind::BadInput,
            StagingError::File(_) => FailureKind::Unavailable,
        };
        let hint = error.hint();
        Self::caused(kind, error).hint(hint)
    }
}

impl From<ApproveError> for Complaint {
    fn from(error: ApproveError) -> Self {
        let kind = match error {
            ApproveError::Memory(error) => return error.into(),
            ApproveError::Staging(error) => return error.into(),
            ApproveError::Unreadable { .. } => FailureKind::BadInput,
            ApproveError::Early(_) => FailureKind::Refused,
        };
        let hint = error.hint();
        Self::caused(kind, error).hint(hint)
    }
}

impl From<Problem> for Complaint {
    fn from(problem: Problem) -> Self {
        let complaint = Self::new(FailureKind::BadInput, problem.to_string());
        match problem.hint() {
            Some(hint) => complaint.hint(hint),
            None => complaint,
        }
    }
}
