//! Changing one key of a file and nothing else.
//!
//! An edit replaces the bytes of one entry. Afterwards the new text is parsed again and compared with
//! the value the edit was meant to produce; a file that cannot be edited this way is left alone.

mod comments;
mod editor;
mod layout;
mod removal;

use std::fmt;

pub(crate) use comments::{Note, NotePlace};

use super::parse::{DEEPEST, Kind, ParseError, Tree, read_tree};
use crate::value::{KeyPath, Layer, Node, Value};
use editor::Editor;
use removal::BlankLines;

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
    #[error("line {line}: the file must be a map of settings, not {found}")]
    NotAMap { line: u32, found: &'static str },
    #[error("{path} is a plain value, not a section")]
    InsideScalar { path: KeyPath },
    #[error("{path} has no item with that number")]
    NoSuchItem { path: KeyPath },
    #[error("{path} is an alias of another value")]
    Alias { path: KeyPath },
    #[error("{path} comes from another section, merged in with `<<`")]
    Merged { path: KeyPath },
    #[error("{path} shares its value with another key by an anchor, and both would change")]
    Shared { path: KeyPath },
    #[error("line {line}: {path} is written as `? key`, which is not changed in place")]
    LongNotation { path: KeyPath, line: u32 },
    #[error("the key has {parts} parts, more than the {DEEPEST} a file may be deep")]
    TooDeep { parts: usize },
    #[error("{path} cannot be changed without touching other lines")]
    Unclear { path: KeyPath },
}

impl EditError {
    /// What the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Parse(error) => error.hint().to_owned(),
            Self::NotAMap { .. } => {
                "the file must hold `key: value` lines; nothing was written".to_owned()
            }
            Self::InsideScalar { path } => format!("hermes config unset {path} first"),
            Self::NoSuchItem { .. } => "items are counted from 0".to_owned(),
            Self::Alias { .. } => {
                "write the value out where the `*name` stands, or change the value it names"
                    .to_owned()
            }
            Self::Merged { path } => {
                format!("hermes config set {path} VALUE overrides it, or change it where it stands")
            }
            Self::Shared { .. } => {
                "write the value out where the `*name` stands, then try again".to_owned()
            }
            Self::LongNotation { .. } => "write it as `key: value`, then try again".to_owned(),
            Self::TooDeep { .. } => "write it like display.skin".to_owned(),
            Self::Unclear { .. } => "change it by hand: hermes config edit".to_owned(),
        }
    }
}

impl Document {
    /// Takes the text after making sure that it is YAML.
    pub fn new(text: impl Into<String>) -> Result<Self, EditError> {
        let text = text.into();
        let tree = read_tree(&text)?;
        if !tree.is_empty() && !matches!(tree.kind, Kind::Map { .. }) {
            return Err(EditError::NotAMap {
                line: tree.line,
                found: tree.to_node(Layer::File).value.kind(),
            });
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
        if path.len() > DEEPEST {
            return Err(EditError::TooDeep { parts: path.len() });
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
        self.replace(text, &tree, &wanted, path, Strictness::Exact)
    }

    /// Removes one key, wherever it stands twice both times; `false` when it was not there.
    pub fn remove(&mut self, path: &KeyPath) -> Result<bool, EditError> {
        let tree = read_tree(&self.text)?;
        let mut wanted = tree.to_node(Layer::File);
        if wanted.remove(path).is_none() {
            return Ok(false);
        }
        let editor = |blank| Editor::new(&self.text, path, &tree).remove(&tree, blank);
        let ways = [editor(BlankLines::Stay)?, editor(BlankLines::Go)?];
        let mut refused = None;
        for text in ways {
            let text = remove_doubles(text, path)?;
            match self.replace(text, &tree, &wanted, path, Strictness::EmptyIsNothing) {
                Ok(()) => return Ok(true),
                Err(error) => refused = Some(error),
            }
        }
        refused.map_or(Ok(true), Err)
    }

    /// Removes one key and hands out the comments that `moves` says belong elsewhere now. The other
    /// comments on its lines stay.
    pub(crate) fn remove_keeping_comments(
        &mut self,
        path: &KeyPath,
        moves: &dyn Fn(&KeyPath) -> bool,
    ) -> Result<Vec<Note>, EditError> {
        let tree = read_tree(&self.text)?;
        let mut wanted = tree.to_node(Layer::File);
        if wanted.remove(path).is_none() {
            return Ok(Vec::new());
        }
        let Some((text, notes)) = Editor::new(&self.text, path, &tree).pull(&tree, moves) else {
            self.remove(path)?;
            return Ok(Vec::new());
        };
        let text = remove_doubles(text, path)?;
        self.replace(text, &tree, &wanted, path, Strictness::EmptyIsNothing)?;
        Ok(notes)
    }

    /// Puts a comment at a key.
    pub(crate) fn annotate(
        &mut self,
        path: &KeyPath,
        place: NotePlace,
        comment: &str,
    ) -> Result<(), EditError> {
        let tree = read_tree(&self.text)?;
        let wanted = tree.to_node(Layer::File);
        let text = Editor::new(&self.text, path, &tree).annotate(&tree, place, comment)?;
        self.replace(text, &tree, &wanted, path, Strictness::Exact)
    }

    fn replace(
        &mut self,
        text: String,
        before: &Tree,
        wanted: &Node,
        path: &KeyPath,
        strictness: Strictness,
    ) -> Result<(), EditError> {
        let got = read_tree(&text).map(|tree| tree.to_node(Layer::File));
        let path = path.clone();
        match got {
            Ok(got) if same(&got.value, &wanted.value, strictness) => {
                self.text = text;
                Ok(())
            }
            Ok(_) | Err(_) if before.has_alias() => Err(EditError::Shared { path }),
            Ok(_) | Err(_) => Err(EditError::Unclear { path }),
        }
    }
}

/// A key that stands twice shows its earlier value once the later one is gone.
fn remove_doubles(mut text: String, path: &KeyPath) -> Result<String, EditError> {
    let Some((section, name)) = path.split_last() else {
        return Ok(text);
    };
    // The numbers of a list move up when an item goes; there are no doubles among them.
    loop {
        let tree = match read_tree(&text) {
            Ok(tree) => tree,
            // The caller compares the outcome and says why it is refused.
            Err(_) => return Ok(text),
        };
        if !tree.has_own_key(&section, name) {
            return Ok(text);
        }
        let shorter = Editor::new(&text, path, &tree).remove(&tree, BlankLines::Stay)?;
        if shorter.len() >= text.len() {
            return Ok(text);
        }
        text = shorter;
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
