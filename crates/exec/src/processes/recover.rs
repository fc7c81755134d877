//! What an earlier program left: taken over when it still runs, told as ended when it does not.
//!
//! A process is recognised by its id, the tick it started at and the boot that tick counts from: an id
//! that is used again is never taken for it.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_store::{ProcessEnd, ProcessIdentity, ProcessRow};
use nix::sys::signal::Signal;
use serde_json::json;

use super::cleaned::Cleaner;
use super::entry::told_of;
use super::logs;
use super::owner::{Message, Owner};
use super::{EndReason, ProcessError, Processes};
use crate::warden::{RunKey, Scope, Seen, signal_all};
use crate::{Control, Ending, ExecError};

/// How often a process that is not our child is looked at; nothing announces its end.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Ended processes are remembered for so long.
const REMEMBERED_FOR: f64 = 7.0 * 24.0 * 3_600.0;
/// Bytes of a log that are read again.
const TAIL: u64 = 64 << 10;
/// Characters of output that a notification carries.
const TOLD: usize = 2_000;

/// What was found at the start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Processes that still run: they can be looked at and ended.
    pub detached: Vec<String>,
    /// Processes that ended while nobody was looking.
    pub ended: Vec<String>,
}

impl Processes {
    /// Looks after what earlier programs that are gone now had started. Called once, at the start.
    pub async fn recover(&self) -> Result<Recovered, ProcessError> {
        let options = &self.shared.options;
        let store = &options.store;
        let cleaner = Cleaner::new(options);
        let mut recovered = Recovered::default();
        for row in store.unended_processes().await? {
            if row.owner == self.shared.name || is_alive(&row.owner) {
                continue;
            }
            if !store
                .adopt_process(&row.id, &row.owner, &self.shared.name)
                .await?
            {
                continue;
            }
            let id = row.id.clone();
            let output = log_tail(&row.log);
            match row.process.clone().filter(still_runs) {
                Some(process) => {
                    self.adopt(row, process, output).await?;
                    recovered.detached.push(id);
                }
                None => {
                    let body = row.notify.then(|| lost_body(&row, &output, &cleaner));
                    store.end_process(&id, lost(), body).await?;
                    recovered.ended.push(id);
                }
            }
        }
        if !recovered.ended.is_empty() {
            // Whoever looked for news before this must look again.
            self.tell(Message::FoundEnded).await?;
        }
        let before = options.clock.now().as_duration().as_secs_f64() - REMEMBERED_FOR;
        store.forget_processes(before).await?;
        self.clear_logs(before).await?;
        Ok(recovered)
    }

    /// Nobody reads what a process printed once it has been forgotten.
    async fn clear_logs(&self, before: f64) -> Result<(), ProcessError> {
        let options = &self.shared.options;
        let rows = options.store.unended_processes().await?;
        let running = rows.into_iter().map(|row| row.id).collect();
        let before = Duration::try_from_secs_f64(before).unwrap_or_default();
        let folder = options.logs.clone();
        let cleared = tokio::task::spawn_blocking(move || logs::clear(&folder, &running, before));
        Ok(cleared.await.map_err(|_| ExecError::Cancelled)?)
    }

    async fn adopt(
        &self,
        row: ProcessRow,
        process: ProcessIdentity,
        output: String,
    ) -> Result<(), ProcessError> {
        let id = row.id.clone();
        let run = RunKey {
            marker: id.trim_start_matches("proc_").to_owned(),
            root: process.pid,
            started: process.started,
        };
        self.tell(Message::Adopted {
            row,
            control: Arc::new(Adopted { run }),
            output,
        })
        .await?;
        let owner = Owner::of(&self.messages);
        self.shared.tasks.spawn(async move {
            while Seen::is_running(process.pid, process.started) {
                tokio::time::sleep(LOOK_EVERY).await;
            }
            owner.tell(Message::Exited { id, exit: None }).await;
        });
        Ok(())
    }
}

