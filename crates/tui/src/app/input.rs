//! What the user does.

use std::time::Duration;

use crossterm::event::{KeyEvent, KeyEventKind};
use hermes_core::Op;

use super::busy::WhileBusy;
use super::{App, Asked, Effect, Mode, Outgoing, Reply, Tag};
use crate::cells::{Cell, Failure, Level};
use crate::composer::keys::{Action, action};
use crate::composer::{Attachment, MOST_ATTACHMENTS, Message, Outcome, Pasted};
use crate::panels::QueueOutcome;

/// A second Ctrl+C within this time ends the program.
const TWICE: Duration = Duration::from_secs(2);
/// A question hears keys only after this much silence: what comes without a pause was meant for the draft.
const TOO_SOON: Duration = Duration::from_millis(300);

/// Keys that do not reach the panel in front yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Early {
    /// When the panel came up, or the last of these keys.
    since: Duration,
    whose: Whose,
}

/// Whom a key was meant for that came too early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// What is being written.
    Draft,
    /// The panel that was in front before.
    Earlier,
}

impl App {
    /// A panel came up over the draft.
    pub(super) fn came_up(&mut self, now: Duration) {
        self.early = Some(Early {
            since: now,
            whose: Whose::Draft,
        });
    }

    /// Another panel may be in front: keys that were meant for the one before must not answer it.
    pub(super) fn moved_up(&mut self, now: Duration) {
        let whose = self.too_early(now).unwrap_or(Whose::Earlier);
        self.early = (!self.panels.is_empty()).then_some(Early { since: now, whose });
    }

    fn too_early(&self, now: Duration) -> Option<Whose> {
        let early = self.early?;
        (now.saturating_sub(early.since) < TOO_SOON).then_some(early.whose)
    }

    /// A key that the panel in front does not hear. Whoever goes on typing is not answering, so the wait begins anew.
    fn early_key(&mut self, key: KeyEvent, whose: Whose, now: Duration, effects: &mut Vec<Effect>) {
        self.early = Some(Early { since: now, whose });
        if whose == Whose::Draft {
            let outcome = self.composer.key_behind(key);
            self.outcome(outcome, now, effects);
        }
    }

    /// A letter that means nothing to a question is the draft's, where there is one.
    fn belongs_to_draft(&self, key: KeyEvent) -> bool {
        matches!(action(key), Some(Action::Insert(_)))
            && matches!(self.panels.front_tag(), Some(Tag::Question(..)))
            && !self.composer.is_empty()
    }

    pub(super) fn key(&mut self, key: KeyEvent, now: Duration, effects: &mut Vec<Effect>) {
        if key.kind == KeyEventKind::Release {
            return;
        }
        if !self.panels.is_empty() {
            return self.panel_key(key, now, effects);
        }
        if self.settings.mode == Mode::Full && self.full_key(key, effects) {
            return;
        }
        let outcome = self.composer.key(key);
        self.outcome(outcome, now, effects);
    }

    fn panel_key(&mut self, key: KeyEvent, now: Duration, effects: &mut Vec<Effect>) {
        // The terminal is the user's, whatever is asked on it.
        match action(key) {
            Some(Action::Repaint) => return effects.push(Effect::Repaint),
            Some(Action::Suspend) => return effects.push(Effect::Suspend),
            _ => {}
        }
        let own = matches!(self.panels.front_tag(), Some(Tag::Program(_)));
        match stops(key).filter(|_| !own) {
            Some(Outcome::Interrupt) => return self.interrupt(now, effects),
            Some(_) => {
                self.cancel(effects);
                return;
            }
            None => {}
        }
        if let Some(whose) = self.too_early(now) {
            return self.early_key(key, whose, now, effects);
        }
        match self.panels.key(key) {
            QueueOutcome::Done(over) => {
                self.moved_up(now);
                self.answered(over, effects);
            }
            QueueOutcome::Ignored if self.belongs_to_draft(key) => {
                self.early_key(key, Whose::Draft, now, effects);
            }
            // What it is about may stand further up.
            QueueOutcome::Ignored => {
                self.scroll_key(key);
            }
            QueueOutcome::Changed => {}
        }
    }

