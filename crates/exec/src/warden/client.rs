//! Our end of the warden: starts its process when it is first needed and asks it for runs.

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use rustix::pipe::{PipeFlags, pipe_with};
use tokio::io::{AsyncReadExt as _, Interest};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::process::Command;
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio_util::task::TaskTracker;

use super::WardenProgram;
use super::connection::{Ask, Connection, Keeper, Started, lost};
use super::serve::mark;
use super::wire::{Inbox, Report, Request, RunKey, Stdio};
use crate::{Ending, ExecError};

/// Requests that may wait; more callers wait themselves.
const QUEUE: usize = 256;
/// How long the warden may take to answer. It never waits for anything but the kernel.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);

/// Most of what a cell that could not be made says about it.
const COMPLAINT_BYTES: u64 = 2048;

/// A way to a warden, shared by cloning.
#[derive(Clone)]
pub(crate) struct Handle {
    inner: Arc<Inner>,
}

struct Inner {
    source: Source,
    /// Taken only to look whether there is a connection, and to make one.
    connection: Mutex<Option<mpsc::Sender<Ask>>>,
    tasks: TaskTracker,
}

/// Where a warden comes from.
enum Source {
    /// We start it.
    Program(WardenProgram),
    /// Another one starts it, with this name and command line, for one run at a time.
    Within {
        outer: Handle,
        within: Within,
        marker: String,
        argv: Vec<String>,
    },
}

/// What a warden that another one starts keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Within {
    /// A sandbox.
    Cell,
    /// Nothing but what its run starts.
    Nest,
}

/// What is to be started.
pub(crate) struct Order {
    /// Stands in the environment of everything it starts.
    pub(crate) marker: String,
    pub(crate) argv: Vec<String>,
    pub(crate) directory: Option<PathBuf>,
    pub(crate) environment: Vec<(String, String)>,
    /// What the files are.
    pub(crate) stdio: Stdio,
    pub(crate) files: Vec<OwnedFd>,
}

impl Handle {
    /// A way to a warden that starts anything.
    pub(crate) fn new(program: WardenProgram) -> Self {
        Self::of(Source::Program(program))
    }

    /// A way to a warden of one run at a time, which `argv` makes. `outer` ends it, known by its marker, when it is
    /// lost.
    pub(crate) fn within(outer: Self, within: Within, marker: String, argv: Vec<String>) -> Self {
        Self::of(Source::Within {
            outer,
            within,
            marker,
            argv,
        })
    }

    fn of(source: Source) -> Self {
        Self {
            inner: Arc::new(Inner {
                source,
                connection: Mutex::new(None),
                tasks: TaskTracker::new(),
            }),
        }
    }

    /// Starts a run.
    pub(crate) async fn start(&self, order: Order) -> Result<Started, ExecError> {
        let Order {
            marker,
            argv,
            directory,
            mut environment,
            stdio,
            files,
        } = order;
        mark(&mut environment, &marker);
        let program = argv.first().cloned().unwrap_or_default();
        let (reply, answer) = oneshot::channel();
        let ask = Ask::Start {
            request: Box::new(move |number| Request::Start {
                number,
                argv,
                directory,
                environment,
                stdio,
            }),
            files,
            stdio,
            marker,
            reply,
        };
        self.connected()
            .await?
            .send(ask)
            .await
            .map_err(|_| lost())?;
        match in_time(answer).await? {
            Ok(started) => Ok(started),
            Err(source) => Err(ExecError::Io {
                what: format!("starting {program}"),
                source,
            }),
        }
    }

    /// Signals everything that belongs to a run. Nothing to do when the warden of that run is gone: its
    /// runs were ended when that was noticed.
    pub(crate) async fn end(&self, run: RunKey, how: Ending) -> Result<(), ExecError> {
        let connection = self.inner.connection.lock().await.clone();
        let Some(connection) = connection.filter(|connection| !connection.is_closed()) else {
            return Ok(());
        };
        let (reply, answer) = oneshot::channel();
        let kill = how == Ending::Kill;
        if connection.send(Ask::End { run, kill, reply }).await.is_ok() {
            match in_time(answer).await {
                Ok(()) | Err(ExecError::Gone(_)) => {}
                Err(other) => return Err(other),
            }
        }
        Ok(())
    }

