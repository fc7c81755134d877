//! The skills of a home, looked up when they are needed and remembered until something changes.

mod left_out;
mod snapshot;
mod walk;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::Duration;

use hermes_config::Skills;
use hermes_core::Clock;
use jiff::Timestamp;
use serde_json::Value as Json;

use crate::catalog::{Catalog, CatalogEntry};
use crate::conditions::Locality;
use crate::roots::{Root, RootKind};
use crate::shipped::Shipped;
use crate::surroundings::Surroundings;
use crate::usage::Usage;
use snapshot::Remembered;

pub use left_out::LeftOut;
pub(crate) use walk::{
    SKILL_FILE, SKIPPED, SUPPORT, is_passed_over, is_text, read_skill, read_text,
};

/// How long a look at the disk is good for. Commands complete while somebody types.
const FRESH: Duration = Duration::from_secs(1);
/// What is remembered of all skills between two runs.
const SNAPSHOT: &str = ".skills_prompt_snapshot.json";

/// What a library is made from.
pub struct LibraryOptions {
    /// The home of the program.
    pub home: PathBuf,
    pub roots: Vec<Root>,
    pub settings: Skills,
    pub locality: Locality,
    /// The skills that come with the program.
    pub shipped: Shipped,
    pub surroundings: Arc<dyn Surroundings>,
    pub clock: Arc<dyn Clock>,
}

/// The skills of a home. Making one touches no file.
pub struct Library {
    home: PathBuf,
    roots: Vec<Root>,
    settings: Skills,
    locality: Locality,
    shipped: Shipped,
    surroundings: Arc<dyn Surroundings>,
    clock: Arc<dyn Clock>,
    /// Whether the skills of the program were brought in, or did not have to be.
    brought: Once,
    /// Whether something changed that times and sizes may not tell.
    doubted: AtomicBool,
    state: Mutex<Option<State>>,
}

struct State {
    catalog: Arc<Catalog>,
    remembered: Remembered,
    looked_at: Timestamp,
}

impl Library {
    pub fn new(options: LibraryOptions) -> Self {
        Self {
            home: options.home,
            roots: options.roots,
            settings: options.settings,
            locality: options.locality,
            shipped: options.shipped,
            surroundings: options.surroundings,
            brought: Once::new(),
            doubted: AtomicBool::new(false),
            clock: options.clock,
            state: Mutex::new(None),
        }
    }

    /// The same with our own skills in another home, into which the program brings none.
    pub(crate) fn at(&self, home: &Path) -> Self {
        let moved = |root: &Root| match root.kind {
            RootKind::Own => Root {
                path: home.join("skills"),
                kind: root.kind,
            },
            RootKind::External | RootKind::Plugin => root.clone(),
        };
        Self::new(LibraryOptions {
            home: home.to_owned(),
            roots: self.roots.iter().map(moved).collect(),
            settings: self.settings.clone(),
            locality: self.locality.clone(),
            shipped: Shipped::Nothing,
            surroundings: self.surroundings.clone(),
            clock: self.clock.clone(),
        })
    }

    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Where our own skills lie.
    pub fn own(&self) -> PathBuf {
        self.home.join("skills")
    }

    pub fn roots(&self) -> &[Root] {
        &self.roots
    }

    pub fn settings(&self) -> &Skills {
        &self.settings
    }

    pub fn locality(&self) -> &Locality {
        &self.locality
    }

    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// The skills that come with the program.
    pub fn shipped(&self) -> &Shipped {
        &self.shipped
    }

    /// The world around skills.
    pub fn surroundings(&self) -> &dyn Surroundings {
        &*self.surroundings
    }

    /// How often skills are used, and who made them.
    pub fn usage(&self) -> Usage {
        Usage::new(&self.own(), self.clock.clone())
    }

