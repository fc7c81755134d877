//! The seam between commands and the place they run in.

use std::path::PathBuf;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use hermes_policy::Confinement;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::oneshot;

use crate::ExecError;

/// Names one started process on every backend; its whole tree is ended by it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RunId(String);

impl RunId {
    /// An id from letters and digits that nobody else uses.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Where a backend runs commands, in the words results use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// This machine.
    Host,
    /// Somewhere else: its paths mean nothing here.
    Away {
        /// The backend's name in the configuration, such as `docker`.
        kind: &'static str,
        /// Which one, such as a container's name.
        label: String,
    },
}

/// What is to be started.
#[derive(Debug, Clone)]
pub struct Launch {
    /// Its name.
    pub id: RunId,
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Where it starts; the backend's own default when absent.
    pub directory: Option<PathBuf>,
    /// On the host the whole environment, elsewhere what is added to it.
    pub environment: Vec<(String, String)>,
    /// What its standard input is.
    pub input: Input,
    /// What it may touch. Only the host confines; elsewhere the sandbox itself is the boundary.
    pub confinement: Option<Arc<Confinement>>,
}

/// What standard input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// Empty.
    None,
    /// A pipe the caller writes to.
    Pipe,
    /// A pipe the caller writes to; standard error comes apart from standard output, in `Process::errors`.
    /// Only on this machine.
    Apart,
    /// A terminal of this size; output then comes from it too.
    Terminal {
        /// Lines.
        rows: u16,
        /// Columns.
        columns: u16,
    },
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// How hard a tree is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Asked to end.
    Terminate,
    /// Ended.
    Kill,
}

/// Reaches into a running process.
pub trait Control: Send + Sync {
    /// Sends the signal to the process and everything it started, also what left its process group.
    /// Done when the signal was delivered, not when they are gone. Ending what has ended is no error.
    fn end(&self, how: Ending) -> BoxFuture<'_, Result<(), ExecError>>;

    /// Tells a terminal its new size; nothing for pipes.
    fn resize(&self, rows: u16, columns: u16) -> BoxFuture<'_, Result<(), ExecError>>;
}

/// A started process. Dropping it without `Control::end` leaves it running until we end.
pub struct Process {
    /// The process id where it runs, when the backend knows it.
    pub pid: Option<u32>,
    /// Standard output and error, merged in the order they were written. The reader must not wait for its
    /// end once `exit` is there: something left behind may hold it open.
    pub output: Box<dyn AsyncRead + Send + Unpin>,
    /// Standard error, when it was asked for apart.
    pub errors: Option<Box<dyn AsyncRead + Send + Unpin>>,
    /// Standard input, unless it is empty. Dropping it is the end of input.
    pub input: Option<Box<dyn AsyncWrite + Send + Unpin>>,
    /// Resolves when the process itself has ended, and in a sandbox what it left behind too.
    pub exit: BoxFuture<'static, Result<Exit, ExecError>>,
    /// Hears before `exit` resolves when what it left behind did not end in time and was made to.
    pub cut_off: Option<oneshot::Receiver<()>>,
    /// Reaches into it.
    pub control: Arc<dyn Control>,
}

/// Starts processes somewhere.
///
/// `shell` and `processes` call `spawn`, possibly several at once; the first call makes the sandbox. If our
/// own process ends in any way, everything started through a backend ends within five seconds. A
/// backend that cannot do what it is configured for says so: nothing ever runs somewhere else instead.
pub trait Backend: Send + Sync {
    /// Where it runs commands.
    fn place(&self) -> Place;

    /// A directory for temporary files where commands run.
    fn scratch(&self) -> PathBuf;

    /// Another number means that what was put there before may be gone: the place was made anew, or is when the
    /// next command starts.
    fn edition(&self) -> u64 {
        0
    }

    /// Starts something.
    fn spawn(&self, launch: Launch) -> BoxFuture<'_, Result<Process, ExecError>>;

    /// Lets go of what the backend holds: idle containers by their policy, connections, sandboxes.
    fn close(&self) -> BoxFuture<'_, Result<(), ExecError>>;
}
