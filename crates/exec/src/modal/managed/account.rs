//! The sandboxes that a gateway made for this home, as they are written down here.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use http::{HeaderName, Method};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::command::{DIRECTORY, LONGEST_LIFE, Sandbox};
use crate::cloud::CloudConfig;
use crate::lease::Leases;
use crate::rest::{Again, Server};
use crate::sandboxes::{Inventory, Sandbox as Listed, is_free};
use crate::{ExecError, labels};

const IDEMPOTENCY: HeaderName = HeaderName::from_static("x-idempotency-key");
/// A sandbox that nobody speaks to is ended by the gateway, but not sooner.
const SHORTEST_IDLE: Duration = Duration::from_secs(300);
/// How long a look at whether a sandbox is there may take.
const CHECK: Duration = Duration::from_secs(20);
/// The end of the names of notes.
const NOTE: &str = "managed.json";
/// No note is longer; more tasks than this are not looked at.
const MAX_NOTE: u64 = 16 << 10;
const MAX_NOTES: usize = 1_000;
/// The profile whose sandboxes are called by the task alone.
const PLAIN_PROFILE: &str = "default";

/// The gateway, seen with its token.
#[derive(Clone)]
pub(crate) struct Account {
    server: Server,
    /// Begins every name that we give.
    stem: String,
    started: Arc<AtomicU64>,
    /// The directory with a folder for each task.
    tasks: PathBuf,
}

/// One sandbox that was made.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Note {
    id: String,
    image: String,
    /// Whether its files are kept.
    kept: bool,
    /// In seconds since 1970.
    created_at: i64,
    labels: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Made {
    #[serde(alias = "sandboxId")]
    id: String,
}

impl Account {
    pub(super) fn new(server: Server, stem: String, tasks: PathBuf) -> Self {
        Self {
            server,
            stem,
            started: Arc::default(),
            tasks,
        }
    }

    fn sandbox(&self, id: &str) -> Sandbox {
        let (server, stem) = (self.server.clone(), self.stem.clone());
        Sandbox::new(server, id.to_owned(), stem, Arc::clone(&self.started))
    }

    /// Finds the sandbox that fits, or makes one.
    pub(super) async fn ensure(
        &self,
        cloud: &CloudConfig,
        leases: &Leases,
    ) -> Result<Sandbox, ExecError> {
        let making = making(cloud);
        let labels = labels::all(&cloud.task, &cloud.profile, cloud.lifetime, &making);
        let labels: BTreeMap<String, String> = labels
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        let path = self
            .tasks
            .join(labels::value(&cloud.task))
            .join(format!("{}.{NOTE}", labels::value(&cloud.profile)));
        if let Some(note) = self.read(&path) {
            let alike = note.labels.get(labels::CONFIG) == labels.get(labels::CONFIG);
            if alike && cloud.persistent {
                let sandbox = self.sandbox(&note.id);
                let check = sandbox.command("true".to_owned(), CHECK);
                match sandbox.run(&check).await {
                    Ok(_) => return Ok(sandbox),
                    Err(ExecError::Gone(said)) => tracing::info!(said, "the sandbox is gone"),
                    Err(error) => return Err(error),
                }
            } else if is_free(leases, &note.id, 0, cloud.lifetime, &*cloud.clock) {
                tracing::info!(sandbox = note.id, "made differently, so it is replaced");
                self.remove(&note.id).await?;
            }
        }
        let id = self.make(cloud, making).await?;
        let note = Note {
            id: id.clone(),
            image: cloud.image.clone(),
            kept: cloud.persistent,
            created_at: cloud.clock.now().as_second(),
            labels,
        };
        if let Err(source) = write(&path, &note) {
            // One that nobody knows of would run until the gateway gives it up.
            self.terminate(&id, false).await?;
            return Err(ExecError::Io {
                what: format!("cannot write {}", path.display()),
                source,
            });
        }
        Ok(self.sandbox(&id))
    }

