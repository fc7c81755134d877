//! What runs behind the conversation, and how it would be started again.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use hermes_core::ToolContext;
use hermes_exec::{
    Command, EndReason, ProcessError, ProcessInfo, ProcessState, Shell, StartProcess,
    StartedProcess,
};

use super::{Confined, Workplace, refused_by_sandbox};
use crate::guard::{Action, Clearance};

/// Rows and columns of a terminal that nobody looks at.
const TERMINAL: (u16, u16) = (30, 120);
/// Processes that are remembered; more than may run at once.
const MOST: usize = 256;

/// A command to be started behind the conversation.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) command: String,
    pub(crate) workdir: Option<String>,
    /// Where that is.
    pub(crate) directory: PathBuf,
    pub(crate) on_terminal: bool,
    pub(crate) notify: bool,
    pub(crate) watch: Vec<String>,
}

/// The confined processes of a session whose end nobody has seen yet.
#[derive(Default)]
pub struct Behind {
    running: Mutex<HashMap<String, (Wanted, Confined)>>,
}

/// What came of a process that its sandbox was in the way of.
pub(crate) enum Refused {
    /// A person let it out: it runs as another one.
    Out(StartedProcess),
    /// It stays inside; what the model is told.
    In(String),
}

impl Behind {
    fn remember(&self, id: &str, wanted: Wanted, confined: Confined) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.len() >= MOST {
            running.clear();
        }
        running.insert(id.to_owned(), (wanted, confined));
    }

    fn take(&self, id: &str) -> Option<(Wanted, Confined)> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.remove(id)
    }
}

impl Workplace {
    /// Starts a command behind the conversation.
    pub(crate) async fn start_behind(
        &self,
        wanted: Wanted,
        confined: &Confined,
        context: &ToolContext,
    ) -> Result<StartedProcess, ProcessError> {
        let started = self.launch(&self.shell, &wanted, confined, context).await?;
        if confined.confinement().is_some() {
            self.behind.remember(&started.id, wanted, confined.clone());
        }
        Ok(started)
    }

    /// When a process of this session has ended and its sandbox looks like the reason, a person is asked, once for
    /// each process, whether it may be started again outside.
    pub(crate) async fn if_refused(
        &self,
        info: &ProcessInfo,
        context: &ToolContext,
    ) -> Option<Refused> {
        let ProcessState::Exited { exit_code, reason } = info.state else {
            return None;
        };
        let (wanted, confined) = self.behind.take(&info.id)?;
        let code = exit_code.filter(|_| reason == EndReason::Exited)?;
        let line = refused_by_sandbox(&confined, &info.output, code)?;
        let action = Action::outside("terminal", &wanted.command, &line);
        if let Clearance::Refused(why) = self.guard.clear(&action, self, context).await {
            return Some(Refused::In(why));
        }
        let freed = Wanted {
            workdir: Some(wanted.directory.display().to_string()),
            ..wanted
        };
        let open = Confined::Not(super::LET_OUT.to_owned());
        let started = self.launch(&self.outside, &freed, &open, context).await;
        Some(match started {
            Ok(started) => Refused::Out(started),
            Err(error) => Refused::In(error.to_string()),
        })
    }

    async fn launch(
        &self,
        shell: &Shell,
        wanted: &Wanted,
        confined: &Confined,
        context: &ToolContext,
    ) -> Result<StartedProcess, ProcessError> {
        let command = Command {
            text: wanted.command.clone(),
            workdir: wanted.workdir.clone(),
            terminal: wanted.on_terminal.then_some(TERMINAL),
            confinement: confined.confinement(),
            ..Command::default()
        };
        let launch = shell.background(&command).await?;
        self.processes
            .start(StartProcess {
                session: context.session.to_string(),
                command: wanted.command.clone(),
                directory: wanted.directory.clone(),
                backend: self.backend.clone(),
                launch,
                notify_on_complete: wanted.notify,
                watch_patterns: wanted.watch.clone(),
            })
            .await
    }
}
