//! Reading the reference's `state.db`: read-only, in batches, again and again.
//!
//! Progress is kept in the same transaction as the rows, so an import that was killed goes on where it
//! stopped and nothing is doubled. A session that was continued here keeps what it has.

mod apply;
mod background;
mod source;

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::Path;

use crate::error::StoreError;
use crate::store::Store;
use apply::Target;
pub use background::BackgroundImport;
use source::Source;
pub(crate) use source::connect;

const SESSION_BATCH: usize = 50;
const MESSAGE_BATCH: usize = 500;

/// How far an import is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportProgress {
    pub messages_done: u64,
    pub messages_total: u64,
}

/// What an import brought.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReferenceImport {
    /// The schema version of the file.
    pub schema_version: u32,
    pub sessions_new: u64,
    pub sessions_changed: u64,
    pub messages: u64,
    /// Sessions that were left out because one of ours has the same id.
    pub skipped: Vec<String>,
    /// Whether it was stopped before the end; the next one goes on.
    pub stopped: bool,
}

impl Store {
    /// Whether a file of the reference is there and has changed since it was last imported.
    pub fn import_is_due(&self, path: &Path) -> Result<bool, StoreError> {
        if !path.is_file() {
            return Ok(false);
        }
        let (name, signature) = (apply::name_of(path, self.path()), source::signature(path));
        let seen = self.read(move |connection| {
            let sql = "SELECT EXISTS (SELECT 1 FROM imports WHERE path = ? AND signature = ?)";
            Ok(connection.query_row(sql, (name, signature), |row| row.get(0))?)
        });
        seen.wait().map(|seen: bool| !seen)
    }

    /// Imports what is new or changed since the last time. Blocks; meant for a thread of its own.
    ///
    /// `progress` is called after every batch and may end the import early.
    pub fn import_reference(
        &self,
        path: &Path,
        mut progress: impl FnMut(ImportProgress) -> ControlFlow<()>,
    ) -> Result<ReferenceImport, StoreError> {
        // Taken before reading: what is written meanwhile is for the next time.
        let signature = source::signature(path);
        let source = Source::open(path)?;
        let target = Target::begin(self, path, source.version())?;
        let mut imported = ReferenceImport {
            schema_version: source.version(),
            ..ReferenceImport::default()
        };
        let seen = target.fingerprints()?;
        let fingerprints = source.fingerprints()?;
        let changed: Vec<_> = fingerprints
            .into_iter()
            .filter(|(id, print)| seen.get(id) != Some(print))
            .collect();
        for batch in changed.chunks(SESSION_BATCH) {
            let ids: Vec<_> = batch.iter().map(|(id, _)| id.clone()).collect();
            let written = target.write_sessions(source.sessions(&ids)?)?;
            imported.sessions_new += written.new;
            imported.sessions_changed += written.changed;
            imported.skipped.extend(written.skipped);
        }
        target.link(source.parents()?)?;
        let skipped: HashSet<String> = imported.skipped.iter().cloned().collect();
        imported.messages = match copy_messages(&source, &target, &mut progress)? {
            ControlFlow::Continue(messages) => messages,
            ControlFlow::Break(messages) => {
                return Ok(ReferenceImport {
                    messages,
                    stopped: true,
                    ..imported
                });
            }
        };
        for batch in changed.chunks(SESSION_BATCH) {
            let batch: Vec<_> = batch
                .iter()
                .filter(|(id, _)| !skipped.contains(id))
                .cloned()
                .collect();
            let details = source.details(&batch, |id| seen.contains_key(id))?;
            target.finish_sessions(details)?;
        }
        target.finish(signature)?;
        Ok(imported)
    }
}

/// Copies the messages behind the last one seen; breaks when the caller wants to stop.
fn copy_messages(
    source: &Source,
    target: &Target<'_>,
    progress: &mut impl FnMut(ImportProgress) -> ControlFlow<()>,
) -> Result<ControlFlow<u64, u64>, StoreError> {
    let mut last = target.last_message_id();
    let total = source.count_after(last)?;
    let mut done = 0;
    loop {
        let batch = source.messages_after(last, MESSAGE_BATCH)?;
        let Some(newest) = batch.last().map(|message| message.id) else {
            return Ok(ControlFlow::Continue(done));
        };
        let count = batch.len() as u64;
        target.write_messages(batch, last, newest)?;
        last = newest;
        done += count;
        let state = ImportProgress {
            messages_done: done,
            messages_total: total,
        };
        if progress(state).is_break() {
            return Ok(ControlFlow::Break(done));
        }
    }
}
