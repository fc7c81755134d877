//! What of a profile is copied, and what never leaves the machine.
//!
//! Names are compared in lower case, because a file system may not tell them apart. Paths are relative to the
//! home of the profile.

use std::path::Path;

use super::staging;

const HISTORY: [&str; 7] = [
    "backups",
    "blobs",
    "checkpoints",
    "hermes.db",
    "sessions",
    "state-snapshots",
    "state.db",
];
const ROOT_ONLY: [&str; 6] = [
    ".worktrees",
    "active_profile",
    "bin",
    "hermes-agent",
    "node_modules",
    "profiles",
];
const RUNNING_STATE: [&str; 4] = [
    "gateway.lock",
    "gateway.pid",
    "gateway_state.json",
    "processes.json",
];
/// What an archive of the default profile holds; the root has much besides it.
const DEFAULT_EXPORT: [&str; 17] = [
    ".cursorrules",
    "agents.md",
    "claude.md",
    "config.yaml",
    "cron",
    "knowledge",
    "memories",
    "memory.md",
    "plugins",
    "preferences",
    "scripts",
    "sessions",
    "skills",
    "soul.md",
    "system_prompt.md",
    "todo.json",
    "user.md",
];

const SECRET_DIRECTORIES: [&str; 6] = [".aws", ".git", ".gnupg", ".ssh", "mcp-tokens", "pairing"];
const BULK_DIRECTORIES: [&str; 13] = [
    ".curator_backups",
    ".worktrees",
    "__pycache__",
    "backups",
    "blobs",
    "browser_recordings",
    "browser_screenshots",
    "cache",
    "checkpoints",
    "logs",
    "node_modules",
    "sandboxes",
    "state-snapshots",
];
/// The tools' own home has their keys; the rest belongs to the machine.
const TOP_DIRECTORIES: [&str; 6] = [
    "bin",
    "hermes-agent",
    "home",
    "lsp",
    "migration",
    "profiles",
];
const SECRET_FILES: [&str; 13] = [
    ".git-credentials",
    ".hermes_history",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".update_check",
    "active_profile",
    "auth.json",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_rsa",
    "shell-hooks-allowlist.json",
];
const SECRET_STEMS: [&str; 8] = [
    "credential",
    "credentials",
    "creds",
    "oauth",
    "secret",
    "secrets",
    "token",
    "tokens",
];
const SECRET_ENDINGS: [&str; 12] = [
    ".env", ".jks", ".key", ".log", ".p12", ".pem", ".pfx", ".pid", ".ppk", ".sock", ".swp", ".tmp",
];
const DATABASE_ENDINGS: [&str; 4] = [".db", ".db3", ".sqlite", ".sqlite3"];
const SIDECARS: [&str; 3] = ["-journal", "-shm", "-wal"];
const ENV_SAMPLES: [&str; 3] = [".env.example", ".env.sample", ".env.template"];
/// Locked versions of dependencies are no locks.
const DEPENDENCY_LOCKS: [&str; 9] = [
    "bun.lock",
    "cargo.lock",
    "composer.lock",
    "flake.lock",
    "gemfile.lock",
    "pipfile.lock",
    "poetry.lock",
    "uv.lock",
    "yarn.lock",
];

/// Half-written files and what programs can make again.
pub(super) fn is_scrap(path: &Path) -> bool {
    let name = name(path);
    name == "__pycache__"
        || name.starts_with(staging::PREFIX)
        || [".tmp", ".sock", ".pyc"]
            .iter()
            .any(|end| name.ends_with(end))
}

/// Conversations and copies of them.
pub(super) fn is_history(path: &Path) -> bool {
    is_top(path) && HISTORY.contains(&without_sidecar(&name(path)))
}

/// What a running program keeps about itself.
pub(super) fn is_running_state(path: &Path) -> bool {
    let name = name(path);
    (is_top(path) && RUNNING_STATE.contains(&name.as_str())) || name.ends_with(".pid")
}

/// What only the root has.
pub(super) fn belongs_to_root(path: &Path) -> bool {
    is_top(path) && ROOT_ONLY.contains(&name(path).as_str())
}

/// Whether an archive of the default profile may hold this.
pub(super) fn is_exported_by_default(path: &Path) -> bool {
    !is_top(path) || DEFAULT_EXPORT.contains(&name(path).as_str())
}

/// Consent somebody gave on another machine, and the state of programs there.
pub(super) fn is_foreign_grant(path: &Path) -> bool {
    let name = name(path);
    is_running_state(path)
        || name == "shell-hooks-allowlist.json"
        || name == "active_profile"
        || path.iter().any(|part| part == "pairing")
}

/// Whether a directory, given with its full path too, holds secrets, copies or what can be made again.
pub(super) fn is_private_directory(path: &Path, full: &Path) -> bool {
    let name = name(path);
    let parent = path.parent().map(self::name).unwrap_or_default();
    if SECRET_DIRECTORIES.contains(&name.as_str())
        || (name == "session" && parent.contains("whatsapp"))
        || (is_top(path) && TOP_DIRECTORIES.contains(&name.as_str()))
    {
        return true;
    }
    let is_bulk = BULK_DIRECTORIES.contains(&name.as_str())
        || name.ends_with("_cache")
        || name.starts_with(staging::PREFIX);
    // A skill may be about backups.
    is_bulk && !full.join("SKILL.md").is_file()
}

/// Whether a file is a secret, a database, a log or a sign of a running program.
pub(super) fn is_private_file(path: &Path) -> bool {
    let name = name(path);
    let stem = without_sidecar(&name);
    let ends = |endings: &[&str], name: &str| endings.iter().any(|end| name.ends_with(end));
    let is_env = name.starts_with(".env") && !ENV_SAMPLES.contains(&name.as_str());
    let is_lock = name.ends_with(".lock") && !DEPENDENCY_LOCKS.contains(&name.as_str());
    is_env
        || is_lock
        || is_running_state(path)
        || SECRET_FILES.contains(&name.as_str())
        || ends(&SECRET_ENDINGS, &name)
        || ends(&DATABASE_ENDINGS, stem)
        || DATABASE_ENDINGS
            .iter()
            .any(|end| name.contains(&format!("{end}.")))
        || name.contains(".log.")
        || name.starts_with("config.yaml.")
        || name.starts_with("request_dump")
        || is_secret_json(&name)
}

fn is_secret_json(name: &str) -> bool {
    let stem = [".json", ".json.bak", ".yaml", ".yml", ".txt", ".pickle"]
        .iter()
        .find_map(|end| name.strip_suffix(end));
    stem.is_some_and(|stem| {
        let last = stem.rsplit(['.', '_', '-']).next().unwrap_or(stem);
        SECRET_STEMS.contains(&last) || last == "cache"
    })
}

fn is_top(path: &Path) -> bool {
    path.components().count() == 1
}

fn name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().to_lowercase())
        .unwrap_or_default()
}

fn without_sidecar(name: &str) -> &str {
    SIDECARS
        .iter()
        .find_map(|sidecar| name.strip_suffix(sidecar))
        .unwrap_or(name)
}
