//! Going back to a snapshot.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::project::Project;
use super::snapshot::path_of;
use super::{CheckpointError, Checkpoints, Snapshot};

/// What a restore did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The snapshot that was restored.
    pub snapshot: Snapshot,
    /// The state before it, by which the restore can be undone.
    pub safety: Option<Snapshot>,
    /// Files that were written.
    pub written: Vec<PathBuf>,
    /// Files that were made after the snapshot and are gone now.
    pub removed: Vec<PathBuf>,
    /// Files that are ignored or too large to be stored, and were left as they are.
    pub left_alone: Vec<PathBuf>,
}

impl Checkpoints {
    /// Makes the project, or one file of it, what it was at a snapshot. The present state is stored first.
    pub async fn restore(
        self: &Arc<Self>,
        directory: &Path,
        which: &str,
        file: Option<&str>,
        cancel: &CancellationToken,
    ) -> Result<Restored, CheckpointError> {
        let project = self.project(directory)?;
        let file = file
            .map(|file| inside(&project, directory, file))
            .transpose()?;
        let snapshot = self.resolve(&project, which, cancel).await?;
        let _turn = self.turn(Some(&project), cancel).await?;
        let taken = self
            .take_held(&project, "before a rollback", cancel)
            .await?;
        let safety = match taken {
            Some(safety) => Some(safety),
            None => self.snapshots(&project, 1, cancel).await?.pop(),
        };
        let mut restored = Restored {
            snapshot,
            safety,
            written: Vec::new(),
            removed: Vec::new(),
            left_alone: Vec::new(),
        };
        self.apply(&project, file.as_deref(), &mut restored, cancel)
            .await?;
        Ok(restored)
    }

    async fn apply(
        &self,
        project: &Project,
        file: Option<&str>,
        restored: &mut Restored,
        cancel: &CancellationToken,
    ) -> Result<(), CheckpointError> {
        let Some(safety) = restored.safety.as_ref().map(|safety| safety.hash.clone()) else {
            return Ok(());
        };
        let wanted = restored.snapshot.hash.clone();
        let git = self.git.at(project, cancel);
        let mut arguments = vec![
            "diff-tree",
            "-r",
            "-z",
            "--no-renames",
            "--name-status",
            &safety,
            &wanted,
        ];
        if let Some(file) = file {
            arguments.extend(["--", file]);
        }
        let changes = git.run(&arguments, Vec::new()).await?;
        let mut fields = changes.split(|byte| *byte == 0);
        let mut wanted_names: Vec<u8> = Vec::new();
        let mut gone = Vec::new();
        while let (Some([status, ..]), Some(name)) = (fields.next(), fields.next()) {
            let path = project.workdir.join(path_of(name));
            match status {
                b'D' => gone.push(path),
                // It is there and was not stored just now: ignored, or too large.
                b'A' if fs::symlink_metadata(&path).is_ok_and(|facts| !facts.is_dir()) => {
                    restored.left_alone.push(path);
                }
                _ => {
                    wanted_names.extend_from_slice(name);
                    wanted_names.push(0);
                    restored.written.push(path);
                }
            }
        }
        // First what was made since, so that a file can stand where a directory was.
        for path in gone {
            remove(&project.workdir, &path)?;
            restored.removed.push(path);
        }
        let index = self
            .git
            .store
            .join("indexes")
            .join(format!("{}.restore", project.hash));
        let git = git.with_index(index.clone());
        git.text(&["read-tree", &wanted]).await?;
        let done = git
            .run(
                &["checkout-index", "--force", "-z", "--stdin"],
                wanted_names,
            )
            .await;
        // Only needed for this.
        let _ = fs::remove_file(index);
        done.map(|_| ())
    }
}

/// The name of a file in the project, from the directory the user is in.
fn inside(project: &Project, directory: &Path, file: &str) -> Result<String, CheckpointError> {
    let outside = || CheckpointError::Outside(file.to_owned());
    let path = Path::new(file);
    if path.is_absolute() {
        return Err(outside());
    }
    let directory = fs::canonicalize(directory).map_err(|_| outside())?;
    let base = directory
        .strip_prefix(&project.workdir)
        .map_err(|_| outside())?;
    let mut name = base.to_owned();
    for part in path.components() {
        match part {
            Component::Normal(part) => name.push(part),
            Component::CurDir => {}
            Component::ParentDir if name.pop() => {}
            _ => return Err(outside()),
        }
    }
    name.into_os_string().into_string().map_err(|_| outside())
}

/// Removes a file and the directories it leaves empty.
fn remove(workdir: &Path, path: &Path) -> Result<(), CheckpointError> {
    let failed = |source| CheckpointError::Io {
        path: path.to_owned(),
        source,
    };
    // A directory on the way may have become a link to somewhere else.
    let real = path
        .parent()
        .and_then(|parent| fs::canonicalize(parent).ok());
    if !real.is_some_and(|parent| parent.starts_with(workdir)) {
        return Ok(());
    }
    match fs::remove_file(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    let mut at = path.parent();
    while let Some(directory) = at.filter(|directory| *directory != workdir) {
        if fs::remove_dir(directory).is_err() {
            break;
        }
        at = directory.parent();
    }
    Ok(())
}
