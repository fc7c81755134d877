//! The task that owns the socket to a warden and knows every run of it.

use std::collections::{HashMap, VecDeque};
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::process::Child;
use tokio::sync::{mpsc, oneshot};

use super::client::{Handle, Within};
use super::tree::{Scope, Seen, signal_all};
use super::wire::{Inbox, Report, Request, RunKey, Stdio, frame, send};
use crate::{Ending, ExecError, Exit};

/// A run that began.
pub(crate) struct Started {
    pub(crate) key: RunKey,
    /// The process by which it is known out here.
    pub(crate) pid: i32,
    /// Our side of its terminal, when it has one.
    pub(crate) screen: Option<OwnedFd>,
    /// Fails when the warden was lost.
    pub(crate) exit: oneshot::Receiver<Ended>,
}

/// How a run ended.
pub(crate) struct Ended {
    pub(crate) exit: Exit,
    /// Whether something it started still runs.
    pub(crate) left: bool,
    /// Whether something it started did not end in time and was made to.
    pub(crate) cut_off: bool,
}

/// What the task is asked for.
pub(super) enum Ask {
    Start {
        /// What is asked, once the connection has a number for it.
        request: Box<dyn FnOnce(u64) -> Request + Send>,
        files: Vec<OwnedFd>,
        stdio: Stdio,
        marker: String,
        reply: oneshot::Sender<Result<Started, io::Error>>,
    },
    End {
        run: RunKey,
        kill: bool,
        reply: oneshot::Sender<()>,
    },
}

/// Who started the warden, and so can end it.
pub(super) enum Keeper {
    /// We did.
    Child(Child),
    /// Another one did: it is a run of that.
    Warden {
        outer: Handle,
        run: RunKey,
        within: Within,
    },
}

impl Keeper {
    /// Ends a warden that is lost, with all it started.
    async fn end(self, lost: Vec<RunKey>) {
        match self {
            Self::Child(mut child) => {
                sweep(lost).await;
                // Reaps it; when it is busy ending what it started, the runtime does so later.
                if let Err(error) = child.start_kill() {
                    tracing::debug!(%error, "the warden was gone already");
                }
            }
            Self::Warden { outer, run, within } => {
                if let Err(error) = outer.end(run, Ending::Kill).await {
                    tracing::warn!(%error, "a lost warden's commands could not be ended");
                }
                // What a lost nest looked after goes on below the one that started it, which does not know it.
                if within == Within::Nest {
                    sweep(lost).await;
                }
            }
        }
    }
}

/// Ends what is left of runs whose warden is gone.
async fn sweep(lost: Vec<RunKey>) {
    // The work is short and must happen.
    let swept = tokio::task::spawn_blocking(move || {
        // A root that is itself a warden must not tell of ends that we cause.
        for run in lost
            .iter()
            .filter(|run| Seen::is_running(run.root, run.started))
        {
            // What ended in between needs no signal.
            let _ = kill(Pid::from_raw(run.root), Signal::SIGKILL);
        }
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

/// The warden went away while something was asked or running.
pub(crate) fn lost() -> ExecError {
    ExecError::Gone(
        "the process that watches over commands ended; what it ran was ended with it".to_owned(),
    )
}

/// A run that is asked for.
struct Starting {
    stdio: Stdio,
    marker: String,
    reply: oneshot::Sender<Result<Started, io::Error>>,
}

/// Our end of the socket.
pub(super) struct Connection {
    socket: UnixStream,
    keeper: Keeper,
    inbox: Inbox,
    /// What is not sent yet, oldest first.
    outgoing: VecDeque<(Vec<u8>, Vec<OwnedFd>)>,
    last: u64,
    starting: HashMap<u64, Starting>,
    running: HashMap<u64, (RunKey, oneshot::Sender<Ended>)>,
    ending: HashMap<u64, oneshot::Sender<()>>,
}

impl Connection {
    pub(super) fn new(socket: UnixStream, keeper: Keeper) -> Self {
        Self {
            socket,
            keeper,
            inbox: Inbox::default(),
            outgoing: VecDeque::new(),
            last: 0,
            starting: HashMap::new(),
            running: HashMap::new(),
            ending: HashMap::new(),
        }
    }

    /// Ends when nobody holds a handle any more, and when the warden is gone.
    pub(super) async fn run(mut self, mut asks: mpsc::Receiver<Ask>) {
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
        if !broken {
            return;
        }
        // Whoever waits for a run hears that it is lost when nothing of it is left.
        let (lost, waiting): (Vec<_>, Vec<_>) = self.running.drain().map(|(_, run)| run).unzip();
        self.keeper.end(lost).await;
        drop(waiting);
    }

    fn ask(&mut self, ask: Ask) {
        self.last += 1;
        let number = self.last;
        let (request, files) = match ask {
            Ask::Start {
                request,
                files,
                stdio,
                marker,
                reply,
            } => {
                let starting = Starting {
                    stdio,
                    marker,
                    reply,
                };
                self.starting.insert(number, starting);
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
                if let Some(starting) = self.starting.remove(&number) {
                    // Nobody waits any more: then nobody needs to know.
                    let _ = starting.reply.send(Err(error));
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
            // Nothing was asked yet.
            Report::Ready => {}
            Report::Started {
                number,
                pid,
                started,
            } => self.started(number, pid, started),
            Report::Refused { number, errno } => {
                if let Some(starting) = self.starting.remove(&number) {
                    let failed = io::Error::from_raw_os_error(errno);
                    let _ = starting.reply.send(Err(failed));
                }
            }
            Report::Exited {
                number,
                code,
                signal,
                left,
                cut_off,
            } => {
                if let Some((_, tell)) = self.running.remove(&number) {
                    let exit = match signal {
                        Some(signal) => Exit::Signal(signal),
                        None => Exit::Code(code.unwrap_or_default()),
                    };
                    let _ = tell.send(Ended {
                        exit,
                        left,
                        cut_off,
                    });
                }
            }
            Report::Signalled { number } => {
                if let Some(reply) = self.ending.remove(&number) {
                    let _ = reply.send(());
                }
            }
        }
    }

    /// Hands a run that has begun to whoever asked for it.
    fn started(&mut self, number: u64, pid: i32, started: u64) {
        let Some(starting) = self.starting.remove(&number) else {
            return;
        };
        let screen = match starting.stdio {
            Stdio::Terminal { .. } => self.inbox.files.pop_front(),
            Stdio::Pipes | Stdio::Apart | Stdio::Cell => None,
        };
        let key = RunKey {
            marker: starting.marker,
            root: pid,
            started,
        };
        let pid = match &self.keeper {
            Keeper::Child(_) => key.root,
            Keeper::Warden { run, within, .. } => match within {
                Within::Nest => key.root,
                // Ids inside mean nothing out here, and a cell has one run.
                Within::Cell => run.root,
            },
        };
        let (tell, exit) = oneshot::channel();
        self.running.insert(number, (key.clone(), tell));
        let started = Ok(Started {
            key: key.clone(),
            pid,
            screen,
            exit,
        });
        if starting.reply.send(started).is_err() {
            // The caller gave up meanwhile, so nobody would ever end it.
            let (reply, _) = oneshot::channel();
            self.ask(Ask::End {
                run: key,
                kill: true,
                reply,
            });
        }
    }
}

fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
