//! What a reference may read: files of the workspace that hold no keys. What cannot be verified is
//! refused.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use hermes_policy::{DOTENV_NAMES, FileRules, Names, may_read, secrets};

/// Folders that hold keys, wherever they are.
const FOLDERS: [&str; 6] = [".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure"];
/// Folders that hold keys below `.config`.
const CONFIG_FOLDERS: [&str; 2] = ["gh", "gcloud"];
/// Files that hold keys or run at login, wherever they are, besides those with a project's secrets.
const FILES: [&str; 18] = [
    ".bash_profile",
    ".bashrc",
    ".cargo/credentials.toml",
    ".git-credentials",
    ".netrc",
    ".npmrc",
    ".pgpass",
    ".profile",
    ".pypirc",
    ".yarnrc.yml",
    ".zlogin",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "_netrc",
    "id_ecdsa",
    "id_ed25519",
    "id_rsa",
];
const HOLDS_KEYS: &str = "it may hold keys and is never attached";

/// Tells what may be attached: what the file tools may read, and nothing of the lists above.
#[derive(Debug, Clone)]
pub(crate) struct Guard {
    rules: Arc<FileRules>,
    /// What is secret in the homes of all profiles, under every name.
    secrets: Vec<PathBuf>,
}

impl Guard {
    /// Looks up where the places really are that hold our own secrets.
    pub(crate) fn new(rules: &Arc<FileRules>) -> Self {
        let named = secrets(rules);
        let all = named.flat_map(|path| {
            let real = path.canonicalize().ok();
            std::iter::once(path).chain(real)
        });
        let mut secrets: Vec<_> = all.collect();
        secrets.sort();
        secrets.dedup();
        Self {
            rules: rules.clone(),
            secrets,
        }
    }

    /// The file or folder behind a path of the user, if it may be read.
    pub(super) fn resolve(&self, path: &str, directory: &Path) -> Result<PathBuf, String> {
        let workspace = real_workspace(directory)?;
        // Links are followed before anything is decided.
        let found = workspace
            .join(path)
            .canonicalize()
            .map_err(|error| match error.kind() {
                std::io::ErrorKind::NotFound => "there is no such file or folder".to_owned(),
                _ => format!("it cannot be read: {error}"),
            })?;
        if !found.starts_with(&workspace) {
            return Err("it is outside the workspace".to_owned());
        }
        if self.is_denied(&found) {
            return Err(HOLDS_KEYS.to_owned());
        }
        Ok(found)
    }

    /// Whether a real path is, or lies inside, something that holds keys.
    pub(crate) fn is_denied(&self, path: &Path) -> bool {
        let names: Vec<String> = path
            .components()
            .filter_map(|component| match component {
                Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
                _ => None,
            })
            .collect();
        let in_folder = names.iter().any(|name| FOLDERS.contains(&name.as_str()))
            || names.windows(2).any(|pair| {
                matches!(pair, [config, name] if config == ".config" && CONFIG_FOLDERS.contains(&name.as_str()))
            });
        let is_file = files().any(|file| {
            let wanted: Vec<&str> = file.split('/').collect();
            names.len() >= wanted.len()
                && names
                    .iter()
                    .rev()
                    .zip(wanted.iter().rev())
                    .all(|(a, b)| a == b)
        });
        let is_ours = self.secrets.iter().any(|secret| path.starts_with(secret));
        let hops = &[];
        let is_refused = may_read(Names { real: path, hops }, &self.rules).is_err();
        in_folder || is_file || is_ours || is_refused
    }

    /// The same for git, which reads files by itself: what it is told to leave out of a directory.
    pub(super) fn exclusions(&self, directory: &Path) -> Result<Vec<String>, String> {
        let workspace = real_workspace(directory)?;
        if self.is_denied(&workspace) {
            return Err(HOLDS_KEYS.to_owned());
        }
        let folders = FOLDERS.iter().map(|name| format!("**/{name}/**"));
        let configs = CONFIG_FOLDERS
            .iter()
            .map(|name| format!("**/.config/{name}/**"));
        let files = files().map(|name| format!("**/{name}"));
        let wherever = folders.chain(configs).chain(files);
        let mut left_out: Vec<_> = wherever
            .map(|pattern| format!(":(exclude,glob,icase){pattern}"))
            .collect();
        for secret in &self.secrets {
            let Ok(inside) = secret.strip_prefix(&workspace) else {
                continue;
            };
            // What git cannot be told about, it must not show.
            let inside = inside.to_str().ok_or_else(|| HOLDS_KEYS.to_owned())?;
            left_out.push(format!(":(exclude,literal,icase){inside}"));
        }
        Ok(left_out)
    }
}

fn real_workspace(directory: &Path) -> Result<PathBuf, String> {
    directory
        .canonicalize()
        .map_err(|_| "the workspace cannot be read".to_owned())
}

fn files() -> impl Iterator<Item = &'static str> {
    FILES.into_iter().chain(DOTENV_NAMES)
}