    pub(super) fn paste(&mut self, text: &str, now: Duration, effects: &mut Vec<Effect>) {
        let early = self.too_early(now).filter(|_| !self.panels.is_empty());
        if let Some(whose) = early {
            self.early = Some(Early { since: now, whose });
            if whose == Whose::Earlier {
                return;
            }
        } else if !self.panels.is_empty() {
            if let QueueOutcome::Done(over) = self.panels.paste(text) {
                self.answered(over, effects);
            }
            return;
        }
        let names = self.settings.paste_names.clone();
        match self.composer.paste(text, |number| names.of(number)) {
            // A terminal pastes nothing when what is on the clipboard is no text.
            Pasted::Empty => effects.push(Effect::Clipboard),
            Pasted::Written(Outcome::WantCompletion(request)) => {
                effects.push(Effect::Complete(request));
            }
            Pasted::Written(_) => {}
            Pasted::KeptAside(kept) => effects.push(Effect::Keep(kept)),
            Pasted::Image { path, text } => effects.push(Effect::Look {
                path,
                text: Some(text),
            }),
        }
    }

    pub(super) fn looked(
        &mut self,
        text: Option<&str>,
        picture: Result<Attachment, Failure>,
        effects: &mut Vec<Effect>,
    ) {
        match (picture, text) {
            (Ok(picture), _) => self.attach(picture),
            (Err(_), Some(text)) => {
                if let Outcome::WantCompletion(request) = self.composer.insert(text) {
                    effects.push(Effect::Complete(request));
                }
            }
            (Err(failure), None) => self.show_beside(Cell::Failure(failure)),
        }
    }

    /// Adds a picture to what is being written, as long as there is room.
    pub(super) fn attach(&mut self, picture: Attachment) {
        let name = picture.label.clone();
        if !self.composer.attach(picture) {
            self.show_beside(Cell::Failure(Failure {
                message: format!(
                    "{name} was left out: {MOST_ATTACHMENTS} pictures go with a message"
                ),
                next: Some("send these first".to_owned()),
            }));
        }
    }

    pub(super) fn edited(
        &mut self,
        text: Result<Option<String>, Failure>,
        now: Duration,
        effects: &mut Vec<Effect>,
    ) {
        let text = match text {
            Ok(Some(text)) => text,
            Ok(None) => {
                let told = "nothing was saved; the text is as it was";
                return self.notice(Level::Info, told);
            }
            Err(failure) => return self.show_beside(Cell::Failure(failure)),
        };
        self.composer.set_text(text.trim_end());
        let outcome = self.composer.submit();
        self.outcome(outcome, now, effects);
    }

    fn outcome(&mut self, outcome: Outcome, now: Duration, effects: &mut Vec<Effect>) {
        match outcome {
            Outcome::Nothing | Outcome::Changed => {}
            Outcome::Record => self.notice(Level::Info, "there is no voice mode in this version"),
            Outcome::ClipboardImage => effects.push(Effect::Clipboard),
            Outcome::WantCompletion(request) => effects.push(Effect::Complete(request)),
            Outcome::Submit(message) => self.submit(message, now, effects),
            Outcome::Command(message) => self.command(message, effects),
            Outcome::Lost(path) => self.notice(
                Level::Warn,
                format!("{path} is gone, and the text that was pasted with it; take its mark out, or paste it again"),
            ),
            Outcome::Editor => effects.push(Effect::Edit(self.composer.expanded())),
            Outcome::Interrupt => self.interrupt(now, effects),
            Outcome::Cancel => {
                self.cancel(effects);
            }
            Outcome::Escape => self.stop(effects),
            Outcome::Help => effects.push(Effect::Command("/help".to_owned())),
            Outcome::Leave => effects.push(Effect::Leave),
            Outcome::Suspend => effects.push(Effect::Suspend),
            Outcome::Repaint => effects.push(Effect::Repaint),
        }
    }

    /// Ctrl+C: stops what runs; clears the draft; leaves.
    fn interrupt(&mut self, now: Duration, effects: &mut Vec<Effect>) {
        let again = self
            .interrupted_at
            .is_some_and(|at| now.saturating_sub(at) < TWICE);
        if again {
            return effects.push(Effect::Leave);
        }
        if self.turn.is_some() || self.is_carrying_out() {
            self.interrupted_at = Some(now);
        }
        if !self.cancel(effects) {
            effects.push(Effect::Leave);
        }
    }

    /// Ctrl+Q: the same, but it never leaves. Says whether there was something to do.
    fn cancel(&mut self, effects: &mut Vec<Effect>) -> bool {
        if self.turn.is_some() || self.is_carrying_out() {
            self.stop(effects);
            return true;
        }
        if !self.panels.is_empty() {
            for over in self.panels.withdraw(|_| true) {
                self.answered(over, effects);
            }
            return true;
        }
        let written = !self.composer.is_empty();
        if written {
            self.composer.clear();
        }
        written
    }

