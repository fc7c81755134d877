//! The files of a home that belong into a backup.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::ArchiveError;
use super::note::{NoteKind, Notes};
use super::rules;

/// A file that is to be backed up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    /// With `/` between the parts.
    pub(super) relative: String,
    pub(super) size: u64,
}

/// Lists the plain files of a home that the rules let through, and notes the rest that might be missed.
///
/// Links are not followed: what they lead to may lie outside, and may be a loop.
pub(super) fn files_of(home: &Path, notes: &mut Notes) -> Result<Vec<Listed>, ArchiveError> {
    let mut files = Vec::new();
    collect(home, "", &mut files, notes).map_err(ArchiveError::file(home))?;
    files.sort_by(|a, b| a.relative.cmp(&b.relative));
    Ok(files)
}

/// The plain files below one path of the home, whatever the rules say about its name.
pub(super) fn files_below(
    home: &Path,
    relative: &str,
    notes: &mut Notes,
) -> Result<Vec<Listed>, ArchiveError> {
    let path = home.join(relative);
    let mut files = Vec::new();
    let found = match fs::symlink_metadata(&path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(files),
        Err(error) => return Err(ArchiveError::file(&path)(error)),
    };
    if found.is_dir() {
        collect(home, relative, &mut files, notes).map_err(ArchiveError::file(&path))?;
    } else if found.is_file() {
        files.push(Listed {
            relative: relative.to_owned(),
            size: found.len(),
        });
    } else if found.is_symlink() {
        notes.add(relative, NoteKind::Link);
    }
    Ok(files)
}

fn collect(
    home: &Path,
    start: &str,
    files: &mut Vec<Listed>,
    notes: &mut Notes,
) -> Result<(), io::Error> {
    let mut open: Vec<String> = vec![start.to_owned()];
    while let Some(directory) = open.pop() {
        let entries = match fs::read_dir(path_of(home, &directory)) {
            Ok(entries) => entries,
            Err(error) if directory == start => return Err(error),
            Err(error) => {
                notes.add(directory, kind_of(&error));
                continue;
            }
        };
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            let lossy = join(&directory, &name.to_string_lossy());
            let Some(relative) = name.to_str().filter(|name| can_be_stored(name)) else {
                notes.add(lossy, NoteKind::BadName);
                continue;
            };
            let relative = join(&directory, relative);
            match fs::symlink_metadata(entry.path()) {
                Err(error) => notes.add(relative, kind_of(&error)),
                Ok(found) if found.is_dir() => {
                    if !rules::is_skipped_directory(&relative) && !is_venv(&entry.path()) {
                        open.push(relative);
                    }
                }
                Ok(_) if is_left_out(&relative) => {}
                Ok(found) if found.is_symlink() => notes.add(relative, NoteKind::Link),
                Ok(found) if found.is_file() => files.push(Listed {
                    relative,
                    size: found.len(),
                }),
                Ok(_) => notes.add(relative, NoteKind::Special),
            }
        }
    }
    Ok(())
}

fn is_left_out(relative: &str) -> bool {
    rules::is_runtime_file(relative)
        || rules::is_side_file(relative)
        || rules::is_repair_copy(relative)
}

/// A Python environment is known by this file, whatever its directory is called.
fn is_venv(directory: &Path) -> bool {
    directory.join("pyvenv.cfg").is_file()
}

/// What an archive entry can be called so that an import accepts it.
fn can_be_stored(name: &str) -> bool {
    !name.contains('\\') && !name.chars().any(char::is_control)
}

pub(super) fn kind_of(error: &io::Error) -> NoteKind {
    match error.kind() {
        io::ErrorKind::NotFound => NoteKind::Vanished,
        _ => NoteKind::Unreadable,
    }
}

fn path_of(home: &Path, relative: &str) -> PathBuf {
    if relative.is_empty() {
        return home.to_owned();
    }
    home.join(relative)
}

fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() {
        return name.to_owned();
    }
    format!("{directory}/{name}")
}
