//! Bringing the skills that come with the program into a home, without taking anything from its owner.
//!
//! `HOME/skills/.bundled_manifest` has a line `name:hash` for each of them, with the fingerprint of what
//! was copied. A directory that still has it may be replaced; one that has another was changed by its owner.
//! His changes, the difference to what was brought in (`base`), are carried over to a newer one (`merge`); where
//! both changed the same lines his stays as it is, and the update that waits for it is told as a conflict. Nothing
//! is ever deleted but the old copy of what nobody touched.

mod base;
mod leave;
mod manifest;
mod merge;
mod place;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_config::{FileError, create_directory, lock_file, read_file, replace_file};

use crate::library::Library;
use crate::library::SKILL_FILE;
use crate::manage::check_text;
use crate::shipped::{
    Contents, ShippedSkill, files_of_directory, hash_of_directory, hash_of_files,
};
use base::{Base, Bases};
use manifest::Manifest;
use merge::Merge;

/// Which skills were last brought in, so that most starts need one small read.
const BROUGHT: &str = ".bundled_id";
const LOCK: &str = ".sync.lock";
const SUPPRESSED: &str = ".curator_suppressed";
/// In the home: its owner wants none of them.
const REFUSED: &str = ".no-bundled-skills";
const PATIENCE: Duration = Duration::from_secs(10);

/// What became of the skills, by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SyncReport {
    /// New in the home.
    pub copied: Vec<String>,
    /// Replaced by a newer one.
    pub updated: Vec<String>,
    /// The owner has one of that name.
    pub kept: Vec<String>,
    /// The owner changed it, and the newer one was joined with that.
    pub merged: Vec<String>,
    /// The owner changed it.
    pub modified: Vec<String>,
    /// Those of them that a newer one waits for.
    pub conflicts: Vec<String>,
    /// The owner deleted it.
    pub deleted: Vec<String>,
    /// No longer comes with the program; what is in the home stays.
    pub dropped: Vec<String>,
    /// Not wanted here.
    pub skipped: Vec<String>,
}

/// A skill that came with the program and was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Modified {
    pub name: String,
    pub directory: PathBuf,
    /// Whether a newer one waits.
    pub update: bool,
}

/// Skills that could not be brought in.
#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{} could not be put in place", path.display())]
    Place {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("another program is bringing skills in")]
    Busy,
    #[error("no skill {name} comes with the program")]
    Unknown { name: String },
}

impl SyncError {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::File(error) => error.hint(),
            Self::Place { .. } => "check who owns the directory, and whether the disk is full",
            Self::Busy => "try again in a moment",
            Self::Unknown { .. } => "hermes skills list --source builtin shows them",
        }
    }
}

impl Library {
    /// Brings skills in when those of the program are others than last time. Errors are told and no more:
    /// what is there can be used.
    pub(crate) fn bring_in(&self) {
        // An installation that was killed is finished or taken back before anybody reads it.
        if let Err(error) = crate::hub::recover(&self.own(), self.clock().clone()) {
            tracing::warn!(%error, "what an installation left could not be cleared");
        }
        if self.home().join(REFUSED).exists() {
            return;
        }
        let id = self.shipped().id();
        let known = read_file(&self.own().join(BROUGHT)).ok().flatten();
        if id.is_empty() || known.as_deref() == Some(id.as_bytes()) {
            return;
        }
        match self.sync() {
            Ok(report) => {
                for name in &report.conflicts {
                    tracing::warn!(
                        skill = name,
                        "you changed it, and a newer one came with the program: hermes skills diff shows both"
                    );
                }
                for name in &report.merged {
                    tracing::info!(
                        skill = name,
                        "you changed it, and what is new in it was added to that: hermes skills diff shows yours"
                    );
                }
                tracing::debug!(?report, "skills were brought in");
            }
            Err(error) => tracing::warn!(%error, "skills of the program were not brought in"),
        }
    }

