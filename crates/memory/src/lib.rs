//! What the agent remembers between sessions: two small files of entries, `MEMORY.md` for its own notes and
//! `USER.md` for what it knows about the user.
//!
//! | module | holds |
//! |---|---|
//! | `target`, `settings` | the two files and their limits |
//! | `entries` | a file as entries with ids, and back |
//! | `change`, `merge`, `undo` | what operations make of entries, without any file |
//! | `file` | reading and replacing a file that others write too |
//! | `planted`, `snapshot` | what a model may see of entries, and what the system prompt says |
//! | `memory` | all of it together: locked, journalled, written |
//! | `external` | memory beside the files: services and stores that are asked before turns and told after them |
//!
//! Nothing is read before it is asked for. Calls of the files block; async callers put them on a thread that may wait.
//! Who may write, and what a model is told, is the business of the tool.

mod change;
mod entries;
mod error;
mod external;
mod file;
mod memory;
mod merge;
mod number;
mod planted;
mod settings;
mod snapshot;
mod target;
mod undo;

pub use change::{Action, Effect, Operation, Refusal, Why};
pub use entries::{Entry, preview};
pub use error::MemoryError;
pub use external::{
    Delivery, Entries, Errand, Exchange, External, ExternalOptions, FENCE, Known, Manner,
    PROVIDERS, Provider, ProviderError, Question, Recollection, Rewriter, Scene, Setup, fenced,
    known, scrubbed,
};
pub use memory::{Changed, Contents, Footing, Memory, MemoryOptions, Reset, Tidied, Undone};
pub use merge::Merge;
pub use planted::{planted, shown};
pub use settings::{Settings, TargetSettings};
pub use snapshot::{Snapshot, snapshot};
pub use target::Target;
