//! The Landlock rules of a confinement.
//!
//! Landlock only grants, and a grant holds for everything below. A directory with something below it that may
//! do less is therefore opened entry by entry.

use std::fs;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, LandlockStatus, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};

use super::exact;
use super::places::{Access, Place};
use crate::ExecError;

/// The newest rules we know; older kernels get what they understand of them.
const NEWEST: ABI = ABI::V6;
/// Most rules of a set; a directory of more entries than this cannot be opened one by one.
const MOST_RULES: usize = 20_000;

/// Devices every program may use.
const DEVICES: &[&str] = &[
    "/dev/full",
    "/dev/null",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/random",
    "/dev/shm",
    "/dev/tty",
    "/dev/urandom",
    "/dev/zero",
];

/// Restricts this thread and what it becomes to the places. `computing` are devices it may use besides the
/// usual ones.
pub(super) fn restrict(
    places: &[Place],
    computing: &[PathBuf],
) -> Result<LandlockStatus, ExecError> {
    let mut places = places.to_vec();
    places.retain(|place| !place.path.starts_with("/dev"));
    places.extend(Place::look(Path::new("/dev"), Access::Hidden, false));
    let mut rules = Rules {
        set: Ruleset::default()
            .handle_access(AccessFs::from_all(NEWEST))
            .and_then(|set| set.scope(Scope::from_all(NEWEST)))
            .and_then(Ruleset::create)
            .map_err(failed)?,
        count: 0,
        places: &places,
    };
    // Names may be listed everywhere, or nobody could look into a directory with something hidden below.
    rules.name(Path::new("/"), AccessFs::ReadDir.into())?;
    rules.grant(Path::new("/"), Access::Read)?;
    let usual = DEVICES.iter().map(Path::new);
    for device in usual.chain(computing.iter().map(PathBuf::as_path)) {
        // Where no command makes links.
        if let Ok(opened) = PathFd::new(device) {
            let kind = fs::metadata(device);
            let directory = kind.is_ok_and(|kind| kind.is_dir());
            rules.add(device, opened, directory, rights(Access::Write))?;
        }
    }
    rules.enforce()
}

/// Keeps this thread and what it becomes from sockets without a file and from signalling others.
pub(super) fn scope() -> Result<LandlockStatus, ExecError> {
    Ruleset::default()
        .scope(Scope::from_all(NEWEST))
        .and_then(Ruleset::create)
        .and_then(RulesetCreated::restrict_self)
        .map(|status| status.landlock)
        .map_err(failed)
}

struct Rules<'a> {
    set: RulesetCreated,
    count: usize,
    places: &'a [Place],
}

impl Rules<'_> {
    /// Grants a path that has this access unless it is a place of its own.
    fn grant(&mut self, path: &Path, inherited: Access) -> Result<(), ExecError> {
        let place = self.place(path);
        let access = place.map_or(inherited, |place| place.access);
        let less_below = self.places.iter().any(|place| {
            place.path != path && place.path.starts_with(path) && less(place.access, access)
        });
        if less_below {
            let Ok(entries) = fs::read_dir(path) else {
                return Ok(());
            };
            for entry in entries.flatten() {
                // The way a link leads is granted where it arrives.
                if !entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                    self.grant(&entry.path(), access)?;
                }
            }
            return Ok(());
        }
        if access != Access::Hidden {
            self.name(path, rights(access))?;
        }
        let more_below: Vec<_> = self
            .places
            .iter()
            .filter(|place| place.path != path && place.path.starts_with(path))
            .filter(|place| less(access, place.access))
            .map(|place| (place.path.clone(), place.access))
            .collect();
        for (below, granted) in more_below {
            self.grant(&below, granted)?;
        }
        Ok(())
    }

    fn place(&self, path: &Path) -> Option<&Place> {
        self.places.iter().find(|place| place.path == path)
    }

    /// Grants what a name leads to without a link; a place only when it is still what was looked up.
    fn name(&mut self, path: &Path, rights: BitFlags<AccessFs>) -> Result<(), ExecError> {
        let opened = match self.place(path) {
            Some(place) => exact::held(place)?,
            // What cannot be opened by us cannot be opened by the command either.
            None => match exact::open(path) {
                Ok(opened) => opened,
                Err(_) => return Ok(()),
            },
        };
        let kind = opened.metadata().map(|data| data.file_type());
        match kind {
            // One that took the place of what was listed grants nothing: the rest lies where it leads.
            Ok(kind) if kind.is_symlink() => Ok(()),
            kind => self.add(path, opened, kind.is_ok_and(|kind| kind.is_dir()), rights),
        }
    }

    fn add(
        &mut self,
        path: &Path,
        opened: impl AsFd,
        directory: bool,
        rights: BitFlags<AccessFs>,
    ) -> Result<(), ExecError> {
        self.count += 1;
        if self.count > MOST_RULES {
            return Err(ExecError::Confinement(format!(
                "{} holds too many entries to grant one by one",
                path.parent().unwrap_or(path).display()
            )));
        }
        let rights = match directory {
            true => rights,
            false => rights & AccessFs::from_file(NEWEST),
        };
        // A grant the kernel does not take, as for a namespace that is mounted somewhere, leaves less and
        // not more.
        if let Err(error) = (&mut self.set).add_rule(PathBeneath::new(opened, rights)) {
            tracing::debug!(%error, path = %path.display(), "not granted");
        }
        Ok(())
    }

    fn enforce(self) -> Result<LandlockStatus, ExecError> {
        let status = self.set.restrict_self().map_err(failed)?;
        Ok(status.landlock)
    }
}

fn less(one: Access, other: Access) -> bool {
    let rank = |access| match access {
        Access::Hidden => 0,
        Access::Read => 1,
        Access::Write => 2,
    };
    rank(one) < rank(other)
}

fn rights(access: Access) -> BitFlags<AccessFs> {
    match access {
        Access::Hidden => BitFlags::empty(),
        Access::Read => AccessFs::from_read(NEWEST),
        Access::Write => AccessFs::from_all(NEWEST) & !(AccessFs::MakeBlock | AccessFs::MakeChar),
    }
}

fn failed(error: RulesetError) -> ExecError {
    ExecError::Confinement(format!("landlock: {error}"))
}
