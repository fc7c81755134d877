//! One conversation's shell: single commands that go on where the last one ended.
//!
//! Every command is a bash of its own. What carries over — directory, exported variables, functions,
//! aliases — is handed on in files where the commands run, so it works the same on every backend. A
//! command that does not get to its end leaves the state as it was.

pub(crate) mod commands;
mod handed;
pub(crate) mod lexer;
mod probe;
pub(crate) mod rewrite;
mod saved;
mod script;
mod slots;
mod trailer;
mod types;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hermes_secrets::ChildName;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use crate::capture::{Capture, Decoder};
use crate::follow::{Ended, Follow, follow};
use crate::{ExecError, Exit, Granted, Input, Launch, Place, RunId};
use handed::{Found, Put};
pub use probe::sudo_needs_no_password;
pub use rewrite::{sudo_count, sudo_rejected};
use script::{Script, Start, Told};
use slots::Slots;
use trailer::Filter;
pub use types::{Command, Finished, Ready, ShellOptions, Startup};

/// How long the user's start-up files may take.
const STARTUP_LIMIT: Duration = Duration::from_secs(30);
const STARTUP_OUTPUT: usize = 4 << 10;
const TIMED_OUT: i32 = 124;
const INTERRUPTED: i32 = 130;
/// Nobody knows how it ended.
const UNKNOWN: i32 = -1;
/// What shells add to the number of a signal.
const BY_SIGNAL: i32 = 128;
/// The name a password is bound to.
const SUDO: &str = "sudo";

/// One conversation's shell.
pub struct Shell {
    options: ShellOptions,
    /// Where our files are, where commands run.
    folder: PathBuf,
    state: Mutex<State>,
    prepared: OnceCell<()>,
    granted: Granted,
}

struct State {
    directory: PathBuf,
    slots: Slots,
    /// Which making of the place the newest command ran in.
    edition: u64,
    /// Whether a command has handed anything on, which can be lost.
    handed_on: bool,
    /// What was handed on last, for when the files are gone: a container that was stopped, a machine that was
    /// away. Only of places that are not this machine, and only when it is not too long.
    kept: Option<Vec<u8>>,
}

/// A command as it is handed over.
struct Typed {
    text: String,
    input: Vec<u8>,
    file: Option<PathBuf>,
}

/// What became of running a command.
enum Ran {
    /// It ran; with the trailer comes the state that was told.
    To(Box<Finished>, Option<(trailer::Trailer, Option<Vec<u8>>)>),
    /// Nothing began: what the command was to go on from is not there any more.
    Lost,
}

impl Shell {
    /// A shell; nothing runs before it is used.
    pub fn new(options: ShellOptions) -> Self {
        let name = format!("hermes-shell-{:016x}", options.random.next_u64());
        Self {
            folder: options.folder.join(name),
            state: Mutex::new(State {
                directory: options.directory.clone(),
                slots: Slots::default(),
                edition: 0,
                handed_on: false,
                kept: None,
            }),
            prepared: OnceCell::new(),
            granted: Granted::default(),
            options,
        }
    }

    /// The same shell, whose commands also see what is granted, now and later.
    #[must_use]
    pub fn granting(mut self, granted: Granted) -> Self {
        self.granted = granted;
        self
    }

    fn environment(&self) -> Vec<(String, String)> {
        self.granted.on_top_of(&self.options.environment)
    }

    /// Where the next command starts.
    pub fn directory(&self) -> PathBuf {
        self.with_state(|state| state.directory.clone())
    }

    /// Reads the start-up files unless that was done. The first command does it too; calling this earlier
    /// saves that command the wait.
    pub async fn prepare(&self) -> Result<(), ExecError> {
        let first = async {
            if let Some(ready) = &self.options.ready {
                ready();
            }
            self.start_up().await
        };
        self.prepared.get_or_try_init(|| first).await?;
        Ok(())
    }

