//! Carrying a plan out.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hermes_config::{create_directory, replace_file};

use super::plan::{FileChange, Plan, Target};
use super::{Author, ManageError};
use crate::library::{Library, SKILL_FILE, read_text};
use crate::usage::UsageEvent;
use crate::view::Linked;

/// A skill as it would be after the change, for whoever looks for dangers: paths from its directory and bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Candidate {
    pub files: Vec<(String, Vec<u8>)>,
}

impl Library {
    /// Makes the change. `allowed` sees the skill as it would be and may object; until it has agreed, and
    /// until everything is written, the old skill is in its place. Blocks.
    pub fn apply(
        &self,
        plan: &Plan,
        author: Author,
        allowed: &dyn Fn(&Candidate) -> Result<(), String>,
    ) -> Result<(), ManageError> {
        self.check(plan, allowed)?;
        let event = match &plan.target {
            Target::New => {
                self.put_in_place(plan)?;
                Some(UsageEvent::Created)
            }
            Target::Kept => {
                for change in &plan.changes {
                    write(change, &plan.directory)?;
                }
                Some(UsageEvent::Patched)
            }
            Target::Archived {
                into,
                absorbed_into,
            } => {
                move_away(&plan.directory, into)?;
                let noted =
                    self.note_archived(&plan.name, &plan.directory, into, absorbed_into.as_deref());
                if let Err(error) = noted {
                    tracing::warn!(%error, skill = plan.name, "it was put away and not noted");
                }
                None
            }
        };
        tracing::info!(skill = plan.name, ?author, "{}", plan.summary);
        if let Some(event) = event {
            self.usage().note(&plan.name, event);
        }
        self.forget();
        Ok(())
    }

    /// Whether a change could be made now.
    pub fn check(
        &self,
        plan: &Plan,
        allowed: &dyn Fn(&Candidate) -> Result<(), String>,
    ) -> Result<(), ManageError> {
        for change in &plan.changes {
            still_as_planned(change)?;
        }
        match &plan.target {
            Target::New | Target::Kept => allowed(&candidate(plan, &BTreeMap::new()))
                .map_err(|why| ManageError::Blocked { why }),
            Target::Archived { .. } => Ok(()),
        }
    }

    /// A new directory is filled elsewhere first: a skill is there whole or not at all.
    fn put_in_place(&self, plan: &Plan) -> Result<(), ManageError> {
        let staged = self.staging(&plan.name)?;
        let done =
            plan.changes
                .iter()
                .try_for_each(|change| {
                    let below = change.path.strip_prefix(&plan.directory).map_err(|_| {
                        ManageError::Place {
                            path: change.path.display().to_string(),
                        }
                    })?;
                    let text = change.after.as_deref().unwrap_or_default();
                    Ok(replace_file(&staged.join(below), text.as_bytes())?)
                })
                .and_then(|()| move_away(&staged, &plan.directory));
        if done.is_err() {
            // The first error is the one to report.
            let _ = fs::remove_dir_all(&staged);
        }
        done
    }

    /// An empty directory beside the skills where none is looked for.
    fn staging(&self, name: &str) -> Result<PathBuf, ManageError> {
        let place = self
            .own()
            .join(".sync")
            .join(format!("{name}.{}", std::process::id()));
        match fs::remove_dir_all(&place) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(failed(&place, error));
            }
            _ => {}
        }
        create_directory(&place)?;
        Ok(place)
    }
}

fn failed(path: &Path, source: io::Error) -> ManageError {
    ManageError::Io {
        path: path.to_owned(),
        source,
    }
}

fn move_away(from: &Path, to: &Path) -> Result<(), ManageError> {
    if let Some(parent) = to.parent() {
        create_directory(parent)?;
    }
    // A directory that has come there meanwhile is never replaced, even an empty one.
    if to.symlink_metadata().is_ok() {
        return Err(ManageError::Changed {
            path: to.to_owned(),
        });
    }
    fs::rename(from, to).map_err(|source| failed(from, source))
}

fn still_as_planned(change: &FileChange) -> Result<(), ManageError> {
    let now = change
        .path
        .is_file()
        .then(|| read_text(&change.path))
        .flatten();
    match now == change.before {
        true => Ok(()),
        false => Err(ManageError::Changed {
            path: change.path.clone(),
        }),
    }
}

fn write(change: &FileChange, directory: &Path) -> Result<(), ManageError> {
    let Some(text) = &change.after else {
        fs::remove_file(&change.path).map_err(|source| failed(&change.path, source))?;
        // Directories that are empty now go too, but not the skill's own.
        let above = change.path.ancestors().skip(1);
        for empty in above.take_while(|above| *above != directory) {
            if fs::remove_dir(empty).is_err() {
                break;
            }
        }
        return Ok(());
    };
    if let Some(parent) = change.path.parent() {
        create_directory(parent)?;
    }
    Ok(replace_file(&change.path, text.as_bytes())?)
}

/// The files of the skill with the change in them, and before it those that wait.
pub(super) fn candidate(plan: &Plan, drafts: &BTreeMap<PathBuf, Option<String>>) -> Candidate {
    let mut candidate = Candidate::default();
    if plan.target == Target::Kept {
        let linked = Linked::of(&plan.directory);
        let there = std::iter::once(SKILL_FILE.to_owned()).chain(linked.all().cloned());
        for file in there {
            if let Ok(bytes) = fs::read(plan.directory.join(&file)) {
                candidate.files.push((file, bytes));
            }
        }
    }
    let waiting = drafts
        .iter()
        .filter_map(|(path, text)| Some((path.strip_prefix(&plan.directory).ok()?, text)));
    let changes = plan.changes.iter().map(|change| {
        // The text of a skill that is a link lies elsewhere.
        let below = change.path.strip_prefix(&plan.directory);
        (below.unwrap_or(Path::new(SKILL_FILE)), &change.after)
    });
    for (path, text) in waiting.chain(changes) {
        let name = path.display().to_string();
        candidate.files.retain(|(file, _)| *file != name);
        if let Some(text) = text {
            candidate.files.push((name, text.as_bytes().to_vec()));
        }
    }
    // What is found must not depend on what waited.
    candidate.files.sort();
    candidate
}
