//! The arguments bubblewrap gets.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::Rights;
use super::places::{Access, Place};

/// What root keeps where there is no user namespace: files belong to several users in a container, and
/// bubblewrap's mounts decide which of them can be reached at all.
const KEPT_BY_ROOT: &[&str] = &["CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID"];

/// What bubblewrap is asked for.
pub(super) struct Wrapping<'a> {
    /// How namespaces are had.
    pub(super) rights: Rights,
    /// Whether processes outside are out of sight.
    pub(super) own_processes: bool,
    /// Whether the network is there.
    pub(super) network: bool,
    /// What differs from reading everything, parents first.
    pub(super) places: &'a [Place],
    /// Devices besides the usual ones.
    pub(super) devices: &'a [PathBuf],
    /// Where the command starts.
    pub(super) directory: &'a Path,
    /// The descriptor the filter is read from.
    pub(super) filter: i32,
}

/// Everything in front of the command.
pub(super) fn arguments(wrapping: &Wrapping<'_>) -> Vec<OsString> {
    let mut list = Arguments(Vec::new());
    list.words(&["--die-with-parent", "--unshare-ipc"]);
    match wrapping.rights {
        Rights::UserNamespace => list.words(&["--unshare-user"]),
        Rights::Root => {}
    }
    if !wrapping.network {
        list.words(&["--unshare-net"]);
    }
    list.words(&["--ro-bind", "/", "/", "--dev", "/dev"]);
    if wrapping.own_processes {
        // The first process of a namespace hears no signal from inside that it did not ask for, not even the one
        // that kills.
        list.words(&["--unshare-pid", "--as-pid-1"]);
        // Root owns the switches of the kernel in there, with or without privileges.
        list.words(&["--proc", "/proc", "--remount-ro", "/proc"]);
    }
    for device in wrapping.devices {
        list.pair("--dev-bind-try", device);
    }
    for place in mounted(wrapping.places) {
        match (place.access, place.directory) {
            (Access::Write, _) => list.pair("--bind", &place.path),
            (Access::Read, _) => list.pair("--ro-bind", &place.path),
            (Access::Hidden, true) => list.path("--tmpfs", &place.path),
            (Access::Hidden, false) => {
                list.words(&["--ro-bind", "/dev/null"]);
                list.0.push(place.path.clone().into());
            }
        }
    }
    // What is written into an empty directory would be gone with the command; better that it fails.
    for place in
        mounted(wrapping.places).filter(|place| place.access == Access::Hidden && place.directory)
    {
        list.path("--remount-ro", &place.path);
    }
    list.words(&["--cap-drop", "ALL"]);
    if wrapping.rights == Rights::Root {
        for capability in KEPT_BY_ROOT {
            list.words(&["--cap-add", capability]);
        }
    }
    list.path("--chdir", wrapping.directory);
    list.words(&["--seccomp", &wrapping.filter.to_string(), "--"]);
    list.0
}

/// The places that get a mount each; devices and processes have some of their own.
pub(super) fn mounted(places: &[Place]) -> impl Iterator<Item = &Place> {
    places.iter().filter(|place| {
        !["/dev", "/proc"]
            .iter()
            .any(|made| place.path.starts_with(made))
    })
}

struct Arguments(Vec<OsString>);

impl Arguments {
    fn words(&mut self, words: &[&str]) {
        self.0.extend(words.iter().map(OsString::from));
    }

    fn path(&mut self, option: &str, path: &Path) {
        self.0.push(option.into());
        self.0.push(path.into());
    }

    fn pair(&mut self, option: &str, path: &Path) {
        self.path(option, path);
        self.0.push(OsStr::new(path).to_owned());
    }
}
