//! Skills that lie there and cannot be read, so that somebody can be told.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::Library;
use super::walk::{self, LARGEST, LOOKED_AT, SKILL_FILE, is_text};

/// A skill that no list shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Its `SKILL.md`.
    pub file: PathBuf,
    /// What is wrong with it, in words.
    pub why: String,
}

impl LeftOut {
    /// The name of the directory it lies in.
    pub fn name(&self) -> &str {
        let directory = self.file.parent().and_then(Path::file_name);
        directory.and_then(|name| name.to_str()).unwrap_or_default()
    }
}

impl Library {
    /// The skills that cannot be read. Looks at the disk; blocks while it does.
    pub fn left_out(&self) -> Vec<LeftOut> {
        let directories = walk::directories(self.roots(), self.clock().now()).into_iter();
        let files = directories.map(|directory| directory.join(SKILL_FILE));
        files
            .filter_map(|file| {
                Some(LeftOut {
                    why: fault(&file)?,
                    file,
                })
            })
            .collect()
    }
}

/// Why a file cannot be read as the text of a skill.
fn fault(file: &Path) -> Option<String> {
    match beginning(file) {
        Ok((length, _)) if length > LARGEST => {
            Some(format!("is larger than the {LARGEST} bytes that are read"))
        }
        Ok((_, bytes)) if !is_text(&bytes) => Some("is no text".to_owned()),
        Ok(_) => None,
        Err(error) => Some(format!("cannot be read: {error}")),
    }
}

/// How long a file is and how it begins.
fn beginning(file: &Path) -> io::Result<(u64, Vec<u8>)> {
    let file = fs::File::open(file)?;
    let (length, mut bytes) = (file.metadata()?.len(), Vec::new());
    file.take(LOOKED_AT as u64).read_to_end(&mut bytes)?;
    Ok((length, bytes))
}
