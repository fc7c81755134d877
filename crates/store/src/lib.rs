//! Everything Hermes remembers, in one SQLite database and a folder of media.
//!
//! Sessions, messages, their lineage, search, usage and blobs, and the import of the reference's
//! `state.db`. Only this crate opens databases. The canonical rows are separate from the search index,
//! which can be rebuilt from them at any time.

mod archive;
mod backup;
mod blobs;
mod check;
mod compact;
mod decisions;
mod error;
mod export;
mod filter;
mod follow;
mod import;
mod insights;
mod leases;
mod ledger;
mod lineage;
mod listing;
mod maintain;
mod mcp;
mod messages;
mod open;
mod processes;
mod record;
mod reference_row;
mod repair;
mod schema;
mod search;
mod sessions;
mod stats;
mod store;
mod title;
mod transfer;
mod worker;

pub use archive::{
    Archive, ArchiveCaps, ArchiveError, BackUp, BackedUp, BackedUpDatabase, Cap, KEPT_SNAPSHOTS,
    Label, MANIFEST_NAME, Manifest, Note, NoteKind, Notes, Obstacle, OnProgress, Progress, Refusal,
    Restore, Restored, Snapshot, TakeSnapshot, is_occupied,
};
pub use backup::{copy_database, is_sound};
pub use blobs::Blobs;
pub use check::Check;
pub use decisions::{Decision, DecisionOutcome};
pub use error::StoreError;
pub use export::{
    Document, ExportOptions, Exported, Format, Lineage, ManifestEntry, Masking, Rows,
    document_name, verify_document,
};
pub use filter::{Bounds, SessionFilter};
pub use follow::Watch;
pub use import::{BackgroundImport, ImportProgress, ReferenceImport};
pub use insights::{
    Activity, Cost, Glance, Insights, ModelUse, Overview, Period, PlatformUse, ToolUse, TopRecord,
    TopSession,
};
pub use ledger::ModelCall;
pub use listing::{Listed, Listing};
pub use maintain::Optimized;
pub use messages::NewRecord;
pub use processes::{ProcessEnd, ProcessEvent, ProcessIdentity, ProcessRow};
pub use record::{Record, Relation, Session, Visibility};
pub use reference_row::MediaForm;
pub use repair::{KeepCopy, Repair, repair};
pub use search::{Hit, Hits, SearchFilter, SearchOrder};
pub use sessions::NewSession;
pub use stats::{SourceStats, Stats};
pub use store::{Options, Store};
pub use title::clean_title;
pub use transfer::{
    ImportCaps, ImportLimit, Imported, MOST_BYTES, MOST_MESSAGES, MOST_SESSION_BYTES,
    MOST_SESSION_MESSAGES, MOST_SESSIONS, Skipped,
};
pub use worker::Pending;
