//! Stops an instance when our process is killed: it belongs to nobody who would notice.
//!
//! Others may use an instance too, so what starts it is not ended with us as commands are. Instead a second process of
//! ours holds the end of a pipe from us. When that ends before we have left the instance, it kills a start that was
//! under way, and stops the instance unless somebody else who lives uses it. Every process that uses one has its own.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use tokio::io::AsyncWriteExt;
use tokio::process::ChildStdin;

use super::instances::record_file;
use crate::lease::{Leases, Owner};
use crate::supervise::Carriers;
use crate::turn;
use crate::warden::{MARKER, RunKey, Scope, Seen, signal_all};

/// What it is told: that the instance is up, and that we need it no more.
const UP: &str = "up";
const OVER: &str = "over";
/// How long it waits for others who find or make the same instance, and for the program.
const TURN: Duration = Duration::from_secs(3);
const STOP: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Our end of it. Dropped, it does what it does when we are killed.
pub(super) struct Watcher {
    pipe: ChildStdin,
    marker: String,
}

impl Watcher {
    /// Starts it for the instance `name` that `program` runs; `folder` is where leases and records are.
    pub(super) fn start(
        carriers: &Carriers,
        program: &Path,
        name: &str,
        folder: &Path,
    ) -> io::Result<Self> {
        let us = Owner::this();
        let mut child = tokio::process::Command::new(&carriers.warden.program)
            .args(carriers.warden.watching())
            .arg(program)
            .arg(name)
            .arg(folder)
            .args([us.pid.to_string(), us.started.to_string()])
            .env_clear()
            .envs(carriers.environment.iter().cloned())
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Signals that a terminal sends to our own group are not meant for it.
            .process_group(0)
            .kill_on_drop(false)
            .spawn()?;
        let pipe = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Self {
            pipe,
            marker: marker(name, us),
        })
    }

    /// What makes known everything that starts the instance.
    pub(super) fn mark(&self) -> (String, String) {
        (MARKER.to_owned(), self.marker.clone())
    }

    /// The process that starts the instance.
    pub(super) async fn starting(&mut self, pid: u32) {
        let root = i32::try_from(pid).unwrap_or_default();
        let ticks = Seen::of(root).map_or(0, |seen| seen.started);
        self.tell(&format!("{root} {ticks}")).await;
    }

    pub(super) async fn up(&mut self) {
        self.tell(UP).await;
    }

    /// Lets it go: we have left the instance in good order.
    pub(super) async fn release(mut self) {
        self.tell(OVER).await;
    }

    /// A few bytes fit into the pipe whether it listens or not.
    async fn tell(&mut self, word: &str) {
        if let Err(error) = self.pipe.write_all(format!("{word}\n").as_bytes()).await {
            tracing::warn!(%error, "what looks after the instance was gone already");
        }
    }
}

/// The whole second process; `arguments` are those of [`Watcher::start`].
pub(crate) fn watch(arguments: &[String]) -> io::Result<()> {
    let [program, name, folder, pid, started] = arguments else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let number = |_| io::Error::from(io::ErrorKind::InvalidInput);
    let gone = Owner {
        pid: pid.parse().map_err(number)?,
        started: started.parse().map_err(number)?,
    };
    let mut start = Some(RunKey {
        marker: marker(name, gone),
        root: 0,
        started: 0,
    });
    for word in io::stdin().lines() {
        let word = word?;
        match (word.as_str(), &mut start) {
            (OVER, _) => return Ok(()),
            (UP, start) => *start = None,
            (other, Some(run)) => {
                let number = other.split_once(' ');
                if let Some((Ok(root), Ok(started))) =
                    number.map(|(root, started)| (root.parse(), started.parse()))
                {
                    (run.root, run.started) = (root, started);
                }
            }
            (_, None) => {}
        }
    }
    if let Some(run) = start {
        signal_all(Signal::SIGKILL, |table| {
            table.members(&run, Scope::Everywhere)
        });
    }
    stop_unless_used(Path::new(program), name, Path::new(folder), gone)
}

/// What everything that starts the instance for somebody carries.
fn marker(name: &str, Owner { pid, started }: Owner) -> String {
    format!("{name}x{pid}x{started}")
}

fn stop_unless_used(program: &Path, name: &str, folder: &Path, gone: Owner) -> io::Result<()> {
    let turn = turn::file(folder)?;
    until(TURN, || Ok(turn.try_lock().ok()))?;
    let leases = Leases::new(folder);
    let users = leases.all()?.remove(name).unwrap_or_default();
    // Whoever is about to be gone can still be seen for a moment.
    let is_other = |owner: Owner| owner != gone && owner.is_alive();
    if users.iter().any(|lease| is_other(lease.owner)) {
        return Ok(());
    }
    let mut stopping = Command::new(program)
        .args(["instance", "stop", name])
        .stdin(Stdio::null())
        .spawn()?;
    let stopped = until(STOP, || stopping.try_wait())?;
    // Whoever comes next forgets what is not there any more.
    if stopped.is_some_and(|status| status.success()) {
        std::fs::remove_file(record_file(folder, name))?;
        leases.forget(name)?;
    }
    Ok(())
}

/// What there is to be had within this time.
fn until<T>(
    limit: Duration,
    mut look: impl FnMut() -> io::Result<Option<T>>,
) -> io::Result<Option<T>> {
    let deadline = Instant::now() + limit;
    loop {
        let found = look()?;
        if found.is_some() || Instant::now() >= deadline {
            return Ok(found);
        }
        std::thread::sleep(LOOK_EVERY);
    }
}
