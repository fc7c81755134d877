//! The way of every operation to its answer: the breaker, a session, the request, and what is done when it
//! fails.

mod recover;
mod tasks;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value as Json;
use tokio::sync::SetOnce;

use crate::breaker::CallNumber;
use crate::requests::{Caller, Entered};
use crate::session::{Patience, Session};
use crate::state::State;
use crate::supervisor::{Begin, Command, Verdict};
use crate::task::Task;
use crate::{Failure, Handle, Operation, RecoveryPolicy, Trouble, View};

impl Handle {
    /// Does an operation and answers with the result as the server sent it. An answer in which a tool says
    /// that it failed is an answer.
    pub async fn call(&self, operation: Operation, caller: Caller) -> Result<Json, Trouble> {
        let asking = self.shared.callers.asking();
        let (cancel, progress) = (caller.cancel.clone(), caller.progress.clone());
        let entered = self.shared.callers.enter(caller.clone());
        let number = entered.number();
        let call = Call {
            handle: self,
            number,
            caller,
            entered: &entered,
            operation: &operation,
            task: SetOnce::new(),
            session: AtomicU64::new(0),
            patience: Patience {
                limit: self.shared.policy.call_timeout,
                cancel,
                asking: Some(asking),
                progress,
            },
        };
        let mut turn = Turn {
            handle: self,
            number,
            settled: false,
        };
        let ended = call.run().await;
        turn.settled = true;
        let verdict = match &ended {
            Ok(_) => Some(Verdict::Answered),
            Err(end) => end.verdict,
        };
        if let Some(verdict) = verdict {
            let session = call.session.load(Ordering::Relaxed);
            let report = Command::Report {
                call: number,
                session: (session > 0).then_some(session),
                verdict,
            };
            self.command(report).await;
        }
        ended.map_err(|end| end.trouble)
    }
}

/// One call on its way.
struct Call<'a> {
    handle: &'a Handle,
    number: CallNumber,
    caller: Caller,
    entered: &'a Entered,
    operation: &'a Operation,
    /// The task that the server carries it out as, once there is one.
    task: SetOnce<Task>,
    /// The generation of the session it was last tried on; they begin with 1.
    session: AtomicU64,
    patience: Patience,
}

/// How a call ended without an answer.
struct End {
    trouble: Trouble,
    /// What it says about the server; nothing when the breaker was not asked.
    verdict: Option<Verdict>,
}

impl End {
    fn strike(trouble: Trouble) -> Self {
        Self {
            trouble,
            verdict: Some(Verdict::Strike),
        }
    }

    fn silent(trouble: Trouble) -> Self {
        Self {
            trouble,
            verdict: None,
        }
    }

    /// A failure that nothing can be done about.
    fn of(failure: &Failure, call: &Call<'_>) -> Self {
        let verdict = match failure.is_strike() {
            true => Verdict::Strike,
            // A call that was stopped says nothing; an error of the caller's was an answer.
            false if matches!(failure, Failure::Cancelled) => Verdict::Nothing,
            false => Verdict::Answered,
        };
        Self {
            trouble: call.trouble(failure),
            verdict: Some(verdict),
        }
    }
}

/// Makes sure that a call that is dropped on its way does not keep the breaker waiting.
struct Turn<'a> {
    handle: &'a Handle,
    number: CallNumber,
    settled: bool,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if !self.settled {
            self.handle.report_now(self.number, Verdict::Nothing);
        }
    }
}

