//! The files a distribution brings.

use std::fs;
use std::path::{Path, PathBuf};

use super::copy::children;
use super::distribution::{ENV_EXAMPLE, MANIFEST};
use super::error::ProfileError;
use super::import::{LARGEST_ARCHIVE_FILE, LARGEST_ARCHIVE_TOTAL, MOST_ARCHIVE_ENTRIES};
use super::private;
use super::{Distribution, DistributionError};

/// What belongs to the user, whatever a distribution says.
const USER_OWNED: [&str; 9] = [
    ".distribution.json",
    "home",
    "local",
    "memories",
    "plans",
    "profile.yaml",
    "profiles",
    "sessions",
    "workspace",
];

/// A distribution that was looked through and may be installed.
#[derive(Debug)]
pub struct Payload {
    pub manifest: Distribution,
    pub(super) directory: PathBuf,
    /// Relative paths of files, in order.
    pub(super) files: Vec<PathBuf>,
    /// What it holds and will not be installed.
    pub ignored: Vec<PathBuf>,
}

impl Payload {
    /// Looks through a directory. Links, devices and endless trees are refused as a whole.
    pub fn read(directory: &Path) -> Result<Self, ProfileError> {
        let manifest =
            Distribution::read(directory)?.ok_or_else(|| DistributionError::NoManifest {
                directory: directory.to_owned(),
            })?;
        let mut payload = Self {
            manifest,
            directory: directory.to_owned(),
            files: Vec::new(),
            ignored: Vec::new(),
        };
        payload.walk()?;
        payload.files.sort();
        payload.ignored.sort();
        Ok(payload)
    }

    /// The top names of what will be installed, for people to look at.
    pub fn contents(&self) -> Vec<String> {
        let mut names: Vec<_> = self
            .files
            .iter()
            .filter_map(|path| path.iter().next())
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        names.dedup();
        names
    }

    fn walk(&mut self) -> Result<(), ProfileError> {
        let (mut entries, mut bytes) = (0, 0_u64);
        let mut open = vec![PathBuf::new()];
        while let Some(relative) = open.pop() {
            for name in children(&self.directory.join(&relative))? {
                let relative = relative.join(name);
                if relative == Path::new(".git") {
                    continue;
                }
                let path = self.directory.join(&relative);
                let found = fs::symlink_metadata(&path).map_err(ProfileError::disk(&path))?;
                entries += 1;
                bytes = bytes.saturating_add(found.len());
                if entries > MOST_ARCHIVE_ENTRIES
                    || bytes > LARGEST_ARCHIVE_TOTAL
                    || found.len() > LARGEST_ARCHIVE_FILE
                {
                    return Err(DistributionError::TooLarge.into());
                }
                if found.is_symlink() {
                    return Err(DistributionError::Link { path: relative }.into());
                } else if found.is_dir() {
                    if private::is_private_directory(&relative, &path) || is_users(&relative) {
                        self.ignored.push(relative);
                    } else {
                        open.push(relative);
                    }
                } else if !found.is_file() {
                    return Err(DistributionError::Special { path: relative }.into());
                } else if self.brings(&relative) {
                    self.files.push(relative);
                } else if relative != Path::new(MANIFEST) {
                    self.ignored.push(relative);
                }
            }
        }
        Ok(())
    }

    fn brings(&self, file: &Path) -> bool {
        let is_owned = self
            .manifest
            .owned
            .iter()
            .any(|owned| file.starts_with(owned));
        let is_made_by_us = file == Path::new(MANIFEST) || file == Path::new(ENV_EXAMPLE);
        is_owned
            && !is_made_by_us
            && !is_users(file)
            && !private::is_private_file(file)
            && !private::is_foreign_grant(file)
    }
}

fn is_users(path: &Path) -> bool {
    let top = path
        .iter()
        .next()
        .map(|name| name.to_string_lossy().to_lowercase());
    top.is_some_and(|top| USER_OWNED.contains(&top.as_str()))
}
