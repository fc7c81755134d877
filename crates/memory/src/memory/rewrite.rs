//! Replacing a file: under its lock, from what it holds now, noted before it is done.

use std::path::PathBuf;
use std::time::SystemTime;

use hermes_core::SessionId;
use hermes_store::{JournalOrigin, NewJournalEntry};

use super::{Contents, Memory};
use crate::entries::{Entry, serialise, to_keep};
use crate::error::MemoryError;
use crate::file::{Found, Held};
use crate::target::Target;

/// How often a change starts over because an editor was faster.
const MOST_ATTEMPTS: usize = 5;

/// Who changes what.
pub(super) struct By<'a> {
    pub(super) target: Target,
    pub(super) origin: JournalOrigin,
    pub(super) session: Option<&'a SessionId>,
}

impl By<'_> {
    pub(super) fn user(target: Target) -> Self {
        Self {
            target,
            origin: JournalOrigin::User,
            session: None,
        }
    }
}

/// The file as a change finds it.
pub(super) struct Sight<'a> {
    held: &'a Held<'a>,
    found: &'a Found,
    now: SystemTime,
    pub(super) path: PathBuf,
    pub(super) contents: &'a Contents,
}

impl Sight<'_> {
    /// Keeps a copy of the file.
    pub(super) fn back_up(&self) -> Result<PathBuf, MemoryError> {
        self.held.back_up(self.found, self.now)
    }

    /// Fails, with a copy kept, when writing the file again would lose something.
    pub(super) fn refuse_drift(&self) -> Result<(), MemoryError> {
        if !self.contents.drifted {
            return Ok(());
        }
        Err(MemoryError::Drifted {
            path: self.path.clone(),
            target: self.contents.target,
            backup: self.back_up()?,
        })
    }
}

/// What is to become of a file.
pub(super) enum Plan {
    /// It stays as it is.
    Leave,
    /// It holds these entries.
    Write {
        entries: Vec<Entry>,
        summary: String,
    },
}

/// What became of it.
pub(super) struct Outcome {
    /// The entry of the journal, when something was written.
    pub(super) id: Option<i64>,
    pub(super) contents: Contents,
}

