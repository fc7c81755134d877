//! The files of a project, without those its repository ignores.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hermes_tui::composer::complete::{Candidate, MOST_CANDIDATES};
use ignore::WalkBuilder;

/// Files that are remembered of a project.
const MOST_FILES: usize = 50_000;
/// How long a look may take.
const LIMIT: Duration = Duration::from_secs(2);
/// How long a look is good for.
const FRESH: Duration = Duration::from_secs(20);

/// The last look at a project. Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct Project {
    seen: Arc<Mutex<Option<Seen>>>,
}

struct Seen {
    directory: PathBuf,
    at: Instant,
    files: Arc<Vec<String>>,
}

impl Project {
    /// Files whose path has the letters in this order. Looks at the disk unless it did so lately.
    pub(super) fn find(&self, typed: &str, directory: &Path) -> Vec<Candidate> {
        let files = self.files(directory);
        let wanted: Vec<char> = typed.to_lowercase().chars().collect();
        files
            .iter()
            .filter(|path| has_in_order(&path.to_lowercase(), &wanted))
            .take(MOST_CANDIDATES)
            .map(|path| match path.contains(char::is_whitespace) {
                true => Candidate::new(format!("@file:\"{path}\""), ""),
                false => Candidate::new(format!("@file:{path}"), ""),
            })
            .collect()
    }

    fn files(&self, directory: &Path) -> Arc<Vec<String>> {
        // Held while looking: who asks again meanwhile gets the same answer.
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(seen) = &*seen
            && seen.directory == directory
            && seen.at.elapsed() < FRESH
        {
            return seen.files.clone();
        }
        let files = Arc::new(look(directory));
        *seen = Some(Seen {
            directory: directory.to_owned(),
            at: Instant::now(),
            files: files.clone(),
        });
        files
    }
}

fn look(directory: &Path) -> Vec<String> {
    let deadline = Instant::now() + LIMIT;
    let mut found = Vec::new();
    for entry in WalkBuilder::new(directory).build().flatten() {
        if found.len() >= MOST_FILES || Instant::now() >= deadline {
            break;
        }
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        let path = entry.path().strip_prefix(directory).ok();
        if let Some(path) = path.and_then(Path::to_str).filter(|_| is_file) {
            found.push(path.to_owned());
        }
    }
    found.sort_by_key(|path| (path.matches('/').count(), path.clone()));
    found
}

fn has_in_order(text: &str, wanted: &[char]) -> bool {
    let mut wanted = wanted.iter().peekable();
    for letter in text.chars() {
        if wanted.peek() == Some(&&letter) {
            wanted.next();
        }
    }
    wanted.peek().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_repository_ignores_is_not_offered() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        std::fs::create_dir(folder.path().join(".git")).unwrap();
        write(".gitignore", "target/\n");
        write("src/deep/main.rs", "");
        write("target/main.o", "");
        write("my notes.txt", "");
        let project = Project::default();
        let found = |typed: &str| -> Vec<String> {
            let found = project.find(typed, folder.path());
            found.into_iter().map(|one| one.value).collect()
        };
        assert_eq!(found("sdm"), ["@file:src/deep/main.rs"]);
        assert!(found("mainx").is_empty());
        // CL-17: a reference with a space in it is one in quotes.
        assert_eq!(found("note"), ["@file:\"my notes.txt\""]);
        // The second look is the first one again.
        write("src/new.rs", "");
        assert!(found("new").is_empty());
    }
}