    /// Brings them in now.
    pub fn sync(&self) -> Result<SyncReport, SyncError> {
        let contents = self.shipped().contents();
        let mut report = SyncReport::default();
        if self.home().join(REFUSED).exists() {
            let names = contents.skills.into_iter().map(|skill| skill.name);
            report.skipped = names.collect();
            return Ok(report);
        }
        let own = self.own();
        create_directory(&own)?;
        let Some(_held) = lock_file(&own.join(LOCK), PATIENCE)? else {
            return Err(SyncError::Busy);
        };
        let mut known = Known::read(&own)?;
        let unwanted = self.unwanted(&own)?;
        let local = self.own_directories();
        for skill in &contents.skills {
            place::recover(&own, &skill.place)?;
            if unwanted.contains(&skill.name) {
                report.skipped.push(skill.name.clone());
                continue;
            }
            let directory = own.join(&skill.place);
            let directory = match directory.exists() {
                true => Some(directory),
                false => local.get(&skill.name).cloned(),
            };
            one(skill, directory, &own, &mut known, &mut report)?;
        }
        for name in known.manifest.retain(&contents) {
            known.bases.forget(&name);
            report.dropped.push(name);
        }
        describe(&own, &contents)?;
        known.write(&own)?;
        replace_file(&own.join(BROUGHT), self.shipped().id().as_bytes())?;
        self.forget();
        Ok(report)
    }

    /// Those that came with the program and were changed.
    pub fn modified(&self) -> Result<Vec<Modified>, SyncError> {
        let own = self.own();
        let manifest = Manifest::read(&own)?;
        let local = self.own_directories();
        let mut modified = Vec::new();
        for skill in self.shipped().contents().skills {
            let (Some(origin), Some(directory)) =
                (manifest.origin(&skill.name), local.get(&skill.name))
            else {
                continue;
            };
            let hash = hash_of_directory(directory);
            if hash != origin && hash != skill.hash {
                modified.push(Modified {
                    update: origin != skill.hash,
                    name: skill.name,
                    directory: directory.clone(),
                });
            }
        }
        Ok(modified)
    }

    /// The names of those that a newer one waits for, because it could not be joined with the owner's changes.
    pub fn waiting_updates(&self) -> Result<Vec<String>, SyncError> {
        let modified = self.modified()?.into_iter();
        Ok(modified
            .filter(|one| one.update)
            .map(|one| one.name)
            .collect())
    }

    /// Puts the skill of the program in the place of the owner's, which is put away. Says where to.
    pub fn restore(&self, name: &str) -> Result<Option<PathBuf>, SyncError> {
        let own = self.own();
        create_directory(&own)?;
        let Some(_held) = lock_file(&own.join(LOCK), PATIENCE)? else {
            return Err(SyncError::Busy);
        };
        let skill = self.shipped_skill(name)?;
        let mut known = Known::read(&own)?;
        let local = self.own_directories();
        let stamp = self.clock().now().strftime("%Y%m%d%H%M%S").to_string();
        let away = match local.get(name) {
            Some(directory) => Some(place::put_away(&own, directory, &stamp)?),
            None => None,
        };
        place::copy(&own, &skill)?;
        known.record(&skill);
        known.write(&own)?;
        self.forget();
        Ok(away)
    }

    /// Takes the owner's changes as the new beginning: no conflict is told until the next update.
    pub fn accept(&self, name: &str) -> Result<(), SyncError> {
        let own = self.own();
        let skill = self.shipped_skill(name)?;
        let mut known = Known::read(&own)?;
        known.record(&skill);
        known.write(&own)
    }

    /// A skill as it came with the program.
    pub fn shipped_skill(&self, name: &str) -> Result<ShippedSkill, SyncError> {
        let skills = self.shipped().contents().skills.into_iter();
        let mut named = skills.filter(|skill| skill.name == name);
        named.next().ok_or_else(|| SyncError::Unknown {
            name: name.to_owned(),
        })
    }

    /// Whether a skill came with the program. One that was there before, under a name of ours, did not.
    pub fn is_shipped(&self, name: &str) -> bool {
        Manifest::read(&self.own()).is_ok_and(|manifest| manifest.origin(name).is_some())
    }

