//! Looking for dangers in what the agent writes, where the settings want that.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Candidate, ManageError};
use crate::guard::{Content, Decision, Depth, Entry, Severity, Trust, decide, scan};
use crate::library::Library;

/// Most findings that are told in a line.
const MOST_TOLD: usize = 5;

/// What speaks against a skill as it would be. Only a person can decide about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Objection {
    /// The rule, the place and the words of every finding that weighs.
    pub found: Vec<String>,
}

impl fmt::Display for Objection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told: Vec<&str> = self
            .found
            .iter()
            .take(MOST_TOLD)
            .map(String::as_str)
            .collect();
        write!(f, "it looks dangerous ({})", told.join(", "))
    }
}

impl Library {
    /// What speaks against a skill as it would be.
    pub fn guard(&self, candidate: &Candidate) -> Result<Option<Objection>, ManageError> {
        if !self.settings().guard_agent_created {
            return Ok(None);
        }
        let files = candidate.files.iter();
        let entries: Vec<Entry<'_>> = files
            .map(|(path, bytes)| Entry {
                path: path.clone(),
                content: Content::File {
                    bytes,
                    executable: false,
                },
            })
            .collect();
        let report = scan(&entries, Depth::Usual).map_err(|error| ManageError::Blocked {
            why: error.to_string(),
        })?;
        match decide(Trust::AgentCreated, report.verdict()) {
            Decision::Allow => Ok(None),
            Decision::Ask | Decision::Block { .. } => {
                let weighty = report.findings.iter();
                let weighty = weighty.filter(|finding| finding.severity >= Severity::High);
                let found = weighty
                    .map(|one| format!("{} at {}: {}", one.id, one.place(), one.excerpt))
                    .collect();
                Ok(Some(Objection { found }))
            }
        }
    }
}
