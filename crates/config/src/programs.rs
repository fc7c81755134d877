//! Looking for programs where the environment says they are.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The file of a program that is named without a directory, in the first folder that has it. Folders that
/// depend on where somebody stands do not count.
pub fn program_in(folders: impl IntoIterator<Item = PathBuf>, name: &str) -> Option<PathBuf> {
    if Path::new(name).components().count() != 1 {
        return None;
    }
    folders
        .into_iter()
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|file| is_program(file))
}

/// The same, in the folders of a `PATH`.
pub fn program_on(path: &str, name: &str) -> Option<PathBuf> {
    program_in(std::env::split_paths(path), name)
}

/// Whether this is a file that can be run.
pub fn is_program(file: &Path) -> bool {
    file.metadata()
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_first_file_that_can_be_run_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        for (name, mode) in [("one", 0o644), ("two", 0o755), ("three", 0o755)] {
            fs::create_dir(place(name)).unwrap();
            let file = place(name).join("tool");
            fs::write(&file, "").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        }
        let path = |names: &[&str]| {
            let folders = names.iter().map(|name| place(name));
            std::env::join_paths(folders)
                .unwrap()
                .into_string()
                .unwrap()
        };
        let all = path(&["none", "one", "two", "three"]);
        assert_eq!(program_on(&all, "tool"), Some(place("two").join("tool")));
        assert_eq!(program_on(&path(&["one"]), "tool"), None);
        assert_eq!(program_on(&all, "two/tool"), None);
        assert_eq!(program_on("one:.", "tool"), None);
        assert_eq!(program_on(&all, ""), None);
    }
}
