//! The two files as one thing that can be asked and changed.

mod contents;
mod rewrite;

use std::path::PathBuf;
use std::sync::Arc;

use hermes_core::{Clock, SessionId};
use hermes_store::{JournalEntry, JournalFilter, JournalOrigin, Store};

use crate::change::{Effect, Operation, Refusal, Why, apply, size_of};
use crate::entries::{Aside, Entry, parse, preview};
use crate::error::MemoryError;
use crate::file::{Found, MemoryFile};
use crate::settings::Settings;
use crate::snapshot::{Snapshot, snapshot};
use crate::target::Target;
use crate::undo::{Back, back};
pub use contents::Contents;
use rewrite::{By, Plan, difference};

/// Changes looked through for those of memory.
const MOST_LOOKED_THROUGH: u32 = 1_000;
/// How the summaries of changes begin that take others back.
const UNDOES: &str = "took back ";

/// What memory is made from.
pub struct MemoryOptions {
    /// The directory of the two files; made when something is first remembered.
    pub directory: PathBuf,
    /// Limits and switches.
    pub settings: Settings,
    /// Where changes are noted.
    pub store: Store,
    /// Tells the time of copies.
    pub clock: Arc<dyn Clock>,
}

/// What the agent remembers. Cheap to clone.
#[derive(Clone)]
pub struct Memory {
    inner: Arc<MemoryOptions>,
}

/// A change that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// The entry of the journal; none when everything was so already.
    pub id: Option<i64>,
    /// What happened.
    pub effect: Effect,
    /// The words of entries that are not there any more.
    pub gone: Vec<String>,
    /// The file as it is now.
    pub contents: Contents,
}

/// What a change that could be made stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Footing {
    /// The file as it is.
    File,
    /// Changes that wait, which have to be made first.
    Waiting,
}

/// A change that was taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undone {
    /// The change that was taken back.
    pub id: i64,
    /// What it was.
    pub summary: String,
    /// What is there again.
    pub restored: Vec<String>,
    /// What is gone again.
    pub removed: Vec<String>,
    /// The file as it is now.
    pub contents: Contents,
}

/// A file that was emptied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reset {
    /// How many entries went.
    pub removed: usize,
    /// A copy, when the file was edited outside.
    pub backup: Option<PathBuf>,
}

/// A file that was brought into its usual form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tidied {
    /// A copy of how it was; none when there was nothing to do.
    pub backup: Option<PathBuf>,
    /// The file as it is now.
    pub contents: Contents,
}

impl Memory {
    /// Memory in a directory. Nothing is read.
    pub fn new(options: MemoryOptions) -> Self {
        Self {
            inner: Arc::new(options),
        }
    }

    /// Limits and switches.
    pub fn settings(&self) -> &Settings {
        &self.inner.settings
    }

    /// What the system prompt says of it.
    pub fn snapshot(&self) -> Snapshot {
        snapshot(&self.inner.directory, &self.inner.settings)
    }

    /// What a file holds now.
    pub fn contents(&self, target: Target) -> Result<Contents, MemoryError> {
        let file = self.file(target);
        let found = file.read()?;
        Ok(self.seen(target, &found, &file.aside()))
    }

    /// Carries operations out, all or none. Blocks while another process writes.
    pub fn change(
        &self,
        target: Target,
        operations: &[Operation],
        origin: JournalOrigin,
        session: Option<&SessionId>,
    ) -> Result<Changed, MemoryError> {
        let by = By {
            target,
            origin,
            session,
        };
        let (mut effect, mut gone) = (Effect::default(), Vec::new());
        let outcome = self.rewrite(&by, |sight| {
            sight.refuse_drift()?;
            let before = &sight.contents.entries;
            let applied = apply(before, operations, sight.contents.limit)
                .map_err(|refusal| refused(refusal, sight.contents))?;
            effect = applied.effect;
            let stays = |text: &str| applied.entries.iter().any(|entry| entry.text == text);
            let left = before.iter().filter(|entry| !stays(&entry.text));
            gone = left.map(|entry| entry.text.clone()).collect();
            if applied.entries == *before {
                return Ok(Plan::Leave);
            }
            Ok(Plan::Write {
                summary: in_short(before, &applied.entries),
                entries: applied.entries,
            })
        })?;
        Ok(Changed {
            id: outcome.id,
            effect,
            gone,
            contents: outcome.contents,
        })
    }

    /// Says whether operations could be carried out once changes that wait were made, or why not, and changes nothing.
    /// One that waits and cannot be made leaves nothing.
    pub fn rehearse(
        &self,
        target: Target,
        waiting: &[Vec<Operation>],
        operations: &[Operation],
    ) -> Result<Footing, MemoryError> {
        let mut footing = Footing::File;
        self.rewrite(&By::user(target), |sight| {
            sight.refuse_drift()?;
            let limit = sight.contents.limit;
            let now = &sight.contents.entries;
            let mut entries = now.clone();
            for change in waiting {
                if let Ok(applied) = apply(&entries, change, limit) {
                    entries = applied.entries;
                }
            }
            let contents = sight.contents.clone().with(entries);
            apply(&contents.entries, operations, limit)
                .map_err(|refusal| refused(refusal, &contents))?;
            footing = match apply(now, operations, limit) {
                Ok(_) => Footing::File,
                Err(_) => Footing::Waiting,
            };
            Ok(Plan::Leave)
        })?;
        Ok(footing)
    }

    /// The latest changes, newest first.
    pub fn log(&self, most: u32) -> Result<Vec<JournalEntry>, MemoryError> {
        let all = JournalFilter::default();
        let all = self.inner.store.journal(all, MOST_LOOKED_THROUGH).wait()?;
        let ours = all
            .into_iter()
            .filter(|entry| Target::of(&entry.subject).is_some());
        Ok(ours.take(most as usize).collect())
    }

