//! The directory in which shells on this machine keep their states: exported variables, functions, aliases.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use hermes_config::Home;
use hermes_exec::{Den, clear_dens};
use tokio::task::JoinHandle;

/// Where the dens of all processes lie. A sandbox covers the whole home, and so also those that are made while a
/// command runs; what a session keeps for itself in there is named to its own commands.
pub(super) fn yard(home: &Home) -> PathBuf {
    home.cache_dir().join("shells")
}

/// The directory of this process: a name at first, and made when a command needs it.
pub(super) struct Dens {
    scratch: PathBuf,
    held: OnceLock<Held>,
}

/// The directory, for as long as this lives.
struct Held {
    _kept: Option<Den>,
    /// Clears what killed processes left.
    clearing: JoinHandle<()>,
}

impl Dens {
    /// Names it.
    pub(super) fn new(scratch: PathBuf) -> Self {
        Self {
            scratch,
            held: OnceLock::new(),
        }
    }

    /// Makes it, once, and begins to clear what others left beside it. Must be called inside a runtime.
    pub(super) fn hold(&self) {
        self.held.get_or_init(|| self.claim());
    }

    fn claim(&self) -> Held {
        let beside = self.scratch.parent().map(Path::to_owned);
        let clearing = tokio::task::spawn_blocking(move || {
            if let Some(beside) = beside {
                let cleared = clear_dens(&beside);
                tracing::debug!(cleared, "looked for what killed processes left");
            }
        });
        let shown = self.scratch.display();
        // One that cannot be made is said to the user by the first command that needs it.
        let kept = Den::claim(self.scratch.clone()).inspect_err(
            |error| tracing::warn!(%error, path = %shown, "a directory could not be made"),
        );
        Held {
            _kept: kept.ok(),
            clearing,
        }
    }
}

impl Drop for Held {
    /// What is not cleared is left to the next one.
    fn drop(&mut self) {
        self.clearing.abort();
    }
}
