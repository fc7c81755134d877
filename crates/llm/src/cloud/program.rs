//! Programs that print a credential.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use hermes_config::program_on;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};

use super::MintError;

/// A program may ask a service, but nobody: there is no terminal.
const LONGEST: Duration = Duration::from_secs(60);
/// More than any credential has.
const MOST_BYTES: u64 = 256 * 1024;
/// As much of a complaint is kept.
const MOST_COMPLAINT: u64 = 4 * 1024;
/// As much of it is repeated.
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
        let child = Command::new(&self.file)
            .args(&self.arguments)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| failed(format!("it cannot be run: {error}")))?;
        let mut running = Running(child);
        match tokio::time::timeout(LONGEST, running.collect()).await {
            Ok(result) => result.map_err(failed),
            Err(_) => Err(failed(format!(
                "it printed no credential within {} s",
                LONGEST.as_secs()
            ))),
        }
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

/// A program at work; dropping it before its end ends its whole group.
struct Running(Child);

impl Running {
    async fn collect(&mut self) -> Result<String, String> {
        let (stdout, stderr) = (self.0.stdout.take(), self.0.stderr.take());
        let printing = async {
            let (printed, _) = some(stdout, MOST_BYTES + 1).await;
            printed
        };
        let complaining = async {
            let (complaint, rest) = some(stderr, MOST_COMPLAINT).await;
            if let Some(mut rest) = rest {
                // A program that cannot go on complaining would end before it prints.
                let _ = tokio::io::copy(&mut rest, &mut tokio::io::sink()).await;
            }
            complaint
        };
        let (printed, complaint) = tokio::join!(printing, complaining);
        if printed.len() as u64 > MOST_BYTES {
            return Err("it prints more than a credential".to_owned());
        }
        let status = self.0.wait().await.map_err(|error| error.to_string())?;
        if status.success() {
            return Ok(String::from_utf8_lossy(&printed).into_owned());
        }
        let complaint = String::from_utf8_lossy(&complaint);
        let first = complaint.lines().map(str::trim).find(|it| !it.is_empty());
        Err(match first {
            Some(line) => format!(
                "it failed: {}",
                line.chars().take(MOST_QUOTED).collect::<String>()
            ),
            None => format!("it failed ({status})"),
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // There is no number any more once its end was heard: the group may be somebody else's by then.
        if let Some(group) = self.0.id().and_then(|id| i32::try_from(id).ok()) {
            // It may have ended by itself meanwhile.
            let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
        }
    }
}

/// What comes before the end or the limit, and the pipe behind the limit; one that breaks has ended.
async fn some<P: AsyncRead + Unpin>(pipe: Option<P>, most: u64) -> (Vec<u8>, Option<P>) {
    let mut bytes = Vec::new();
    let Some(pipe) = pipe else {
        return (bytes, None);
    };
    let mut pipe = pipe.take(most);
    // What was read before an error stands.
    let read = pipe.read_to_end(&mut bytes).await;
    let more = read.is_ok() && pipe.limit() == 0;
    (bytes, more.then(|| pipe.into_inner()))
}

/// Where a program is that is named without a directory.
fn found(name: &str, environment: &[(String, String)]) -> Option<PathBuf> {
    let (_, path) = environment.iter().find(|(name, _)| name == "PATH")?;
    program_on(path, name)
}
