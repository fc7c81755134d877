//! Two ways in which somebody else decides: a package manager owns the files, or an administrator
//! fixes some settings.

use std::fmt;
use std::path::PathBuf;

use crate::dotenv::{DotEnv, EnvProblem};
use crate::environment::Environment;
use crate::files;
use crate::home::Home;
use crate::value::{KeyPath, Layer, Node, Value};
use crate::yaml;

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
        let name = match environment.filled("HERMES_MANAGED") {
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
            Self::User => "hermes update".to_owned(),
            Self::Nix => "change it in your Nix configuration and run nixos-rebuild switch".to_owned(),
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
#[derive(Debug, Clone, Default)]
pub struct ManagedScope {
    directory: PathBuf,
    settings: Node,
    secrets: DotEnv,
    env_problems: Vec<EnvProblem>,
    faults: Vec<ManagedFault>,
}

/// A managed file that was left out. The user cannot mend it, so it must not stop the program.
#[derive(Debug, thiserror::Error)]
pub enum ManagedFault {
    #[error(transparent)]
    File(#[from] files::FileError),
    #[error("{} was ignored: {source}", path.display())]
    Unparsable {
        path: PathBuf,
        #[source]
        source: yaml::ParseError,
    },
    #[error("{} was ignored: it is not a map of settings", path.display())]
    NotAMap { path: PathBuf },
    #[error("{} was ignored: it is not UTF-8", path.display())]
    NotText { path: PathBuf },
}
