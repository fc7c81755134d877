//! The fingerprint of a skill's directory, as the reference makes it: its homes are taken over.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::md5::Md5;

/// Files that come and go without anybody meaning to change a skill.
const IGNORED: [&str; 2] = ["__pycache__", ".DS_Store"];
const MOST_FILES: usize = 2_000;

/// That of files by their paths.
pub(crate) fn hash_of_files(files: &BTreeMap<String, Vec<u8>>) -> String {
    let mut sorted: Vec<(&String, &Vec<u8>)> = files
        .iter()
        .filter(|(path, _)| !path.split('/').any(is_ignored))
        .collect();
    // By parts, as the reference sorts: `a/b` comes before `a-b`.
    sorted.sort_by(|left, right| left.0.split('/').cmp(right.0.split('/')));
    let mut hash = Md5::default();
    for (path, bytes) in sorted {
        hash.update(path.as_bytes());
        hash.update(bytes);
    }
    hash.finish()
}

/// That of a directory.
pub(crate) fn hash_of_directory(directory: &Path) -> String {
    hash_of_files(&files_of_directory(directory))
}

/// The files a fingerprint is made of.
pub(crate) fn files_of_directory(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    collect(directory, "", &mut files);
    files
}

fn collect(directory: &Path, below: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if is_ignored(&name) || files.len() >= MOST_FILES {
            continue;
        }
        let path = match below {
            "" => name,
            below => format!("{below}/{name}"),
        };
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => collect(&entry.path(), &path, files),
            Ok(_) => {
                let bytes = fs::read(entry.path()).unwrap_or_default();
                files.insert(path, bytes);
            }
            Err(_) => {}
        }
    }
}

fn is_ignored(name: &str) -> bool {
    IGNORED.contains(&name) || name.ends_with(".pyc")
}
