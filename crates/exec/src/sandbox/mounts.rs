//! Covers and pins paths with mounts of our own, where Landlock cannot take away what it granted above, and
//! makes the rest read-only: Landlock lets the owner of a file change its mode and times.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::libc;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::statvfs::{FsFlags, statvfs};
use nix::unistd::{getgid, getuid};

use super::Rights;
use super::places::{Access, Place};
use crate::ExecError;

/// Gives this process mounts of its own and makes the places what they should be. Must run while the
/// process has one thread.
pub(super) fn apply(rights: Rights, places: &[Place]) -> Result<(), ExecError> {
    separate(rights)?;
    let before = mount_points()?;
    let kept = Kept::open(places)?;
    for place in places {
        match (place.access, place.directory) {
            (Access::Write, _) => bind(&kept.source(place), place)?,
            (Access::Read, _) => {
                bind(&kept.source(place), place)?;
                read_only(&place.path)?;
            }
            (Access::Hidden, true) => empty(&place.path)?,
            (Access::Hidden, false) => bind(Path::new("/dev/null"), place)?,
        }
    }
    for place in places {
        if place.access == Access::Hidden && place.directory {
            read_only(&place.path)?;
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

/// Where something is mounted.
fn mount_points() -> Result<Vec<PathBuf>, ExecError> {
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
            .map(|place| {
                let file = OpenOptions::new()
                    .read(true)
                    .custom_flags(libc::O_PATH | libc::O_NOFOLLOW)
                    .open(&place.path)
                    .map_err(|source| ExecError::Io {
                        what: format!("opening {}", place.path.display()),
                        source,
                    })?;
                Ok((place.path.clone(), file))
            })
            .collect::<Result<_, _>>()
            .map(Self)
    }

    fn source(&self, place: &Place) -> PathBuf {
        self.0
            .iter()
            .find(|(path, _)| *path == place.path)
            .map_or_else(
                || place.path.clone(),
                |(_, file)| PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd())),
            )
    }
}

fn bind(source: &Path, place: &Place) -> Result<(), ExecError> {
    let nothing = None::<&str>;
    if place.covered {
        stand_in(place)?;
    }
    let flags = MsFlags::MS_BIND | MsFlags::MS_REC;
    mount(Some(source), &place.path, nothing, flags, nothing)
        .map_err(|error| failed("binding", &place.path, error))
}

/// Makes something to mount on inside a covered directory.
fn stand_in(place: &Place) -> Result<(), ExecError> {
    let made = if place.directory {
        fs::create_dir_all(&place.path)
    } else {
        place
            .path
            .parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| {
                OpenOptions::new()
                    .create(true)
                    .append(true)
                    .open(&place.path)
                    .map(drop)
            })
    };
    made.map_err(|source| ExecError::Io {
        what: format!("making {}", place.path.display()),
        source,
    })
}

fn empty(path: &Path) -> Result<(), ExecError> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(
        Some("tmpfs"),
        path,
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
