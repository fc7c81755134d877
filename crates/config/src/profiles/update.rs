//! Bringing an installed distribution up to date.
//!
//! The new files are staged first. Then each is put in place with a rename; a file the user changed is kept
//! beside it as `.bak`. When one of the steps fails, the ones before it are taken back.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::copy::copy_file;
use super::distribution::{ENV_EXAMPLE, MANIFEST};
use super::error::ProfileError;
use super::install::{Ledger, hash, left_out, read_ledger, stage, write_ledger};
use super::{Made, Note, Payload, Profiles, Staging};
use crate::files;
use crate::home::ProfileName;

const MOST_COPIES: usize = 1000;

/// What happens to the settings of an installed profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigFile {
    Kept,
    Replaced,
}

impl Profiles {
    /// Replaces what a distribution brought by its newer files; what the user made stays.
    pub fn update(
        &self,
        payload: &Payload,
        name: &ProfileName,
        source: &str,
        config: ConfigFile,
    ) -> Result<Made, ProfileError> {
        let home = self.existing(name)?;
        let staging = Staging::new(home.path())?;
        let (new, old) = (staging.path().join("new"), staging.path().join("old"));
        files::create_directory(&new)?;
        let mut ledger = stage(payload, source, &new)?;
        let before = read_ledger(home.path())?;
        let mut replacing = Replacing {
            home: home.path(),
            new: &new,
            old: &old,
            moved: Vec::new(),
            placed: Vec::new(),
            notes: left_out(payload),
        };
        let config_file = Path::new("config.yaml");
        let keeps_config = config == ConfigFile::Kept && home.config_file().exists();
        if keeps_config {
            // Still the author's when the user never touched it.
            match before.get(config_file) {
                Some(hash) => ledger.insert(config_file.to_owned(), hash.clone()),
                None => ledger.remove(config_file),
            };
        }
        let mut paths: Vec<PathBuf> = payload.files.clone();
        paths.retain(|path| !keeps_config || path != config_file);
        let replaced = replacing
            .files(&paths, &before)
            .and_then(|()| replacing.remove_dropped(&before, &ledger))
            .and_then(|()| replacing.records())
            .and_then(|()| write_ledger(home.path(), &ledger));
        if let Err(error) = replaced {
            replacing.take_back();
            return Err(error);
        }
        Ok(Made {
            notes: replacing.notes,
            home,
        })
    }
}

struct Replacing<'a> {
    home: &'a Path,
    new: &'a Path,
    old: &'a Path,
    moved: Vec<PathBuf>,
    placed: Vec<PathBuf>,
    notes: Vec<Note>,
}

impl Replacing<'_> {
    fn files(&mut self, paths: &[PathBuf], before: &Ledger) -> Result<(), ProfileError> {
        for relative in paths {
            let place = self.home.join(relative);
            self.check_way(relative)?;
            if place.is_file() && !place.is_symlink() {
                let found = hash(&place)?;
                if found == hash(&self.new.join(relative))? {
                    continue;
                }
                if before.get(relative) != Some(&found) {
                    self.keep_aside(relative)?;
                }
            }
            self.replace(relative)?;
        }
        Ok(())
    }

    /// Removes what the distribution no longer brings, unless the user changed it.
    fn remove_dropped(&mut self, before: &Ledger, now: &Ledger) -> Result<(), ProfileError> {
        for (relative, installed) in before {
            let place = self.home.join(relative);
            let is_known = now.contains_key(relative) || relative == Path::new("config.yaml");
            if is_known || self.check_way(relative).is_err() || !place.is_file() {
                continue;
            }
            if !place.is_symlink() && hash(&place)? == *installed {
                self.move_away(relative)?;
            }
        }
        Ok(())
    }

    fn records(&mut self) -> Result<(), ProfileError> {
        self.replace(Path::new(MANIFEST))?;
        if self.new.join(ENV_EXAMPLE).exists() {
            self.replace(Path::new(ENV_EXAMPLE))?;
        }
        Ok(())
    }

    /// No directory on the way may be a link: it could lead anywhere.
    fn check_way(&self, relative: &Path) -> Result<(), ProfileError> {
        for above in relative.ancestors().skip(1) {
            let path = self.home.join(above);
            match fs::symlink_metadata(&path) {
                Ok(found) if found.is_dir() || above.as_os_str().is_empty() => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Ok(_) | Err(_) => {
                    let error = io::Error::from(io::ErrorKind::NotADirectory);
                    return Err(ProfileError::disk(&path)(error));
                }
            }
        }
        Ok(())
    }

    fn keep_aside(&mut self, relative: &Path) -> Result<(), ProfileError> {
        let name = relative.to_string_lossy();
        let aside = (0..MOST_COPIES)
            .map(|number| match number {
                0 => PathBuf::from(format!("{name}.bak")),
                number => PathBuf::from(format!("{name}.bak.{number}")),
            })
            .find(|aside| fs::symlink_metadata(self.home.join(aside)).is_err())
            .ok_or_else(|| io::Error::from(io::ErrorKind::AlreadyExists))
            .map_err(ProfileError::disk(&self.home.join(relative)))?;
        copy_file(&self.home.join(relative), &self.home.join(&aside))?;
        self.placed.push(aside.clone());
        self.notes.push(Note::KeptAside {
            path: relative.to_owned(),
            aside,
        });
        Ok(())
    }

    fn replace(&mut self, relative: &Path) -> Result<(), ProfileError> {
        if fs::symlink_metadata(self.home.join(relative)).is_ok() {
            self.move_away(relative)?;
        }
        rename(&self.new.join(relative), &self.home.join(relative))?;
        self.placed.push(relative.to_owned());
        Ok(())
    }

    fn move_away(&mut self, relative: &Path) -> Result<(), ProfileError> {
        rename(&self.home.join(relative), &self.old.join(relative))?;
        self.moved.push(relative.to_owned());
        Ok(())
    }

    /// Puts everything back. The first error is the one that is reported, so later ones are not.
    fn take_back(&mut self) {
        for relative in self.placed.drain(..) {
            let _ = fs::remove_file(self.home.join(relative));
        }
        for relative in self.moved.drain(..) {
            let _ = rename(&self.old.join(&relative), &self.home.join(&relative));
        }
    }
}

fn rename(from: &Path, to: &Path) -> Result<(), ProfileError> {
    if let Some(directory) = to.parent() {
        files::create_directory(directory)?;
    }
    fs::rename(from, to).map_err(ProfileError::disk(to))
}
