//! What a key means, and whether a value fits it.

use super::SetError;
use super::secret::variable_of;
use crate::coerce::{any, coerce};
use crate::environment::VARIABLES;
use crate::legacy;
use crate::problem::Fault;
use crate::root::Config;
use crate::setting::{Reader, Setting, in_words, nearest};
use crate::shape::Shape;
use crate::value::{KeyPath, Node, Value};
use crate::yaml::{Document, EditError};

/// What to do with a key that nothing reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownKey {
    Refuse,
    /// `--force`: write it, understood as YAML 1.1 would.
    Write,
}

/// Where a key is written.
pub(super) enum Target {
    /// A variable of `.env`.
    Variable(String),
    /// A key of `config.yaml`, by today's name.
    Setting(KeyPath),
}

impl Target {
    pub(super) fn of(key: &str) -> Result<Self, SetError> {
        if let Some(name) = variable_of(key) {
            return Ok(Self::Variable(name));
        }
        let path = KeyPath::parse(key).ok_or_else(|| SetError::BadKey {
            key: key.to_owned(),
        })?;
        Ok(Self::Setting(legacy::canonical(&path)))
    }
}

/// Whether a key means a setting, and not a variable of `.env`.
pub(super) fn is_setting(key: &str) -> bool {
    variable_of(key).is_none()
}

/// Whether a key is one of ours, and not a name or number inside a map or list of the user's.
pub(super) fn is_declared(key: &KeyPath) -> bool {
    key.split_last().is_some_and(|(section, last)| {
        let section = Config::shape().at(&section);
        section.is_some_and(|section| section.keys().contains(&last))
    })
}

/// `model` followed by a name means `model.default`.
pub(super) fn with_model_name(key: KeyPath, raw: &str) -> KeyPath {
    if key == KeyPath::of(["model"]) && !raw.trim_start().starts_with('{') {
        return key.child("default");
    }
    key
}

/// The value a text stands for at a key.
pub(super) fn value_for(key: &KeyPath, raw: &str, unknown: UnknownKey) -> Result<Value, SetError> {
    match (Config::shape().at(key), unknown) {
        // A variable is only known when the settings are loaded; inside brackets it is one of several values.
        (Some(shape), _) if raw.contains("${") => {
            Ok(collection(&shape, raw).unwrap_or_else(|| Value::Text(raw.to_owned())))
        }
        (Some(shape), _) => coerce(&shape, raw).map_err(|unfit| SetError::NotAccepted {
            key: key.clone(),
            expected: unfit.expected,
            found: in_words(raw),
        }),
        (None, UnknownKey::Write) => Ok(any(raw)),
        (None, UnknownKey::Refuse) => Err(SetError::UnknownKey {
            suggestion: suggestion(key),
            key: key.clone(),
        }),
    }
}

/// A list or map that is written out, which may hold variables.
fn collection(shape: &Shape, raw: &str) -> Option<Value> {
    if !raw.trim_start().starts_with(['[', '{']) {
        return None;
    }
    let read = coerce(shape, raw).ok()?;
    matches!(read, Value::List(_) | Value::Map(_)).then_some(read)
}

/// The known key that was probably meant.
pub(super) fn suggestion(key: &KeyPath) -> Option<String> {
    let mut segments = key.segments();
    if let (Some(only), None) = (segments.next(), segments.next()) {
        let variable = VARIABLES.iter().find(|variable| variable.name == only);
        if let Some(setting) = variable.and_then(|variable| variable.key()) {
            return Some(setting.to_string());
        }
    }
    let mut shape = Config::shape();
    let mut meant = KeyPath::root();
    for segment in key.segments() {
        let (name, inner) = match shape.child(segment) {
            Some(inner) => (segment.to_owned(), inner),
            None => {
                let name = nearest(segment, shape.keys())?;
                (name.to_owned(), shape.child(name)?)
            }
        };
        meant = meant.child(&name);
        shape = inner;
    }
    Some(meant.to_string())
}

/// A number after a list must be one of its items, or at the end of a key the next one.
pub(super) fn check_items(document: &Document, key: &KeyPath) -> Result<(), EditError> {
    let tree = document.value()?;
    for depth in 0..key.len() {
        let parent = key.prefix(depth);
        let is_list = matches!(Config::shape().at(&parent), Some(Shape::List(_)));
        let items = tree.at(&parent).and_then(|list| match &list.value {
            Value::List(items) => Some(items.len().to_string()),
            _ => None,
        });
        let next = depth + 1 == key.len() && items.as_deref() == key.segments().last();
        if is_list && !next && tree.at(&key.prefix(depth + 1)).is_none() {
            return Err(EditError::NoSuchItem { path: key.clone() });
        }
    }
    Ok(())
}

/// Reads the whole document by type and complains about the changed key only.
pub(super) fn check_types(document: &Document, key: &KeyPath) -> Result<(), Box<SetError>> {
    let Ok(mut tree) = document.value() else {
        return Ok(());
    };
    if is_reference(tree.at(key)) {
        return Ok(());
    }
    legacy::normalise(&mut tree, &mut Vec::new());
    let mut reader = Reader::default();
    Config::read(&tree, &mut reader);
    for problem in reader.into_problems() {
        let inside = problem.key.prefix(key.len()) == *key;
        if let (true, Fault::NotAccepted { expected, found }) = (inside, problem.fault) {
            return Err(Box::new(SetError::NotAccepted {
                key: problem.key,
                expected,
                found,
            }));
        }
    }
    Ok(())
}

/// Whether a variable stands in a value or in one inside it: its type is known when it is put in.
fn is_reference(node: Option<&Node>) -> bool {
    node.is_some_and(|node| match &node.value {
        Value::Text(text) => text.contains("${"),
        Value::List(items) => items.iter().any(|item| is_reference(Some(item))),
        Value::Map(map) => map.iter().any(|(_, item)| is_reference(Some(item))),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => false,
    })
}
