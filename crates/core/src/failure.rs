//! Why something did not work, in the few kinds a caller can act on.

use std::error::Error;
use std::fmt;

/// What a caller can do about a failure. Exit codes and wording follow from the kind, in one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureKind {
    /// The request makes no sense as given: fix the arguments.
    BadRequest,
    /// What was named is not there.
    NotFound,
    /// A file or setting is malformed: fix the file.
    BadInput,
    /// Refused by policy, permission or an administrator.
    Refused,
    /// The machine is out of something: space, memory, file handles.
    Exhausted,
    /// Not reachable or busy: trying again may help.
    Unavailable,
    /// Stored data is damaged: repair it.
    Damaged,
    /// The user or the owner stopped it.
    Cancelled,
    /// A defect of ours.
    Internal,
}

/// A failure as it is shown: what failed, on what, and what to do next.
#[derive(Debug)]
pub struct Failure {
    /// What the caller can do.
    pub kind: FailureKind,
    /// What failed and on what, in one line, lower case, no full stop.
    pub message: String,
    /// The next step, when there is one.
    pub hint: Option<String>,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl Failure {
    /// A failure with its one-line message.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: None,
            source: None,
        }
    }

    /// Adds the next step.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Keeps the cause.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }
}

/// An error and what caused it, in one line: each cause once, since many errors repeat what is under them.
pub fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(deeper) = cause {
        let said = deeper.to_string();
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        cause = deeper.source();
    }
    text
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

#[cfg(test)]
mod tests {
    use super::{Failure, FailureKind, causes};

    #[test]
    fn every_cause_is_said_once() {
        let last = Failure::new(FailureKind::Unavailable, "no route to host");
        let middle = Failure::new(FailureKind::Unavailable, "no connection: no route to host");
        let outer = Failure::new(FailureKind::Unavailable, "the page cannot be read");
        let chain = outer.because(middle.because(last));
        assert_eq!(
            causes(&chain),
            "the page cannot be read: no connection: no route to host"
        );
        let alone = Failure::new(FailureKind::NotFound, "not there");
        assert_eq!(causes(&alone), "not there");
    }
}
