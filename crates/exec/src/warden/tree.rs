//! Which processes belong to a run, read from `/proc`.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::wire::RunKey;

/// The variable that says which runs a process belongs to, outermost first, separated by colons.
pub(crate) const MARKER: &str = "HERMES_RUN";

/// What the open file is called that a run's processes inherit, before the run's own name.
pub(crate) const BADGE: &str = "hermes-run-";

/// A tree that still grows after this many looks is growing faster than it can be ended.
const MOST_LOOKS: usize = 64;
const BETWEEN_LOOKS: Duration = Duration::from_millis(2);
/// How long what was killed may take to be gone.
pub(super) const GONE_WITHIN: Duration = Duration::from_secs(2);
/// The longest time between two looks at whether it is.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(20);

/// One process as it was when it was looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) pid: i32,
    parent: i32,
    group: i32,
    session: i32,
    pub(crate) started: u64,
    ended: bool,
}

impl Seen {
    /// The process with this id, ended or not.
    pub(crate) fn of(pid: i32) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The command's name stands in parentheses and may itself contain some.
        let (_, rest) = text.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let number = |index: usize| fields.get(index)?.parse::<i32>().ok();
        Some(Self {
            pid,
            ended: matches!(*fields.first()?, "Z" | "X"),
            parent: number(1)?,
            group: number(2)?,
            session: number(3)?,
            started: fields.get(19)?.parse().ok()?,
        })
    }

    /// Whether the process with this id is the one that started then, and runs.
    pub(crate) fn is_running(pid: i32, started: u64) -> bool {
        Self::of(pid).is_some_and(|seen| !seen.ended && seen.started == started)
    }

    /// Whether it holds the file that goes with a run: who drops the environment and leaves the session
    /// still has what was open.
    fn wears(&self, marker: &str) -> bool {
        let wanted = format!("/memfd:{BADGE}{marker} (deleted)");
        fs::read_dir(format!("/proc/{}/fd", self.pid))
            .into_iter()
            .flatten()
            .flatten()
            .any(|entry| {
                fs::read_link(entry.path())
                    .is_ok_and(|target| target.as_os_str() == wanted.as_str())
            })
    }

    /// Started on its own, or outside every run.
    fn marks(&self) -> Marks {
        let Ok(environment) = fs::read(format!("/proc/{}/environ", self.pid)) else {
            return Marks::Unknown;
        };
        let found = environment.split(|byte| *byte == 0).find_map(|entry| {
            entry
                .strip_prefix(MARKER.as_bytes())?
                .strip_prefix(b"=".as_slice())
        });
        match found {
            Some(value) => Marks::Runs(String::from_utf8_lossy(value).into_owned()),
            None => Marks::None,
        }
    }
}

enum Marks {
    Runs(String),
    None,
    Unknown,
}

impl Marks {
    fn name(&self, marker: &str) -> bool {
        match self {
            Self::Runs(runs) => runs.split(':').any(|run| run == marker),
            Self::None | Self::Unknown => false,
        }
    }
}

/// Where members of a run are looked for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Scope {
    /// Below the warden: whatever loses its parent comes to it.
    Below { warden: i32 },
    /// Anywhere: the warden itself is gone.
    Everywhere,
}

/// All processes at one moment.
pub(crate) struct Table(HashMap<i32, Seen>);

impl Table {
    pub(crate) fn read() -> Self {
        let entries = fs::read_dir("/proc").into_iter().flatten();
        let seen = entries
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter_map(Seen::of);
        Self(seen.map(|seen| (seen.pid, seen)).collect())
    }

    /// The process and its ancestors, nearest first, up to but without `stop`. `None` when `stop` is not
    /// above it.
    fn line(&self, seen: &Seen, stop: i32) -> Option<Vec<Seen>> {
        let mut line = vec![*seen];
        let mut above = seen.parent;
        while above != stop {
            // A table read while processes come and go can hold a circle.
            if line.len() > self.0.len() {
                return None;
            }
            let next = self.0.get(&above)?;
            line.push(*next);
            above = next.parent;
        }
        Some(line)
    }

    /// What runs below a process.
    pub(crate) fn below(&self, pid: i32) -> Vec<Seen> {
        self.0
            .values()
            .filter(|seen| !seen.ended && self.line(seen, pid).is_some())
            .copied()
            .collect()
    }

    /// What runs and belongs to the run.
    pub(crate) fn members(&self, run: &RunKey, scope: Scope) -> Vec<Seen> {
        let stop = match scope {
            Scope::Below { warden } => warden,
            Scope::Everywhere => 0,
        };
        let mut known = HashMap::new();
        self.0
            .values()
            .filter(|seen| !seen.ended)
            .filter(|seen| {
                self.line(seen, stop).is_some_and(|line| {
                    line.iter().any(|one| {
                        *known
                            .entry(one.pid)
                            .or_insert_with(|| claims(one, run, stop))
                    })
                })
            })
            .copied()
            .collect()
    }
}

/// Whether a process by itself, whoever its parent is, belongs to the run.
fn claims(seen: &Seen, run: &RunKey, stop: i32) -> bool {
    if seen.pid == run.root && seen.started == run.started {
        return true;
    }
    if seen.started < run.started {
        return false;
    }
    let marks = seen.marks();
    if marks.name(&run.marker) {
        return true;
    }
    // Without its marker, or with one that it made up, it is known by what it holds, and by the group or session it
    // was born into.
    let born = match marks {
        Marks::Runs(_) => false,
        Marks::None | Marks::Unknown => {
            stop != 0 && (seen.group == run.root || seen.session == run.root)
        }
    };
    born || seen.wears(&run.marker)
}

/// Sends a signal to everything `find` finds, youngest first, and looks again until nothing new turns up. What is
/// killed does not end at that moment: that is waited for, within limits.
pub(crate) fn signal_all(signal: Signal, find: impl Fn(&Table) -> Vec<Seen>) {
    match signal {
        Signal::SIGKILL => kill_all(find),
        _ => tell_all(signal, find),
    }
}

fn tell_all(signal: Signal, find: impl Fn(&Table) -> Vec<Seen>) {
    let mut told = HashSet::new();
    for look in 0..MOST_LOOKS {
        let mut found = find(&Table::read());
        found.retain(|seen| told.insert((seen.pid, seen.started)));
        if found.is_empty() {
            return;
        }
        send(signal, &mut found);
        for seen in &found {
            // A stopped process would never hear of it.
            let _ = kill(Pid::from_raw(seen.pid), Signal::SIGCONT);
        }
        if look > 0 {
            std::thread::sleep(BETWEEN_LOOKS);
        }
    }
}

fn kill_all(find: impl Fn(&Table) -> Vec<Seen>) {
    let deadline = Instant::now() + GONE_WITHIN;
    let mut pause = Duration::ZERO;
    loop {
        let mut found = find(&Table::read());
        if found.is_empty() || Instant::now() >= deadline {
            return;
        }
        send(Signal::SIGKILL, &mut found);
        std::thread::sleep(pause);
        pause = (pause + BETWEEN_LOOKS).min(LOOK_EVERY);
    }
}

/// What ended in between, and what belongs to another user, cannot be told anything.
fn send(signal: Signal, found: &mut [Seen]) {
    found.sort_by_key(|seen| std::cmp::Reverse(seen.started));
    for seen in found {
        let _ = kill(Pid::from_raw(seen.pid), signal);
    }
}
