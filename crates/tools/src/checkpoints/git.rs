//! Running `git` on the store.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_program::{Limits, ProgramError};
use tokio::process::Command;
use tokio_util::sync::CancellationToken;

use super::project::Project;
use super::{CheckpointError, CheckpointSettings};

/// Most bytes of what git prints.
const LARGEST_OUTPUT: usize = 64 << 20;
/// Most bytes of a complaint that are read.
const LARGEST_COMPLAINT: usize = 64 << 10;
/// Characters kept of a complaint.
const LONGEST_COMPLAINT: usize = 500;
/// What is never stored: dependencies, caches, binaries, media, secrets.
const EXCLUDED: &str = "\
.git/\n.hg/\n.svn/\nnode_modules/\nvendor/\n.venv/\nvenv/\n__pycache__/\n*.pyc\n.mypy_cache/\n.pytest_cache/\n.ruff_cache/\n\
.tox/\ntarget/\nbuild/\ndist/\nout/\n.next/\n.nuxt/\n.cache/\n.gradle/\n.terraform/\ncoverage/\n.idea/\n\
.env\n.env.*\n.envrc\n*.pem\n*.key\n*.log\n*.so\n*.o\n*.a\n*.dylib\n*.dll\n*.exe\n*.class\n*.jar\n*.wasm\n\
*.zip\n*.tar\n*.gz\n*.bz2\n*.xz\n*.7z\n*.rar\n*.zst\n*.iso\n*.dmg\n\
*.mp4\n*.mkv\n*.mov\n*.avi\n*.mp3\n*.wav\n*.flac\n*.png\n*.jpg\n*.jpeg\n*.gif\n*.webp\n*.pdf\n*.psd\n\
*.sqlite\n*.sqlite3\n*.db\n.hermes-tmp.*\n";
/// No attribute of a project may change a byte on the way in or out.
const ATTRIBUTES: &str = "* -text !eol !filter !ident !working-tree-encoding\n";

/// The store and the program that works on it.
#[derive(Clone)]
pub(super) struct Git {
    program: PathBuf,
    pub(super) store: PathBuf,
    timeout: Duration,
}

/// `git` for one project.
pub(super) struct At<'g> {
    git: &'g Git,
    cancel: &'g CancellationToken,
    workdir: Option<PathBuf>,
    index: Option<PathBuf>,
    date: Option<i64>,
}

impl Git {
    pub(super) fn new(settings: &CheckpointSettings) -> Self {
        Self {
            program: settings.git.clone(),
            store: settings.directory.join("store"),
            timeout: settings.timeout,
        }
    }

    pub(super) fn exists(&self) -> bool {
        self.store.join("HEAD").is_file()
    }

    /// On a project, with its own index.
    pub(super) fn at<'g>(&'g self, project: &Project, cancel: &'g CancellationToken) -> At<'g> {
        At {
            git: self,
            cancel,
            workdir: Some(project.workdir.clone()),
            index: Some(self.store.join("indexes").join(&project.hash)),
            date: None,
        }
    }

    /// On the store alone.
    pub(super) fn bare<'g>(&'g self, cancel: &'g CancellationToken) -> At<'g> {
        At {
            git: self,
            cancel,
            workdir: None,
            index: None,
            date: None,
        }
    }

    /// Makes the store if there is none.
    pub(super) async fn prepare(&self, cancel: &CancellationToken) -> Result<(), CheckpointError> {
        if !self.exists() {
            write(&self.store, None)?;
            self.bare(cancel)
                .text(&["init", "--quiet", "--bare"])
                .await?;
        }
        for directory in ["indexes", "projects", "info"] {
            write(&self.store.join(directory), None)?;
        }
        write(&self.store.join("info/exclude"), Some(EXCLUDED))?;
        write(&self.store.join("info/attributes"), Some(ATTRIBUTES))
    }
}

