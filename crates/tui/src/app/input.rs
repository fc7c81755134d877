//! What the user does.

use std::time::Duration;

use crossterm::event::{KeyEvent, KeyEventKind};
use hermes_core::Op;

use super::busy::WhileBusy;
use super::{App, Effect, Phase, Reply};
use crate::cells::{Cell, User};
use crate::composer::{Attachment, Message, Outcome, Pasted};
use crate::panels::QueueOutcome;

/// A second Ctrl+C within this time ends the program.
const TWICE: Duration = Duration::from_secs(2);
/// Keys that come this soon after a question came up were meant for the draft.
const TOO_SOON: Duration = Duration::from_millis(300);

impl App {
    pub(super) fn key(&mut self, key: KeyEvent, now: Duration, effects: &mut Vec<Effect>) {
        if key.kind == KeyEventKind::Release {
            return;
        }
        if !self.panels.is_empty() {
            return self.panel_key(key, now, effects);
        }
        let outcome = self.composer.key(key);
        self.outcome(outcome, now, effects);
    }

    fn panel_key(&mut self, key: KeyEvent, now: Duration, effects: &mut Vec<Effect>) {
        let soon = |at: Duration| now.saturating_sub(at) < TOO_SOON;
        if is_interrupt(key) {
            return self.interrupt(now, effects);
        }
        if self.asked_at.is_some_and(soon) {
            return;
        }
        if let QueueOutcome::Done(over) = self.panels.key(key) {
            self.asked_at = (!self.panels.is_empty()).then_some(now);
            self.answered(over, effects);
        }
    }

    pub(super) fn paste(&mut self, text: &str, effects: &mut Vec<Effect>) {
        if !self.panels.is_empty() {
            if let QueueOutcome::Done(over) = self.panels.paste(text) {
                self.answered(over, effects);
            }
            return;
        }
        match self
            .composer
            .paste(text, |number| format!("pastes/paste_{number}.txt"))
        {
            Pasted::Empty => {}
            Pasted::Written(Outcome::WantCompletion(request)) => {
                effects.push(Effect::Complete(request));
            }
            Pasted::Written(_) => {}
            Pasted::KeptAside(kept) => effects.push(Effect::Keep(kept)),
            Pasted::Image { path, text } => effects.push(Effect::Look { path, text }),
        }
    }

    pub(super) fn looked(
        &mut self,
        text: &str,
        picture: Option<Attachment>,
        effects: &mut Vec<Effect>,
    ) {
        match picture {
            Some(picture) => {
                self.composer.attach(picture);
            }
            None => {
                if let Outcome::WantCompletion(request) = self.composer.insert(text) {
                    effects.push(Effect::Complete(request));
                }
            }
        }
    }

    pub(super) fn edited(
        &mut self,
        text: Option<String>,
        now: Duration,
        effects: &mut Vec<Effect>,
    ) {
        let Some(text) = text else {
            return;
        };
        self.composer.set_text(text.trim_end());
        let outcome = self.composer.submit();
        self.outcome(outcome, now, effects);
    }

    fn outcome(&mut self, outcome: Outcome, now: Duration, effects: &mut Vec<Effect>) {
        match outcome {
            Outcome::Nothing | Outcome::Changed | Outcome::Record | Outcome::ClipboardImage => {}
            Outcome::WantCompletion(request) => effects.push(Effect::Complete(request)),
            Outcome::Submit(message) => self.submit(message, now, effects),
            Outcome::Command(message) => self.command(message, effects),
            Outcome::Editor => effects.push(Effect::Edit(self.composer.expanded())),
            Outcome::Interrupt => self.interrupt(now, effects),
            Outcome::Cancel => self.stop(effects),
            Outcome::Leave => effects.push(Effect::Leave),
            Outcome::Suspend => effects.push(Effect::Suspend),
            Outcome::Repaint => effects.push(Effect::Repaint),
        }
    }

    /// Ctrl+C: stops what runs; clears the draft; leaves.
    fn interrupt(&mut self, now: Duration, effects: &mut Vec<Effect>) {
        if self.turn.is_some() {
            let again = self
                .interrupted_at
                .is_some_and(|at| now.saturating_sub(at) < TWICE);
            self.interrupted_at = Some(now);
            if again {
                return effects.push(Effect::Leave);
            }
            return self.stop(effects);
        }
        if !self.panels.is_empty() {
            for over in self.panels.withdraw(|_| true) {
                self.answered(over, effects);
            }
            return;
        }
        if self.composer.is_empty() {
            effects.push(Effect::Leave);
        } else {
            self.composer.clear();
        }
    }

    fn stop(&mut self, effects: &mut Vec<Effect>) {
        let Some(turn) = &mut self.turn else {
            return;
        };
        turn.stopping = true;
        effects.push(Effect::Send(Op::Interrupt));
    }

    pub(super) fn submit(&mut self, message: Message, now: Duration, effects: &mut Vec<Effect>) {
        effects.push(Effect::Remember(message.written.clone()));
        let Message {
            text, attachments, ..
        } = message;
        let busy = self.turn.is_some();
        if busy && self.settings.busy == WhileBusy::Steer && attachments.is_empty() {
            self.show(&Cell::User(User::new(text.clone())));
            return effects.push(Effect::Send(Op::Steer { text }));
        }
        self.waiting.push_back((text, attachments));
        if busy && self.settings.busy == WhileBusy::Interrupt {
            self.stop(effects);
        }
        self.send_waiting(now, effects);
    }

    /// Sends what waited, when nothing runs any more. What interrupted the turn goes as one message, what was
    /// queued one after the other.
    pub(super) fn send_waiting(&mut self, _now: Duration, effects: &mut Vec<Effect>) {
        if self.turn.is_some() || self.phase != Phase::Open {
            return;
        }
        let Some((mut text, mut attachments)) = self.waiting.pop_front() else {
            return;
        };
        if self.settings.busy == WhileBusy::Interrupt {
            for (more, pictures) in self.waiting.drain(..) {
                text = format!("{text}\n\n{more}");
                attachments.extend(pictures);
            }
        }
        self.show(&Cell::User(User::new(text.clone())));
        self.turn = Some(super::Turn::new(_now));
        effects.push(Effect::Message { text, attachments });
    }

    pub(super) fn replied(&mut self, reply: Reply, now: Duration, effects: &mut Vec<Effect>) {
        if let Some((name, rest)) = reply.own {
            return self.own_command(name, &rest, now, effects);
        }
        if let (Some(asked), false) = (reply.asked, reply.cells.is_empty()) {
            self.show(&Cell::User(User::new(asked)));
        }
        if let Some(theme) = reply.theme {
            self.theme = *theme;
            self.composer.set_width(self.size.0, &self.theme);
        }
        for cell in &reply.cells {
            self.show(cell);
        }
        if let Some(draft) = reply.draft {
            self.composer.set_text(&draft);
        }
        if reply.status.is_some() {
            self.status = reply.status;
        }
        if reply.leave {
            effects.push(Effect::Leave);
        }
    }
}

fn is_interrupt(key: KeyEvent) -> bool {
    use crossterm::event::{KeyCode, KeyModifiers};
    key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL)
}
