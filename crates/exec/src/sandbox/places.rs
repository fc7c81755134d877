//! The paths of a confinement as they are on this machine right now.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use hermes_policy::Confinement;
use hermes_policy::confine::TEMPORARY_SOCKETS;
use serde::{Deserialize, Serialize};

/// Most entries of a directory that are looked at in search of sockets.
const MOST_ENTRIES: usize = 20_000;

/// Most entries of a sealed directory that can be written.
const MOST_UNSEALED: usize = 150;

/// What may be done with a path and everything below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Access {
    /// Nothing.
    Hidden,
    /// Reading.
    Read,
    /// Reading and writing.
    Write,
}

/// A path that differs from what is around it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Place {
    /// Where, without symbolic links.
    pub(super) path: PathBuf,
    /// What may be done there.
    pub(super) access: Access,
    /// Whether it is a directory.
    pub(super) directory: bool,
    /// Whether something above it is hidden, so that covering that would take it along.
    pub(super) covered: bool,
}

/// Looks up what exists. Parents come before what is below them; everything not named may be read.
pub(super) fn survey(confinement: &Confinement, needed: &[PathBuf]) -> Vec<Place> {
    let mut found = BTreeMap::new();
    let roots: Vec<PathBuf> = existing(&confinement.writable).collect();
    for root in &roots {
        found.insert(root.clone(), Access::Write);
    }
    for path in existing(&confinement.sealed) {
        seal(&path, &roots, &mut found);
    }
    for path in existing(&confinement.protected) {
        pin_parents(&path, &roots, &mut found);
        found.insert(path, Access::Read);
    }
    found.extend(doors(confinement).map(|path| (path, Access::Hidden)));
    found.extend(existing(&confinement.hidden).map(|path| (path, Access::Hidden)));
    for path in existing(&confinement.exposed).chain(existing(needed)) {
        if access_at(&path, &found) == Access::Hidden {
            found.insert(path, Access::Read);
        }
    }
    found.remove(Path::new("/"));
    listed(&found)
}

/// What may be done with a path that is not named itself.
fn access_at(path: &Path, found: &BTreeMap<PathBuf, Access>) -> Access {
    path.ancestors()
        .find_map(|ancestor| found.get(ancestor).copied())
        .unwrap_or(Access::Read)
}

fn listed(found: &BTreeMap<PathBuf, Access>) -> Vec<Place> {
    let above = |path: &Path| path.parent().map(|parent| access_at(parent, found));
    let covered = |path: &Path| {
        path.ancestors()
            .skip(1)
            .any(|ancestor| found.get(ancestor) == Some(&Access::Hidden))
    };
    found
        .iter()
        .filter(|(path, access)| {
            let repeats = above(path) == Some(**access);
            // A mount point cannot be renamed, so what is writable inside the writable stays a place.
            !repeats || **access == Access::Write
        })
        .map(|(path, access)| Place {
            path: path.clone(),
            access: *access,
            directory: path.is_dir(),
            covered: covered(path),
        })
        .collect()
}

/// Paths that exist, where their links lead.
fn existing(paths: &[PathBuf]) -> impl Iterator<Item = PathBuf> {
    paths
        .iter()
        .filter_map(|path| fs::canonicalize(path).ok())
        .filter(|path| path.parent().is_some())
}

/// Makes places of the directories between a writable root and a protected path: as mount points they cannot
/// be moved away to put something else in their stead.
fn pin_parents(path: &Path, roots: &[PathBuf], found: &mut BTreeMap<PathBuf, Access>) {
    let Some(root) = roots
        .iter()
        .filter(|root| path.starts_with(root))
        .max_by_key(|root| root.components().count())
    else {
        return;
    };
    for parent in path.ancestors().skip(1) {
        if parent == root {
            return;
        }
        found.entry(parent.to_owned()).or_insert(Access::Write);
    }
}

/// Makes a directory one in which nothing new is made: it is read, and what is in it is written.
fn seal(directory: &Path, roots: &[PathBuf], found: &mut BTreeMap<PathBuf, Access>) {
    if !roots.iter().any(|root| directory.starts_with(root)) {
        return;
    }
    found.insert(directory.to_owned(), Access::Read);
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let plain = entries.filter(|entry| {
        let kind = entry.file_type();
        kind.is_ok_and(|kind| kind.is_dir() || kind.is_file())
    });
    // Each becomes a word of a command line, so that there cannot be many; the rest is only read.
    for entry in plain.take(MOST_UNSEALED) {
        found.entry(entry.path()).or_insert(Access::Write);
    }
}

/// Sockets of agents, multiplexers and displays where programs keep temporary files, and directories that hold
/// them. What was asked for by name stays. A socket is reached on a mount that cannot be written, too.
fn doors(confinement: &Confinement) -> impl Iterator<Item = PathBuf> {
    let roots: BTreeSet<PathBuf> = existing(&confinement.writable).collect();
    let folders: BTreeSet<PathBuf> = roots
        .iter()
        .cloned()
        .chain(existing(&confinement.temporary))
        .collect();
    let found = folders.into_iter().flat_map(|folder| doors_in(&folder));
    found.filter(move |path| !roots.contains(path))
}

fn doors_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries
        .take(MOST_ENTRIES)
        .flatten()
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            TEMPORARY_SOCKETS
                .iter()
                .any(|start| name.starts_with(start))
        })
        .map(|entry| entry.path())
        .filter(|path| leads_to_socket(path))
        .collect()
}

