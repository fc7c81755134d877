//! Findings a person has accepted.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::report::Finding;

/// A finding that was accepted. It holds for the same rule on the same line of the same file, wherever in
/// the file that line stands now; another line is another matter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiver {
    /// Which rule.
    pub id: String,
    /// In which file.
    pub file: String,
    /// The hash of the line as it was judged.
    pub content_hash: String,
}

impl Waiver {
    pub(super) fn of(finding: &Finding) -> Self {
        Self {
            id: finding.id.to_owned(),
            file: finding.file.clone(),
            content_hash: finding.line_hash.clone(),
        }
    }

    pub(super) fn covers(&self, finding: &Finding) -> bool {
        self.id == finding.id && self.file == finding.file && self.content_hash == finding.line_hash
    }
}

/// The hash of a line, without the spaces around it.
pub(super) fn hash(line: &str) -> String {
    let digest = Sha256::digest(line.trim().as_bytes());
    digest
        .iter()
        .fold(String::from("sha256:"), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
}