    async fn make(&self, cloud: &CloudConfig, making: Value) -> Result<String, ExecError> {
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let mut body = making;
        let task = labels::value(&cloud.task);
        body["cwd"] = json!(DIRECTORY);
        body["timeoutMs"] = json!(milliseconds(LONGEST_LIFE));
        body["idleTimeoutMs"] = json!(milliseconds(cloud.lifetime.max(SHORTEST_IDLE)));
        // The gateway knows the files of a task by this name.
        body["logicalKey"] = json!(match labels::value(&cloud.profile).as_str() {
            PLAIN_PROFILE => task,
            profile => format!("{profile}.{task}"),
        });
        let number = self
            .started
            .fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let server = self
            .server
            .with(IDEMPOTENCY, &format!("{}-{number}", self.stem));
        let (path, what) = ("v1/sandboxes", "making the sandbox");
        let made: Result<Made, ExecError> = server
            .json(Method::POST, path, Some(&body), Again::Yes, what)
            .await;
        match made {
            Ok(made) => Ok(made.id),
            // Nothing was there that could be gone.
            Err(ExecError::Gone(said)) => Err(super::unavailable(
                said,
                "Check MODAL_GATEWAY_URL.".to_owned(),
            )),
            Err(error) => Err(error),
        }
    }

    async fn terminate(&self, id: &str, keep: bool) -> Result<(), ExecError> {
        let path = format!("v1/sandboxes/{id}/terminate");
        let body = json!({ "snapshotBeforeTerminate": keep });
        let what = "ending the sandbox";
        let ended = self
            .server
            .ask(Method::POST, &path, Some(&body), Again::Yes, what)
            .await;
        match ended {
            Ok(_) | Err(ExecError::Gone(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// A note about a sandbox that may still be there.
    fn read(&self, path: &Path) -> Option<Note> {
        let small = std::fs::metadata(path).is_ok_and(|data| data.len() <= MAX_NOTE);
        let text = small.then(|| std::fs::read(path).ok())??;
        let note: Note = serde_json::from_slice(&text).ok()?;
        let life = i64::try_from(LONGEST_LIFE.as_secs()).unwrap_or(i64::MAX);
        let now = self.server.clock.now().as_second();
        (now < note.created_at.saturating_add(life)).then_some(note)
    }

    fn notes(&self) -> Vec<(PathBuf, Note)> {
        let inside = |folder: &Path| {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            entries.map(|entry| entry.path()).take(MAX_NOTES)
        };
        inside(&self.tasks)
            .flat_map(|task| inside(&task).collect::<Vec<_>>())
            .filter(|path| path.to_string_lossy().ends_with(NOTE))
            .filter_map(|path| self.read(&path).map(|note| (path, note)))
            .take(MAX_NOTES)
            .collect()
    }

    async fn end(&self, id: &str, keep: bool) -> Result<(), ExecError> {
        let known = self.notes().into_iter().find(|(_, note)| note.id == id);
        let kept = known.as_ref().is_some_and(|(_, note)| note.kept);
        self.terminate(id, keep && kept).await?;
        match known.map(|(path, _)| std::fs::remove_file(path)) {
            Some(Err(source)) if source.kind() != io::ErrorKind::NotFound => Err(ExecError::Io {
                what: "cannot remove the note about the sandbox".to_owned(),
                source,
            }),
            Some(_) | None => Ok(()),
        }
    }
}

impl Inventory for Account {
    async fn all(&self) -> Result<Vec<(String, Listed)>, ExecError> {
        let known = self.notes().into_iter().map(|(_, note)| {
            let sandbox = Listed {
                image: note.image,
                running: true,
                created_at: note.created_at,
                ..Listed::from_labels(note.id.clone(), &note.labels)
            };
            (note.id, sandbox)
        });
        Ok(known.collect())
    }

    /// A sandbox of Modal cannot rest, so its files are kept and it is ended.
    async fn stop(&self, id: &str) -> Result<(), ExecError> {
        self.end(id, true).await
    }

    async fn remove(&self, id: &str) -> Result<(), ExecError> {
        self.end(id, false).await
    }
}

/// What sandboxes made alike have in common.
fn making(cloud: &CloudConfig) -> Value {
    let mut body = json!({
        "image": cloud.image,
        "persistentFilesystem": cloud.persistent,
    });
    if cloud.cpus > 0.0 {
        body["cpu"] = json!(cloud.cpus);
    }
    for (name, value) in [("memoryMiB", cloud.memory_mb), ("diskMiB", cloud.disk_mb)] {
        if value > 0 {
            body[name] = json!(value);
        }
    }
    body
}

fn write(path: &Path, note: &Note) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let draft = path.with_extension(format!("json.{}", std::process::id()));
    std::fs::write(&draft, serde_json::to_vec(note)?)?;
    std::fs::rename(draft, path)
}
