//! The warden's own process: starts, reaps and ends runs until its socket closes.

use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::Pid;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::{FdFlags, fcntl_dupfd_cloexec, fcntl_setfd};
use rustix::process::{WaitOptions, wait};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::tree::{BADGE, GONE_WITHIN, LOOK_EVERY, MARKER, Scope, Seen, Table, signal_all};
use super::wire::{Inbox, Report, Request, RunKey, Stdio, frame, send};

/// The program a terminal's process starts as, whatever happened to our file since.
const OURSELVES: &str = "/proc/self/exe";
/// Far from the numbers that scripts use.
const BADGE_FD: i32 = 64;

/// What a warden looks after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Wardens of one run each, and what runs left behind that had no cell.
    First,
    /// One run after the other in the same sandbox. What one leaves behind ends with it.
    Cell,
    /// One run after the other, as long as none leaves anything behind. What the last one leaves goes to the first
    /// warden when this one ends.
    Nest,
}

/// Serves until the socket on standard input closes; then ends everything, giving it `grace` to do so by
/// itself.
pub(super) fn serve(
    kind: Kind,
    socket: OwnedFd,
    grace: Duration,
    launcher: &[String],
) -> io::Result<()> {
    nix::sys::prctl::set_child_subreaper(true)?;
    if kind == Kind::Cell {
        // A run could otherwise look into us, where the environment of the next one will be.
        nix::sys::prctl::set_dumpable(false)?;
    }
    // Already leading a session is as good.
    let _ = nix::unistd::setsid();
    // Only the socket decides when it is over: whoever signals a whole group does not mean us.
    let mut mask = SigSet::empty();
    for signal in [
        Signal::SIGCHLD,
        Signal::SIGHUP,
        Signal::SIGINT,
        Signal::SIGQUIT,
        Signal::SIGTERM,
    ] {
        mask.add(signal);
    }
    mask.thread_block()?;
    let signals = SignalFd::with_flags(&mask, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
    let mut warden = Serving {
        kind,
        socket,
        signals,
        mask,
        launcher,
        pid: nix::unistd::getpid().as_raw(),
        parent: nix::unistd::getppid(),
        running: HashMap::new(),
    };
    // A broken conversation ends like a closed one: nothing may be left behind.
    let ended = warden
        .report(&Report::Ready, &[])
        .and_then(|()| warden.converse());
    warden.end_everything(grace);
    ended
}

struct Serving<'a> {
    kind: Kind,
    socket: OwnedFd,
    signals: SignalFd,
    /// What arrives at `signals` instead of ending us.
    mask: SigSet,
    launcher: &'a [String],
    pid: i32,
    /// Who started us: the first warden, for one of its wardens.
    parent: Pid,
    /// The first process of each run that has not ended, and what the run is called.
    running: HashMap<i32, u64>,
}