/// Makes a directory, or a file with this content unless it has it.
fn write(path: &Path, content: Option<&str>) -> Result<(), CheckpointError> {
    let done = match content {
        None => std::fs::create_dir_all(path),
        Some(content) if std::fs::read(path).is_ok_and(|old| old == content.as_bytes()) => Ok(()),
        Some(content) => std::fs::write(path, content),
    };
    done.map_err(|source| CheckpointError::Io {
        path: path.to_owned(),
        source,
    })
}

impl At<'_> {
    /// With another index.
    pub(super) fn with_index(mut self, index: PathBuf) -> Self {
        self.index = Some(index);
        self
    }

    /// With this time for new commits.
    pub(super) fn dated(mut self, seconds: i64) -> Self {
        self.date = Some(seconds);
        self
    }

    /// Runs a command and gives what it printed, without the last break.
    pub(super) async fn text(&self, arguments: &[&str]) -> Result<String, CheckpointError> {
        let out = self.run(arguments, Vec::new()).await?;
        let text = String::from_utf8_lossy(&out);
        Ok(text.trim_end_matches('\n').to_owned())
    }

    /// Runs a command with this input and gives the bytes it printed.
    pub(super) async fn run(
        &self,
        arguments: &[&str],
        input: Vec<u8>,
    ) -> Result<Vec<u8>, CheckpointError> {
        let limits = Limits {
            time: self.git.timeout,
            printed: LARGEST_OUTPUT,
            complaint: LARGEST_COMPLAINT,
        };
        let running = hermes_program::run(self.command(arguments), &input, limits);
        let refused = |told: String| CheckpointError::Git {
            command: arguments.first().copied().unwrap_or_default().to_owned(),
            told,
        };
        let ended = match self.cancel.run_until_cancelled(running).await {
            None => return Err(CheckpointError::Cancelled),
            Some(Ok(ended)) => ended,
            Some(Err(ProgramError::TooSlow(limit))) => {
                return Err(CheckpointError::TimedOut(limit));
            }
            Some(Err(error @ ProgramError::TooMuch(_))) => return Err(refused(error.to_string())),
            Some(Err(ProgramError::NotStarted(error) | ProgramError::Lost(error))) => {
                return Err(CheckpointError::NoGit(error));
            }
        };
        if ended.status.success() {
            return Ok(ended.printed);
        }
        let told = String::from_utf8_lossy(&ended.complaint);
        let start = told.len().saturating_sub(LONGEST_COMPLAINT);
        let told = told.get(told.ceil_char_boundary(start)..);
        Err(refused(told.unwrap_or_default().trim().to_owned()))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.git.program);
        command
            .args([
                "--literal-pathspecs",
                "-c",
                "gc.auto=0",
                "-c",
                "maintenance.auto=false",
            ])
            .args([
                "-c",
                "core.hooksPath=/dev/null",
                "-c",
                "commit.gpgSign=false",
            ])
            .args([
                "-c",
                "core.autocrlf=false",
                "-c",
                "core.fsmonitor=false",
                "-c",
                "core.quotePath=false",
            ])
            .args([
                "-c",
                "core.excludesFile=/dev/null",
                "-c",
                "core.attributesFile=/dev/null",
            ])
            // A directory of somebody else is read here, never trusted: hooks and settings in it have no say.
            .args(["-c", "safe.directory=*", "-c", "core.bare=false"])
            .args(arguments)
            .env_clear()
            .env("GIT_DIR", &self.git.store)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("LC_ALL", "C");
        for who in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{who}_NAME"), "hermes")
                .env(format!("GIT_{who}_EMAIL"), "hermes@localhost");
            if let Some(seconds) = self.date {
                command.env(format!("GIT_{who}_DATE"), format!("@{seconds} +0000"));
            }
        }
        if let Some(workdir) = &self.workdir {
            command.env("GIT_WORK_TREE", workdir).current_dir(workdir);
        }
        if let Some(index) = &self.index {
            command.env("GIT_INDEX_FILE", index);
        }
        command
    }
}
