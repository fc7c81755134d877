//! Putting whole directories in place: filled beside the skills, then moved in one step.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::SyncError;
use super::merge::Merge;
use crate::library::SKILL_FILE;
use crate::shipped::ShippedSkill;

const WORK: &str = ".sync";
const EXECUTABLE: u32 = 0o755;

fn failed(path: &Path) -> impl FnOnce(io::Error) -> SyncError {
    let path = path.to_owned();
    move |source| SyncError::Place { path, source }
}

/// Puts a skill where nothing is.
pub(super) fn copy(own: &Path, skill: &ShippedSkill) -> Result<(), SyncError> {
    let fresh = fill(own, skill)?;
    let place = own.join(&skill.place);
    make_parent(&place)?;
    fs::rename(&fresh, &place).map_err(failed(&place))
}

/// Puts a skill in the place of an older one.
pub(super) fn swap(own: &Path, directory: &Path, skill: &ShippedSkill) -> Result<(), SyncError> {
    let fresh = fill(own, skill)?;
    let old = own.join(WORK).join("old").join(&skill.place);
    remove(&old)?;
    make_parent(&old)?;
    fs::rename(directory, &old).map_err(failed(directory))?;
    if let Err(error) = fs::rename(&fresh, directory) {
        // The old one comes back; if that fails too, the next run does it.
        let _ = fs::rename(&old, directory);
        return Err(failed(directory)(error));
    }
    remove(&old)
}

/// Whether a path below a directory leads where it says: behind a link lies something that is not this skill.
pub(super) fn is_plain(directory: &Path, path: &str) -> bool {
    let mut place = directory.to_owned();
    let mut parts = Path::new(path).components();
    while !place.is_symlink() {
        match parts.next() {
            Some(part) => place.push(part),
            None => return true,
        }
    }
    false
}

/// Changes files of an owner's skill, one by one: what was cut off is done again the next time, with the same end.
pub(super) fn change(directory: &Path, merge: &Merge) -> Result<(), SyncError> {
    for (path, bytes) in &merge.write {
        let file = directory.join(path);
        make_parent(&file)?;
        let mode = fs::metadata(&file).map(|facts| facts.permissions());
        hermes_config::replace_file(&file, bytes)?;
        let new = path.starts_with("scripts/") && bytes.starts_with(b"#!");
        let mode = mode
            .ok()
            .or(new.then(|| fs::Permissions::from_mode(EXECUTABLE)));
        if let Some(mode) = mode {
            fs::set_permissions(&file, mode).map_err(failed(&file))?;
        }
    }
    for path in &merge.remove {
        let file = directory.join(path);
        fs::remove_file(&file).map_err(failed(&file))?;
    }
    Ok(())
}

/// Ends what a crash cut off: the old skill comes back when there is no new one.
pub(super) fn recover(own: &Path, place: &str) -> Result<(), SyncError> {
    let old = own.join(WORK).join("old").join(place);
    if !old.exists() {
        return Ok(());
    }
    let directory = own.join(place);
    if directory.exists() {
        return remove(&old);
    }
    make_parent(&directory)?;
    fs::rename(&old, &directory).map_err(failed(&directory))
}

/// Moves an owner's skill out of the way and says where to.
pub(super) fn put_away(own: &Path, directory: &Path, stamp: &str) -> Result<PathBuf, SyncError> {
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    let away = own.join(".archive").join(format!("{name}-{stamp}"));
    make_parent(&away)?;
    fs::rename(directory, &away).map_err(failed(directory))?;
    Ok(away)
}

/// Whether a skill has lost its text, as a crash of the machine can do to what was just written.
pub(super) fn is_torn(directory: &Path) -> bool {
    fs::metadata(directory.join(SKILL_FILE)).is_ok_and(|facts| facts.len() == 0)
}

fn fill(own: &Path, skill: &ShippedSkill) -> Result<PathBuf, SyncError> {
    let fresh = own.join(WORK).join("new").join(&skill.place);
    remove(&fresh)?;
    for (path, bytes) in &skill.files {
        let file = fresh.join(path);
        make_parent(&file)?;
        fs::write(&file, bytes).map_err(failed(&file))?;
        if path.starts_with("scripts/") && bytes.starts_with(b"#!") {
            let mode = fs::Permissions::from_mode(EXECUTABLE);
            fs::set_permissions(&file, mode).map_err(failed(&file))?;
        }
    }
    Ok(fresh)
}

fn make_parent(path: &Path) -> Result<(), SyncError> {
    match path.parent() {
        Some(parent) => Ok(hermes_config::create_directory(parent)?),
        None => Ok(()),
    }
}

pub(super) fn remove(path: &Path) -> Result<(), SyncError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(path)(error)),
        _ => Ok(()),
    }
}