    /// The directory it keeps its state in, made if need be.
    pub async fn folder(&self) -> Result<&Path, ExecError> {
        self.prepare().await?;
        Ok(&self.folder)
    }

    /// Runs a command. It is stopped when `cancel` fires, with everything it started, and `on_output` gets
    /// what it says as it says it.
    pub async fn run(
        &self,
        command: Command,
        cancel: &CancellationToken,
        on_output: &mut (dyn FnMut(&str) + Send),
    ) -> Result<Finished, ExecError> {
        tokio::select! {
            biased;
            () = cancel.cancelled() => return Ok(self.never_ran()),
            prepared = self.prepare() => prepared?,
        }
        let (text, mut input) = with_password(&command)?;
        input.extend_from_slice(command.input.as_deref().unwrap_or_default());
        let file = match self.put(&text, &command, cancel).await? {
            Put::Stopped => return Ok(self.never_ran()),
            Put::Unneeded => None,
            Put::In(file) => Some(file),
        };
        let typed = Typed { text, input, file };
        let mut found = None;
        loop {
            let (lease, directory) =
                self.with_state(|state| (state.slots.lease(), state.directory.clone()));
            let ran = self
                .run_in(&command, &typed, lease, &directory, cancel, on_output)
                .await;
            self.with_state(|state| match &ran {
                Ok(Ran::To(_, Some((trailer, told)))) => {
                    state.slots.give_back(lease, trailer.saved);
                    state.directory.clone_from(&trailer.directory);
                    if trailer.saved {
                        state.handed_on = true;
                        state.kept.clone_from(told);
                    }
                }
                Ok(Ran::To(_, None)) | Err(_) => state.slots.give_back(lease, false),
                Ok(Ran::Lost) => state.slots.lose(lease),
            });
            let (mut finished, trailer) = match ran? {
                Ran::To(finished, trailer) => (*finished, trailer),
                Ran::Lost if found.is_none() => {
                    found = Some(self.put_back().await?);
                    continue;
                }
                Ran::Lost => {
                    let what = format!(
                        "keeping the state of the shell in {}",
                        self.folder.display()
                    );
                    let source = std::io::ErrorKind::NotFound.into();
                    return Err(ExecError::Io { what, source });
                }
            };
            if let Some((trailer, _)) = trailer {
                finished.missing_directory = trailer.moved.then_some(directory);
                finished.unsaved = (!trailer.saved).then(|| self.folder.clone());
            }
            finished.started_over = found == Some(Found::Nothing);
            finished.directory = self.directory();
            return Ok(finished);
        }
    }

    /// How much of its state a command tells.
    fn told(&self) -> Told {
        match self.options.backend.place() {
            Place::Host => Told::Saved,
            Place::Away { .. } => Told::Whole,
        }
    }

    async fn run_in(
        &self,
        command: &Command,
        typed: &Typed,
        lease: slots::Lease,
        directory: &Path,
        cancel: &CancellationToken,
        on_output: &mut (dyn FnMut(&str) + Send),
    ) -> Result<Ran, ExecError> {
        let word = self.unique();
        let input = typed.input.clone();
        let arguments = Script {
            word: &word,
            from: lease.from.map(|slot| self.file(slot)).as_deref(),
            to: &self.file(lease.to),
            start: match &command.workdir {
                Some(workdir) => Start::At(workdir),
                None => Start::Near(directory),
            },
            command: &typed.text,
            file: typed.file.as_deref(),
            told: self.told(),
        }
        .build();
        let stdin = command.stdin(&input)?;
        let process = self.spawn(arguments, stdin, command).await?;
        let mut capture = Capture::new(self.options.output_limit);
        let mut filter = Filter::new(&word);
        let mut decoder = Decoder::default();
        let how = Follow {
            timeout: command.timeout,
            cancel,
            input,
        };
        let followed = follow(process, how, &mut |bytes| {
            filter.push(bytes, &mut |output| {
                capture.push(output);
                on_output(&decoder.push(output));
            });
        })
        .await?;
        filter.finish(&mut |output| capture.push(output));
        if filter.lost && followed.ended == Ended::Done {
            return Ok(Ran::Lost);
        }
        let finished = Finished {
            output: capture.finish(),
            exit_code: exit_code(followed.ended, followed.exit),
            ended: followed.ended,
            directory: directory.to_owned(),
            missing_directory: None,
            unsaved: None,
            started_over: false,
            cut_off: followed.cut_off,
            place: self.options.backend.place(),
        };
        let told = filter.state.map(|state| match command.terminal {
            // The terminal made two of every line's end.
            Some(_) => one_line_end(&state),
            None => state,
        });
        Ok(Ran::To(
            Box::new(finished),
            filter.trailer.map(|trailer| (trailer, told)),
        ))
    }

