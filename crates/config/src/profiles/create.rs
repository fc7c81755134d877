//! New profiles.

use std::fs;
use std::path::Path;

use super::copy::Copying;
use super::error::ProfileError;
use super::{Made, Note, Profiles, card, private};
use crate::files;
use crate::home::{Home, ProfileName};

const DIRECTORIES: [&str; 9] = [
    "memories",
    "sessions",
    "skills",
    "skins",
    "logs",
    "plans",
    "workspace",
    "cron",
    "home",
];
const CLONED: [&str; 6] = [
    "config.yaml",
    ".env",
    "SOUL.md",
    "skills",
    "memories/MEMORY.md",
    "memories/USER.md",
];
const NO_BUNDLED_SKILLS: &str = ".no-bundled-skills";
const SOUL: &str = "\
You are Hermes, the personal agent of one person. Find out what they want, do it, and say plainly what you
did and what you could not do. Be brief, be honest, ask when a guess could do harm.

<!-- This is the persona of the profile. Change it as you like; an empty file means the built-in one. -->
";
const ENV: &str =
    "# Keys of this profile, one NAME=value a line. hermes config set NAME VALUE writes here.\n";

/// A profile that is to be made.
#[derive(Debug, Clone)]
pub struct NewProfile {
    pub name: ProfileName,
    pub contents: Contents,
    pub skills: BundledSkills,
    pub description: Option<String>,
}

/// What a new profile starts with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Contents {
    Fresh,
    /// Settings, keys, persona, skills and memories of another profile.
    SettingsOf(ProfileName),
    /// All of another profile but its history and the state of running programs.
    EverythingOf(ProfileName),
}

/// Whether a profile gets the skills that come with the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BundledSkills {
    Wanted,
    Refused,
}

impl Profiles {
    /// Makes a profile, or leaves everything as it was.
    pub fn create(&self, new: &NewProfile) -> Result<Made, ProfileError> {
        let home = self.free_home_for_choice(&new.name)?;
        let source = match &new.contents {
            Contents::Fresh => None,
            Contents::SettingsOf(source) | Contents::EverythingOf(source) => {
                Some(self.existing(source)?)
            }
        };
        let staging = self.staging()?;
        let staged = staging.path().join("profile");
        files::create_directory(&staged)?;
        let notes = match (&new.contents, &source) {
            (Contents::SettingsOf(_), Some(source)) => clone_settings(source, &staged)?,
            (Contents::EverythingOf(_), Some(source)) => clone_everything(source, &staged)?,
            (Contents::Fresh | Contents::SettingsOf(_) | Contents::EverythingOf(_), _) => {
                Vec::new()
            }
        };
        if !matches!(new.contents, Contents::EverythingOf(_)) {
            furnish(&staged)?;
        }
        if new.skills == BundledSkills::Refused {
            files::replace(&staged.join(NO_BUNDLED_SKILLS), b"")?;
        }
        if let Some(description) = &new.description {
            card::describe(&staged, description)?;
        }
        self.settle(&staged, &home)?;
        Ok(Made { home, notes })
    }
}

/// Adds the directories and files every profile has, where they are missing.
pub(super) fn furnish(profile: &Path) -> Result<(), ProfileError> {
    for name in DIRECTORIES {
        files::create_directory(&profile.join(name))?;
    }
    for (name, text) in [(".env", ENV), ("SOUL.md", SOUL)] {
        let path = profile.join(name);
        if fs::symlink_metadata(&path).is_err() {
            files::replace(&path, text.as_bytes())?;
        }
    }
    Ok(())
}

fn clone_settings(source: &Home, to: &Path) -> Result<Vec<Note>, ProfileError> {
    let mut copying = Copying {
        from: source.path(),
        to,
        notes: Vec::new(),
    };
    for part in CLONED {
        copying.copy(Path::new(part), |path| !private::is_scrap(path))?;
    }
    Ok(copying.notes)
}

fn clone_everything(source: &Home, to: &Path) -> Result<Vec<Note>, ProfileError> {
    let mut copying = Copying {
        from: source.path(),
        to,
        notes: Vec::new(),
    };
    let is_root = source.profile().is_default();
    copying.copy(Path::new(""), |path| {
        let stays = private::is_scrap(path)
            || private::is_history(path)
            || private::is_running_state(path)
            || (is_root && private::belongs_to_root(path));
        !stays
    })?;
    Ok(copying.notes)
}
