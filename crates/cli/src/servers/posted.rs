//! How the servers of a running conversation are, told to other runs of the program: what works when it is tried by
//! hand may still be down there.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_config::{create_directory, lock_file, read_file, replace_file};
use hermes_mcp::{Fleet, Status};
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

/// Changes closer together than this are written down once; a question that is asked once is over before.
const REST: Duration = Duration::from_secs(1);
/// How long the start of a posting waits for a reader that is just looking.
const PATIENCE: Duration = Duration::from_secs(1);

/// A run of the program that uses servers.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Running {
    pub(crate) pid: u32,
    pub(crate) servers: Vec<Status>,
}

/// Writes down how the servers of a fleet are, until it is dropped. The lock beside the file is held all the while, so
/// that a file of a run that was killed is known for what it is.
pub(crate) struct Posting {
    task: JoinSet<()>,
    paths: Paths,
}

impl Posting {
    /// Must be made inside a runtime. What cannot be written is missing in other runs, and no harm here.
    pub(crate) fn start(home: &Path, fleet: Fleet) -> Self {
        let pid = std::process::id();
        let paths = Paths::of(&folder(home), &pid.to_string());
        let mut task = JoinSet::new();
        task.spawn(post(paths.clone(), pid, fleet));
        Self { task, paths }
    }
}

impl Drop for Posting {
    fn drop(&mut self) {
        self.task.abort_all();
        self.paths.remove();
    }
}

async fn post(paths: Paths, pid: u32, fleet: Fleet) {
    let mut changes = fleet.changes();
    tokio::time::sleep(REST).await;
    let lock = {
        let paths = paths.clone();
        tokio::task::spawn_blocking(move || {
            create_directory(paths.file.parent()?).ok()?;
            lock_file(&paths.lock, PATIENCE).ok().flatten()
        })
    };
    let Ok(Some(_held)) = lock.await else {
        return;
    };
    loop {
        changes.mark_unchanged();
        let servers = fleet.status();
        let file = paths.file.clone();
        let written = tokio::task::spawn_blocking(move || {
            let running = serde_json::to_vec(&Running { pid, servers }).ok()?;
            replace_file(&file, &running).ok()
        });
        if !matches!(written.await, Ok(Some(()))) || changes.changed().await.is_err() {
            return;
        }
        tokio::time::sleep(REST).await;
    }
}

/// The runs of the program that use servers now. What killed ones left behind is cleared away.
pub(crate) fn running(home: &Path) -> Vec<Running> {
    let folder = folder(home);
    let Ok(entries) = std::fs::read_dir(&folder) else {
        return Vec::new();
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut found: Vec<Running> = names
        .filter_map(|name| read(&Paths::of(&folder, name.strip_suffix(".json")?)))
        .collect();
    found.sort_by_key(|running| running.pid);
    found
}

fn read(paths: &Paths) -> Option<Running> {
    if let Some(_free) = lock_file(&paths.lock, Duration::ZERO).ok()? {
        paths.remove();
        return None;
    }
    serde_json::from_slice(&read_file(&paths.file).ok()??).ok()
}

#[derive(Clone)]
struct Paths {
    file: PathBuf,
    lock: PathBuf,
}

impl Paths {
    fn of(folder: &Path, name: &str) -> Self {
        Self {
            file: folder.join(format!("{name}.json")),
            lock: folder.join(format!("{name}.lock")),
        }
    }

    fn remove(&self) {
        for path in [&self.file, &self.lock] {
            // It is not there when nothing was written yet.
            let _ = std::fs::remove_file(path);
        }
    }
}

fn folder(home: &Path) -> PathBuf {
    home.join("cache").join("mcp-running")
}
