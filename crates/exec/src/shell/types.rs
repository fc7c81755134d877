//! What a shell is told and tells.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hermes_core::Random;
use hermes_policy::Confinement;
use hermes_secrets::Secret;

use crate::capture::Captured;
use crate::follow::Ended;
use crate::{Backend, ExecError, Input, Place};

/// What a shell needs.
pub struct ShellOptions {
    /// Where commands run.
    pub backend: Arc<dyn Backend>,
    /// Where the first command starts; absolute where commands run, or `~`.
    pub directory: PathBuf,
    /// The environment of its commands.
    pub environment: Vec<(String, String)>,
    /// What is read before the first command.
    pub startup: Startup,
    /// Most bytes of output kept of a command.
    pub output_limit: usize,
    /// The directory, where commands run, in which it keeps its state. Who can write there decides what its
    /// commands mean.
    pub folder: PathBuf,
    /// Called before the first command, by whoever has to make the directory or to look after it.
    pub ready: Option<Ready>,
    /// Makes names nobody else has.
    pub random: Arc<dyn Random>,
}

/// What is done before the first command.
pub type Ready = Arc<dyn Fn() + Send + Sync>;

/// What is read before the first command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Startup {
    /// Nothing.
    Nothing,
    /// What a login shell reads, and `~/.bashrc`.
    Login,
    /// These files.
    Files(Vec<String>),
}

/// A command.
#[derive(Debug, Default)]
pub struct Command {
    /// The text.
    pub text: String,
    /// Where it starts instead of where the last one ended.
    pub workdir: Option<String>,
    /// How long it may take.
    pub timeout: Duration,
    /// What it reads. `None` is empty.
    pub input: Option<Vec<u8>>,
    /// Runs it on a terminal of this many rows and columns.
    pub terminal: Option<(u16, u16)>,
    /// The password its `sudo`s are given, bound to the child `sudo`.
    pub sudo_password: Option<Secret>,
    /// What it may touch.
    pub confinement: Option<Arc<Confinement>>,
}

impl Command {
    /// What its standard input is, when this is typed besides.
    pub(super) fn stdin(&self, typed: &[u8]) -> Result<Input, ExecError> {
        match self.terminal {
            // It would be shown.
            Some(_) if !typed.is_empty() && self.input.is_none() => Err(ExecError::Io {
                what: "typing a password into a terminal".to_owned(),
                source: std::io::Error::other("it would be shown there; run it without pty"),
            }),
            Some((rows, columns)) => Ok(Input::Terminal { rows, columns }),
            None if typed.is_empty() && self.input.is_none() => Ok(Input::None),
            None => Ok(Input::Pipe),
        }
    }
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// What it said, standard error included.
    pub output: Captured,
    /// 124 when its time was up, 130 when it was stopped, -1 when nobody knows.
    pub exit_code: i32,
    /// Why it ended.
    pub ended: Ended,
    /// Where the next command starts.
    pub directory: PathBuf,
    /// Where it should have started, when that is gone.
    pub missing_directory: Option<PathBuf>,
    /// Where what it exported and defined should have been written, when that was not possible. The next command
    /// starts from what was there before.
    pub unsaved: Option<PathBuf>,
    /// Whether what earlier commands exported and defined was gone and could not be put back, so that it started
    /// like a first one. The next command goes on from this one again.
    pub started_over: bool,
    /// Whether what it left running in its sandbox did not end in time and was made to.
    pub cut_off: bool,
    /// Where it ran.
    pub place: Place,
}
