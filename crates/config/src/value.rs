//! The untyped form of a setting: what YAML, the environment and flags are turned into before types are read.

use std::fmt;

/// Where a value was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Layer {
    /// Built into the program.
    #[default]
    Default,
    /// An environment variable that only fills what no file says, such as `TERMINAL_TIMEOUT`.
    EnvironmentDefault,
    /// `config.yaml` of the home.
    File,
    /// `.hermes/config.yaml` of the project the program was started in.
    Project,
    /// An environment variable that overrides the files for one run, such as `HERMES_INFERENCE_MODEL`.
    Environment,
    /// A command-line flag.
    Flag,
    /// The administrator's managed scope, which nothing overrides.
    Managed,
}

impl Layer {
    /// The name shown to people and used in `--json` output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::EnvironmentDefault | Self::Environment => "environment",
            Self::File => "file",
            Self::Project => "project",
            Self::Flag => "flag",
            Self::Managed => "managed",
        }
    }
}

/// Where exactly a value came from; line and column are zero when the layer has no file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Origin {
    pub layer: Layer,
    pub line: u32,
    pub column: u32,
}

impl Origin {
    /// An origin in a layer that has no lines.
    pub fn of(layer: Layer) -> Self {
        Self {
            layer,
            line: 0,
            column: 0,
        }
    }
}

/// A value with its origin and, for a plain scalar, the text as it was written.
///
/// The text matters because YAML 1.1 turns `off` into a boolean and `0755` into a number, while the
/// setting may be a word or an identifier.
#[derive(Debug, Clone, Default)]
pub struct Node {
    pub value: Value,
    pub written: Option<Box<str>>,
    pub origin: Origin,
}

/// Two nodes are equal when they mean the same, wherever they were written.
impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

/// A setting without its type.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Value {
    #[default]
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Map(Map),
}

/// An ordered map; order is what the user wrote.
#[derive(Debug, Clone, Default)]
pub struct Map {
    entries: Vec<(String, Node)>,
}

/// Order carries no meaning, so it is not compared.
impl PartialEq for Map {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(key, node)| other.get(key) == Some(node))
    }
}

impl Map {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, node)| node)
    }

    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.entries
            .iter_mut()
            .find(|(name, _)| name == key)
            .map(|(_, node)| node)
    }

    /// Sets `key`, keeping its place when it is there already.
    pub fn insert(&mut self, key: impl Into<String>, node: Node) {
        let key = key.into();
        match self.get_mut(&key) {
            Some(place) => *place = node,
            None => self.entries.push((key, node)),
        }
    }

    pub fn remove(&mut self, key: &str) -> Option<Node> {
        let index = self.entries.iter().position(|(name, _)| name == key)?;
        Some(self.entries.remove(index).1)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Node)> {
        self.entries.iter().map(|(key, node)| (key.as_str(), node))
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut Node)> {
        self.entries
            .iter_mut()
            .map(|(key, node)| (key.as_str(), node))
    }
}

