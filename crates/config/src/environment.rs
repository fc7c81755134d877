//! The environment of the process, handed in once, and every variable the program knows.

mod known;
mod variables;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;

pub use known::{PROVIDER_KEYS, ProviderKey, is_known_name};
pub use variables::{Role, VARIABLES, Variable};

use crate::dotenv::DotEnv;

/// The variables a process was started with.
///
/// The binary builds it once; nothing else in the program looks at the real environment.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment {
    values: BTreeMap<String, String>,
    unreadable: Vec<String>,
}

impl Environment {
    /// The value of a variable; an empty one counts as set.
    pub fn get(&self, variable: &Variable) -> Option<&str> {
        self.get_named(variable.name)
    }

    /// The value of a variable unless it is empty.
    pub fn filled(&self, variable: &Variable) -> Option<&str> {
        self.filled_named(variable.name)
    }

    /// As `get`, by a name that is data: of a setting, a skill, a provider's description or another table. A name
    /// the program itself knows is a `Variable`.
    pub fn get_named(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// As `filled`, by such a name.
    pub fn filled_named(&self, name: &str) -> Option<&str> {
        self.get_named(name).filter(|value| !value.is_empty())
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Names of variables left out because they are not UTF-8.
    pub fn unreadable(&self) -> &[String] {
        &self.unreadable
    }

    /// The same environment with the values of a `.env` file on top.
    #[must_use]
    pub fn with(&self, file: &DotEnv) -> Self {
        let mut merged = self.clone();
        for name in file.names() {
            if let Some(value) = file.expose(name) {
                merged.values.insert(name.to_owned(), value.to_owned());
            }
        }
        merged
    }
}

impl FromIterator<(OsString, OsString)> for Environment {
    fn from_iter<I: IntoIterator<Item = (OsString, OsString)>>(pairs: I) -> Self {
        let mut environment = Self::default();
        for (name, value) in pairs {
            match (name.into_string(), value.into_string()) {
                (Ok(name), Ok(value)) => {
                    environment.values.insert(name, value);
                }
                (Ok(name), Err(_)) => environment.unreadable.push(name),
                (Err(name), _) => environment
                    .unreadable
                    .push(name.to_string_lossy().into_owned()),
            }
        }
        environment
    }
}

impl<'a> FromIterator<(&'a str, &'a str)> for Environment {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(pairs: I) -> Self {
        pairs
            .into_iter()
            .map(|(name, value)| (OsString::from(name), OsString::from(value)))
            .collect()
    }
}

/// Shows the names only: values may be secrets.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.values.keys()).finish()
    }
}
