//! Taking and finding snapshots.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::project::Project;
use super::{CheckpointError, Checkpoints, Snapshot, turn};

/// Files above which no snapshot is taken. Ignored ones do not count.
const MOST_FILES: usize = 50_000;
/// Separates the fields of a commit; no reason contains it.
const FIELD: char = '\u{1F}';

impl Checkpoints {
    /// Takes a snapshot, unless nothing changed.
    pub(super) async fn take(
        self: &Arc<Self>,
        project: &Project,
        reason: &str,
        cancel: &CancellationToken,
    ) -> Result<Option<Snapshot>, CheckpointError> {
        let _turn = self.turn(Some(project), cancel).await?;
        self.take_held(project, reason, cancel).await
    }

    /// The same while the turn is held.
    pub(super) async fn take_held(
        &self,
        project: &Project,
        reason: &str,
        cancel: &CancellationToken,
    ) -> Result<Option<Snapshot>, CheckpointError> {
        let tree = self.tree(project, cancel).await?;
        let last = self.snapshots(project, 1, cancel).await?.pop();
        let now = self.settings.clock.now();
        let git = self.git.at(project, cancel).dated(now.as_second());
        let mut arguments = vec!["commit-tree", &tree, "-m", reason];
        if let Some(last) = &last {
            let before = git
                .text(&["rev-parse", "--verify", &format!("{}^{{tree}}", last.hash)])
                .await?;
            if before == tree {
                return Ok(None);
            }
            arguments.extend(["-p", &last.hash]);
        }
        let hash = git.text(&arguments).await?;
        let old = last.as_ref().map_or("", |last| last.hash.as_str());
        git.text(&["update-ref", &project.reference(), &hash, old])
            .await?;
        project.touch(&self.git.store, now.as_millisecond() as f64 / 1_000.0)?;
        Ok(Some(Snapshot {
            hash,
            taken_at: now.as_second(),
            reason: reason.to_owned(),
        }))
    }

    /// Stores the files as they are and gives the tree.
    pub(super) async fn tree(
        &self,
        project: &Project,
        cancel: &CancellationToken,
    ) -> Result<String, CheckpointError> {
        self.git.prepare(cancel).await?;
        match self.stored(project, cancel).await {
            // The index outlives what was stored for a comparison only; a new one stores all files again.
            Err(CheckpointError::Git { command, .. }) if command == "write-tree" => {
                let index = self.git.store.join("indexes").join(&project.hash);
                turn::remove(&index)?;
                self.stored(project, cancel).await
            }
            other => other,
        }
    }

    /// The same by the index as it is.
    async fn stored(
        &self,
        project: &Project,
        cancel: &CancellationToken,
    ) -> Result<String, CheckpointError> {
        let git = self.git.at(project, cancel);
        let known = git.run(&["ls-files", "-z"], Vec::new()).await?;
        let changed = git
            .run(
                &[
                    "ls-files",
                    "-z",
                    "--others",
                    "--modified",
                    "--deleted",
                    "--exclude-standard",
                ],
                Vec::new(),
            )
            .await?;
        // One that changed is also known, and one that is gone is both changed and deleted.
        let both = names(&known).chain(names(&changed));
        if both.collect::<HashSet<_>>().len() > MOST_FILES {
            return Err(CheckpointError::Unfit {
                directory: project.workdir.clone(),
                reason: "it holds too many files",
            });
        }
        let (kept, dropped) = self.sorted(&project.workdir, &changed);
        git.run(
            &["update-index", "-z", "--add", "--remove", "--stdin"],
            kept,
        )
        .await?;
        if !dropped.is_empty() {
            git.run(
                &["update-index", "-z", "--force-remove", "--stdin"],
                dropped,
            )
            .await?;
        }
        git.text(&["write-tree"]).await
    }

    /// Tells the files that are stored from those that are too large.
    fn sorted(&self, workdir: &Path, changed: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let (mut kept, mut dropped) = (Vec::new(), Vec::new());
        for name in names(changed) {
            // A directory with a slash is a repository of its own.
            if name.ends_with(b"/") {
                continue;
            }
            let path = workdir.join(Path::new(path_of(name)));
            let facts = std::fs::symlink_metadata(&path);
            let large = facts.as_ref().is_ok_and(|facts| {
                let limit = self.settings.largest_file;
                facts.is_file() && limit.is_some_and(|limit| facts.len() > limit)
            });
            // What cannot be read would fail the whole snapshot.
            let closed =
                facts.is_ok_and(|facts| facts.is_file()) && std::fs::File::open(&path).is_err();
            let list = if large || closed {
                &mut dropped
            } else {
                &mut kept
            };
            list.extend_from_slice(name);
            list.push(0);
        }
        (kept, dropped)
    }

    /// The newest snapshots of a project.
    pub(super) async fn snapshots(
        &self,
        project: &Project,
        most: usize,
        cancel: &CancellationToken,
    ) -> Result<Vec<Snapshot>, CheckpointError> {
        if !self.git.exists() {
            return Ok(Vec::new());
        }
        let git = self.git.bare(cancel);
        let reference = project.reference();
        let known = git
            .text(&["for-each-ref", "--format=%(objectname)", &reference])
            .await?;
        if known.is_empty() {
            return Ok(Vec::new());
        }
        let most = format!("--max-count={most}");
        let format = format!("--format=%H{FIELD}%ct{FIELD}%s");
        let log = git
            .text(&["log", "--first-parent", &most, &format, &known])
            .await?;
        Ok(log
            .lines()
            .filter_map(|line| {
                let mut fields = line.split(FIELD);
                Some(Snapshot {
                    hash: fields.next()?.to_owned(),
                    taken_at: fields.next()?.parse().ok()?,
                    reason: fields.next()?.to_owned(),
                })
            })
            .collect())
    }

    /// The snapshot a number of the list or the beginning of a hash names.
    pub(super) async fn resolve(
        &self,
        project: &Project,
        which: &str,
        cancel: &CancellationToken,
    ) -> Result<Snapshot, CheckpointError> {
        const DIGITS: std::ops::RangeInclusive<usize> = 4..=64;
        let which = which.trim();
        let mut known = self
            .snapshots(project, self.settings.most_snapshots, cancel)
            .await?;
        let by_number = which
            .parse::<usize>()
            .ok()
            .and_then(|number| number.checked_sub(1))
            .filter(|index| *index < known.len());
        let is_hash = DIGITS.contains(&which.len()) && which.bytes().all(|b| b.is_ascii_hexdigit());
        let index = by_number.or_else(|| {
            let wanted = which.to_ascii_lowercase();
            known
                .iter()
                .position(|snapshot| is_hash && snapshot.hash.starts_with(&wanted))
        });
        match index {
            Some(index) => Ok(known.swap_remove(index)),
            None => Err(CheckpointError::Unknown(which.to_owned())),
        }
    }
}

/// A path as git writes it.
pub(super) fn path_of(name: &[u8]) -> &std::ffi::OsStr {
    use std::os::unix::ffi::OsStrExt;
    std::ffi::OsStr::from_bytes(name)
}

/// The names in a list that ends each with a zero byte.
fn names(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
}
