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
mod deliveries;
mod embeddings;
mod error;
mod export;
mod facts;
mod filter;
mod follow;
mod import;
mod inbox;
mod insights;
mod journal;
mod learning;
mod leases;
mod ledger;
mod lineage;
mod listing;
mod maintain;
mod mcp;
mod messages;
mod open;
mod permissions;
mod processes;
mod readers;
mod record;
mod reference_row;
mod repair;
mod schema;
mod search;
mod sessions;
mod stats;
mod store;
mod stretch;
mod title;
mod transfer;
mod turns;
mod view;
mod visit;
mod worker;

pub use archive::{
    Archive, ArchiveCaps, ArchiveError, BackUp, BackedUp, BackedUpDatabase, Cap, KEPT_SNAPSHOTS,
    KeptSnapshot, Label, Manifest, Note, NoteKind, Notes, Obstacle, OnProgress, Progress, Refusal,
    Restore, Restored, Snapshot, TakeSnapshot, is_occupied,
};
pub use backup::{copy_database, is_sound};
pub use blobs::Blobs;
pub use check::Check;
pub use decisions::{Decision, DecisionOutcome};
pub use deliveries::{MOST_DELIVERIES, MemoryBacklog, MemoryDelivery, TakenBack};
pub use embeddings::{Reach, Unembedded};
pub use error::StoreError;
pub use export::{
    Document, ExportOptions, Exported, Format, Lineage, ManifestEntry, Masking, Rows,
    document_name, verify_document,
};
pub use facts::{Fact, FactChange, FactFilter, NewFact, entity_key};
pub use filter::{Bounds, SessionFilter};
pub use follow::Watch;
pub use import::{BackgroundImport, ImportProgress, ReferenceImport};
pub use inbox::{MOST_IN_INBOX, Waiting};
pub use insights::{
    Activity, Cost, Glance, Insights, Learned, LearnedChange, ModelUse, Overview, Period,
    PlatformUse, SkillUse, ToolUse, TopRecord, TopSession,
};
pub use journal::{JournalEntry, JournalFilter, JournalOrigin, NewJournalEntry};
pub use learning::{LearningKind, LearningMark, Unread, UnreadRow};
pub use ledger::{CountedRequest, ModelCall, Spent};
pub use lineage::BACKGROUND;
pub use listing::{Listed, Listing};
pub use maintain::Optimized;
pub use mcp::McpPins;
pub use messages::NewRecord;
pub use permissions::{NewPermission, PERMISSION_LIFE, Permission};
pub use processes::{ProcessEnd, ProcessEvent, ProcessIdentity, ProcessRow};
pub use record::{Record, Relation, Session, Visibility};
pub use reference_row::MediaForm;
pub use repair::{KeepCopy, Repair, repair};
pub use search::{Hit, Hits, SearchFilter, SearchOrder, fuse, terms, visit_terms};
pub use sessions::NewSession;
pub use stats::{SourceStats, Stats};
pub use store::{Options, Store};
pub use stretch::{Stretch, StretchLimits};
pub use transfer::{
    ImportCaps, ImportLimit, Imported, MOST_BYTES, MOST_MESSAGES, MOST_SESSIONS, Skipped,
};
pub use turns::{OwnTurn, TurnTaken};
pub use view::{Around, Ends, Excerpt, ViewFilter};
pub use visit::Visit;
pub use worker::Pending;
