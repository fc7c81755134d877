//! Where a path leads.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::describe;
use crate::files::{FilesError, Located};

/// Links followed before they count as a circle.
const MOST_LINKS: usize = 40;

/// The path a call names, before links are followed.
pub(super) fn named(text: &str, directory: &Path, home: Option<&Path>) -> PathBuf {
    let expanded = |text: &str| -> Option<PathBuf> {
        let rest = text.strip_prefix('~')?;
        let home = home?;
        match rest {
            "" => Some(home.to_owned()),
            rest => rest.strip_prefix('/').map(|rest| home.join(rest)),
        }
    };
    let text = text.trim();
    expanded(text).unwrap_or_else(|| {
        let start = directory.to_str().and_then(expanded);
        start.unwrap_or_else(|| directory.to_owned()).join(text)
    })
}

/// Follows a path to its file.
pub(super) fn locate(path: &Path) -> Result<Located, FilesError> {
    let mut hops = vec![path.to_owned()];
    let mut at = path.to_owned();
    while let Ok(link) = fs::read_link(&at) {
        if hops.len() > MOST_LINKS {
            return Err(FilesError::Circle(path.to_owned()));
        }
        at = at.parent().unwrap_or(Path::new("/")).join(link);
        hops.push(at.clone());
    }
    let real = existing(&at)?;
    Ok(Located {
        stat: fs::metadata(&real).ok().map(|data| describe(&data)),
        real,
        hops,
        home: None,
    })
}

/// Follows the links in the part of a path that exists and keeps the rest.
fn existing(path: &Path) -> Result<PathBuf, FilesError> {
    let mut rest = Vec::new();
    let mut at = path;
    loop {
        match fs::canonicalize(at) {
            Ok(found) => {
                let rest = rest.iter().rev();
                return Ok(rest.fold(found, |whole, part| whole.join(part)));
            }
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                let (Some(name), Some(parent)) = (at.file_name(), at.parent()) else {
                    return Err(FilesError::Missing(path.to_owned()));
                };
                rest.push(name.to_owned());
                at = parent;
            }
            Err(error) => return Err(FilesError::new(path, error)),
        }
    }
}