    /// Names that are not brought in: the curator put them away, or somebody else's directory has them.
    fn unwanted(&self, own: &Path) -> Result<HashSet<String>, SyncError> {
        let text = read_file(&own.join(SUPPRESSED))?.unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        let suppressed = text.lines().map(|line| line.trim().to_owned());
        Ok(suppressed.chain(self.external_names()).collect())
    }
}

/// What is known of how skills looked when they were brought in.
struct Known {
    manifest: Manifest,
    bases: Bases,
}

impl Known {
    fn read(own: &Path) -> Result<Self, SyncError> {
        Ok(Self {
            manifest: Manifest::read(own)?,
            bases: Bases::read(own)?,
        })
    }

    fn record(&mut self, skill: &ShippedSkill) {
        self.manifest.record(skill);
        self.bases.record(skill);
    }

    /// The fingerprints come last: where a base has another one it is not used.
    fn write(&self, own: &Path) -> Result<(), SyncError> {
        self.bases.write(own)?;
        Ok(self.manifest.write(own)?)
    }
}

/// What is done with one skill.
fn one(
    skill: &ShippedSkill,
    directory: Option<PathBuf>,
    own: &Path,
    known: &mut Known,
    report: &mut SyncReport,
) -> Result<(), SyncError> {
    let name = skill.name.clone();
    let origin = known.manifest.origin(&name).map(ToOwned::to_owned);
    match (origin, directory) {
        // Who threw an own one away does not get ours for it.
        (None, None) if known.manifest.is_own(&name) => report.deleted.push(name),
        (None, None) => {
            place::copy(own, skill)?;
            known.record(skill);
            report.copied.push(name);
        }
        (None, Some(_)) => {
            known.manifest.leave(skill);
            known.bases.forget(&name);
            report.kept.push(name);
        }
        (Some(_), None) => report.deleted.push(name),
        (Some(origin), Some(directory)) => {
            let local = files_of_directory(&directory);
            let hash = hash_of_files(&local);
            let base = known.bases.of(&name, &origin);
            if hash == skill.hash {
                known.record(skill);
            } else if hash == origin || place::is_torn(&directory) {
                place::swap(own, &directory, skill)?;
                known.record(skill);
                report.updated.push(name);
            } else if origin == skill.hash {
                report.modified.push(name);
            } else if let Some(merge) =
                base.and_then(|base| joined(base, &directory, &local, skill))
            {
                place::change(&directory, &merge)?;
                known.record(skill);
                report.merged.push(name.clone());
                report.modified.push(name);
            } else {
                report.conflicts.push(name.clone());
                report.modified.push(name);
            }
        }
    }
    Ok(())
}

/// The owner's changes on top of the newer one, if they go together and the result is a skill.
fn joined(
    base: &Base,
    directory: &Path,
    local: &BTreeMap<String, Vec<u8>>,
    skill: &ShippedSkill,
) -> Option<Merge> {
    let merge = merge::merge(base, local, &skill.files)?;
    let mut paths = merge.write.keys().chain(&merge.remove);
    if !paths.all(|path| place::is_plain(directory, path)) {
        return None;
    }
    match merge.write.get(SKILL_FILE) {
        Some(text) => check_text(std::str::from_utf8(text).ok()?, &skill.name).ok()?,
        None if merge.remove.contains(SKILL_FILE) => return None,
        None => {}
    }
    Some(merge)
}

/// What the categories are for, where nobody has said so yet.
fn describe(own: &Path, contents: &Contents) -> Result<(), SyncError> {
    let missing: BTreeMap<PathBuf, &Vec<u8>> = contents
        .descriptions
        .iter()
        .map(|(path, bytes)| (own.join(path), bytes))
        .filter(|(path, _)| !path.exists())
        .collect();
    for (path, bytes) in missing {
        // A category without a skill needs no description.
        if path.parent().is_some_and(Path::is_dir) {
            replace_file(&path, bytes)?;
        }
    }
    Ok(())
}
