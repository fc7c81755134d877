//! What can be wrong with a profile.

use hermes_config::{FileError, ParseError};

use super::reader::Fault;

/// Why a profile could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// It is not YAML.
    #[error("{file}: {source}")]
    Yaml {
        /// The file.
        file: String,
        /// The place and what is wrong there.
        #[source]
        source: ParseError,
    },
    /// A key is unknown or has a value that cannot be used.
    #[error("{file}, line {line}: {key}: {message}")]
    Unreadable {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: u32,
        /// The dotted key.
        key: String,
        /// What is wrong.
        message: String,
    },
    /// A key that every profile needs.
    #[error("{file}: `{key}` is missing")]
    Missing {
        /// The file.
        file: String,
        /// The key.
        key: &'static str,
    },
    /// It wants people to sign in and does not say where.
    #[error(
        "{file}: `key: login` needs an `oauth` section with `device_authorization_endpoint`, `token_endpoint` and `client_id`"
    )]
    NoFlow {
        /// The file.
        file: String,
    },
    /// It says where to sign in and wants a key.
    #[error("{file}: `oauth` is only used with `key: login`; add that, or take it out")]
    UnusedFlow {
        /// The file.
        file: String,
    },
    /// A profile stands in the directory of another one.
    #[error("{file}: the id is `{id}`, but the directory is called `{directory}`")]
    Misplaced {
        /// The file.
        file: String,
        /// What it calls itself.
        id: String,
        /// Where it is.
        directory: String,
    },
    /// The file or directory cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The directory of profiles cannot be listed.
    #[error("cannot list {directory}")]
    Directory {
        /// The directory.
        directory: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

impl ProfileError {
    pub(super) fn unreadable(file: &str, fault: Fault) -> Self {
        // serde lists every known field, which fills a screen.
        let message = match fault.message.split_once(", expected one of ") {
            Some((start, known)) if start.starts_with("unknown field") => {
                let wrong = start.split('`').nth(1).unwrap_or_default();
                let known = known.split(", ").map(|word| word.trim_matches('`'));
                match hermes_config::nearest(wrong, known) {
                    Some(near) => format!("unknown key; did you mean `{near}`?"),
                    None => "unknown key".to_owned(),
                }
            }
            Some(_) | None => fault.message.clone(),
        };
        Self::Unreadable {
            file: file.to_owned(),
            line: fault.line,
            key: fault.key(),
            message,
        }
    }
}
