//! Taking the skills of the program out of a home again.

use hermes_config::{create_directory, lock_file};

use super::manifest::Manifest;
use super::{LOCK, PATIENCE, SyncError, place};
use crate::library::Library;
use crate::shipped::hash_of_directory;

impl Library {
    /// Removes those that are as they came and forgets that they were here, so that they may come again.
    /// What its owner changed stays.
    pub fn remove_shipped(&self) -> Result<Vec<String>, SyncError> {
        let own = self.own();
        create_directory(&own)?;
        let Some(_held) = lock_file(&own.join(LOCK), PATIENCE)? else {
            return Err(SyncError::Busy);
        };
        let mut manifest = Manifest::read(&own)?;
        let mut contents = self.shipped().contents();
        let local = self.own_directories();
        let mut removed = Vec::new();
        for skill in &contents.skills {
            let (Some(origin), Some(directory)) =
                (manifest.origin(&skill.name), local.get(&skill.name))
            else {
                continue;
            };
            if hash_of_directory(directory) == origin {
                place::remove(directory)?;
                removed.push(skill.name.clone());
            }
        }
        contents
            .skills
            .retain(|skill| !removed.contains(&skill.name));
        manifest.retain(&contents);
        manifest.write(&own)?;
        self.forget();
        Ok(removed)
    }
}
