//! Changing several files, all of them or none.
//!
//! Every new content is first written to a file beside its target and synced. Only then do the names move,
//! and if one cannot, those that did move back. What several of them are about to do is written down first, so
//! that they can move back also when nobody is left to do it.

use std::fs::{self, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::journal::{Identity, Journal, Planned, Record};
use super::pinned::Folder;
use super::tidy::{PREFIX, Tidy};
use super::{check_plain, open, plain, stamp};
use crate::files::{Applied, Edit, FileStamp, FilesError};

/// How much is compared at a time.
const STEP: usize = 256 << 10;

/// Files that were replaced or removed. The space of the last one who holds a file is given back when this is dropped,
/// which takes longer than writing the file did.
pub(super) type Replaced = Vec<File>;

/// Makes all changes or none.
pub(super) fn apply(edits: &[Edit], tidy: &Tidy) -> Result<(Applied, Replaced), FilesError> {
    let mut batch = Batch::new(tidy);
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
            Edit::Remove { path, state } => batch.remove(path, state.stamp)?,
        }
    }
    let made_directories = !batch.made_directories.is_empty();
    let replaced = batch.commit()?;
    let mut stamps = Vec::with_capacity(edits.len());
    for edit in edits {
        stamps.push(match edit {
            Edit::Create { path, bytes, .. } | Edit::Replace { path, bytes, .. } => {
                Some(written(path, bytes)?)
            }
            Edit::Remove { .. } => None,
        });
    }
    let applied = Applied {
        made_directories,
        stamps,
    };
    Ok((applied, replaced))
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
struct Batch<'t> {
    tidy: &'t Tidy,
    steps: Vec<Step>,
    /// Each with the directory it is in.
    made_directories: Vec<(Folder, PathBuf)>,
}

struct Step {
    path: PathBuf,
    /// The directory all its names are in.
    folder: Folder,
    /// What the file looked like; none for a new one.
    before: Option<FileStamp>,
    /// The new content; none to remove the file.
    staged: Option<PathBuf>,
    /// Where the old content goes when it has to be kept.
    spare: Option<PathBuf>,
    /// The old content once the name has moved.
    backup: Option<PathBuf>,
    /// The old file itself.
    old: Option<File>,
    moved: bool,
}

impl<'t> Batch<'t> {
    fn new(tidy: &'t Tidy) -> Self {
        Self {
            tidy,
            steps: Vec::new(),
            made_directories: Vec::new(),
        }
    }

    /// Prepares a file's new content. `path` must be resolved: a link here is replaced, not followed.
    fn write(&mut self, path: &Path, bytes: &[u8], target: Target<'_>) -> Result<(), FilesError> {
        let (folder, before, model) = match target {
            Target::New { like } => {
                let folder = self.make_directory(path)?;
                if folder.has(path) {
                    return Err(FilesError::Exists(path.to_owned()));
                }
                (folder, None, like.map(plain).transpose()?)
            }
            Target::Existing(stamp) => {
                let folder = self.folder(parent(path))?;
                let (_, facts) = plain_in(&folder, path)?;
                if facts.nlink() > 1 {
                    return Err(FilesError::HardLinked(path.to_owned()));
                }
                (folder, Some(stamp), Some(facts))
            }
        };
        // What others may not read must not lie open for a moment either.
        let mode = if model.is_some() { 0o600 } else { 0o666 };
        let (file, staged) =
            create_beside(&folder, path, mode).map_err(|error| FilesError::new(path, error))?;
        if let Ok(facts) = file.metadata() {
            self.tidy.sweep(parent(path), facts.ctime());
        }
        self.steps.push(Step {
            path: path.to_owned(),
            folder,
            before,
            staged: Some(staged),
            spare: None,
            backup: None,
            old: None,
            moved: false,
        });
        fill(file, bytes, model.as_ref(), before.is_some(), path)
    }

    /// Prepares a file's end.
    fn remove(&mut self, path: &Path, stamp: FileStamp) -> Result<(), FilesError> {
        let folder = self.folder(parent(path))?;
        self.steps.push(Step {
            path: path.to_owned(),
            folder,
            before: Some(stamp),
            staged: None,
            spare: None,
            backup: None,
            old: None,
            moved: false,
        });
        Ok(())
    }

    /// A directory, held open once for all names in it.
    fn folder(&self, path: &Path) -> Result<Folder, FilesError> {
        let held = self.steps.iter().find(|step| parent(&step.path) == path);
        held.map_or_else(|| Folder::open(path), |step| Ok(step.folder.clone()))
    }

    /// Makes everything true.
    fn commit(mut self) -> Result<Replaced, FilesError> {
        let journal = self.begin();
        if let Err(error) = self.steps.iter_mut().try_for_each(Step::run) {
            // What has moved moves back before nothing tells of it any more.
            drop(self);
            if let Some(journal) = journal {
                journal.forget();
            }
            return Err(error);
        }
        self.finish(journal);
        Ok(self
            .steps
            .iter_mut()
            .filter_map(|step| step.old.take())
            .collect())
    }

    /// Says where the old content of each file goes, and writes down what will be done. One name alone moves or does
    /// not, and needs neither.
    fn begin(&mut self) -> Option<Journal> {
        if self.steps.len() < 2 {
            return None;
        }
        for step in &mut self.steps {
            step.spare = step.before.map(|_| spare_beside(&step.folder, &step.path));
        }
        let folder = self.tidy.journals()?;
        let name = format!("{}-{}", std::process::id(), next_number());
        let begun = self
            .record()
            .and_then(|record| Journal::begin(folder, &name, &record));
        begun
            .inspect_err(|error| {
                tracing::warn!(%error, "a change of several files could not be written down first");
            })
            .ok()
    }

