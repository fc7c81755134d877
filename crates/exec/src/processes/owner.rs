//! The task that owns every background process we know of.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use hermes_core::Clock;
use hermes_store::{ProcessEnd, ProcessRow, Store};
use jiff::Timestamp;
use serde_json::json;
use tokio::sync::{mpsc, oneshot, watch as signal};
use tokio_util::task::TaskTracker;

use super::cleaned::Cleaner;
use super::entry::Entry;
use super::follower::Typed;
use super::watch::{Admission, Breaker, Verdict, Watch};
use super::{EndReason, ProcessError, ProcessInfo, ProcessLog, ProcessState, Reach, TypedSoFar};
use crate::{Control, Exit};

/// Processes that are known at once, ended ones included.
const MOST: usize = 64;
/// How long an ended one is known.
const KEPT_FOR: Duration = Duration::from_secs(1_800);
/// Messages that may wait; a process that says more is held up.
const QUEUE: usize = 256;
/// Characters of output that a notification carries.
const TAIL: usize = 2_000;
/// Characters of output that a list shows.
const PREVIEW: usize = 200;
/// What is recorded for a process that was ended through us.
const KILLED: i32 = -15;

/// Everything that can happen.
pub(super) enum Message {
    /// Makes room for a process. Answers an equal one that runs, or how many run when there is no room.
    Reserve {
        row: ProcessRow,
        watch_patterns: Vec<String>,
        reply: oneshot::Sender<Result<Option<String>, usize>>,
    },
    NeverRan {
        id: String,
    },
    Began {
        id: String,
        pid: Option<u32>,
        control: Arc<dyn Control>,
        typing: Option<mpsc::Sender<Typed>>,
    },
    /// An earlier program's process.
    Adopted {
        row: ProcessRow,
        control: Arc<dyn Control>,
        output: String,
    },
    /// Ends of earlier programs' processes are on disk.
    FoundEnded,
    Output {
        id: String,
        text: String,
    },
    /// It has said nothing for a moment.
    Paused {
        id: String,
    },
    Exited {
        id: String,
        /// None when nobody saw how.
        exit: Option<Exit>,
    },
    /// The end is on disk.
    Settled {
        id: String,
        state: ProcessState,
    },
    Killing {
        id: String,
    },
    CloseInput {
        id: String,
        reply: oneshot::Sender<Option<bool>>,
    },
    /// Takes a text down and passes it on.
    Type {
        id: String,
        /// What was typed when it was decided to, in the count of versions.
        after: Option<u64>,
        typed: Typed,
        reply: oneshot::Sender<Result<(), ProcessError>>,
    },
    /// What was passed on is typed, but for its last bytes.
    Typed {
        id: String,
        left: usize,
    },
    TypedSoFar {
        id: String,
        reply: oneshot::Sender<Option<TypedSoFar>>,
    },
    Look {
        id: String,
        tail: usize,
        reply: oneshot::Sender<Option<ProcessInfo>>,
    },
    List {
        reply: oneshot::Sender<Vec<ProcessInfo>>,
    },
    Log {
        id: String,
        offset: usize,
        limit: usize,
        reply: oneshot::Sender<Option<ProcessLog>>,
    },
    Reach {
        id: String,
        reply: oneshot::Sender<Option<Reach>>,
    },
}

/// A way to the owner that does not keep it alive.
#[derive(Clone)]
pub(super) struct Owner(mpsc::WeakSender<Message>);

impl Owner {
    pub(super) fn of(messages: &mpsc::Sender<Message>) -> Self {
        Self(messages.downgrade())
    }

    /// `None` when nobody holds the registry any more.
    pub(super) async fn tell(&self, message: Message) -> Option<()> {
        self.0.upgrade()?.send(message).await.ok()
    }
}

/// Starts the task.
pub(super) fn start(
    tasks: &TaskTracker,
    store: Store,
    clock: Arc<dyn Clock>,
    cleaner: Cleaner,
) -> (mpsc::Sender<Message>, signal::Receiver<u64>) {
    let (sender, mut inbox) = mpsc::channel(QUEUE);
    let (changes, changed) = signal::channel(0);
    let mut registry = Registry {
        entries: HashMap::new(),
        breaker: Breaker::default(),
        store,
        clock,
        cleaner,
        tasks: tasks.clone(),
        owner: Owner::of(&sender),
        changes,
    };
    tasks.spawn(async move {
        while let Some(message) = inbox.recv().await {
            registry.hear(message);
        }
    });
    (sender, changed)
}

struct Registry {
    entries: HashMap<String, Entry>,
    breaker: Breaker,
    store: Store,
    clock: Arc<dyn Clock>,
    cleaner: Cleaner,
    tasks: TaskTracker,
    owner: Owner,
    changes: signal::Sender<u64>,
}

