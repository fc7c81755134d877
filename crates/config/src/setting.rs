//! From untyped nodes to typed values, collecting everything that is wrong on the way.

mod number;

pub(crate) use number::{Bounded, within};

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

use crate::problem::{Fault, Idle, Problem};
use crate::shape::Shape;
use crate::value::{KeyPath, Map, Node, Value};

/// A type that can stand in `config.yaml`.
pub trait Setting: Sized {
    /// What the value looks like.
    fn shape() -> Shape;

    /// Reads the value; on `None` the reader has been told why.
    fn read(node: &Node, reader: &mut Reader) -> Option<Self>;

    /// Reads the value over what is there; a map keeps the keys that `node` does not mention.
    fn update(&mut self, node: &Node, reader: &mut Reader) {
        if let Some(value) = Self::read(node, reader) {
            *self = value;
        }
    }

    /// The value as it would be written.
    fn to_value(&self) -> Value;
}

/// Where reading stands, and what was found wrong so far.
#[derive(Debug, Default)]
pub struct Reader {
    path: Vec<String>,
    problems: Vec<Problem>,
    idle: Vec<Idle>,
}

impl Reader {
    pub fn into_problems(self) -> Vec<Problem> {
        self.problems
    }

    /// What is wrong, and what was set although nothing reads it.
    pub(crate) fn into_found(self) -> (Vec<Problem>, Vec<Idle>) {
        (self.problems, self.idle)
    }

    pub(crate) fn enter<T>(&mut self, key: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(key.to_owned());
        let result = read(self);
        self.path.pop();
        result
    }

    /// Tries one form of a value, forgetting what was wrong when it does not fit at all.
    fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let before = (self.problems.len(), self.idle.len());
        let value = read(self);
        if value.is_none() {
            self.problems.truncate(before.0);
            self.idle.truncate(before.1);
        }
        value
    }

    /// Notes that the node at the current path is not what was expected.
    pub(crate) fn refuse(&mut self, node: &Node, expected: String) {
        let found = match (&node.value, node.text()) {
            (Value::List(_) | Value::Map(_) | Value::Null, _) | (_, None) => {
                node.value.kind().to_owned()
            }
            (_, Some(text)) => in_words(&text),
        };
        self.note(node, Fault::NotAccepted { expected, found });
    }

    pub(crate) fn note(&mut self, node: &Node, fault: Fault) {
        self.problems.push(Problem {
            key: self.key(),
            origin: node.origin,
            file: None,
            fault,
        });
    }

    /// Notes that a key was set which nothing reads.
    pub(crate) fn idle(&mut self, key: &str, node: &Node, why: &'static str) {
        self.idle.push(Idle {
            key: self.key().child(key),
            origin: node.origin,
            file: None,
            why,
        });
    }

    fn key(&self) -> KeyPath {
        let path = self.path.iter();
        path.fold(KeyPath::root(), |path, segment| path.child(segment))
    }

    /// The map of a section; a null section counts as empty.
    pub(crate) fn section<'n>(&mut self, node: &'n Node) -> Option<&'n Map> {
        static EMPTY: std::sync::LazyLock<Map> = std::sync::LazyLock::new(Map::new);
        match &node.value {
            Value::Map(map) => Some(map),
            Value::Null => Some(&EMPTY),
            Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::List(_) => {
                self.refuse(node, "a map".to_owned());
                None
            }
        }
    }

    /// Reports keys that nothing reads, with the nearest known name.
    pub(crate) fn unknown_keys(&mut self, map: &Map, known: &[&'static str]) {
        for (key, node) in map.iter().filter(|(key, _)| !known.contains(key)) {
            let suggestion = nearest(key, known.iter().copied()).map(ToOwned::to_owned);
            self.enter(key, |reader| {
                reader.note(node, Fault::UnknownKey { suggestion })
            });
        }
    }

    /// Keeps the keys that a section does not list.
    pub(crate) fn other_keys<T: Setting>(
        &mut self,
        map: &Map,
        known: &[&'static str],
        place: &mut BTreeMap<String, T>,
    ) {
        for (key, node) in map.iter().filter(|(key, _)| !known.contains(key)) {
            self.entry(key, node, place);
        }
    }

    /// Reads one entry of a map over the entry that is there.
    fn entry<T: Setting>(&mut self, key: &str, node: &Node, place: &mut BTreeMap<String, T>) {
        self.enter(key, |reader| match place.get_mut(key) {
            Some(value) => value.update(node, reader),
            None => {
                if let Some(value) = T::read(node, reader) {
                    place.insert(key.to_owned(), value);
                }
            }
        });
    }

    /// Reads one field, leaving `place` alone when the value is null or cannot be used.
    pub(crate) fn field<T: Setting>(&mut self, key: &str, map: &Map, place: &mut T) {
        if let Some(node) = map.get(key) {
            self.enter(key, |reader| place.update(node, reader));
        }
    }

    /// As `field`, for a number that must lie in a range.
    pub(crate) fn field_within<T: Setting + Bounded>(
        &mut self,
        key: &str,
        map: &Map,
        place: &mut T,
        range: &RangeInclusive<T::Bound>,
    ) {
        let Some(node) = map.get(key) else { return };
        self.enter(key, |reader| {
            let Some(value) = T::read(node, reader) else {
                return;
            };
            if value.bound().is_none_or(|number| range.contains(&number)) {
                *place = value;
            } else {
                let shape = within::<T>(range);
                reader.refuse(node, shape.expected());
            }
        });
    }
}

/// A refused text as messages show it, wherever it was written.
pub(crate) fn in_words(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("`{}…`", &text[..end]),
        None => format!("`{text}`"),
    }
}

