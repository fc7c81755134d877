//! A call that its server carries out as a task: it is started once, and asked about on whatever session
//! there is until it is over.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value as Json;

use super::Call;
use crate::breaker::CallNumber;
use crate::failure::quoted;
use crate::session::Session;
use crate::supervisor::{Begin, Verdict};
use crate::task::{self, Report, Status, Task};
use crate::{Failure, Handle, Operation, View};

/// Shortest time between two questions about a task, whatever news there is.
const LEAST_PAUSE: Duration = Duration::from_millis(100);
/// How much longer than the call a result is kept: while a person is asked, the call's time stands still.
const KEPT: u32 = 3;

impl Call<'_> {
    /// The call as a task, if the tool wants to be called so.
    pub(super) async fn as_task(&self, session: &Arc<Session>) -> Option<Result<Json, Failure>> {
        if let Some(task) = self.task.get() {
            return Some(self.follow(session, task).await);
        }
        let Operation::CallTool {
            name, arguments, ..
        } = self.operation
        else {
            return None;
        };
        let catalog = self.handle.view().catalog;
        if !catalog.tool(name).is_some_and(|tool| tool.needs_task) {
            return None;
        }
        let keep = self.patience.limit.saturating_mul(KEPT);
        let request = task::start(name, arguments, keep);
        Some(self.begun(session, request).await)
    }

    async fn begun(
        &self,
        session: &Arc<Session>,
        request: rmcp::model::ClientRequest,
    ) -> Result<Json, Failure> {
        let (answer, following) = session.ask_following(request, &self.patience).await?;
        let Some(task) = Task::read(&answer, following)? else {
            return Ok(answer);
        };
        self.entered.works_on(&task.id);
        // Set once: a second attempt finds it.
        drop(self.task.set(task));
        match self.task.get() {
            Some(task) => self.follow(session, task).await,
            None => Ok(answer),
        }
    }

    /// Waits for the end of a task. Whoever stops waiting gives it up.
    async fn follow(&self, session: &Arc<Session>, task: &Task) -> Result<Json, Failure> {
        let mut leaving = Leaving {
            session,
            task: &task.id,
            gives_up: true,
        };
        let ended = self.outcome(session, task).await;
        leaving.gives_up = match &ended {
            Err(Failure::Cancelled | Failure::Timeout { .. } | Failure::Protocol { .. }) => true,
            // It is over, or is asked about on the next session.
            Ok(_) | Err(_) => false,
        };
        ended
    }

    async fn outcome(&self, session: &Session, task: &Task) -> Result<Json, Failure> {
        let mut interval = task.interval;
        let mut report = self.report(session, task).await?;
        loop {
            interval = report.interval.unwrap_or(interval);
            match report.status {
                Status::Working => {
                    self.pause(interval).await?;
                    report = self.report(session, task).await?;
                }
                Status::Cancelled => return Ok(report.as_failed("the server gave the task up")),
                // A result that is not there yet is waited for by the server, which puts its questions to us
                // meanwhile.
                Status::InputRequired | Status::Completed | Status::Failed => {
                    let asked = task::about(&task.id, "result");
                    let refused = match session.ask(asked, &self.patience).await {
                        Err(refused @ Failure::Rpc { .. }) => refused,
                        other => return other,
                    };
                    report = self.report(session, task).await?;
                    match report.status {
                        Status::Failed => return Ok(report.as_failed(&refused.to_string())),
                        Status::Completed => return Err(refused),
                        Status::Working | Status::Cancelled => {}
                        Status::InputRequired => self.pause(interval).await?,
                    }
                }
            }
        }
    }

    async fn report(&self, session: &Session, task: &Task) -> Result<Report, Failure> {
        let asked = task::about(&task.id, "get");
        let report = Report::read(&session.ask(asked, &self.patience).await?)?;
        if let Some(message) = &report.message {
            let redactor = self.handle.shared.ears.redactor.snapshot();
            task.following.say(quoted(&redactor, message));
        }
        Ok(report)
    }

    /// Waits for as long as the server says, or for news.
    async fn pause(&self, interval: Duration) -> Result<(), Failure> {
        let mut news = std::pin::pin!(self.handle.shared.ears.task_news.notified());
        news.as_mut().enable();
        let rest = interval.saturating_sub(LEAST_PAUSE);
        let over = async {
            tokio::time::sleep(LEAST_PAUSE.min(interval)).await;
            tokio::select! {
                () = tokio::time::sleep(rest) => {}
                () = news => {}
            }
        };
        tokio::select! {
            biased;
            () = self.patience.cancel.cancelled() => Err(Failure::Cancelled),
            () = over => Ok(()),
        }
    }

    /// Watches over the task while a session is waited for.
    pub(super) fn adrift(&self) -> Adrift<'_> {
        Adrift {
            call: self,
            found: false,
        }
    }

    /// The time of the call is over, counted from when its task was started. Never, for other calls: each of
    /// their requests has a limit of its own.
    pub(super) async fn task_overdue(&self) -> Failure {
        let task = self.task.wait().await;
        self.patience.over().await;
        Failure::Timeout {
            after: self.patience.limit,
            said: task.following.last(),
        }
    }
}

/// A task whose session is gone. Unless a newer session is found to ask about it, nobody will, and the server
/// is told so as soon as it can be.
pub(super) struct Adrift<'a> {
    call: &'a Call<'a>,
    found: bool,
}

impl Adrift<'_> {
    pub(super) fn found(mut self) {
        self.found = true;
    }
}

impl Drop for Adrift<'_> {
    fn drop(&mut self) {
        if let Some(task) = self.call.task.get().filter(|_| !self.found) {
            self.call
                .handle
                .give_up_later(self.call.number, task.id.clone());
        }
    }
}

impl Handle {
    /// Tells the server that nobody waits for a task any more, on the next session there is, if it comes soon.
    fn give_up_later(&self, call: CallNumber, task: String) {
        let handle = self.clone();
        self.shared.tasks.spawn(async move {
            let limit = handle.shared.policy.fresh_session_wait;
            let over = |view: &View| view.is_ready() || !view.state.is_alive();
            if !handle.wait_for(limit, over).await.is_ready() {
                tracing::debug!(server = handle.name(), "a task could not be given up");
                return;
            }
            if let Some(Begin::Go(session)) = handle.begin(call).await {
                session.give_up(&task);
            }
            handle.report_now(call, Verdict::Nothing);
        });
    }
}

/// Tells the server that nobody wants to know any more, unless something else is decided.
struct Leaving<'a> {
    session: &'a Session,
    task: &'a str,
    gives_up: bool,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        if self.gives_up {
            self.session.give_up(self.task);
        }
    }
}
