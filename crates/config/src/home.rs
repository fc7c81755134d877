//! Where everything of one user and one profile lives.

mod flag;
mod layout;
mod profile;

use std::path::{Path, PathBuf};

pub use flag::extract_profile_flag;
pub use profile::{ProfileName, ProfileNameError};

use crate::environment::{Environment, Variable};
use crate::files::{self, FileError};

/// The directory of the profiles inside a root.
const PROFILES: &str = "profiles";

/// The home of one profile. Making one creates nothing on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    root: PathBuf,
    path: PathBuf,
    profile: ProfileName,
}

/// Why no home could be found.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    #[error("neither HERMES_HOME nor HOME is set")]
    Nowhere,
    #[error("profile {profile} has no home at {}", path.display())]
    MissingProfile {
        profile: ProfileName,
        path: PathBuf,
        chosen_by: ChosenBy,
    },
    #[error("{} names no profile", path.display())]
    BadActiveProfile {
        path: PathBuf,
        #[source]
        source: ProfileNameError,
    },
    #[error(transparent)]
    File(#[from] FileError),
}

/// What picked a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChosenBy {
    /// `--profile` on the command line.
    Flag,
    /// `HERMES_HOME` points into `profiles/`.
    Environment,
    /// `hermes profile use`.
    ActiveProfile,
}

impl HomeError {
    /// What the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Nowhere => "set HERMES_HOME to a directory".to_owned(),
            Self::MissingProfile {
                profile, chosen_by, ..
            } => match chosen_by {
                ChosenBy::Flag => {
                    format!("hermes profile create {profile}, or hermes profile list")
                }
                ChosenBy::Environment => "HERMES_HOME points there; unset it".to_owned(),
                ChosenBy::ActiveProfile => "hermes -p default profile use default".to_owned(),
            },
            Self::BadActiveProfile { .. } => "hermes -p default profile use default".to_owned(),
            Self::File(error) => error.hint().to_owned(),
        }
    }
}

impl Home {
    /// Finds the home: an explicit profile, then `HERMES_HOME` if it is the home of a profile, then the
    /// active profile of the root, then `HERMES_HOME`, then `~/.hermes`.
    pub fn resolve(
        flag: Option<&ProfileName>,
        environment: &Environment,
    ) -> Result<Self, HomeError> {
        let given = environment
            .filled(&Variable::HERMES_HOME)
            .map(|path| expand_tilde(path, environment));
        let inside_profiles = given.as_deref().and_then(root_of_profile);
        let root = match (&given, &inside_profiles) {
            (_, Some((root, _))) => root.clone(),
            (Some(given), None) => given.clone(),
            (None, None) => environment
                .filled(&Variable::HOME)
                .map(|home| Path::new(home).join(".hermes"))
                .ok_or(HomeError::Nowhere)?,
        };
        if let Some(profile) = flag {
            return Self::of_flag(root, profile, environment);
        }
        if let Some((root, profile)) = inside_profiles {
            return Self::existing(root, profile, ChosenBy::Environment);
        }
        match Self::active(&root)? {
            Some(profile) => Self::existing(root, profile, ChosenBy::ActiveProfile),
            None => Ok(Self::of_root(root)),
        }
    }

    /// The home of the default profile of a root.
    pub fn of_root(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        Self {
            path: root.clone(),
            root,
            profile: ProfileName::default(),
        }
    }

    /// The home a profile of a root has, or would have.
    pub fn of_profile(root: impl Into<PathBuf>, profile: ProfileName) -> Self {
        let root = root.into();
        if profile.is_default() {
            return Self::of_root(root);
        }
        Self {
            path: root.join(PROFILES).join(profile.as_str()),
            root,
            profile,
        }
    }

    fn of_flag(
        root: PathBuf,
        profile: &ProfileName,
        environment: &Environment,
    ) -> Result<Self, HomeError> {
        let found = Self::existing(root, profile.clone(), ChosenBy::Flag);
        // Under sudo the profiles belong to the user who called it.
        match (&found, sudo_root(environment)) {
            (Err(HomeError::MissingProfile { .. }), Some(root)) => {
                Self::existing(root, profile.clone(), ChosenBy::Flag).or(found)
            }
            _ => found,
        }
    }

    /// A named profile must have its home: a typo must not start a new one.
    fn existing(
        root: PathBuf,
        profile: ProfileName,
        chosen_by: ChosenBy,
    ) -> Result<Self, HomeError> {
        let home = Self::of_profile(root, profile);
        if home.profile.is_default() || home.path.is_dir() {
            return Ok(home);
        }
        Err(HomeError::MissingProfile {
            profile: home.profile,
            path: home.path,
            chosen_by,
        })
    }

    fn active(root: &Path) -> Result<Option<ProfileName>, HomeError> {
        let path = root.join(layout::ACTIVE_PROFILE);
        let Some(bytes) = files::read(&path)? else {
            return Ok(None);
        };
        let text = String::from_utf8_lossy(&bytes);
        let name = text.trim();
        if name.is_empty() {
            return Ok(None);
        }
        ProfileName::new(name)
            .map(Some)
            .map_err(|source| HomeError::BadActiveProfile { path, source })
    }

    /// Makes a profile the one that is used when none is named.
    pub fn activate(&self, profile: &ProfileName) -> Result<(), FileError> {
        files::create_directory(&self.root)?;
        files::replace(
            &self.active_profile_file(),
            format!("{profile}\n").as_bytes(),
        )
    }

    /// The profiles of the root that have a home, the default one first.
    pub fn profiles(&self) -> Result<Vec<ProfileName>, FileError> {
        let directory = self.profiles_dir();
        let mut names: Vec<_> = files::names_of_directories(&directory)?
            .iter()
            .filter_map(|name| ProfileName::new(name).ok())
            .filter(|name| !name.is_default())
            .collect();
        names.sort();
        names.insert(0, ProfileName::default());
        Ok(names)
    }
}

fn root_of_profile(home: &Path) -> Option<(PathBuf, ProfileName)> {
    let parent = home.parent()?;
    if parent.file_name()? != PROFILES {
        return None;
    }
    let name = ProfileName::new(home.file_name()?.to_str()?).ok()?;
    Some((parent.parent()?.to_owned(), name))
}

fn expand_tilde(path: &str, environment: &Environment) -> PathBuf {
    match (path.strip_prefix("~/"), environment.filled(&Variable::HOME)) {
        (Some(rest), Some(home)) => Path::new(home).join(rest),
        _ => PathBuf::from(path),
    }
}

fn sudo_root(environment: &Environment) -> Option<PathBuf> {
    let user = environment.filled(&Variable::SUDO_USER)?;
    if user.contains('/') || user == "root" || user.starts_with('.') {
        return None;
    }
    ["/home", "/Users"]
        .iter()
        .map(|homes| Path::new(homes).join(user).join(".hermes"))
        .find(|root| root.is_dir())
}
