//! A look back: the conversation as it was sent, one more message, and a few calls of memory and skills.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hermes_config::Config;
use hermes_core::{
    CallId, Event, Message, ModelRequest, Origin, Role, RunMode, SessionId, ToolContext, TurnId,
};
use hermes_llm::{Course, Route};
use hermes_store::{JournalOrigin, NewJournalEntry};
use tokio_util::sync::CancellationToken;

use super::due::{Due, Since};
use super::{digest, words};
use crate::asker::SessionAsker;
use crate::engine::Shared;
use crate::errand::{Budget, Errand, Outcome};
use crate::host::Host;
use crate::lane::Lane;
use crate::toolbox::Toolbox;
use crate::turn::Turn;

/// The task, as `auxiliary` in the settings and the ledger name it.
const TASK: &str = "background_review";
/// Most model calls of one look back.
const MOST_CALLS: u32 = 16;
/// The tools that work in it.
const HANDS: [&str; 4] = ["memory", "skills_list", "skill_view", "skill_manage"];
/// What a look back is called in the journal, and one that did not come about.
const REVIEW: &str = "review";
const MISSED: &str = "review:missed";
/// One look back at a time for all sessions and processes of a home. One that is killed holds others up so long.
const LEASE: &str = "looking back";
const HELD: Duration = Duration::from_secs(60);
/// The time budgets are counted in.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// What a look back works with, as it was when the turn ended.
pub(crate) struct Review {
    shared: Arc<Shared>,
    session: SessionId,
    turn: TurnId,
    due: Due,
    main: Arc<Route>,
    request: ModelRequest,
    toolbox: Arc<Toolbox>,
    directory: PathBuf,
    events: Lane<Event>,
    /// Fires when the program ends; the session may be over before.
    cancel: CancellationToken,
    /// What was said in other conversations that nobody has looked back on, in short.
    elsewhere: Option<String>,
    /// What was not read yet.
    since: Since,
    /// Whether the one before in this session failed: that was written down once.
    again: bool,
}

/// How a look back ended.
pub(crate) enum Ended {
    /// A model looked; what it read counts as read.
    Done,
    /// None could; everything still counts.
    Failed,
    /// Another session is looking back right now.
    Elsewhere,
}

impl Review {
    pub(super) fn of(turn: &Turn<'_>, due: Due, since: Since) -> Self {
        let around = &turn.around;
        let others = since.unread_for(due);
        let others = others.filter(|said| said.row.session != around.spec.id);
        let elsewhere = digest::elsewhere(others);
        Self {
            shared: around.shared.clone(),
            session: around.spec.id.clone(),
            turn: turn.id,
            due,
            main: around.spec.course.route().clone(),
            request: turn.snapshot(),
            toolbox: turn.toolbox.clone(),
            directory: around.spec.directory.clone(),
            events: around.events.clone(),
            cancel: around.services.stop.child_token(),
            elsewhere,
            since,
            again: around.learning.failures > 0,
        }
    }

    fn config(&self) -> &Config {
        &self.shared.services.config
    }

    /// Does it unless somebody else does, notes how far was read, writes down how it went and tells the user.
    pub(super) async fn run(mut self) -> Ended {
        let store = self.shared.services.store.clone();
        let holder = format!("{}/{}", self.session, self.turn.0);
        match store.take_lease(LEASE, &holder, HELD).await {
            Ok(true) => {}
            Ok(false) => return Ended::Elsewhere,
            Err(error) => {
                tracing::warn!(%error, "a look back could not begin");
                return Ended::Failed;
            }
        }
        // Whoever held it may have read the same a moment ago.
        let now = store.unread(&self.session).await;
        if now.is_ok_and(|now| self.since.is_outdated(self.due, &now)) {
            self.release(&holder).await;
            return Ended::Elsewhere;
        }
        let outcome = {
            let mut work = std::pin::pin!(self.work());
            loop {
                tokio::select! {
                    outcome = &mut work => break outcome,
                    () = tokio::time::sleep(HELD / 3) => {
                        if let Err(error) = store.take_lease(LEASE, &holder, HELD).await {
                            tracing::warn!(%error, "others may look back at the same time");
                        }
                    }
                }
            }
        };
        let ended = self.close(&outcome).await;
        self.release(&holder).await;
        self.tell(&outcome).await;
        ended
    }

