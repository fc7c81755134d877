//! The name of a file inside a skill, which cannot lead out of it.

use std::fmt;
use std::path::{Path, PathBuf};

/// Most bytes of a path.
const LONGEST: usize = 500;
/// Most bytes of one part.
const LONGEST_PART: usize = 200;
/// Most parts.
const DEEPEST: usize = 12;

/// Why a name is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathFault {
    #[error("leads out of the skill")]
    Outside,
    #[error("is not a name that every system understands")]
    BadName,
    #[error("is a link")]
    Link,
    #[error("is neither a file nor a directory")]
    Special,
    #[error("is there twice")]
    Duplicate,
    #[error("is a file and a directory")]
    FileAndDirectory,
    #[error("is locked with a password")]
    Encrypted,
    #[error("is not as large as the archive says")]
    WrongSize,
    #[error("unpacks to too much")]
    Bomb,
}

/// A path below a skill's directory, with slashes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FilePath(String);

impl FilePath {
    /// Accepts plain relative paths only.
    pub fn new(text: &str) -> Result<Self, PathFault> {
        let mut start = text.chars();
        let is_drive =
            start.next().is_some_and(|c| c.is_ascii_alphabetic()) && start.next() == Some(':');
        if text.starts_with('/') || is_drive {
            return Err(PathFault::Outside);
        }
        let unfit = text.is_empty()
            || text.len() > LONGEST
            || text.contains('\\')
            || text.chars().any(char::is_control);
        if unfit {
            return Err(PathFault::BadName);
        }
        let mut parts = 0;
        for part in text.split('/') {
            parts += 1;
            match part {
                ".." => return Err(PathFault::Outside),
                "" | "." => return Err(PathFault::BadName),
                part if part.len() > LONGEST_PART => return Err(PathFault::BadName),
                _ => {}
            }
        }
        if parts > DEEPEST {
            return Err(PathFault::BadName);
        }
        Ok(Self(text.to_owned()))
    }

    /// The file every skill has.
    pub fn skill() -> Self {
        Self("SKILL.md".to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its last part.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// Its first part, when there are several.
    pub fn top(&self) -> Option<&str> {
        self.0.split_once('/').map(|(top, _)| top)
    }

    /// Where it is below a directory.
    pub fn below(&self, root: &Path) -> PathBuf {
        root.join(&self.0)
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_that_stay_inside_are_accepted() {
        for good in [
            "SKILL.md",
            "scripts/run.py",
            "a/b/c/d.txt",
            ".hidden",
            "a b",
        ] {
            assert_eq!(FilePath::new(good).unwrap().as_str(), good);
        }
        for (bad, fault) in [
            ("", PathFault::BadName),
            ("/etc/passwd", PathFault::Outside),
            ("../x", PathFault::Outside),
            ("a/../../x", PathFault::Outside),
            ("c:x", PathFault::Outside),
            ("a\\..\\x", PathFault::BadName),
            ("a//b", PathFault::BadName),
            ("a/./b", PathFault::BadName),
            ("a/", PathFault::BadName),
            ("a\nb", PathFault::BadName),
            ("1/2/3/4/5/6/7/8/9/10/11/12/13", PathFault::BadName),
        ] {
            assert_eq!(FilePath::new(bad), Err(fault), "{bad:?}");
        }
    }
}
