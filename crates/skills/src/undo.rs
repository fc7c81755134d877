//! Putting a file of a skill back to what it was before a change.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use hermes_config::{FileError, create_directory, read_file, replace_file};

use crate::library::SKILL_FILE;

/// A change that can be taken back: the file is still as the change left it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undo {
    /// The directory of skills it lies in.
    root: PathBuf,
    path: PathBuf,
    /// What the change left; nothing where it removed the file.
    now: Option<String>,
    /// What was there before; nothing where there was no file.
    then: Option<String>,
}

/// A change that is not taken back.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    #[error("{} lies in no directory of skills", path.display())]
    Outside { path: PathBuf },
    #[error("{} is reached through a link", path.display())]
    Linked { path: PathBuf },
    #[error("{} was changed since", path.display())]
    Changed { path: PathBuf },
    #[error("other files lie beside {}", path.display())]
    NotAlone { path: PathBuf },
    #[error("the skill that {} was a part of is not there", path.display())]
    NoSkill { path: PathBuf },
    #[error("{} cannot be changed", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error(transparent)]
    File(#[from] FileError),
}

impl UndoError {
    /// The next step.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Outside { .. } => {
                "add its directory to skills.external_dirs again, or change the file by hand: hermes learning log --json shows what was there"
            }
            Self::Linked { .. } => {
                "change the file by hand: hermes learning log --json shows what was there"
            }
            Self::Changed { .. } => {
                "take the later changes back first, or change the file by hand; it was left as it is"
            }
            Self::NotAlone { .. } => {
                "take back what was added to the skill first, or put it away: hermes curator archive NAME"
            }
            Self::NoSkill { .. } => {
                "bring the skill back first: hermes learning log lists the change that put it away"
            }
            Self::Io { .. } => "check who owns the directory, and whether the disk is full",
            Self::File(error) => error.hint(),
        }
    }
}

impl Undo {
    /// Looks whether a change of a file below one of these directories of skills can be taken back. `before` and `after`
    /// are the texts of the file around the change, nothing where it was not there. Answers with nothing when the file is
    /// as before already.
    pub fn plan<'r>(
        roots: impl Iterator<Item = &'r Path>,
        path: &Path,
        before: Option<&str>,
        after: Option<&str>,
    ) -> Result<Option<Self>, UndoError> {
        let at = path.to_owned();
        // The log may know a file by its real path, where a link leads to the directory of skills.
        let mut roots = roots.flat_map(|root| [Some(root.to_owned()), root.canonicalize().ok()]);
        let Some(root) = roots.find_map(|root| root.filter(|root| is_below(root, path))) else {
            return Err(UndoError::Outside { path: at });
        };
        if is_linked(&root, path) {
            return Err(UndoError::Linked { path: at });
        }
        let undo = Self {
            root,
            path: path.to_owned(),
            now: after.map(str::to_owned),
            then: before.map(str::to_owned),
        };
        let there = text_of(path)?;
        if there == undo.then {
            return Ok(None);
        }
        undo.check(there.as_deref())?;
        Ok(Some(undo))
    }

    fn check(&self, there: Option<&str>) -> Result<(), UndoError> {
        if there != self.now.as_deref() {
            return Err(UndoError::Changed {
                path: self.path.clone(),
            });
        }
        // Files without their `SKILL.md` would belong to nothing and be in the way of a skill.
        let path = self.path.clone();
        match (self.removes(), self.is_skill()) {
            (true, true) if self.has_company()? => Err(UndoError::NotAlone { path }),
            (false, false) if !self.has_skill() => Err(UndoError::NoSkill { path }),
            _ => Ok(()),
        }
    }

    /// Whether the file is the one that makes a directory a skill.
    pub fn is_skill(&self) -> bool {
        self.path.file_name().is_some_and(|name| name == SKILL_FILE)
    }

    /// Whether the file goes away.
    pub fn removes(&self) -> bool {
        self.then.is_none()
    }

    fn has_company(&self) -> Result<bool, UndoError> {
        let Some(directory) = self.path.parent() else {
            return Ok(false);
        };
        let entries = fs::read_dir(directory).map_err(|source| self.failed(source))?;
        Ok(entries.count() > 1)
    }

    fn has_skill(&self) -> bool {
        self.above().any(|above| above.join(SKILL_FILE).is_file())
    }

    /// The directories the file lies in, up to the one of skills.
    fn above(&self) -> impl Iterator<Item = &Path> {
        let above = self.path.ancestors().skip(1);
        above.take_while(move |above| *above != self.root)
    }

    /// Puts the file back, unless somebody was faster.
    pub fn carry_out(&self) -> Result<(), UndoError> {
        self.check(text_of(&self.path)?.as_deref())?;
        let Some(text) = &self.then else {
            fs::remove_file(&self.path).map_err(|source| self.failed(source))?;
            self.remove_empty();
            return Ok(());
        };
        if let Some(directory) = self.path.parent() {
            create_directory(directory)?;
        }
        Ok(replace_file(&self.path, text.as_bytes())?)
    }

    /// Directories that hold nothing any more go too.
    fn remove_empty(&self) {
        for directory in self.above() {
            if fs::remove_dir(directory).is_err() {
                break;
            }
        }
    }

    fn failed(&self, source: io::Error) -> UndoError {
        UndoError::Io {
            path: self.path.clone(),
            source,
        }
    }
}

/// Whether a path leads to below a directory and nowhere else.
fn is_below(root: &Path, path: &Path) -> bool {
    let Ok(below) = path.strip_prefix(root) else {
        return false;
    };
    let mut parts = below.components();
    path != root && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// Whether a link is on the way to a path below a directory.
fn is_linked(root: &Path, path: &Path) -> bool {
    let mut way = path.ancestors().take_while(|above| *above != root);
    way.any(Path::is_symlink)
}

/// The text of a file as the journal would hold it.
fn text_of(path: &Path) -> Result<Option<String>, FileError> {
    let bytes = read_file(path)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}
