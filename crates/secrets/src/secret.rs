//! The secret itself: a value that can only be read by naming who reads it.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use zeroize::Zeroizing;

use crate::{Origin, OriginPattern};

const MAX_NAME_LEN: usize = 128;

/// A label that says which secret it is without saying what it is, such as `OPENAI_API_KEY`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SecretName(Arc<str>);

impl SecretName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Accepts letters, digits and `_ . : / @ -`, so that a marker with the name in it can be told from other text.
    pub fn new(name: &str) -> Result<Self, SecretError> {
        let is_legal = |c: char| c.is_ascii_alphanumeric() || "_.:/@-".contains(c);
        if name.is_empty() || name.len() > MAX_NAME_LEN || !name.chars().all(is_legal) {
            return Err(SecretError::Name);
        }
        Ok(Self(name.into()))
    }
}

impl FromStr for SecretName {
    type Err = SecretError;

    fn from_str(name: &str) -> Result<Self, SecretError> {
        Self::new(name)
    }
}

impl fmt::Display for SecretName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A child process or plugin that may be handed a secret, such as `mcp:github`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ChildName(Arc<str>);

impl ChildName {
    /// Wraps the child's configured name.
    pub fn new(name: &str) -> Self {
        Self(name.into())
    }
}

impl fmt::Display for ChildName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a secret could not be made.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// The name is empty, too long or holds characters that a marker cannot carry.
    #[error("a secret's name is 1 to {MAX_NAME_LEN} letters, digits or _ . : / @ -")]
    Name,
    /// The value is empty; treat it as not configured.
    #[error("secret {name} is empty")]
    Empty {
        /// Which secret.
        name: SecretName,
    },
}

/// The secret is not meant for this origin; nothing was sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("secret {name} is not meant for {origin}")]
pub struct WrongOrigin {
    /// Which secret.
    pub name: SecretName,
    /// Where it was about to go.
    pub origin: Origin,
}

/// The secret was not granted to this child process; nothing was passed on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("secret {name} was not granted to child process {child}")]
pub struct WrongChild {
    /// Which secret.
    pub name: SecretName,
    /// Who asked for it.
    pub child: ChildName,
}

/// A value bound to a name and to those who may see it.
///
/// `Debug` and `Display` print `[secret NAME]`. Clones share one allocation, which is zeroed when the last one goes.
#[derive(Clone)]
pub struct Secret {
    inner: Arc<Inner>,
}

struct Inner {
    name: SecretName,
    value: Zeroizing<String>,
    origins: Vec<OriginPattern>,
    children: Vec<ChildName>,
}

impl Secret {
    /// Binds a value to the origins that may see it.
    pub fn new(
        name: SecretName,
        value: String,
        origins: impl IntoIterator<Item = OriginPattern>,
    ) -> Result<Self, SecretError> {
        Self::builder(name, value).origins(origins).build()
    }

    /// Starts a secret that nobody may see yet.
    pub fn builder(name: SecretName, value: String) -> SecretBuilder {
        SecretBuilder {
            name,
            value: Zeroizing::new(value),
            origins: Vec::new(),
            children: Vec::new(),
        }
    }

    /// Which secret this is.
    pub fn name(&self) -> &SecretName {
        &self.inner.name
    }

    /// Who may see it over the network.
    pub fn origins(&self) -> &[OriginPattern] {
        &self.inner.origins
    }

    /// Reads the value to send it to an origin.
    pub fn expose_for(&self, origin: &Origin) -> Result<&str, WrongOrigin> {
        if self
            .inner
            .origins
            .iter()
            .any(|pattern| pattern.matches(origin))
        {
            Ok(&self.inner.value)
        } else {
            Err(WrongOrigin {
                name: self.inner.name.clone(),
                origin: origin.clone(),
            })
        }
    }

    /// Reads the value to put it into a child's environment or standard input.
    pub fn expose_to_child(&self, child: &ChildName) -> Result<&str, WrongChild> {
        if self.inner.children.contains(child) {
            Ok(&self.inner.value)
        } else {
            Err(WrongChild {
                name: self.inner.name.clone(),
                child: child.clone(),
            })
        }
    }

    /// Reads the value to write it to the user's own store; `_place` says which, for the reader of the call.
    pub fn expose_for_storage(&self, _place: &'static str) -> &str {
        &self.inner.value
    }

    /// Compares with a presented value in time that depends on the lengths only.
    pub fn matches(&self, presented: &str) -> bool {
        let (own, other) = (self.inner.value.as_bytes(), presented.as_bytes());
        let difference = own
            .iter()
            .zip(other)
            .fold(0, |found, (a, b)| found | (a ^ b));
        own.len() == other.len() && difference == 0
    }

    pub(crate) fn expose_for_redaction(&self) -> &str {
        &self.inner.value
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[secret {}]", self.inner.name)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// Collects who may see a secret.
pub struct SecretBuilder {
    name: SecretName,
    value: Zeroizing<String>,
    origins: Vec<OriginPattern>,
    children: Vec<ChildName>,
}

impl SecretBuilder {
    /// Lets these origins see the value.
    pub fn origins(mut self, origins: impl IntoIterator<Item = OriginPattern>) -> Self {
        self.origins.extend(origins);
        self
    }

    /// Lets this child process see the value.
    pub fn child(mut self, child: ChildName) -> Self {
        self.children.push(child);
        self
    }

    /// Makes the secret; an empty value is an error, not a secret.
    pub fn build(self) -> Result<Secret, SecretError> {
        if self.value.is_empty() {
            return Err(SecretError::Empty { name: self.name });
        }
        let Self {
            name,
            value,
            origins,
            children,
        } = self;
        Ok(Secret {
            inner: Arc::new(Inner {
                name,
                value,
                origins,
                children,
            }),
        })
    }
}

impl fmt::Debug for SecretBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[secret {}]", self.name)
    }
}
