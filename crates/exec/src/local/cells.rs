//! Sandboxes that outlive the command they were made for.
//!
//! Making one takes several times as long as starting a shell in it. So when a command has ended, and with it
//! everything it started, its cell waits for the next command that is to be confined in exactly the same way.
//! No cell ever holds two commands at once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hermes_policy::Confinement;

use super::Confiner;
use crate::warden::{Handle, WardenProgram};
use crate::{Enclosed, ExecError};

/// How many cells wait for a command. More than one, because a model may start several at once.
const WAITING: usize = 2;

/// Makes cells and takes them back.
#[derive(Clone)]
pub(super) struct Cells {
    confiner: Arc<dyn Confiner>,
    program: WardenProgram,
    outer: Handle,
    /// Longest unused first.
    waiting: Arc<Mutex<Vec<Cell>>>,
}

/// A sandbox with a warden in it.
pub(super) struct Cell {
    /// What made it: cells of the same command line confine in the same way.
    argv: Vec<String>,
    /// The way to its warden, which is started with the first command.
    pub(super) warden: Handle,
    /// What commands inside must know about their surroundings.
    pub(super) environment: Vec<(String, String)>,
}

impl Cells {
    pub(super) fn new(confiner: Arc<dyn Confiner>, program: WardenProgram, outer: Handle) -> Self {
        Self {
            confiner,
            program,
            outer,
            waiting: Arc::default(),
        }
    }

    /// A cell for one command.
    pub(super) async fn take(&self, confinement: Confinement) -> Result<Cell, ExecError> {
        let confiner = self.confiner.clone();
        let keeping = self.program.keeping();
        // Which paths there are is asked of the disk, every time.
        let enclosed =
            tokio::task::spawn_blocking(move || confiner.enclose(&confinement, &keeping));
        let Enclosed { argv, environment } = enclosed
            .await
            .map_err(|error| ExecError::Confinement(error.to_string()))??;
        let mut waiting = self.waiting();
        if let Some(place) = waiting.iter().rposition(|cell| cell.argv == argv) {
            return Ok(waiting.remove(place));
        }
        Ok(Cell {
            warden: Handle::within(self.outer.clone(), argv.clone()),
            argv,
            environment,
        })
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Cell>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes back a cell whose command has ended.
    pub(super) fn put(&self, cell: Cell) {
        let mut waiting = self.waiting();
        waiting.push(cell);
        if waiting.len() > WAITING {
            waiting.remove(0);
        }
    }
}
