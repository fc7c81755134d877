//! Our end of the warden: starts its process when it is first needed and follows the runs.

use std::collections::{HashMap, VecDeque};
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use nix::sys::signal::Signal;
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio_util::task::TaskTracker;

use super::serve::mark;
use super::tree::{Scope, signal_all};
use super::wire::{Inbox, Report, Request, RunKey, Stdio, frame, send};
use super::{LONGEST_GRACE, SERVE, WardenProgram};
use crate::{Ending, ExecError, Exit};

/// Requests that may wait; more callers wait themselves.
const QUEUE: usize = 256;
/// How long the warden may take to answer. It never waits for anything but the kernel.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);

/// A way to the warden, shared by cloning.
#[derive(Clone)]
pub(crate) struct Handle {
    inner: Arc<Inner>,
}

struct Inner {
    program: WardenProgram,
    /// Taken only to look whether there is a connection, and to make one.
    connection: Mutex<Option<mpsc::Sender<Ask>>>,
    tasks: TaskTracker,
}

/// A run that began.
pub(crate) struct Started {
    pub(crate) key: RunKey,
    /// Fails when the warden was lost.
    pub(crate) exit: oneshot::Receiver<Exit>,
}

enum Ask {
    Start {
        /// What is asked, once the connection has a number for it.
        request: Box<dyn FnOnce(u64) -> Request + Send>,
        files: Vec<OwnedFd>,
        marker: String,
        reply: oneshot::Sender<Result<Started, io::Error>>,
    },
    End {
        run: RunKey,
        kill: bool,
        reply: oneshot::Sender<()>,
    },
}

impl Handle {
    pub(crate) fn new(program: WardenProgram) -> Self {
        Self {
            inner: Arc::new(Inner {
                program,
                connection: Mutex::new(None),
                tasks: TaskTracker::new(),
            }),
        }
    }

    /// Starts a run. `files` are as `stdio` says.
    pub(crate) async fn start(
        &self,
        marker: &str,
        argv: Vec<String>,
        directory: Option<PathBuf>,
        mut environment: Vec<(String, String)>,
        stdio: Stdio,
        files: Vec<OwnedFd>,
    ) -> Result<Started, ExecError> {
        mark(&mut environment, marker);
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
            marker: marker.to_owned(),
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
        let (socket, child) = self.launch().map_err(|source| ExecError::Unavailable {
            backend: "local",
            cause: format!("the process that watches over commands did not start: {source}"),
            next: "Check that the hermes program is still where it was started from".to_owned(),
        })?;
        let (asks, inbox) = mpsc::channel(QUEUE);
        let connection = Connection::new(socket, child);
        self.inner.tasks.spawn(connection.run(inbox));
        *place = Some(asks.clone());
        Ok(asks)
    }

