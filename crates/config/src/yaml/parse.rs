//! From text to a tree that knows where everything stands.

mod reader;

use std::collections::HashSet;
use std::ops::Range;

use super::scalar;
use crate::problem::{Fault, Problem};
use crate::value::{KeyPath, Layer, Map, Node, Origin, Value};
pub(super) use reader::read_tree;

/// Aliases may repeat a node; a small file must not grow into a large one.
const MOST_NODES: usize = 100_000;
pub(super) const DEEPEST: usize = 64;

/// Text that cannot be read, with the place that says so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {cause}")]
pub struct ParseError {
    pub line: u32,
    pub column: u32,
    pub cause: ParseCause,
}

/// Why a text cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseCause {
    /// Not YAML, or YAML that no settings file needs.
    #[error("{0}")]
    Notation(String),
    #[error("sections stand in each other more than {DEEPEST} levels deep")]
    TooDeep,
    #[error("the file holds more than {MOST_NODES} keys and values")]
    TooMany,
    #[error("aliases repeat so much that the file grows to more than {MOST_NODES} values")]
    TooMuchRepeated,
}

impl ParseError {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self.cause {
            ParseCause::Notation(_) => "mend the file by hand; nothing was written",
            ParseCause::TooDeep => "no setting stands that deep; mend the file by hand",
            ParseCause::TooMany => "move what is no setting to a file of its own",
            ParseCause::TooMuchRepeated => "write the values out where they are needed",
        }
    }
}

/// Reads one YAML document; an empty one is `Null`.
pub fn parse(text: &str, layer: Layer) -> Result<Node, ParseError> {
    Ok(read_tree(text)?.to_node(layer))
}

/// Reads one YAML document and says which keys stand in it twice.
pub(crate) fn parse_noting_duplicates(
    text: &str,
    layer: Layer,
) -> Result<(Node, Vec<Problem>), ParseError> {
    let tree = read_tree(text)?;
    let mut problems = Vec::new();
    tree.note_duplicates(&KeyPath::root(), layer, &mut problems);
    Ok((tree.to_node(layer), problems))
}

/// A node with its place in the text, as editing needs it.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    pub(super) kind: Kind,
    pub(super) range: Range<usize>,
    pub(super) line: u32,
    pub(super) column: u32,
    anchor: usize,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    Scalar {
        text: String,
        plain: bool,
        block: bool,
        /// What an explicit tag such as `!!int` makes of the text.
        tagged: Option<Value>,
    },
    /// A node standing for another one; holds a copy of it.
    Alias(Box<Tree>),
    List {
        items: Vec<Tree>,
        flow: bool,
    },
    Map {
        entries: Vec<(Tree, Tree)>,
        flow: bool,
    },
}

impl Tree {
    pub(super) fn key_text(&self) -> &str {
        match &self.kind {
            Kind::Scalar { text, .. } => text,
            Kind::Alias(target) => target.key_text(),
            Kind::List { .. } | Kind::Map { .. } => "",
        }
    }

    /// Whether nothing is written here, as after a bare `key:`.
    pub(super) fn is_empty(&self) -> bool {
        self.range.is_empty() && matches!(self.kind, Kind::Scalar { plain: true, .. })
    }

    /// Whether the map at a path has a key written in it, not merged from elsewhere.
    pub(super) fn has_own_key(&self, section: &KeyPath, name: &str) -> bool {
        let mut place = self;
        for segment in section.segments() {
            let child = match &place.kind {
                Kind::Map { entries, .. } => entries
                    .iter()
                    .rev()
                    .find(|(key, _)| key.key_text() == segment)
                    .map(|(_, value)| value),
                Kind::List { items, .. } => {
                    segment.parse().ok().and_then(|at: usize| items.get(at))
                }
                Kind::Scalar { .. } | Kind::Alias(_) => None,
            };
            let Some(child) = child else { return false };
            place = child;
        }
        match &place.kind {
            Kind::Map { entries, .. } => entries.iter().any(|(key, _)| key.key_text() == name),
            Kind::List { .. } | Kind::Scalar { .. } | Kind::Alias(_) => false,
        }
    }

