//! The instances of this machine's user: what the program lists, and what is written down about ours.
//!
//! Instances carry no labels, so whose they are and how they were made stands in a file of its own beside the
//! leases. One without such a file is somebody else's and is left alone.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::process::Command;
use tokio::time::timeout;

use super::watcher::Watcher;
use super::{KIND, SingularityConfig, unavailable};
use crate::sandboxes::{Inventory, Sandbox};
use crate::supervise::{Carriers, Channel, Crew, Programs, tail};
use crate::{ExecError, Exit};

/// How long the program may take for anything but building images.
const ANSWER: Duration = Duration::from_secs(120);
/// The folder with what is known about instances of ours.
const RECORDS: &str = "instances";
/// No list is longer.
const MAX_LIST: u64 = 4 << 20;
/// No record is longer; what is, is not ours.
const MAX_RECORD: u64 = 16 << 10;
/// More files than this are not looked at.
const MAX_RECORDS: usize = 1_000;

/// What is known about an instance of ours.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) name: String,
    pub(super) image: String,
    pub(super) task: String,
    pub(super) profile: String,
    /// Two instances with the same value were made alike.
    pub(super) config: String,
    pub(super) lifetime_seconds: u64,
    /// The directory with its kept files, if it keeps any.
    pub(super) files: Option<PathBuf>,
    /// In seconds since 1970.
    pub(super) created_at: i64,
}

/// The program that runs them, and where the records are.
#[derive(Clone)]
pub(crate) struct Instances {
    pub(super) program: PathBuf,
    carriers: Carriers,
    programs: Programs,
    /// Where leases and records are.
    folder: PathBuf,
}

/// What the program prints about those that run.
#[derive(Default, Deserialize)]
struct Listing {
    #[serde(default)]
    instances: Option<Vec<Listed>>,
}

#[derive(Deserialize)]
struct Listed {
    instance: String,
}

impl Instances {
    /// Those of the first program that is there.
    pub(crate) fn of(config: &SingularityConfig) -> Result<Self, ExecError> {
        let mut programs = config.programs.iter();
        let Some(program) = programs.find(|program| program.is_file()) else {
            return Err(unavailable(
                "neither apptainer nor singularity is installed".to_owned(),
                "Install apptainer.",
            ));
        };
        Ok(Self {
            program: program.clone(),
            programs: Programs::new(config.carriers.clone()),
            carriers: config.carriers.clone(),
            folder: config.sandboxes.join(KIND),
        })
    }

    /// Starts what stops an instance when we are killed.
    pub(super) fn watcher(&self, name: &str) -> Result<Watcher, ExecError> {
        let started = Watcher::start(&self.carriers, &self.program, name, &self.folder);
        started.map_err(|source| ExecError::Io {
            what: "starting what looks after the instance".to_owned(),
            source,
        })
    }

    fn words(&self, words: &[&str]) -> Vec<String> {
        let program = self.program.display().to_string();
        let rest = words.iter().map(|word| (*word).to_owned());
        std::iter::once(program).chain(rest).collect()
    }

    /// Runs the program with the standard input and output of a shell over there.
    pub(super) async fn channel(&self, words: &[&str], crew: &Crew) -> Result<Channel, ExecError> {
        self.programs.channel(self.words(words), crew).await
    }

    /// Starts an instance. It outlives us, because others may use it too: so the warden, which ends what it started,
    /// does not start it, and the watcher stops it.
    pub(super) async fn start(
        &self,
        words: &[&str],
        watcher: &mut Watcher,
    ) -> Result<(), ExecError> {
        let what = self.words(words).join(" ");
        let failed = |source| ExecError::Io {
            what: what.clone(),
            source,
        };
        let Carriers {
            environment,
            directory,
            ..
        } = &self.carriers;
        let mut command = Command::new(&self.program);
        command
            .args(words)
            .env_clear()
            .envs(environment.iter().cloned())
            .envs([watcher.mark()]);
        if directory.is_dir() {
            command.current_dir(directory);
        }
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(failed)?;
        if let Some(pid) = child.id() {
            watcher.starting(pid).await;
        }
        let errors = child.stderr.take();
        let ended = async {
            let said = match errors {
                Some(errors) => tail(errors).await,
                None => String::new(),
            };
            Ok((child.wait().await?, said))
        };
        match timeout(ANSWER, ended).await {
            Ok(Ok((status, _))) if status.success() => Ok(()),
            Ok(Ok((_, said))) => Err(refused(&what, &said)),
            Ok(Err(source)) => Err(failed(source)),
            Err(_) => Err(ExecError::TimedOut {
                what,
                limit: ANSWER,
            }),
        }
    }

