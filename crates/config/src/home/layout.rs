//! The files and directories of a home. All of them are made when first needed.

use std::path::{Path, PathBuf};

use super::{ChosenBy, Home, HomeError, PROFILES, ProfileName};
use crate::files;

pub(super) const ACTIVE_PROFILE: &str = "active_profile";

impl Home {
    /// The directory that holds the default profile and all others.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The directory of this profile.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn profile(&self) -> &ProfileName {
        &self.profile
    }

    /// Makes a directory of the home, open to its owner only, unless it is there.
    ///
    /// The home of a named profile is never made this way: when it is gone, that is an error.
    pub fn create(&self, directory: &Path) -> Result<(), HomeError> {
        if !self.profile.is_default() && !self.path.is_dir() {
            return Err(HomeError::MissingProfile {
                profile: self.profile.clone(),
                path: self.path.clone(),
                chosen_by: ChosenBy::Flag,
            });
        }
        Ok(files::create_directory(directory)?)
    }

    pub fn config_file(&self) -> PathBuf {
        self.path.join("config.yaml")
    }

    pub fn env_file(&self) -> PathBuf {
        self.path.join(".env")
    }

    /// OAuth tokens and credential pools.
    pub fn auth_file(&self) -> PathBuf {
        self.path.join("auth.json")
    }

    pub fn memories_dir(&self) -> PathBuf {
        self.path.join("memories")
    }

    /// Changes of memory and skills that wait for a yes.
    pub fn pending_dir(&self) -> PathBuf {
        self.path.join("pending")
    }

    pub fn skills_dir(&self) -> PathBuf {
        self.path.join("skills")
    }

    pub fn plugins_dir(&self) -> PathBuf {
        self.path.join("plugins")
    }

    pub fn cron_dir(&self) -> PathBuf {
        self.path.join("cron")
    }

    pub fn logs_dir(&self) -> PathBuf {
        self.path.join("logs")
    }

    pub fn cache_dir(&self) -> PathBuf {
        self.path.join("cache")
    }

    /// Sessions of the reference, imported and never written.
    pub fn reference_database(&self) -> PathBuf {
        self.path.join("state.db")
    }

    /// Sessions, messages, queues and everything else of our own.
    pub fn database(&self) -> PathBuf {
        self.path.join("hermes.db")
    }

    /// Media, stored by hash.
    pub fn blobs_dir(&self) -> PathBuf {
        self.path.join("blobs")
    }

    /// Present when a package manager owns the installation.
    pub fn managed_marker(&self) -> PathBuf {
        self.path.join(".managed")
    }

    pub fn profiles_dir(&self) -> PathBuf {
        self.root.join(PROFILES)
    }

    /// Names the profile that is used when none is named.
    pub fn active_profile_file(&self) -> PathBuf {
        self.root.join(ACTIVE_PROFILE)
    }
}
