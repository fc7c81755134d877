//! Whether there is something newer, and what it changes.

use std::collections::BTreeSet;

use similar::TextDiff;

use super::Hub;
use super::bundle::{Bundle, Files};
use super::error::HubError;
use super::file_path::FilePath;
use super::install::{self, Plan};
use super::shelf;
use super::state::Locked;

/// Most characters of a diff that are shown.
const LONGEST_DIFF: usize = 40_000;

/// How an installed skill stands to what its place has now.
#[derive(Debug, Clone, PartialEq)]
pub enum Newer {
    /// It is the same.
    Same,
    /// Another version is there.
    Other(Box<Bundle>),
}

/// What an update does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    Added { path: FilePath, diff: String },
    Removed { path: FilePath },
    Changed { path: FilePath, diff: String },
}

impl Hub {
    /// Asks the place of an installed skill whether it has another version.
    pub async fn newer(&self, entry: &Locked) -> Result<Newer, HubError> {
        let bundle = self.fetch(&entry.place()?).await?;
        if bundle.files.are(&entry.content_hash) {
            return Ok(Newer::Same);
        }
        // What is here already is not newer, whatever hash the list has for it.
        let target = install::target(&self.state, &entry.install_path)?;
        let renamed = entry.installed_hash.is_some();
        let on_disk = shelf::read_directory(&target).ok();
        if !renamed && on_disk.as_ref() == Some(&bundle.files) {
            return Ok(Newer::Same);
        }
        Ok(Newer::Other(Box::new(bundle)))
    }

    /// What a plan changes of the files that are there now.
    pub fn changes(&self, plan: &Plan) -> Result<Vec<Change>, HubError> {
        let target = install::target(&self.state, &plan.install_path)?;
        let old = shelf::read_directory(&target).unwrap_or_default();
        Ok(compare(&old, &plan.bundle.files))
    }
}

fn compare(old: &Files, new: &Files) -> Vec<Change> {
    let paths: BTreeSet<&FilePath> = old.iter().chain(new.iter()).map(|(path, _)| path).collect();
    paths
        .into_iter()
        .filter_map(|path| {
            let change = match (old.get(path), new.get(path)) {
                (None, Some(new)) => Change::Added {
                    path: path.clone(),
                    diff: difference(b"", &new.bytes),
                },
                (Some(_), None) => Change::Removed { path: path.clone() },
                (Some(old), Some(new)) if old.bytes != new.bytes => Change::Changed {
                    path: path.clone(),
                    diff: difference(&old.bytes, &new.bytes),
                },
                (Some(_), Some(_)) | (None, None) => return None,
            };
            Some(change)
        })
        .collect()
}

fn difference(old: &[u8], new: &[u8]) -> String {
    let (Ok(old), Ok(new)) = (std::str::from_utf8(old), std::str::from_utf8(new)) else {
        return "not text".to_owned();
    };
    let diff = TextDiff::from_lines(old, new);
    let text = diff.unified_diff().context_radius(2).to_string();
    match text.char_indices().nth(LONGEST_DIFF) {
        Some((end, _)) => format!("{}\n… and more", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
