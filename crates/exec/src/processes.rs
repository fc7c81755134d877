//! What runs in the background: started here, followed to its end, told about exactly once.
//!
//! One task owns all of it. What a conversation has to hear is a row before anybody is offered it, written
//! in the same step as the end it reports, and stays until the store passed it on. Flags
//! are part of the start, so a process that ends at once is told like any other.

mod cleaned;
mod entry;
mod follower;
mod logs;
mod owner;
mod recover;
mod rolling;
mod typed;
mod types;
mod watch;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hermes_store::{ProcessEnd, ProcessEvent, ProcessRow};
use tokio::sync::watch as signal;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::{Backend, Control, Ending, ExecError, Launch, Place, Process};
use cleaned::Cleaner;
use owner::{Message, Owner};
pub use recover::Recovered;
pub use typed::TypedSoFar;
pub use types::{
    EndReason, Killed, ProcessError, ProcessInfo, ProcessLog, ProcessState, ProcessesOptions,
    StartProcess, StartedProcess, Waited,
};

/// Events handed out at once.
const MOST_EVENTS: usize = 64;
/// How long a process may take to read what is typed to it.
const TYPING_LIMIT: Duration = Duration::from_secs(10);
/// How long a killed process may take to be gone.
const GONE_WITHIN: Duration = Duration::from_secs(5);

/// The registry, shared by cloning.
#[derive(Clone)]
pub struct Processes {
    shared: Arc<Shared>,
    messages: tokio::sync::mpsc::Sender<Message>,
}

pub(crate) struct Shared {
    options: ProcessesOptions,
    tasks: TaskTracker,
    changed: signal::Receiver<u64>,
    /// Who we are in the rows of processes we follow.
    name: String,
}

impl Processes {
    /// A registry. Must be made inside a runtime.
    pub fn new(options: ProcessesOptions) -> Self {
        let tasks = TaskTracker::new();
        let (messages, changed) = owner::start(
            &tasks,
            options.store.clone(),
            Arc::clone(&options.clock),
            Cleaner::new(&options),
        );
        Self {
            shared: Arc::new(Shared {
                options,
                tasks,
                changed,
                name: recover::our_name(),
            }),
            messages,
        }
    }

    /// Starts a process.
    pub async fn start(&self, start: StartProcess) -> Result<StartedProcess, ProcessError> {
        let this = self.clone();
        // In a task of its own: a caller that goes away in the middle leaves nothing half done.
        let started = self
            .shared
            .tasks
            .spawn(async move { this.begin(start).await });
        started
            .await
            .unwrap_or(Err(ProcessError::Exec(ExecError::Cancelled)))
    }

    async fn begin(&self, start: StartProcess) -> Result<StartedProcess, ProcessError> {
        let options = &self.shared.options;
        let id = format!("proc_{:012x}", options.random.next_u64() & 0xffff_ffff_ffff);
        let log = options.logs.join(format!("{id}.log"));
        let row = self.row(&id, &log, &start);
        let equal_running = self
            .ask(|reply| Message::Reserve {
                row: row.clone(),
                watch_patterns: start.watch_patterns,
                reply,
            })
            .await?
            .map_err(ProcessError::TooMany)?;
        let mut launch = start.launch;
        launch.id = crate::RunId::new(id.trim_start_matches("proc_"));
        let mut process = match self.launched(row, &start.backend, launch).await {
            Ok(process) => process,
            Err(error) => {
                self.tell(Message::NeverRan { id: id.clone() }).await?;
                let end = ProcessEnd {
                    exit_code: None,
                    reason: "never_started".to_owned(),
                };
                options.store.end_process(&id, end, None).await?;
                return Err(error);
            }
        };
        let pid = process.pid;
        let typing = process.input.take().map(|input| {
            let owner = Owner::of(&self.messages);
            follower::typing(&self.shared.tasks, id.clone(), input, owner)
        });
        self.tell(Message::Began {
            id: id.clone(),
            pid,
            control: Arc::clone(&process.control),
            typing,
        })
        .await?;
        let owner = Owner::of(&self.messages);
        self.shared
            .tasks
            .spawn(follower::follow(id.clone(), process, log, owner));
        Ok(StartedProcess {
            id,
            pid,
            equal_running,
        })
    }

