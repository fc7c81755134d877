//! The end of a turn: the history is left so that the next message can follow.

use hermes_core::{Event, Message, Role, TurnEnd};

use super::Turn;
use crate::{learning, title};

/// Closes a turn that was stopped, so that the next message follows an answer.
const STOPPED: &str = "[Stopped by the user.]";

/// Closes a turn that a crash or a failure ended before its answer.
pub(super) const CUT_OFF: &str = "[This was cut off before an answer.]";

impl Turn<'_> {
    /// Ends the turn and says so.
    pub(super) async fn finish(&mut self, why: TurnEnd) {
        let mut why = why;
        // What was shown is a row already, also when nothing could follow it.
        self.leave_said();
        let answer = self.answer();
        // What is said next is a message of its own, and what stands there stays as it was sent.
        if why != TurnEnd::Done && self.is_unanswered() {
            let closing = match why {
                TurnEnd::Interrupted => STOPPED,
                TurnEnd::Done | TurnEnd::Budget | TurnEnd::Empty | TurnEnd::Failed { .. } => {
                    CUT_OFF
                }
            };
            let closing = Message::text(Role::Assistant, closing);
            if let Err(error) = self.keep(closing).await {
                why = super::failed(&error);
            }
        }
        if why == TurnEnd::Done {
            self.tell_failed_edits().await;
            title::give(self);
            // On disk before the turn counts as finished; sent behind it.
            self.remember().await;
        }
        // Whoever hears that it is over may start the next one.
        drop(self.own.take());
        let turn = self.id;
        // Who leaves at once waits for a look back that is about to begin as for one that has.
        let begins = why == TurnEnd::Done && self.around.spec.lasting;
        let behind = begins.then(|| self.around.shared.behind.token());
        // Waited for even after a stop: whoever listens must hear how it ended.
        self.around
            .events
            .send(Event::TurnFinished {
                turn,
                why: why.clone(),
                answer,
            })
            .await;
        if why == TurnEnd::Done {
            learning::after(self).await;
        }
        drop(behind);
    }

    /// What the rows of the turn say behind its last calls.
    fn answer(&self) -> String {
        let mut said: Vec<String> = Vec::new();
        // Taking back and shortening ask no model: the last rows are those of an earlier turn.
        let rows = self.rows_of_turn().filter(|_| self.tries.calls > 0);
        for message in rows {
            match message.role {
                Role::Tool => said.clear(),
                Role::Assistant => said.push(message.plain_text().trim().to_owned()),
                Role::System | Role::User => {}
            }
        }
        said.retain(|text| !text.is_empty());
        said.join("\n\n")
    }

    pub(super) fn is_unanswered(&self) -> bool {
        self.history
            .last()
            .is_some_and(|entry| entry.message.role != Role::Assistant)
    }
}
