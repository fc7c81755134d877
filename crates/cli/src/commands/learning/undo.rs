//! Taking one change back.

use std::path::Path;

use hermes_core::FailureKind;
use hermes_memory::Target;
use hermes_skills::{Undo, UndoError, UsageEvent};
use hermes_store::{JournalEntry, JournalFilter, JournalOrigin, NewJournalEntry, Store};

use crate::args::memory::{MemoryArgs, MemoryCommand};
use crate::commands::{curator, memory};
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::hands::library_at;
use crate::output::{Output, one_line};

/// Where the numbers of changes stand.
const LOG: &str = "hermes learning log lists what can be taken back";

pub(super) fn run(id: i64, context: &Context, output: &mut Output) -> Outcome {
    let store = context.store()?;
    let Some(entry) = store.journal_entry(id).wait()? else {
        let message = format!("there is no change {id}");
        return Err(Complaint::new(FailureKind::NotFound, message).hint(LOG));
    };
    if Target::of(&entry.subject).is_some() {
        let command = Some(MemoryCommand::Undo { id: Some(id) });
        return memory::run(MemoryArgs { command }, context, output);
    }
    let Some(name) = entry.subject.strip_prefix("skill:") else {
        let message = format!("{id} only tells what happened; it changed nothing");
        return Err(Complaint::new(FailureKind::Refused, message).hint(LOG));
    };
    if entry.undone_at.is_some() {
        let message = format!("change {id} was taken back already");
        return Err(Complaint::new(FailureKind::NotFound, message).hint(LOG));
    }
    let done = match &entry.path {
        Some(path) => put_back(&entry, name, Path::new(path), &store, context)?,
        // A skill that was put away as a whole.
        None => {
            not_put_away_again(&entry, &store)?;
            let place = curator::curator_at(context)?.restore(name)?;
            format!("{name} is back in {}", place.display())
        }
    };
    store.mark_undone(id).wait()?;
    output.line(format!("took back {id}: {}", one_line(&entry.summary)))?;
    Ok(output.line(format!("  {done}"))?)
}

/// A skill of the same name may have been made and put away since; that one would come back instead.
fn not_put_away_again(entry: &JournalEntry, store: &Store) -> Outcome {
    let filter = JournalFilter {
        subject: Some(entry.subject.clone()),
        standing: true,
        ..JournalFilter::default()
    };
    let standing = store.journal(filter, u32::MAX).wait()?;
    let later = standing
        .iter()
        .find(|other| other.id > entry.id && other.path.is_none());
    match later {
        None => Ok(()),
        Some(later) => {
            let message = format!(
                "a later skill of that name was put away by change {}",
                later.id
            );
            let hint = format!(
                "hermes learning undo {} brings that one back first",
                later.id
            );
            Err(Complaint::new(FailureKind::Refused, message).hint(hint))
        }
    }
}

/// Puts a file back, and says what became of it.
fn put_back(
    entry: &JournalEntry,
    name: &str,
    path: &Path,
    store: &Store,
    context: &Context,
) -> Outcome<String> {
    if !entry.tells_all_of_before() {
        let message = format!(
            "what change {} replaced held a secret, which the log does not keep",
            entry.id
        );
        let hint = format!(
            "change {} by hand; it was left as it is, and hermes learning log --json shows the rest of what was there",
            path.display()
        );
        return Err(Complaint::new(FailureKind::Refused, message).hint(hint));
    }
    let config = context.settings()?.config;
    let library = library_at(context, &config, context.home()?);
    let (before, after) = (entry.before.as_deref(), entry.after.as_deref());
    let roots = library.roots().iter().map(|root| root.path.as_path());
    let Some(undo) = Undo::plan(roots, path, before, after)? else {
        return Ok("everything was so already".to_owned());
    };
    let row = NewJournalEntry {
        origin: JournalOrigin::User,
        session: None,
        subject: entry.subject.clone(),
        path: entry.path.clone(),
        before: entry.after.clone(),
        after: entry.before.clone(),
        summary: format!("takes back {}: {}", entry.id, entry.summary),
    };
    let noted = store.append_journal(row).wait()?;
    if let Err(error) = undo.carry_out() {
        // It was noted and is not done; nobody should take it back.
        store.mark_undone(noted).wait()?;
        return Err(error.into());
    }
    let event = match undo.removes() && undo.is_skill() {
        true => UsageEvent::Deleted,
        false => UsageEvent::Patched,
    };
    library.usage().note(name, event);
    library.forget();
    Ok(match undo.removes() {
        true => format!("{} is gone", path.display()),
        false => format!("{} is as it was", path.display()),
    })
}

impl From<UndoError> for Complaint {
    fn from(error: UndoError) -> Self {
        let kind = match &error {
            UndoError::Outside { .. }
            | UndoError::Linked { .. }
            | UndoError::Changed { .. }
            | UndoError::NotAlone { .. }
            | UndoError::NoSkill { .. } => FailureKind::Refused,
            UndoError::Io { .. } | UndoError::File(_) => FailureKind::Unavailable,
        };
        let hint = error.hint();
        Self::caused(kind, error).hint(hint)
    }
}
