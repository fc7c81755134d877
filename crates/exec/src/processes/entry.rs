//! What is known of one background process.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hermes_store::ProcessRow;
use jiff::Timestamp;
use serde_json::json;
use tokio::sync::{Mutex, mpsc, watch as signal};

use super::cleaned::Cleaner;
use super::follower::Typed;
use super::rolling::{Lines, Rolling};
use super::typed::Record;
use super::watch::Watch;
use super::{ProcessInfo, ProcessLog, ProcessState, Reach};
use crate::Control;

/// Characters of a command that are told with what becomes of it: a script of a megabyte is a command too.
const TOLD_COMMAND: usize = 1_000;

/// A command, as events tell it.
pub(super) fn told_of(command: &str) -> String {
    command.chars().take(TOLD_COMMAND).collect()
}

/// One process, as its owner knows it.
pub(super) struct Entry {
    pub(super) row: ProcessRow,
    pub(super) pid: Option<u32>,
    pub(super) control: Option<Arc<dyn Control>>,
    pub(super) typing: Option<mpsc::Sender<Typed>>,
    pub(super) typed: Record,
    /// Who types next waits here.
    pub(super) keyboard: Arc<Mutex<()>>,
    pub(super) output: Rolling,
    pub(super) watch: Watch,
    pub(super) state: ProcessState,
    pub(super) killing: bool,
    pub(super) detached: bool,
    pub(super) ended_at: Option<Timestamp>,
    pub(super) done: signal::Sender<bool>,
}

impl Entry {
    pub(super) fn new(row: ProcessRow, watch: Watch) -> Self {
        Self {
            row,
            pid: None,
            control: None,
            typing: None,
            typed: Record::default(),
            keyboard: Arc::default(),
            output: Rolling::default(),
            watch,
            state: ProcessState::Running,
            killing: false,
            detached: false,
            ended_at: None,
            done: signal::Sender::new(false),
        }
    }

    /// What an event says about every process, and more.
    pub(super) fn body(&self, more: serde_json::Value) -> serde_json::Value {
        let command = told_of(&self.row.command);
        let mut body = json!({ "session_id": self.row.id, "command": command });
        if let (Some(body), serde_json::Value::Object(more)) = (body.as_object_mut(), more) {
            body.extend(more);
        }
        body
    }

    pub(super) fn reach(&self) -> Reach {
        Reach {
            control: self.control.clone(),
            keyboard: Arc::clone(&self.keyboard),
            done: self.done.subscribe(),
        }
    }

    pub(super) fn info(&self, tail: usize, now: Timestamp, cleaner: &Cleaner) -> ProcessInfo {
        let until = self.ended_at.unwrap_or(now).as_duration().as_secs_f64();
        ProcessInfo {
            id: self.row.id.clone(),
            session: self.row.session.clone(),
            command: self.row.command.clone(),
            directory: PathBuf::from(&self.row.directory),
            pid: self.pid,
            started_at: self.row.started_at,
            uptime: Duration::try_from_secs_f64(until - self.row.started_at).unwrap_or_default(),
            state: self.state,
            notify_on_complete: self.row.notify,
            watch_patterns: (self.watch.patterns().iter())
                .map(|pattern| cleaner.all(&self.row.command, pattern))
                .collect(),
            watch_hit: self.watch.hit,
            detached: self.detached,
            output: cleaner.tail(&self.row.command, &self.output, tail),
        }
    }

    pub(super) fn log(
        &self,
        offset: usize,
        limit: usize,
        now: Timestamp,
        cleaner: &Cleaner,
    ) -> ProcessLog {
        let kept = cleaner.all(&self.row.command, self.output.kept());
        let lines = Lines::of(&kept, offset, limit);
        ProcessLog {
            info: self.info(0, now, cleaner),
            text: lines.text,
            total_lines: lines.total,
            first_line: lines.first,
            line_count: lines.count,
            beginning_lost: self.output.has_forgotten(),
        }
    }
}
