//! The paths of a confinement as they are on this machine right now.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use hermes_policy::Confinement;
use hermes_policy::confine::TEMPORARY_SOCKETS;
use nix::unistd::{geteuid, getgroups};
use serde::{Deserialize, Serialize};

use super::exact::Identity;

/// Most entries of a directory that are looked at in search of sockets.
const MOST_ENTRIES: usize = 20_000;

/// Most entries of sealed directories that can be written, of one and of all together.
const MOST_UNSEALED_IN_ONE: usize = 150;
const MOST_UNSEALED: usize = 400;

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
    /// What was there. A sandbox in which something else has this name by now is not used.
    pub(super) identity: Identity,
}

impl Place {
    /// A place as it is now, if it is there.
    pub(super) fn look(path: &Path, access: Access, covered: bool) -> Option<Self> {
        let data = fs::symlink_metadata(path).ok()?;
        Some(Self {
            path: path.to_owned(),
            access,
            directory: data.is_dir(),
            covered,
            identity: Identity::of(&data),
        })
    }
}

/// What may be done where, by path.
type Found = BTreeMap<PathBuf, Access>;

/// Looks up what exists. Parents come before what is below them; everything not named may be read.
///
/// What is opened has to be there under exactly its name: a link on the way may have been made by a command. What is
/// closed is closed wherever its name leads, but never opened by that.
pub(super) fn survey(confinement: &Confinement, needed: &[PathBuf]) -> Vec<Place> {
    let roots: Vec<PathBuf> = exactly(&confinement.writable).collect();
    let mut found: Found = roots
        .iter()
        .map(|root| (root.clone(), Access::Write))
        .collect();
    found.extend(doors(confinement, &roots).map(|path| (path, Access::Hidden)));
    found.extend(existing(&confinement.hidden).map(|path| (path, Access::Hidden)));
    for path in exactly(&confinement.exposed).chain(existing(needed)) {
        if access_at(&path, &found) == Access::Hidden {
            found.insert(path, Access::Read);
        }
    }
    for path in existing(&confinement.protected) {
        if access_at(&path, &found) == Access::Write {
            found.insert(path, Access::Read);
        }
    }
    seal(&confinement.sealed, &mut found);
    pin(&roots, &mut found);
    found.remove(Path::new("/"));
    listed(&found)
}

/// What may be done with a path that is not named itself.
fn access_at(path: &Path, found: &Found) -> Access {
    path.ancestors()
        .find_map(|ancestor| found.get(ancestor).copied())
        .unwrap_or(Access::Read)
}

fn listed(found: &Found) -> Vec<Place> {
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
        .filter_map(|(path, access)| Place::look(path, *access, covered(path)))
        .collect()
}

/// Paths that exist, where their links lead.
fn existing(paths: &[PathBuf]) -> impl Iterator<Item = PathBuf> {
    paths
        .iter()
        .filter_map(|path| fs::canonicalize(path).ok())
        .filter(|path| path.parent().is_some())
}

/// Paths that exist under their own names, with no link on the way.
fn exactly(paths: &[PathBuf]) -> impl Iterator<Item = PathBuf> {
    paths
        .iter()
        .filter(|path| fs::canonicalize(path).is_ok_and(|real| real == **path))
        .filter(|path| path.parent().is_some())
        .cloned()
}

/// Makes places of the directories between a writable root and what lies in it: as mount points they cannot be moved
/// away, with what is hidden in them or to put something else in their stead.
fn pin(roots: &[PathBuf], found: &mut Found) {
    let inside = |path: &&Path| {
        let mut above = roots.iter();
        above.any(|root| *path != root && path.starts_with(root))
    };
    let parents: BTreeSet<PathBuf> = found
        .keys()
        .flat_map(|path| path.ancestors().skip(1).take_while(inside))
        .map(Path::to_owned)
        .collect();
    for parent in parents {
        if access_at(&parent, found) == Access::Write {
            found.insert(parent, Access::Write);
        }
    }
}

/// Makes directories ones in which nothing new is made: they are read, and what is in them is written.
fn seal(directories: &[PathBuf], found: &mut Found) {
    // Parents first: what is in a sealed one is a place before it is sealed itself.
    let directories: BTreeSet<PathBuf> = existing(directories).collect();
    let mut left = MOST_UNSEALED;
    for directory in directories {
        if access_at(&directory, found) != Access::Write {
            continue;
        }
        found.insert(directory.clone(), Access::Read);
        let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
        let plain = entries.filter(|entry| {
            let kind = entry.file_type();
            kind.is_ok_and(|kind| kind.is_dir() || kind.is_file())
        });
        // Each becomes a part of a command line, so that there cannot be many; the rest is only read.
        for entry in plain.take(left.min(MOST_UNSEALED_IN_ONE)) {
            left -= 1;
            found.entry(entry.path()).or_insert(Access::Write);
        }
    }
}