    /// What starts a command in the background, from the state this shell has now. What it changes stays
    /// its own.
    pub async fn background(&self, command: &Command) -> Result<Launch, ExecError> {
        self.prepare().await?;
        let never = CancellationToken::new();
        if self.options.backend.place() != Place::Host {
            // The place may have been made anew since, and nobody would hear of it from a command in the background.
            let nothing = Command {
                text: ":".to_owned(),
                timeout: STARTUP_LIMIT,
                ..Command::default()
            };
            self.run(nothing, &never, &mut |_| {}).await?;
        }
        let (from, directory) =
            self.with_state(|state| (state.slots.current(), state.directory.clone()));
        let file = match self.put(&command.text, command, &never).await? {
            Put::Stopped | Put::Unneeded => None,
            Put::In(file) => Some(file),
        };
        let mut argv = vec!["bash".to_owned()];
        argv.extend(script::detached(
            from.map(|slot| self.file(slot)).as_deref(),
            match &command.workdir {
                Some(workdir) => Start::At(workdir),
                None => Start::Near(&directory),
            },
            &command.text,
            file.as_deref(),
        ));
        let mut environment = self.environment();
        // Otherwise nothing would be seen of a program until it has said a lot.
        environment.push(("PYTHONUNBUFFERED".to_owned(), "1".to_owned()));
        Ok(Launch {
            id: RunId::new(self.unique()),
            argv,
            directory: None,
            environment,
            input: match command.terminal {
                Some((rows, columns)) => Input::Terminal { rows, columns },
                None => Input::Pipe,
            },
            confinement: command.confinement.clone(),
        })
    }

    /// Makes the folder and the first state.
    async fn start_up(&self) -> Result<(), ExecError> {
        let folder = script_path(&self.folder);
        let make = format!("\\builtin umask 077; mkdir -p -- {folder} || \\builtin exit 1\n");
        let read = match &self.options.startup {
            Startup::Nothing => String::new(),
            Startup::Login => "[[ ! -r ~/.bashrc ]] || \\builtin source ~/.bashrc\n".to_owned(),
            Startup::Files(files) => files
                .iter()
                .map(|file| format!("\\builtin source {}\n", script::quote_path(file)))
                .collect(),
        };
        let lease = self.with_state(|state| state.slots.lease());
        let save = format!(
            "{{ {}; }} >| {}\n",
            script::STATE,
            script_path(&self.file(lease.to))
        );
        let login = self.options.startup == Startup::Login;
        // Files that end the shell, hang or fail must not keep the user from the first command: then it
        // starts without them, once the folder is there.
        let tries = [
            (login, true, format!("{make}{read}{save}")),
            (false, false, make),
        ];
        let mut saved = false;
        for (login, saves, text) in tries {
            let flag = if login { "-lc" } else { "-c" };
            let command = Command {
                timeout: STARTUP_LIMIT,
                ..Command::default()
            };
            let process = self
                .spawn(vec![flag.to_owned(), text], Input::None, &command)
                .await?;
            let mut output = Capture::new(STARTUP_OUTPUT);
            let how = Follow {
                timeout: STARTUP_LIMIT,
                cancel: &CancellationToken::new(),
                input: Vec::new(),
            };
            let followed = follow(process, how, &mut |bytes| output.push(bytes)).await?;
            if followed.ended == Ended::Lost {
                return Err(ExecError::broke());
            }
            if followed.exit == Some(Exit::Code(0)) {
                saved = saves;
                break;
            }
            tracing::warn!(output = output.finish().text, "shell start-up files failed");
        }
        self.with_state(|state| state.slots.give_back(lease, saved));
        Ok(())
    }