    fn launch(&self) -> io::Result<(UnixStream, Child)> {
        let program = &self.inner.program;
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let grace = program.grace.min(LONGEST_GRACE).as_millis().to_string();
        let child = Command::new(&program.program)
            .args(&program.arguments)
            .args([SERVE, &grace])
            .env_clear()
            .current_dir("/")
            .stdin(OwnedFd::from(theirs))
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()?;
        Ok((UnixStream::from_std(ours)?, child))
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

/// The warden went away while something was asked or running.
pub(crate) fn lost() -> ExecError {
    ExecError::Gone(
        "the process that watches over commands ended; what it ran was ended with it".to_owned(),
    )
}

/// The task that owns the socket and knows every run.
struct Connection {
    socket: UnixStream,
    child: Child,
    inbox: Inbox,
    /// What is not sent yet, oldest first.
    outgoing: VecDeque<(Vec<u8>, Vec<OwnedFd>)>,
    last: u64,
    starting: HashMap<u64, (String, oneshot::Sender<Result<Started, io::Error>>)>,
    running: HashMap<u64, (RunKey, oneshot::Sender<Exit>)>,
    ending: HashMap<u64, oneshot::Sender<()>>,
}

impl Connection {
    fn new(socket: UnixStream, child: Child) -> Self {
        Self {
            socket,
            child,
            inbox: Inbox::default(),
            outgoing: VecDeque::new(),
            last: 0,
            starting: HashMap::new(),
            running: HashMap::new(),
            ending: HashMap::new(),
        }
    }

    /// Ends when nobody holds a handle any more, and when the warden is gone.
    async fn run(mut self, mut asks: mpsc::Receiver<Ask>) {
        let broken = loop {
            let interest = match self.outgoing.is_empty() {
                true => Interest::READABLE,
                false => Interest::READABLE | Interest::WRITABLE,
            };
            tokio::select! {
                ask = asks.recv() => match ask {
                    Some(ask) => self.ask(ask),
                    None => break false,
                },
                ready = self.socket.ready(interest) => {
                    let done = ready.and_then(|ready| {
                        if ready.is_writable() {
                            self.send()?;
                        }
                        if ready.is_readable() { self.receive() } else { Ok(()) }
                    });
                    if done.is_err() {
                        break true;
                    }
                }
            }
        };
        // From here on new requests find the channel closed and start another warden.
        drop(asks);
        drop(self.socket);
        if broken {
            let lost: Vec<RunKey> = self.running.drain().map(|(_, (key, _))| key).collect();
            // The work is short and must happen; whoever waits for the runs has been told by the drop.
            let swept = tokio::task::spawn_blocking(move || {
                for run in lost {
                    signal_all(Signal::SIGKILL, |table| {
                        table.members(&run, Scope::Everywhere)
                    });
                }
            });
            if swept.await.is_err() {
                tracing::warn!("what a lost warden left behind could not be ended");
            }
        }
        // Reaps it; when it is busy ending what it started, the runtime does so later.
        if broken && let Err(error) = self.child.start_kill() {
            tracing::debug!(%error, "the warden was gone already");
        }
    }

    fn ask(&mut self, ask: Ask) {
        self.last += 1;
        let number = self.last;
        let (request, files) = match ask {
            Ask::Start {
                request,
                files,
                marker,
                reply,
            } => {
                self.starting.insert(number, (marker, reply));
                (request(number), files)
            }
            Ask::End { run, kill, reply } => {
                self.ending.insert(number, reply);
                (Request::End { number, run, kill }, Vec::new())
            }
        };
        match frame(&request) {
            Ok(bytes) => self.outgoing.push_back((bytes, files)),
            Err(error) => {
                if let Some((_, reply)) = self.starting.remove(&number) {
                    // Nobody waits any more: then nobody needs to know.
                    let _ = reply.send(Err(error));
                }
            }
        }
    }

    /// Sends what the socket takes now.
    fn send(&mut self) -> io::Result<()> {
        while let Some((bytes, files)) = self.outgoing.front_mut() {
            let socket = &self.socket;
            match socket.try_io(Interest::WRITABLE, || send(socket, bytes, files)) {
                Ok(sent) => {
                    files.clear();
                    bytes.drain(..sent);
                    if bytes.is_empty() {
                        self.outgoing.pop_front();
                    }
                }
                Err(error) if is_later(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Reads what is there now.
    fn receive(&mut self) -> io::Result<()> {
        loop {
            let socket = &self.socket;
            let inbox = &mut self.inbox;
            match socket.try_io(Interest::READABLE, || inbox.fill(socket)) {
                Ok(true) => {}
                Ok(false) => return Err(ErrorKind::UnexpectedEof.into()),
                Err(error) if is_later(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
            while let Some(report) = self.inbox.next()? {
                self.hear(report);
            }
        }
    }

    fn hear(&mut self, report: Report) {
        match report {
            Report::Started {
                number,
                pid,
                started,
            } => {
                let Some((marker, reply)) = self.starting.remove(&number) else {
                    return;
                };
                let key = RunKey {
                    marker,
                    root: pid,
                    started,
                };
                let (tell, exit) = oneshot::channel();
                self.running.insert(number, (key.clone(), tell));
                if reply
                    .send(Ok(Started {
                        key: key.clone(),
                        exit,
                    }))
                    .is_err()
                {
                    // The caller gave up meanwhile, so nobody would ever end it.
                    let (reply, _) = oneshot::channel();
                    self.ask(Ask::End {
                        run: key,
                        kill: true,
                        reply,
                    });
                }
            }
            Report::Refused { number, errno } => {
                if let Some((_, reply)) = self.starting.remove(&number) {
                    let _ = reply.send(Err(io::Error::from_raw_os_error(errno)));
                }
            }
            Report::Exited {
                number,
                code,
                signal,
            } => {
                if let Some((_, tell)) = self.running.remove(&number) {
                    let exit = match signal {
                        Some(signal) => Exit::Signal(signal),
                        None => Exit::Code(code.unwrap_or_default()),
                    };
                    let _ = tell.send(exit);
                }
            }
            Report::Signalled { number } => {
                if let Some(reply) = self.ending.remove(&number) {
                    let _ = reply.send(());
                }
            }
        }
    }
}

fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
