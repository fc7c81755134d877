//! The name of a profile.

use std::fmt;

const LONGEST: usize = 64;
const RESERVED: [&str; 5] = ["hermes", "root", "sudo", "test", "tmp"];
const DEFAULT: &str = "default";

/// A name such as `work`: lower-case letters, digits, `-` and `_`, starting with a letter or digit.
///
/// `default` is the root itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProfileName(String);

/// Why a text is no profile name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProfileNameError {
    #[error("{name:?} is not a profile name")]
    Invalid { name: String },
    #[error("the profile name {name} is reserved")]
    Reserved { name: String },
}

impl ProfileNameError {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Invalid { .. } => {
                "use lower-case letters, digits, - and _, starting with a letter or digit, at most 64"
            }
            Self::Reserved { .. } => "choose another name",
        }
    }
}

impl ProfileName {
    /// A name as a person types it; upper case is taken as lower case.
    pub fn new(name: &str) -> Result<Self, ProfileNameError> {
        Self::exact(&name.to_lowercase()).ok_or_else(|| ProfileNameError::Invalid {
            name: name.to_owned(),
        })
    }

    /// A name for a profile that is to be made, which may not be one of the reserved ones.
    pub fn for_creation(name: &str) -> Result<Self, ProfileNameError> {
        let name = Self::new(name)?;
        if name.is_default() || RESERVED.contains(&name.as_str()) {
            return Err(ProfileNameError::Reserved { name: name.0 });
        }
        Ok(name)
    }

    /// A name exactly as it is stored.
    pub(super) fn exact(name: &str) -> Option<Self> {
        let letter = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        let valid = name.len() <= LONGEST
            && name.bytes().next().is_some_and(letter)
            && name.bytes().all(|b| letter(b) || matches!(b, b'-' | b'_'));
        valid.then(|| Self(name.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_default(&self) -> bool {
        self.0 == DEFAULT
    }
}

impl Default for ProfileName {
    fn default() -> Self {
        Self(DEFAULT.to_owned())
    }
}

impl fmt::Display for ProfileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
