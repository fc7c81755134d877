//! Looking at process trees through `/proc`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike as _};

use crate::eventually::eventually;

/// A process identified by its id and its start time, so that a reused id is not mistaken for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Process {
    /// Process id.
    pub pid: i32,
    /// Clock ticks since boot at which it started.
    pub start_time: u64,
}

impl Process {
    /// The process that has this id now, unless there is none or it is a zombie.
    pub fn of(pid: i32) -> Option<Self> {
        let stat = Stat::read(pid)?;
        (!stat.ended).then_some(Self {
            pid,
            start_time: stat.start_time,
        })
    }

    /// Whether this very process still runs.
    pub fn alive(self) -> bool {
        Self::of(self.pid) == Some(self)
    }
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let command = fs::read(format!("/proc/{}/cmdline", self.pid)).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        write!(f, "{} ({})", self.pid, command.trim_end())
    }
}

/// Whether some process with this id runs; a zombie does not.
pub fn alive(pid: i32) -> bool {
    Process::of(pid).is_some()
}

/// Children of `pid`, their children and so on, as far as the tree is connected.
///
/// A process whose parent has ended hangs from init and is not found here; mark it with an
/// environment variable and use [`find_by_env_marker`].
pub fn descendants(pid: i32) -> Vec<Process> {
    let mut children: BTreeMap<i32, Vec<Process>> = BTreeMap::new();
    for candidate in all_pids() {
        if let Some(stat) = Stat::read(candidate)
            && !stat.ended
        {
            children.entry(stat.parent).or_default().push(Process {
                pid: candidate,
                start_time: stat.start_time,
            });
        }
    }
    let mut found = BTreeSet::new();
    let mut open = vec![pid];
    while let Some(parent) = open.pop() {
        for child in children.remove(&parent).unwrap_or_default() {
            open.push(child.pid);
            found.insert(child);
        }
    }
    found.into_iter().collect()
}

/// Live processes that were started with the environment variable `name` set to `value`.
///
/// Finds orphans that left the tree. Only processes of the same user can be seen.
pub fn find_by_env_marker(name: &str, value: &str) -> Vec<Process> {
    let marker = format!("{name}={value}");
    let carries_marker = |pid: &i32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment
            .split(|byte| *byte == 0)
            .any(|entry| entry == marker.as_bytes())
    };
    all_pids()
        .into_iter()
        .filter(carries_marker)
        .filter_map(Process::of)
        .collect()
}

/// How long the calling thread has been computing. Time in which others had the processor does not count.
pub fn thread_time() -> Duration {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_THREAD) else {
        return Duration::ZERO;
    };
    let time = |value: TimeVal| {
        let microseconds = u64::try_from(value.num_microseconds()).unwrap_or_default();
        Duration::from_micros(microseconds)
    };
    time(usage.user_time()) + time(usage.system_time())
}

/// Panics when `pid` still has live descendants after `timeout`, naming them.
#[track_caller]
pub fn assert_no_descendants_within(pid: i32, timeout: Duration) {
    let mut left = Vec::new();
    let gone = eventually(timeout, "no descendants", || {
        left = descendants(pid);
        left.is_empty().then_some(())
    });
    if gone.is_err() {
        let names: Vec<String> = left.iter().map(Process::to_string).collect();
        panic!(
            "{pid} still has descendants after {timeout:?}: {}",
            names.join(", ")
        );
    }
}

/// The fields of `/proc/<pid>/stat` that matter here.
struct Stat {
    ended: bool,
    parent: i32,
    start_time: u64,
}

impl Stat {
    fn read(pid: i32) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The command name stands in parentheses and may itself contain some.
        let (_, rest) = text.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        Some(Self {
            ended: matches!(*fields.first()?, "Z" | "X"),
            parent: fields.get(1)?.parse().ok()?,
            start_time: fields.get(19)?.parse().ok()?,
        })
    }
}

fn all_pids() -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect()
}
