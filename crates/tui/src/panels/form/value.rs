//! What was filled in, and whether it will do.

use super::{Field, FieldKind, State};

/// A value as it was filled in.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldValue {
    /// Words, or one of the choices.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// Any number.
    Number(f64),
    /// Yes or no.
    Bool(bool),
}

/// Reads a field. Nothing is fine where nothing is required.
pub(super) fn read(field: &Field, state: &State) -> Result<Option<FieldValue>, String> {
    let value = match (state, &field.kind) {
        (State::Bool(value), _) => value.map(FieldValue::Bool),
        (State::Choice(at), FieldKind::Choice(options)) => at
            .and_then(|at| options.get(at))
            .cloned()
            .map(FieldValue::Text),
        (State::Choice(_), _) => None,
        (State::Text(writing), kind) => match writing.text().trim() {
            "" => None,
            text => Some(words(text, kind)?),
        },
    };
    match value {
        None if field.required => Err("is needed".to_owned()),
        value => Ok(value),
    }
}

fn words(text: &str, kind: &FieldKind) -> Result<FieldValue, String> {
    match kind {
        FieldKind::Integer => {
            let number = text
                .parse()
                .map_err(|_| "must be a whole number".to_owned())?;
            Ok(FieldValue::Integer(number))
        }
        FieldKind::Number => {
            let number = text.parse().ok().filter(|number: &f64| number.is_finite());
            number
                .map(FieldValue::Number)
                .ok_or_else(|| "must be a number".to_owned())
        }
        FieldKind::Text { shortest, longest } => match text.chars().count() {
            count if count < *shortest => Err(format!("needs at least {shortest} characters")),
            count if count > *longest => Err(format!("takes at most {longest} characters")),
            _ => Ok(FieldValue::Text(text.to_owned())),
        },
        FieldKind::Bool | FieldKind::Choice(_) => Ok(FieldValue::Text(text.to_owned())),
    }
}
