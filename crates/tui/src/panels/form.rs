//! Several values at once.

mod value;
mod view;

use crossterm::event::{KeyCode, KeyEvent};

use super::field::{Writing, Written};
use super::{PanelOutcome, Verdict};
use crate::composer::keys::{Action, action};
use crate::rows::cut;

pub use value::FieldValue;

/// Fields beyond this are refused by whoever makes the form; here they are left out.
const MOST_FIELDS: usize = 64;

/// What a field takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldKind {
    /// Words, with the number of characters they may have.
    Text {
        /// At least.
        shortest: usize,
        /// At most.
        longest: usize,
    },
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// Yes or no.
    Bool,
    /// One of these.
    Choice(Vec<String>),
}

/// A value that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// What it is called in the answer.
    pub name: String,
    /// What the person reads.
    pub label: String,
    /// More about it.
    pub about: String,
    /// Whether it must be given.
    pub required: bool,
    /// What it takes.
    pub kind: FieldKind,
    /// What stands there at first.
    pub initial: String,
}

/// What is being filled in.
#[derive(Debug, Clone)]
pub struct Form {
    title: String,
    text: String,
    entries: Vec<Entry>,
    /// The field the cursor is in; behind the last is the row that sends.
    at: usize,
}

#[derive(Debug, Clone)]
struct Entry {
    field: Field,
    state: State,
    /// What is wrong with it, once it was sent.
    complaint: Option<String>,
}

#[derive(Debug, Clone)]
enum State {
    Text(Writing),
    Bool(Option<bool>),
    Choice(Option<usize>),
}

impl Form {
    /// Asks for values; `text` says who wants them and what for.
    pub fn new(title: impl Into<String>, text: impl Into<String>, fields: Vec<Field>) -> Self {
        let entries = fields.into_iter().take(MOST_FIELDS).map(|field| {
            let state = match &field.kind {
                FieldKind::Text { .. } | FieldKind::Integer | FieldKind::Number => {
                    State::Text(Writing::new(&field.initial))
                }
                FieldKind::Bool => State::Bool(field.initial.parse().ok()),
                FieldKind::Choice(options) => {
                    State::Choice(options.iter().position(|option| *option == field.initial))
                }
            };
            Entry {
                field,
                state,
                complaint: None,
            }
        });
        Self {
            title: title.into(),
            text: text.into(),
            entries: entries.collect(),
            at: 0,
        }
    }

    pub(super) fn key(&mut self, event: KeyEvent) -> PanelOutcome {
        let acted = match event.code {
            KeyCode::BackTab => Some(Action::Up),
            _ => action(event),
        };
        match acted {
            Some(Action::Escape | Action::Interrupt | Action::Cancel) => {
                return PanelOutcome::Done(Verdict::Closed);
            }
            Some(Action::Up) => {
                return self.go(self.at.checked_sub(1).unwrap_or(self.entries.len()));
            }
            Some(Action::Down | Action::Complete) => {
                return self.go((self.at + 1) % (self.entries.len() + 1));
            }
            Some(Action::Send) if self.at >= self.entries.len() => return self.send(),
            Some(Action::Send) => return self.go(self.at + 1),
            _ => {}
        }
        match self.entries.get_mut(self.at) {
            Some(entry) => entry.key(event, acted),
            None => PanelOutcome::Ignored,
        }
    }

    fn go(&mut self, at: usize) -> PanelOutcome {
        self.at = at;
        PanelOutcome::Changed
    }

    fn send(&mut self) -> PanelOutcome {
        let mut values = Vec::new();
        let mut wrong = None;
        for (at, entry) in self.entries.iter_mut().enumerate() {
            match value::read(&entry.field, &entry.state) {
                Ok(value) => {
                    entry.complaint = None;
                    values.extend(value.map(|value| (entry.field.name.clone(), value)));
                }
                Err(complaint) => {
                    entry.complaint = Some(complaint);
                    wrong = wrong.or(Some(at));
                }
            }
        }
        match wrong {
            Some(at) => self.go(at),
            None => PanelOutcome::Done(Verdict::Filled(values)),
        }
    }

    pub(super) fn paste(&mut self, text: &str) -> bool {
        match self.entries.get_mut(self.at).map(|entry| &mut entry.state) {
            Some(State::Text(writing)) => writing.insert(text),
            _ => return false,
        }
        true
    }

    pub(super) fn summary(&self, verdict: &Verdict) -> String {
        let title = cut(&self.title, 60);
        match verdict {
            Verdict::Filled(values) => {
                let names: Vec<&str> = values.iter().map(|(name, _)| name.as_str()).collect();
                format!("{title}: filled in {}", cut(&names.join(", "), 60))
            }
            Verdict::TimedOut => format!("{title}: not filled in in time"),
            _ => format!("{title}: declined"),
        }
    }
}

impl Entry {
    fn key(&mut self, event: KeyEvent, acted: Option<Action>) -> PanelOutcome {
        let options = match &self.field.kind {
            FieldKind::Choice(options) => options.len(),
            _ => 2,
        };
        match (&mut self.state, acted) {
            (State::Text(writing), _) => match writing.key(event) {
                Written::Changed => {}
                Written::Sent | Written::Left | Written::Other(_) => return PanelOutcome::Ignored,
            },
            (State::Bool(value), Some(Action::Insert(' ') | Action::Left | Action::Right)) => {
                *value = Some(!value.unwrap_or(false));
            }
            (State::Bool(value), Some(Action::Insert('y' | 'Y'))) => *value = Some(true),
            (State::Bool(value), Some(Action::Insert('n' | 'N'))) => *value = Some(false),
            (State::Choice(at), Some(Action::Insert(' ') | Action::Right)) => {
                *at = at.map_or(Some(0), |at| Some((at + 1) % options.max(1)));
            }
            (State::Choice(at), Some(Action::Left)) => {
                *at = at
                    .and_then(|at| at.checked_sub(1))
                    .or(options.checked_sub(1));
            }
            _ => return PanelOutcome::Ignored,
        }
        self.complaint = None;
        PanelOutcome::Changed
    }
}

#[cfg(test)]
mod tests;
