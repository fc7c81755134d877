//! The store that is searched: made once, kept between runs.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
use serde::{Deserialize, Serialize};

use crate::bench::Context;
use crate::corpus::{Answer, Plan, SEED, VERSION, fill, open};

/// A filled store and where its needles are.
pub(super) struct Archive {
    pub(super) folder: PathBuf,
    pub(super) answers: Vec<Answer>,
    /// How long it took, when it was made in this run.
    pub(super) built: Option<Duration>,
}

/// What a cached archive was made of; any difference makes it stale.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    corpus: u32,
    seed: u64,
    messages: usize,
    /// The schema of the store.
    schema: u32,
    /// What a small sample takes in the index and in text: differs when terms or words do.
    sample_index_bytes: u64,
    sample_text_bytes: u64,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    stamp: Stamp,
    answers: Vec<Answer>,
}

impl Archive {
    pub(super) fn make(context: &Context, plan: &Plan) -> anyhow::Result<Self> {
        let folder = context.data.join(format!("search-{}", plan.messages()));
        let stamp = stamp(context, plan.messages())?;
        let note = folder.join("answers.json");
        if !context.rebuild
            && let Some(kept) = read(&note)
            && kept.stamp == stamp
        {
            return Ok(Self {
                folder,
                answers: kept.answers,
                built: None,
            });
        }
        if folder.exists() {
            std::fs::remove_dir_all(&folder)
                .with_context(|| format!("could not clear {}", folder.display()))?;
        }
        std::fs::create_dir_all(&folder)?;
        let started = Instant::now();
        let mut told = 0;
        let answers = fill(&folder, plan, |count| {
            if count >= told + 50_000 {
                told = count;
                context.tell(&format!(
                    "  {count} of {} messages, {:.0?}",
                    plan.messages(),
                    started.elapsed()
                ));
            }
        })?;
        let built = started.elapsed();
        std::fs::write(
            &note,
            serde_json::to_vec(&Kept {
                stamp,
                answers: answers.clone(),
            })?,
        )?;
        Ok(Self {
            folder,
            answers,
            built: Some(built),
        })
    }

    /// Lets the system drop the file from memory, as after a day of other work.
    pub(super) fn forget_pages(&self) -> anyhow::Result<()> {
        let file = File::open(self.database())?;
        file.sync_all()?;
        posix_fadvise(&file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED)?;
        Ok(())
    }

    /// The index in whole pages, from SQLite's own accounting; `None` without the `sqlite3` program.
    pub(super) fn index_pages(&self) -> anyhow::Result<Option<u64>> {
        let sql = "SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE name LIKE 'search%'";
        let Ok(output) = Command::new("sqlite3")
            .args(["-readonly", "-cmd", ".timeout 10000"])
            .arg(self.database())
            .arg(sql)
            .output()
        else {
            return Ok(None);
        };
        Ok(String::from_utf8_lossy(&output.stdout).trim().parse().ok())
    }

    fn database(&self) -> PathBuf {
        self.folder.join("hermes.db")
    }
}

fn read(path: &Path) -> Option<Kept> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

fn stamp(context: &Context, messages: usize) -> anyhow::Result<Stamp> {
    let folder = tempfile::tempdir_in(&context.data)?;
    fill(folder.path(), &Plan::new(SEED, 4_000)?, |_| {})?;
    let store = open(folder.path())?;
    // Written in one go: how messages share commits depends on timing, and so do the sizes.
    store.reindex().wait()?;
    let stats = store.stats().wait()?;
    Ok(Stamp {
        corpus: VERSION,
        seed: SEED,
        messages,
        schema: schema(store.path())?,
        sample_index_bytes: stats.index_bytes,
        sample_text_bytes: stats.text_bytes,
    })
}

/// The user version in the header of a database file.
fn schema(path: &Path) -> anyhow::Result<u32> {
    let mut header = [0; 64];
    File::open(path)?.read_exact(&mut header)?;
    let [.., a, b, c, d] = header;
    Ok(u32::from_be_bytes([a, b, c, d]))
}