    fn record(&self) -> io::Result<Record> {
        let planned = |step: &Step| -> io::Result<Planned> {
            let staged = match &step.staged {
                Some(staged) => Some((staged.clone(), Identity::at(staged)?)),
                None => None,
            };
            Ok(Planned {
                path: step.path.clone(),
                staged,
                backup: step.spare.clone(),
            })
        };
        Ok(Record {
            steps: self.steps.iter().map(planned).collect::<io::Result<_>>()?,
            directories: self
                .made_directories
                .iter()
                .map(|(_, directory)| directory.clone())
                .collect(),
        })
    }

    /// Clears away behind names that have all moved.
    fn finish(&mut self, mut journal: Option<Journal>) {
        if let Some(Err(error)) = journal.as_mut().map(Journal::done) {
            tracing::warn!(%error, "the end of a change of several files could not be written down");
        }
        for step in &mut self.steps {
            // Everything is in its place: a backup that cannot be removed does no harm.
            if let Some(backup) = step.backup.take() {
                let _ = step.folder.remove(&backup);
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
        if let Some(journal) = journal {
            journal.forget();
        }
    }

    /// A directory, made with those above it where there is none.
    fn make_directory(&mut self, file: &Path) -> Result<Folder, FilesError> {
        let mut missing = Vec::new();
        let mut at = parent(file);
        while let (false, Some(above)) = (at.exists(), at.parent()) {
            missing.push(at);
            at = above;
        }
        if at.exists() && !at.is_dir() {
            return Err(FilesError::BelowFile(file.to_owned()));
        }
        let mut folder = self.folder(at)?;
        for directory in missing.into_iter().rev() {
            match folder.make(directory) {
                Ok(()) => self
                    .made_directories
                    .push((folder.clone(), directory.to_owned())),
                // Another call made it meanwhile.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(FilesError::new(directory, error)),
            }
            folder = Folder::open(directory)?;
        }
        Ok(folder)
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        for step in self.steps.iter_mut().rev() {
            step.undo();
        }
        for (above, directory) in self.made_directories.iter().rev() {
            // Only empty ones go.
            let _ = above.remove_directory(directory);
        }
    }
}

impl Step {
    fn run(&mut self) -> Result<(), FilesError> {
        let failed = |error| FilesError::new(&self.path, error);
        let folder = &self.folder;
        if let Some(before) = self.before {
            let (old, facts) =
                plain_in(folder, &self.path).map_err(|_| FilesError::Changed(self.path.clone()))?;
            if stamp(&facts) != before {
                return Err(FilesError::Changed(self.path.clone()));
            }
            self.old = Some(old);
        }
        match (&self.staged, self.before) {
            (Some(staged), Some(_)) => {
                if let Some(spare) = &self.spare {
                    keep(folder, &self.path, spare).map_err(failed)?;
                    self.backup = Some(spare.clone());
                }
                folder.rename(staged, &self.path).map_err(failed)?;
            }
            (Some(staged), None) => {
                place(folder, staged, &self.path).map_err(failed)?;
            }
            (None, _) => match &self.spare {
                Some(spare) => {
                    folder.rename(&self.path, spare).map_err(failed)?;
                    self.backup = Some(spare.clone());
                }
                None => folder.remove(&self.path).map_err(failed)?,
            },
        }
        self.staged = None;
        self.moved = true;
        Ok(())
    }

    /// Takes the step back. What cannot be taken back has nobody left to hear of it.
    fn undo(&mut self) {
        if let Some(staged) = self.staged.take() {
            let _ = self.folder.remove(&staged);
        }
        match self.backup.take() {
            Some(backup) => put_back(&self.folder, &backup, &self.path),
            None if self.moved && self.before.is_none() => {
                let _ = self.folder.remove(&self.path);
            }
            None => {}
        }
    }
}

/// A file with its facts, if it is a plain one and no link.
fn plain_in(folder: &Folder, path: &Path) -> Result<(File, fs::Metadata), FilesError> {
    let failed = |error| FilesError::new(path, error);
    let file = folder.hold(path).map_err(failed)?;
    let facts = file.metadata().map_err(failed)?;
    check_plain(path, &facts)?;
    Ok((file, facts))
}

/// A second name for a file, or a copy where there are no second names.
fn keep(folder: &Folder, path: &Path, backup: &Path) -> io::Result<()> {
    folder
        .link(path, backup)
        .or_else(|_| folder.copy(path, backup))
}

/// Gives old content its name again. Two names of one file both stay when one is moved to the other.
fn put_back(folder: &Folder, backup: &Path, path: &Path) {
    if folder.rename(backup, path).is_ok() {
        let _ = folder.remove(backup);
    }
}

/// Gives a new file its name, unless somebody else took it.
fn place(folder: &Folder, staged: &Path, path: &Path) -> io::Result<()> {
    match folder.link(staged, path) {
        Ok(()) => folder.remove(staged),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        Err(_) => folder.rename(staged, path),
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

fn next_number() -> u32 {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    COUNTER.fetch_add(1, Ordering::Relaxed)
}

fn name_beside(folder: &Folder, path: &Path) -> PathBuf {
    loop {
        let number = next_number();
        let name = path.with_file_name(format!("{PREFIX}{}-{number}", std::process::id()));
        if !folder.has(&name) {
            return name;
        }
    }
}

/// A name for old content. Nobody but the one who takes a change back may remove what has it.
fn spare_beside(folder: &Folder, path: &Path) -> PathBuf {
    name_beside(folder, path).with_added_extension("old")
}

fn create_beside(folder: &Folder, path: &Path, mode: u32) -> io::Result<(File, PathBuf)> {
    loop {
        let name = name_beside(folder, path);
        match folder.create(&name, mode) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => return created.map(|file| (file, name)),
        }
    }
}

#[cfg(test)]
mod tests;
