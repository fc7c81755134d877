//! What belongs into a backup, and what is never put back.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::ArchiveError;

/// Directories right inside a home that can be made again, or that hold backups themselves.
const SKIPPED_IN_HOME: [&str; 14] = [
    "hermes-agent",
    "image_cache",
    "audio_cache",
    "document_cache",
    "video_cache",
    "cache",
    "node",
    "bin",
    "lsp",
    "checkpoints",
    "backups",
    "state-snapshots",
    "sandboxes",
    STAGING,
];
/// Directories that are skipped wherever they are.
const SKIPPED_ANYWHERE: [&str; 4] = ["node_modules", "venv", ".venv", "__pycache__"];
/// Files of running programs.
const RUNTIME: [&str; 3] = ["gateway_state.json", "processes.json", "gateway.pid"];
const RUNTIME_ENDINGS: [&str; 2] = [".pid", ".lock"];
/// Directories with things people made, where `Cargo.lock` and the like are content.
const CONTENT: [&str; 4] = ["skills", "optional-skills", "plugins", "workspace"];
/// What SQLite keeps beside a database.
pub(super) const SIDES: [&str; 3] = ["-wal", "-shm", "-journal"];
/// What stands behind a database's name in what a repair leaves beside it.
const REPAIR_COPIES: [&str; 2] = [".before-repair-", ".damaged-"];
const LOGS: &str = "logs";
const DATABASE_ENDINGS: [&str; 3] = [".db", ".sqlite", ".sqlite3"];
/// Where an import puts files before it swaps them in.
pub(super) const STAGING: &str = ".import";
/// Files of other programs that the reference adds to its backups.
pub(super) const EXTERNAL: &str = "_external";
pub(super) const PROFILES: &str = "profiles";
const ACTIVE_PROFILE: &str = "active_profile";

/// Whether a directory, given by its path inside the home, is left out of a backup.
pub(super) fn is_skipped_directory(relative: &str) -> bool {
    let inside = inside_profile(relative);
    let name = relative.rsplit('/').next().unwrap_or(relative);
    SKIPPED_IN_HOME.contains(&inside) || SKIPPED_ANYWHERE.contains(&name)
}

/// Whether a file belongs to a running program: kept out of backups, never put back.
pub(super) fn is_runtime_file(relative: &str) -> bool {
    let inside = inside_profile(relative);
    let held = RUNTIME_ENDINGS
        .iter()
        .any(|ending| relative.ends_with(ending));
    RUNTIME.contains(&inside) || (held && !is_content(inside))
}

fn is_content(inside: &str) -> bool {
    let mut parts = inside.split('/');
    let in_content = parts.next().is_some_and(|first| CONTENT.contains(&first));
    let in_item = parts.next().is_some_and(|item| !item.starts_with('.'));
    in_content && in_item && parts.next().is_some()
}

/// Whether a name is that of a file which SQLite keeps beside a database.
pub(super) fn is_side_file(name: &str) -> bool {
    SIDES.iter().any(|side| {
        let database = name.strip_suffix(side);
        database.is_some_and(|name| is_database_name(name) || is_repair_copy(name))
    })
}

/// Whether a name is that of a database as it was before a repair.
pub(super) fn is_repair_copy(name: &str) -> bool {
    REPAIR_COPIES.iter().any(|mark| {
        let split = name.rsplit_once(mark);
        split.is_some_and(|(database, _)| is_database_name(database))
    })
}

/// Whether a file is a log: it tells what happened in the home it is from.
pub(super) fn is_log(relative: &str) -> bool {
    inside_profile(relative).split('/').next() == Some(LOGS)
}

/// Whether a file is called like a database.
pub(super) fn is_database_name(name: &str) -> bool {
    let name = name.to_lowercase();
    DATABASE_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// A path with something behind its name.
pub(super) fn with_tail(path: &Path, tail: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(tail);
    PathBuf::from(name)
}

/// Whether an entry only makes sense in the default home.
pub(super) fn is_of_root(relative: &str) -> bool {
    relative == ACTIVE_PROFILE || relative.split('/').next() == Some(PROFILES)
}

/// Whether a home holds anything an import could overwrite. Caches, logs and backups do not count.
pub fn is_occupied(home: &Path) -> Result<bool, ArchiveError> {
    let entries = match fs::read_dir(home) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(ArchiveError::file(home)(error)),
    };
    for entry in entries {
        let entry = entry.map_err(ArchiveError::file(home))?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let harmless = is_skipped_directory(&name) || is_runtime_file(&name) || name == LOGS;
        if !harmless {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A path without `profiles/NAME/` in front, so that the rules of a home hold for every profile.
fn inside_profile(relative: &str) -> &str {
    relative
        .strip_prefix("profiles/")
        .and_then(|rest| rest.split_once('/'))
        .map_or(relative, |(_, inside)| inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rule: fn(&str) -> bool, yes: &[&str], no: &[&str]) {
        for path in yes {
            assert!(rule(path), "{path}");
        }
        for path in no {
            assert!(!rule(path), "{path}");
        }
    }

    #[test]
    fn directories_that_can_be_made_again_are_skipped() {
        check(
            is_skipped_directory,
            &[
                "cache",
                "bin",
                "hermes-agent",
                "profiles/work/cache",
                "skills/a/node_modules",
                "plugins/x/venv",
                "backups",
            ],
            &[
                "skills",
                "skills/cache",
                "skills/a/bin",
                "profiles",
                "profiles/cache",
                "profiles/work",
                "blobs",
            ],
        );
    }

    #[test]
    fn files_of_running_programs_are_told_apart() {
        check(
            is_runtime_file,
            &[
                "gateway.pid",
                "auth.lock",
                "gateway_state.json",
                "cron/tick.lock",
                "skills/.usage.json.lock",
                "skills/.hub/index.lock",
                "profiles/work/processes.json",
            ],
            &[
                "cron/jobs.json",
                "skills/x/processes.json",
                "skills/x/Cargo.lock",
                "notes.locked",
            ],
        );
        check(
            is_side_file,
            &[
                "state.db-wal",
                "a.sqlite-shm",
                "B.DB-journal",
                "hermes.db.damaged-20260704-120000-wal",
            ],
            &["notes-journal", "state.db", "state.db-walk"],
        );
        check(
            is_repair_copy,
            &[
                "hermes.db.before-repair-20260704-120000",
                "profiles/work/hermes.db.damaged-20260704-120000-shm",
            ],
            &["hermes.db", "notes.before-repair-1", "hermes.damaged-1.db"],
        );
        check(
            is_log,
            &["logs/agent.log", "profiles/work/logs/errors.log"],
            &[
                "skills/x/logs/a.log",
                "logs.txt",
                "profiles/logs/config.yaml",
            ],
        );
    }
}