    async fn connected(&self) -> Result<mpsc::Sender<Ask>, ExecError> {
        let mut place = self.inner.connection.lock().await;
        if let Some(connection) = place.as_ref().filter(|connection| !connection.is_closed()) {
            return Ok(connection.clone());
        }
        let (socket, keeper) = match &self.inner.source {
            Source::Program(program) => launch(program).map_err(|source| unavailable(&source))?,
            Source::Within {
                outer,
                within,
                marker,
                argv,
            } => inner(outer, *within, marker, argv).await?,
        };
        let (asks, inbox) = mpsc::channel(QUEUE);
        self.inner
            .tasks
            .spawn(Connection::new(socket, keeper).run(inbox));
        *place = Some(asks.clone());
        Ok(asks)
    }
}

fn launch(program: &WardenProgram) -> io::Result<(UnixStream, Keeper)> {
    let (ours, theirs) = pair()?;
    let child = Command::new(&program.program)
        .args(program.serving().get(1..).unwrap_or_default())
        .env_clear()
        .current_dir("/")
        .stdin(theirs)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()?;
    Ok((ours, Keeper::Child(child)))
}

/// Has a warden started by another one. Boxed, because its own start is one of ours.
fn inner<'a>(
    outer: &'a Handle,
    within: Within,
    marker: &'a str,
    argv: &'a [String],
) -> BoxFuture<'a, Result<(UnixStream, Keeper), ExecError>> {
    Box::pin(async move {
        let (ours, theirs) = pair().map_err(|source| unavailable(&source))?;
        let complaints = || {
            let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
            io::Result::Ok((pipe::Receiver::from_owned_fd(reader)?, writer))
        };
        let (complaints, writer) = complaints().map_err(|source| unavailable(&source))?;
        let order = Order {
            marker: marker.to_owned(),
            argv: argv.to_vec(),
            directory: Some("/".into()),
            environment: Vec::new(),
            stdio: Stdio::Cell,
            files: vec![theirs, writer],
        };
        let started = outer.start(order).await?;
        match tokio::time::timeout(ANSWER_WITHIN, ready(&ours)).await {
            Ok(true) => {}
            Ok(false) => {
                let said = complaint(complaints).await;
                return Err(match within {
                    Within::Cell => ExecError::Confinement(said),
                    Within::Nest => unavailable(&io::Error::other(said)),
                });
            }
            Err(_) => {
                outer.end(started.key, Ending::Kill).await?;
                return Err(ExecError::TimedOut {
                    what: match within {
                        Within::Cell => "making a sandbox",
                        Within::Nest => "preparing a command",
                    }
                    .to_owned(),
                    limit: ANSWER_WITHIN,
                });
            }
        }
        let keeper = Keeper::Warden {
            outer: outer.clone(),
            run: started.key,
            within,
        };
        Ok((ours, keeper))
    })
}

/// Waits for the first word of a warden. `false` when it ended without one.
async fn ready(socket: &UnixStream) -> bool {
    let mut inbox = Inbox::default();
    while socket.readable().await.is_ok() {
        match socket.try_io(Interest::READABLE, || inbox.fill(socket)) {
            Ok(true) => match inbox.next() {
                Ok(Some(Report::Ready)) => return true,
                Ok(None) => {}
                Ok(Some(_)) | Err(_) => return false,
            },
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Ok(false) | Err(_) => return false,
        }
    }
    false
}

/// What was said while a cell could not be made. Whoever said it is gone, so this comes to an end.
async fn complaint(said: pipe::Receiver) -> String {
    let mut text = Vec::new();
    // Whatever can be read of it is better than nothing.
    let _ = said.take(COMPLAINT_BYTES).read_to_end(&mut text).await;
    match String::from_utf8_lossy(&text).trim() {
        "" => "it ended at once".to_owned(),
        said => said.to_owned(),
    }
}

fn pair() -> io::Result<(UnixStream, OwnedFd)> {
    let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    Ok((UnixStream::from_std(ours)?, theirs.into()))
}

fn unavailable(source: &io::Error) -> ExecError {
    ExecError::Unavailable {
        backend: "local",
        cause: format!("the process that watches over commands did not start: {source}"),
        next: "Check that the hermes program is still where it was started from".to_owned(),
    }
}

async fn in_time<T>(answer: oneshot::Receiver<T>) -> Result<T, ExecError> {
    match tokio::time::timeout(ANSWER_WITHIN, answer).await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(_)) => Err(lost()),
        Err(_) => Err(ExecError::TimedOut {
            what: "the process that watches over commands".to_owned(),
            limit: ANSWER_WITHIN,
        }),
    }
}
