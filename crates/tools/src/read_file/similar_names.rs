//! Names like one that does not exist.

use std::path::Path;

use hermes_exec::Files;

/// Entries of a directory that are looked at.
const MOST_ENTRIES: usize = 1_000;
/// Names that are offered.
const MOST_NAMES: usize = 5;

/// Paths beside `path` with a similar name, likeliest first.
pub(crate) async fn of(files: &dyn Files, path: &Path) -> Vec<String> {
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
        return Vec::new();
    };
    let Ok(entries) = files.list(directory, MOST_ENTRIES).await else {
        return Vec::new();
    };
    let wanted = name.to_string_lossy().to_lowercase();
    let mut scored: Vec<(u32, String)> = entries
        .iter()
        .filter_map(|entry| {
            let score = score(&wanted, &entry.name.to_string_lossy().to_lowercase());
            (score > 0).then(|| (score, directory.join(&entry.name).display().to_string()))
        })
        .collect();
    scored.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    scored
        .into_iter()
        .take(MOST_NAMES)
        .map(|(_, path)| path)
        .collect()
}

fn score(wanted: &str, found: &str) -> u32 {
    let parts = |name: &str| -> (String, String) {
        match name.rsplit_once('.') {
            Some((stem, end)) if !stem.is_empty() => (stem.to_owned(), end.to_owned()),
            _ => (name.to_owned(), String::new()),
        }
    };
    let ((stem, end), (other_stem, other_end)) = (parts(wanted), parts(found));
    let shares_letters = || {
        let shared = stem.chars().filter(|c| other_stem.contains(*c)).count();
        shared * 2 >= stem.chars().count()
    };
    if wanted == found {
        100
    } else if stem == other_stem {
        90
    } else if found.starts_with(wanted) || wanted.starts_with(found) {
        70
    } else if found.contains(wanted) {
        60
    } else if wanted.contains(found) {
        40
    } else if !end.is_empty() && end == other_end && shares_letters() {
        30
    } else {
        0
    }
}
