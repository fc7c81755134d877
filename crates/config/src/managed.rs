//! Two ways in which somebody else decides: a package manager owns the files, or an administrator
//! fixes some settings.

use std::fmt;
use std::path::PathBuf;

use crate::dotenv::{DotEnv, EnvProblem};
use crate::environment::{Environment, Variable};
use crate::files::{self, FileError};
use crate::home::Home;
use crate::problem::Problem;
use crate::source::{self, ReadError, SourceError};
use crate::value::{KeyPath, Layer, Node, Value};

const SYSTEM_DIRECTORY: &str = "/etc/hermes";

/// Who owns the installation and its settings files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owner {
    /// The user; settings can be written.
    User,
    Nix,
    Homebrew,
    /// Another package manager, by the name it gave.
    Other(String),
}

impl Owner {
    /// Reads `HERMES_MANAGED`, or the file `.managed` in the home.
    pub fn of(home: &Home, environment: &Environment) -> Self {
        let name = match environment.filled(&Variable::HERMES_MANAGED) {
            Some(name) => name.trim().to_owned(),
            None => match files::read(&home.managed_marker()) {
                Ok(None) => return Self::User,
                Ok(Some(text)) => String::from_utf8_lossy(&text).trim().to_owned(),
                // A marker that cannot be read is still a marker.
                Err(_) => String::new(),
            },
        };
        match name.to_lowercase().as_str() {
            "false" | "0" | "no" | "off" => Self::User,
            "" | "true" | "1" | "yes" | "on" | "nix" | "nixos" => Self::Nix,
            "brew" | "homebrew" => Self::Homebrew,
            _ => Self::Other(name),
        }
    }

    /// Whether the user may write settings.
    pub fn allows_writing(&self) -> bool {
        *self == Self::User
    }

    /// How the owner changes and upgrades the installation.
    pub fn hint(&self) -> String {
        match self {
            Self::User => {
                "settings are yours to change; a newer hermes goes where this one is".to_owned()
            }
            Self::Nix => {
                "change it in your Nix configuration and run nixos-rebuild switch".to_owned()
            }
            Self::Homebrew => "brew upgrade hermes-agent".to_owned(),
            Self::Other(name) => format!("use {name}, which manages this installation"),
        }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User => f.write_str("you"),
            Self::Nix => f.write_str("NixOS"),
            Self::Homebrew => f.write_str("Homebrew"),
            Self::Other(name) => f.write_str(name),
        }
    }
}

/// The settings an administrator fixed. Nothing overrides them.
#[derive(Default)]
pub struct ManagedScope {
    settings: Node,
    secrets: DotEnv,
}

/// What was found in the managed directory, and what had to be left out.
#[derive(Debug, Default)]
pub struct FoundScope {
    pub scope: ManagedScope,
    pub file: PathBuf,
    pub problems: Vec<Problem>,
    pub env_problems: Vec<EnvProblem>,
    /// Files the user cannot mend, so they must not stop the program.
    pub ignored: Vec<IgnoredFile>,
}

/// A file that was left out because of what is in it.
#[derive(Debug, thiserror::Error)]
pub enum IgnoredFile {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{} was ignored: {source}", path.display())]
    Unparsable {
        path: PathBuf,
        #[source]
        source: ReadError,
    },
}

impl IgnoredFile {
    /// What can be done about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::File(error) => error.hint(),
            Self::Unparsable { .. } => "mend the file, or ask who maintains it",
        }
    }
}

impl ManagedScope {
    /// Reads `HERMES_MANAGED_DIR`, or `/etc/hermes`.
    pub fn find(environment: &Environment) -> FoundScope {
        let directory = PathBuf::from(
            environment
                .filled(&Variable::HERMES_MANAGED_DIR)
                .unwrap_or(SYSTEM_DIRECTORY),
        );
        let mut found = FoundScope {
            file: directory.join("config.yaml"),
            ..FoundScope::default()
        };
        match source::read(&found.file, Layer::Managed) {
            Ok(read) => {
                found.scope.settings = read.node;
                found.problems = read.problems;
            }
            Err(error) => found.ignored.push(error.into()),
        }
        match DotEnv::read(&directory.join(".env"), environment) {
            Ok((secrets, problems)) => {
                found.scope.secrets = secrets;
                found.env_problems = problems;
            }
            Err(error) => found.ignored.push(error.into()),
        }
        found
    }

    /// The fixed settings as they were written.
    pub fn settings(&self) -> &Node {
        &self.settings
    }

    pub fn secrets(&self) -> &DotEnv {
        &self.secrets
    }

    /// Whether a write to `key` would be overridden: it is fixed, or something in it or around it is.
    pub fn pins(&self, key: &KeyPath) -> bool {
        let mut node = &self.settings;
        for segment in key.segments() {
            match node.child(segment) {
                Some(child) => node = child,
                // A fixed plain value or list fixes everything that could stand in it.
                None => return !matches!(node.value, Value::Map(_) | Value::Null),
            }
        }
        !matches!(node.value, Value::Null) && node.value.as_map().is_none_or(|map| !map.is_empty())
    }

    /// Whether a variable of `.env` is fixed.
    pub fn pins_variable(&self, name: &str) -> bool {
        self.secrets.expose(name).is_some()
    }

    /// Every fixed setting.
    pub fn keys(&self) -> Vec<KeyPath> {
        let mut keys = Vec::new();
        collect_leaves(&self.settings, &KeyPath::root(), &mut keys);
        keys
    }
}

/// Shows the keys only: values may be secrets.
impl fmt::Debug for ManagedScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManagedScope")
            .field("settings", &self.keys())
            .field("secrets", &self.secrets)
            .finish()
    }
}

fn collect_leaves(node: &Node, path: &KeyPath, keys: &mut Vec<KeyPath>) {
    match &node.value {
        Value::Map(map) => {
            for (key, child) in map.iter() {
                collect_leaves(child, &path.child(key), keys);
            }
        }
        Value::Null => {}
        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::List(_) => {
            keys.push(path.clone());
        }
    }
}

impl From<SourceError> for IgnoredFile {
    fn from(error: SourceError) -> Self {
        match error {
            SourceError::File(error) => Self::File(error),
            SourceError::Content { path, source } => Self::Unparsable { path, source },
        }
    }
}
