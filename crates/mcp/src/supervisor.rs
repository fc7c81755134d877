//! The one owner of a server: its session, its program, its tools, its breaker and its budget.
//!
//! A supervisor is a task. It hears commands of calls, the end of its session, the outcome of the work it
//! started and its own timers, lets `state` decide and does what that says. It never waits for a server
//! itself: connecting, closing, signs of life and refreshes are tasks whose outcome it hears of. So it can
//! always be asked, and always be stopped.

mod attempt;
mod commands;
mod handle;
mod happening;
mod ration;
mod upkeep;

use std::sync::{Arc, Weak};

use hermes_core::Clock;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::breaker::Breaker;
use crate::memory::Recollection;
use crate::requests::{Callers, Ears};
use crate::state::{Effect, Event, Setback, step};
use crate::transport::{Farewell, Route};
use crate::{Catalog, Failure, Memory, RecoveryPolicy, Restated, Server, State, View};
use attempt::{Before, Done, Fresh, Old, Plan};
pub(crate) use commands::{Begin, Cause, Command, Verdict};
pub use handle::Handle;
use happening::{Happening, Note};
use ration::Ration;
use upkeep::Live;

/// Commands that may wait; more callers wait themselves.
const QUEUE: usize = 256;

/// What a supervisor and the calls of its server share. Nothing in it changes.
pub(crate) struct Shared {
    pub(crate) server: Server,
    pub(crate) policy: RecoveryPolicy,
    pub(crate) route: Route,
    pub(crate) callers: Arc<Callers>,
    pub(crate) ears: Ears,
    pub(crate) tasks: TaskTracker,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) memory: Option<Memory>,
    /// Fires when Hermes itself ends.
    pub(crate) exit: CancellationToken,
}

impl Shared {
    /// How sessions of the server are ended now.
    fn farewell(&self) -> Farewell {
        match self.exit.is_cancelled() {
            true => Farewell::brisk(&self.policy),
            false => Farewell::usual(&self.policy),
        }
    }
}

/// What went wrong last, as it may be shown.
struct Mishap {
    for_people: String,
    for_models: String,
}

/// See the module.
pub(crate) struct Supervisor {
    shared: Arc<Shared>,
    state: State,
    generation: u64,
    catalog: Arc<Catalog>,
    /// How its tools differ from what was known of them, when that was looked at.
    restated: Option<Arc<Restated>>,
    live: Option<Live>,
    /// The look at what is remembered, until the first attempt has taken it.
    recall: Option<JoinHandle<bool>>,
    /// What is being connected or closed.
    work: Option<JoinHandle<Done>>,
    /// Ends the attempt that is under way.
    stop_work: CancellationToken,
    /// Cuts the wait before an attempt short.
    hurry: Arc<Notify>,
    breaker: Breaker,
    ration: Ration,
    /// When the present state is looked at again.
    timer: Option<Instant>,
    /// When the attempt that is under way begins, if it waits.
    attempt_at: Option<Instant>,
    /// Signs of life that led to a new session, in a row.
    lifeless: u32,
    /// Sessions in a row that ended by themselves soon after they began.
    brief: u32,
    failed_attempts: u64,
    last_error: Option<Mishap>,
    shutdown: CancellationToken,
    commands: mpsc::Receiver<Command>,
    notes: (mpsc::Sender<Note>, mpsc::Receiver<Note>),
    view: watch::Sender<View>,
}

impl Supervisor {
    /// Starts supervising; the task ends after the shutdown of the handle.
    pub(crate) fn start(shared: Shared, remembered: Option<Recollection>) -> Handle {
        let shared = Arc::new(shared);
        let (asks, commands) = mpsc::channel(QUEUE);
        let (view, seen) = watch::channel(View::new());
        let shutdown = CancellationToken::new();
        let supervisor = Self {
            state: State::Connecting { failures: 0 },
            generation: 0,
            catalog: Arc::default(),
            restated: None,
            live: None,
            recall: None,
            work: None,
            stop_work: CancellationToken::new(),
            hurry: Arc::default(),
            breaker: Breaker::new(&shared.policy),
            ration: Ration::new(&shared.policy),
            timer: None,
            attempt_at: None,
            lifeless: 0,
            brief: 0,
            failed_attempts: 0,
            last_error: None,
            shutdown: shutdown.clone(),
            commands,
            notes: mpsc::channel(QUEUE),
            view,
            shared: Arc::clone(&shared),
        };
        let tasks = shared.tasks.clone();
        tasks.spawn(supervisor.run(remembered));
        Handle::new(shared, asks, seen, shutdown)
    }

    async fn run(mut self, remembered: Option<Recollection>) {
        self.recall = remembered.map(|remembered| self.recall(remembered));
        self.begin(Plan::Connect {
            after: std::time::Duration::ZERO,
        });
        while self.state != State::Stopped {
            let happening = self.next().await;
            self.take(happening);
        }
        self.publish();
    }

    fn take(&mut self, happening: Happening) {
        match happening {
            Happening::Command(command) => self.obey(command),
            Happening::Note(note) => self.hear(note),
            Happening::Done(done) => self.done(done),
            Happening::Ended(why) => {
                tracing::warn!(server = self.name(), why, "MCP session lost");
                self.blame(&Failure::TransportDied {
                    sent: true,
                    text: why,
                });
                self.lost();
            }
            Happening::Upkeep => self.look_after(),
            Happening::ToolsChanged => self.refresh(),
            Happening::Due if self.state == State::Stopping => {
                // Whatever still hangs is dropped with its tasks; the warden ends programs.
                if let Some(work) = self.work.take() {
                    work.abort();
                }
                self.apply(Event::Closed);
            }
            Happening::Due => self.apply(Event::Due),
            Happening::CredentialsChanged => self.apply(Event::Urged),
            Happening::Shutdown => {
                // Calls that come from now on hear at once that nobody is there.
                self.commands.close();
                self.stop_work.cancel();
                self.apply(Event::Shutdown);
                self.timer = Some(Instant::now() + self.shared.policy.shutdown_one);
            }
        }
    }