    /// Stops what runs.
    fn stop(&mut self, effects: &mut Vec<Effect>) {
        self.drop_commands(effects);
        self.stop_turn(effects);
    }

    pub(super) fn stop_turn(&mut self, effects: &mut Vec<Effect>) {
        let Some(turn) = &mut self.turn else {
            return;
        };
        turn.stopping = true;
        effects.push(Effect::Send(Op::Interrupt));
    }

    pub(super) fn submit(&mut self, message: Message, now: Duration, effects: &mut Vec<Effect>) {
        if !message.written.is_empty() {
            effects.push(Effect::Remember(message.written.clone()));
        }
        let Message {
            text, attachments, ..
        } = message;
        let message = Outgoing {
            text,
            attachments,
            instead: false,
            skills: None,
            rows: Vec::new(),
        };
        self.say(message, now, effects);
    }

    /// Sends a message, or has it do what messages do while the agent works.
    fn say(&mut self, mut message: Outgoing, now: Duration, effects: &mut Vec<Effect>) {
        let busy = self.turn.is_some();
        // A slash stops nothing, and a remark is words and nothing else.
        let is_command = message.skills.is_some();
        let only_words = message.attachments.is_empty() && !is_command;
        if busy && !is_command && std::mem::take(&mut self.settings.explain_busy) {
            self.notice(Level::Info, self.settings.busy.explained());
            effects.push(Effect::Explained);
        }
        if busy && self.settings.busy == WhileBusy::Steer && only_words {
            return effects.push(Effect::Remark(message.text));
        }
        message.instead = busy && !is_command && self.settings.busy == WhileBusy::Interrupt;
        self.line_up(message, now, effects);
    }

    pub(super) fn replied(&mut self, reply: Reply, now: Duration, effects: &mut Vec<Effect>) {
        if let Some(line) = &reply.asked {
            self.carrying.ended(line);
        }
        if let Some((name, rest)) = reply.own {
            return self.own_command(name, &rest, now, effects);
        }
        if let (Some(asked), false, None) = (&reply.asked, reply.cells.is_empty(), &reply.skills) {
            let cell = self.user_cell(asked.clone());
            self.show_beside(cell);
        }
        if let Some(over) = reply.over {
            self.withdraw_of(&over);
            self.ask_for_sessions(effects);
        }
        if let Some(theme) = reply.theme {
            self.theme = *theme;
            let theme = self.theme.clone();
            if let Some(transcript) = self.transcript() {
                transcript.change(|look| look.theme = theme);
            }
            self.lay_out();
        }
        for cell in reply.cells {
            self.show_beside(cell);
        }
        if let Some(message) = reply.unsent {
            self.unsent(*message, effects);
        }
        if let Some(text) = reply.message {
            let message = Message {
                written: String::new(),
                text,
                attachments: self.composer.take_attachments(),
            };
            self.submit(message, now, effects);
        }
        if let (Some(called), Some(line)) = (reply.skills, &reply.asked) {
            let message = Outgoing {
                text: line.clone(),
                attachments: self.composer.take_attachments(),
                instead: false,
                skills: Some(called),
                rows: Vec::new(),
            };
            self.say(message, now, effects);
        }
        if let Some(draft) = reply.draft {
            self.composer.set_text(&draft);
        }
        if let Some(asked) = reply.asks {
            self.ask_for_program(*asked);
        }
        if let Some(opened) = reply.opened {
            self.opened(*opened, now, effects);
        }
        if reply.leave {
            effects.push(Effect::Leave);
        }
    }
}

impl App {
    fn ask_for_program(&mut self, asked: Asked) {
        self.panels
            .push(Tag::Program(asked.then), asked.panel, None);
    }

    pub(super) fn clipped(&mut self, picture: Result<Attachment, Failure>) {
        match picture {
            Ok(picture) => self.attach(picture),
            Err(failure) => self.show_beside(Cell::Failure(failure)),
        }
    }
}

/// What a key stops whatever is in front, if it is one of those.
fn stops(key: KeyEvent) -> Option<Outcome> {
    use crossterm::event::{KeyCode, KeyModifiers};
    match key.code {
        _ if !key.modifiers.contains(KeyModifiers::CONTROL) => None,
        KeyCode::Char('c') => Some(Outcome::Interrupt),
        KeyCode::Char('q') => Some(Outcome::Cancel),
        _ => None,
    }
}