    async fn release(&self, holder: &str) {
        let store = &self.shared.services.store;
        if let Err(error) = store.release_lease(LEASE, holder).await {
            tracing::warn!(%error, "nobody else looks back for a while");
        }
    }

    /// What was read counts as read once a model has answered, and not before.
    async fn close(&self, outcome: &Outcome) -> Ended {
        let store = &self.shared.services.store;
        let came_about = outcome.came_about();
        if came_about
            && let Err(error) = store
                .looked_back(&self.session, self.due.kinds(), self.since.end())
                .await
        {
            tracing::warn!(%error, "a look back will be made once more");
        }
        if came_about || !(self.again || outcome.stopped) {
            let entry = NewJournalEntry {
                origin: JournalOrigin::BackgroundReview,
                session: Some(self.session.to_string()),
                subject: if came_about { REVIEW } else { MISSED }.to_owned(),
                path: None,
                before: None,
                after: None,
                summary: words::summary(outcome),
            };
            if let Err(error) = store.append_journal(entry).await {
                tracing::warn!(%error, "a look back could not be written down");
            }
        }
        match came_about {
            true => Ended::Done,
            false => Ended::Failed,
        }
    }

    /// Tells the user what was changed, as far as the user wants to know. A session that is over hears nothing.
    async fn tell(&self, outcome: &Outcome) {
        let how = self.config().display.memory_notifications;
        if let Some(text) = words::told(how, outcome) {
            let event = Event::Notice { text };
            self.events.send_until(event, &self.cancel).await;
        }
    }

    async fn work(&mut self) -> Outcome {
        let mut course = self.course();
        let mut request = self.request.clone();
        let asked = Message::text(
            Role::User,
            words::request(self.due, self.elsewhere.as_deref()),
        );
        request.messages.push(asked.into());
        let services = &self.shared.services;
        let errand = Errand {
            caller: &services.caller,
            store: &services.store,
            clock: &*services.clock,
            redactor: &services.redactor,
            spill: services.spill.join(self.session.as_str()),
            task: TASK,
            session: Some(self.session.clone()),
            toolbox: self.toolbox.clone(),
            hands: &HANDS,
            refused: words::refused,
            most_calls: MOST_CALLS,
            budget: Some(Budget {
                tokens: self.config().learning.daily_tokens.into(),
                period: DAY,
                spent: "the tokens for looking back are spent for today",
            }),
            limit: self.config().auxiliary.background_review.timeout,
            context: self.context(),
        };
        errand.run(request, &mut course).await
    }

    /// The conversation's own model, which has read all of it, or the one the user named for this, which gets it in
    /// short.
    fn course(&mut self) -> Course {
        let mut helpers = self.shared.services.routes.helpers(TASK, &self.main);
        // A model may be named without its provider: it is then the conversation's.
        let first = helpers.routes.first();
        if !first.is_some_and(|first| helpers.named || first.model != self.main.model) {
            return Course::new(self.main.clone(), Vec::new());
        }
        let first = helpers.routes.remove(0);
        self.request.model.clone_from(&first.model);
        self.request.messages = digest::shorten(&self.request.messages);
        self.request.settings.effort = helpers.effort;
        Course::new(first, helpers.routes).beside()
    }

    /// Nobody can be asked here, so what needs a yes is put aside or refused.
    fn context(&self) -> ToolContext {
        ToolContext {
            session: self.session.clone(),
            turn: self.turn,
            call: CallId(String::new()),
            directory: self.directory.clone(),
            cancel: self.cancel.child_token(),
            deadline: self.config().auxiliary.background_review.timeout,
            asker: SessionAsker::new(self.events.clone(), None),
            mode: RunMode::Manual,
            attended: false,
            lasting: true,
            origin: Origin::Review,
            nested: false,
            host: Arc::new(Host {
                shared: self.shared.clone(),
                session: self.session.clone(),
                main: self.main.clone(),
                events: self.events.clone(),
                toolbox: self.toolbox.clone(),
            }),
        }
    }
}
