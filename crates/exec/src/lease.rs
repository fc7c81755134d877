//! Who uses which sandbox, written down where every process can see it.
//!
//! One small file per sandbox and process. A sandbox is in use while one of its users lives and runs
//! something, or used it a short while ago; everything else may be reclaimed, by anybody.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hermes_core::Clock;
use serde::{Deserialize, Serialize};

const FOLDER: &str = "leases";
/// No lease is longer; what is, is not ours.
const MAX_LEASE: u64 = 16 << 10;
/// More files than this are not looked at.
const MAX_LEASES: usize = 10_000;

/// One process's use of one sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The sandbox's name.
    pub sandbox: String,
    /// The process that uses it.
    pub owner: Owner,
    /// How many commands it ran there when this was written.
    pub running: usize,
    /// When it last used it, in seconds since 1970.
    pub used_at: i64,
    /// How long it may be idle.
    pub lifetime_seconds: u64,
}

/// A process that a reused id is not mistaken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Its id.
    pub pid: u32,
    /// When it started, in the kernel's ticks; 0 where that is not known.
    pub started: u64,
}

impl Owner {
    /// This process.
    pub fn this() -> Self {
        let pid = std::process::id();
        Self {
            pid,
            started: started(pid).unwrap_or(0),
        }
    }

    /// Whether it still runs.
    pub fn is_alive(self) -> bool {
        match started(self.pid) {
            Some(started) => self.started == 0 || started == self.started,
            None => false,
        }
    }
}

impl Lease {
    /// Until when the sandbox is kept for this user, in seconds since 1970; `None` while something runs.
    pub fn ends_at(&self) -> Option<i64> {
        if self.running > 0 && self.owner.is_alive() {
            return None;
        }
        let lifetime = i64::try_from(self.lifetime_seconds).unwrap_or(i64::MAX);
        Some(self.used_at.saturating_add(lifetime))
    }
}

/// The leases below a sandbox directory.
#[derive(Debug, Clone)]
pub struct Leases {
    folder: PathBuf,
}

impl Leases {
    /// Those below this directory, which need not be there.
    pub fn new(sandboxes: &Path) -> Self {
        Self {
            folder: sandboxes.join(FOLDER),
        }
    }

    /// Those on the sandboxes of one kind, where several kinds share the directory.
    pub fn of(sandboxes: &Path, kind: &str) -> Self {
        Self::new(&sandboxes.join(kind))
    }

    /// All of them by sandbox. Files that are not leases are left out.
    pub fn all(&self) -> io::Result<BTreeMap<String, Vec<Lease>>> {
        let entries = match std::fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
            Err(error) => return Err(error),
        };
        let mut all: BTreeMap<String, Vec<Lease>> = BTreeMap::new();
        for entry in entries.take(MAX_LEASES).filter_map(Result::ok) {
            let small = entry.metadata().is_ok_and(|data| data.len() <= MAX_LEASE);
            if small
                && let Ok(text) = std::fs::read(entry.path())
                && let Ok(lease) = serde_json::from_slice::<Lease>(&text)
            {
                all.entry(lease.sandbox.clone()).or_default().push(lease);
            }
        }
        Ok(all)
    }

    /// Writes one in place of what was there.
    pub fn write(&self, lease: &Lease) -> io::Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        let path = self.file(&lease.sandbox, lease.owner);
        let draft = path.with_extension("tmp");
        std::fs::write(&draft, serde_json::to_vec(lease)?)?;
        std::fs::rename(draft, path)
    }

    /// Removes this user's lease on a sandbox.
    pub fn release(&self, sandbox: &str, owner: Owner) -> io::Result<()> {
        absent_is_fine(std::fs::remove_file(self.file(sandbox, owner)))
    }

    /// Removes every lease on a sandbox.
    pub fn forget(&self, sandbox: &str) -> io::Result<()> {
        for lease in self.all()?.remove(sandbox).unwrap_or_default() {
            self.release(sandbox, lease.owner)?;
        }
        Ok(())
    }

    fn file(&self, sandbox: &str, owner: Owner) -> PathBuf {
        let safe: String = sandbox
            .chars()
            .map(|character| match character {
                'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' => character,
                _ => '_',
            })
            .collect();
        self.folder
            .join(format!("{safe}.{}.{}.json", owner.pid, owner.started))
    }
}

