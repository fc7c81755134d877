//! What came back from elsewhere and waits for somebody to look at it.
//!
//! Each time is a directory with the files and a note beside it: where they come from, what is different, and which
//! files of ours they would replace. Only so many are kept, the oldest go first.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::Change;

/// Begins the names of the directories.
const PREFIX: &str = "returned-";
/// More are not kept.
const MOST: usize = 20;
/// No note is longer; what is, is not ours.
const MAX_NOTE: u64 = 64 << 20;

/// What came back one time.
#[derive(Debug, Clone)]
pub struct Returned {
    /// Its name, by which it is shown and removed.
    pub name: String,
    /// The directory with the files that were added or changed; not there when files were only removed.
    pub folder: PathBuf,
    /// When, in seconds since 1970.
    pub came_at: i64,
    /// What is written down about it.
    pub note: Note,
}

/// What is written down about what came back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The place it came from.
    pub from: String,
    /// Each difference, by path relative to the remote root.
    pub changes: BTreeMap<String, Difference>,
}

/// One file that is different.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// What became of it.
    pub change: Change,
    /// The file of ours that was sent.
    pub ours: Option<PathBuf>,
}

/// Everything that waits in a directory, the newest first. Blocks.
pub fn returned(work: &Path) -> io::Result<Vec<Returned>> {
    let entries = match std::fs::read_dir(work) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found = BTreeMap::new();
    for entry in entries.flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        let name = file.strip_suffix(".json").unwrap_or(&file);
        if name.starts_with(PREFIX)
            && let Ok(about) = entry.metadata()
        {
            let came_at = found.entry(name.to_owned()).or_insert(i64::MIN);
            *came_at = modified(&about).max(*came_at);
        }
    }
    let found = found.into_iter();
    let mut all: Vec<Returned> = found
        .map(|(name, came_at)| Returned {
            folder: work.join(&name),
            note: read(&work.join(format!("{name}.json"))).unwrap_or_default(),
            came_at,
            name,
        })
        .collect();
    all.sort_by_key(|one| std::cmp::Reverse(one.came_at));
    Ok(all)
}

impl Returned {
    /// Removes it. Blocks.
    pub fn remove(&self) -> io::Result<()> {
        absent_is_fine(std::fs::remove_dir_all(&self.folder))?;
        absent_is_fine(std::fs::remove_file(self.folder.with_extension("json")))
    }
}

/// A place for what comes back now.
pub(super) fn place(work: &Path, number: u64) -> PathBuf {
    work.join(format!("{PREFIX}{number:016x}"))
}

/// Writes the note for what is in a place, and lets go of the oldest others. What waits already is not kept again: it
/// stays over there, and comes back every time.
pub(super) fn write_down(place: &Path, note: &Note) -> io::Result<()> {
    let Some(work) = place.parent().filter(|_| !note.changes.is_empty()) else {
        return Ok(());
    };
    for before in returned(work)? {
        if before.note == *note && holds_the_same(&before.folder, place, note)? {
            return absent_is_fine(std::fs::remove_dir_all(place));
        }
    }
    std::fs::write(place.with_extension("json"), serde_json::to_vec(note)?)?;
    let others = returned(work)?
        .into_iter()
        .filter(|one| one.folder != place);
    for old in others.skip(MOST - 1) {
        old.remove()?;
    }
    Ok(())
}

/// Whether what is different lies in both folders with the same content.
fn holds_the_same(one: &Path, other: &Path, note: &Note) -> io::Result<bool> {
    for name in note.changes.keys() {
        let content = |folder: &Path| match std::fs::read(folder.join(name)) {
            Ok(bytes) => Ok(Some(bytes)),
            // It was removed over there.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        };
        if content(one)? != content(other)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn read(path: &Path) -> Option<Note> {
    let small = std::fs::metadata(path).is_ok_and(|data| data.len() <= MAX_NOTE);
    let text = small.then(|| std::fs::read(path).ok()).flatten()?;
    serde_json::from_slice(&text).ok()
}

fn modified(about: &Metadata) -> i64 {
    let since = about.modified().ok();
    let since = since.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| {
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    })
}

fn absent_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // EX-27
    #[test]
    fn only_so_many_are_kept_and_each_can_be_removed() {
        let folder = tempfile::tempdir().unwrap();
        let work = folder.path();
        assert!(returned(work).unwrap().is_empty());
        let difference = Difference {
            change: Change::Added,
            ours: None,
        };
        let note = Note {
            from: "ssh".to_owned(),
            changes: BTreeMap::from([("skills/new".to_owned(), difference)]),
        };
        for number in 0..(MOST as u64 + 5) {
            let place = place(work, number);
            std::fs::create_dir(&place).unwrap();
            std::fs::create_dir(place.join("skills")).unwrap();
            std::fs::write(place.join("skills/new"), number.to_string()).unwrap();
            write_down(&place, &note).unwrap();
        }
        let again = place(work, 98);
        std::fs::create_dir_all(again.join("skills")).unwrap();
        std::fs::write(again.join("skills/new"), (MOST + 4).to_string()).unwrap();
        write_down(&again, &note).unwrap();
        assert!(!again.exists());
        write_down(&place(work, 99), &Note::default()).unwrap();
        std::fs::write(work.join("0.tar"), "under way").unwrap();
        let all = returned(work).unwrap();
        assert_eq!(all.len(), MOST);
        assert_eq!(all[0].note.changes.len(), 1);
        // The one that came last is among them, whatever the others' times are.
        let last = place(work, MOST as u64 + 4);
        assert!(all.iter().any(|one| one.folder == last));
        for one in all {
            one.remove().unwrap();
            one.remove().unwrap();
        }
        let left: Vec<_> = std::fs::read_dir(work).unwrap().collect();
        assert_eq!(left.len(), 1);
    }
}
