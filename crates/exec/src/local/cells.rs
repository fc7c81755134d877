//! Wardens of one command at a time, which outlive the command they were made for.
//!
//! Making a sandbox takes several times as long as starting a shell in it. So when a command has ended, and with it
//! everything it started, its cell waits for the next command that is to be confined in exactly the same way. The
//! same holds for the nests of commands that are not confined. Neither ever holds two commands at once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hermes_policy::Confinement;

use super::Confiner;
use crate::warden::{Handle, WardenProgram, Within};
use crate::{Enclosed, ExecError, RunId};

/// How many cells wait for a command. More than one, because a model may start several at once.
const WAITING: usize = 2;

/// Makes cells and nests, and takes them back.
#[derive(Clone)]
pub(super) struct Cells {
    confiner: Option<Arc<dyn Confiner>>,
    program: WardenProgram,
    outer: Handle,
    /// Longest unused first.
    waiting: Arc<Mutex<Vec<Cell>>>,
}

/// A warden for one command, confined or not.
pub(super) struct Cell {
    /// What made it: cells of the same command line confine in the same way.
    argv: Vec<String>,
    /// The way to its warden, which is started with the first command.
    pub(super) warden: Handle,
    /// What commands inside must know about their surroundings.
    pub(super) environment: Vec<(String, String)>,
}

impl Cells {
    pub(super) fn new(
        confiner: Option<Arc<dyn Confiner>>,
        program: WardenProgram,
        outer: Handle,
    ) -> Self {
        Self {
            confiner,
            program,
            outer,
            waiting: Arc::default(),
        }
    }

    /// A cell for one command that is confined; `run` is that command's name.
    pub(super) async fn confined(
        &self,
        confinement: Confinement,
        run: &RunId,
    ) -> Result<Cell, ExecError> {
        let Some(confiner) = self.confiner.clone() else {
            return Err(ExecError::Confinement(
                "nothing on this machine can confine commands".to_owned(),
            ));
        };
        let keeping = self.program.keeping();
        // Which paths there are is asked of the disk, every time.
        let enclosed =
            tokio::task::spawn_blocking(move || confiner.enclose(&confinement, &keeping));
        let enclosed = enclosed
            .await
            .map_err(|error| ExecError::Confinement(error.to_string()))??;
        Ok(self.take(Within::Cell, enclosed, run))
    }

    /// A nest for one command that has all our rights; `run` is that command's name.
    pub(super) fn open(&self, run: &RunId) -> Cell {
        let plain = Enclosed {
            argv: self.program.nesting(),
            environment: Vec::new(),
        };
        self.take(Within::Nest, plain, run)
    }

    fn take(&self, within: Within, made_by: Enclosed, run: &RunId) -> Cell {
        let Enclosed { argv, environment } = made_by;
        let mut waiting = self.waiting();
        if let Some(place) = waiting.iter().rposition(|cell| cell.argv == argv) {
            return waiting.remove(place);
        }
        // When the first warden is lost, what it kept is looked for by name on the whole machine: a name that
        // another program could give as well would end what that one runs.
        let marker = format!("cell{}", run.as_str());
        Cell {
            warden: Handle::within(self.outer.clone(), within, marker, argv.clone()),
            argv,
            environment,
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Cell>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes back a cell whose command has ended, and with it everything the command started.
    pub(super) fn put(&self, cell: Cell) {
        let mut waiting = self.waiting();
        waiting.push(cell);
        if waiting.len() > WAITING {
            waiting.remove(0);
        }
    }
}
