//! `.env`: the file that holds the secrets of a home.
//!
//! Reading never changes the file. Writing changes the one assignment it was asked for and keeps every
//! other byte, so that a file which a shell also sources stays as its owner wrote it.

mod decode;
mod glue;
mod inspect;
mod scan;
mod write;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

pub use inspect::inspect_env_file;
pub use write::{EnvFile, EnvName, EnvNameError};

use crate::environment::Environment;
use crate::files::{self, FileError};
use scan::{Item, Quote};

/// Endings of names whose values go into HTTP headers, which are ASCII.
const CREDENTIAL_ENDINGS: [&str; 4] = ["_API_KEY", "_TOKEN", "_SECRET", "_KEY"];

/// The values of one or more `.env` files, in the order they were written. All of them count as secrets.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct DotEnv {
    names: Vec<String>,
    values: BTreeMap<String, String>,
}

/// Something odd in a `.env` file; never holds a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvProblem {
    pub file: Option<PathBuf>,
    /// Counted from 1; zero when the whole file is meant.
    pub line: u32,
    pub fault: EnvFault,
}

/// What is odd.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnvFault {
    /// Not of the form `NAME=value`; the line is skipped.
    Malformed,
    /// A quote that is never closed; the line is skipped.
    OpenQuote { name: String },
    /// Two assignments on one line, read as if they stood on two.
    Glued { names: Vec<String> },
    /// Characters outside ASCII in a credential, left out.
    NotAscii { name: String },
    /// `${OTHER}` where nothing of that name is set; counts as empty.
    Unset { name: String, wanted: String },
    /// UTF-32, which is not read.
    Encoding,
    /// A name no shell and no program can use.
    BadName { name: String },
    /// A name that decides which programs run.
    Denied { name: String },
    /// Set on an earlier line already; the later one counts.
    Twice { name: String, earlier: u32 },
    /// Others than the owner can read the file.
    Readable { mode: u32 },
}

impl EnvProblem {
    /// The next step, when there is one.
    pub fn hint(&self) -> Option<String> {
        if let (EnvFault::Readable { .. }, Some(file)) = (&self.fault, &self.file) {
            return Some(format!("chmod 600 {}", file.display()));
        }
        self.fault.hint().map(ToOwned::to_owned)
    }
}

impl EnvFault {
    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Malformed => Some("write NAME=value, one on each line"),
            Self::OpenQuote { .. } => Some("close the quote, or leave it out"),
            Self::Glued { .. } => Some("hermes config migrate writes them on two lines"),
            Self::NotAscii { .. } => Some("copy the key again from where it was issued"),
            Self::Unset { .. } => Some("put the text in single quotes if it is meant literally"),
            Self::Encoding => Some("save the file as UTF-8"),
            Self::BadName { .. } => Some("use letters, digits and _, not starting with a digit"),
            Self::Denied { .. } => Some("remove the line, and set it in your shell instead"),
            Self::Twice { .. } => Some("remove the line that is not wanted"),
            Self::Readable { .. } => Some("chmod 600 closes it to others"),
        }
    }
}

impl fmt::Display for EnvProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), 0) => write!(f, "{}: ", file.display())?,
            (Some(file), line) => write!(f, "{}:{line}: ", file.display())?,
            (None, line) => write!(f, "{line}: ")?,
        }
        match &self.fault {
            EnvFault::Malformed => f.write_str("not an assignment, skipped"),
            EnvFault::OpenQuote { name } => write!(f, "the quote of {name} is not closed, skipped"),
            EnvFault::Glued { names } => write!(f, "{} stand on one line", names.join(" and ")),
            EnvFault::NotAscii { name } => {
                write!(
                    f,
                    "{name} contained characters that are not ASCII, left out"
                )
            }
            EnvFault::Unset { name, wanted } => {
                write!(f, "{name} refers to {wanted}, which is not set")
            }
            EnvFault::Encoding => f.write_str("the file is UTF-32 and was not read"),
            EnvFault::BadName { name } => write!(f, "{name} is not a variable name"),
            EnvFault::Denied { name } => write!(
                f,
                "{name} decides which programs run and does not belong in .env"
            ),
            EnvFault::Twice { name, earlier } => write!(
                f,
                "{name} is set on line {earlier} already; the later one counts"
            ),
            EnvFault::Readable { mode } => {
                write!(f, "others can read the file (mode {mode:o})")
            }
        }
    }
}

