//! Copying parts of a home without being led out of it.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use nix::libc::O_NOFOLLOW;

use super::error::ProfileError;
use super::note::Note;
use super::private;
use crate::files;

const PRIVATE_FILE: u32 = 0o600;
const RUN_BY_OWNER: u32 = 0o100;

/// A home that is copied to another place, part by part.
pub(super) struct Copying<'a> {
    pub(super) from: &'a Path,
    pub(super) to: &'a Path,
    pub(super) notes: Vec<Note>,
}

impl Copying<'_> {
    /// Copies a file or a directory with all that `wanted` says yes to; one that is not there is no error.
    pub(super) fn copy(
        &mut self,
        start: &Path,
        wanted: impl Fn(&Path) -> bool,
    ) -> Result<(), ProfileError> {
        for parent in start.ancestors().skip(1).collect::<Vec<_>>().iter().rev() {
            if parent.as_os_str().is_empty() {
                continue;
            }
            let is_directory = |found: Metadata| found.is_dir();
            if !fs::symlink_metadata(self.from.join(parent)).is_ok_and(is_directory) {
                return Ok(());
            }
            files::create_directory(&self.to.join(parent))?;
        }
        let mut open = vec![start.to_owned()];
        while let Some(relative) = open.pop() {
            let path = self.from.join(&relative);
            let found = match fs::symlink_metadata(&path) {
                Ok(found) => found,
                // It went away while we were looking, or was never there.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(ProfileError::disk(&path)(error)),
            };
            if found.is_dir() {
                files::create_directory(&self.to.join(&relative))?;
                open.extend(
                    children(&path)?
                        .into_iter()
                        .map(|name| relative.join(name))
                        .filter(|child| wanted(child)),
                );
            } else if found.is_symlink() {
                self.copy_link(relative)?;
            } else if found.is_file() {
                copy_file(&path, &self.to.join(&relative))?;
            } else {
                self.notes.push(Note::SpecialLeftOut { path: relative });
            }
        }
        Ok(())
    }

    fn copy_link(&mut self, relative: PathBuf) -> Result<(), ProfileError> {
        let path = self.from.join(&relative);
        let target = fs::read_link(&path).map_err(ProfileError::disk(&path))?;
        // The words of the link must stay inside, because they hold in the copy; where it leads must too,
        // because it may pass through other links.
        let inside = stays_inside(&relative, &target)
            && match (fs::canonicalize(&path), fs::canonicalize(self.from)) {
                (Ok(target), Ok(root)) => target.starts_with(root),
                _ => false,
            };
        if !inside {
            self.notes.push(Note::LinkLeftOut { path: relative });
            return Ok(());
        }
        let copy = self.to.join(&relative);
        std::os::unix::fs::symlink(&target, &copy).map_err(ProfileError::disk(&copy))
    }
}

/// The names in a directory, in order.
pub(super) fn children(directory: &Path) -> Result<Vec<PathBuf>, ProfileError> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).map_err(ProfileError::disk(directory))? {
        let entry = entry.map_err(ProfileError::disk(directory))?;
        names.push(PathBuf::from(entry.file_name()));
    }
    names.sort();
    Ok(names)
}

/// Copies a file to a place where there is none; only its owner may read the copy.
pub(super) fn copy_file(from: &Path, to: &Path) -> Result<(), ProfileError> {
    let (mut source, found) = open_plain(from)?;
    let runs = is_program(&found) && !private::is_private_file(to);
    let mut target = create_private(to, runs)?;
    io::copy(&mut source, &mut target).map_err(ProfileError::disk(to))?;
    Ok(())
}

/// Opens a plain file; a link that was put there meanwhile is refused.
pub(super) fn open_plain(path: &Path) -> Result<(File, Metadata), ProfileError> {
    let open = || {
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(O_NOFOLLOW)
            .open(path)?;
        let found = file.metadata()?;
        if found.is_file() {
            Ok((file, found))
        } else {
            Err(io::Error::from(io::ErrorKind::InvalidInput))
        }
    };
    open().map_err(ProfileError::disk(path))
}

pub(super) fn create_private(path: &Path, program: bool) -> Result<File, ProfileError> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(if program {
            PRIVATE_FILE | RUN_BY_OWNER
        } else {
            PRIVATE_FILE
        })
        .open(path)
        .map_err(ProfileError::disk(path))
}

pub(super) fn is_program(found: &Metadata) -> bool {
    found.permissions().mode() & RUN_BY_OWNER != 0
}

/// Whether a link at `relative` that reads `target` leads to a place below the same top.
fn stays_inside(relative: &Path, target: &Path) -> bool {
    let mut depth = relative.components().count().saturating_sub(1);
    for component in target.components() {
        match component {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir => match depth.checked_sub(1) {
                Some(above) => depth = above,
                None => return false,
            },
            Component::RootDir | Component::Prefix(_) => return false,
        }
    }
    true
}
