//! Keeping the store small, away from anybody who waits.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;

use tokio_util::sync::CancellationToken;

use super::project::{Project, ProjectStatus};
use super::{CheckpointError, Checkpoints, Snapshot};

/// Objects younger than this are left alone: a snapshot may be about to use them.
const GRACE: &str = "--prune=5.minutes.ago";
/// How often the snapshots are halved to make room.
const MOST_HALVINGS: usize = 8;
/// The file that tells when the store was last cleaned.
const LAST_CLEANING: &str = ".last_prune";
/// Most snapshots that are looked at.
const ALL: usize = 100_000;

/// What is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Status {
    /// The directories.
    pub projects: Vec<ProjectStatus>,
    /// Bytes on disk.
    pub bytes: u64,
}

/// What a clean-up removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Snapshots.
    pub snapshots: usize,
    /// Directories.
    pub projects: usize,
}

pub(super) async fn status(
    own: &Checkpoints,
    cancel: &CancellationToken,
) -> Result<Status, CheckpointError> {
    let mut projects = Vec::new();
    for (project, record) in Project::all(&own.git.store) {
        projects.push(ProjectStatus {
            snapshots: own.snapshots(&project, ALL, cancel).await?.len(),
            exists: project.workdir.is_dir(),
            workdir: project.workdir,
            last_touch: record.last_touch,
        });
    }
    let bytes = bytes(own, cancel).await?;
    Ok(Status { projects, bytes })
}

/// What is due after a snapshot: too many of one directory, too much of all, or the regular clean-up.
pub(super) async fn after_snapshot(
    own: &Checkpoints,
    project: &Project,
    cancel: &CancellationToken,
) -> Result<(), CheckpointError> {
    let most = own.settings.most_snapshots;
    let known = own.snapshots(project, ALL, cancel).await?;
    // Lists show the newest; cutting the rest off at every snapshot would cost more than it gives.
    if known.len() > most.saturating_mul(2) {
        keep(own, project, most, cancel).await?;
    }
    shrink(own, Again::OnceGrown, cancel).await?;
    let Some(every) = own.settings.clean_every else {
        return Ok(());
    };
    let path = own.settings.directory.join(LAST_CLEANING);
    let now = own.settings.clock.now().as_second();
    let last: Option<i64> = fs::read_to_string(&path)
        .ok()
        .and_then(|text| text.trim().split('.').next()?.parse().ok());
    let due =
        last.is_none_or(|last| now - last >= i64::try_from(every.as_secs()).unwrap_or(i64::MAX));
    if !due {
        return Ok(());
    }
    fs::write(&path, now.to_string()).map_err(|source| CheckpointError::Io { path, source })?;
    prune(own, cancel).await.map(|_| ())
}

/// Removes what is too old, too much or without its directory.
pub(super) async fn prune(
    own: &Checkpoints,
    cancel: &CancellationToken,
) -> Result<Pruned, CheckpointError> {
    let mut pruned = Pruned::default();
    if !own.git.exists() {
        return Ok(pruned);
    }
    let retention = i64::try_from(own.settings.retention.as_secs()).unwrap_or(i64::MAX);
    let oldest = own
        .settings
        .clock
        .now()
        .as_second()
        .saturating_sub(retention);
    for (project, _) in Project::all(&own.git.store) {
        let orphan = own.settings.delete_orphans && !project.workdir.is_dir();
        let known = own.snapshots(&project, ALL, cancel).await?;
        let young = known.iter().filter(|one| one.taken_at >= oldest).count();
        let wanted = if orphan {
            0
        } else {
            young.min(own.settings.most_snapshots)
        };
        if wanted < known.len() || orphan {
            pruned.snapshots += keep(own, &project, wanted, cancel).await?;
            pruned.projects += usize::from(wanted == 0);
        }
    }
    collect(own, cancel).await?;
    pruned.snapshots += shrink(own, Again::Now, cancel).await?;
    Ok(pruned)
}

/// When room is made again although all that could go had gone: packing takes its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Again {
    Now,
    OnceGrown,
}

/// Removes the older half of every directory's snapshots until what is left fits. Whoever is about to change something
/// waits for one short step of it at most. Says how many went.
async fn shrink(
    own: &Checkpoints,
    again: Again,
    cancel: &CancellationToken,
) -> Result<usize, CheckpointError> {
    let Some(limit) = own.settings.most_bytes else {
        return Ok(0);
    };
    let Some(_alone) = cancel.run_until_cancelled(own.shrinking.lock()).await else {
        return Err(CheckpointError::Cancelled);
    };
    let fine = match again {
        Again::Now => 0,
        Again::OnceGrown => own.smallest.load(Ordering::Relaxed) / 4 * 5,
    };
    if bytes(own, cancel).await? <= limit.max(fine) {
        return Ok(0);
    }
    let mut removed = 0;
    for _ in 0..MOST_HALVINGS {
        let before = removed;
        for (project, _) in Project::all(&own.git.store) {
            let known = own.snapshots(&project, ALL, cancel).await?.len();
            if known > 1 {
                removed += keep(own, &project, known / 2, cancel).await?;
            }
        }
        let mut left = drop_unused(own, cancel).await?;
        if left > limit {
            // Kept in case packing does not come to an end.
            own.smallest.store(left, Ordering::Relaxed);
            pack(own, cancel).await?;
            left = drop_unused(own, cancel).await?;
        }
        let fits = left <= limit;
        own.smallest
            .store(if fits { 0 } else { left }, Ordering::Relaxed);
        if fits || removed == before {
            break;
        }
    }
    Ok(removed)
}