impl IntoIterator for Map {
    type Item = (String, Node);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl FromIterator<(String, Node)> for Map {
    fn from_iter<I: IntoIterator<Item = (String, Node)>>(entries: I) -> Self {
        let mut map = Self::new();
        for (key, node) in entries {
            map.insert(key, node);
        }
        map
    }
}

impl Value {
    /// The word error messages use for this kind of value.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "a boolean",
            Self::Int(_) => "a whole number",
            Self::Float(_) => "a number",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
        }
    }

    pub fn as_map(&self) -> Option<&Map> {
        match self {
            Self::Map(map) => Some(map),
            Self::Null
            | Self::Bool(_)
            | Self::Int(_)
            | Self::Float(_)
            | Self::Text(_)
            | Self::List(_) => None,
        }
    }

    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Null
            | Self::Bool(_)
            | Self::Int(_)
            | Self::Float(_)
            | Self::Map(_)
            | Self::List(_) => None,
        }
    }

    /// The JSON form; numbers JSON cannot hold become their YAML text.
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match self {
            Self::Null => Json::Null,
            Self::Bool(flag) => Json::Bool(*flag),
            Self::Int(number) => Json::from(*number),
            Self::Float(number) => serde_json::Number::from_f64(*number)
                .map_or_else(|| Json::String(float_text(*number)), Json::Number),
            Self::Text(text) => Json::String(text.clone()),
            Self::List(items) => items.iter().map(|item| item.value.to_json()).collect(),
            Self::Map(map) => Json::Object(
                map.iter()
                    .map(|(key, node)| (key.to_owned(), node.value.to_json()))
                    .collect(),
            ),
        }
    }

    pub fn from_json(json: serde_json::Value) -> Self {
        use serde_json::Value as Json;
        match json {
            Json::Null => Self::Null,
            Json::Bool(flag) => Self::Bool(flag),
            Json::Number(number) => number.as_i64().map_or_else(
                || Self::Float(number.as_f64().unwrap_or(f64::NAN)),
                Self::Int,
            ),
            Json::String(text) => Self::Text(text),
            Json::Array(items) => Self::List(
                items
                    .into_iter()
                    .map(|item| Self::from_json(item).into())
                    .collect(),
            ),
            Json::Object(entries) => Self::Map(
                entries
                    .into_iter()
                    .map(|(key, value)| (key, Self::from_json(value).into()))
                    .collect(),
            ),
        }
    }
}

impl Node {
    pub fn new(value: Value, layer: Layer) -> Self {
        Self {
            value,
            written: None,
            origin: Origin::of(layer),
        }
    }

    /// The child at one path segment: a key of a map or an index of a list.
    pub fn child(&self, segment: &str) -> Option<&Node> {
        match &self.value {
            Value::Map(map) => map.get(segment),
            Value::List(items) => items.get(segment.parse::<usize>().ok()?),
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) => None,
        }
    }

    /// The node at a whole path.
    pub fn at(&self, path: &KeyPath) -> Option<&Node> {
        path.segments()
            .try_fold(self, |node, segment| node.child(segment))
    }

    /// The text of a scalar as the user wrote it, or as we would write it.
    pub fn text(&self) -> Option<String> {
        match (&self.value, &self.written) {
            (Value::Text(text), _) => Some(text.clone()),
            (Value::Bool(_) | Value::Int(_) | Value::Float(_), Some(written)) => {
                Some(written.to_string())
            }
            (Value::Bool(flag), None) => Some(flag.to_string()),
            (Value::Int(number), None) => Some(number.to_string()),
            (Value::Float(number), None) => Some(float_text(*number)),
            (Value::Null | Value::List(_) | Value::Map(_), _) => None,
        }
    }

    /// The map inside, made on the spot when there is none.
    pub fn map_mut(&mut self) -> &mut Map {
        if self.value.as_map().is_none() {
            self.value = Value::Map(Map::new());
        }
        match &mut self.value {
            Value::Map(map) => map,
            Value::Null
            | Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::Text(_)
            | Value::List(_) => unreachable!("the value was made a map above"),
        }
    }

    /// Puts `node` at `path`, making maps on the way; list indexes must exist, but for the last of the path, which may
    /// be the next one.
    pub fn set(&mut self, path: &KeyPath, node: Node) -> Result<(), NoSuchItem> {
        let mut place = self;
        for (depth, segment) in path.segments().enumerate() {
            place = match place.value {
                Value::List(ref mut items) => {
                    let index = segment.parse::<usize>().ok();
                    if index == Some(items.len()) && depth + 1 == path.len() {
                        items.push(Node::default());
                    }
                    index
                        .and_then(|index| items.get_mut(index))
                        .ok_or_else(|| NoSuchItem { path: path.clone() })?
                }
                Value::Null
                | Value::Bool(_)
                | Value::Int(_)
                | Value::Float(_)
                | Value::Text(_)
                | Value::Map(_) => {
                    let map = place.map_mut();
                    if map.get(segment).is_none() {
                        map.insert(segment, Node::default());
                    }
                    map.get_mut(segment)
                        .ok_or_else(|| NoSuchItem { path: path.clone() })?
                }
            };
        }
        *place = node;
        Ok(())
    }

    /// Takes the node at `path` out; `None` when nothing was there.
    pub fn remove(&mut self, path: &KeyPath) -> Option<Node> {
        let (parent, last) = path.split_last()?;
        let mut place = self;
        for segment in parent.segments() {
            place = match &mut place.value {
                Value::Map(map) => map.get_mut(segment)?,
                Value::List(items) => items.get_mut(segment.parse::<usize>().ok()?)?,
                Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) => {
                    return None;
                }
            };
        }
        match &mut place.value {
            Value::Map(map) => map.remove(last),
            Value::List(items) => {
                let index = last.parse::<usize>().ok()?;
                (index < items.len()).then(|| items.remove(index))
            }
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) => None,
        }
    }
}

