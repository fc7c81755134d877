//! The profiles of one root: making, copying, moving, packing and installing them.
//!
//! Everything is built in a staged directory beside the profiles and put in place with one rename, so that a
//! failure or a crash leaves what was there before. Nothing here asks, prints or starts a program.

mod card;
mod change;
mod config_secrets;
mod copy;
mod create;
mod distribution;
mod error;
mod export;
mod gateway;
mod import;
mod install;
mod member;
mod note;
mod payload;
mod private;
mod staging;
mod update;
mod wrapper;

use std::fs;
use std::path::Path;

pub use create::{BundledSkills, Contents, NewProfile};
pub use distribution::{Distribution, DistributionError, EnvRequirement};
pub use error::ProfileError;
pub use export::Exported;
pub use import::{Imported, LARGEST_ARCHIVE_FILE, Renamed};
pub use member::{ArchiveError, MemberFault};
pub use note::Note;
pub use payload::Payload;
pub use staging::Staging;
pub use update::ConfigFile;
pub use wrapper::{WrapperError, Wrappers, can_be_wrapper};

use crate::files;
use crate::home::{Home, ProfileName, ProfileNameError};
use crate::value::KeyPath;
use crate::yaml::Document;

/// What was made, and what about it the user should know.
#[derive(Debug)]
pub struct Made {
    pub home: Home,
    pub notes: Vec<Note>,
}

/// The profiles of a root.
#[derive(Debug, Clone)]
pub struct Profiles {
    root: Home,
}

impl Profiles {
    /// The profiles beside the given one.
    pub fn of(home: &Home) -> Self {
        Self {
            root: Home::of_root(home.root()),
        }
    }

    /// Every profile that has a home, the default one first.
    pub fn names(&self) -> Result<Vec<ProfileName>, ProfileError> {
        let mut names = self.root.profiles()?;
        // A directory whose name is not in lower case is no profile.
        names.retain(|name| self.existing(name).is_ok());
        Ok(names)
    }

    /// The home of a profile that is there.
    pub fn existing(&self, name: &ProfileName) -> Result<Home, ProfileError> {
        let home = self.home_of(name);
        if name.is_default() || home.path().is_dir() {
            return Ok(home);
        }
        Err(ProfileError::Missing {
            profile: name.clone(),
        })
    }

    /// The profile that is used when none is named; `None` when no choice was stored.
    pub fn active(&self) -> Result<Option<ProfileName>, ProfileError> {
        let bytes = files::read(&self.root.active_profile_file())?.unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        Ok(ProfileName::new(text.trim()).ok())
    }

    /// Makes a profile the one that is used when none is named.
    pub fn activate(&self, name: &ProfileName) -> Result<Home, ProfileError> {
        let home = self.existing(name)?;
        self.root.activate(name)?;
        Ok(home)
    }

    /// The process id of the gateway that runs on a profile.
    pub fn running_gateway(&self, home: &Home) -> Option<i32> {
        gateway::running(home.path())
    }

    /// What a profile is for, as stored in its `profile.yaml`.
    pub fn description(&self, home: &Home) -> Result<Option<String>, ProfileError> {
        card::description(home.path())
    }

    /// Stores what a profile is for; an empty text takes it away.
    pub fn describe(&self, home: &Home, text: &str) -> Result<(), ProfileError> {
        card::describe(home.path(), text)
    }

    /// The model a profile's own `config.yaml` names.
    pub fn model(&self, home: &Home) -> Option<String> {
        let bytes = files::read(&home.config_file()).ok()??;
        let config = Document::new(String::from_utf8(bytes).ok()?)
            .ok()?
            .value()
            .ok()?;
        let model = config
            .at(&KeyPath::of(["model", "default"]))
            .or_else(|| config.child("model"))?;
        let name = model.value.as_text()?;
        (!name.is_empty()).then(|| name.to_owned())
    }

    /// How many skills a profile has of its own.
    pub fn skill_count(&self, home: &Home) -> usize {
        let mut count = 0;
        let mut open = vec![(home.skills_dir(), 0)];
        while let Some((directory, depth)) = open.pop() {
            for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
                let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if !is_directory || entry.file_name().to_string_lossy().starts_with('.') {
                    continue;
                }
                if entry.path().join("SKILL.md").is_file() {
                    count += 1;
                } else if depth < DEEPEST_SKILL {
                    open.push((entry.path(), depth + 1));
                }
            }
        }
        count
    }

    /// A directory beside the profiles that goes away with the value, for work that is not finished.
    pub fn staging(&self) -> Result<Staging, ProfileError> {
        Staging::new(&self.root.profiles_dir())
    }

    fn home_of(&self, name: &ProfileName) -> Home {
        Home::of_profile(self.root.root(), name.clone())
    }

    /// Where a profile will live whose name somebody chose just now: it may not be a command's, because
    /// such a profile could have no wrapper. Archives of the reference may bring such names.
    fn free_home_for_choice(&self, name: &ProfileName) -> Result<Home, ProfileError> {
        if !can_be_wrapper(name.as_str()) {
            let name = name.to_string();
            return Err(ProfileNameError::Reserved { name }.into());
        }
        self.free_home(name)
    }

    /// Where a profile that is to be made will live.
    fn free_home(&self, name: &ProfileName) -> Result<Home, ProfileError> {
        let name = ProfileName::for_creation(name.as_str())?;
        let home = self.home_of(&name);
        if fs::symlink_metadata(home.path()).is_ok() {
            return Err(ProfileError::Exists { profile: name });
        }
        Ok(home)
    }

    /// Puts a finished directory in its place.
    fn settle(&self, staged: &Path, home: &Home) -> Result<(), ProfileError> {
        // Somebody may have been faster; a directory with something in it is never replaced.
        if fs::symlink_metadata(home.path()).is_ok() {
            return Err(ProfileError::Exists {
                profile: home.profile().clone(),
            });
        }
        fs::rename(staged, home.path()).map_err(ProfileError::disk(home.path()))
    }
}

/// Skills may stand in categories, which may stand in categories.
const DEEPEST_SKILL: usize = 3;
