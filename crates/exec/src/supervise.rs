//! What every backend that is not this machine has in common.
//!
//! A backend brings a [`Carrier`]: a way to run a shell over there with its standard input and output
//! here. Over one such channel runs a guard (`guard.sh`), which hears our orders, reports how commands end and
//! ends all of them when we are gone; each command runs over a channel of its own behind a launcher
//! (`launch.sh`) that tells the guard about it. Channels of commands so carry nothing but the command's own
//! bytes, and ending a tree or changing a terminal's size works alike everywhere.

mod channel;
mod guard;
mod line;
mod program;

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_core::Random;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::Handle;
use tokio::sync::{Mutex, oneshot};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::{Backend, Control, Ending, ExecError, Exit, Input, Launch, Place, Process, RunId};
pub(crate) use channel::{Channel, Closed, Ends, tail};
use channel::{Marker, Watched, read_marker};
use guard::Guard;
pub(crate) use line::quote;
pub use program::Carriers;
pub(crate) use program::Programs;

/// How long a command may take to start once its channel is open.
const START: Duration = Duration::from_secs(30);
/// How long the two ends of a finished command may lie apart.
const SETTLE: Duration = Duration::from_millis(500);
/// How long what the far side still has to say about a broken channel may take.
const LAST_WORDS: Duration = Duration::from_secs(3);
/// How long the far side may take to end everything.
const LEAVE: Duration = Duration::from_secs(10);

/// What a channel is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The guard's: the first one of a connection, so the place is made ready for it.
    Guard,
    /// A command's with pipes.
    Pipes,
    /// A command's with a terminal.
    Terminal,
}

impl Role {
    /// What the far side's shell runs: it reads one line and does what it says. A command's says first that it is
    /// there: without that word no line was sent to it. Short and free of anything that some login shell would read
    /// differently, since ssh hands it to one.
    pub(crate) fn boot(self) -> &'static str {
        match self {
            Self::Guard => {
                r#"hermes_nl=$(printf "\nx");hermes_nl=${hermes_nl%x};IFS= read -r hermes_line&&eval "$hermes_line""#
            }
            Self::Pipes => {
                r#"hermes_nl=$(printf "\nx");hermes_nl=${hermes_nl%x};printf "\001hermes ready\n"&&IFS= read -r hermes_line&&eval "$hermes_line""#
            }
            Self::Terminal => {
                r#"hermes_nl=$(printf "\nx");hermes_nl=${hermes_nl%x};stty raw -echo&&printf "\001hermes ready\n"&&IFS= read -r hermes_line&&eval "$hermes_line""#
            }
        }
    }
}

/// The tasks that serve one connection, and the token that ends them.
#[derive(Clone, Default)]
pub(crate) struct Crew {
    pub(crate) tasks: TaskTracker,
    pub(crate) stop: CancellationToken,
}

/// How often the far side hears from us, and how long it lives without.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pulse {
    /// Between two beats.
    pub(crate) every: Duration,
    /// After one to two times this long without a beat it takes us for dead.
    pub(crate) patience: Duration,
}

/// Opens channels to the place where commands run.
///
/// `Supervised` calls `open` with `Role::Guard` first, and again after a channel was `Gone`; every other
/// channel is opened while a guard is there. `close` comes last, when all channels have ended.
pub(crate) trait Carrier: Send + Sync + 'static {
    fn place(&self) -> Place;

    fn scratch(&self) -> PathBuf;

    fn pulse(&self) -> Pulse;

    /// Runs `role.boot()` in `/bin/sh` over there. Fails with `Gone` when the place has to be made again.
    fn open(&self, role: Role, crew: &Crew) -> BoxFuture<'_, Result<Channel, ExecError>>;

    /// Told the process id of the guard once it runs, by those that need it to clear up.
    fn guarded(&self, _pid: u32) -> BoxFuture<'_, Result<(), ExecError>> {
        Box::pin(async { Ok(()) })
    }

    /// Why a channel ended before anything started.
    fn explain(&self, closed: &Closed) -> ExecError;

    /// Told at every beat how many commands run, so that what is in use can be told from what is not.
    fn beat(&self, running: usize) -> BoxFuture<'_, ()>;

    fn close(&self) -> BoxFuture<'_, Result<(), ExecError>>;
}

/// A backend made of a carrier.
pub(crate) struct Supervised<C> {
    carrier: Arc<C>,
    /// Marks everything this backend starts.
    name: String,
    generation: AtomicU32,
    guard: Mutex<Option<Arc<Guard>>>,
    /// The newest guard, for those who only look whether it is there.
    newest: std::sync::Mutex<Weak<Guard>>,
}

