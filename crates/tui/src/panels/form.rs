//! Several values at once.

mod view;

use crossterm::event::{KeyCode, KeyEvent};
use hermes_core::{Answer, FieldKind, FormField};
use serde_json::{Map, Value as Json, json};

use super::field::{Writing, Written};
use super::{PanelOutcome, Verdict};
use crate::composer::keys::{Action, action};
use crate::text::rows::cut;

/// Fields beyond this are refused by whoever makes the form; here they are left out.
const MOST_FIELDS: usize = 64;

/// What is being filled in.
#[derive(Debug, Clone)]
pub struct Form {
    title: String,
    text: String,
    entries: Vec<Entry>,
    /// The field the cursor is in; behind the last are the row that sends and the row that declines.
    at: usize,
}

#[derive(Debug, Clone)]
struct Entry {
    field: FormField,
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
    /// Asks for values.
    pub fn new(form: &hermes_core::Form) -> Self {
        let entries = form.fields.iter().take(MOST_FIELDS).map(|field| Entry {
            state: State::at_first(field),
            field: field.clone(),
            complaint: None,
        });
        Self {
            title: form.from.clone(),
            text: form.text.clone(),
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
                return PanelOutcome::Done(Verdict::Answer(Answer::Dismiss));
            }
            Some(Action::Up) => {
                return self.go(self.at.checked_sub(1).unwrap_or(self.entries.len() + 1));
            }
            Some(Action::Down | Action::Complete) => {
                return self.go((self.at + 1) % (self.entries.len() + 2));
            }
            Some(Action::Send) if self.at > self.entries.len() => {
                return PanelOutcome::Done(Verdict::Answer(Answer::no()));
            }
            Some(Action::Send) if self.at == self.entries.len() => return self.send(),
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
        let mut values = Map::new();
        let mut wrong = None;
        for (at, entry) in self.entries.iter_mut().enumerate() {
            match entry.read() {
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
            None => PanelOutcome::Done(Verdict::Answer(Answer::Filled(values))),
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
            Verdict::Answer(Answer::Filled(values)) => {
                let names: Vec<&str> = values.keys().map(String::as_str).collect();
                format!("{title}: filled in {}", cut(&names.join(", "), 60))
            }
            Verdict::TimedOut => format!("{title}: not filled in in time"),
            Verdict::Answer(Answer::Deny { .. }) => format!("{title}: declined"),
            _ => format!("{title}: put away"),
        }
    }
}

impl State {
    fn at_first(field: &FormField) -> Self {
        match &field.kind {
            FieldKind::Text { .. }
            | FieldKind::Integer { .. }
            | FieldKind::Number { .. }
            | FieldKind::Several { .. } => Self::Text(Writing::new(&field.proposed_text())),
            FieldKind::Bool => Self::Bool(field.proposed.as_ref().and_then(Json::as_bool)),
            FieldKind::Choice { options } => {
                let proposed = field.proposed.as_ref().and_then(Json::as_str);
                let same = |value: &str| Some(value) == proposed;
                Self::Choice(options.iter().position(|option| same(&option.value)))
            }
        }
    }
}

impl Entry {
    /// The value as it stands. Nothing is fine where nothing is needed, also where something was proposed.
    fn read(&self) -> Result<Option<Json>, String> {
        let value = match &self.state {
            State::Bool(value) => value.map(|value| json!(value)),
            State::Choice(at) => at
                .and_then(|at| self.field.options().get(at))
                .map(|option| json!(option.value)),
            State::Text(writing) => match writing.text().trim() {
                "" => None,
                text => self.field.read(text)?,
            },
        };
        match value {
            None if self.field.required => Err("is needed".to_owned()),
            value => Ok(value),
        }
    }

    fn key(&mut self, event: KeyEvent, acted: Option<Action>) -> PanelOutcome {
        let options = self.field.options().len();
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
                let next = at.map_or(0, |at| (at + 1) % options.max(1));
                *at = (options > 0).then_some(next);
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