/// The closest of some names, when it is close enough to be a slip of the keyboard.
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    known
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .filter(|(likeness, _)| *likeness >= 0.84)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

impl Setting for bool {
    fn shape() -> Shape {
        Shape::Bool
    }

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        match (
            &node.value,
            node.text().map(|text| text.to_lowercase()).as_deref(),
        ) {
            (Value::Bool(flag), _) => Some(*flag),
            (Value::Int(1), _) | (Value::Text(_), Some("true" | "yes" | "on" | "1")) => Some(true),
            (Value::Int(0), _) | (Value::Text(_), Some("false" | "no" | "off" | "0")) => {
                Some(false)
            }
            (Value::Null, _) => None,
            _ => {
                reader.refuse(node, Self::shape().expected());
                None
            }
        }
    }

    fn to_value(&self) -> Value {
        Value::Bool(*self)
    }
}

impl Setting for String {
    fn shape() -> Shape {
        Shape::Text
    }

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        let text = node.text();
        if text.is_none() && node.value != Value::Null {
            reader.refuse(node, Self::shape().expected());
        }
        text
    }

    fn to_value(&self) -> Value {
        Value::Text(self.clone())
    }
}

/// A key or password written into the file; shown only masked.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct SecretText(String);

impl SecretText {
    /// The value itself. Named so that every use can be found.
    pub fn expose(&self) -> &str {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() {
            "\"\""
        } else {
            "[secret]"
        })
    }
}

impl Setting for SecretText {
    fn shape() -> Shape {
        Shape::Secret
    }

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        String::read(node, reader).map(Self)
    }

    fn to_value(&self) -> Value {
        Value::Text(self.0.clone())
    }
}

impl Setting for Value {
    fn shape() -> Shape {
        Shape::Any
    }

    fn read(node: &Node, _: &mut Reader) -> Option<Self> {
        Some(node.value.clone())
    }

    fn to_value(&self) -> Value {
        self.clone()
    }
}

impl<T: Setting> Setting for Option<T> {
    fn shape() -> Shape {
        Shape::Optional(Box::new(T::shape()))
    }

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        match &node.value {
            Value::Null => Some(None),
            _ => T::read(node, reader).map(Some),
        }
    }

    fn to_value(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::to_value)
    }
}

/// One value where a list is expected counts as a list of one.
impl<T: Setting> Setting for Vec<T> {
    fn shape() -> Shape {
        Shape::List(Box::new(T::shape()))
    }

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        match &node.value {
            Value::List(items) => {
                let mut values = Self::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    let value = reader.enter(&index.to_string(), |reader| T::read(item, reader));
                    values.extend(value);
                }
                Some(values)
            }
            Value::Null => None,
            Value::Text(text) if text.is_empty() => Some(Self::new()),
            Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::Map(_) => {
                T::read(node, reader).map(|value| vec![value])
            }
        }
    }

    fn to_value(&self) -> Value {
        Value::List(self.iter().map(|item| item.to_value().into()).collect())
    }
}

impl<T: Setting> Setting for BTreeMap<String, T> {
    fn shape() -> Shape {
        Shape::Map(Box::new(T::shape()))
    }

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        let map = reader.section(node)?;
        let mut values = Self::new();
        for (key, child) in map.iter() {
            reader.entry(key, child, &mut values);
        }
        Some(values)
    }

    fn update(&mut self, node: &Node, reader: &mut Reader) {
        for (key, child) in reader.section(node).into_iter().flat_map(Map::iter) {
            reader.entry(key, child, self);
        }
    }

    fn to_value(&self) -> Value {
        Value::Map(
            self.iter()
                .map(|(key, value)| (key.clone(), value.to_value().into()))
                .collect(),
        )
    }
}

/// A setting with two forms, such as a switch that is also a list.
#[derive(Debug, Clone, PartialEq)]
pub enum Either<A, B> {
    First(A),
    Second(B),
}

impl<A: Setting, B: Setting> Setting for Either<A, B> {
    fn shape() -> Shape {
        Shape::OneOf(vec![A::shape(), B::shape()])
    }

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        let value = reader
            .attempt(|reader| A::read(node, reader).map(Self::First))
            .or_else(|| reader.attempt(|reader| B::read(node, reader).map(Self::Second)));
        if value.is_none() && node.value != Value::Null {
            reader.refuse(node, Self::shape().expected());
        }
        value
    }

    fn to_value(&self) -> Value {
        match self {
            Self::First(value) => value.to_value(),
            Self::Second(value) => value.to_value(),
        }
    }
}
