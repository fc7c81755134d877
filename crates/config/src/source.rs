//! One settings file: its text and what stands in it.

use std::path::{Path, PathBuf};

use crate::files::{self, FileError};
use crate::problem::Problem;
use crate::value::{Layer, Node, Value};
use crate::yaml::{ParseError, parse_noting_duplicates};

/// A settings file as it was found.
#[derive(Debug, Default)]
pub(crate) struct Source {
    /// A map, or null for a file that is empty or not there.
    pub(crate) node: Node,
    pub(crate) problems: Vec<Problem>,
}

/// Why the content of a file is no settings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    #[error(transparent)]
    Yaml(#[from] ParseError),
    #[error("line {line}: the file must be a map of settings, not {found}")]
    NotAMap { line: u32, found: &'static str },
    #[error("line {line}: the file is not UTF-8")]
    NotText { line: u32 },
}

impl ReadError {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Yaml(error) => error.hint(),
            Self::NotAMap { .. } => "the file must hold `key: value` lines; nothing was written",
            Self::NotText { .. } => "save the file as UTF-8; nothing was written",
        }
    }

    /// The line and column that are wrong, counted from 1; zero where it cannot be told.
    pub fn place(&self) -> (u32, u32) {
        match self {
            Self::Yaml(error) => (error.line, error.column),
            Self::NotAMap { line, .. } => (*line, 0),
            Self::NotText { line } => (*line, 0),
        }
    }
}

/// Why a file could not be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SourceError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{}: {source}", path.display())]
    Content {
        path: PathBuf,
        #[source]
        source: ReadError,
    },
}

/// Reads a settings file; one that is not there is empty.
pub(crate) fn read(path: &Path, layer: Layer) -> Result<Source, SourceError> {
    let Some(bytes) = files::read(path)? else {
        return Ok(Source::default());
    };
    parse(&bytes, layer).map_err(|source| SourceError::Content {
        path: path.to_owned(),
        source,
    })
}

/// The text of a settings file.
pub(crate) fn text_of(bytes: Vec<u8>) -> Result<String, ReadError> {
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let before = error.as_bytes().iter().take(valid);
        let line = 1 + before.filter(|byte| **byte == b'\n').count();
        ReadError::NotText {
            line: u32::try_from(line).unwrap_or(u32::MAX),
        }
    })
}

fn parse(bytes: &[u8], layer: Layer) -> Result<Source, ReadError> {
    let text = text_of(bytes.to_vec())?;
    let (node, problems) = parse_noting_duplicates(&text, layer)?;
    match &node.value {
        Value::Map(_) | Value::Null => Ok(Source { node, problems }),
        other => Err(ReadError::NotAMap {
            line: node.origin.line,
            found: other.kind(),
        }),
    }
}
