//! Copies of all skills in `HOME/skills/.curator_backups`, and going back to one.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use hermes_config::{create_directory, read_file, replace_file};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Curator, CuratorError, schedules};
use crate::hub;

const BACKUPS: &str = ".curator_backups";
/// The list of what was installed from elsewhere, in a copy.
const INSTALLED: &str = "hub-lock.json";
/// What is not a skill and is made again or fetched again. Of the hub's files a copy holds the list of what is
/// installed, under a name of its own.
const LEFT_OUT: [&str; 3] = [BACKUPS, ".sync", ".hub"];
/// Most bytes a copy unpacks to.
const LARGEST: u64 = 512 * 1024 * 1024;

/// A copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backup {
    /// Its time, which is its name.
    #[serde(alias = "id")]
    pub name: String,
    pub created_at: Timestamp,
    /// Why it was made.
    #[serde(default)]
    pub reason: String,
    /// How many skills it holds.
    #[serde(default, alias = "skill_files")]
    pub skills: usize,
}

impl Curator {
    /// Copies all skills. The oldest copies go when there are more than are kept.
    pub fn backup(&self, reason: &str) -> Result<Backup, CuratorError> {
        let (own, now) = (self.own(), self.now());
        let all = own.join(BACKUPS);
        create_directory(&all)?;
        let name = self.unused_name(&all, now);
        let draft = all.join(format!(".{name}.tmp"));
        create_directory(&draft)?;
        let backup = Backup {
            name: name.clone(),
            created_at: now,
            reason: reason.to_owned(),
            skills: self
                .library
                .catalog()
                .entries
                .iter()
                .filter(|entry| self.library.is_own(entry))
                .count(),
        };
        let archive = draft.join("skills.tar.gz");
        pack(&own, &archive).map_err(|source| CuratorError::io(&archive, source))?;
        let manifest = serde_json::to_string_pretty(&backup).unwrap_or_default();
        replace_file(&draft.join("manifest.json"), manifest.as_bytes())?;
        replace_file(&draft.join(INSTALLED), &hub::copy_of_list(&own)?)?;
        if let Some(jobs) = read_file(&self.library.home().join("cron/jobs.json"))? {
            replace_file(&draft.join("cron-jobs.json"), &jobs)?;
        }
        let place = all.join(&name);
        fs::rename(&draft, &place).map_err(|source| CuratorError::io(&place, source))?;
        self.drop_oldest()?;
        Ok(backup)
    }

    /// Copies are named by the second; two in one second get a number.
    fn unused_name(&self, all: &Path, now: Timestamp) -> String {
        let stem = now.strftime("%Y%m%dT%H%M%SZ").to_string();
        let mut names =
            std::iter::once(stem.clone()).chain((2..).map(|number| format!("{stem}-{number}")));
        names.find(|name| !all.join(name).exists()).unwrap_or(stem)
    }

