//! Changes and commits, by the `git` program.

use std::path::Path;
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_program::{Limits, ProgramError};
use tokio::process::Command;

use super::fenced;
use super::guard::Guard;

/// How long git may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// How much of a complaint is read.
const MOST_COMPLAINT: usize = 2_000;
/// A repository must not run programs of its own because somebody looks at it.
const CAREFUL: [&str; 4] = [
    "--no-pager",
    "--no-optional-locks",
    "-c",
    "core.fsmonitor=false",
];
const PLAIN: [&str; 3] = ["--no-ext-diff", "--no-textconv", "--no-color"];

/// How git is started for what a message refers to.
///
/// Called once for each reference to changes or commits. A repository's settings name programs that git runs, and
/// a command of the agent may have written them, so that git must get no more rights than such a command has.
pub trait Git: Send + Sync {
    /// What is started in `directory` to run git with these arguments, or why it cannot be.
    fn start<'a>(
        &'a self,
        directory: &'a Path,
        arguments: Vec<String>,
    ) -> BoxFuture<'a, Result<Starting, String>>;
}

/// A program that is about to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Starting {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Its whole environment.
    pub environment: Vec<(String, String)>,
}

/// The workspace and how git is started in it.
#[derive(Clone, Copy)]
pub(super) struct Repository<'a> {
    pub(super) directory: &'a Path,
    pub(super) git: &'a dyn Git,
    pub(super) guard: &'a Guard,
}

/// Which changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Changes {
    /// Those that are not staged.
    Unstaged,
    /// Those that are.
    Staged,
}

/// Changes of the workspace. `most` is in bytes.
pub(super) async fn diff(
    repository: Repository<'_>,
    which: Changes,
    most: usize,
) -> Result<String, String> {
    let (words, title): (&[&str], _) = match which {
        Changes::Unstaged => (&["diff"], "Changes that are not staged"),
        Changes::Staged => (&["diff", "--staged"], "Staged changes"),
    };
    let text = run(repository, words, most).await?;
    Ok(block(title, &text))
}

/// The last commits that touch the workspace. `most` is in bytes.
pub(super) async fn commits(
    repository: Repository<'_>,
    count: u32,
    most: usize,
) -> Result<String, String> {
    let count = format!("-{count}");
    let text = run(repository, &["log", "--patch", &count], most).await?;
    Ok(block("The last commits", &text))
}

fn block(title: &str, text: &str) -> String {
    if text.trim().is_empty() {
        format!("{title}: none")
    } else {
        format!("{title}:\n{}", fenced("diff", text))
    }
}

async fn run(repository: Repository<'_>, words: &[&str], most: usize) -> Result<String, String> {
    let Repository {
        directory,
        git,
        guard,
    } = repository;
    let fixed = CAREFUL.iter().chain(words).chain(&PLAIN);
    let arguments = fixed.chain(&["--", "."]).map(|word| (*word).to_owned());
    let arguments = arguments.chain(guard.exclusions(directory)?).collect();
    let starting = git.start(directory, arguments).await?;
    let Some((program, rest)) = starting.argv.split_first() else {
        return Err("git cannot be run: nobody says how".to_owned());
    };
    let mut command = Command::new(program);
    command
        .args(rest)
        .env_clear()
        .envs(starting.environment)
        .current_dir(directory);
    let limits = Limits {
        time: PATIENCE,
        printed: most,
        complaint: MOST_COMPLAINT,
    };
    let ended = hermes_program::run(command, &[], limits).await;
    let ended = ended.map_err(|error| match error {
        ProgramError::NotStarted(error) => format!("git cannot be run: {error}"),
        ProgramError::TooSlow(limit) => format!("git took longer than {} s", limit.as_secs()),
        ProgramError::TooMuch(_) => "there is too much of it; commit or name less".to_owned(),
        ProgramError::Lost(error) => format!("git cannot be read: {error}"),
    })?;
    if !ended.status.success() {
        let complaint = ended.complaints().into_iter().next();
        return Err(complaint.unwrap_or_else(|| "git failed".to_owned()));
    }
    Ok(String::from_utf8_lossy(&ended.printed).into_owned())
}
