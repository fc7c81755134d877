//! What is known about a provider's credentials besides `auth.json`.

use std::fmt;

use hermes_secrets::Secret;

use crate::cloud::Mint;
use crate::oauth::Flow;

/// The credentials a provider has from the environment and the settings, and how to get more.
#[derive(Debug, Clone, Default)]
pub struct ProviderKeys {
    /// Keys that are set, the preferred one first. Each is bound to the origins that may see it.
    pub keys: Vec<OwnKey>,
    /// The variables that a key can be set in, for the words of an error.
    pub variables: Vec<String>,
    /// Where a key can be got.
    pub signup_url: Option<String>,
    /// Whether calls need a key.
    pub need: KeyNeed,
    /// How to log in, when the provider offers that.
    pub flow: Option<Flow>,
    /// Where credentials for a while come from; nothing else is used then.
    pub mint: Option<Mint>,
}

impl ProviderKeys {
    /// Takes in what another route of the same provider was resolved with.
    pub(super) fn add(&mut self, other: Self) {
        for key in other.keys {
            match self.keys.iter_mut().find(|own| own.source == key.source) {
                Some(own) => *own = key,
                None => self.keys.push(key),
            }
        }
        for variable in other.variables {
            if !self.variables.contains(&variable) {
                self.variables.push(variable);
            }
        }
        if other.need == KeyNeed::Optional {
            self.need = KeyNeed::Optional;
        }
        self.signup_url = other.signup_url.or(self.signup_url.take());
        self.flow = other.flow.or(self.flow.take());
        self.mint = other.mint.or(self.mint.take());
    }
}

/// A key that is set outside of `auth.json`.
#[derive(Debug, Clone)]
pub struct OwnKey {
    /// Where it is set.
    pub source: KeySource,
    /// The key.
    pub secret: Secret,
}

/// Where a key is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// In a variable of the environment or `.env`.
    Variable(String),
    /// In the settings, under this key.
    Setting(String),
}

impl KeySource {
    /// What people call it.
    pub fn label(&self) -> &str {
        match self {
            Self::Variable(name) | Self::Setting(name) => name,
        }
    }
}

impl fmt::Display for KeySource {
    /// The form that `auth.json` has for it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => write!(f, "env:{name}"),
            Self::Setting(name) => write!(f, "config:{name}"),
        }
    }
}

/// Whether calls need a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeyNeed {
    /// Always.
    #[default]
    Required,
    /// Only if one is set, as with servers of one's own.
    Optional,
}