    /// Lets `state` decide about an event and does what it says.
    fn apply(&mut self, event: Event) {
        let (next, effects) = step(self.state, event, &self.shared.policy);
        if next != self.state {
            tracing::info!(server = self.name(), from = ?self.state, to = ?next, "MCP server");
            self.timer = None;
        }
        self.state = next;
        let mut old = None;
        let mut plan = None;
        for effect in effects {
            match effect {
                Effect::Close => {
                    old = self.live.take().map(Live::retire);
                    plan = Some(Plan::Close);
                }
                Effect::Connect { after } => plan = Some(Plan::Connect { after }),
                Effect::Hurry => self.hurry.notify_one(),
                Effect::Withdraw => self.catalog = Arc::default(),
                Effect::ResetBreaker => self.breaker.reset(),
                Effect::Timer { after } => self.timer = Some(Instant::now() + after),
            }
        }
        if let Some(plan) = plan {
            self.begin_after(old, plan);
        }
        self.publish();
    }

    fn begin(&mut self, plan: Plan) {
        self.begin_after(None, plan);
        self.publish();
    }

    /// Starts work that first waits for the work before it and for the end of `old`.
    fn begin_after(&mut self, old: Option<Old>, plan: Plan) {
        self.stop_work = CancellationToken::new();
        if self.state == State::Stopping {
            self.stop_work.cancel();
        }
        // A hurry that nobody waited for must not cut the next wait short.
        self.hurry = Arc::default();
        let before = Before {
            recall: self.recall.take(),
            work: self.work.take(),
            old,
            shutdown: self.shutdown.clone(),
        };
        let work = attempt::run(
            Arc::clone(&self.shared),
            before,
            plan,
            Arc::clone(&self.hurry),
            self.stop_work.clone(),
        );
        self.work = Some(self.shared.tasks.spawn(work));
        self.attempt_at = match plan {
            Plan::Connect { after } if !after.is_zero() => Some(Instant::now() + after),
            Plan::Connect { .. } | Plan::Close => None,
        };
        if self.attempt_at.is_some() {
            self.timer = None;
        }
    }

    /// The session ended by itself.
    fn lost(&mut self) {
        let steady = self.shared.policy.steady_after;
        let lasted = self.live.as_ref().is_some_and(|live| live.lasted(steady));
        self.brief = match lasted {
            true => 0,
            false => self.brief.saturating_add(1),
        };
        self.apply(Event::Lost { brief: self.brief });
    }

    fn done(&mut self, done: Done) {
        match done {
            Done::Closed => self.apply(Event::Closed),
            Done::Connected(fresh) => self.connected(*fresh),
            Done::Failed(failure) => {
                self.failed_attempts += 1;
                let setback = match &failure {
                    Failure::Auth { .. } => Setback::Auth,
                    Failure::Unusable { .. } => Setback::Lasting,
                    _ => Setback::Passing,
                };
                let kind = failure.kind();
                tracing::warn!(server = self.name(), kind, %failure, "MCP server not reached");
                self.blame(&failure);
                self.apply(Event::Failed(setback));
            }
        }
    }

    fn connected(&mut self, fresh: Fresh) {
        if !self.state.is_alive() || self.live.is_some() {
            let old = Old {
                connection: fresh.connection,
                users: Weak::new(),
            };
            self.begin_after(Some(old), Plan::Close);
            return;
        }
        self.generation += 1;
        self.catalog = Arc::new(fresh.catalog);
        self.last_error = None;
        self.live = Some(Live::new(
            fresh.connection,
            self.generation,
            &self.shared,
            self.lifeless,
        ));
        self.apply(Event::Connected);
        self.remember();
    }

    /// Remembers what went wrong, without secrets and with a server's words as such.
    fn blame(&mut self, failure: &Failure) {
        let redactor = self.shared.ears.redactor.snapshot();
        self.last_error = Some(Mishap {
            for_people: failure.told(&redactor),
            for_models: failure.in_our_words(),
        });
    }

    fn name(&self) -> &str {
        self.shared.server.name()
    }

    fn publish(&mut self) {
        let now = Instant::now();
        let attempt = self
            .attempt_at
            .filter(|at| *at > now && self.state.is_on_its_way());
        let next_try = self.timer.filter(|_| self.state.is_alive()).or(attempt);
        let next_try = next_try.map(|at| {
            let wait = at.saturating_duration_since(now);
            self.shared.clock.now() + wait
        });
        let info = self
            .live
            .as_ref()
            .and_then(|live| live.connection.info.clone());
        let about = info.as_ref().and_then(|info| info.server_info.as_ref());
        let error = self.last_error.as_ref();
        self.view.send_replace(View {
            state: self.state,
            generation: self.generation,
            catalog: Arc::clone(&self.catalog),
            restated: self.restated.clone(),
            last_error: error.map(|error| error.for_people.clone()),
            last_failure: error.map(|error| error.for_models.clone()),
            next_try,
            failed_attempts: self.failed_attempts,
            failures: self.breaker.failures(),
            pid: self.live.as_ref().and_then(|live| live.connection.pid()),
            server_info: about.map(|about| format!("{} {}", about.name, about.version)),
        });
    }
}
