//! A session that is written to: the one in front, or one that was left while it worked.

mod calls;
mod so_far;
mod traced;

use std::cell::{Cell, Ref, RefCell};
use std::path::PathBuf;
use std::time::Duration;

use hermes_agent::Session;
use hermes_core::{Event, Op, SessionId};
use hermes_skills::said;
use hermes_tui::app::UnderWay;
use tokio::sync::Notify;

use super::standing::RouteInUse;
use so_far::SoFar;

pub(super) use calls::Calls;

/// A session, and what its events told about it.
pub(super) struct Front {
    session: Session,
    /// A conversation may go on in another session than it began in.
    id: RefCell<SessionId>,
    /// Where its relative paths start.
    pub(super) directory: PathBuf,
    route: RefCell<RouteInUse>,
    /// Whether the user is asked before risky commands.
    asking: Cell<bool>,
    /// Whether a turn runs, or is about to.
    busy: Cell<bool>,
    idle: Notify,
    /// Whether there is anything to go on with.
    talked: Cell<bool>,
    /// The turn under way.
    turn: RefCell<Option<SoFar>>,
    /// What the user said last.
    asked: RefCell<String>,
    /// Tokens of the last call: how full the context is.
    used: Cell<u64>,
    /// Whether the model was called in the last turn.
    answered: Cell<bool>,
    /// Who answers again after the next answer: provider and model.
    back: RefCell<Option<(String, String)>>,
    calls: Calls,
}

impl Front {
    pub(super) fn new(
        session: Session,
        directory: PathBuf,
        route: RouteInUse,
        asking: bool,
        talked: bool,
        calls: Calls,
    ) -> Self {
        Self {
            id: RefCell::new(session.id().clone()),
            session,
            directory,
            route: RefCell::new(route),
            asking: Cell::new(asking),
            busy: Cell::new(false),
            idle: Notify::new(),
            talked: Cell::new(talked),
            turn: RefCell::default(),
            asked: RefCell::default(),
            used: Cell::new(0),
            answered: Cell::new(false),
            back: RefCell::default(),
            calls,
        }
    }

    /// The id under which the conversation goes on.
    pub(super) fn id(&self) -> SessionId {
        self.id.borrow().clone()
    }

    /// Who answers.
    pub(super) fn route(&self) -> Ref<'_, RouteInUse> {
        self.route.borrow()
    }

    /// Has who answers now answer again after one answer of whoever comes next.
    pub(super) fn lend_place(&self) {
        let route = self.route();
        let now = (route.provider.clone(), route.model.clone());
        let mut back = self.back.borrow_mut();
        // After several such changes it is the first who comes back.
        if back.is_none() {
            *back = Some(now);
        }
    }

    /// Whoever comes next stays.
    pub(super) fn give_place(&self) {
        self.back.take();
    }

    pub(super) fn is_asking(&self) -> bool {
        self.asking.get()
    }

    pub(super) fn set_asking(&self, asking: bool) {
        self.asking.set(asking);
    }

    pub(super) fn is_busy(&self) -> bool {
        self.busy.get()
    }

    /// Tokens of the last call of the model.
    pub(super) fn used(&self) -> u64 {
        self.used.get()
    }

    /// Whether the model had a part in the last turn.
    pub(super) fn has_answered(&self) -> bool {
        self.answered.get()
    }

    /// Whether something was said in it.
    pub(super) fn has_talked(&self) -> bool {
        self.talked.get()
    }

    /// Says something to the session.
    pub(super) fn send(&self, op: Op) {
        let said = match &op {
            Op::FromInbox { said, .. } => said,
            said => said,
        };
        let turn = matches!(
            said,
            Op::UserMessage { .. }
                | Op::UseSkills { .. }
                | Op::Retry
                | Op::Undo { .. }
                | Op::Compact { .. }
                | Op::CompactBefore { .. }
                | Op::PreviewCompact { .. }
        );
        let talk = matches!(said, Op::UserMessage { .. } | Op::UseSkills { .. });
        let asked = asked(said);
        // The session says itself what it does not take; then no turn begins.
        if !self.session.send(op) {
            return;
        }
        if turn && !self.busy.replace(true) {
            if let Some(text) = &asked {
                self.asked.replace(text.clone());
            }
            self.turn.replace(Some(SoFar::new(asked)));
        }
        if talk {
            self.talked.set(true);
        }
    }

    /// What the session says next; nothing when it is over. May be dropped before it ends.
    pub(super) async fn next_event(&self) -> Option<Event> {
        let event = self.session.next_event().await?;
        self.hear(&event);
        Some(event)
    }

    /// What the turn under way has told so far.
    pub(super) fn under_way(&self) -> Option<UnderWay> {
        self.turn.borrow().as_ref().map(SoFar::told)
    }

    /// What the user said last, as far as that is known here.
    pub(super) fn last_asked(&self) -> String {
        self.asked.borrow().clone()
    }

    /// Stops what runs in it.
    pub(super) fn stop(&self) {
        self.session.send(Op::Interrupt);
    }

    fn hear(&self, event: &Event) {
        traced::trace(&self.id.borrow(), event);
        self.calls.hear(&self.id.borrow(), event);
        if self.is_busy() || matches!(event, Event::TurnStarted { .. }) {
            let mut turn = self.turn.borrow_mut();
            turn.get_or_insert_with(|| SoFar::new(None)).hear(event);
        }
        match event {
            Event::RouteChanged {
                provider,
                model,
                reason,
            } => {
                let mut route = self.route.borrow_mut();
                route.change(provider.clone(), model.clone(), reason.clone());
            }
            Event::SessionChanged { session } => drop(self.id.replace(session.clone())),
            Event::Usage { call, .. } => {
                self.used.set(call.total());
                self.answered.set(true);
            }
            Event::TurnStarted { .. } => {
                self.answered.set(false);
                self.busy.set(true);
                self.talked.set(true);
            }
            Event::TurnFinished { .. } => {
                self.busy.set(false);
                self.turn.take();
                self.idle.notify_waiters();
                if self.has_answered()
                    && let Some((provider, model)) = self.back.take()
                {
                    let provider = Some(provider);
                    self.session.send(Op::SetModel { model, provider });
                }
            }
            _ => {}
        }
    }

    /// Stops the turn and waits until it has ended, for no longer than this. Somebody else must read the events.
    pub(super) async fn rest(&self, limit: Duration) {
        if !self.is_busy() {
            return;
        }
        self.session.send(Op::Interrupt);
        let idle = async {
            while self.is_busy() {
                self.idle.notified().await;
            }
        };
        let _ = tokio::time::timeout(limit, idle).await;
    }
}

/// What the user says with it, as it will stand in the store.
fn asked(op: &Op) -> Option<String> {
    match op {
        Op::UserMessage { text, .. } => Some(text.clone()),
        Op::UseSkills { skills, text, .. } => {
            let names: Vec<&str> = skills.iter().map(String::as_str).collect();
            Some(said(text, &names))
        }
        _ => None,
    }
}