impl Call<'_> {
    async fn run(&self) -> Result<Json, End> {
        let session = self.session().await?;
        let answered = async {
            match self.attempt(&session).await {
                Ok(answer) => Ok(answer),
                Err(failure) => self.recover(&session, failure).await,
            }
        };
        tokio::select! {
            biased;
            answered = answered => answered,
            overdue = self.task_overdue() => Err(self.ended(overdue)),
        }
    }

    fn policy(&self) -> &RecoveryPolicy {
        &self.handle.shared.policy
    }

    async fn attempt(&self, session: &Arc<Session>) -> Result<Json, Failure> {
        self.session.store(session.generation, Ordering::Relaxed);
        if let Some(ended) = self.as_task(session).await {
            return ended;
        }
        self.operation
            .run(session, &self.patience, self.policy())
            .await
    }

    /// The session, after a short wait if there is none.
    async fn session(&self) -> Result<Arc<Session>, End> {
        let (state, failed_attempts) = match self.begin().await? {
            Begin::Go(session) => return Ok(session),
            Begin::Open { failures, wait } => return Err(open(failures, wait)),
            Begin::Absent {
                state,
                failed_attempts,
            } => (state, failed_attempts),
        };
        let wait = match state {
            State::Recycled => self.policy().wake_wait,
            _ => self.policy().absent_session_wait,
        };
        let wait = wait.min(self.patience.limit);
        self.handle.wanted().await;
        self.first_connection().await?;
        // Not worth waiting for any more: ready, or tried and given up again.
        let over = move |view: &View| match view.state {
            State::Ready | State::Stopping | State::Stopped => true,
            State::Parked | State::NeedsAuth => view.failed_attempts > failed_attempts,
            State::Connecting { .. } | State::Reconnecting { .. } | State::Recycled => false,
        };
        let view = tokio::select! {
            biased;
            () = self.patience.cancel.cancelled() => return Err(self.ended(Failure::Cancelled)),
            view = self.handle.wait_for(wait, over) => view,
        };
        match view.state {
            State::Ready => match self.begin().await? {
                Begin::Go(session) => Ok(session),
                Begin::Open { failures, wait } => Err(open(failures, wait)),
                Begin::Absent { .. } => Err(End::strike(self.absent(&self.handle.view(), wait))),
            },
            State::NeedsAuth => Err(End::strike(Trouble::NeedsReauth {
                why: view.last_error.unwrap_or_default(),
                how: self.handle.server().way_in(),
            })),
            State::Stopping | State::Stopped => Err(End::silent(Trouble::NotConnected)),
            State::Connecting { .. }
            | State::Reconnecting { .. }
            | State::Recycled
            | State::Parked => Err(End::strike(self.absent(&view, wait))),
        }
    }

    /// Waits for the first attempt to connect, which has a time of its own: programs that are fetched or built first
    /// take a while, and nothing says yet that anything is wrong.
    async fn first_connection(&self) -> Result<(), End> {
        let tried = |view: &View| !matches!(view.state, State::Connecting { failures: 0 });
        let limit = self.policy().connect_timeout.min(self.patience.limit);
        tokio::select! {
            biased;
            () = self.patience.cancel.cancelled() => Err(self.ended(Failure::Cancelled)),
            _ = self.handle.wait_for(limit, tried) => Ok(()),
        }
    }

    /// What the model is told when there is no session, and none came within `waited`.
    fn absent(&self, view: &View, waited: Duration) -> Trouble {
        let why = view.last_failure.clone();
        let until = view.next_try.map(|at| {
            let left = at.duration_since(self.handle.shared.clock.now());
            Duration::try_from(left).unwrap_or_default()
        });
        match (view.state, until) {
            (State::Parked, Some(retry_in)) => Trouble::Down { why, retry_in },
            (_, until) => Trouble::Reconnecting {
                why,
                wait: until.unwrap_or(waited),
            },
        }
    }

    async fn begin(&self) -> Result<Begin, End> {
        let asked = tokio::select! {
            biased;
            () = self.patience.cancel.cancelled() => return Err(self.ended(Failure::Cancelled)),
            asked = self.handle.begin(self.number) => asked,
        };
        asked.ok_or_else(|| End::silent(Trouble::NotConnected))
    }

    /// Whether it may be tried again after this was sent. A task that runs is only asked about.
    fn is_repeatable(&self) -> bool {
        self.task.initialized() || self.operation.is_repeatable()
    }

    fn may_have_run(&self, failure: &Failure) -> bool {
        self.task.initialized() || failure.may_have_run()
    }

    fn ended(&self, failure: Failure) -> End {
        End::of(&failure, self)
    }

    /// What the model is told about a failure.
    fn trouble(&self, failure: &Failure) -> Trouble {
        let (kind, text) = (failure.kind().to_owned(), failure.to_string());
        match failure {
            Failure::Cancelled => Trouble::Interrupted,
            Failure::Auth { .. } => Trouble::NeedsReauth {
                why: text,
                how: self.handle.server().way_in(),
            },
            _ if self.may_have_run(failure) && !self.operation.is_repeatable() => {
                Trouble::OutcomeUnknown { kind, text }
            }
            _ => Trouble::Failed { kind, text },
        }
    }
}

fn open(failures: u32, retry_in: Duration) -> End {
    End::silent(Trouble::Unreachable { failures, retry_in })
}
