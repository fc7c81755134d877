//! A temporary home that nothing outside the test can see.

mod tree;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use tempfile::TempDir;

use crate::command::HermeticCommand;

/// A temporary directory with a home, a `HERMES_HOME` inside it and a workspace beside it.
///
/// All of it goes away when this is dropped, so keep it for as long as commands run.
#[derive(Debug)]
pub struct TempHome {
    home: PathBuf,
    workspace: PathBuf,
    _directory: TempDir,
}

impl TempHome {
    /// Creates an empty home and workspace.
    pub fn new() -> anyhow::Result<Self> {
        let directory = tempfile::Builder::new()
            .prefix("hermes-test-")
            .tempdir()
            .context("could not create a temporary directory")?;
        // Programs print resolved paths; `scrub` has to find them.
        let root = directory.path().canonicalize()?;
        let home = root.join("home");
        let workspace = root.join("work");
        fs::create_dir_all(home.join(".hermes"))?;
        fs::create_dir(&workspace)?;
        Ok(Self {
            home,
            workspace,
            _directory: directory,
        })
    }

    /// The value of `HERMES_HOME`.
    pub fn path(&self) -> PathBuf {
        self.home.join(".hermes")
    }

    /// The value of `HOME`.
    pub fn user_home(&self) -> &Path {
        &self.home
    }

    /// The directory commands start in.
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// Writes `config.yaml`.
    pub fn write_config(&self, yaml: &str) -> anyhow::Result<()> {
        self.write("config.yaml", yaml)
    }

    /// Writes `.env` with the mode secrets need.
    pub fn write_env(&self, text: &str) -> anyhow::Result<()> {
        self.write(".env", text)?;
        let path = self.path().join(".env");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600))
            .with_context(|| format!("could not protect {}", path.display()))
    }

    /// Writes a file below `HERMES_HOME`, creating its directories.
    pub fn write(&self, relative: &str, content: impl AsRef<[u8]>) -> anyhow::Result<()> {
        write_file(&self.path().join(relative), content.as_ref())
    }

    /// Writes a file below the workspace, creating its directories.
    pub fn write_work(&self, relative: &str, content: impl AsRef<[u8]>) -> anyhow::Result<()> {
        write_file(&self.workspace.join(relative), content.as_ref())
    }

    /// Reads a text file below `HERMES_HOME`.
    pub fn read(&self, relative: &str) -> anyhow::Result<String> {
        let path = self.path().join(relative);
        fs::read_to_string(&path).with_context(|| format!("could not read {}", path.display()))
    }

    /// Permission bits of a file below `HERMES_HOME`.
    pub fn mode(&self, relative: &str) -> anyhow::Result<u32> {
        let path = self.path().join(relative);
        let metadata =
            fs::metadata(&path).with_context(|| format!("could not look at {}", path.display()))?;
        Ok(metadata.permissions().mode() & 0o7777)
    }

    /// Everything below `HERMES_HOME`: relative path to kind, mode and content hash.
    pub fn tree(&self) -> anyhow::Result<BTreeMap<String, String>> {
        tree::list(&self.path())
    }

    /// One hash over [`Self::tree`]; equal hashes mean that nothing was touched.
    pub fn tree_hash(&self) -> anyhow::Result<String> {
        tree::hash(&self.tree()?)
    }

    /// Prepares the `hermes` binary; tests pass `env!("CARGO_BIN_EXE_hermes")`.
    pub fn hermes(&self, binary: impl AsRef<Path>) -> HermeticCommand {
        self.command(binary)
    }

    /// Prepares any program in this home: same empty environment, same workspace.
    pub fn command(&self, program: impl AsRef<Path>) -> HermeticCommand {
        HermeticCommand::new(program.as_ref(), &self.workspace)
            .env("HOME", &self.home)
            .env("HERMES_HOME", self.path())
            // Those that come with the program would be copied into every home; tests about them take this back.
            .env(
                "HERMES_BUNDLED_SKILLS",
                self.path().join("no-bundled-skills"),
            )
    }

    /// Replaces the temporary paths by `[HOME]` and `[WORK]`, for snapshots.
    pub fn scrub(&self, text: &str) -> String {
        text.replace(&*self.home.to_string_lossy(), "[HOME]")
            .replace(&*self.workspace.to_string_lossy(), "[WORK]")
    }
}

fn write_file(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)
            .with_context(|| format!("could not create {}", parent.display()))?;
    }
    fs::write(path, content).with_context(|| format!("could not write {}", path.display()))
}