/// Shortens a directory's chain to its newest snapshots. Says how many went.
async fn keep(
    own: &Checkpoints,
    project: &Project,
    most: usize,
    cancel: &CancellationToken,
) -> Result<usize, CheckpointError> {
    let _turn = own.turn(Some(project), cancel).await?;
    let known = own.snapshots(project, ALL, cancel).await?;
    let Some(newest) = known.first().map(|newest| newest.hash.clone()) else {
        project.forget(&own.git.store);
        return Ok(0);
    };
    let git = own.git.bare(cancel);
    if most == 0 {
        git.text(&["update-ref", "-d", &project.reference(), &newest])
            .await?;
        project.forget(&own.git.store);
        return Ok(known.len());
    }
    if known.len() <= most {
        return Ok(0);
    }
    let mut parent: Option<String> = None;
    for Snapshot {
        hash,
        taken_at,
        reason,
    } in known.iter().take(most).rev()
    {
        let git = own.git.bare(cancel).dated(*taken_at);
        let tree = git
            .text(&["rev-parse", "--verify", &format!("{hash}^{{tree}}")])
            .await?;
        let mut arguments = vec!["commit-tree", tree.as_str(), "-m", reason];
        if let Some(parent) = &parent {
            arguments.extend(["-p", parent]);
        }
        parent = Some(git.text(&arguments).await?);
    }
    if let Some(head) = parent {
        git.text(&["update-ref", &project.reference(), &head, &newest])
            .await?;
    }
    Ok(known.len() - most)
}

/// Packs what is used and drops what has not been for a while.
async fn collect(own: &Checkpoints, cancel: &CancellationToken) -> Result<(), CheckpointError> {
    // Making room removes what is half packed.
    let Some(_alone) = cancel.run_until_cancelled(own.shrinking.lock()).await else {
        return Err(CheckpointError::Cancelled);
    };
    let git = own.git.bare(cancel);
    git.text(&["reflog", "expire", "--expire=now", "--all"])
        .await?;
    git.text(&["gc", "--quiet", GRACE]).await.map(|_| ())
}

/// Packs what is used and leaves the rest beside the packs, where [`drop_unused`] finds it. Nobody has to wait for
/// this: a snapshot that is taken meanwhile still finds everything it knows of.
async fn pack(own: &Checkpoints, cancel: &CancellationToken) -> Result<(), CheckpointError> {
    let git = own.git.bare(cancel);
    git.text(&["repack", "-A", "-d", "-l", "-q"])
        .await
        .map(|_| ())
}

/// Drops what no snapshot uses and is not packed, at once: while the turn is held no snapshot is half taken. Says how
/// many bytes are left.
async fn drop_unused(
    own: &Checkpoints,
    cancel: &CancellationToken,
) -> Result<u64, CheckpointError> {
    let _turn = own.turn(None, cancel).await?;
    let git = own.git.bare(cancel);
    git.text(&["reflog", "expire", "--expire=now", "--all"])
        .await?;
    git.text(&["prune", "--expire=now"]).await?;
    bytes(own, cancel).await
}

/// Bytes the objects take.
async fn bytes(own: &Checkpoints, cancel: &CancellationToken) -> Result<u64, CheckpointError> {
    if !own.git.exists() {
        return Ok(0);
    }
    let told = own.git.bare(cancel).text(&["count-objects", "-v"]).await?;
    let kilobytes: u64 = told
        .lines()
        .filter_map(|line| line.split_once(": "))
        .filter(|(name, _)| ["size", "size-pack"].contains(name))
        .filter_map(|(_, number)| number.trim().parse::<u64>().ok())
        .sum();
    Ok(kilobytes * 1_024)
}

/// Removes a directory with everything in it, if it is there.
pub(super) fn remove_directory(path: &Path) -> Result<(), CheckpointError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(CheckpointError::Io {
            path: path.to_owned(),
            source: error,
        }),
        _ => Ok(()),
    }
}

/// Removes stores of older forms.
pub(super) fn clear_legacy(directory: &Path) -> Result<usize, CheckpointError> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Ok(0);
    };
    let mut removed = 0;
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with("legacy-") {
            remove_directory(&entry.path())?;
            removed += 1;
        }
    }
    Ok(removed)
}
