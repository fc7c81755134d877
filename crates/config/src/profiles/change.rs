//! Deleting and renaming.

use std::fs;
use std::io;

use super::error::ProfileError;
use super::{Made, Note, Profiles, WrapperError, Wrappers};
use crate::home::{Home, ProfileName};

impl Profiles {
    /// Fails when a profile cannot be deleted, so that nobody is asked in vain.
    pub fn check_delete(&self, name: &ProfileName) -> Result<Home, ProfileError> {
        self.movable(name, "deleted")
    }

    /// Deletes a profile with its wrappers; the default one is active again if this one was.
    pub fn delete(
        &self,
        name: &ProfileName,
        wrappers: &Wrappers,
    ) -> Result<Vec<Note>, ProfileError> {
        let home = self.movable(name, "deleted")?;
        let staging = self.staging()?;
        let was_active = self.active()?.as_ref() == Some(name);
        let removed = staging.path().join("profile");
        // From here on the profile is gone; what follows only tidies up.
        fs::rename(home.path(), &removed).map_err(ProfileError::disk(home.path()))?;
        if was_active {
            let pointer = self.root.active_profile_file();
            match fs::remove_file(&pointer) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    fs::rename(&removed, home.path()).map_err(ProfileError::disk(home.path()))?;
                    return Err(ProfileError::disk(&pointer)(error));
                }
                Ok(()) | Err(_) => {}
            }
        }
        let mut notes = Vec::new();
        for path in wrappers.of(&home) {
            if fs::remove_file(&path).is_err() {
                notes.push(Note::WrapperStays { path });
            }
        }
        Ok(notes)
    }

    /// Gives a profile another name; its wrappers and the choice of the active profile follow.
    pub fn rename(
        &self,
        old: &ProfileName,
        new: &ProfileName,
        wrappers: &Wrappers,
    ) -> Result<Made, ProfileError> {
        let from = self.movable(old, "renamed")?;
        let to = self.free_home_for_choice(new)?;
        let was_active = self.active()?.as_ref() == Some(old);
        let old_wrappers = wrappers.of(&from);
        fs::rename(from.path(), to.path()).map_err(ProfileError::disk(from.path()))?;
        if was_active && let Err(error) = self.root.activate(new) {
            fs::rename(to.path(), from.path()).map_err(ProfileError::disk(to.path()))?;
            return Err(error.into());
        }
        let mut notes = Vec::new();
        for path in old_wrappers {
            let own = path.file_name().is_some_and(|name| name == old.as_str());
            let name = match path.file_name().and_then(|name| name.to_str()) {
                Some(name) if !own => name.to_owned(),
                _ => new.as_str().to_owned(),
            };
            if fs::remove_file(&path).is_err() {
                notes.push(Note::WrapperStays { path });
                continue;
            }
            match wrappers.write(&name, &to) {
                Ok(_) => {}
                Err(ProfileError::Wrapper(error)) => notes.push(Note::NoWrapper(error)),
                // The profile has its new name already; only the wrapper is missing.
                Err(_) => notes.push(Note::NoWrapper(WrapperError::Unwritable { path })),
            }
        }
        Ok(Made { home: to, notes })
    }

    /// The home of a profile that may be moved away: not the root, and nothing runs in it.
    fn movable(&self, name: &ProfileName, done: &'static str) -> Result<Home, ProfileError> {
        if name.is_default() {
            return Err(ProfileError::Default { done });
        }
        let home = self.existing(name)?;
        match self.running_gateway(&home) {
            Some(pid) => Err(ProfileError::GatewayRunning {
                profile: name.clone(),
                pid,
            }),
            None => Ok(home),
        }
    }
}
