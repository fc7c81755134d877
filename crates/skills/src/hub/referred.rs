//! Which files of a directory belong to its skill: those its texts refer to.

use std::collections::BTreeSet;

use super::file_path::FilePath;

/// Files that programs look for without anybody writing their names down.
const MANIFESTS: [&str; 4] = [
    "requirements.txt",
    "package.json",
    "pyproject.toml",
    ".skillignore",
];

/// The files that a text refers to: by name, by path, or by the directory they are in.
pub(super) fn by(text: &str, all: &[FilePath]) -> BTreeSet<FilePath> {
    all.iter()
        .filter(|path| {
            let named = match path.top() {
                Some(top) => text.contains(&format!("{top}/")),
                None => text.contains(path.as_str()),
            };
            named || **path == FilePath::skill() || MANIFESTS.contains(&path.as_str())
        })
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_text_names_belongs_to_it() {
        let all: Vec<FilePath> = [
            "SKILL.md",
            "forms.md",
            "LICENSE.txt",
            "scripts/a.py",
            "scripts/lib/b.py",
            "evals/big.json",
            "package.json",
        ]
        .iter()
        .map(|path| FilePath::new(path).unwrap())
        .collect();
        let found = by("Read forms.md, then run `scripts/a.py`.", &all);
        let found: Vec<&str> = found.iter().map(FilePath::as_str).collect();
        assert_eq!(
            found,
            [
                "SKILL.md",
                "forms.md",
                "package.json",
                "scripts/a.py",
                "scripts/lib/b.py"
            ]
        );
    }
}
