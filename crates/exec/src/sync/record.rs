//! What was sent to a place, for the processes after this one: they remove there what is not here any more.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::Place;

/// A longer list is not one of ours.
const LONGEST: u64 = 16 << 20;

/// The file in which it stands, a name a line.
#[derive(Debug, Clone)]
pub(super) struct Record(PathBuf);

impl Record {
    /// The one about this place. Of a cloud, where one sandbox takes the place of the one before, its image is known
    /// before the sandbox is.
    pub(super) fn new(work: &Path, place: &Place, root: &str) -> Self {
        let mut digest = Sha256::new();
        if let Place::Away { kind, label } = place {
            digest.update(format!("{kind}\n{label}\n"));
        }
        digest.update(root);
        let digest = digest.finalize();
        let name: String = digest
            .iter()
            .take(8)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        Self(work.join(format!("{name}.sent")))
    }

    pub(super) fn read(&self) -> io::Result<BTreeSet<String>> {
        let text = match std::fs::metadata(&self.0) {
            Ok(data) if data.len() <= LONGEST => std::fs::read_to_string(&self.0)?,
            Ok(_) => String::new(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        // Whatever else stands there must not be removed over there.
        let ours = |name: &&str| {
            !name.is_empty() && name.split('/').all(|part| !matches!(part, "" | "." | ".."))
        };
        Ok(text.lines().filter(ours).map(str::to_owned).collect())
    }

    pub(super) fn write(&self, names: &BTreeSet<String>) -> io::Result<()> {
        if self.read().is_ok_and(|there| there == *names) {
            return Ok(());
        }
        let lines: String = names.iter().map(|name| format!("{name}\n")).collect();
        if let Some(folder) = self.0.parent() {
            hermes_config::create_directory(folder).map_err(io::Error::other)?;
        }
        hermes_config::replace_file(&self.0, lines.as_bytes()).map_err(io::Error::other)
    }
}