/// Reaches a process that another program started.
struct Adopted {
    run: RunKey,
}

impl Control for Adopted {
    fn end(&self, how: Ending) -> BoxFuture<'_, Result<(), ExecError>> {
        let run = self.run.clone();
        Box::pin(async move {
            let signal = match how {
                Ending::Terminate => Signal::SIGTERM,
                Ending::Kill => Signal::SIGKILL,
            };
            let told = tokio::task::spawn_blocking(move || {
                signal_all(signal, |table| table.members(&run, Scope::Everywhere));
            });
            told.await.map_err(|_| ExecError::Cancelled)
        })
    }

    fn resize(&self, _: u16, _: u16) -> BoxFuture<'_, Result<(), ExecError>> {
        Box::pin(async { Ok(()) })
    }
}

fn lost() -> ProcessEnd {
    ProcessEnd {
        exit_code: None,
        reason: EndReason::Lost.word().to_owned(),
    }
}

fn lost_body(row: &ProcessRow, output: &str, cleaner: &Cleaner) -> String {
    let tail = cleaner.end(&row.command, output, TOLD);
    json!({
        "session_id": row.id,
        "command": told_of(&row.command),
        "exit_code": null,
        "completion_reason": EndReason::Lost.word(),
        "output": tail,
    })
    .to_string()
}

/// The end of a file, as text, without a word that begins before it, which might be half a key; nothing when it
/// cannot be read.
fn log_tail(path: &str) -> String {
    use std::io::{Read, Seek, SeekFrom};
    let read = || {
        let mut file = fs::File::open(path)?;
        let size = file.metadata()?.len();
        file.seek(SeekFrom::Start(size.saturating_sub(TAIL)))?;
        let mut bytes = Vec::new();
        file.take(TAIL).read_to_end(&mut bytes)?;
        if size > TAIL {
            let end = bytes.iter().position(u8::is_ascii_whitespace);
            bytes.drain(..end.unwrap_or(bytes.len()));
        }
        Ok::<_, std::io::Error>(bytes)
    };
    String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
}

/// What names a process of this machine for good.
pub(super) fn identify(pid: u32) -> Option<ProcessIdentity> {
    let pid = i32::try_from(pid).ok()?;
    Some(ProcessIdentity {
        pid,
        started: Seen::of(pid)?.started,
        boot: boot(),
    })
}

fn still_runs(process: &ProcessIdentity) -> bool {
    process.boot == boot() && Seen::is_running(process.pid, process.started)
}

fn boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .map(|id| id.trim().to_owned())
        .unwrap_or_default()
}

/// Our own name in rows: something others can look up.
pub(super) fn our_name() -> String {
    match identify(std::process::id()) {
        Some(us) => format!("{} {} {}", us.pid, us.started, us.boot),
        None => String::new(),
    }
}

fn is_alive(name: &str) -> bool {
    let mut parts = name.split(' ');
    let identity = || {
        Some(ProcessIdentity {
            pid: parts.next()?.parse().ok()?,
            started: parts.next()?.parse().ok()?,
            boot: parts.next()?.to_owned(),
        })
    };
    std::iter::once_with(identity)
        .flatten()
        .any(|identity| still_runs(&identity))
}

#[cfg(test)]
mod tests {
    use super::*;

    // EX-13
    #[test]
    fn the_end_of_a_log_does_not_begin_in_the_middle_of_a_word() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let tail = || log_tail(path.to_str().unwrap());
        let length = usize::try_from(TAIL).unwrap();
        fs::write(
            &path,
            format!("half-of-a-key\n{}\nlast", "x\n".repeat(length / 2 - 5)),
        )
        .unwrap();
        assert!(
            !tail().contains("key") && tail().ends_with("\nlast"),
            "{}",
            &tail()[..40]
        );
        fs::write(&path, "whole words").unwrap();
        assert_eq!(tail(), "whole words");
        fs::write(&path, "x".repeat(length + 1)).unwrap();
        assert_eq!(tail(), "");
    }
}