    /// What is written down about a process before it runs.
    fn row(&self, id: &str, log: &Path, start: &StartProcess) -> ProcessRow {
        let options = &self.shared.options;
        ProcessRow {
            id: id.to_owned(),
            session: start.session.clone(),
            // Rows and events outlive what was asked for, and are shown.
            command: Cleaner::new(options).all(&start.command, &start.command),
            directory: start.directory.display().to_string(),
            place: place_name(&start.backend.place()),
            owner: self.shared.name.clone(),
            process: None,
            log: log.display().to_string(),
            notify: start.notify_on_complete,
            started_at: options.clock.now().as_duration().as_secs_f64(),
        }
    }

    /// Starts a process whose row is written first, and then completed.
    async fn launched(
        &self,
        row: ProcessRow,
        backend: &Arc<dyn Backend>,
        launch: Launch,
    ) -> Result<Process, ProcessError> {
        let store = &self.shared.options.store;
        let id = row.id.clone();
        store.add_process(row).await?;
        let process = backend.spawn(launch).await?;
        if let (Place::Host, Some(pid)) = (backend.place(), process.pid)
            && let Some(identity) = recover::identify(pid)
            && let Err(error) = store.identify_process(&id, identity).await
        {
            // It runs, but nobody would find it again: it must not go on unseen.
            process.control.end(Ending::Kill).await?;
            return Err(error.into());
        }
        Ok(process)
    }

    /// All processes, oldest first.
    pub async fn list(&self) -> Result<Vec<ProcessInfo>, ProcessError> {
        self.ask(|reply| Message::List { reply }).await
    }

    /// One process with the last `tail` characters of its output. Does not count as having seen its end.
    pub async fn poll(&self, id: &str, tail: usize) -> Result<ProcessInfo, ProcessError> {
        self.ask(|reply| Message::Look {
            id: id.to_owned(),
            tail,
            reply,
        })
        .await?
        .ok_or_else(|| ProcessError::NotFound(id.to_owned()))
    }

    /// `limit` lines of output from line `offset` on; the last ones when it is 0. Reading the last line of
    /// a process that has ended counts as having seen its end.
    pub async fn log(
        &self,
        id: &str,
        offset: usize,
        limit: usize,
    ) -> Result<ProcessLog, ProcessError> {
        let log = self
            .ask(|reply| Message::Log {
                id: id.to_owned(),
                offset,
                limit,
                reply,
            })
            .await?
            .ok_or_else(|| ProcessError::NotFound(id.to_owned()))?;
        let to_the_end = log.first_line + log.line_count >= log.total_lines;
        if to_the_end && log.info.state != ProcessState::Running {
            self.seen(id).await?;
        }
        Ok(log)
    }

    /// Waits for the end. Seeing it here is having seen it.
    pub async fn wait(
        &self,
        id: &str,
        limit: Duration,
        cancel: &CancellationToken,
        tail: usize,
    ) -> Result<Waited, ProcessError> {
        let reach = self.reach(id).await?;
        let mut done = reach.done;
        let interrupted = tokio::select! {
            biased;
            () = cancel.cancelled() => true,
            _ = timeout(limit, done.wait_for(|done| *done)) => false,
        };
        let info = self.poll(id, tail).await?;
        Ok(match (info.state, interrupted) {
            (ProcessState::Exited { .. }, _) => {
                self.seen(id).await?;
                Waited::Exited(info)
            }
            (ProcessState::Running, true) => Waited::Interrupted(info),
            (ProcessState::Running, false) => Waited::TimedOut(info),
        })
    }

    /// Ends a process and everything it started.
    pub async fn kill(&self, id: &str, tail: usize) -> Result<Killed, ProcessError> {
        let info = self.poll(id, tail).await?;
        if info.state != ProcessState::Running {
            return Ok(Killed::AlreadyExited(info));
        }
        self.tell(Message::Killing { id: id.to_owned() }).await?;
        let reach = self.reach(id).await?;
        let Some(control) = reach.control else {
            return Ok(Killed::Survived(info));
        };
        let mut done = reach.done;
        let grace = self.shared.options.grace;
        control.end(Ending::Terminate).await?;
        if !grace.is_zero() {
            // What ignores the first signal may outlive the process itself, so the second one always goes out.
            let _ = timeout(grace, done.wait_for(|done| *done)).await;
            control.end(Ending::Kill).await?;
        }
        let gone = timeout(GONE_WITHIN, done.wait_for(|done| *done))
            .await
            .is_ok();
        let info = self.poll(id, tail).await?;
        if !gone {
            return Ok(Killed::Survived(info));
        }
        self.seen(id).await?;
        Ok(Killed::Killed(info))
    }

