//! Findings a person has accepted.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::report::Finding;
use super::scan::{Content, Entry};

/// A finding that was accepted. It holds for the same rule on the same line of the same file, wherever in
/// the file that line stands now; another line is another matter. What is wrong with a file or a skill as a whole was
/// accepted for the bytes it had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiver {
    /// Which rule.
    pub id: String,
    /// In which file.
    pub file: String,
    /// The hash of the line or of the bytes as they were judged.
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
        let same = self.content_hash == finding.line_hash;
        // Where nothing was read, nothing can have been accepted.
        same && !finding.line_hash.is_empty() && self.id == finding.id && self.file == finding.file
    }
}

/// The hash of a line, without the spaces around it.
pub(super) fn hash(line: &str) -> String {
    shown(Sha256::digest(line.trim().as_bytes()).as_slice())
}

/// The hash of the bytes of a file.
pub(super) fn hash_of_bytes(bytes: &[u8]) -> String {
    shown(Sha256::digest(bytes).as_slice())
}

/// The hash of all files of a skill, each with its path; nothing when one of them was not read.
pub(super) fn hash_of_all(entries: &[Entry<'_>]) -> String {
    let mut digest = Sha256::new();
    let mut entries: Vec<&Entry<'_>> = entries.iter().collect();
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    for entry in entries {
        let bytes = match &entry.content {
            Content::File { bytes, .. } => *bytes,
            Content::Link { .. } => &b""[..],
            Content::Unread { .. } => return String::new(),
        };
        for part in [entry.path.as_bytes(), bytes] {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
    }
    shown(digest.finalize().as_slice())
}

fn shown(digest: &[u8]) -> String {
    digest
        .iter()
        .fold(String::from("sha256:"), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
}