    /// What there is. Looks at the disk, and reads what changed since the last time; blocks while it does.
    /// The first call brings in the skills of the program, when they are new.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.brought.call_once(|| self.bring_in());
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.now();
        let doubted = self.doubted.swap(false, Ordering::Relaxed);
        if let Some(known) = &*state
            && !doubted
            && now.duration_since(known.looked_at).unsigned_abs() < FRESH
        {
            return known.catalog.clone();
        }
        let known = state.take().map(|known| (known.catalog, known.remembered));
        let known = known.or_else(|| self.read_snapshot());
        let (catalog, remembered) = match known {
            Some((catalog, remembered)) if !doubted && remembered.still_holds() => {
                (catalog, remembered)
            }
            stale => {
                let found = walk::look(&self.roots, stale.as_ref(), now);
                // Nothing is not worth a file.
                if found.1.is_certain() && !found.0.entries.is_empty() {
                    snapshot::write(&self.snapshot_file(), &self.roots, &found.0, &found.1);
                }
                (Arc::new(found.0), found.1)
            }
        };
        *state = Some(State {
            catalog: catalog.clone(),
            remembered,
            looked_at: now,
        });
        catalog
    }

    /// What there was at the last look; looks when there was none.
    pub fn last_seen(&self) -> Arc<Catalog> {
        let seen = {
            let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.as_ref().map(|known| known.catalog.clone())
        };
        seen.unwrap_or_else(|| self.catalog())
    }

    /// What there was at the last look, of this run or of an earlier one; reads one file at most. Nothing when
    /// nobody looked yet.
    pub fn remembered(&self) -> Option<Arc<Catalog>> {
        let seen = {
            let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.as_ref().map(|known| known.catalog.clone())
        };
        seen.or_else(|| Some(self.read_snapshot()?.0))
    }

    /// Looks at the disk at the next call, however soon it comes and whatever is remembered.
    pub fn forget(&self) {
        self.doubted.store(true, Ordering::Relaxed);
    }

    fn snapshot_file(&self) -> PathBuf {
        self.home.join(SNAPSHOT)
    }

    fn read_snapshot(&self) -> Option<(Arc<Catalog>, Remembered)> {
        snapshot::read(&self.snapshot_file(), &self.roots)
            .map(|(catalog, remembered)| (Arc::new(catalog), remembered))
    }

    /// Our own skills by name, as they lie on the disk now.
    pub(crate) fn own_directories(&self) -> HashMap<String, PathBuf> {
        let own = self.roots.iter().filter(|root| root.kind == RootKind::Own);
        let own: Vec<Root> = own.cloned().collect();
        let entries = walk::look(&own, None, self.clock.now()).0.entries;
        let pairs = entries.into_iter().rev();
        pairs.map(|entry| (entry.name, entry.directory)).collect()
    }

    /// The names of skills in directories of others.
    pub(crate) fn external_names(&self) -> Vec<String> {
        let others = self
            .roots
            .iter()
            .filter(|root| root.kind == RootKind::External);
        let others: Vec<Root> = others.cloned().collect();
        let entries = walk::look(&others, None, self.clock.now()).0.entries;
        entries.into_iter().map(|entry| entry.name).collect()
    }

    /// Whether a skill was installed from somewhere, as the lock file of installed skills says.
    pub fn is_installed(&self, entry: &CatalogEntry) -> bool {
        let lock = self.own().join(".hub/lock.json");
        let lock = hermes_config::read_file(&lock).ok().flatten();
        let lock: Json = lock
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default();
        let installed = lock.get("installed").and_then(Json::as_object);
        // It may write its name in another way than the list.
        let is_there = |place: &Json| {
            let path = place.get("install_path").and_then(Json::as_str);
            path.is_some_and(|path| self.own().join(path) == entry.directory)
        };
        installed.is_some_and(|all| all.contains_key(&entry.name) || all.values().any(is_there))
    }

    /// Whether an entry lies in our own directory.
    pub fn is_own(&self, entry: &CatalogEntry) -> bool {
        !entry.external
            && self
                .roots
                .iter()
                .any(|root| root.kind == RootKind::Own && entry.directory.starts_with(&root.path))
    }
}
