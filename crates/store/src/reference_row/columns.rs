//! Taking typed values out of a row by name.

use serde_json::{Map, Value as Json};

/// The columns of a row that were not taken yet.
///
/// A value of another type than asked for stays, so that it ends up in `extra` instead of being lost.
pub(super) struct Columns(Map<String, Json>);

impl Columns {
    pub(super) fn new(columns: Map<String, Json>) -> Self {
        Self(columns)
    }

    pub(super) fn drop(&mut self, name: &str) {
        self.0.shift_remove(name);
    }

    pub(super) fn put(&mut self, name: &str, value: Json) {
        self.0.insert(name.to_owned(), value);
    }

    pub(super) fn value(&mut self, name: &str) -> Option<Json> {
        self.0.shift_remove(name).filter(|value| !value.is_null())
    }

    pub(super) fn text(&mut self, name: &str) -> Option<String> {
        self.take(name, |value| value.as_str().map(ToOwned::to_owned))
    }

    pub(super) fn number(&mut self, name: &str) -> Option<f64> {
        self.take(name, Json::as_f64)
    }

    pub(super) fn integer(&mut self, name: &str) -> Option<i64> {
        self.take(name, Json::as_i64)
    }

    /// A number that is not negative and fits the database's integers.
    pub(super) fn count(&mut self, name: &str) -> Option<u64> {
        self.take(name, |value| {
            let number = value.as_i64().and_then(|number| u64::try_from(number).ok());
            // Nobody has used more; sums over many rows must not overflow.
            number.map(|number| number.min(1_000_000_000_000_000))
        })
    }

    pub(super) fn flag(&mut self, name: &str) -> Option<bool> {
        self.take(name, |value| {
            value.as_bool().or_else(|| value.as_i64().map(|n| n != 0))
        })
    }

    /// What was not taken and says something.
    pub(super) fn rest(self, known: &[(&str, Json)]) -> Map<String, Json> {
        let mut left = self.0;
        left.retain(|name, value| {
            let usual = known.iter().find(|(known, _)| known == name);
            usual.is_none_or(|(_, usual)| !says_nothing(value, usual))
        });
        left
    }

    fn take<T>(&mut self, name: &str, read: impl Fn(&Json) -> Option<T>) -> Option<T> {
        let taken = read(self.0.get(name)?)?;
        self.0.shift_remove(name);
        Some(taken)
    }
}

fn says_nothing(value: &Json, usual: &Json) -> bool {
    value.is_null() || value == usual || (usual == &Json::Bool(false) && value.as_i64() == Some(0))
}
