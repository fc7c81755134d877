//! The directories in which shells on this machine keep their states: exported variables, functions, aliases.

use std::path::{Path, PathBuf};

use hermes_config::Home;
use hermes_core::Random;
use hermes_exec::{Den, clear_dens};
use tokio::task::JoinHandle;

/// Both directories, for as long as this lives.
pub(super) struct Dens {
    unreachable: PathBuf,
    _kept: Vec<Den>,
    /// Clears what killed processes left.
    clearing: JoinHandle<()>,
}

impl Dens {
    /// Makes them, and begins to clear what others left beside them.
    pub(super) fn open(home: &Home, scratch: PathBuf, random: &dyn Random) -> Self {
        let parent = home.cache_dir().join("shells");
        let unreachable = Den::named(&parent, random.next_u64());
        let parents = [Some(parent), scratch.parent().map(Path::to_owned)];
        let clearing = tokio::task::spawn_blocking(move || {
            for parent in parents.into_iter().flatten() {
                let cleared = clear_dens(&parent);
                tracing::debug!(cleared, "looked for what killed processes left");
            }
        });
        Self {
            _kept: [scratch, unreachable.clone()]
                .into_iter()
                .filter_map(claim)
                .collect(),
            unreachable,
            clearing,
        }
    }

    /// The one out of reach for confined commands, which can write to the scratch directory.
    pub(super) fn unreachable(&self) -> &Path {
        &self.unreachable
    }
}

impl Drop for Dens {
    /// What is not cleared is left to the next one.
    fn drop(&mut self) {
        self.clearing.abort();
    }
}

/// One that cannot be made is said to the user by the first command that needs it.
fn claim(path: PathBuf) -> Option<Den> {
    let shown = path.display().to_string();
    Den::claim(path)
        .inspect_err(|error| tracing::warn!(%error, path = shown, "a directory could not be made"))
        .ok()
}
