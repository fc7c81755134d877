//! Tests that keep the repository in shape: boundaries, sizes, licences, names.
//!
//! Each one collects every offence before it fails, so that one run shows all there is to fix.

mod dependencies;
mod files;
mod licences;
mod manifest;
mod metadata;
mod requirements;
mod settings;
mod spdx;

use std::fs;
use std::path::{Path, PathBuf};

/// What holds nothing written here. `.git` is a file in a linked worktree.
const SKIPPED: [&str; 3] = [".git", "target", "node_modules"];
const MAX_FILES: usize = 100_000;

/// Root of the repository.
fn root() -> PathBuf {
    let crate_directory = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_directory.join("../..").canonicalize().unwrap()
}

/// Every file of the repository, relative to its root, in a stable order.
fn repository_files() -> Vec<PathBuf> {
    let root = root();
    let mut files = Vec::new();
    let mut open = vec![root.clone()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let entry = entry.unwrap();
            let kind = entry.file_type().unwrap();
            let name = entry.file_name().to_string_lossy().into_owned();
            if SKIPPED.contains(&name.as_str()) {
                continue;
            }
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path().strip_prefix(&root).unwrap().to_owned());
            }
        }
        assert!(files.len() <= MAX_FILES, "more than {MAX_FILES} files");
    }
    files.sort();
    files
}

/// Every Rust file with its text.
fn rust_files() -> Vec<(PathBuf, String)> {
    let files = repository_files();
    let rust = files
        .into_iter()
        .filter(|path| path.extension().is_some_and(|end| end == "rs"));
    rust.map(|path| {
        let text = read(&path);
        (path, text)
    })
    .collect()
}

/// Text of a file of the repository.
fn read(relative: &Path) -> String {
    fs::read_to_string(root().join(relative))
        .unwrap_or_else(|error| panic!("{}: {error}", relative.display()))
}

/// Fails with all offences at once.
#[track_caller]
fn assert_none(rule: &str, offences: &[String]) {
    assert!(offences.is_empty(), "{rule}:\n  {}", offences.join("\n  "));
}
