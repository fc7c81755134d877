//! The directories in which shells on this machine keep their states: exported variables, functions, aliases.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use hermes_config::Home;
use hermes_core::Random;
use hermes_exec::{Den, clear_dens};
use tokio::task::JoinHandle;

/// Both directories: names at first, and made when a command needs them.
pub(super) struct Dens {
    scratch: PathBuf,
    unreachable: PathBuf,
    held: OnceLock<Held>,
}

/// Both directories, for as long as this lives.
struct Held {
    _kept: Vec<Den>,
    /// Clears what killed processes left.
    clearing: JoinHandle<()>,
}

impl Dens {
    /// Names them.
    pub(super) fn new(home: &Home, scratch: PathBuf, random: &dyn Random) -> Self {
        Self {
            unreachable: Den::named(&home.cache_dir().join("shells"), random.next_u64()),
            scratch,
            held: OnceLock::new(),
        }
    }

    /// Makes them, once, and begins to clear what others left beside them. Must be called inside a runtime.
    pub(super) fn hold(&self) {
        self.held.get_or_init(|| self.claim());
    }

    fn claim(&self) -> Held {
        let both = [self.scratch.clone(), self.unreachable.clone()];
        let parents = both.clone().map(|den| den.parent().map(Path::to_owned));
        // Where the yard could not be used, or was not yet, they lie beside it.
        let beside = std::env::temp_dir();
        let clearing = tokio::task::spawn_blocking(move || {
            for parent in parents.into_iter().flatten().chain([beside]) {
                let cleared = clear_dens(&parent);
                tracing::debug!(cleared, "looked for what killed processes left");
            }
        });
        Held {
            _kept: both.into_iter().filter_map(claim).collect(),
            clearing,
        }
    }

    /// Why nothing may run out of the scratch directory.
    pub(super) fn exposed(&self) -> Option<String> {
        let yard = self
            .scratch
            .parent()
            .filter(|_| Den::is_exposed(&self.scratch));
        yard.map(|yard| {
            format!(
                "{} belongs to another user, who could change what commands do. Set TMPDIR to another directory",
                yard.display()
            )
        })
    }

    /// The one out of reach for confined commands, which can write to the scratch directory.
    pub(super) fn unreachable(&self) -> &Path {
        &self.unreachable
    }
}

impl Drop for Held {
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