impl Serving<'_> {
    fn converse(&mut self) -> io::Result<()> {
        let mut inbox = Inbox::default();
        loop {
            let (asked, died) = self.wait(None)?;
            if died {
                self.reap()?;
            }
            if !asked {
                continue;
            }
            match inbox.fill(self.socket.as_fd()) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            while let Some(request) = inbox.next()? {
                self.answer(request, &mut inbox)?;
            }
        }
    }

    /// Waits for the socket or a child. Answers which of them have something.
    fn wait(&self, limit: Option<Duration>) -> io::Result<(bool, bool)> {
        let mut ready = [
            PollFd::new(&self.socket, PollFlags::IN),
            PollFd::new(&self.signals, PollFlags::IN),
        ];
        let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
        match poll(&mut ready, limit.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let [socket, signals] = ready;
        let has = |ready: &PollFd<'_>| !ready.revents().is_empty();
        Ok((has(&socket), has(&signals)))
    }

    fn answer(&mut self, request: Request, inbox: &mut Inbox) -> io::Result<()> {
        match request {
            Request::Start {
                number,
                argv,
                directory,
                environment,
                stdio,
            } => {
                let files = inbox
                    .files
                    .drain(..stdio.files().min(inbox.files.len()))
                    .collect();
                let mut command = match stdio {
                    Stdio::Pipes | Stdio::Apart | Stdio::Cell => {
                        Command::new(argv.first().map_or("", String::as_str))
                    }
                    Stdio::Terminal { .. } => {
                        let mut command = Command::new(OURSELVES);
                        command.args(self.launcher).args(argv.first());
                        command
                    }
                };
                command.args(argv.iter().skip(1));
                let badge = environment
                    .iter()
                    .find(|(name, _)| name == MARKER)
                    .filter(|_| self.kind == Kind::Nest)
                    .and_then(|(_, runs)| badge(runs).ok());
                command.env_clear().envs(environment);
                if let Some(directory) = directory {
                    command.current_dir(directory);
                }
                let started = connect(&mut command, stdio, files)
                    .and_then(|screen| Ok((self.spawn(&mut command)?, screen)));
                drop(badge);
                let mut screens = Vec::new();
                let report = match started {
                    Ok((child, screen)) => {
                        screens.extend(screen);
                        let pid = i32::try_from(child.id()).unwrap_or_default();
                        self.running.insert(pid, number);
                        let started = Seen::of(pid).map_or(0, |seen| seen.started);
                        Report::Started {
                            number,
                            pid,
                            started,
                        }
                    }
                    Err(error) => Report::Refused {
                        number,
                        errno: error.raw_os_error().unwrap_or(nix::libc::EINVAL),
                    },
                };
                self.report(&report, &screens)?;
                // While it was being started nobody told us who ended.
                self.reap()
            }
            Request::End { number, run, kill } => {
                self.end(&run, kill);
                self.report(&Report::Signalled { number }, &[])
            }
        }
    }

    /// A child starts with our signal mask, and must be able to hear what we do not.
    fn spawn(&self, command: &mut Command) -> io::Result<Child> {
        self.drain();
        self.mask.thread_unblock()?;
        let child = command.spawn();
        self.mask.thread_block()?;
        child
    }

    fn drain(&self) {
        while let Ok(Some(_)) = self.signals.read_signal() {}
    }

    fn end(&self, run: &RunKey, kill: bool) {
        let signal = if kill {
            Signal::SIGKILL
        } else {
            Signal::SIGTERM
        };
        let warden = self.pid;
        match self.kind {
            Kind::First => {
                signal_all(signal, |table| table.members(run, Scope::Below { warden }));
            }
            // Whoever still holds on to an earlier run does not mean the one that is here now.
            Kind::Cell | Kind::Nest if self.is_after(run) => {}
            Kind::Cell | Kind::Nest => signal_all(signal, |table| table.below(warden)),
        }
    }

    /// Whether another run came after this one.
    fn is_after(&self, run: &RunKey) -> bool {
        !self.running.is_empty() && !self.running.contains_key(&run.root)
    }

    /// Takes notice of every child that ended, orphans of runs included.
    fn reap(&mut self) -> io::Result<()> {
        self.drain();
        let mut ended = Vec::new();
        let left = loop {
            // Of rustix, because nix takes a signal that has only a number for a failure.
            let (pid, status) = match wait(WaitOptions::NOHANG) {
                Ok(Some(ended)) => ended,
                Ok(None) => break true,
                Err(rustix::io::Errno::CHILD) => break false,
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            };
            if let Some(number) = self.running.remove(&pid.as_raw_pid()) {
                if self.kind == Kind::Cell {
                    self.clear();
                }
                ended.push((number, status.exit_status(), status.terminating_signal()));
            }
        };
        for (number, code, signal) in ended {
            let report = Report::Exited {
                number,
                code,
                signal,
                left,
            };
            self.report(&report, &[])?;
        }
        Ok(())
    }

    /// Ends whatever a run left behind. Everything that lost its parent is a child of ours, so there is nothing
    /// left when we have none.
    fn clear(&self) {
        let deadline = Instant::now() + GONE_WITHIN;
        while Instant::now() < deadline {
            match wait(WaitOptions::NOHANG) {
                Err(rustix::io::Errno::CHILD) => return,
                Ok(None) => {
                    signal_all(Signal::SIGKILL, |table| table.below(self.pid));
                    // Returns with the next child that ends.
                    let _ = self.wait(Some(LOOK_EVERY));
                    self.drain();
                }
                Ok(Some(_)) | Err(_) => {}
            }
        }
    }

    /// Whoever does not read any more has closed the socket or will: waiting here cannot last.
    fn report(&self, report: &Report, mut files: &[OwnedFd]) -> io::Result<()> {
        let bytes = frame(report)?;
        let mut left = bytes.as_slice();
        while !left.is_empty() {
            match send(self.socket.as_fd(), left, files) {
                Ok(sent) => {
                    left = left.get(sent..).unwrap_or_default();
                    files = &[];
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn end_everything(&mut self, grace: Duration) {
        let is_looked_after = self.parent == nix::unistd::getppid();
        if self.kind == Kind::Nest && self.running.is_empty() && is_looked_after {
            // What its run left behind goes to the first warden, which ends it with us. Were that killed, nobody would.
            return;
        }
        self.running.clear();
        let pid = self.pid;
        for (signal, limit) in [(Signal::SIGTERM, grace), (Signal::SIGKILL, GONE_WITHIN)] {
            signal_all(signal, |table| table.below(pid));
            let deadline = Instant::now() + limit;
            while Instant::now() < deadline {
                // Nobody is told any more; reaping is all that is left to do.
                let _ = self.reap();
                let left = Table::read().below(pid);
                if left.is_empty() {
                    return;
                }
                if signal == Signal::SIGKILL {
                    signal_all(signal, |table| table.below(pid));
                }
                std::thread::sleep(LOOK_EVERY);
            }
        }
    }
}

/// An open file with the name of the innermost run, for a child to inherit: it must be gone before the next one.
fn badge(runs: &str) -> io::Result<OwnedFd> {
    let run = runs.rsplit(':').next().unwrap_or_default();
    let file = memfd_create(format!("{BADGE}{run}"), MemfdFlags::CLOEXEC)?;
    let file = fcntl_dupfd_cloexec(file, BADGE_FD)?;
    fcntl_setfd(&file, FdFlags::empty())?;
    Ok(file)
}

/// Gives a command its descriptors. Answers our side of its terminal, if it gets one.
fn connect(
    command: &mut Command,
    stdio: Stdio,
    files: Vec<OwnedFd>,
) -> io::Result<Option<OwnedFd>> {
    let mut files = files.into_iter();
    let missing = || io::Error::from(ErrorKind::InvalidInput);
    let mut next = || files.next().ok_or_else(missing);
    let (input, output, errors, screen) = match stdio {
        Stdio::Pipes | Stdio::Cell => {
            let (input, output) = (next()?, next()?);
            let errors = output.try_clone()?;
            (input, output, errors, None)
        }
        Stdio::Apart => (next()?, next()?, next()?, None),
        Stdio::Terminal { rows, columns } => {
            let (screen, theirs) = terminal(rows, columns)?;
            (
                theirs.try_clone()?,
                theirs.try_clone()?,
                theirs,
                Some(screen),
            )
        }
    };
    if screen.is_none() {
        command.process_group(0);
    }
    command.stdin(input).stdout(output).stderr(errors);
    Ok(screen)
}

/// A new terminal, as programs beside us see it: our side and theirs.
fn terminal(rows: u16, columns: u16) -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let ours = openpt(flags)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let theirs = ioctl_tiocgptpeer(&ours, flags)?;
    let size = Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&ours, size)?;
    Ok((ours, theirs))
}

/// Makes standard input the controlling terminal and becomes the program: what a run on a terminal starts
/// as.
pub(super) fn become_program(argv: &[String]) -> io::Error {
    let Some((program, arguments)) = argv.split_first() else {
        return ErrorKind::InvalidInput.into();
    };
    if let Err(error) = rustix::process::setsid() {
        return error.into();
    }
    if let Err(error) = rustix::process::ioctl_tiocsctty(io::stdin()) {
        return error.into();
    }
    Command::new(program).args(arguments).exec()
}

/// The variable that marks what belongs to a run, given what runs we are part of ourselves.
pub(super) fn mark(environment: &mut Vec<(String, String)>, marker: &str) {
    let outer = environment
        .iter()
        .position(|(name, _)| name == MARKER)
        .map(|place| environment.swap_remove(place).1)
        .filter(|outer| !outer.is_empty());
    let value = match outer {
        Some(outer) => format!("{outer}:{marker}"),
        None => marker.to_owned(),
    };
    environment.push((MARKER.to_owned(), value));
}
