//! A place is what was looked up, and nothing that took its name since.
//!
//! A command that still runs can put a link, or another directory, where a name led a moment ago. So a name is
//! walked without following any link, and what it leads to must be the file that was found when the places were
//! looked up: what is compared cannot be swapped afterwards, because it is held open.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

use nix::sys::stat::makedev;
use nix::sys::statfs::{TMPFS_MAGIC, fstatfs};
use nix::sys::statvfs::{FsFlags, fstatvfs};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxAttributes, StatxFlags};
use serde::{Deserialize, Serialize};

use super::mounts;
use super::places::{Access, Place};
use crate::ExecError;

/// The device that holds nothing.
const NULL: (u64, u64) = (1, 3);

/// Which file it is, whatever it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    pub(super) fn of(data: &Metadata) -> Self {
        Self {
            device: data.dev(),
            inode: data.ino(),
        }
    }
}

/// Opens what an absolute path leads to without a link.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = rustix::fs::openat(CWD, "/", flags, Mode::empty())?;
    open_below(File::from(root), path.strip_prefix("/").unwrap_or(path))
}

/// Opens what a path below a directory leads to without a link.
pub(super) fn open_below(directory: File, path: &Path) -> io::Result<File> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut at = directory;
    for part in path.components() {
        let Component::Normal(name) = part else {
            let shown = path.display();
            return Err(io::Error::other(format!("{shown} is no plain path")));
        };
        // A link is opened as itself, and nothing lies below one.
        at = File::from(rustix::fs::openat(&at, name, flags, Mode::empty())?);
    }
    Ok(at)
}

/// Opens a place; fails when it is not the one that was looked up.
pub(super) fn held(place: &Place) -> Result<File, ExecError> {
    let same = |file: &File| {
        let data = file.metadata()?;
        io::Result::Ok(Identity::of(&data) == place.identity)
    };
    match open(&place.path).and_then(|file| same(&file).map(|same| (file, same))) {
        Ok((file, true)) => Ok(file),
        Ok((_, false)) => Err(changed(&place.path, "it is something else now")),
        Err(error) => Err(changed(&place.path, &error.to_string())),
    }
}

/// The name under which a held file can be mounted and looked at.
pub(super) fn name(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Whether mounts that somebody else made by name are what was asked for: every place is the root of a mount of its
/// own and shows what it should. One mount is made for each, so none can have landed elsewhere.
pub(super) fn shown(places: &[Place]) -> Result<(), ExecError> {
    places.iter().try_for_each(shows)
}

fn shows(place: &Place) -> Result<(), ExecError> {
    let looked = |error: io::Error| changed(&place.path, &error.to_string());
    let file = match place.access {
        Access::Write | Access::Read => held(place)?,
        Access::Hidden => open(&place.path).map_err(looked)?,
    };
    if place.access == Access::Hidden && !is_covered(&file, place.directory).map_err(looked)? {
        return Err(changed(&place.path, "it is not covered"));
    }
    if !is_mounted(&file, &place.path).map_err(looked)? {
        return Err(changed(&place.path, "it was mounted elsewhere"));
    }
    if place.access != Access::Write && !is_read_only(&file).map_err(looked)? {
        return Err(changed(&place.path, "it can be written"));
    }
    Ok(())
}

/// Whether an empty directory, or a file that holds nothing, lies over the place.
fn is_covered(file: &File, directory: bool) -> io::Result<bool> {
    let data = file.metadata()?;
    let (major, minor) = NULL;
    match directory {
        true => Ok(data.is_dir() && is_in_memory(file)?),
        false => Ok(data.file_type().is_char_device() && data.rdev() == makedev(major, minor)),
    }
}

/// Whether a file lies in memory, as what covers a directory does.
pub(super) fn is_in_memory(file: &File) -> io::Result<bool> {
    Ok(fstatfs(file)?.filesystem_type() == TMPFS_MAGIC)
}

fn is_read_only(file: &File) -> io::Result<bool> {
    Ok(fstatvfs(file)?.flags().contains(FsFlags::ST_RDONLY))
}

/// Whether the file is what a mount begins with.
fn is_mounted(file: &File, path: &Path) -> io::Result<bool> {
    let told = rustix::fs::statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS);
    match told {
        Ok(told)
            if told
                .stx_attributes_mask
                .contains(StatxAttributes::MOUNT_ROOT) =>
        {
            Ok(told.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
        }
        // Kernels before 5.8.
        Ok(_) | Err(_) => is_listed(path),
    }
}

fn is_listed(path: &Path) -> io::Result<bool> {
    let points = mounts::mount_points().map_err(|error| io::Error::other(error.to_string()))?;
    Ok(points.iter().any(|point| point == path))
}

fn changed(path: &Path, how: &str) -> ExecError {
    ExecError::Confinement(format!(
        "{} changed while the sandbox was made ({how}); nothing was run",
        path.display()
    ))
}
