//! What was looked at is what is used.
//!
//! A path is followed and judged first, and opened later. Whoever may write beside it, such as a command in the
//! sandbox, can put a link in the place of a directory in between. So no link is followed when it is opened, and
//! names change within a directory that is held open.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;

use crate::files::FilesError;

/// Opens a path that was followed to its end before.
pub(super) fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    match without_links(path, flags | OFlags::CLOEXEC) {
        Err(Errno::LOOP) => Err(elsewhere()),
        opened => Ok(File::from(opened?)),
    }
}

#[cfg(target_os = "linux")]
fn without_links(path: &Path, flags: OFlags) -> rustix::io::Result<rustix::fd::OwnedFd> {
    use rustix::fs::ResolveFlags;
    match rustix::fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // Kernels before 5.6, and containers whose filter is older than that.
        Err(Errno::NOSYS | Errno::PERM) => {
            let opened = rustix::fs::openat(CWD, path, flags, Mode::empty())?;
            let shown = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&opened));
            match std::fs::read_link(shown) {
                Ok(real) if real == path => Ok(opened),
                _ => Err(Errno::LOOP),
            }
        }
        opened => opened,
    }
}

/// There is no sandbox here whose commands could swap anything.
#[cfg(not(target_os = "linux"))]
fn without_links(path: &Path, flags: OFlags) -> rustix::io::Result<rustix::fd::OwnedFd> {
    rustix::fs::openat(CWD, path, flags, Mode::empty())
}

fn elsewhere() -> io::Error {
    io::Error::other("it became a link while it was looked at")
}

/// A directory that stays the same whatever becomes of its name. What is in it is named by the last part of a path.
#[derive(Debug, Clone)]
pub(super) struct Folder(Arc<File>);

impl Folder {
    /// The one at this path.
    pub(super) fn open(path: &Path) -> Result<Self, FilesError> {
        // Search permission is enough for this.
        let file = open(path, OFlags::PATH | OFlags::DIRECTORY)
            .map_err(|error| FilesError::new(path, error))?;
        Ok(Self(Arc::new(file)))
    }

    /// Whether anything has this name.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.facts(path).is_ok()
    }

    /// The facts of what has this name; a link is itself.
    pub(super) fn facts(&self, path: &Path) -> io::Result<Metadata> {
        self.hold(path)?.metadata()
    }

    /// What has this name, held so that it outlives the name; a link is itself.
    pub(super) fn hold(&self, path: &Path) -> io::Result<File> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&self.0, name(path), flags, Mode::empty())?;
        Ok(File::from(opened))
    }

    /// Makes a file that must not be there yet.
    pub(super) fn create(&self, path: &Path, mode: u32) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let made = rustix::fs::openat(&self.0, name(path), flags, Mode::from_raw_mode(mode))?;
        Ok(File::from(made))
    }

    /// Makes a directory.
    pub(super) fn make(&self, path: &Path) -> io::Result<()> {
        let everything = Mode::from_raw_mode(0o777);
        Ok(rustix::fs::mkdirat(&self.0, name(path), everything)?)
    }

    pub(super) fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        Ok(rustix::fs::renameat(
            &self.0,
            name(from),
            &self.0,
            name(to),
        )?)
    }

    /// Gives a file a second name.
    pub(super) fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let flags = AtFlags::empty();
        Ok(rustix::fs::linkat(
            &self.0,
            name(from),
            &self.0,
            name(to),
            flags,
        )?)
    }

    /// Makes a new file with the content and the permissions of another.
    pub(super) fn copy(&self, from: &Path, to: &Path) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&self.0, name(from), flags, Mode::empty())?;
        let mut source = File::from(opened);
        let mut target = self.create(to, 0o600)?;
        io::copy(&mut source, &mut target)?;
        target.set_permissions(source.metadata()?.permissions())
    }

    pub(super) fn remove(&self, path: &Path) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name(path), AtFlags::empty())?)
    }

    /// Removes a directory, if it is empty.
    pub(super) fn remove_directory(&self, path: &Path) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(
            &self.0,
            name(path),
            AtFlags::REMOVEDIR,
        )?)
    }
}

fn name(path: &Path) -> &OsStr {
    path.file_name().unwrap_or_default()
}