impl<C: Carrier> Supervised<C> {
    pub(crate) fn new(carrier: C, random: &dyn Random) -> Self {
        Self {
            carrier: Arc::new(carrier),
            name: format!("{:016x}", random.next_u64()),
            generation: AtomicU32::new(0),
            guard: Mutex::new(None),
            newest: std::sync::Mutex::default(),
        }
    }

    async fn guard(&self) -> Result<Arc<Guard>, ExecError> {
        let mut slot = self.guard.lock().await;
        if let Some(guard) = slot.as_ref().filter(|guard| guard.is_there()) {
            return Ok(Arc::clone(guard));
        }
        if let Some(old) = slot.take() {
            old.retire(Duration::ZERO).await;
        }
        let generation = self.generation.fetch_add(1, Ordering::Relaxed);
        let guard = Arc::new(Guard::start(&self.carrier, &self.name, generation).await?);
        *self.newest.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(&guard);
        *slot = Some(Arc::clone(&guard));
        Ok(guard)
    }

    async fn forget(&self, guard: &Arc<Guard>) {
        let mut slot = self.guard.lock().await;
        if slot.as_ref().is_some_and(|known| Arc::ptr_eq(known, guard)) {
            *slot = None;
        }
        drop(slot);
        guard.retire(Duration::ZERO).await;
    }

    /// A shell that waits for its line, and a guard that knows of the run.
    async fn open(&self, role: Role, run: &RunId) -> Result<Opened, ExecError> {
        let guard = self.guard().await?;
        match self.try_to_open(&guard, role, run).await {
            Ok(opened) => Ok(opened),
            // The place vanished behind our back, perhaps because it was idle until now. Nothing was sent yet, so
            // once more is safe.
            Err(Setback::Vanished(_)) => {
                self.forget(&guard).await;
                let guard = self.guard().await?;
                let opened = self.try_to_open(&guard, role, run).await;
                opened.map_err(Setback::into_error)
            }
            Err(setback) => Err(setback.into_error()),
        }
    }

    async fn try_to_open(
        &self,
        guard: &Arc<Guard>,
        role: Role,
        run: &RunId,
    ) -> Result<Opened, Setback> {
        let starting = Starting::new(guard, run);
        // Whoever stops idle places counts the run from here on, and stops nothing while we go on.
        let exit = guard.watch(run).await?;
        let mut channel = self.carrier.open(role, guard.crew()).await?;
        let ready = timeout(START, read_marker(&mut channel.output, "ready")).await;
        let ready = ready.map_err(|_| Setback::Other(too_late()))?;
        if ready.is_err() {
            let closed = timeout(LAST_WORDS, channel.closed)
                .await
                .unwrap_or_default();
            let error = self.carrier.explain(&closed);
            // A place that is gone takes its guard along. One that is still there may have other commands, which must
            // not end because this one cannot begin.
            let vanished = matches!(error, ExecError::Gone(_))
                && timeout(LAST_WORDS, guard.gone().cancelled()).await.is_ok();
            return Err(match vanished {
                true => Setback::Vanished(error),
                false => Setback::Other(error),
            });
        }
        Ok(Opened {
            starting,
            exit,
            channel,
            guard: Arc::clone(guard),
        })
    }

    async fn start(&self, launch: Launch) -> Result<Process, ExecError> {
        let role = match launch.input {
            Input::None | Input::Pipe => Role::Pipes,
            Input::Terminal { .. } => Role::Terminal,
            Input::Apart => {
                return Err(ExecError::Io {
                    what: "keeping standard error apart over there".to_owned(),
                    source: std::io::ErrorKind::Unsupported.into(),
                });
            }
        };
        let Opened {
            guard,
            starting,
            exit,
            channel,
        } = self.open(role, &launch.id).await?;
        let line = line::launch(&launch, &self.name, guard.home())?;
        let Channel {
            mut input,
            mut output,
            mut closed,
        } = channel;
        let begin = async {
            input.write_all(line.as_bytes()).await?;
            input.flush().await?;
            read_marker(&mut output, launch.id.as_str()).await
        };
        let marker = timeout(START, begin).await.map_err(|_| too_late())?;
        let Ok(Marker { pid, rest }) = marker else {
            let closed = timeout(LAST_WORDS, &mut closed).await.unwrap_or_default();
            return Err(self.carrier.explain(&closed));
        };
        starting.succeeded();
        let ended = CancellationToken::new();
        let output = Watched::new(std::io::Cursor::new(rest).chain(output), ended.clone());
        let gone = guard.gone();
        Ok(Process {
            pid,
            output: Box::new(output),
            errors: None,
            input: (launch.input != Input::None).then_some(input),
            exit: Box::pin(ending(exit, closed, gone, ended)),
            cut_off: None,
            control: Arc::new(Reach {
                guard,
                run: launch.id,
            }),
        })
    }
}