    /// Whether it is a map or a list on lines of its own.
    pub(super) fn is_block(&self) -> bool {
        matches!(
            self.kind,
            Kind::Map { flow: false, .. } | Kind::List { flow: false, .. }
        )
    }

    /// Whether an alias stands anywhere in it.
    pub(super) fn has_alias(&self) -> bool {
        match &self.kind {
            Kind::Scalar { .. } => false,
            Kind::Alias(_) => true,
            Kind::List { items, .. } => items.iter().any(Self::has_alias),
            Kind::Map { entries, .. } => entries
                .iter()
                .any(|(key, value)| key.has_alias() || value.has_alias()),
        }
    }

    fn count(&self) -> usize {
        1 + match &self.kind {
            Kind::Scalar { .. } => 0,
            Kind::Alias(target) => target.count(),
            Kind::List { items, .. } => items.iter().map(Self::count).sum(),
            Kind::Map { entries, .. } => entries.iter().map(|(_, value)| value.count()).sum(),
        }
    }

    fn note_duplicates(&self, path: &KeyPath, layer: Layer, problems: &mut Vec<Problem>) {
        match &self.kind {
            Kind::Scalar { .. } | Kind::Alias(_) => {}
            Kind::List { items, .. } => {
                for (index, item) in items.iter().enumerate() {
                    item.note_duplicates(&path.child(&index.to_string()), layer, problems);
                }
            }
            Kind::Map { entries, .. } => {
                let mut seen = HashSet::new();
                for (key, value) in entries {
                    let path = path.child(key.key_text());
                    if !seen.insert(key.key_text()) && !is_merge(key) {
                        problems.push(Problem {
                            key: path.clone(),
                            origin: key.origin(layer),
                            file: None,
                            fault: Fault::Duplicate,
                        });
                    }
                    value.note_duplicates(&path, layer, problems);
                }
            }
        }
    }

    fn origin(&self, layer: Layer) -> Origin {
        Origin {
            layer,
            line: self.line,
            column: self.column,
        }
    }

    pub(super) fn to_node(&self, layer: Layer) -> Node {
        let (value, written) = match &self.kind {
            Kind::Scalar {
                tagged: Some(value),
                ..
            } => (value.clone(), None),
            Kind::Scalar {
                text, plain: true, ..
            } => {
                let value = if self.is_empty() {
                    Value::Null
                } else {
                    scalar::resolve(text)
                };
                let kept = matches!(value, Value::Bool(_) | Value::Int(_) | Value::Float(_));
                (value, kept.then(|| text.as_str().into()))
            }
            Kind::Scalar { text, .. } => (Value::Text(text.clone()), None),
            Kind::Alias(target) => {
                let node = target.to_node(layer);
                (node.value, node.written)
            }
            Kind::List { items, .. } => (
                Value::List(items.iter().map(|item| item.to_node(layer)).collect()),
                None,
            ),
            Kind::Map { entries, .. } => (Value::Map(map_of(entries, layer)), None),
        };
        Node {
            value,
            written,
            origin: self.origin(layer),
        }
    }
}

/// Own keys win over merged ones (`<<`); of two equal keys the later wins.
fn map_of(entries: &[(Tree, Tree)], layer: Layer) -> Map {
    let mut map = Map::new();
    for (_, value) in entries.iter().filter(|(key, _)| is_merge(key)) {
        let merged = value.to_node(layer);
        let sources = match merged.value {
            Value::List(items) => items,
            value => vec![Node { value, ..merged }],
        };
        for source in sources {
            for (key, node) in source.value.as_map().into_iter().flat_map(Map::iter) {
                if map.get(key).is_none() {
                    map.insert(key, node.clone());
                }
            }
        }
    }
    for (key, value) in entries.iter().filter(|(key, _)| !is_merge(key)) {
        let mut node = value.to_node(layer);
        // A value is where its key is; a section may begin lines below it.
        (node.origin.line, node.origin.column) = (key.line, key.column);
        map.insert(key.key_text(), node);
    }
    map
}

pub(super) fn is_merge(key: &Tree) -> bool {
    matches!(&key.kind, Kind::Scalar { text, plain: true, .. } if text == "<<")
}
