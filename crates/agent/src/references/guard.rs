//! What a reference may read: files of the workspace that hold no keys. What cannot be verified is
//! refused.

use std::path::{Component, Path, PathBuf};

use super::References;

/// Folders that hold keys, wherever they are.
const FOLDERS: [&str; 6] = [".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure"];
/// Folders that hold keys below `.config`.
const CONFIG_FOLDERS: [&str; 2] = ["gh", "gcloud"];
/// Files that hold keys or run at login, wherever they are.
const FILES: [&str; 25] = [
    ".bash_profile",
    ".bashrc",
    ".cargo/credentials.toml",
    ".env",
    ".env.development",
    ".env.local",
    ".env.production",
    ".env.staging",
    ".env.test",
    ".envrc",
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
/// What is secret in the program's own home.
const HOME: [&str; 9] = [
    ".anthropic_oauth.json",
    ".env",
    "auth",
    "auth.json",
    "auth.lock",
    "cache/bws_cache.json",
    "mcp-tokens",
    "skills/.hub",
    "webhook_subscriptions.json",
];

/// The file or folder behind a path of the user, if it may be read.
pub(super) fn resolve(path: &str, facts: &References<'_>) -> Result<PathBuf, String> {
    let real = |path: &Path| path.canonicalize();
    let workspace = real(facts.directory).map_err(|_| "the workspace cannot be read".to_owned())?;
    // Links are followed before anything is decided.
    let found = real(&workspace.join(path)).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        _ => format!("it cannot be read: {error}"),
    })?;
    if !found.starts_with(&workspace) {
        return Err("it is outside the workspace".to_owned());
    }
    if is_denied(&found, facts.home) {
        return Err("it may hold keys and is never attached".to_owned());
    }
    Ok(found)
}

/// Whether a real path is, or lies inside, something that holds keys.
pub(crate) fn is_denied(path: &Path, home: &Path) -> bool {
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
    let is_file = FILES.iter().any(|file| {
        let wanted: Vec<&str> = file.split('/').collect();
        names.len() >= wanted.len()
            && names
                .iter()
                .rev()
                .zip(wanted.iter().rev())
                .all(|(a, b)| a == b)
    });
    let home = home.canonicalize().unwrap_or_else(|_| home.to_owned());
    let inside = path.strip_prefix(&home).ok();
    // Profiles are homes of their own.
    let of_profile = inside.and_then(|inside| {
        let mut parts = inside.components();
        (parts.next()?.as_os_str() == "profiles").then_some(())?;
        parts.next()?;
        Some(parts.as_path())
    });
    let in_home = [inside, of_profile]
        .into_iter()
        .flatten()
        .any(|inside| HOME.iter().any(|secret| inside.starts_with(secret)));
    in_folder || is_file || in_home
}

/// The same for git, which reads files by itself.
pub(super) fn exclusions() -> impl Iterator<Item = String> {
    let folders = FOLDERS.iter().map(|name| format!("**/{name}/**"));
    let configs = CONFIG_FOLDERS
        .iter()
        .map(|name| format!("**/.config/{name}/**"));
    let files = FILES.iter().map(|name| format!("**/{name}"));
    folders
        .chain(configs)
        .chain(files)
        .map(|pattern| format!(":(exclude,glob,icase){pattern}"))
}
