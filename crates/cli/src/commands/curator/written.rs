//! Tidying up, and what the journal says of it.

use hermes_skills::{Curator, Merging, Run, UsageState};
use hermes_store::{JournalOrigin, NewJournalEntry, Store};

use crate::complaint::Outcome;

/// Tidies up, and writes down what was put away. `merge` is called with the skills that may be merged, if there are any.
pub(super) fn tidy(
    curator: &Curator,
    store: &Store,
    merge: Option<impl FnOnce(Vec<(String, String)>) -> Merging>,
) -> Outcome<Run> {
    let begun = curator.begin()?;
    let merging = merge.and_then(|merge| {
        let skills = curator.mergeable();
        (!skills.is_empty()).then(|| merge(skills))
    });
    let run = curator.finish(begun, merging)?;
    let away = run
        .moves
        .iter()
        .filter(|step| step.to == UsageState::Archived);
    for step in away {
        let summary = format!(
            "skill {} put away, unused for {} days",
            step.name, step.idle_days
        );
        put_away(store, JournalOrigin::Curator, &step.name, summary)?;
    }
    Ok(run)
}

/// Writes down that a skill was put away. There are no texts: the skill lies in the archive as it was.
pub(super) fn put_away(
    store: &Store,
    origin: JournalOrigin,
    name: &str,
    summary: String,
) -> Outcome {
    let entry = NewJournalEntry {
        origin,
        session: None,
        subject: format!("skill:{name}"),
        path: None,
        before: None,
        after: None,
        summary,
    };
    store.append_journal(entry).wait()?;
    Ok(())
}
