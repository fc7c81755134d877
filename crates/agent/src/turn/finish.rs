//! The end of a turn: the history is left so that the next message can follow.

use hermes_core::{Event, Message, Role, TurnEnd};

use super::Turn;
use crate::title;

/// Closes a turn that was stopped, so that the next message follows an answer.
const STOPPED: &str = "[Stopped by the user.]";

impl Turn<'_> {
    /// Ends the turn and says so.
    pub(super) async fn finish(&mut self, why: TurnEnd) {
        let mut why = why;
        // What was shown is part of the conversation, also when nothing could follow it.
        let said = self.take_said();
        if !said.trim().is_empty()
            && let Err(error) = self.keep(Message::text(Role::Assistant, said.trim())).await
        {
            why = super::failed(&error);
        }
        if why == TurnEnd::Interrupted && self.is_unanswered() {
            let closing = Message::text(Role::Assistant, STOPPED);
            if let Err(error) = self.keep(closing).await {
                why = super::failed(&error);
            }
        }
        if why == TurnEnd::Done {
            self.tell_failed_edits().await;
            title::give(self);
        }
        let turn = self.id;
        // Waited for even after a stop: whoever listens must hear how it ended.
        self.around
            .events
            .send(Event::TurnFinished { turn, why })
            .await;
    }

    fn is_unanswered(&self) -> bool {
        self.history
            .last()
            .is_some_and(|entry| entry.message.role != Role::Assistant)
    }
}