    /// Takes a change back: the one of this id, or the latest that still stands.
    pub fn undo(&self, id: Option<i64>) -> Result<Undone, MemoryError> {
        let (entry, target) = self.to_undo(id)?;
        if !entry.tells_all_of_before() {
            return Err(MemoryError::Masked { id: entry.id });
        }
        let gone = parse(entry.before.as_deref().unwrap_or_default());
        let came = parse(entry.after.as_deref().unwrap_or_default());
        let store = &self.inner.store;
        let (mut restored, mut removed) = (Vec::new(), Vec::new());
        let outcome = self.rewrite(&By::user(target), |sight| {
            sight.refuse_drift()?;
            let now = &sight.contents.entries;
            // A secret that came is masked in the journal; in the file it stands in full.
            let in_full = |text: &str| {
                now.iter()
                    .find(|entry| store.clean(entry.text.clone()) == text)
            };
            let came: Vec<&str> = came
                .iter()
                .map(|text| in_full(text).map_or(*text, |entry| entry.text.as_str()))
                .collect();
            let found = back(now, &gone, &came);
            let Back {
                entries,
                restored: again,
                removed: gone_again,
            } = found.map_err(|_| MemoryError::Overtaken { id: entry.id })?;
            (restored, removed) = (again, gone_again);
            if entries == *now {
                return Ok(Plan::Leave);
            }
            fits(&entries, sight.contents)?;
            Ok(Plan::Write {
                entries,
                summary: format!("{UNDOES}{}: {}", entry.id, entry.summary),
            })
        })?;
        store.mark_undone(entry.id).wait()?;
        Ok(Undone {
            id: entry.id,
            summary: entry.summary,
            restored,
            removed,
            contents: outcome.contents,
        })
    }

    /// Forgets everything in a file; the journal knows it still.
    pub fn reset(&self, target: Target) -> Result<Reset, MemoryError> {
        let mut done = Reset {
            removed: 0,
            backup: None,
        };
        self.rewrite(&By::user(target), |sight| {
            done.removed = sight.contents.entries.len();
            if done.removed == 0 {
                return Ok(Plan::Leave);
            }
            if sight.contents.drifted {
                done.backup = Some(sight.back_up()?);
            }
            Ok(Plan::Write {
                entries: Vec::new(),
                summary: format!("forgot all {} entries", done.removed),
            })
        })?;
        Ok(done)
    }

    /// Takes a file over that was edited outside: its entries as they are read, in the usual form.
    pub fn tidy(&self, target: Target) -> Result<Tidied, MemoryError> {
        let mut backup = None;
        let outcome = self.rewrite(&By::user(target), |sight| {
            if !sight.contents.drifted {
                return Ok(Plan::Leave);
            }
            backup = Some(sight.back_up()?);
            let entries = sight.contents.entries.clone();
            Ok(Plan::Write {
                summary: format!("took over {} entries written outside", entries.len()),
                entries,
            })
        })?;
        Ok(Tidied {
            backup,
            contents: outcome.contents,
        })
    }

    fn file(&self, target: Target) -> MemoryFile {
        MemoryFile::new(self.inner.directory.join(target.file_name()))
    }

    fn seen(&self, target: Target, found: &Found, aside: &Aside) -> Contents {
        Contents::of(target, found, aside, self.inner.settings.of(target).limit)
    }

    fn to_undo(&self, id: Option<i64>) -> Result<(JournalEntry, Target), MemoryError> {
        let store = &self.inner.store;
        let Some(id) = id else {
            let standing = JournalFilter {
                standing: true,
                ..JournalFilter::default()
            };
            let latest = store.journal(standing, MOST_LOOKED_THROUGH).wait()?;
            return latest
                .into_iter()
                .filter(|entry| !entry.summary.starts_with(UNDOES))
                .find_map(|entry| Target::of(&entry.subject).map(|target| (entry, target)))
                .ok_or(MemoryError::NothingToUndo);
        };
        let entry = store.journal_entry(id).wait()?;
        let entry = entry.ok_or(MemoryError::NoSuchChange { id })?;
        match Target::of(&entry.subject) {
            None => Err(MemoryError::NoSuchChange { id }),
            Some(_) if entry.undone_at.is_some() => Err(MemoryError::UndoneAlready { id }),
            Some(target) => Ok((entry, target)),
        }
    }
}

fn refused(refusal: Refusal, contents: &Contents) -> MemoryError {
    MemoryError::Refused {
        refusal,
        contents: Box::new(contents.clone()),
    }
}

/// What comes back has to fit like anything else.
fn fits(entries: &[Entry], contents: &Contents) -> Result<(), MemoryError> {
    let (needed, limit) = (size_of(entries), contents.limit);
    if needed <= limit || needed <= contents.size {
        return Ok(());
    }
    let why = Why::Full {
        needed,
        limit,
        merge: None,
    };
    let refusal = Refusal {
        step: 1,
        steps: 1,
        why,
    };
    Err(refused(refusal, contents))
}

/// A change in one line.
fn in_short(before: &[Entry], after: &[Entry]) -> String {
    let gone = difference(before, after).unwrap_or_default();
    let came = difference(after, before).unwrap_or_default();
    match (parse(&gone).as_slice(), parse(&came).as_slice()) {
        ([], [one]) => format!("added: {}", preview(one)),
        ([one], []) => format!("removed: {}", preview(one)),
        ([old], [new]) => format!("replaced: {} → {}", preview(old), preview(new)),
        (gone, came) => format!("removed {} entries, added {}", gone.len(), came.len()),
    }
}