impl Memory {
    /// Has a file changed by `plan`, which is asked again when somebody else was faster.
    pub(super) fn rewrite(
        &self,
        by: &By<'_>,
        mut plan: impl FnMut(&Sight<'_>) -> Result<Plan, MemoryError>,
    ) -> Result<Outcome, MemoryError> {
        let file = self.file(by.target);
        let held = file.hold()?;
        for _ in 0..MOST_ATTEMPTS {
            let found = held.read()?;
            let contents = self.seen(by.target, &found, &file.aside());
            let planned = plan(&Sight {
                held: &held,
                found: &found,
                now: self.inner.clock.now().into(),
                path: file.path().to_owned(),
                contents: &contents,
            })?;
            let Plan::Write { entries, summary } = planned else {
                return Ok(Outcome { id: None, contents });
            };
            let id = self.put(by, &held, &found, &contents.entries, &entries, summary)?;
            if id.is_some() {
                let contents = contents.with(entries);
                return Ok(Outcome { id, contents });
            }
        }
        Err(MemoryError::Contested {
            path: file.path().to_owned(),
        })
    }

    /// Notes a change and makes it. `None` when somebody else changed the file meanwhile.
    fn put(
        &self,
        by: &By<'_>,
        held: &Held<'_>,
        found: &Found,
        before: &[Entry],
        after: &[Entry],
        summary: String,
    ) -> Result<Option<i64>, MemoryError> {
        let text = serialise(after.iter().map(|entry| entry.text.as_str()));
        let draft = held.draft(&text)?;
        let noted = self.inner.store.append_journal(NewJournalEntry {
            origin: by.origin,
            session: by.session.map(|id| id.as_str().to_owned()),
            subject: by.target.word().to_owned(),
            path: Some(self.file(by.target).path().display().to_string()),
            before: difference(before, after),
            after: difference(after, before),
            summary,
        });
        let id = noted.wait()?;
        match held.replace(found, &draft) {
            Ok(true) => {
                held.keep_aside(&draft, to_keep(after));
                Ok(Some(id))
            }
            failed => {
                // It was noted and is not done; nobody should take it back.
                self.inner.store.mark_undone(id).wait()?;
                failed.map(|_| None)
            }
        }
    }
}

/// The texts that stand in one list and not in the other, as the journal keeps them.
pub(super) fn difference(of: &[Entry], without: &[Entry]) -> Option<String> {
    let only: Vec<&str> = of
        .iter()
        .map(|entry| entry.text.as_str())
        .filter(|text| !without.iter().any(|other| other.text == *text))
        .collect();
    (!only.is_empty()).then(|| serialise(only))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::sync::Arc;

    use hermes_core::ManualClock;
    use hermes_secrets::RedactorHandle;
    use hermes_store::{Options, Store};

    use super::*;
    use crate::change::{Operation, apply};
    use crate::memory::MemoryOptions;
    use crate::settings::{Settings, TargetSettings};

    fn memory(folder: &Path) -> Memory {
        let clock = Arc::new(ManualClock::new("2026-07-01T12:00:00Z".parse().unwrap()));
        let store = Store::open(Options {
            path: folder.join("hermes.db"),
            blobs: folder.join("blobs"),
            clock: clock.clone(),
            redactor: RedactorHandle::default(),
            vfs: None,
        });
        let target = TargetSettings {
            enabled: true,
            limit: 2_200,
        };
        Memory::new(MemoryOptions {
            directory: folder.join("memories"),
            settings: Settings {
                memory: target,
                user: target,
            },
            store: store.unwrap(),
            clock,
        })
    }

    /// Adds an entry while an editor, who takes no lock, saves the file under the first so many looks at it.
    fn add_while_edited(memory: &Memory, saves: usize) -> (usize, Result<Outcome, MemoryError>) {
        let mut looks = 0;
        let outcome = memory.rewrite(&By::user(Target::Memory), |sight| {
            looks += 1;
            if looks <= saves {
                let saved = sight.path.with_file_name("saved");
                fs::write(&saved, format!("by hand {looks}")).unwrap();
                fs::rename(&saved, &sight.path).unwrap();
            }
            let contents = sight.contents;
            let added = apply(&contents.entries, &[Operation::add("ours")], contents.limit);
            Ok(Plan::Write {
                entries: added.unwrap().entries,
                summary: "added: ours".to_owned(),
            })
        });
        (looks, outcome)
    }

    // LN-7, LN-8
    #[test]
    fn an_editor_who_was_faster_loses_nothing_and_the_change_is_made_on_top() {
        let folder = tempfile::tempdir().unwrap();
        let memory = memory(folder.path());
        let (looks, outcome) = add_while_edited(&memory, 2);
        let outcome = outcome.unwrap();
        assert_eq!(looks, 3);
        let file = folder.path().join("memories/MEMORY.md");
        assert_eq!(fs::read_to_string(file).unwrap(), "by hand 2\n§\nours");
        let texts = outcome.contents.entries.iter().map(|entry| &*entry.text);
        assert_eq!(texts.collect::<Vec<_>>(), ["by hand 2", "ours"]);
        // What was noted and not done does not stand, so nobody takes it back.
        let standing: Vec<i64> = memory
            .log(10)
            .unwrap()
            .into_iter()
            .filter(|change| change.undone_at.is_none())
            .map(|change| change.id)
            .collect();
        assert_eq!(standing, [outcome.id.unwrap()]);
    }

    // LN-8
    #[test]
    fn a_file_that_is_saved_again_and_again_is_left_to_its_editor() {
        let folder = tempfile::tempdir().unwrap();
        let memory = memory(folder.path());
        let (looks, outcome) = add_while_edited(&memory, usize::MAX);
        let error = outcome.err().unwrap();
        assert!(matches!(error, MemoryError::Contested { .. }), "{error}");
        assert!(error.hint().contains("try again"), "{}", error.hint());
        assert_eq!(looks, MOST_ATTEMPTS);
        let memories = folder.path().join("memories");
        let file = fs::read_to_string(memories.join("MEMORY.md"));
        assert_eq!(file.unwrap(), format!("by hand {MOST_ATTEMPTS}"));
        let log = memory.log(10).unwrap();
        assert_eq!(log.len(), MOST_ATTEMPTS);
        assert!(log.iter().all(|change| change.undone_at.is_some()));
        let left = fs::read_dir(memories).unwrap();
        let mut left = left.map(|entry| entry.unwrap().file_name());
        assert!(!left.any(|name| name.to_string_lossy().starts_with(".mem_")));
        // As soon as the editor rests, it works.
        add_while_edited(&memory, 0).1.unwrap();
    }
}
