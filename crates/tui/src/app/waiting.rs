//! Messages that wait for their turn, and remarks.
//!
//! What waits is kept by the host before the screen says so: it is there again when the program is killed.

use std::time::Duration;

use hermes_core::InboxId;

use super::{App, Effect, Outgoing, Phase};
use crate::cells::{Cell, Failure};

/// Messages that wait for the end of a turn.
pub(super) const MOST_WAITING: usize = 50;

impl App {
    /// Sends a message when nothing runs and nothing waits; else it waits for its turn.
    pub(super) fn line_up(&mut self, message: Outgoing, now: Duration, effects: &mut Vec<Effect>) {
        let open = self.phase == Phase::Open;
        if open && self.turn.is_none() && self.waiting.is_empty() {
            return self.send_message(message, now, effects);
        }
        if self.waiting.len() >= MOST_WAITING {
            return self.refuse_more(message, effects);
        }
        if open {
            effects.push(Effect::LineUp(message.clone()));
        }
        if message.instead {
            // It is next, whatever was queued before.
            let place = self.waiting.iter().take_while(|one| one.instead).count();
            self.waiting.insert(place, message);
            self.stop_turn(effects);
        } else {
            self.waiting.push_back(message);
        }
    }

    /// Too much waits already: a message stays where it can be sent later.
    fn refuse_more(&mut self, message: Outgoing, effects: &mut Vec<Effect>) {
        self.take_back(message, effects);
        self.show_beside(Cell::Failure(Failure {
            message: format!("{MOST_WAITING} messages wait already; this one stays in the input"),
            next: Some("send it when some were answered, or stop the agent with Esc".to_owned()),
        }));
    }

    /// A message has its row, or could not be kept.
    pub(super) fn lined_up(
        &mut self,
        message: &Outgoing,
        row: Result<InboxId, Failure>,
        now: Duration,
        effects: &mut Vec<Effect>,
    ) {
        let place = self.waiting.iter().position(|one| one == message);
        match (place, row) {
            (Some(place), Ok(row)) => {
                if let Some(message) = self.waiting.get_mut(place) {
                    message.rows.push(row);
                }
            }
            (Some(place), Err(failure)) => {
                if let Some(message) = self.waiting.remove(place) {
                    self.take_back(message, effects);
                }
                self.show_beside(Cell::Failure(failure));
            }
            // It was taken back before it had one.
            (None, Ok(row)) => effects.push(Effect::Withdraw(vec![row])),
            (None, Err(_)) => {}
        }
        self.send_waiting(now, effects);
    }

    /// A remark is on its way to the agent. It stands behind the paragraph that is being written.
    pub(super) fn remarked(
        &mut self,
        text: String,
        failed: Option<Failure>,
        effects: &mut Vec<Effect>,
    ) {
        match failed {
            None => {
                let cell = self.user_cell(text);
                self.show_beside(cell);
            }
            Some(failure) => {
                self.back_to_draft(&text, effects);
                self.show_beside(Cell::Failure(failure));
            }
        }
    }

    /// Sends what waited, when nothing runs any more. What interrupted the turn goes as one message, what was
    /// queued one after the other. What is still on its way to its row is waited for.
    pub(super) fn send_waiting(&mut self, now: Duration, effects: &mut Vec<Effect>) {
        if self.turn.is_some() || self.phase != Phase::Open {
            return;
        }
        let together = self.waiting.iter().take_while(|one| one.instead).count();
        let mut next = self.waiting.iter().take(together.max(1));
        if next.any(|message| message.rows.is_empty()) {
            return;
        }
        let next = self
            .waiting
            .drain(..together.max(1).min(self.waiting.len()));
        let message = next.reduce(|mut all, more| {
            all.text = format!("{}\n\n{}", all.text, more.text);
            all.attachments.extend(more.attachments);
            all.rows.extend(more.rows);
            all
        });
        if let Some(message) = message {
            self.send_message(message, now, effects);
        }
    }

    fn send_message(&mut self, message: Outgoing, now: Duration, effects: &mut Vec<Effect>) {
        self.show_user(message.text.clone());
        self.begin_turn(now);
        effects.push(Effect::Message(message));
    }

    /// A message could not be sent: its turn is none, and it is there to be sent again.
    pub(super) fn unsent(&mut self, message: Outgoing, effects: &mut Vec<Effect>) {
        self.turn = None;
        self.interrupted_at = None;
        self.take_back(message, effects);
    }

    /// A message does not wait any more: it is there to be sent again.
    pub(super) fn take_back(&mut self, message: Outgoing, effects: &mut Vec<Effect>) {
        if !message.rows.is_empty() {
            effects.push(Effect::Withdraw(message.rows));
        }
        self.back_to_draft(&message.text, effects);
        for picture in message.attachments {
            self.attach(picture);
        }
    }

    /// Puts a text in front of what is being written.
    fn back_to_draft(&mut self, text: &str, effects: &mut Vec<Effect>) {
        let names = self.settings.paste_names.clone();
        let kept = self.composer.bring_back(text, |number| names.of(number));
        effects.extend(kept.map(Effect::Keep));
    }
}