impl DotEnv {
    /// Reads the bytes of a file; `outer` is what `${NAME}` may refer to besides earlier lines.
    pub fn parse(bytes: &[u8], outer: &Environment) -> (Self, Vec<EnvProblem>) {
        let mut problems = Vec::new();
        let mut note = |line, fault| {
            problems.push(EnvProblem {
                file: None,
                line,
                fault,
            });
        };
        let mut env = Self::default();
        let Some(text) = decode::text_of(bytes) else {
            note(0, EnvFault::Encoding);
            return (env, problems);
        };
        for part in glue::separated(&text) {
            if let Some(names) = part.glued {
                note(part.line, EnvFault::Glued { names });
            }
            for item in scan::scan(&part.text) {
                let line = part.line + item.line() - 1;
                match item {
                    Item::Blank { .. } => {}
                    Item::Malformed { .. } => note(line, EnvFault::Malformed),
                    Item::OpenQuote { name, .. } => note(line, EnvFault::OpenQuote { name }),
                    Item::Assignment(found) => {
                        let mut value = found.value;
                        if found.quote != Quote::Single {
                            let expanded = env.expand(&value, outer, |wanted| {
                                let name = found.name.clone();
                                note(line, EnvFault::Unset { name, wanted });
                            });
                            value = expanded;
                        }
                        if is_credential(&found.name) && !value.is_ascii() {
                            value.retain(|c| c.is_ascii());
                            let name = found.name.clone();
                            note(line, EnvFault::NotAscii { name });
                        }
                        env.insert(found.name, value);
                    }
                }
            }
        }
        (env, problems)
    }

    /// Reads a file; one that is not there is empty.
    pub fn read(path: &Path, outer: &Environment) -> Result<(Self, Vec<EnvProblem>), FileError> {
        let Some(bytes) = files::read(path)? else {
            return Ok((Self::default(), Vec::new()));
        };
        let (env, mut problems) = Self::parse(&bytes, outer);
        for problem in &mut problems {
            problem.file = Some(path.to_owned());
        }
        Ok((env, problems))
    }

    /// The value of a name. Named so that every use of a secret can be found.
    pub fn expose(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// Whether a name is there with a value that is not empty.
    pub fn has(&self, name: &str) -> bool {
        self.values.get(name).is_some_and(|value| !value.is_empty())
    }

    /// The names in the order they were first written.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Puts another file on top of this one.
    pub fn overlay(&mut self, stronger: &Self) {
        for name in stronger.names() {
            if let Some(value) = stronger.values.get(name) {
                self.insert(name.to_owned(), value.clone());
            }
        }
    }

    fn insert(&mut self, name: String, value: String) {
        if self.values.insert(name.clone(), value).is_none() {
            self.names.push(name);
        }
    }

    /// Replaces `${NAME}` and `${NAME:-otherwise}`; earlier lines come before the environment.
    fn expand(&self, text: &str, outer: &Environment, mut unset: impl FnMut(String)) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, tail)) = rest.split_once("${") {
            let Some((inside, after)) = tail.split_once('}') else {
                break;
            };
            out.push_str(before);
            let (name, otherwise) = match inside.split_once(":-") {
                Some((name, otherwise)) => (name, Some(otherwise)),
                None => (inside, None),
            };
            match (
                self.expose(name).or_else(|| outer.get_named(name)),
                otherwise,
            ) {
                (Some(value), _) => out.push_str(value),
                (None, Some(otherwise)) => out.push_str(otherwise),
                (None, None) => unset(name.to_owned()),
            }
            rest = after;
        }
        out.push_str(rest);
        out
    }
}

/// Shows the names only.
impl fmt::Debug for DotEnv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.names).finish()
    }
}

fn is_credential(name: &str) -> bool {
    CREDENTIAL_ENDINGS
        .iter()
        .any(|ending| name.ends_with(ending))
}
