//! Logs of processes that ended long ago: what they printed, on disk for nobody.

use std::collections::HashSet;
use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

/// Logs that are kept, however young they are.
const MOST: usize = 256;

/// Removes what was last written before `before`, since 1970, and the oldest while there are too many. Logs of the
/// processes in `running` stay. One that cannot be removed is tried again the next time.
pub(super) fn clear(folder: &Path, running: &HashSet<String>, before: Duration) {
    let mut found: Vec<(Duration, PathBuf)> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| process_of(entry).is_some_and(|id| !running.contains(&id)))
        .filter_map(|entry| {
            let written = entry.metadata().ok()?.modified().ok()?;
            Some((written.duration_since(UNIX_EPOCH).ok()?, entry.path()))
        })
        .collect();
    found.sort();
    let too_many = found.len().saturating_sub(MOST);
    for (place, (written, path)) in found.into_iter().enumerate() {
        if (place < too_many || written < before)
            && let Err(error) = fs::remove_file(&path)
        {
            tracing::debug!(path = %path.display(), %error, "an old log was not removed");
        }
    }
}

/// Whose log it is: `NAME.log`, or `NAME.log.1` for what came before it.
fn process_of(entry: &DirEntry) -> Option<String> {
    let name = entry.file_name().into_string().ok()?;
    let id = name
        .strip_suffix(".1")
        .unwrap_or(&name)
        .strip_suffix(".log")?;
    id.starts_with("proc_").then(|| id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().flatten();
        let mut names: Vec<String> = entries
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn write(folder: &Path, name: &str, seconds: u64) {
        let file = fs::File::create(folder.join(name)).unwrap();
        let time = UNIX_EPOCH + Duration::from_secs(seconds);
        file.set_modified(time).unwrap();
    }

    // EX-14: what a process printed is not kept for ever.
    #[test]
    fn old_logs_go_and_those_of_what_runs_stay() {
        let folder = tempfile::tempdir().unwrap();
        for (name, seconds) in [
            ("proc_a.log", 10),
            ("proc_a.log.1", 5),
            ("proc_b.log", 10),
            ("proc_b.log.1", 5),
            ("proc_c.log", 1_000),
            ("notes.log", 1),
        ] {
            write(folder.path(), name, seconds);
        }
        let running = HashSet::from(["proc_b".to_owned()]);
        clear(folder.path(), &running, Duration::from_secs(100));
        assert_eq!(
            names(folder.path()),
            ["notes.log", "proc_b.log", "proc_b.log.1", "proc_c.log"]
        );
        clear(&folder.path().join("none"), &running, Duration::ZERO);
    }

    // EX-14
    #[test]
    fn of_too_many_logs_the_oldest_go() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..MOST + 3 {
            let seconds = 1_000 + u64::try_from(number).unwrap();
            write(folder.path(), &format!("proc_{number}.log"), seconds);
        }
        clear(folder.path(), &HashSet::new(), Duration::ZERO);
        let left = names(folder.path());
        assert_eq!(left.len(), MOST);
        for gone in ["proc_0.log", "proc_1.log", "proc_2.log"] {
            assert!(!left.contains(&gone.to_owned()), "{gone}");
        }
    }
}
