//! Changing one key of a file and nothing else.
//!
//! An edit replaces the bytes of one entry. Afterwards the new text is parsed again and compared with
//! the value the edit was meant to produce; a file that cannot be edited this way is left alone.

mod editor;
mod layout;

use std::fmt;

use super::parse::{Kind, ParseError, read_tree};
use crate::value::{KeyPath, Layer, Node, Value};
use editor::Editor;

/// The text of a file, ready to be changed key by key.
#[derive(Clone)]
pub struct Document {
    text: String,
}

/// Shows nothing of the text, in which keys may stand.
impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Document").finish_non_exhaustive()
    }
}

/// Why a file was left as it was.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    #[error(transparent)]
    Parse(#[from] ParseError),
    #[error("the file is not a map of settings")]
    NotAMap,
    #[error("{path} is a plain value, not a section")]
    InsideScalar { path: KeyPath },
    #[error("{path} has no item with that number")]
    NoSuchItem { path: KeyPath },
    #[error("{path} stands in a form that cannot be changed without rewriting other lines")]
    Entangled { path: KeyPath },
}

impl EditError {
    /// What the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Parse(_) => "mend the file by hand; nothing was written".to_owned(),
            Self::NotAMap => {
                "the file must hold `key: value` lines; nothing was written".to_owned()
            }
            Self::InsideScalar { path } => format!("hermes config unset {path} first"),
            Self::NoSuchItem { .. } => "items are counted from 0".to_owned(),
            Self::Entangled { .. } => {
                "an anchor, an alias or an unusual notation is in the way; edit the file by hand"
                    .to_owned()
            }
        }
    }
}

impl Document {
    /// Takes the text after making sure that it is YAML.
    pub fn new(text: impl Into<String>) -> Result<Self, EditError> {
        let text = text.into();
        let tree = read_tree(&text)?;
        if !tree.is_empty() && !matches!(tree.kind, Kind::Map { .. }) {
            return Err(EditError::NotAMap);
        }
        Ok(Self { text })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn into_text(self) -> String {
        self.text
    }

    /// The value of the whole document.
    pub fn value(&self) -> Result<Node, EditError> {
        Ok(read_tree(&self.text)?.to_node(Layer::File))
    }

    /// Sets one key, making the sections above it when they are missing.
    pub fn set(&mut self, path: &KeyPath, value: &Value) -> Result<(), EditError> {
        let tree = read_tree(&self.text)?;
        let mut wanted = tree.to_node(Layer::File);
        if path.is_empty() {
            return Err(EditError::NotAMap);
        }
        if wanted
            .at(path)
            .is_some_and(|now| same(&now.value, value, Strictness::Exact))
        {
            return Ok(());
        }
        wanted
            .set(path, Node::new(value.clone(), Layer::File))
            .map_err(|_| EditError::NoSuchItem { path: path.clone() })?;
        let text = Editor::new(&self.text, path, &tree).set(&tree, value)?;
        self.replace(text, &wanted, path, Strictness::Exact)
    }

    /// Removes one key; `false` when it was not there.
    pub fn remove(&mut self, path: &KeyPath) -> Result<bool, EditError> {
        let tree = read_tree(&self.text)?;
        let mut wanted = tree.to_node(Layer::File);
        if wanted.remove(path).is_none() {
            return Ok(false);
        }
        let text = Editor::new(&self.text, path, &tree).remove(&tree)?;
        self.replace(text, &wanted, path, Strictness::EmptyIsNothing)?;
        Ok(true)
    }

    fn replace(
        &mut self,
        text: String,
        wanted: &Node,
        path: &KeyPath,
        strictness: Strictness,
    ) -> Result<(), EditError> {
        let got = read_tree(&text).map(|tree| tree.to_node(Layer::File));
        match got {
            Ok(got) if same(&got.value, &wanted.value, strictness) => {
                self.text = text;
                Ok(())
            }
            Ok(_) | Err(_) => Err(EditError::Entangled { path: path.clone() }),
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Strictness {
    Exact,
    /// A section that lost its last key is written `section:`, which the loader reads as an empty one.
    EmptyIsNothing,
}

fn same(a: &Value, b: &Value, strictness: Strictness) -> bool {
    match (a, b) {
        // Not a number never equals itself, but a file that holds one can still be edited.
        (Value::Float(a), Value::Float(b)) => a == b || (a.is_nan() && b.is_nan()),
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len()
                && a.iter()
                    .zip(b)
                    .all(|(a, b)| same(&a.value, &b.value, strictness))
        }
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, a)| {
                    b.get(key)
                        .is_some_and(|b| same(&a.value, &b.value, strictness))
                })
        }
        (Value::Map(map), Value::Null) | (Value::Null, Value::Map(map)) => {
            map.is_empty() && strictness == Strictness::EmptyIsNothing
        }
        (a, b) => a == b,
    }
}
