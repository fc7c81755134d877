//! Covers and pins paths with mounts of our own, where Landlock cannot take away what it granted above, and
//! makes the rest read-only: Landlock lets the owner of a file change its mode and times.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::statvfs::{FsFlags, statvfs};
use nix::unistd::{getgid, getuid};

use super::Rights;
use super::exact;
use super::places::{Access, Place};
use crate::ExecError;

/// Gives this process mounts of its own and makes the places what they should be. Must run while the
/// process has one thread.
pub(super) fn apply(rights: Rights, places: &[Place]) -> Result<(), ExecError> {
    separate(rights)?;
    let before = mount_points()?;
    let kept = Kept::open(places)?;
    for place in places {
        make(place, cover(place, places), &kept)?;
    }
    for place in places {
        if place.access == Access::Hidden && place.directory {
            let over = open(&place.path)?;
            in_memory(&over, &place.path)?;
            read_only(&exact::name(&over))?;
        }
    }
    let open = |point: &Path| {
        point.starts_with("/dev") || places.iter().any(|place| point.starts_with(&place.path))
    };
    for point in before.iter().filter(|point| !open(point)) {
        // One that cannot be reached, because something lies over it or above it, needs nothing.
        match read_only(point) {
            Err(error) if point == Path::new("/") => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

/// The hidden directory in which a place is to be seen all the same.
fn cover<'a>(place: &Place, places: &'a [Place]) -> Option<&'a Path> {
    let above = places
        .iter()
        .filter(|above| above.path != place.path && place.path.starts_with(&above.path));
    let nearest = above.max_by_key(|above| above.path.components().count())?;
    (nearest.access == Access::Hidden).then_some(&nearest.path)
}

/// Makes one place what it should be. What is mounted and what it is mounted on is the file that was looked up, held
/// open, never whatever has its name by now.
fn make(place: &Place, cover: Option<&Path>, kept: &Kept) -> Result<(), ExecError> {
    let target = match cover {
        Some(cover) => stand_in(place, cover)?,
        None => exact::held(place)?,
    };
    let source = match cover {
        Some(_) => kept.of(place)?,
        None => &target,
    };
    match (place.access, place.directory) {
        (Access::Hidden, true) => return empty(&target, &place.path),
        (Access::Hidden, false) => {
            return bind(Path::new("/dev/null"), &target, &place.path);
        }
        (Access::Write | Access::Read, _) => bind(&exact::name(source), &target, &place.path)?,
    }
    match place.access {
        Access::Read => read_only(&exact::name(&exact::held(place)?)),
        Access::Write | Access::Hidden => Ok(()),
    }
}

/// Where something is mounted.
pub(super) fn mount_points() -> Result<Vec<PathBuf>, ExecError> {
    let table = fs::read("/proc/self/mountinfo").map_err(|source| ExecError::Io {
        what: "reading the mounts".into(),
        source,
    })?;
    Ok(table
        .split(|byte| *byte == b'\n')
        .filter_map(|line| line.split(|byte| *byte == b' ').nth(4))
        .map(|point| PathBuf::from(OsString::from_vec(unescaped(point))))
        .collect())
}

/// The kernel writes spaces and the like as a backslash and three octal digits.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..3).filter(|_| *first == b'\\');
        let code = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        plain.push(code.unwrap_or(*first));
        rest = match code {
            Some(_) => after.get(3..).unwrap_or_default(),
            None => after,
        };
    }
    plain
}

fn separate(rights: Rights) -> Result<(), ExecError> {
    let (user, group) = (getuid(), getgid());
    let own = match rights {
        Rights::UserNamespace => CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS,
        Rights::Root => CloneFlags::CLONE_NEWNS,
    };
    unshare(own).map_err(|error| failed("mounts of its own", Path::new("/"), error))?;
    if rights == Rights::UserNamespace {
        write("/proc/self/setgroups", "deny")?;
        write("/proc/self/uid_map", &format!("{user} {user} 1"))?;
        write("/proc/self/gid_map", &format!("{group} {group} 1"))?;
    }
    let nothing = None::<&str>;
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(nothing, "/", nothing, private, nothing)
        .map_err(|error| failed("private mounts", Path::new("/"), error))
}

