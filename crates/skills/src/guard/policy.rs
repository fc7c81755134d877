//! Who is trusted how far.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::report::Verdict;

/// Where a skill comes from, as far as that says how much to trust it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// Shipped with the program.
    Builtin,
    /// From a vendor everybody knows.
    Trusted,
    /// From anybody else.
    Community,
    /// Written by the agent itself.
    AgentCreated,
}

impl Trust {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::Trusted => "trusted",
            Self::Community => "community",
            Self::AgentCreated => "agent-created",
        }
    }
}

impl fmt::Display for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// What may happen with a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It may be used.
    Allow,
    /// A person decides.
    Ask,
    /// It may not be used, unless a person insists where that is possible.
    Block {
        /// Whether insisting is possible.
        overridable: bool,
    },
}

/// The one matrix: the same for an install, an update and a skill the agent wrote.
pub fn decide(trust: Trust, verdict: Verdict) -> Decision {
    match (trust, verdict) {
        (Trust::Builtin, Verdict::Safe | Verdict::Caution | Verdict::Dangerous)
        | (Trust::Trusted | Trust::AgentCreated, Verdict::Safe | Verdict::Caution)
        | (Trust::Community, Verdict::Safe) => Decision::Allow,
        (Trust::Community, Verdict::Caution) => Decision::Block { overridable: true },
        (Trust::Trusted | Trust::Community, Verdict::Dangerous) => {
            Decision::Block { overridable: false }
        }
        (Trust::AgentCreated, Verdict::Dangerous) => Decision::Ask,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // LN-33
    #[test]
    fn the_matrix_is_as_written_down() {
        const ALLOW: Decision = Decision::Allow;
        const NEVER: Decision = Decision::Block { overridable: false };
        const FORCE: Decision = Decision::Block { overridable: true };
        for (trust, expected) in [
            (Trust::Builtin, [ALLOW, ALLOW, ALLOW]),
            (Trust::Trusted, [ALLOW, ALLOW, NEVER]),
            (Trust::Community, [ALLOW, FORCE, NEVER]),
            (Trust::AgentCreated, [ALLOW, ALLOW, Decision::Ask]),
        ] {
            let verdicts = [Verdict::Safe, Verdict::Caution, Verdict::Dangerous];
            assert_eq!(
                verdicts.map(|verdict| decide(trust, verdict)),
                expected,
                "{trust}"
            );
        }
    }
}
