//! Where a path leads.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use hermes_policy::Names;

use super::FileFault;

/// Links followed before they count as a circle.
const MOST_LINKS: usize = 40;

/// The path a call names, before links are followed.
pub(super) fn named(text: &str, directory: &Path, user_home: Option<&Path>) -> PathBuf {
    let text = text.trim();
    let from_home = match (text.strip_prefix('~'), user_home) {
        (Some(""), Some(home)) => Some(home.to_owned()),
        (Some(rest), Some(home)) => rest.strip_prefix('/').map(|rest| home.join(rest)),
        _ => None,
    };
    from_home.unwrap_or_else(|| directory.join(text))
}

/// A file and every name it was reached by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// Behind all links; its last parts may not exist yet.
    pub(super) real: PathBuf,
    /// The path asked for and each link's target on the way.
    hops: Vec<PathBuf>,
}

impl Place {
    /// All of its names, as the rules want them.
    pub(super) fn names(&self) -> Names<'_> {
        Names {
            real: &self.real,
            hops: &self.hops,
        }
    }
}

/// Follows a path to its file.
pub(super) fn resolve(path: &Path) -> Result<Place, FileFault> {
    let mut hops = vec![path.to_owned()];
    let mut at = path.to_owned();
    while let Ok(link) = fs::read_link(&at) {
        if hops.len() > MOST_LINKS {
            return Err(FileFault::Circle(path.to_owned()));
        }
        at = directory_of(&at).join(link);
        hops.push(at.clone());
    }
    let real = existing(&at)?;
    Ok(Place { real, hops })
}

/// Follows the links in the part of a path that exists and keeps the rest.
fn existing(path: &Path) -> Result<PathBuf, FileFault> {
    let mut rest = Vec::new();
    let mut at = path;
    loop {
        match fs::canonicalize(at) {
            Ok(found) => {
                let rest = rest.iter().rev();
                return Ok(rest.fold(found, |whole, part| whole.join(part)));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let (Some(name), Some(parent)) = (at.file_name(), at.parent()) else {
                    return Err(FileFault::Missing(path.to_owned()));
                };
                rest.push(name.to_owned());
                at = parent;
            }
            Err(error) => return Err(FileFault::new(path, error)),
        }
    }
}

fn directory_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}