/// Paths below a directory that will be covered, held open so that they can be found again.
struct Kept(Vec<(PathBuf, File)>);

impl Kept {
    fn open(places: &[Place]) -> Result<Self, ExecError> {
        places
            .iter()
            .filter(|place| place.covered && place.access != Access::Hidden)
            .map(|place| Ok((place.path.clone(), exact::held(place)?)))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    fn of(&self, place: &Place) -> Result<&File, ExecError> {
        let mut kept = self.0.iter();
        let found = kept.find(|(path, _)| *path == place.path);
        found.map(|(_, file)| file).ok_or_else(|| {
            let path = place.path.display();
            ExecError::Confinement(format!("{path} is covered and was not kept"))
        })
    }
}

fn bind(source: &Path, target: &File, path: &Path) -> Result<(), ExecError> {
    let nothing = None::<&str>;
    let flags = MsFlags::MS_BIND | MsFlags::MS_REC;
    mount(Some(source), &exact::name(target), nothing, flags, nothing)
        .map_err(|error| failed("binding", path, error))
}

/// Makes something to mount on inside a covered directory, where nobody else can make anything.
fn stand_in(place: &Place, cover: &Path) -> Result<File, ExecError> {
    let failed = |source| ExecError::Io {
        what: format!("making {}", place.path.display()),
        source,
    };
    let covering = open(cover)?;
    in_memory(&covering, cover)?;
    let below = place.path.strip_prefix(cover).unwrap_or(&place.path);
    let name = exact::name(&covering).join(below);
    let folder = match place.directory {
        true => Some(name.as_path()),
        false => name.parent(),
    };
    folder.map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
    if !place.directory {
        let mut making = OpenOptions::new();
        making
            .create(true)
            .append(true)
            .open(&name)
            .map_err(failed)?;
    }
    exact::open_below(covering, below).map_err(failed)
}

fn open(path: &Path) -> Result<File, ExecError> {
    exact::open(path).map_err(|source| ExecError::Io {
        what: format!("opening {}", path.display()),
        source,
    })
}

/// Fails unless a directory of ours lies over the path.
fn in_memory(file: &File, path: &Path) -> Result<(), ExecError> {
    match exact::is_in_memory(file) {
        Ok(true) => Ok(()),
        Ok(false) | Err(_) => {
            let path = path.display();
            Err(ExecError::Confinement(format!("{path} is not covered")))
        }
    }
}

fn empty(target: &File, path: &Path) -> Result<(), ExecError> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(
        Some("tmpfs"),
        &exact::name(target),
        Some("tmpfs"),
        flags,
        Some("mode=0755,size=64k"),
    )
    .map_err(|error| failed("covering", path, error))
}

/// Only this mount: one whose other flags are dropped is refused in a user namespace.
fn read_only(path: &Path) -> Result<(), ExecError> {
    let present = statvfs(path).map_err(|error| failed("reading the mount of", path, error))?;
    let mut flags = MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY;
    for (had, keep) in [
        (FsFlags::ST_NOSUID, MsFlags::MS_NOSUID),
        (FsFlags::ST_NODEV, MsFlags::MS_NODEV),
        (FsFlags::ST_NOEXEC, MsFlags::MS_NOEXEC),
        (FsFlags::ST_NOATIME, MsFlags::MS_NOATIME),
        (FsFlags::ST_NODIRATIME, MsFlags::MS_NODIRATIME),
        (FsFlags::ST_RELATIME, MsFlags::MS_RELATIME),
    ] {
        if present.flags().contains(had) {
            flags |= keep;
        }
    }
    let nothing = None::<&str>;
    mount(nothing, path, nothing, flags, nothing).map_err(|error| failed("protecting", path, error))
}

fn write(path: &str, text: &str) -> Result<(), ExecError> {
    fs::write(path, text).map_err(|source| ExecError::Io {
        what: format!("writing {path}"),
        source,
    })
}

fn failed(what: &str, path: &Path, error: nix::Error) -> ExecError {
    ExecError::Confinement(format!("{what} {}: {error}", path.display()))
}
