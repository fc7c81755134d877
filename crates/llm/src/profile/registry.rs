//! All profiles: the user's over the built-in ones, each read when it is first asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hermes_config::read_file;

use super::built_in::BUILT_IN;
use super::{Profile, ProfileError};

const FILE: &str = "profile.yaml";

/// The known providers.
///
/// Asking for an id reads one file. Asking by alias, or for all, reads every one, which takes about as
/// long as drawing a prompt.
#[derive(Debug, Default)]
pub struct Profiles {
    directory: Option<PathBuf>,
    read: Mutex<BTreeMap<String, Arc<Profile>>>,
}

impl Profiles {
    /// The built-in profiles, and those in `<directory>/<id>/profile.yaml`.
    pub fn new(directory: Option<PathBuf>) -> Self {
        Self {
            directory,
            read: Mutex::default(),
        }
    }

    /// The ids of the built-in providers, in the order `auto` tries them.
    pub fn built_in() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(id, _)| *id)
    }

    /// The profile with this id.
    pub fn get(&self, id: &str) -> Result<Option<Arc<Profile>>, ProfileError> {
        if let Some(profile) = self.lock().get(id) {
            return Ok(Some(Arc::clone(profile)));
        }
        let profile = match self.of_user(id)? {
            Some(profile) => Some(profile),
            None => BUILT_IN
                .iter()
                .find(|(known, _)| *known == id)
                .map(|(_, text)| Profile::parse(text, &format!("built-in profile {id}")))
                .transpose()?,
        };
        Ok(profile.map(|profile| {
            let profile = Arc::new(profile);
            self.lock().insert(id.to_owned(), Arc::clone(&profile));
            profile
        }))
    }

    /// The profile with this id or alias.
    pub fn find(&self, name: &str) -> Result<Option<Arc<Profile>>, ProfileError> {
        if let Some(profile) = self.get(name)? {
            return Ok(Some(profile));
        }
        let all = self.all()?;
        Ok(all
            .into_iter()
            .find(|profile| profile.aliases.iter().any(|alias| alias == name)))
    }

    /// The profile of who goes by this id in routes: a provider, or one of the places of a provider. An endpoint of the
    /// user's own has none of its own.
    pub fn of_route(&self, id: &str) -> Result<Option<Arc<Profile>>, ProfileError> {
        match id.contains(':') {
            true => Ok(None),
            false => self.find(id),
        }
    }

    /// The profiles that a host may belong to. Reads only those whose text has a name the host ends with:
    /// an address of the user's own needs none of them.
    pub fn near(&self, host: &str) -> Result<Vec<Arc<Profile>>, ProfileError> {
        let mut near = Vec::new();
        for (id, text) in BUILT_IN {
            if mentions(text, host) {
                near.extend(self.get(id)?);
            }
        }
        for id in self.directories()? {
            near.extend(self.get(&id)?);
        }
        Ok(near)
    }

    /// Every profile: built-in ones first, in the order `auto` tries them.
    pub fn all(&self) -> Result<Vec<Arc<Profile>>, ProfileError> {
        let mut all = Vec::with_capacity(BUILT_IN.len());
        for id in Self::built_in() {
            all.extend(self.get(id)?);
        }
        for id in self.directories()? {
            if Self::built_in().all(|known| known != id) {
                all.extend(self.get(&id)?);
            }
        }
        Ok(all)
    }

    /// The variables in which the user's own profiles look for keys.
    pub fn own_key_names(&self) -> BTreeSet<String> {
        self.key_names_of(self.directories().unwrap_or_default())
    }

    /// The variables in which all profiles look for keys.
    pub fn key_names(&self) -> BTreeSet<String> {
        let mut names = self.own_key_names();
        names.extend(self.key_names_of(Self::built_in().map(str::to_owned)));
        names
    }

    /// One that cannot be read is met where its provider is asked for.
    fn key_names_of(&self, ids: impl IntoIterator<Item = String>) -> BTreeSet<String> {
        let profiles = ids
            .into_iter()
            .filter_map(|id| self.get(&id).ok().flatten());
        profiles
            .flat_map(|profile| {
                let rules = profile.rules.iter().flat_map(|rule| &rule.key_env);
                rules.chain(&profile.key_env).cloned().collect::<Vec<_>>()
            })
            .collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Arc<Profile>>> {
        // The map is whole after any panic: entries are only ever added.
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn of_user(&self, id: &str) -> Result<Option<Profile>, ProfileError> {
        let is_name = !id.is_empty() && !id.starts_with('.') && !id.contains(['/', '\\', ':']);
        let Some(directory) = self.directory.as_deref().filter(|_| is_name) else {
            return Ok(None);
        };
        let path = directory.join(id).join(FILE);
        let Some(bytes) = read_file(&path)? else {
            return Ok(None);
        };
        let file = path.display().to_string();
        let profile = Profile::parse(&String::from_utf8_lossy(&bytes), &file)?;
        if profile.id == id {
            Ok(Some(profile))
        } else {
            Err(ProfileError::Misplaced {
                file,
                id: profile.id,
                directory: id.to_owned(),
            })
        }
    }

    /// The names of the user's directories that hold a profile, sorted.
    fn directories(&self) -> Result<Vec<String>, ProfileError> {
        let Some(directory) = &self.directory else {
            return Ok(Vec::new());
        };
        let fault = |source| ProfileError::Directory {
            directory: directory.display().to_string(),
            source,
        };
        let entries = match std::fs::read_dir(directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(fault(error)),
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(fault)?;
            if is_profile(&entry.path())
                && let Ok(name) = entry.file_name().into_string()
            {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }
}

/// Whether a text has the host or a domain above it. A name without a dot stands everywhere.
fn mentions(text: &str, host: &str) -> bool {
    if host.parse::<IpAddr>().is_ok() {
        return text.contains(host);
    }
    let starts = host.match_indices('.').map(|(at, dot)| at + dot.len());
    std::iter::once(0)
        .chain(starts)
        .filter_map(|start| host.get(start..))
        .filter(|name| name.contains('.'))
        .any(|name| text.contains(name))
}

fn is_profile(directory: &Path) -> bool {
    directory.join(FILE).is_file()
}