    /// The copies there are, newest first.
    pub fn backups(&self) -> Result<Vec<Backup>, CuratorError> {
        let all = self.own().join(BACKUPS);
        let entries = match fs::read_dir(&all) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(CuratorError::io(&all, error)),
        };
        let mut found: Vec<Backup> = entries
            .filter_map(Result::ok)
            .filter_map(|entry| {
                let bytes = fs::read(entry.path().join("manifest.json")).ok()?;
                let backup: Backup = serde_json::from_slice(&bytes).ok()?;
                // Its directory is what is read and removed, whatever is written in it.
                let name = entry.file_name().into_string().ok()?;
                Some(Backup { name, ..backup })
            })
            .filter(|backup| !backup.name.starts_with('.'))
            .collect();
        found.sort_by(|a, b| (b.created_at, &b.name).cmp(&(a.created_at, &a.name)));
        Ok(found)
    }

    fn drop_oldest(&self) -> Result<(), CuratorError> {
        let keep = self.settings.backup.keep.max(1) as usize;
        for old in self.backups()?.into_iter().skip(keep) {
            let place = self.own().join(BACKUPS).join(&old.name);
            fs::remove_dir_all(&place).map_err(|source| CuratorError::io(&place, source))?;
        }
        Ok(())
    }

    /// Makes all skills what they were in a copy. What is there now is copied first, so that this can be undone too;
    /// answers with that copy.
    pub fn rollback(&self, name: &str) -> Result<Backup, CuratorError> {
        let own = self.own();
        let chosen = own.join(BACKUPS).join(name);
        let known = self.backups()?.iter().any(|backup| backup.name == name);
        if !known {
            return Err(CuratorError::NoBackup {
                name: name.to_owned(),
            });
        }
        // Unpacked in whole before anything moves: a torn copy changes nothing.
        let fresh = own
            .join(".sync")
            .join(format!("rollback.{}", std::process::id()));
        let _ = fs::remove_dir_all(&fresh);
        create_directory(&fresh)?;
        let unpacked = unpack(&chosen.join("skills.tar.gz"), &fresh);
        if let Err(source) = unpacked {
            let _ = fs::remove_dir_all(&fresh);
            return Err(CuratorError::BadBackup {
                name: name.to_owned(),
                why: source.to_string(),
            });
        }
        let jobs = read_file(&chosen.join("cron-jobs.json"))?;
        let installed = read_file(&chosen.join(INSTALLED))?;
        let Some(held) = hub::hold_list(&own)? else {
            let _ = fs::remove_dir_all(&fresh);
            return Err(CuratorError::Busy);
        };
        let current = self.backup("before going back")?;
        let swapped = swap(&own, &fresh);
        let _ = fs::remove_dir_all(&fresh);
        self.library.forget();
        swapped?;
        // Copies of earlier versions have no list.
        if let Some(installed) = installed {
            hub::put_list_back(&own, &installed, &held)?;
        }
        if let Some(jobs) = jobs {
            schedules::restore(self.library.home(), &jobs)?;
        }
        Ok(current)
    }
}

pub(super) fn pack(own: &Path, archive: &Path) -> std::io::Result<()> {
    let file = File::create(archive)?;
    let mut tar = tar::Builder::new(GzEncoder::new(file, Compression::default()));
    tar.follow_symlinks(false);
    for name in top_level(own)? {
        let path = own.join(&name);
        match path.symlink_metadata()?.is_dir() {
            true => tar.append_dir_all(&name, &path)?,
            false => tar.append_path_with_name(&path, &name)?,
        }
    }
    tar.into_inner()?.finish()?.sync_all()
}

/// Everything that belongs to a copy, by name.
fn top_level(own: &Path) -> std::io::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(own)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !LEFT_OUT.contains(&name.as_str()) && !name.ends_with(".lock") {
            names.insert(name);
        }
    }
    Ok(names)
}

/// Our own copies hold no path that leads out; the library refuses those that do.
pub(super) fn unpack(archive: &Path, into: &Path) -> std::io::Result<()> {
    let mut tar = tar::Archive::new(GzDecoder::new(File::open(archive)?));
    let mut left = LARGEST;
    for entry in tar.entries()? {
        let mut entry = entry?;
        left = left
            .checked_sub(entry.size())
            .ok_or_else(|| std::io::Error::other("it is too large"))?;
        if !entry.unpack_in(into)? {
            return Err(std::io::Error::other("a path in it leads out of it"));
        }
    }
    Ok(())
}

/// Puts what is in `fresh` in the place of what is in `own`, name by name. On a failure what moved goes back.
fn swap(own: &Path, fresh: &Path) -> Result<(), CuratorError> {
    let failed = |source| CuratorError::io(own, source);
    let away = fresh.join(".away");
    fs::create_dir(&away).map_err(failed)?;
    let coming: BTreeSet<String> = top_level(fresh).map_err(failed)?;
    let coming = coming.into_iter().filter(|name| name != ".away");
    let mut moved: Vec<(PathBuf, PathBuf)> = Vec::new();
    let going = top_level(own)
        .map_err(failed)?
        .into_iter()
        .map(|name| (own.join(&name), away.join(&name)));
    let steps = going.chain(coming.map(|name| (fresh.join(&name), own.join(&name))));
    for (from, to) in steps.collect::<Vec<_>>() {
        if let Err(source) = fs::rename(&from, &to) {
            for (from, to) in moved.into_iter().rev() {
                let _ = fs::rename(to, from);
            }
            return Err(CuratorError::io(&from, source));
        }
        moved.push((from, to));
    }
    Ok(())
}
