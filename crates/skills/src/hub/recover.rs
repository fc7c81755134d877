//! Back to a whole state after a crash.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use hermes_core::Clock;
use serde_json::Value;

use super::Hub;
use super::error::HubError;
use super::install;
use super::quarantine::{self, remove_directory};
use super::remove;
use super::state::{Event, Held, LockFile, Locked, Pending, Phase, State};

/// What was mended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Skills whose installing or removing was finished.
    pub finished: Vec<String>,
    /// Skills that are again as they were before.
    pub taken_back: Vec<String>,
    /// Directories in quarantine that nobody needed any more.
    pub swept: usize,
}

impl Hub {
    /// Finishes or takes back what a crash interrupted. Costs one look at a directory when nothing was.
    pub fn recover(&self) -> Result<Recovered, HubError> {
        recover_state(&self.state)
    }
}

/// The same for whoever uses the skills and has no hub.
pub fn recover(skills: &Path, clock: Arc<dyn Clock>) -> Result<Recovered, HubError> {
    recover_state(&State::new(skills.to_owned(), clock))
}

fn recover_state(state: &State) -> Result<Recovered, HubError> {
    // Every step leaves something in quarantine before it changes the list.
    let is_clean =
        fs::read_dir(state.quarantine()).map_or(true, |mut found| found.next().is_none());
    if is_clean && !is_interrupted(&state.lock()?) {
        return Ok(Recovered::default());
    }
    let held = state.hold()?;
    let mut lock = state.lock()?;
    let mut done = Recovered::default();
    for (name, entry) in lock.installed() {
        let Some(pending) = entry.pending.clone() else {
            continue;
        };
        let finished = settle(state, &name, &entry, &pending, &mut lock, &held)?;
        state.note(&Event {
            action: "RECOVERED",
            name: &name,
            source: &entry.source,
            trust: entry.trust_level.word(),
            verdict: entry.scan_verdict.word(),
            extra: if finished { "finished" } else { "taken-back" },
        });
        let list = if finished {
            &mut done.finished
        } else {
            &mut done.taken_back
        };
        list.push(name);
    }
    done.swept = quarantine::sweep(state, &[])?;
    Ok(done)
}

fn is_interrupted(lock: &LockFile) -> bool {
    let mut all = lock.installed().into_iter();
    all.any(|(_, entry)| entry.pending.is_some())
}

/// Brings one skill into a whole state: `true` when what was begun is now done.
fn settle(
    state: &State,
    name: &str,
    entry: &Locked,
    pending: &Pending,
    lock: &mut LockFile,
    held: &Held,
) -> Result<bool, HubError> {
    let target = install::target(state, &entry.install_path)?;
    let inside = |name: &str| state.quarantine().join(last_part(name));
    let aside = inside(&pending.aside);
    let staged = pending.staged.as_deref().map(inside);
    let finished = match pending.state {
        // The new directory left quarantine, so it is where it belongs.
        Phase::Installing => {
            !staged.as_ref().is_some_and(|staged| staged.exists()) && target.exists()
        }
        Phase::Removing => !target.exists(),
    };
    if finished {
        match pending.state {
            Phase::Installing => {
                let mut entry = entry.clone();
                entry.pending = None;
                lock.put(name, &entry);
            }
            Phase::Removing => lock.remove(name),
        }
        state.write_lock(lock, held)?;
        // Whether it had been changed is not known any more, so it is kept.
        remove::put_away(state, name, &aside, aside.exists(), held)?;
        return Ok(true);
    }
    if aside.exists() && !target.exists() {
        fs::rename(&aside, &target).map_err(HubError::io(&aside, "moved back"))?;
    }
    if let Some(staged) = staged {
        remove_directory(&staged)?;
    }
    match &pending.previous {
        Some(previous) if !previous.is_null() => lock.put_raw(name, without_pending(previous)),
        Some(_) | None => lock.remove(name),
    }
    state.write_lock(lock, held)?;
    Ok(false)
}

fn without_pending(entry: &Value) -> Value {
    let mut entry = entry.clone();
    if let Some(map) = entry.as_object_mut() {
        map.shift_remove("pending");
    }
    entry
}

/// A name out of a file must not lead out of quarantine.
fn last_part(name: &str) -> &str {
    match name.rsplit('/').next() {
        Some(last) if !matches!(last, "" | "." | "..") => last,
        _ => "nothing",
    }
}
