//! A whole home in one zip file, quick snapshots of its state, and the way back.
//!
//! Databases are copied with SQLite's own backup, so that a running program may go on writing. A home
//! is only changed once everything in an archive was read, checked and put on the same disk; then each
//! file is replaced by a rename.

mod back_up;
mod claim;
mod database;
mod entry;
mod error;
mod held;
mod list;
mod manifest;
mod note;
mod open;
mod restore;
mod rules;
mod snapshot;
mod stage;

pub use back_up::{BackUp, BackedUp};
pub use error::{ArchiveError, Cap, Obstacle, Refusal};
pub use manifest::{BackedUpDatabase, Manifest};
pub use note::{Note, NoteKind, Notes};
pub use open::{Archive, ArchiveCaps};
pub use restore::{Restore, Restored};
pub use rules::is_occupied;
pub use snapshot::{KEPT_SNAPSHOTS, KeptSnapshot, Label, Snapshot, TakeSnapshot};

/// How far a long operation has come, in bytes of content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    pub done: u64,
    pub total: u64,
}

/// Is told about progress while an operation runs.
pub type OnProgress<'a> = &'a mut dyn FnMut(Progress);
