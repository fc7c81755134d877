//! Changing one assignment of a `.env` file.

use std::fmt;
use std::path::Path;

use super::scan::{Assignment, Item, scan};
use super::{decode, glue};
use crate::files::{self, FileError};

/// Names that steer which programs run; a file the agent can be talked into writing must not hold them.
const DENIED: [&str; 17] = [
    "BROWSER",
    "EDITOR",
    "GIT_EXEC_PATH",
    "GIT_SHELL",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "HERMES_CONFIG",
    "HERMES_ENV",
    "HERMES_HOME",
    "HERMES_PROFILE",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PAGER",
    "PATH",
    "SHELL",
    "VISUAL",
    "BASH_ENV",
];
const DENIED_PREFIXES: [&str; 3] = ["LD_", "DYLD_", "PYTHON"];

/// A name that may be written to `.env`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EnvName(String);

/// Why a name may not be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnvNameError {
    #[error("{name} is not a variable name")]
    Invalid { name: String },
    #[error("{name} decides which programs run and is never written to .env")]
    Denied { name: String },
}

impl EnvNameError {
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Invalid { .. } => "use letters, digits and _, not starting with a digit",
            Self::Denied { .. } => "set it in your shell instead",
        }
    }
}

impl EnvName {
    pub fn new(name: &str) -> Result<Self, EnvNameError> {
        let valid = !name.starts_with(|c: char| c.is_ascii_digit())
            && !name.is_empty()
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let name = name.to_owned();
        if !valid {
            return Err(EnvNameError::Invalid { name });
        }
        let denied = DENIED.contains(&name.as_str())
            || DENIED_PREFIXES
                .iter()
                .any(|prefix| name.starts_with(prefix));
        if denied {
            return Err(EnvNameError::Denied { name });
        }
        Ok(Self(name))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EnvName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The text of a `.env` file, ready to be changed. Holds secrets, so it cannot be printed.
pub struct EnvFile {
    text: String,
}

impl EnvFile {
    /// Takes the bytes of a file, `None` when they are in an encoding that is not read.
    ///
    /// A byte order mark stays; UTF-16 and Latin-1 are written back as UTF-8.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let text = decode::text_of(bytes)?;
        let marked = bytes.starts_with(&[0xef, 0xbb, 0xbf]);
        Some(Self {
            text: if marked {
                format!("\u{feff}{text}")
            } else {
                text
            },
        })
    }

    /// Reads a file; one that is not there is empty. `Ok(None)` is an encoding that is not read.
    pub fn read(path: &Path) -> Result<Option<Self>, FileError> {
        Ok(Self::from_bytes(&files::read(path)?.unwrap_or_default()))
    }

    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        files::replace_secret(path, self.text.as_bytes())
    }

    /// The whole text, secrets included.
    pub fn expose(&self) -> &str {
        &self.text
    }

    pub fn has(&self, name: &EnvName) -> bool {
        self.last(name).is_some()
    }

    /// Whether the line that counts has a value.
    pub fn is_filled(&self, name: &EnvName) -> bool {
        self.last(name).is_some_and(|found| !found.value.is_empty())
    }

    /// Sets a variable on the line that counts, or on a new one at the end.
    pub fn set(&mut self, name: &EnvName, value: &str) {
        if self.last(name).is_some_and(|found| self.is_glued(&found)) {
            self.repair();
        }
        match self.last(name) {
            Some(found) => self.text.replace_range(found.written, &quote(value)),
            None => {
                let newline = if self.text.contains("\r\n") {
                    "\r\n"
                } else {
                    "\n"
                };
                if !self.text.is_empty() && !self.text.ends_with(['\n', '\r']) {
                    self.text.push_str(newline);
                }
                self.text
                    .push_str(&format!("{name}={}{newline}", quote(value)));
            }
        }
    }

    /// Removes every assignment of a name; `false` when there was none.
    pub fn remove(&mut self, name: &EnvName) -> bool {
        let found: Vec<_> = self.all(name).map(|found| found.span).collect();
        for span in found.iter().rev() {
            self.text.replace_range(span.clone(), "");
        }
        !found.is_empty()
    }

    /// Takes glued lines apart; `false` when there was none.
    pub fn repair(&mut self) -> bool {
        let mark = if self.text.starts_with('\u{feff}') {
            "\u{feff}"
        } else {
            ""
        };
        let Some(text) = glue::repaired(self.body()) else {
            return false;
        };
        self.text = format!("{mark}{text}");
        true
    }

    fn body(&self) -> &str {
        self.text.trim_start_matches('\u{feff}')
    }

    fn last(&self, name: &EnvName) -> Option<Assignment> {
        self.all(name).last()
    }

    fn all(&self, name: &EnvName) -> impl Iterator<Item = Assignment> {
        let shift = self.text.len() - self.body().len();
        scan(self.body())
            .into_iter()
            .filter_map(move |item| match item {
                Item::Assignment(found) if found.name == name.0 => Some(Assignment {
                    written: found.written.start + shift..found.written.end + shift,
                    span: found.span.start + shift..found.span.end + shift,
                    ..found
                }),
                Item::Assignment(_)
                | Item::Blank { .. }
                | Item::Malformed { .. }
                | Item::OpenQuote { .. } => None,
            })
    }

    fn is_glued(&self, found: &Assignment) -> bool {
        glue::split(&self.text[found.span.clone()]).is_some()
    }
}

/// Shows nothing of the text.
impl fmt::Debug for EnvFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnvFile").finish_non_exhaustive()
    }
}

/// A value as it must be written to be read back the same.
fn quote(value: &str) -> String {
    let unusual = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '#' | '"' | '\'');
    if value.contains("${") {
        // Single quotes keep `${…}` from being replaced, and may go on over several lines.
        return format!("'{}'", value.replace('\\', "\\\\").replace('\'', "\\'"));
    }
    if !value.contains(unusual) {
        return value.to_owned();
    }
    let mut out = String::from("\"");
    for character in value.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}