    async fn spawn(
        &self,
        arguments: Vec<String>,
        input: Input,
        command: &Command,
    ) -> Result<crate::Process, ExecError> {
        let mut argv = vec!["bash".to_owned()];
        argv.extend(arguments);
        let launch = Launch {
            id: RunId::new(self.unique()),
            argv,
            directory: None,
            environment: self.environment(),
            input,
            confinement: command.confinement.clone(),
        };
        let spawned = self.options.backend.spawn(launch).await;
        match spawned {
            Err(ExecError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                Err(ExecError::Unavailable {
                    backend: match self.options.backend.place() {
                        Place::Host => "local",
                        Place::Away { kind, .. } => kind,
                    },
                    cause: "there is no bash on the PATH".to_owned(),
                    next: "Install bash, or set PATH so that it is found".to_owned(),
                })
            }
            other => {
                let edition = self.options.backend.edition();
                self.with_state(|state| state.edition = edition);
                other
            }
        }
    }

    fn never_ran(&self) -> Finished {
        Finished {
            output: Capture::new(0).finish(),
            exit_code: INTERRUPTED,
            ended: Ended::Interrupted,
            directory: self.directory(),
            missing_directory: None,
            unsaved: None,
            started_over: false,
            cut_off: false,
            place: self.options.backend.place(),
        }
    }

    fn file(&self, slot: u32) -> PathBuf {
        self.folder.join(format!("state-{slot}"))
    }

    fn unique(&self) -> String {
        format!("{:016x}", self.options.random.next_u64())
    }

    fn with_state<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The text with every `sudo` made to read a password, and the lines it reads.
fn with_password(command: &Command) -> Result<(String, Vec<u8>), ExecError> {
    let text = rewrite::detach_lists(&command.text);
    let Some(password) = &command.sudo_password else {
        return Ok((text, Vec::new()));
    };
    let (text, count) = rewrite::feed_sudo(&text);
    let password = password
        .expose_to_child(&ChildName::new(SUDO))
        .map_err(|error| ExecError::Unavailable {
            backend: "local",
            cause: format!("the sudo password cannot be used: {error}"),
            next: "Bind it to the child `sudo`".to_owned(),
        })?;
    Ok((text, format!("{password}\n").repeat(count).into_bytes()))
}

/// Text as it was before a terminal showed it.
fn one_line_end(text: &[u8]) -> Vec<u8> {
    let mut rest = text.iter().peekable();
    let mut one = Vec::with_capacity(text.len());
    while let Some(byte) = rest.next() {
        if *byte != b'\r' || rest.peek() != Some(&&b'\n') {
            one.push(*byte);
        }
    }
    one
}

fn exit_code(ended: Ended, exit: Option<Exit>) -> i32 {
    match (ended, exit) {
        (Ended::TimedOut, _) => TIMED_OUT,
        (Ended::Interrupted, _) => INTERRUPTED,
        (Ended::Done, Some(Exit::Code(code))) => code,
        (Ended::Done, Some(Exit::Signal(signal))) => BY_SIGNAL + signal,
        (Ended::Done, None) | (Ended::Lost, _) => UNKNOWN,
    }
}

fn script_path(path: &Path) -> String {
    crate::supervise::quote(&path.to_string_lossy())
}

/// The script that runs a command, for programs that try it on texts of their own.
pub(crate) fn wrapped(text: &str) -> String {
    let file = script::is_long(text).then(|| Path::new("/command"));
    let mut arguments = script::detached(None, Start::At("/"), text, file);
    arguments.pop().unwrap_or_default()
}
