//! Running programs with an environment that holds only what the test put there.

mod capture;
mod exit;
mod output;
mod running;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use portable_pty::CommandBuilder;

pub use nix::sys::signal::Signal;

pub use self::output::Output;
pub use self::running::Running;

/// Where commands of tests look for programs: fixed, so that what the developer installed elsewhere cannot change a result.
pub const SYSTEM_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// A program to run, starting from an empty environment.
///
/// Made by [`crate::TempHome::hermes`] or [`crate::TempHome::command`]; the environment holds `HOME`,
/// `HERMES_HOME`, `PATH`, `TZ` and `LANG` until the test adds more.
#[derive(Debug, Clone)]
pub struct HermeticCommand {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) environment: BTreeMap<OsString, OsString>,
    pub(crate) directory: PathBuf,
    pub(crate) input: Vec<u8>,
    pub(crate) timeout: Duration,
}

impl HermeticCommand {
    pub(crate) fn new(program: &Path, directory: &Path) -> Self {
        Self {
            program: program.to_owned(),
            arguments: Vec::new(),
            environment: BTreeMap::new(),
            directory: directory.to_owned(),
            input: Vec::new(),
            timeout: DEFAULT_TIMEOUT,
        }
        .env("PATH", SYSTEM_PATH)
        .env("TZ", "UTC")
        .env("LANG", "C.UTF-8")
    }

    /// The same as a command line of its own, for programs that start others.
    pub fn line(&self) -> Vec<String> {
        let text = |word: &OsStr| word.to_string_lossy().into_owned();
        let mut line: Vec<String> = ["env", "-i", "-C"].map(str::to_owned).to_vec();
        line.push(self.directory.display().to_string());
        line.extend(
            self.environment
                .iter()
                .map(|(name, value)| format!("{}={}", text(name), text(value))),
        );
        line.push(self.program.display().to_string());
        line.extend(self.arguments.iter().map(|word| text(word)));
        line
    }

    /// Appends one argument.
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Appends arguments.
    pub fn args(mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        let owned = arguments
            .into_iter()
            .map(|argument| argument.as_ref().to_owned());
        self.arguments.extend(owned);
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.environment
            .insert(name.as_ref().to_owned(), value.as_ref().to_owned());
        self
    }

    /// Takes an environment variable away, the preset ones included.
    pub fn env_remove(mut self, name: impl AsRef<OsStr>) -> Self {
        self.environment.remove(name.as_ref());
        self
    }

    /// Starts in another directory.
    pub fn current_dir(mut self, directory: impl AsRef<Path>) -> Self {
        directory.as_ref().clone_into(&mut self.directory);
        self
    }

    /// Feeds these bytes to standard input, which is then closed. Without them it is empty.
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = bytes.into();
        self
    }

    /// Replaces the 30 s after which [`Self::run`] kills the process group.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Runs to the end.
    ///
    /// Fails when the program cannot start, prints without bound, or is not done in time; what it
    /// printed until then is in the error.
    pub fn run(&self) -> anyhow::Result<Output> {
        self.spawn()?.wait(self.timeout)
    }

    /// Starts in the background, in a process group of its own.
    pub fn spawn(&self) -> anyhow::Result<Running> {
        Running::start(self)
    }

    /// The same program for a pseudo-terminal.
    pub(crate) fn for_terminal(&self) -> CommandBuilder {
        let mut builder = CommandBuilder::new(&self.program);
        builder.args(&self.arguments);
        builder.env_clear();
        builder.env("TERM", "xterm-256color");
        for (name, value) in &self.environment {
            builder.env(name, value);
        }
        builder.cwd(&self.directory);
        builder
    }
}
