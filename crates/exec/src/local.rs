//! Commands on this machine, through the warden.

mod cells;
mod terminal;

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use hermes_policy::{Confinement, Mode};
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::unix::pipe;
use tokio::sync::oneshot;

use crate::warden::{Handle, Order, RunKey, Stdio, WardenProgram, lost};
use crate::{Backend, Control, Ending, ExecError, Input, Launch, Place, Process};
use cells::{Cell, Cells};
use terminal::{Size, Terminal};

/// What a writer may be ahead of us; the kernel's own size makes fast output four times slower.
const PIPE_BYTES: usize = 256 << 10;

/// Wraps commands so that they can touch only what they may.
///
/// `LocalBackend` calls it once for each start that asks for a confinement other than `Mode::Full`. An
/// implementation that cannot do all of what is asked fails: a command never runs with less around it.
pub trait Confiner: Send + Sync {
    /// The same command, confined as things are now, started in the root directory. Looks at the disk.
    fn enclose(&self, confinement: &Confinement, argv: &[String]) -> Result<Enclosed, ExecError>;

    /// What confines, in the words results use.
    fn mechanism(&self) -> &'static str;
}

/// A command with a sandbox around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enclosed {
    /// The command line. Two that are the same make sandboxes that are the same.
    pub argv: Vec<String>,
    /// What commands inside must have in their environment.
    pub environment: Vec<(String, String)>,
}

/// What a local backend needs.
pub struct LocalOptions {
    /// How the warden's process is started.
    pub warden: WardenProgram,
    /// A directory of ours for temporary files. Confined commands write there only where their confinement says so:
    /// it holds what several sessions run.
    pub scratch: PathBuf,
    /// What confines commands; without one a launch that asks for confinement is refused.
    pub confiner: Option<Arc<dyn Confiner>>,
}

/// Runs commands on this machine.
pub struct LocalBackend {
    scratch: PathBuf,
    cells: Cells,
}

impl LocalBackend {
    /// A backend; nothing is started before it is used.
    pub fn new(options: LocalOptions) -> Self {
        let warden = Handle::new(options.warden.clone());
        Self {
            scratch: options.scratch,
            cells: Cells::new(options.confiner, options.warden, warden),
        }
    }

    /// Where a launch is started.
    async fn cell(&self, launch: &Launch) -> Result<Cell, ExecError> {
        match launch.confinement.as_deref() {
            Some(asked) if asked.mode != Mode::Full => {
                self.cells.confined(asked.clone(), &launch.id).await
            }
            Some(_) | None => Ok(self.cells.open(&launch.id)),
        }
    }

    async fn start(&self, launch: Launch) -> Result<Process, ExecError> {
        let cell = self.cell(&launch).await?;
        let program = launch.argv.first().cloned().unwrap_or_default();
        let mut ends = Ends::open(launch.input).map_err(|source| ExecError::Io {
            what: format!("preparing to start {program}"),
            source,
        })?;
        let mut environment = launch.environment;
        environment.extend(cell.environment.iter().cloned());
        let warden = cell.warden.clone();
        let order = Order {
            marker: launch.id.as_str().to_owned(),
            argv: launch.argv,
            directory: launch.directory,
            environment,
            stdio: ends.stdio,
            files: std::mem::take(&mut ends.theirs),
        };
        let started = warden.start(order).await?;
        let ends = ends.with(started.screen).map_err(|source| ExecError::Io {
            what: format!("using the terminal of {program}"),
            source,
        })?;
        let (exit, cells) = (started.exit, self.cells.clone());
        let (tell, cut_off) = oneshot::channel();
        Ok(Process {
            pid: u32::try_from(started.pid).ok(),
            output: ends.output,
            errors: ends.errors,
            input: ends.input,
            exit: Box::pin(async move {
                let ended = exit.await.map_err(|_| lost())?;
                // What was left behind stays apart from the next command.
                if !ended.left {
                    cells.put(cell);
                }
                if ended.cut_off {
                    // Nobody has to care.
                    let _ = tell.send(());
                }
                Ok(ended.exit)
            }),
            cut_off: Some(cut_off),
            control: Arc::new(LocalControl {
                warden,
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
            return Ok(Self {
                stdio: Stdio::Terminal { rows, columns },
                theirs: Vec::new(),
                output: Box::new(tokio::io::empty()),
                errors: None,
                input: None,
                size: None,
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

impl Ends {
    /// With the terminal that was made for the command.
    fn with(mut self, screen: Option<OwnedFd>) -> io::Result<Self> {
        if let Some(screen) = screen {
            let terminal = Terminal::of(screen)?;
            self.output = Box::new(terminal.screen);
            self.input = Some(Box::new(terminal.keyboard));
            self.size = Some(terminal.size);
        }
        Ok(self)
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
