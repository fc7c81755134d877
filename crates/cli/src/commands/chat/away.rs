//! Conversations that were left while they worked, and work on.

use std::cell::RefCell;
use std::rc::Rc;

use futures_util::future::select_all;
use hermes_core::{Event, SessionId, TurnEnd};

use super::front::Front;

/// All of them.
#[derive(Default)]
pub(super) struct Away(RefCell<Vec<Rc<Front>>>);

/// One that has done its work.
pub(super) struct Left {
    pub(super) id: SessionId,
    /// What it worked on.
    pub(super) asked: String,
    pub(super) why: TurnEnd,
}

impl Away {
    pub(super) fn add(&self, front: Rc<Front>) {
        self.0.borrow_mut().push(front);
    }

    pub(super) fn all(&self) -> Vec<Rc<Front>> {
        self.0.borrow().clone()
    }

    pub(super) fn count(&self) -> usize {
        self.0.borrow().len()
    }

    /// Whether this one works.
    pub(super) fn has(&self, id: &SessionId) -> bool {
        self.0.borrow().iter().any(|front| front.id() == *id)
    }

    /// Gives one back that is wanted in front again.
    pub(super) fn take(&self, id: &SessionId) -> Option<Rc<Front>> {
        let mut all = self.0.borrow_mut();
        let at = all.iter().position(|front| front.id() == *id)?;
        Some(all.swap_remove(at))
    }

    /// Forgets one that is over.
    pub(super) fn remove(&self, front: &Rc<Front>) {
        self.0
            .borrow_mut()
            .retain(|other| !Rc::ptr_eq(other, front));
    }

    /// What one of them says next; never, while there is none. May be dropped before it ends.
    pub(super) async fn next(&self) -> (Rc<Front>, Option<Event>) {
        let all = self.all();
        if all.is_empty() {
            std::future::pending::<()>().await;
        }
        let events = all.iter().map(|front| Box::pin(front.next_event()));
        let (event, at, _) = select_all(events).await;
        match all.get(at) {
            Some(front) => (front.clone(), event),
            None => std::future::pending().await,
        }
    }
}