    /// What was typed into a process, by whomever.
    pub async fn typed(&self, id: &str) -> Result<TypedSoFar, ProcessError> {
        self.ask(|reply| Message::TypedSoFar {
            id: id.to_owned(),
            reply,
        })
        .await?
        .ok_or_else(|| ProcessError::NotFound(id.to_owned()))
    }

    /// Writes to the standard input of a process. Answers how many bytes.
    pub async fn write(&self, id: &str, data: &[u8]) -> Result<usize, ProcessError> {
        self.pass_on(id, None, data).await
    }

    /// The same, for a text that was judged by what was typed `before` it: nothing is written when that has
    /// changed.
    pub async fn write_after(
        &self,
        id: &str,
        before: &TypedSoFar,
        data: &[u8],
    ) -> Result<usize, ProcessError> {
        self.pass_on(id, Some(before.version), data).await
    }

    async fn pass_on(
        &self,
        id: &str,
        after: Option<u64>,
        data: &[u8],
    ) -> Result<usize, ProcessError> {
        let keyboard = self.reach(id).await?.keyboard;
        let written = timeout(TYPING_LIMIT, async {
            let _turn = keyboard.lock().await;
            let (reply, answer) = tokio::sync::oneshot::channel();
            let typed = follower::Typed {
                bytes: data.to_vec(),
                reply,
            };
            self.ask(|reply| Message::Type {
                id: id.to_owned(),
                after,
                typed,
                reply,
            })
            .await??;
            match answer.await {
                Ok(Ok(())) => Ok(data.len()),
                Ok(Err(_)) | Err(_) => Err(ProcessError::NoInput("it has closed it")),
            }
        });
        let late = Err(ProcessError::NoInput("it does not read it"));
        written.await.unwrap_or(late)
    }

    /// Ends the standard input of a process.
    pub async fn close_input(&self, id: &str) -> Result<(), ProcessError> {
        let found = self
            .ask(|reply| Message::CloseInput {
                id: id.to_owned(),
                reply,
            })
            .await?;
        match found {
            Some(true) => Ok(()),
            Some(false) => Err(ProcessError::NoInput(
                "it was started without, or it was closed",
            )),
            None => Err(ProcessError::NotFound(id.to_owned())),
        }
    }

    /// What a conversation has not heard yet, oldest first.
    pub async fn events(&self, session: &str) -> Result<Vec<ProcessEvent>, ProcessError> {
        let store = &self.shared.options.store;
        Ok(store.open_process_events(session, MOST_EVENTS).await?)
    }

    /// Changes whenever there may be a new event for somebody.
    pub fn changed(&self) -> signal::Receiver<u64> {
        self.shared.changed.clone()
    }

    async fn seen(&self, id: &str) -> Result<(), ProcessError> {
        let store = &self.shared.options.store;
        store.acknowledge_process_end(id).await?;
        Ok(())
    }

    async fn reach(&self, id: &str) -> Result<Reach, ProcessError> {
        self.ask(|reply| Message::Reach {
            id: id.to_owned(),
            reply,
        })
        .await?
        .ok_or_else(|| ProcessError::NotFound(id.to_owned()))
    }

    async fn tell(&self, message: Message) -> Result<(), ProcessError> {
        let told = self.messages.send(message).await;
        told.map_err(|_| ProcessError::Exec(ExecError::Cancelled))
    }

    async fn ask<T>(
        &self,
        message: impl FnOnce(tokio::sync::oneshot::Sender<T>) -> Message,
    ) -> Result<T, ProcessError> {
        let (reply, answer) = tokio::sync::oneshot::channel();
        self.tell(message(reply)).await?;
        answer
            .await
            .map_err(|_| ProcessError::Exec(ExecError::Cancelled))
    }
}

/// The ways to reach a process.
pub(crate) struct Reach {
    control: Option<Arc<dyn Control>>,
    keyboard: Arc<tokio::sync::Mutex<()>>,
    done: signal::Receiver<bool>,
}

/// A place in the words of rows.
fn place_name(place: &Place) -> String {
    match place {
        Place::Host => "host".to_owned(),
        Place::Away { kind, label } => format!("{kind} {label}"),
    }
}
