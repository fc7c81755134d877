//! All files of a repository.

use serde::{Deserialize, Serialize};

use super::Github;
use crate::hub::error::SourceError;
use crate::hub::identifier::Repository;
use crate::hub::sources::path_of;

/// Most bytes of a list of files.
const LARGEST: usize = 12 * 1024 * 1024;
const JSON: &str = "application/vnd.github+json";
/// What stands for the newest state of the main branch.
const NEWEST: &str = "HEAD";
const LINK: &str = "120000";
const EXECUTABLE: &str = "100755";
const SKILL_FILE: &str = "SKILL.md";

/// A file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Blob {
    pub(super) path: String,
    #[serde(default)]
    mode: String,
    #[serde(default)]
    pub(super) sha: String,
    #[serde(default, rename = "type")]
    kind: String,
}

impl Blob {
    pub(super) fn is_link(&self) -> bool {
        self.mode == LINK
    }

    pub(super) fn is_executable(&self) -> bool {
        self.mode == EXECUTABLE
    }
}

/// The files of a repository at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tree {
    #[serde(default)]
    pub(super) sha: String,
    #[serde(default)]
    tree: Vec<Blob>,
    #[serde(default)]
    truncated: bool,
    /// Whether the repository was found somewhere else than where it was asked for.
    #[serde(default)]
    pub(super) moved: bool,
}

impl Tree {
    /// The directories with a skill that a path means: the path itself, else every directory that ends so.
    pub(super) fn skill_directory(&self, path: &str) -> Vec<&str> {
        let path = path.trim_matches('/');
        let all = || self.skills();
        if let Some(exact) = all().find(|directory| *directory == path) {
            return vec![exact];
        }
        if path.is_empty() {
            // A repository with one skill in it means that one.
            return all().collect();
        }
        let tail = format!("/{path}");
        let last = path.rsplit('/').next().unwrap_or(path);
        let ending: Vec<&str> = all().filter(|found| found.ends_with(&tail)).collect();
        if !ending.is_empty() {
            return ending;
        }
        all()
            .filter(|found| found.rsplit('/').next() == Some(last))
            .collect()
    }

    /// All directories with a skill; the repository itself is the empty one.
    pub(super) fn skills(&self) -> impl Iterator<Item = &str> {
        self.tree.iter().filter_map(|blob| {
            let directory = blob.path.strip_suffix(SKILL_FILE)?;
            let is_directory = directory.is_empty() || directory.ends_with('/');
            (blob.kind == "blob" && is_directory).then(|| directory.trim_end_matches('/'))
        })
    }

    /// The hash of a skill's `SKILL.md`.
    pub(super) fn skill_sha(&self, directory: &str) -> Option<&str> {
        let path = match directory {
            "" => SKILL_FILE.to_owned(),
            _ => format!("{directory}/{SKILL_FILE}"),
        };
        let blob = self.tree.iter().find(|blob| blob.path == path)?;
        Some(&blob.sha)
    }

    /// The files below a directory, by their path from there. Skills inside it are skills of their own.
    pub(super) fn below(&self, directory: &str) -> Vec<(&str, &Blob)> {
        let prefix = match directory {
            "" => String::new(),
            _ => format!("{directory}/"),
        };
        let others: Vec<String> = self
            .skills()
            .filter(|other| *other != directory && other.starts_with(&prefix))
            .map(|other| format!("{other}/"))
            .collect();
        self.tree
            .iter()
            .filter(|blob| blob.kind == "blob")
            .filter(|blob| !others.iter().any(|other| blob.path.starts_with(other)))
            .filter_map(|blob| Some((blob.path.strip_prefix(&prefix)?, blob)))
            .collect()
    }
}

impl Github {
    /// The files of a repository as they are now.
    pub(super) async fn tree(
        &self,
        repository: &Repository,
        reference: Option<&str>,
    ) -> Result<Tree, SourceError> {
        let reference = reference.unwrap_or(NEWEST);
        let rest = path_of(["git", "trees", reference]);
        let mut url = self.address(repository, &rest);
        url.query_pairs_mut().append_pair("recursive", "1");
        let got = self.ask(url, JSON, LARGEST).await?;
        let tree = serde_json::from_slice::<Tree>(&got.bytes);
        let mut tree = tree.map_err(|source| SourceError::Unexpected {
            expected: "a list of files",
            source: Some(source),
        })?;
        if tree.truncated {
            return Err(SourceError::TooLarge {
                what: format!("the list of files of {repository}"),
                limit: LARGEST,
            });
        }
        tree.moved = got.redirected;
        Ok(tree)
    }

    /// The same, perhaps from a while ago: good enough to look for names.
    pub(super) async fn recent_tree(&self, repository: &Repository) -> Result<Tree, SourceError> {
        let about = format!("github-tree {}", self.address(repository, ""));
        let state = &self.common.state;
        if let Some(kept) = state.cached::<Tree>(&about, self.common.life)
            && kept.fresh
        {
            return Ok(kept.body);
        }
        let tree = self.tree(repository, None).await?;
        state.keep(&about, &tree);
        Ok(tree)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(paths: &[&str]) -> Tree {
        let blob = |path: &&str| Blob {
            path: (*path).to_owned(),
            mode: "100644".to_owned(),
            sha: String::new(),
            kind: "blob".to_owned(),
        };
        Tree {
            sha: String::new(),
            tree: paths.iter().map(blob).collect(),
            truncated: false,
            moved: false,
        }
    }

    #[test]
    fn a_path_means_a_directory_with_a_skill() {
        let many = tree(&[
            "skills/a/SKILL.md",
            "skills/.curated/pdf/SKILL.md",
            "skills/.curated/pdf/run.py",
            "other/a/SKILL.md",
            "NOTSKILL.md",
        ]);
        assert_eq!(many.skill_directory("skills/a"), ["skills/a"]);
        assert_eq!(many.skill_directory("pdf"), ["skills/.curated/pdf"]);
        assert_eq!(many.skill_directory("a"), ["skills/a", "other/a"]);
        assert!(many.skill_directory("none").is_empty());
        let one = tree(&["SKILL.md", "x.md", "inner/SKILL.md"]);
        assert_eq!(one.skill_directory(""), [""]);
        let below: Vec<&str> = one.below("").iter().map(|(path, _)| *path).collect();
        assert_eq!(below, ["SKILL.md", "x.md"]);
        let below: Vec<&str> = many
            .below("skills/.curated/pdf")
            .iter()
            .map(|(path, _)| *path)
            .collect();
        assert_eq!(below, ["SKILL.md", "run.py"]);
    }
}
