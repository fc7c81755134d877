//! Changing several files, all of them or none.
//!
//! Every new content is first written to a file beside its target and synced. Only then do the names move,
//! and if one cannot, those that did move back.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::{open, plain, stamp};
use crate::files::{Applied, Edit, FileStamp, FilesError};

/// What names of temporary files begin with.
const PREFIX: &str = ".hermes-tmp.";
/// How much is compared at a time.
const STEP: usize = 256 << 10;

/// Makes all changes or none.
pub(super) fn apply(edits: &[Edit]) -> Result<Applied, FilesError> {
    let mut batch = Batch::default();
    for edit in edits {
        match edit {
            Edit::Create { path, bytes, like } => {
                batch.write(
                    path,
                    bytes,
                    Target::New {
                        like: like.as_deref(),
                    },
                )?;
            }
            Edit::Replace { path, bytes, state } => {
                batch.write(path, bytes, Target::Existing(state.stamp))?;
            }
            Edit::Remove { path, state } => batch.remove(path, state.stamp),
        }
    }
    let made_directories = !batch.made_directories.is_empty();
    batch.commit()?;
    let mut stamps = Vec::with_capacity(edits.len());
    for edit in edits {
        stamps.push(match edit {
            Edit::Create { path, bytes, .. } | Edit::Replace { path, bytes, .. } => {
                Some(written(path, bytes)?)
            }
            Edit::Remove { .. } => None,
        });
    }
    Ok(Applied {
        made_directories,
        stamps,
    })
}

/// What a file looks like that was just written, if it holds what was written.
fn written(path: &Path, bytes: &[u8]) -> Result<FileStamp, FilesError> {
    let (mut file, data) = open(path)?;
    let mut buffer = vec![0; STEP];
    let mut rest = bytes;
    loop {
        let count = file
            .read(&mut buffer)
            .map_err(|error| FilesError::new(path, error))?;
        match rest.split_at_checked(count) {
            Some((_, after)) if count == 0 && after.is_empty() => return Ok(stamp(&data)),
            Some((part, after)) if count > 0 && buffer.get(..count) == Some(part) => rest = after,
            _ => return Err(FilesError::Differs(path.to_owned())),
        }
    }
}

/// What a file is to become.
#[derive(Debug, Clone, Copy)]
enum Target<'t> {
    /// A file that must not be there yet.
    New {
        /// A file whose mode it gets.
        like: Option<&'t Path>,
    },
    /// One that must still be in this state.
    Existing(FileStamp),
}

/// Changes that are prepared. Dropping it without `commit` leaves everything as it was.
#[derive(Default)]
struct Batch {
    steps: Vec<Step>,
    made_directories: Vec<PathBuf>,
}

struct Step {
    path: PathBuf,
    /// What the file looked like; none for a new one.
    before: Option<FileStamp>,
    /// The new content; none to remove the file.
    staged: Option<PathBuf>,
    /// The old content once the name has moved.
    backup: Option<PathBuf>,
    moved: bool,
}

impl Batch {
    /// Prepares a file's new content. `path` must be resolved: a link here is replaced, not followed.
    fn write(&mut self, path: &Path, bytes: &[u8], target: Target<'_>) -> Result<(), FilesError> {
        let (before, model) = match target {
            Target::New { like } => {
                if fs::symlink_metadata(path).is_ok() {
                    return Err(FilesError::Exists(path.to_owned()));
                }
                self.make_directory(parent(path))?;
                (None, like.map(plain).transpose()?)
            }
            Target::Existing(stamp) => {
                let facts = plain(path)?;
                if facts.nlink() > 1 {
                    return Err(FilesError::HardLinked(path.to_owned()));
                }
                (Some(stamp), Some(facts))
            }
        };
        // What others may not read must not lie open for a moment either.
        let mode = if model.is_some() { 0o600 } else { 0o666 };
        let (file, staged) =
            create_beside(path, mode).map_err(|error| FilesError::new(path, error))?;
        self.steps.push(Step {
            path: path.to_owned(),
            before,
            staged: Some(staged),
            backup: None,
            moved: false,
        });
        fill(file, bytes, model.as_ref(), before.is_some(), path)
    }

    /// Prepares a file's end.
    fn remove(&mut self, path: &Path, stamp: FileStamp) {
        self.steps.push(Step {
            path: path.to_owned(),
            before: Some(stamp),
            staged: None,
            backup: None,
            moved: false,
        });
    }

    /// Makes everything true.
    fn commit(mut self) -> Result<(), FilesError> {
        let alone = self.steps.len() == 1;
        for step in &mut self.steps {
            step.run(alone)?;
        }
        for step in &mut self.steps {
            // Everything is in its place: a backup that cannot be removed does no harm.
            if let Some(backup) = step.backup.take() {
                let _ = fs::remove_file(backup);
            }
            step.moved = false;
        }
        self.made_directories.clear();
        let mut directories: Vec<&Path> =
            self.steps.iter().map(|step| parent(&step.path)).collect();
        directories.sort_unstable();
        directories.dedup();
        for directory in directories {
            // Some file systems cannot sync a directory; the files themselves are safe.
            let _ = File::open(directory).and_then(|directory| directory.sync_all());
        }
        Ok(())
    }