impl From<Value> for Node {
    fn from(value: Value) -> Self {
        Self::new(value, Layer::Default)
    }
}

/// A path into a list that has no such item.
#[derive(Debug, thiserror::Error)]
#[error("{path} has no item with that number")]
pub struct NoSuchItem {
    pub path: KeyPath,
}

/// A dotted key such as `display.platforms.telegram.streaming`; a number picks a list item.
///
/// A segment that itself contains dots (a model name as a map key) is written in quotes:
/// `agent.reasoning_overrides."gpt-5.5"`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct KeyPath(Vec<String>);

impl KeyPath {
    pub fn root() -> Self {
        Self::default()
    }

    /// Parses the dotted form; `None` when a segment is empty or a quote is not closed.
    pub fn parse(text: &str) -> Option<Self> {
        let mut segments = Vec::new();
        let mut rest = text;
        loop {
            let (segment, tail) = match rest.strip_prefix('"') {
                Some(quoted) => quoted.split_once('"')?,
                None => {
                    let end = rest.find('.').unwrap_or(rest.len());
                    rest.split_at(end)
                }
            };
            if segment.is_empty() {
                return None;
            }
            segments.push(segment.to_owned());
            if tail.is_empty() {
                return Some(Self(segments));
            }
            rest = tail.strip_prefix('.')?;
        }
    }

    pub fn of<const N: usize>(segments: [&str; N]) -> Self {
        Self(segments.iter().map(|&segment| segment.to_owned()).collect())
    }

    pub fn segments(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn last(&self) -> Option<&str> {
        self.0.last().map(String::as_str)
    }

    pub fn child(&self, segment: &str) -> Self {
        let mut segments = self.0.clone();
        segments.push(segment.to_owned());
        Self(segments)
    }

    /// The path without its last segment, and that segment.
    pub fn split_last(&self) -> Option<(Self, &str)> {
        let (last, parent) = self.0.split_last()?;
        Some((Self(parent.to_vec()), last))
    }

    /// The first `length` segments.
    pub fn prefix(&self, length: usize) -> Self {
        Self(self.0.iter().take(length).cloned().collect())
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, segment) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(".")?;
            }
            if segment.contains('.') {
                write!(f, "\"{segment}\"")?;
            } else {
                f.write_str(segment)?;
            }
        }
        Ok(())
    }
}

/// Writes a float so that YAML reads it back as one.
pub(crate) fn float_text(number: f64) -> String {
    if number.is_nan() {
        ".nan".to_owned()
    } else if number.is_infinite() {
        if number > 0.0 { ".inf" } else { "-.inf" }.to_owned()
    } else {
        // YAML 1.1 wants a point in the mantissa and a sign in the exponent.
        match format!("{number:?}").split_once('e') {
            None => format!("{number:?}"),
            Some((mantissa, exponent)) => {
                let point = if mantissa.contains('.') { "" } else { ".0" };
                let sign = if exponent.starts_with('-') { "" } else { "+" };
                format!("{mantissa}{point}e{sign}{exponent}")
            }
        }
    }
}