impl Registry {
    /// Whoever asked may have gone; then the answer is dropped.
    #[expect(
        clippy::too_many_lines,
        reason = "one arm for each message; what is more than a step has a function of its own"
    )]
    fn hear(&mut self, message: Message) {
        match message {
            Message::Reserve {
                row,
                watch_patterns,
                reply,
            } => {
                let _ = reply.send(self.reserve(row, watch_patterns));
            }
            Message::NeverRan { id } => {
                self.entries.remove(&id);
            }
            Message::Began {
                id,
                pid,
                control,
                typing,
            } => {
                if let Some(entry) = self.entries.get_mut(&id) {
                    entry.pid = pid;
                    entry.control = Some(control);
                    entry.typing = typing;
                }
            }
            Message::Adopted {
                row,
                control,
                output,
            } => self.adopt(row, control, &output),
            Message::FoundEnded => self.changes.send_modify(|count| *count += 1),
            Message::Output { id, text } => self.output(&id, &text),
            Message::Paused { id } => self.paused(&id),
            Message::Exited { id, exit } => self.exited(&id, exit),
            Message::Settled { id, state } => self.settled(&id, state),
            Message::Killing { id } => {
                if let Some(entry) = self.entries.get_mut(&id) {
                    entry.killing = true;
                }
            }
            Message::CloseInput { id, reply } => {
                let entry = self.entries.get_mut(&id);
                let _ = reply.send(entry.map(|entry| entry.typing.take().is_some()));
            }
            Message::Type {
                id,
                after,
                typed,
                reply,
            } => {
                let _ = reply.send(self.type_into(&id, after, typed));
            }
            Message::Typed { id, left } => {
                if let Some(entry) = self.entries.get_mut(&id) {
                    entry.typed.finish(left);
                }
            }
            Message::TypedSoFar { id, reply } => {
                let entry = self.entries.get(&id);
                let _ = reply.send(entry.map(|entry| entry.typed.so_far()));
            }
            Message::Look { id, tail, reply } => {
                let now = self.clock.now();
                let entry = self.entries.get(&id);
                let _ = reply.send(entry.map(|entry| entry.info(tail, now, &self.cleaner)));
            }
            Message::List { reply } => {
                let _ = reply.send(self.list());
            }
            Message::Log {
                id,
                offset,
                limit,
                reply,
            } => {
                let now = self.clock.now();
                let entry = self.entries.get(&id);
                let _ = reply.send(entry.map(|entry| entry.log(offset, limit, now, &self.cleaner)));
            }
            Message::Reach { id, reply } => {
                let entry = self.entries.get(&id);
                let _ = reply.send(entry.map(Entry::reach));
            }
        }
    }

    fn running(&self) -> impl Iterator<Item = &Entry> {
        self.entries
            .values()
            .filter(|entry| entry.state == ProcessState::Running)
    }

    fn reserve(
        &mut self,
        row: ProcessRow,
        watch_patterns: Vec<String>,
    ) -> Result<Option<String>, usize> {
        self.make_room();
        if self.entries.len() >= MOST {
            return Err(self.entries.len());
        }
        let equal = self.running().find(|entry| {
            let other = &entry.row;
            (&other.command, &other.directory, &other.place)
                == (&row.command, &row.directory, &row.place)
        });
        let equal = equal.map(|entry| entry.row.id.clone());
        let entry = Entry::new(row, Watch::new(watch_patterns));
        self.entries.insert(entry.row.id.clone(), entry);
        Ok(equal)
    }

    /// Taking it down comes before passing it on: what a process may have read is never unknown.
    fn type_into(
        &mut self,
        id: &str,
        after: Option<u64>,
        typed: Typed,
    ) -> Result<(), ProcessError> {
        let unknown = || ProcessError::NotFound(id.to_owned());
        let entry = self.entries.get_mut(id).ok_or_else(unknown)?;
        if entry.state != ProcessState::Running {
            return Err(ProcessError::NoInput("it has ended"));
        }
        let typing = entry.typing.as_ref().ok_or(ProcessError::NoInput(
            "it was started without, or it was closed",
        ))?;
        entry.typed.begin(&typed.bytes, after)?;
        let length = typed.bytes.len();
        typing.try_send(typed).map_err(|_| {
            entry.typed.finish(length);
            ProcessError::NoInput("it has closed it")
        })
    }

    /// Forgets what ended long ago, and what ended first while there are too many.
    fn make_room(&mut self) {
        let now = self.clock.now();
        self.entries.retain(|_, entry| {
            entry
                .ended_at
                .is_none_or(|ended| elapsed(ended, now) < KEPT_FOR)
        });
        while self.entries.len() >= MOST {
            let oldest = self
                .entries
                .values()
                .filter_map(|entry| Some((entry.ended_at?, entry.row.id.clone())))
                .min();
            match oldest {
                Some((_, id)) => self.entries.remove(&id),
                None => return,
            };
        }
    }

    fn adopt(&mut self, row: ProcessRow, control: Arc<dyn Control>, output: &str) {
        let mut entry = Entry::new(row, Watch::new(Vec::new()));
        entry.pid = entry
            .row
            .process
            .as_ref()
            .and_then(|process| u32::try_from(process.pid).ok());
        entry.control = Some(control);
        entry.detached = true;
        entry.output.push(output);
        self.entries.insert(entry.row.id.clone(), entry);
    }

    fn output(&mut self, id: &str, text: &str) {
        let now = self.clock.now();
        let Some(entry) = self.entries.get_mut(id) else {
            return;
        };
        entry.output.push(text);
        let verdict = entry.watch.push(text, now);
        self.watched(id, verdict, now);
    }

    /// What waits for the end of its line is looked at without one.
    fn paused(&mut self, id: &str) {
        let now = self.clock.now();
        if let Some(entry) = self.entries.get_mut(id) {
            let verdict = entry.watch.rest(now);
            self.watched(id, verdict, now);
        }
    }

    fn watched(&mut self, id: &str, verdict: Verdict, now: Timestamp) {
        let Some(entry) = self.entries.get_mut(id) else {
            return;
        };
        match verdict {
            Verdict::Nothing => {}
            Verdict::Tell { lines } => {
                let lines = self.cleaner.head(&entry.row.command, &lines, TAIL);
                let body = entry.body(json!({ "output": lines }));
                let admission = self.breaker.admit(now);
                match admission {
                    Admission::Granted => self.event(id, "watch_match", &body),
                    Admission::Released { dropped } => {
                        let released = json!({ "dropped": dropped });
                        self.event(id, "watch_overflow_released", &released);
                        self.event(id, "watch_match", &body);
                    }
                    Admission::Tripped => self.event(id, "watch_overflow_tripped", &body),
                    Admission::Refused => {}
                }
            }
            Verdict::GiveUp => {
                entry.row.notify = true;
                let body = entry.body(json!({ "notify_on_complete": true }));
                // The row behind this one is written after it; that one is waited for.
                drop(self.store.notify_of_process(id));
                self.event(id, "watch_disabled", &body);
            }
        }
    }

    /// The row is queued in the order things happened; only waiting for it is left to a task.
    fn event(&self, id: &str, kind: &str, body: &serde_json::Value) {
        let written = self.store.add_process_event(id, kind, body.to_string());
        let changes = self.changes.clone();
        self.tasks.spawn(async move {
            match written.await {
                Ok(_) => changes.send_modify(|count| *count += 1),
                Err(error) => tracing::error!(%error, "an event of a process was not stored"),
            }
        });
    }

    fn exited(&mut self, id: &str, exit: Option<Exit>) {
        self.paused(id);
        let Some(entry) = self.entries.get_mut(id) else {
            return;
        };
        entry.typing = None;
        let (exit_code, reason) = match exit {
            _ if entry.killing => (Some(KILLED), EndReason::Killed),
            Some(Exit::Code(code)) => (Some(code), EndReason::Exited),
            Some(Exit::Signal(signal)) => (Some(-signal), EndReason::Exited),
            None => (None, EndReason::Lost),
        };
        let body = entry.row.notify.then(|| {
            let output = self.cleaner.tail(&entry.row.command, &entry.output, TAIL);
            let how = json!({
                "exit_code": exit_code,
                "completion_reason": reason.word(),
                "output": output,
            });
            entry.body(how).to_string()
        });
        let end = ProcessEnd {
            exit_code,
            reason: reason.word().to_owned(),
        };
        let written = self.store.end_process(id, end, body);
        let (id, owner) = (id.to_owned(), self.owner.clone());
        let state = ProcessState::Exited { exit_code, reason };
        self.tasks.spawn(async move {
            if let Err(error) = written.await {
                tracing::error!(%error, "the end of a process was not stored");
            }
            owner.tell(Message::Settled { id, state }).await;
        });
    }

    fn settled(&mut self, id: &str, state: ProcessState) {
        let now = self.clock.now();
        if let Some(entry) = self.entries.get_mut(id) {
            entry.state = state;
            entry.control = None;
            entry.ended_at = Some(now);
            entry.done.send_replace(true);
        }
        self.changes.send_modify(|count| *count += 1);
    }

    fn list(&mut self) -> Vec<ProcessInfo> {
        let now = self.clock.now();
        let mut all: Vec<ProcessInfo> = self
            .entries
            .values()
            .map(|entry| entry.info(PREVIEW, now, &self.cleaner))
            .collect();
        all.sort_by(|one, other| {
            one.started_at
                .total_cmp(&other.started_at)
                .then_with(|| one.id.cmp(&other.id))
        });
        all
    }
}

fn elapsed(since: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(since)).unwrap_or_default()
}
