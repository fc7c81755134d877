//! The one way out.

use std::fs;
use std::path::{Path, PathBuf};

use super::Hub;
use super::error::HubError;
use super::install::{self, Standing};
use super::quarantine::{self, remove_directory};
use super::shelf;
use super::state::{Event, Held, Locked, Pending, Phase, State};

/// Most copies of one changed skill that are kept.
const MOST_KEPT: usize = 3;

/// What was removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    pub name: String,
    pub path: PathBuf,
    /// Where the files went that had been changed by hand.
    pub kept: Option<PathBuf>,
}

impl Hub {
    /// Whether the files of an installed skill are not those that were installed.
    pub fn is_modified(&self, entry: &Locked) -> bool {
        let Ok(target) = install::target(&self.state, &entry.install_path) else {
            return false;
        };
        differs(entry, &target)
    }

    /// The directory of an installed skill.
    pub fn directory(&self, entry: &Locked) -> Result<PathBuf, HubError> {
        install::target(&self.state, &entry.install_path)
    }

    /// Removes a skill that was installed from a hub. Files that were changed by hand are kept aside.
    pub fn uninstall(&self, name: &str) -> Result<Removed, HubError> {
        let held = self.state.hold()?;
        let mut lock = self.state.lock()?;
        let mut entry = lock.get(name).ok_or_else(|| HubError::NotInstalled {
            name: name.to_owned(),
        })?;
        let target = install::target(&self.state, &entry.install_path)?;
        let modified = differs(&entry, &target);
        let aside = format!("{name}-{:08x}-old", self.random.next_u64() & 0xffff_ffff);
        entry.pending = Some(Pending {
            state: Phase::Removing,
            staged: None,
            aside: aside.clone(),
            previous: lock.raw(name).cloned(),
        });
        let before = lock.clone();
        lock.put(name, &entry);
        self.state.write_lock(&lock, &held)?;
        let aside = self.state.quarantine().join(aside);
        if target.exists() {
            hermes_config::create_directory(&self.state.quarantine())?;
            if let Err(error) = fs::rename(&target, &aside) {
                self.state.write_lock(&before, &held)?;
                return Err(HubError::io(target, "moved")(error));
            }
        }
        lock.remove(name);
        self.state.write_lock(&lock, &held)?;
        self.state.note(&Event {
            action: "UNINSTALL",
            name,
            source: &entry.source,
            trust: entry.trust_level.word(),
            verdict: entry.scan_verdict.word(),
            extra: "",
        });
        let kept = put_away(&self.state, name, &aside, modified, &held)?;
        leave(&self.state, &target);
        Ok(Removed {
            name: name.to_owned(),
            path: target,
            kept,
        })
    }
}

/// Whether a swap would overwrite changes.
pub(super) fn modified(standing: &Standing, target: &Path) -> bool {
    match standing {
        Standing::Fresh => false,
        Standing::Replaces(entry) => differs(entry, target),
    }
}

/// Files that cannot be read count as changed, and so do those under a hash nobody knows: then nothing of them is lost.
fn differs(entry: &Locked, target: &Path) -> bool {
    if !target.exists() {
        return false;
    }
    shelf::read_directory(target).map_or(true, |files| !files.are(entry.disk_hash()))
}

/// Removes a directory that was put aside, or keeps it when somebody worked on it.
pub(super) fn put_away(
    state: &State,
    name: &str,
    aside: &Path,
    modified: bool,
    _held: &Held,
) -> Result<Option<PathBuf>, HubError> {
    if !modified || !aside.exists() {
        remove_directory(aside)?;
        return Ok(None);
    }
    let backups = state.backups();
    hermes_config::create_directory(&backups)?;
    let seconds = state.clock().now().as_second();
    let mut kept = backups.join(format!("{name}-{seconds}"));
    let mut number = 1;
    while kept.exists() {
        kept = backups.join(format!("{name}-{seconds}-{number}"));
        number += 1;
    }
    fs::rename(aside, &kept).map_err(HubError::io(aside, "kept"))?;
    forget_oldest(&backups, name)?;
    Ok(Some(kept))
}

fn forget_oldest(backups: &Path, name: &str) -> Result<(), HubError> {
    let prefix = format!("{name}-");
    let entries = fs::read_dir(backups).map_err(HubError::io(backups, "read"))?;
    let mut own: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| {
            let file = entry.file_name().to_string_lossy().into_owned();
            let rest = file.strip_prefix(&prefix).map(str::to_owned);
            rest.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '-'))
        })
        .map(|entry| entry.path())
        .collect();
    own.sort();
    let spare = own.len().saturating_sub(MOST_KEPT);
    own.iter()
        .take(spare)
        .try_for_each(|path| remove_directory(path))
}

/// Takes the directory of a category away when its last skill went.
fn leave(state: &State, target: &Path) {
    if let Some(category) = target.parent()
        && category != state.skills()
    {
        // It stays when something is in it.
        let _ = fs::remove_dir(category);
    }
    let _ = quarantine::sync(state.skills());
}
