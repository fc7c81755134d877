//! The warden's own process: starts, reaps and ends runs until its socket closes.

use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::Pid;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{WaitOptions, wait};

use super::descriptors::{badge, connect};
use super::tree::{GONE_WITHIN, LOOK_EVERY, MARKER, Scope, Seen, Table, signal_all};
use super::wire::{Inbox, Report, Request, RunKey, Stdio, frame, send};

/// The program a terminal's process starts as, whatever happened to our file since.
const OURSELVES: &str = "/proc/self/exe";
/// How long what a run leaves behind in a cell may take to end by itself, as a compressor does that was the end of
/// a pipe.
const LINGER: Duration = Duration::from_secs(2);
/// How long it may take when it is asked to.
const LAST_MOMENT: Duration = Duration::from_millis(200);

/// What a warden looks after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Wardens of one run each, and what runs left behind that had no cell.
    First,
    /// One run after the other in the same sandbox. A run is over when what it leaves behind is.
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
        stopped: false,
        lingering: None,
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
    /// Whether the run that is here was asked to end.
    stopped: bool,
    /// What became of a run in a cell that left something behind.
    lingering: Option<Lingering>,
}

/// How a run's first process ended.
struct Over {
    number: u64,
    code: Option<i32>,
    signal: Option<i32>,
}

/// A run of which only what it left behind is still there.
struct Lingering {
    over: Over,
    until: Instant,
    /// Whether that was asked to end.
    asked: bool,
}

/// What became of what a run left behind.
struct Behind {
    /// Something of it still runs.
    left: bool,
    /// It was made to end, because its time was over and not because somebody stopped the run.
    cut_off: bool,
}

impl Serving<'_> {
    fn converse(&mut self) -> io::Result<()> {
        let mut inbox = Inbox::default();
        loop {
            let patience = self.lingering.as_ref().map(|lingering| lingering.until);
            let patience = patience.map(|until| until.saturating_duration_since(Instant::now()));
            let (asked, died) = self.wait(patience)?;
            if died {
                self.reap()?;
            }
            self.press()?;
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

    /// The command of a run; on a terminal it is started by ourselves, from the inside.
    fn command(&self, argv: &[String], stdio: Stdio) -> Command {
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
        command
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
                let mut command = self.command(&argv, stdio);
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
                self.stopped = false;
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

    fn end(&mut self, run: &RunKey, kill: bool) {
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
            Kind::Cell | Kind::Nest => {
                self.stopped = true;
                if let Some(lingering) = &mut self.lingering {
                    lingering.hurry();
                }
                signal_all(signal, |table| table.below(warden));
            }
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
                ended.push(Over {
                    number,
                    code: status.exit_status(),
                    signal: status.terminating_signal(),
                });
            }
        };
        if !left && let Some(lingering) = self.lingering.take() {
            let behind = Behind {
                left,
                cut_off: lingering.asked && !self.stopped,
            };
            self.tell(lingering.over, behind)?;
        }
        for over in ended {
            if left && self.kind == Kind::Cell {
                let mut lingering = Lingering {
                    over,
                    until: Instant::now() + LINGER,
                    asked: false,
                };
                if self.stopped {
                    lingering.hurry();
                }
                self.lingering = Some(lingering);
            } else {
                let cut_off = false;
                self.tell(over, Behind { left, cut_off })?;
            }
        }
        Ok(())
    }

    fn tell(&self, over: Over, behind: Behind) -> io::Result<()> {
        let report = Report::Exited {
            number: over.number,
            code: over.code,
            signal: over.signal,
            left: behind.left,
            cut_off: behind.cut_off,
        };
        self.report(&report, &[])
    }

    /// Ends what a run left behind once it has had its time.
    fn press(&mut self) -> io::Result<()> {
        let warden = self.pid;
        let now = Instant::now();
        let Some(mut lingering) = self.lingering.take_if(|lingering| lingering.until <= now) else {
            return Ok(());
        };
        if lingering.asked {
            let behind = Behind {
                left: !self.clear(),
                cut_off: !self.stopped,
            };
            return self.tell(lingering.over, behind);
        }
        lingering.asked = true;
        lingering.until = now + LAST_MOMENT;
        self.lingering = Some(lingering);
        signal_all(Signal::SIGTERM, |table| table.below(warden));
        Ok(())
    }

    /// Ends whatever a run left behind; answers whether it is gone. Everything that lost its parent is a child of
    /// ours, so there is nothing left when we have none.
    fn clear(&self) -> bool {
        let deadline = Instant::now() + GONE_WITHIN;
        while Instant::now() < deadline {
            match wait(WaitOptions::NOHANG) {
                Err(rustix::io::Errno::CHILD) => return true,
                Ok(None) => {
                    signal_all(Signal::SIGKILL, |table| table.below(self.pid));
                    // Returns with the next child that ends.
                    let _ = self.wait(Some(LOOK_EVERY));
                    self.drain();
                }
                Ok(Some(_)) | Err(_) => {}
            }
        }
        false
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
        self.lingering = None;
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

impl Lingering {
    /// Nobody wants to wait for it any more.
    fn hurry(&mut self) {
        self.asked = true;
        self.until = Instant::now();
    }
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
