//! Programs that print a credential.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hermes_config::program_on;
use hermes_program::{Limits, ProgramError, run};
use tokio::process::Command;

use super::MintError;

/// A program may ask a service, but nobody: there is no terminal. No credential is as large as what it may print.
const LIMITS: Limits = Limits {
    time: Duration::from_secs(60),
    printed: 256 * 1024,
    complaint: 4 * 1024,
};
/// As much of a complaint is repeated.
const MOST_QUOTED: usize = 200;

/// A program, its arguments and its environment.
#[derive(Clone)]
pub(crate) struct Program {
    file: PathBuf,
    arguments: Vec<String>,
    environment: Arc<[(String, String)]>,
}

impl Program {
    /// A command line of a profile: words, and quotes around those with blanks. The program is looked for where
    /// its environment says.
    pub(crate) fn parse(line: &str, environment: Arc<[(String, String)]>) -> Option<Self> {
        let mut words = shell_words::split(line).ok()?.into_iter();
        let name = words.next()?;
        Some(Self {
            file: found(&name, &environment).unwrap_or_else(|| name.into()),
            arguments: words.collect(),
            environment,
        })
    }

    /// A program, if it is installed.
    pub(crate) fn installed(
        name: &str,
        arguments: &[&str],
        environment: Arc<[(String, String)]>,
    ) -> Option<Self> {
        Some(Self {
            file: found(name, &environment)?,
            arguments: arguments.iter().map(|&word| word.to_owned()).collect(),
            environment,
        })
    }

    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// What it prints, if it ends well and in time. Whatever it has started ends with it when it does not.
    pub(super) async fn output(&self) -> Result<String, MintError> {
        let failed = |why: String| MintError::File {
            file: self.file.clone(),
            why,
        };
        let mut command = Command::new(&self.file);
        command
            .args(&self.arguments)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        let ended = run(command, &[], LIMITS).await.map_err(|error| {
            failed(match error {
                ProgramError::NotStarted(error) => format!("it cannot be run: {error}"),
                ProgramError::TooSlow(limit) => {
                    format!("it printed no credential within {} s", limit.as_secs())
                }
                ProgramError::TooMuch(_) => "it prints more than a credential".to_owned(),
                ProgramError::Lost(error) => error.to_string(),
            })
        })?;
        if ended.status.success() {
            return Ok(String::from_utf8_lossy(&ended.printed).into_owned());
        }
        Err(failed(match ended.complaints().first() {
            Some(line) => format!(
                "it failed: {}",
                line.chars().take(MOST_QUOTED).collect::<String>()
            ),
            None => format!("it failed ({})", ended.status),
        }))
    }
}

/// The variables may be secrets of the program's own.
impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program")
            .field("file", &self.file)
            .field("arguments", &self.arguments)
            .finish_non_exhaustive()
    }
}

/// Where a program is that is named without a directory.
fn found(name: &str, environment: &[(String, String)]) -> Option<PathBuf> {
    let (_, path) = environment.iter().find(|(name, _)| name == "PATH")?;
    program_on(path, name)
}
