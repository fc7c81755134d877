//! What asks for an answer or a choice while the draft waits.
//!
//! A panel is state: keys go in, and at some point a verdict comes out. Drawing one never changes it, so
//! it can be drawn in any size at any time.

mod approval;
mod choices;
mod clarify;
mod confirm;
mod field;
mod form;
mod frame;
mod help;
mod picker;
mod queue;
mod scroll;
mod secret;

#[cfg(test)]
mod snapshots;

use std::time::Duration;

use crossterm::event::KeyEvent;
use hermes_core::{Answer, QuestionKind};

use crate::Theme;
pub use crate::composer::View;

pub use approval::Approval;
pub use clarify::Clarify;
pub use confirm::{Confirm, Confirmation, Lasting};
pub use form::Form;
pub use help::{Help, Section};
pub use picker::{Column, Item, Picker, Side, Takes};
pub use queue::{Finished, Queue, QueueOutcome};
pub use secret::{Hidden, SecretPrompt};

/// Something that is asked.
#[derive(Debug, Clone)]
pub enum Panel {
    /// May this be done?
    Approval(Approval),
    /// What was meant?
    Clarify(Clarify),
    /// A value nobody may see.
    Secret(SecretPrompt),
    /// Should this really happen?
    Confirm(Confirm),
    /// Several values at once.
    Form(Form),
    /// One or more of a list.
    Picker(Picker),
    /// Commands and keys.
    Help(Help),
}

/// What a key led to.
#[derive(Debug, Clone, PartialEq)]
pub enum PanelOutcome {
    /// Nothing: the key has no meaning here.
    Ignored,
    /// It looks different now.
    Changed,
    /// It is over.
    Done(Verdict),
}

/// How a panel ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// An answer for the engine.
    Answer(Answer),
    /// The value nobody may see.
    Secret(Hidden),
    /// What was said to a confirmation.
    Confirm(Confirmation),
    /// The entries picked, as places in the list that was handed in.
    Picked(Vec<usize>),
    /// The panel was closed without an answer.
    Closed,
    /// Nobody answered in time.
    TimedOut,
}

impl Verdict {
    /// What the engine is told. Silence and turning away count as no.
    pub fn into_answer(self) -> Option<Answer> {
        match self {
            Self::Answer(answer) => Some(answer),
            Self::Secret(hidden) => Some(Answer::Text(hidden.reveal().to_owned())),
            Self::Closed | Self::TimedOut => Some(Answer::no()),
            Self::Confirm(_) | Self::Picked(_) => None,
        }
    }
}

impl Panel {
    /// The panel for a question of the engine.
    pub fn for_question(kind: &QuestionKind) -> Self {
        match kind {
            QuestionKind::Approval {
                action,
                reasons,
                marks,
                reach,
                editable,
                // Whoever sees a panel is the person.
                decider: _,
            } => Self::Approval(match editable {
                true => Approval::editable(action, reasons, marks, *reach),
                false => Approval::new(action, reasons, marks, *reach),
            }),
            QuestionKind::Clarify { question, choices } => {
                Self::Clarify(Clarify::new(question, choices))
            }
            QuestionKind::Secret { prompt } => Self::Secret(SecretPrompt::new(prompt)),
            QuestionKind::Form(form) => Self::Form(Form::new(form)),
        }
    }

    /// Reads a key.
    pub fn key(&mut self, event: KeyEvent) -> PanelOutcome {
        match self {
            Self::Approval(panel) => panel.key(event),
            Self::Clarify(panel) => panel.key(event),
            Self::Secret(panel) => panel.key(event),
            Self::Confirm(panel) => panel.key(event),
            Self::Form(panel) => panel.key(event),
            Self::Picker(panel) => panel.key(event),
            Self::Help(panel) => panel.key(event),
        }
    }

    /// Takes a paste in, where there is something to write in.
    pub fn paste(&mut self, text: &str) -> PanelOutcome {
        let text = crate::composer::paste::clean(text);
        let taken = match self {
            Self::Approval(panel) => panel.paste(&text),
            Self::Clarify(panel) => panel.paste(&text),
            Self::Secret(panel) => panel.paste(&text),
            Self::Form(panel) => panel.paste(&text),
            Self::Picker(panel) => panel.paste(&text),
            Self::Confirm(_) | Self::Help(_) => false,
        };
        if taken {
            PanelOutcome::Changed
        } else {
            PanelOutcome::Ignored
        }
    }

    /// How it looks, in no more than the columns and rows there are.
    pub fn view(&self, width: u16, height: u16, theme: &Theme) -> View {
        self.view_with(width, height, None, theme)
    }

    /// How it looks with so much time left to answer.
    pub fn view_with(
        &self,
        width: u16,
        height: u16,
        left: Option<Duration>,
        theme: &Theme,
    ) -> View {
        let frame = frame::Frame::new(width, height, left, theme);
        match self {
            Self::Approval(panel) => panel.view(frame),
            Self::Clarify(panel) => panel.view(frame),
            Self::Secret(panel) => panel.view(frame),
            Self::Confirm(panel) => panel.view(frame),
            Self::Form(panel) => panel.view(frame),
            Self::Picker(panel) => panel.view(frame),
            Self::Help(panel) => panel.view(frame),
        }
    }

    /// One line for the transcript on what was asked and how it ended; nothing where that is of no
    /// interest later.
    pub fn summary(&self, verdict: &Verdict) -> Option<String> {
        match self {
            Self::Approval(panel) => Some(panel.summary(verdict)),
            Self::Clarify(panel) => Some(panel.summary(verdict)),
            Self::Secret(panel) => Some(panel.summary(verdict)),
            Self::Confirm(panel) => Some(panel.summary(verdict)),
            Self::Form(panel) => Some(panel.summary(verdict)),
            Self::Picker(_) | Self::Help(_) => None,
        }
    }
}