/// Leaves doors below what can be written as they are. Landlock alone hides one by opening the directory it is in
/// entry by entry, and then nothing new can be made there: no temporary file. Whoever calls this keeps commands from
/// local sockets altogether.
pub(super) fn leave_doors(places: &mut Vec<Place>, confinement: &Confinement) {
    let roots: Vec<PathBuf> = existing(&confinement.writable).collect();
    let named: BTreeSet<PathBuf> = existing(&confinement.hidden).collect();
    let doors: BTreeSet<PathBuf> = doors(confinement)
        .filter(|door| roots.iter().any(|root| door.starts_with(root)))
        .filter(|door| !named.contains(door))
        .collect();
    places.retain(|place| !doors.contains(&place.path));
}

fn leads_to_socket(path: &Path) -> bool {
    let Ok(kind) = fs::symlink_metadata(path).map(|metadata| metadata.file_type()) else {
        return false;
    };
    if kind.is_socket() {
        return true;
    }
    kind.is_dir()
        && fs::read_dir(path).is_ok_and(|entries| {
            entries
                .take(MOST_ENTRIES)
                .flatten()
                .any(|entry| entry.file_type().is_ok_and(|kind| kind.is_socket()))
        })
}

/// Whether one of the hidden places is a socket or may hold one. Where nothing can be covered, only
/// forbidding sockets altogether keeps commands from them.
pub(super) fn hide_sockets(places: &[Place]) -> bool {
    places
        .iter()
        .filter(|place| place.access == Access::Hidden)
        .any(|place| holds_socket(&place.path, 2))
}

fn holds_socket(path: &Path, depth: u8) -> bool {
    let Ok(kind) = fs::symlink_metadata(path).map(|metadata| metadata.file_type()) else {
        return false;
    };
    if kind.is_socket() {
        return true;
    }
    kind.is_dir()
        && depth > 0
        && fs::read_dir(path).is_ok_and(|entries| {
            entries
                .take(MOST_ENTRIES)
                .flatten()
                .any(|entry| holds_socket(&entry.path(), depth - 1))
        })
}

/// Devices every program may use, and those for computing and drawing.
pub(super) fn devices() -> Vec<PathBuf> {
    const COMPUTING: &[&str] = &["accel", "dri", "dxg", "kfd", "kvm", "nvidia"];
    let mut found: Vec<PathBuf> = fs::read_dir("/dev")
        .into_iter()
        .flatten()
        .take(MOST_ENTRIES)
        .flatten()
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            COMPUTING.iter().any(|start| name.starts_with(start))
        })
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use hermes_policy::{Mode, Network};

    use super::*;

    fn confinement(root: &Path) -> Confinement {
        Confinement {
            mode: Mode::WorkspaceWrite,
            writable: vec![root.join("work")],
            protected: vec![root.join("work/.git/hooks"), root.join("work/absent")],
            hidden: vec![root.join("own"), root.join("work/own/deeper")],
            exposed: vec![root.join("own/skills")],
            sealed: vec![root.join("work/seal")],
            temporary: Vec::new(),
            network: Network::On,
        }
    }

    fn access(places: &[Place], path: &Path) -> Option<Access> {
        places
            .iter()
            .find(|place| place.path == path)
            .map(|place| place.access)
    }

    #[test]
    fn what_exists_is_found_where_its_links_lead() -> anyhow::Result<()> {
        let directory = tempfile::tempdir()?;
        let root = fs::canonicalize(directory.path())?;
        fs::create_dir_all(root.join("work/.git/hooks"))?;
        fs::create_dir_all(root.join("elsewhere/skills"))?;
        fs::create_dir_all(root.join("work/seal/notes"))?;
        std::os::unix::fs::symlink(root.join("elsewhere"), root.join("own"))?;
        let places = survey(&confinement(&root), &[]);
        assert_eq!(access(&places, &root.join("work")), Some(Access::Write));
        assert_eq!(
            access(&places, &root.join("work/.git")),
            Some(Access::Write)
        );
        assert_eq!(
            access(&places, &root.join("work/.git/hooks")),
            Some(Access::Read)
        );
        assert_eq!(
            access(&places, &root.join("elsewhere")),
            Some(Access::Hidden)
        );
        assert_eq!(
            access(&places, &root.join("elsewhere/skills")),
            Some(Access::Read)
        );
        assert_eq!(access(&places, &root.join("work/absent")), None);
        assert_eq!(access(&places, &root.join("work/seal")), Some(Access::Read));
        assert_eq!(
            access(&places, &root.join("work/seal/notes")),
            Some(Access::Write)
        );
        Ok(())
    }

    #[test]
    fn sockets_of_agents_are_doors_and_others_are_not() -> anyhow::Result<()> {
        let directory = tempfile::tempdir()?;
        let root = fs::canonicalize(directory.path())?;
        fs::create_dir_all(root.join("ssh-abc"))?;
        fs::create_dir_all(root.join("ssh-notes"))?;
        let _agent = UnixListener::bind(root.join("ssh-abc/agent.1"))?;
        let _database = UnixListener::bind(root.join(".s.PGSQL.5432"))?;
        assert_eq!(doors_in(&root), [root.join("ssh-abc")]);
        Ok(())
    }
}