/// A shell of the far side that does what the next line says.
struct Opened {
    guard: Arc<Guard>,
    starting: Starting,
    exit: oneshot::Receiver<i32>,
    channel: Channel,
}

/// Why there is no shell.
enum Setback {
    /// The place has to be made again.
    Vanished(ExecError),
    Other(ExecError),
}

impl Setback {
    fn into_error(self) -> ExecError {
        match self {
            Self::Vanished(error) | Self::Other(error) => error,
        }
    }
}

impl From<ExecError> for Setback {
    fn from(error: ExecError) -> Self {
        match error {
            ExecError::Gone(_) => Self::Vanished(error),
            other => Self::Other(other),
        }
    }
}

fn too_late() -> ExecError {
    ExecError::TimedOut {
        what: "starting the command".to_owned(),
        limit: START,
    }
}

/// Waits for the guard's word on how a command ended, or for its channel or the guard to break.
async fn ending(
    mut exit: oneshot::Receiver<i32>,
    mut closed: BoxFuture<'static, Closed>,
    gone: CancellationToken,
    ended: CancellationToken,
) -> Result<Exit, ExecError> {
    let code = tokio::select! {
        biased;
        Ok(code) = &mut exit => code,
        closed = &mut closed => match last_word(exit).await {
            Some(code) => code,
            None => own_code(&closed).ok_or(ExecError::Gone(closed.complaint))?,
        },
        () = gone.cancelled() => match timeout(LAST_WORDS, closed).await {
            Ok(closed) => own_code(&closed).ok_or_else(ExecError::broke)?,
            Err(_) => return Err(ExecError::broke()),
        },
    };
    // The word travels beside the output and may be faster than its end.
    tokio::select! {
        () = ended.cancelled() => {}
        () = tokio::time::sleep(SETTLE) => {}
    }
    Ok(Exit::Code(code))
}

/// How a command ended of which the guard said nothing, by the end of its channel. From 128 on that tells of what
/// carried the command: a shell that was killed with its container, or `ssh` (255) whose connection broke.
fn own_code(closed: &Closed) -> Option<i32> {
    closed.code.filter(|code| (0..128).contains(code))
}

/// What the guard still says about a command whose channel has ended, if there is a guard.
async fn last_word(exit: oneshot::Receiver<i32>) -> Option<i32> {
    // Whoever was told already that nobody will say anything must not ask again.
    if exit.is_terminated() {
        return None;
    }
    timeout(LAST_WORDS, exit).await.ok()?.ok()
}

/// Forgets and ends a command whose start failed, took too long or was given up by whoever asked for it.
struct Starting(Option<(Arc<Guard>, RunId)>);

impl Starting {
    fn new(guard: &Arc<Guard>, run: &RunId) -> Self {
        Self(Some((Arc::clone(guard), run.clone())))
    }

    fn succeeded(mut self) {
        self.0 = None;
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        // Without a runtime we are ending ourselves, and everything with us.
        if let (Some((guard, run)), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            let tasks = guard.crew().tasks.clone();
            tasks.spawn_on(async move { guard.abandon(&run).await }, &runtime);
        }
    }
}

struct Reach {
    guard: Arc<Guard>,
    run: RunId,
}

impl Control for Reach {
    fn end(&self, how: Ending) -> BoxFuture<'_, Result<(), ExecError>> {
        Box::pin(self.guard.end(&self.run, how))
    }

    fn resize(&self, rows: u16, columns: u16) -> BoxFuture<'_, Result<(), ExecError>> {
        Box::pin(self.guard.resize(&self.run, rows, columns))
    }
}

impl<C: Carrier> Backend for Supervised<C> {
    fn place(&self) -> Place {
        self.carrier.place()
    }

    /// Its own one, which the guard makes, and removes behind us however we end.
    fn scratch(&self) -> PathBuf {
        self.carrier.scratch().join(format!("hermes-{}", self.name))
    }

    /// The number of the guard that is here, or of the one that the next command starts.
    fn edition(&self) -> u64 {
        let newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        let there = newest.upgrade().is_some_and(|guard| guard.is_there());
        u64::from(self.generation.load(Ordering::Relaxed)) + u64::from(!there)
    }

    fn spawn(&self, launch: Launch) -> BoxFuture<'_, Result<Process, ExecError>> {
        Box::pin(self.start(launch))
    }

    fn close(&self) -> BoxFuture<'_, Result<(), ExecError>> {
        Box::pin(async move {
            let guard = self.guard.lock().await.take();
            if let Some(guard) = guard {
                guard.retire(LEAVE).await;
            }
            self.carrier.close().await
        })
    }
}