    /// Runs the program to its end.
    pub(super) async fn run(&self, words: &[&str], limit: Duration) -> Result<(), ExecError> {
        self.ran(words, limit).await.map(drop)
    }

    /// The names of all that run, ours or not.
    pub(super) async fn running(&self) -> Result<Vec<String>, ExecError> {
        let words = ["instance", "list", "--json"];
        let printed = self.ran(&words, ANSWER).await?;
        if printed.trim_ascii().is_empty() {
            return Ok(Vec::new());
        }
        let listing: Listing = serde_json::from_slice(&printed).map_err(|error| {
            unavailable(
                format!(
                    "{} lists its instances in a way that cannot be read: {error}",
                    self.program.display()
                ),
                "Try `instance list --json` by hand.",
            )
        })?;
        let listed = listing.instances.unwrap_or_default();
        Ok(listed.into_iter().map(|one| one.instance).collect())
    }

    async fn ran(&self, words: &[&str], limit: Duration) -> Result<Vec<u8>, ExecError> {
        let words = self.words(words);
        let what = words.join(" ");
        let said = self.programs.run(words, limit, MAX_LIST).await?;
        match said.exit {
            Exit::Code(0) => Ok(said.output),
            Exit::Code(_) | Exit::Signal(_) => Err(refused(&what, &said.errors)),
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        record_file(&self.folder, name)
    }

    /// What is written down about one.
    pub(super) fn record(&self, name: &str) -> Option<Record> {
        read(&self.file(name))
    }

    /// Everything that is written down.
    pub(super) fn records(&self) -> Vec<Record> {
        let entries = std::fs::read_dir(self.folder.join(RECORDS))
            .into_iter()
            .flatten();
        let files = entries.take(MAX_RECORDS).flatten();
        files.filter_map(|entry| read(&entry.path())).collect()
    }

    pub(super) fn write(&self, record: &Record) -> Result<(), ExecError> {
        let path = self.file(&record.name);
        let draft = path.with_extension("tmp");
        let written = std::fs::create_dir_all(self.folder.join(RECORDS))
            .and_then(|()| std::fs::write(&draft, serde_json::to_vec(record)?))
            .and_then(|()| std::fs::rename(&draft, &path));
        written.map_err(|source| ExecError::Io {
            what: format!("cannot write {}", path.display()),
            source,
        })
    }

    /// Forgets what is written down about one.
    pub(super) fn forget(&self, name: &str) -> Result<(), ExecError> {
        let path = self.file(name);
        match std::fs::remove_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => Err(ExecError::Io {
                what: format!("cannot remove {}", path.display()),
                source,
            }),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

/// Where what is known about an instance is written down.
pub(super) fn record_file(folder: &Path, name: &str) -> PathBuf {
    folder.join(RECORDS).join(format!("{name}.json"))
}

fn refused(what: &str, said: &str) -> ExecError {
    unavailable(
        format!("{what}: {said}"),
        "Check terminal.singularity_image, or try the same by hand.",
    )
}

fn read(path: &Path) -> Option<Record> {
    let small = std::fs::metadata(path).is_ok_and(|data| data.len() <= MAX_RECORD);
    let text = small.then(|| std::fs::read(path).ok()).flatten()?;
    serde_json::from_slice(&text).ok()
}

impl Inventory for Instances {
    async fn all(&self) -> Result<Vec<(String, Sandbox)>, ExecError> {
        let running = self.running().await?;
        let ours = self.records().into_iter();
        let known = ours.filter(|record| running.contains(&record.name));
        let known = known.map(|record| {
            let sandbox = Sandbox {
                name: record.name.clone(),
                image: record.image,
                task: record.task,
                profile: record.profile,
                running: true,
                lifetime: Duration::from_secs(record.lifetime_seconds),
                created_at: record.created_at,
                kept: record.files.into_iter().collect(),
                leases: Vec::new(),
            };
            (record.name, sandbox)
        });
        Ok(known.collect())
    }

    /// An instance cannot rest: one that is stopped is gone, and only its files are kept.
    async fn stop(&self, id: &str) -> Result<(), ExecError> {
        if let Err(error) = self.run(&["instance", "stop", id], ANSWER).await
            && self.running().await?.iter().any(|name| name == id)
        {
            return Err(error);
        }
        self.forget(id)
    }

    async fn remove(&self, id: &str) -> Result<(), ExecError> {
        self.stop(id).await
    }
}