/// Our own use of one sandbox after another.
pub(crate) struct Tenant {
    leases: Leases,
    lifetime: Duration,
    clock: Arc<dyn Clock>,
    /// When the last command ended, in seconds since 1970.
    idle_since: Mutex<Option<i64>>,
}

impl Tenant {
    pub(crate) fn new(leases: Leases, lifetime: Duration, clock: Arc<dyn Clock>) -> Self {
        Self {
            leases,
            lifetime,
            clock,
            idle_since: Mutex::new(None),
        }
    }

    pub(crate) fn leases(&self) -> &Leases {
        &self.leases
    }

    /// Begins to count idle time anew.
    pub(crate) fn arrive(&self) {
        *self.idle() = None;
    }

    /// Writes down that we use the sandbox.
    pub(crate) async fn renew(&self, sandbox: &str, running: usize) {
        let now = self.clock.now().as_second();
        let used_at = {
            let mut idle = self.idle();
            if running > 0 {
                *idle = None;
            }
            *idle.get_or_insert(now)
        };
        let lease = Lease {
            sandbox: sandbox.to_owned(),
            owner: Owner::this(),
            running,
            used_at,
            lifetime_seconds: self.lifetime.as_secs(),
        };
        let leases = self.leases.clone();
        let written = tokio::task::spawn_blocking(move || leases.write(&lease)).await;
        if !matches!(written, Ok(Ok(()))) {
            tracing::warn!("the lease on the sandbox could not be written");
        }
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Option<i64>> {
        self.idle_since
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// How a sandbox is kept by its leases and what else is known about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Somebody runs something there, or used it a moment ago.
    InUse,
    /// Nobody for this long beyond its lifetime.
    IdleFor(Duration),
}

/// Whether a sandbox is in use. Without a lease it counts as used at `seen_at` by somebody with `lifetime`.
pub(crate) fn standing(
    leases: &[Lease],
    seen_at: i64,
    lifetime: Duration,
    clock: &dyn Clock,
) -> Standing {
    let fallback = seen_at.saturating_add(i64::try_from(lifetime.as_secs()).unwrap_or(i64::MAX));
    let mut end = if leases.is_empty() {
        fallback
    } else {
        i64::MIN
    };
    for lease in leases {
        match lease.ends_at() {
            None => return Standing::InUse,
            Some(ends_at) => end = end.max(ends_at),
        }
    }
    match u64::try_from(clock.now().as_second().saturating_sub(end)) {
        Ok(seconds) => Standing::IdleFor(Duration::from_secs(seconds)),
        Err(_) => Standing::InUse,
    }
}

fn absent_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn started(pid: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in parentheses and may hold anything.
    let (_, rest) = text.rsplit_once(')')?;
    rest.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_core::ManualClock;

    // EX-31
    #[test]
    fn a_sandbox_is_in_use_while_a_living_process_runs_something_or_its_lifetime_lasts() {
        let folder = tempfile::tempdir().unwrap();
        let leases = Leases::new(folder.path());
        assert!(leases.all().unwrap().is_empty());
        let clock = ManualClock::new("2026-01-01T00:00:00Z".parse().unwrap());
        let lifetime = Duration::from_secs(300);
        let mut lease = Lease {
            sandbox: "box".to_owned(),
            owner: Owner::this(),
            running: 1,
            used_at: clock.now().as_second(),
            lifetime_seconds: 300,
        };
        let dead = Lease {
            owner: Owner {
                pid: lease.owner.pid,
                started: 1,
            },
            ..lease.clone()
        };
        leases.write(&lease).unwrap();
        leases.write(&dead).unwrap();
        let look = || standing(&leases.all().unwrap()["box"], 0, lifetime, &clock);
        clock.advance(Duration::from_secs(3_000));
        assert_eq!(look(), Standing::InUse);
        lease.running = 0;
        leases.write(&lease).unwrap();
        assert_eq!(look(), Standing::IdleFor(Duration::from_secs(2_700)));
        leases.forget("box").unwrap();
        assert!(leases.all().unwrap().is_empty());
    }
}