/// Sockets of agents, multiplexers and displays where programs keep temporary files, and directories that hold
/// them. What was asked for by name stays. A socket is reached on a mount that cannot be written, too.
fn doors(confinement: &Confinement, roots: &[PathBuf]) -> impl Iterator<Item = PathBuf> {
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
    let roots: Vec<PathBuf> = exactly(&confinement.writable).collect();
    let named: BTreeSet<PathBuf> = existing(&confinement.hidden).collect();
    let doors: BTreeSet<PathBuf> = doors(confinement, &roots)
        .filter(|door| roots.iter().any(|root| door.starts_with(root)))
        .filter(|door| !named.contains(door))
        .collect();
    places.retain(|place| !doors.contains(&place.path));
}

/// Leaves out what cannot be reached inside anyway: root in a user namespace is nobody to the files of other users,
/// and could not even cover what lies in a directory that is closed to it.
pub(super) fn leave_unreachable(places: &mut Vec<Place>) {
    if !geteuid().is_root() {
        return;
    }
    let groups = getgroups().unwrap_or_default();
    let open = |directory: &Path| {
        let Ok(data) = fs::metadata(directory) else {
            return false;
        };
        let ours = data.gid() == 0 || groups.iter().any(|group| group.as_raw() == data.gid());
        let search = match (data.uid() == 0, ours) {
            (true, _) => return true,
            (false, true) => 0o010,
            (false, false) => 0o001,
        };
        data.mode() & search != 0
    };
    let reached = |path: &Path| path.ancestors().skip(1).all(open);
    places.retain(|place| place.access != Access::Hidden || reached(&place.path));
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

    use super::super::settled;
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
        let places = survey(&settled(confinement(&root)), &[]);
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

    // EX-68: the name of a place that is closed is no way to open what it leads to.
    #[test]
    fn links_open_nothing() -> anyhow::Result<()> {
        let directory = tempfile::tempdir()?;
        let root = fs::canonicalize(directory.path())?;
        for folder in ["work/.git", "own/deeper", "outside", "seal"] {
            fs::create_dir_all(root.join(folder))?;
        }
        for (link, target) in [
            ("work/.git/hooks", "own/deeper"),
            ("work/absent", "outside"),
            ("work/granted", "outside"),
            ("work/exposed", "own/deeper"),
            ("work/seal", "own"),
        ] {
            std::os::unix::fs::symlink(root.join(target), root.join(link))?;
        }
        let mut confinement = confinement(&root);
        confinement.writable.push(root.join("work/granted"));
        confinement.exposed.push(root.join("work/exposed"));
        let places = survey(&confinement, &[]);
        let expected = [("own", Access::Hidden), ("work", Access::Write)];
        let found: Vec<_> = places
            .iter()
            .map(|place| (place.path.clone(), place.access))
            .collect();
        assert_eq!(
            found,
            expected.map(|(path, access)| (root.join(path), access))
        );
        Ok(())
    }

    // EX-68: what is hidden does not move with a parent, nor does what is opened.
    #[test]
    fn parents_below_the_writable_are_places() -> anyhow::Result<()> {
        let directory = tempfile::tempdir()?;
        let root = fs::canonicalize(directory.path())?;
        fs::create_dir_all(root.join("work/a/b/secret"))?;
        fs::create_dir_all(root.join("work/p/q/inner"))?;
        let mut confinement = confinement(&root);
        confinement.hidden = vec![root.join("work/a/b/secret")];
        confinement.writable.push(root.join("work/p/q/inner"));
        let places = survey(&confinement, &[]);
        for (path, expected) in [
            ("work/a", Access::Write),
            ("work/a/b", Access::Write),
            ("work/a/b/secret", Access::Hidden),
            ("work/p", Access::Write),
            ("work/p/q", Access::Write),
            ("work/p/q/inner", Access::Write),
        ] {
            assert_eq!(access(&places, &root.join(path)), Some(expected), "{path}");
        }
        assert_eq!(access(&places, &root), None);
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