    fn make_directory(&mut self, path: &Path) -> Result<(), FilesError> {
        let mut missing = Vec::new();
        let mut at = Some(path);
        while let Some(directory) = at.filter(|directory| !directory.exists()) {
            missing.push(directory.to_owned());
            at = directory.parent();
        }
        for directory in missing.into_iter().rev() {
            match fs::create_dir(&directory) {
                Ok(()) => self.made_directories.push(directory),
                // Another call made it meanwhile.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(FilesError::new(&directory, error)),
            }
        }
        Ok(())
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        for step in self.steps.iter_mut().rev() {
            step.undo();
        }
        for directory in self.made_directories.iter().rev() {
            // Only empty ones go.
            let _ = fs::remove_dir(directory);
        }
    }
}

impl Step {
    fn run(&mut self, alone: bool) -> Result<(), FilesError> {
        let failed = |error| FilesError::new(&self.path, error);
        if let Some(before) = self.before
            && plain(&self.path).map(|facts| stamp(&facts)).ok() != Some(before)
        {
            return Err(FilesError::Changed(self.path.clone()));
        }
        match (&self.staged, self.before) {
            (Some(staged), Some(_)) => {
                if !alone {
                    let backup = name_beside(&self.path);
                    keep(&self.path, &backup).map_err(failed)?;
                    self.backup = Some(backup);
                }
                fs::rename(staged, &self.path).map_err(failed)?;
            }
            (Some(staged), None) => {
                place(staged, &self.path).map_err(failed)?;
            }
            (None, _) => {
                let backup = name_beside(&self.path);
                fs::rename(&self.path, &backup).map_err(failed)?;
                self.backup = Some(backup);
            }
        }
        self.staged = None;
        self.moved = true;
        Ok(())
    }

    /// Takes the step back. What cannot be taken back has nobody left to hear of it.
    fn undo(&mut self) {
        if let Some(staged) = self.staged.take() {
            let _ = fs::remove_file(staged);
        }
        match self.backup.take() {
            Some(backup) => {
                let _ = fs::rename(backup, &self.path);
            }
            None if self.moved && self.before.is_none() => {
                let _ = fs::remove_file(&self.path);
            }
            None => {}
        }
    }
}

/// A second name for a file, or a copy where there are no second names.
fn keep(path: &Path, backup: &Path) -> io::Result<()> {
    fs::hard_link(path, backup).or_else(|_| fs::copy(path, backup).map(|_| ()))
}

/// Gives a new file its name, unless somebody else took it.
fn place(staged: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(staged, path) {
        Ok(()) => fs::remove_file(staged),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        Err(_) => fs::rename(staged, path),
    }
}

fn fill(
    mut file: File,
    bytes: &[u8],
    model: Option<&fs::Metadata>,
    replaces: bool,
    path: &Path,
) -> Result<(), FilesError> {
    let failed = |error| FilesError::new(path, error);
    file.write_all(bytes).map_err(failed)?;
    if let Some(model) = model {
        let own = file.metadata().map_err(failed)?;
        if replaces && (own.uid(), own.gid()) != (model.uid(), model.gid()) {
            fchown(&file, Some(model.uid()), Some(model.gid()))
                .map_err(|_| FilesError::ForeignOwner(path.to_owned()))?;
        }
        file.set_permissions(Permissions::from_mode(model.mode() & 0o7777))
            .map_err(failed)?;
    }
    file.sync_all().map_err(failed)
}

fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}

fn name_beside(path: &Path) -> PathBuf {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = path.with_file_name(format!("{PREFIX}{}-{number}", std::process::id()));
        if fs::symlink_metadata(&name).is_err() {
            return name;
        }
    }
}

fn create_beside(path: &Path, mode: u32) -> io::Result<(File, PathBuf)> {
    loop {
        let name = name_beside(path);
        let created = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(&name);
        match created {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => return created.map(|file| (file, name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    // EX-44
    #[test]
    fn when_one_name_cannot_move_the_others_move_back() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["a", "b", "c"] {
            fs::write(at(name), format!("old {name}")).unwrap();
        }
        let mut batch = Batch::default();
        let seen = |name: &str| stamp(&plain(&at(name)).unwrap());
        let existing = |name: &str| Target::Existing(seen(name));
        batch.write(&at("a"), b"new a", existing("a")).unwrap();
        batch
            .write(&at("sub/new"), b"n", Target::New { like: None })
            .unwrap();
        batch.remove(&at("c"), seen("c"));
        batch.write(&at("b"), b"new b", existing("b")).unwrap();
        // Somebody else writes the last file between the preparation and the end.
        fs::write(at("b"), "theirs, and longer").unwrap();
        assert!(matches!(batch.commit(), Err(FilesError::Changed(_))));
        assert_eq!(names(folder.path()), ["a", "b", "c"]);
        assert_eq!(fs::read_to_string(at("a")).unwrap(), "old a");
        assert_eq!(fs::read_to_string(at("c")).unwrap(), "old c");
        assert_eq!(fs::read_to_string(at("b")).unwrap(), "theirs, and longer");
    }

    #[test]
    fn a_dropped_batch_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let mut batch = Batch::default();
        let path = folder.path().join("x/y/z");
        batch
            .write(&path, b"1", Target::New { like: None })
            .unwrap();
        drop(batch);
        assert!(names(folder.path()).is_empty());
    }
}
