//! Files an author says are not part of the skill.
//!
//! What is left out is not installed either, so nobody can hide a file from the guard this way.

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::bundle::{Bundle, Files};
use super::error::HubError;
use super::file_path::FilePath;

const NAMES: [&str; 2] = [".skillignore", ".clawhubignore"];

/// Leaves out what the skill's own lists name. `SKILL.md` always stays.
pub(super) fn apply(mut bundle: Bundle) -> Result<Bundle, HubError> {
    let Some(list) = list(&bundle.files) else {
        return Ok(bundle);
    };
    let is_out = |path: &FilePath| {
        let named = list.matched_path_or_any_parents(path.as_str(), false);
        *path != FilePath::skill() && (named.is_ignore() || NAMES.contains(&path.as_str()))
    };
    bundle.left_out = bundle
        .files
        .iter()
        .map(|(path, _)| path)
        .filter(|path| is_out(path))
        .cloned()
        .collect();
    bundle.files.retain(|path| !is_out(path));
    Ok(bundle)
}

fn list(files: &Files) -> Option<Gitignore> {
    let texts: Vec<&[u8]> = NAMES
        .iter()
        .filter_map(|name| files.get(&FilePath::new(name).ok()?))
        .map(|file| file.bytes.as_slice())
        .collect();
    if texts.is_empty() {
        return None;
    }
    let mut builder = GitignoreBuilder::new("");
    for text in texts {
        for line in String::from_utf8_lossy(text).lines() {
            // A line that is no pattern leaves nothing out.
            let _ = builder.add_line(None, line);
        }
    }
    builder.build().ok()
}
