//! Keeping our files up to date on a machine that cannot see ours, and looking at what was changed there.
//!
//! Up go the files that changed, in one archive, and the names of those that vanished. Down comes everything
//! that is different over there, into a directory of its own: it was written by whatever ran there, so it
//! is for somebody to look at and is never put in the place of our own files. Files with credentials
//! only ever go up.

mod archive;
mod backend;
mod record;
mod returned;
mod scan;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hermes_core::Random;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use crate::files::FileHash;
use crate::{Backend, ExecError, Exit, Growing, Input, Launch, Place, RunId};
use archive::{pack, unpack};
pub use backend::SyncedBackend;
use record::Record;
pub use returned::{Difference, Note, Returned, returned};
use scan::{Seen, scan};
use serde::{Deserialize, Serialize};

/// A command that follows another sooner than this finds the files as the other left them.
const PAUSE: Duration = Duration::from_secs(5);
const TRANSFER: Duration = Duration::from_secs(300);
/// How long to wait before what changed is fetched once more.
const AGAIN: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(4)];
/// More than this does not come down.
const MAX_DOWN: u64 = 2 << 30;

/// Puts the archive on standard input into a directory and removes what its list names, with directories that are
/// empty then.
const UP: &str = r#"
case $1 in '~/'*) set -- "$HOME/${1#'~/'}" ;; esac
mkdir -p -- "$1" && cd -- "$1" && tar -xf - || exit 1
if [ -f .hermes-vanished ]; then
    while IFS= read -r name; do
        rm -f -- "./$name"
        while case $name in */*/*) true ;; *) false ;; esac; do
            name=${name%/*}
            rmdir -- "./$name" 2>/dev/null || break
        done
    done <.hermes-vanished
    rm -f .hermes-vanished
fi
"#;
/// Sends what is in a directory under the names that follow.
const DOWN: &str = r#"
exec 2>/dev/null
case $1 in '~/'*) cd -- "$HOME/${1#'~/'}" ;; *) cd -- "$1" ;; esac || exit 1
shift
for name; do shift; [ ! -e "$name" ] || set -- "$@" "$name"; done
[ "$#" -eq 0 ] || tar -cf - -- "$@"
"#;

/// Something of ours that commands over there can use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// A file or directory here.
    pub from: PathBuf,
    /// Where it goes, relative to the remote root.
    pub to: String,
    /// What it is.
    pub kind: SourceKind,
}

/// What a source is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceKind {
    /// Files everybody may read, such as skills.
    Shared,
    /// A credential: goes up readable for its owner only and never comes down.
    Credential,
}

/// Whether to look again although it was looked a moment ago.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Urgency {
    /// Not if it was a moment ago.
    Usual,
    /// In any case.
    Now,
}

/// What went up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pushed {
    /// Files sent because they are new or changed.
    pub sent: Vec<String>,
    /// Files removed because they are not here any more.
    pub removed: Vec<String>,
}

/// What is different over there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pulled {
    /// Where the files lie for somebody to look at; not there when nothing is different.
    pub quarantine: PathBuf,
    /// Each difference, by path relative to the remote root.
    pub changes: BTreeMap<String, Change>,
}

/// One difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// A file we did not send.
    Added,
    /// A file we sent, with other content.
    Changed,
    /// A file we sent is not there any more.
    Removed,
}

/// Keeps files up to date over one backend.
pub struct FileSync {
    backend: Arc<dyn Backend>,
    random: Arc<dyn Random>,
    /// The directory over there that mirrors ours.
    root: String,
    sources: Growing<Source>,
    /// A directory of ours for archives under way and for what comes down.
    work: PathBuf,
    /// What earlier processes sent there too.
    record: Record,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What is over there, as far as we sent it.
    sent: BTreeMap<String, Seen>,
    /// The place it was sent to; another one has none of it.
    edition: u64,
    looked: Option<Instant>,
}

impl FileSync {
    /// Nothing is sent yet. `root` is a directory over there, which may begin with `~`, `work` one of ours.
    pub fn new(
        backend: Arc<dyn Backend>,
        random: Arc<dyn Random>,
        root: impl Into<String>,
        sources: impl Into<Growing<Source>>,
        work: impl Into<PathBuf>,
    ) -> Self {
        let (root, work) = (root.into(), work.into());
        Self {
            record: Record::new(&work, &backend.place(), &root),
            backend,
            random,
            root,
            sources: sources.into(),
            work,
            state: Mutex::new(State::default()),
        }
    }

    /// Sends what changed. If that fails nothing counts as sent, and the next call tries again.
    pub async fn push(&self, urgency: Urgency) -> Result<Pushed, ExecError> {
        let mut state = self.state.lock().await;
        let edition = self.backend.edition();
        if state.edition != edition {
            *state = State {
                edition,
                ..State::default()
            };
        }
        let fresh = state.looked.is_some_and(|looked| looked.elapsed() < PAUSE);
        if urgency == Urgency::Usual && fresh {
            return Ok(Pushed::default());
        }
        let (sources, known) = (self.sources.list(), state.sent.clone());
        let found = blocking("looking for files", move || scan(&sources, &known)).await?;
        let mut pushed = Pushed {
            sent: Vec::new(),
            removed: Vec::new(),
        };
        for (name, seen) in &found {
            if state
                .sent
                .get(name)
                .is_none_or(|sent| sent.hash != seen.hash)
            {
                pushed.sent.push(name.clone());
            }
        }
        let record = self.record.clone();
        let recorded = blocking("looking for what was sent", move || record.read()).await?;
        let there = recorded.iter().chain(state.sent.keys());
        let vanished: BTreeSet<&String> = there.filter(|name| !found.contains_key(*name)).collect();
        pushed.removed.extend(vanished.into_iter().cloned());
        if !pushed.sent.is_empty() || !pushed.removed.is_empty() {
            // Whoever is killed halfway may have sent all of it.
            let names: BTreeSet<String> = found.keys().cloned().collect();
            self.note(names.union(&recorded).cloned().collect()).await?;
            self.send(&found, &pushed).await?;
            self.note(names).await?;
        }
        state.sent = found;
        state.looked = Some(Instant::now());
        Ok(pushed)
    }

    /// Writes down what is over there, unless that stands there already.
    async fn note(&self, names: BTreeSet<String>) -> Result<(), ExecError> {
        let record = self.record.clone();
        blocking("writing down what was sent", move || record.write(&names)).await
    }

    /// Whether anything of ours is over there.
    async fn has_sent(&self) -> bool {
        !self.state.lock().await.sent.is_empty()
    }

    /// Fetches what is different over there into a directory of its own. Our own files stay as they are. A connection
    /// that breaks is tried again.
    pub async fn pull(&self) -> Result<Pulled, ExecError> {
        let state = self.state.lock().await;
        let archive = self.draft()?;
        let mut fetched = self.fetch(&archive).await;
        for pause in AGAIN {
            match &fetched {
                Err(error) if passes(error) => {
                    tracing::info!(%error, "fetching what changed elsewhere once more");
                    tokio::time::sleep(pause).await;
                    fetched = self.fetch(&archive).await;
                }
                Ok(()) | Err(_) => break,
            }
        }
        let result = match fetched {
            Err(error) => Err(error),
            Ok(()) => self.look_at(&archive, &state.sent).await,
        };
        remove(&archive);
        result
    }

    /// Puts what is different in an archive aside, with a note about it.
    async fn look_at(
        &self,
        archive: &Path,
        sent: &BTreeMap<String, Seen>,
    ) -> Result<Pulled, ExecError> {
        let quarantine = returned::place(&self.work, self.random.next_u64());
        let (archive, sent, sources) = (archive.to_owned(), sent.clone(), self.sources.list());
        let from = match self.backend.place() {
            Place::Host => String::new(),
            Place::Away { kind, label } => format!("{kind}: {label}"),
        };
        blocking("looking at what came back", move || {
            let changes = unpack(&archive, &quarantine, &sent, &sources)?;
            let differences = changes.iter().map(|(name, change)| {
                let difference = Difference {
                    change: *change,
                    ours: sent.get(name).map(|seen| seen.from.clone()),
                };
                (name.clone(), difference)
            });
            let note = Note {
                from,
                changes: differences.collect(),
            };
            returned::write_down(&quarantine, &note)?;
            Ok(Pulled {
                quarantine,
                changes,
            })
        })
        .await
    }

    async fn send(&self, found: &BTreeMap<String, Seen>, pushed: &Pushed) -> Result<(), ExecError> {
        let archive = self.draft()?;
        let files: Vec<_> = pushed
            .sent
            .iter()
            .filter_map(|name| Some((name.clone(), found.get(name)?.clone())))
            .collect();
        let (path, removed) = (archive.clone(), pushed.removed.clone());
        let packed = blocking("packing files", move || pack(&path, &files, &removed)).await;
        let sent = match packed {
            Ok(()) => self.upload(&archive).await,
            Err(error) => Err(error),
        };
        remove(&archive);
        sent
    }

    async fn upload(&self, archive: &Path) -> Result<(), ExecError> {
        let mut process = self
            .backend
            .spawn(self.launch(UP, Input::Pipe, &[]))
            .await?;
        let transfer = async {
            let mut file = tokio::fs::File::open(archive).await?;
            if let Some(mut input) = process.input.take() {
                // What broke off shows in how the command ends.
                let _ = tokio::io::copy(&mut file, &mut input).await;
                let _ = input.shutdown().await;
            }
            let mut said = Vec::new();
            (&mut process.output)
                .take(4096)
                .read_to_end(&mut said)
                .await?;
            Ok((process.exit.await, said))
        };
        match timeout(TRANSFER, transfer).await {
            Ok(Ok((Ok(Exit::Code(0)), _))) => Ok(()),
            Ok(Ok((Ok(_), said))) => Err(ExecError::Io {
                what: format!("files could not be put into {}", self.root),
                source: std::io::Error::other(String::from_utf8_lossy(&said).trim().to_owned()),
            }),
            Ok(Ok((Err(error), _))) => Err(error),
            Ok(Err(source)) => Err(trouble("sending files", source)),
            Err(_) => Err(too_long("sending files")),
        }
    }

    async fn fetch(&self, archive: &Path) -> Result<(), ExecError> {
        // Credentials never come down.
        let sources = self.sources.list();
        let shared = sources
            .iter()
            .filter(|source| source.kind == SourceKind::Shared);
        let names: Vec<&str> = shared.map(|source| source.to.as_str()).collect();
        let launch = self.launch(DOWN, Input::None, &names);
        let process = self.backend.spawn(launch).await?;
        let transfer = async {
            let mut file = tokio::fs::File::create(archive).await?;
            let mut output = process.output.take(MAX_DOWN + 1);
            let size = tokio::io::copy(&mut output, &mut file).await?;
            file.flush().await?;
            if size > MAX_DOWN {
                return Ok(Err(ExecError::Io {
                    what: format!("{} is too large to look at", self.root),
                    source: std::io::ErrorKind::FileTooLarge.into(),
                }));
            }
            // An archive whose sender was lost is not whole; without the directory there is none.
            Ok(process.exit.await.map(drop))
        };
        match timeout(TRANSFER, transfer).await {
            Ok(Ok(ended)) => ended,
            Ok(Err(source)) => Err(trouble("fetching files", source)),
            Err(_) => Err(too_long("fetching files")),
        }
    }

    fn launch(&self, script: &str, input: Input, names: &[&str]) -> Launch {
        let words = ["sh", "-c", script, "sync", &self.root];
        Launch {
            id: RunId::new(format!("s{:016x}", self.random.next_u64())),
            argv: words
                .iter()
                .chain(names)
                .map(|word| (*word).to_owned())
                .collect(),
            directory: None,
            environment: Vec::new(),
            input,
            confinement: None,
        }
    }

    fn draft(&self) -> Result<PathBuf, ExecError> {
        std::fs::create_dir_all(&self.work)
            .map_err(|source| trouble("making a directory", source))?;
        Ok(self
            .work
            .join(format!("{:016x}.tar", self.random.next_u64())))
    }
}

/// Whether what went wrong may go well a moment later.
fn passes(error: &ExecError) -> bool {
    match error {
        ExecError::Gone(_) => true,
        ExecError::Io { source, .. } => source.kind() != std::io::ErrorKind::FileTooLarge,
        // Who leaves does not wait for a machine that cannot be reached at all.
        ExecError::Unavailable { .. }
        | ExecError::TimedOut { .. }
        | ExecError::Cancelled
        | ExecError::Confinement(_) => false,
    }
}

fn remove(path: &Path) {
    if let Err(error) = std::fs::remove_file(path)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!(%error, "an archive under way was not removed");
    }
}

async fn blocking<T: Send + 'static>(
    what: &'static str,
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T, ExecError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result.map_err(|source| trouble(what, source)),
        Err(error) => Err(trouble(what, std::io::Error::other(error))),
    }
}

fn trouble(what: &str, source: std::io::Error) -> ExecError {
    ExecError::Io {
        what: what.to_owned(),
        source,
    }
}

fn too_long(what: &str) -> ExecError {
    ExecError::TimedOut {
        what: what.to_owned(),
        limit: TRANSFER,
    }
}

/// Hashes what a reader yields.
fn hash(mut from: impl std::io::Read) -> std::io::Result<FileHash> {
    use sha2::{Digest, Sha256};

    let mut digest = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(FileHash(digest.finalize().into())),
            count => digest.update(&buffer[..count]),
        }
    }
}
