//! Names of things, each its own type so that none can be passed for another.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Clock, Random};

/// A text that cannot be an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` cannot be an id: ids have 1 to 200 characters, no control characters and no slashes"
)]
pub struct BadId(String);

/// A conversation, such as `20260704_153000_a1b2c3`.
///
/// Ids become file names in exports, so characters that steer paths are refused.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(String);

impl SessionId {
    /// A fresh id: local time to the second and six random hex digits.
    pub fn generate(clock: &dyn Clock, random: &dyn Random) -> Self {
        let now = clock.local();
        let suffix = random.next_u64() & 0xff_ffff;
        Self(format!("{}_{suffix:06x}", now.strftime("%Y%m%d_%H%M%S")))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for SessionId {
    type Error = BadId;

    fn try_from(text: String) -> Result<Self, BadId> {
        let fits = (1..=200).contains(&text.chars().count());
        let clean = !text.contains(|c: char| c.is_control() || c == '/' || c == '\\');
        if fits && clean && text != "." && text != ".." {
            Ok(Self(text))
        } else {
            Err(BadId(text.chars().take(40).collect()))
        }
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> Self {
        id.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A row of a conversation; later rows have larger ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MessageId(pub i64);

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Something that waits to be said; what came later has a larger id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InboxId(pub i64);

/// One turn of one session, counted from the session's start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TurnId(pub u64);

/// A tool call, as the model named it; unique within a turn.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub String);

/// A question put to a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct QuestionId(pub u64);
