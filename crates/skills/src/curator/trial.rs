//! A run on a copy of all skills, to see what would come of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hermes_config::{Curator as Settings, create_directory, read_file, replace_file};

use super::backup::{pack, unpack};
use super::{Curator, CuratorError};
use crate::library::Library;

/// What a copy takes along besides the skills.
const BESIDES: [&str; 2] = ["skills/.hub/lock.json", "cron/jobs.json"];

/// A copy. It is gone when this is dropped.
pub struct Trial {
    home: PathBuf,
    library: Arc<Library>,
    curator: Curator,
}

impl Curator {
    /// Copies all skills to where nothing that happens to them counts.
    pub fn trial(&self) -> Result<Trial, CuratorError> {
        let own = self.own();
        let home = own
            .join(".sync")
            .join(format!("trial.{}", std::process::id()));
        let _ = fs::remove_dir_all(&home);
        let skills = home.join("skills");
        create_directory(&skills)?;
        let library = Arc::new(self.library.at(&home));
        let mut settings: Settings = self.settings.clone();
        // A copy of the copy helps nobody.
        settings.backup.enabled = false;
        let trial = Trial {
            curator: Curator::new(library.clone(), settings),
            library,
            home,
        };
        let archive = trial.home.join("skills.tar.gz");
        pack(&own, &archive)
            .and_then(|()| unpack(&archive, &skills))
            .map_err(|source| CuratorError::io(&archive, source))?;
        for file in BESIDES {
            if let Some(bytes) = read_file(&self.library.home().join(file))? {
                let place = trial.home.join(file);
                if let Some(above) = place.parent() {
                    create_directory(above)?;
                }
                replace_file(&place, &bytes)?;
            }
        }
        Ok(trial)
    }
}

impl Trial {
    /// The home of the copy.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The skills in it.
    pub fn library(&self) -> &Arc<Library> {
        &self.library
    }

    /// Who tidies them up.
    pub fn curator(&self) -> &Curator {
        &self.curator
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.home) {
            tracing::warn!(%error, "a copy of the skills was not removed");
        }
    }
}
