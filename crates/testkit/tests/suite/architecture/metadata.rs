//! The dependency graph as cargo sees it.

use std::process::Command;

use serde::Deserialize;

use super::root;

#[derive(Debug, Deserialize)]
pub(super) struct Metadata {
    pub(super) packages: Vec<Package>,
    workspace_members: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Package {
    id: String,
    pub(super) name: String,
    pub(super) version: String,
    pub(super) license: Option<String>,
    pub(super) manifest_path: String,
    pub(super) dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Dependency {
    pub(super) name: String,
    /// What it is called here, where that is another name.
    pub(super) rename: Option<String>,
    /// `None` for a normal dependency, else `dev` or `build`.
    pub(super) kind: Option<String>,
}

impl Metadata {
    /// Reads the graph for this machine's platform, without touching the network.
    pub(super) fn read() -> Self {
        // Crates for other platforms are not downloaded by a build, so an offline query must leave
        // them out.
        let version = cargo(&["-vV"]);
        let host = version
            .lines()
            .find_map(|line| line.strip_prefix("host: "))
            .unwrap();
        let options = [
            "--format-version",
            "1",
            "--offline",
            "--locked",
            "--filter-platform",
            host,
        ];
        let json = cargo(&[&["metadata"], options.as_slice()].concat());
        serde_json::from_str(&json).unwrap()
    }

    /// The packages of this workspace.
    pub(super) fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages
            .iter()
            .filter(|package| self.workspace_members.contains(&package.id))
    }
}

fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .current_dir(root())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "cargo {arguments:?} failed:\n{errors}"
    );
    String::from_utf8(output.stdout).unwrap()
}
