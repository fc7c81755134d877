//! YAML as the reference writes it: read with positions, written back touching only what was asked for.

mod edit;
mod emit;
mod parse;
mod scalar;

pub(crate) use edit::NotePlace;
pub use edit::{Document, EditError};
pub use emit::to_yaml;
pub(crate) use parse::parse_noting_duplicates;
pub use parse::{ParseCause, ParseError, parse};
