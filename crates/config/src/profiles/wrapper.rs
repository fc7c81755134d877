//! Small programs that run Hermes with one profile.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::error::ProfileError;
use crate::environment::{Environment, Variable};
use crate::home::{Home, ProfileName};

/// Names that mean something to `hermes` itself.
const COMMANDS: &[&str] = &[
    "acp",
    "auth",
    "backup",
    "bundles",
    "chat",
    "checkpoints",
    "claw",
    "completion",
    "config",
    "cron",
    "curator",
    "dashboard",
    "debug",
    "doctor",
    "dump",
    "fallback",
    "gateway",
    "hooks",
    "honcho",
    "import",
    "insights",
    "kanban",
    "login",
    "logout",
    "logs",
    "mcp",
    "memory",
    "migrate",
    "moa",
    "model",
    "pairing",
    "plugins",
    "portal",
    "profile",
    "secrets",
    "security",
    "send",
    "serve",
    "sessions",
    "setup",
    "skills",
    "slack",
    "status",
    "tools",
    "uninstall",
    "update",
    "version",
    "webhook",
    "whatsapp",
];
const HEAD: &str =
    "#!/bin/sh\n# Runs one profile of Hermes. Written and removed by `hermes profile`.\n";
const LARGEST: u64 = 16 * 1024;
const PROGRAM: u32 = 0o755;

/// Why there is no wrapper.
#[derive(Debug, thiserror::Error)]
pub enum WrapperError {
    #[error("HOME is not set, so there is no place for it")]
    NoPlace,
    #[error("{name} cannot be the name of a wrapper")]
    Reserved { name: String },
    #[error("{} is something else and stays as it is", path.display())]
    Taken { path: PathBuf },
    #[error("{name} would hide {}", program.display())]
    Hides { name: String, program: PathBuf },
    #[error("{} could not be written", path.display())]
    Unwritable { path: PathBuf },
    #[error("{} is not there", path.display())]
    Missing { path: PathBuf },
}

impl WrapperError {
    /// What the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NoPlace => "set HOME".to_owned(),
            Self::Reserved { .. } | Self::Taken { .. } | Self::Hides { .. } => {
                "hermes profile alias PROFILE --name OTHER chooses another name".to_owned()
            }
            Self::Unwritable { .. } => "hermes profile alias PROFILE tries again".to_owned(),
            Self::Missing { .. } => {
                "hermes profile show PROFILE says which ones there are".to_owned()
            }
        }
    }
}

/// Whether a wrapper may have this name: it is no command of ours and no reserved name.
pub fn can_be_wrapper(name: &str) -> bool {
    ProfileName::for_creation(name).is_ok() && !COMMANDS.contains(&name.to_lowercase().as_str())
}

/// The wrappers in `~/.local/bin`.
#[derive(Debug, Clone)]
pub struct Wrappers {
    directory: Option<PathBuf>,
    search: Vec<PathBuf>,
    program: PathBuf,
}

impl Wrappers {
    /// `program` is the binary the wrappers start.
    pub fn new(environment: &Environment, program: PathBuf) -> Self {
        let directory = environment
            .filled(&Variable::HOME)
            .map(|home| Path::new(home).join(".local/bin"));
        let search = environment
            .get(&Variable::PATH)
            .unwrap_or_default()
            .split(':');
        Self {
            directory,
            search: search
                .filter(|part| !part.is_empty())
                .map(PathBuf::from)
                .collect(),
            program,
        }
    }

    /// Whether a shell finds them by name.
    pub fn are_on_path(&self) -> bool {
        self.directory
            .as_ref()
            .is_some_and(|directory| self.search.contains(directory))
    }

    /// Writes a wrapper for a profile. A file there that is not one of the same profile is left alone.
    pub fn write(&self, name: &str, home: &Home) -> Result<PathBuf, ProfileError> {
        let path = self.place(name)?;
        if let Some(program) = self.hidden_by(name) {
            let name = name.to_owned();
            return Err(WrapperError::Hides { name, program }.into());
        }
        let replaces = match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(ProfileError::disk(&path)(error)),
            Ok(_) if is_wrapper_of(&path, home) => true,
            Ok(_) => return Err(WrapperError::Taken { path }.into()),
        };
        let temporary = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
        let put = self
            .write_beside(&temporary, home)
            .and_then(|()| match replaces {
                true => fs::rename(&temporary, &path),
                // A link fails where a rename would replace what somebody put there meanwhile.
                false => fs::hard_link(&temporary, &path),
            });
        // After a rename it is gone already.
        let _ = fs::remove_file(&temporary);
        put.map_err(ProfileError::disk(&path))?;
        Ok(path)
    }

    /// Removes a wrapper of a profile.
    pub fn remove(&self, name: &str, home: &Home) -> Result<PathBuf, ProfileError> {
        let path = self.place(name)?;
        if fs::symlink_metadata(&path).is_err() {
            return Err(WrapperError::Missing { path }.into());
        }
        if !is_wrapper_of(&path, home) {
            return Err(WrapperError::Taken { path }.into());
        }
        fs::remove_file(&path).map_err(ProfileError::disk(&path))?;
        Ok(path)
    }

    /// Every wrapper of a profile, in order.
    pub fn of(&self, home: &Home) -> Vec<PathBuf> {
        let entries = self.directory.as_ref().map(fs::read_dir);
        let mut paths: Vec<_> = entries
            .into_iter()
            .flatten()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| is_wrapper_of(path, home))
            .collect();
        paths.sort();
        paths
    }

    fn place(&self, name: &str) -> Result<PathBuf, ProfileError> {
        let directory = self.directory.as_ref().ok_or(WrapperError::NoPlace)?;
        if !can_be_wrapper(name) {
            let name = name.to_owned();
            return Err(WrapperError::Reserved { name }.into());
        }
        Ok(directory.join(name.to_lowercase()))
    }

    /// A program of the same name that the shell would no longer find.
    fn hidden_by(&self, name: &str) -> Option<PathBuf> {
        self.search
            .iter()
            .filter(|part| Some(*part) != self.directory.as_ref())
            .map(|part| part.join(name))
            .find(|path| {
                fs::metadata(path)
                    .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
            })
    }

    fn write_beside(&self, path: &Path, home: &Home) -> io::Result<()> {
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(PROGRAM)
            .open(path)?;
        let program = quoted(&self.program);
        let text = format!("{}{program}{}", before(home), after(home));
        file.write_all(text.as_bytes())?;
        // The umask of the user may have taken bits away.
        file.set_permissions(fs::Permissions::from_mode(PROGRAM))?;
        file.sync_all()
    }
}

/// Whether a file is a wrapper of this very profile, of this very root.
fn is_wrapper_of(path: &Path, home: &Home) -> bool {
    let read = || {
        let mut text = String::new();
        let found = fs::symlink_metadata(path)?;
        if found.is_file() && found.len() <= LARGEST {
            fs::File::open(path)?
                .take(LARGEST)
                .read_to_string(&mut text)?;
        }
        io::Result::Ok(text)
    };
    read().is_ok_and(|text| text.starts_with(&before(home)) && text.ends_with(&after(home)))
}

/// All but the program. The root is always pinned: the wrapper must not depend on the caller's environment.
fn before(home: &Home) -> String {
    // A root given relative to some directory must be found from all others.
    let root = std::path::absolute(home.root()).unwrap_or_else(|_| home.root().to_owned());
    format!("{HEAD}HERMES_HOME={} exec ", quoted(&root))
}

fn after(home: &Home) -> String {
    format!(" -p {} \"$@\"\n", home.profile())
}

/// One word for a shell, whatever it holds.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', r"'\''"))
}
