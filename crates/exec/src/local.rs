//! Commands on this machine, through the warden.

mod terminal;

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_core::future::BoxFuture;
use hermes_policy::{Confinement, Mode};
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::unix::pipe;

use crate::warden::{Handle, RunKey, Stdio, WardenProgram, lost};
use crate::{Backend, Control, Ending, ExecError, Input, Launch, Place, Process};
use terminal::{Size, Terminal};

/// What a writer may be ahead of us; the kernel's own size makes fast output four times slower.
const PIPE_BYTES: usize = 256 << 10;

/// Wraps commands so that they can touch only what they may.
///
/// `LocalBackend` calls it once for each start that asks for a confinement other than `Mode::Full`. An
/// implementation that cannot do all of what is asked fails: a command never runs with less around it.
pub trait Confiner: Send + Sync {
    /// The same command, confined. `directory` is where it starts.
    fn confine(
        &self,
        confinement: &Confinement,
        directory: Option<&Path>,
        argv: Vec<String>,
    ) -> Result<Vec<String>, ExecError>;

    /// What confines, in the words results use.
    fn mechanism(&self) -> &'static str;
}

/// What a local backend needs.
pub struct LocalOptions {
    /// How the warden's process is started.
    pub warden: WardenProgram,
    /// A directory of ours for temporary files; made when it is missing.
    pub scratch: PathBuf,
    /// What confines commands; without one a launch that asks for confinement is refused.
    pub confiner: Option<Arc<dyn Confiner>>,
}

/// Runs commands on this machine.
pub struct LocalBackend {
    warden: Handle,
    scratch: PathBuf,
    confiner: Option<Arc<dyn Confiner>>,
}

impl LocalBackend {
    /// A backend; nothing is started before it is used.
    pub fn new(options: LocalOptions) -> Self {
        Self {
            warden: Handle::new(options.warden),
            scratch: options.scratch,
            confiner: options.confiner,
        }
    }

    fn confined(&self, launch: &Launch) -> Result<Vec<String>, ExecError> {
        let argv = launch.argv.clone();
        let Some(asked) = launch.confinement.as_deref() else {
            return Ok(argv);
        };
        match &self.confiner {
            _ if asked.mode == Mode::Full => Ok(argv),
            Some(confiner) => {
                let confinement = self.with_scratch(asked)?;
                confiner.confine(&confinement, launch.directory.as_deref(), argv)
            }
            None => Err(ExecError::Confinement(
                "nothing on this machine can confine commands".to_owned(),
            )),
        }
    }

    /// The same confinement with our own temporary files in it: a shell keeps its state there.
    fn with_scratch(&self, asked: &Confinement) -> Result<Confinement, ExecError> {
        std::fs::create_dir_all(&self.scratch).map_err(|source| ExecError::Io {
            what: format!("making {}", self.scratch.display()),
            source,
        })?;
        let mut confinement = asked.clone();
        confinement.writable.push(self.scratch.clone());
        Ok(confinement)
    }

    async fn start(&self, launch: Launch) -> Result<Process, ExecError> {
        let argv = self.confined(&launch)?;
        let program = argv.first().cloned().unwrap_or_default();
        let ends = Ends::open(launch.input).map_err(|source| ExecError::Io {
            what: format!("preparing to start {program}"),
            source,
        })?;
        let started = self
            .warden
            .start(
                launch.id.as_str(),
                argv,
                launch.directory,
                launch.environment,
                ends.stdio,
                ends.theirs,
            )
            .await?;
        let exit = started.exit;
        let pid = u32::try_from(started.key.root).ok();
        Ok(Process {
            pid,
            output: ends.output,
            errors: ends.errors,
            input: ends.input,
            exit: Box::pin(async move { exit.await.map_err(|_| lost()) }),
            control: Arc::new(LocalControl {
                warden: self.warden.clone(),
                run: started.key,
                size: ends.size,
            }),
        })
    }
}

impl Backend for LocalBackend {
    fn place(&self) -> Place {
        Place::Host
    }

    fn scratch(&self) -> PathBuf {
        self.scratch.clone()
    }

    fn spawn(&self, launch: Launch) -> BoxFuture<'_, Result<Process, ExecError>> {
        Box::pin(self.start(launch))
    }

    /// Nothing is held: the warden goes when we do.
    fn close(&self) -> BoxFuture<'_, Result<(), ExecError>> {
        Box::pin(async {
            // The states of shells hold exported variables; they must not stay behind.
            match tokio::fs::remove_dir_all(&self.scratch).await {
                Err(source) if source.kind() != io::ErrorKind::NotFound => Err(ExecError::Io {
                    what: format!("removing {}", self.scratch.display()),
                    source,
                }),
                Ok(()) | Err(_) => Ok(()),
            }
        })
    }
}

/// Both sides of a process's standard input and output.
struct Ends {
    stdio: Stdio,
    theirs: Vec<OwnedFd>,
    output: Box<dyn AsyncRead + Send + Unpin>,
    errors: Option<Box<dyn AsyncRead + Send + Unpin>>,
    input: Option<Box<dyn AsyncWrite + Send + Unpin>>,
    size: Option<Size>,
}

impl Ends {
    fn open(input: Input) -> io::Result<Self> {
        if let Input::Terminal { rows, columns } = input {
            let terminal = Terminal::open(rows, columns)?;
            return Ok(Self {
                stdio: Stdio::Terminal,
                theirs: vec![terminal.theirs],
                output: Box::new(terminal.screen),
                errors: None,
                input: Some(Box::new(terminal.keyboard)),
                size: Some(terminal.size),
            });
        }
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        // A user at the limit of all pipes keeps the usual size, which works as well, only slower.
        let _ = fcntl_setpipe_size(&writer, PIPE_BYTES);
        let output = pipe::Receiver::from_owned_fd(reader)?;
        let (theirs, ours): (OwnedFd, Option<Box<dyn AsyncWrite + Send + Unpin>>) = match input {
            Input::Pipe | Input::Apart => {
                let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
                let sender = pipe::Sender::from_owned_fd(writer)?;
                (reader, Some(Box::new(sender)))
            }
            Input::None | Input::Terminal { .. } => (File::open("/dev/null")?.into(), None),
        };
        let mut ends = Self {
            stdio: Stdio::Pipes,
            theirs: vec![theirs, writer],
            output: Box::new(output),
            errors: None,
            input: ours,
            size: None,
        };
        if input == Input::Apart {
            let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
            ends.stdio = Stdio::Apart;
            ends.theirs.push(writer);
            ends.errors = Some(Box::new(pipe::Receiver::from_owned_fd(reader)?));
        }
        Ok(ends)
    }
}

struct LocalControl {
    warden: Handle,
    run: RunKey,
    size: Option<Size>,
}

impl Control for LocalControl {
    fn end(&self, how: Ending) -> BoxFuture<'_, Result<(), ExecError>> {
        Box::pin(self.warden.end(self.run.clone(), how))
    }

    fn resize(&self, rows: u16, columns: u16) -> BoxFuture<'_, Result<(), ExecError>> {
        Box::pin(async move {
            match &self.size {
                Some(size) => size.set(rows, columns).map_err(|source| ExecError::Io {
                    what: "resizing a terminal".to_owned(),
                    source,
                }),
                None => Ok(()),
            }
        })
    }
}
