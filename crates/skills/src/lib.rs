//! Skills: instructions the agent reads when it needs them.
//!
//! A skill is a directory with a `SKILL.md`: a few fields and a text. The agent sees names and short
//! descriptions, reads the text of the one it needs and then, perhaps, files beside it.
//!
//! | module | holds |
//! |---|---|
//! | `frontmatter` | the fields at the head of a file, however badly written |
//! | `skill` | a `SKILL.md` as a type |
//! | `roots` | where skills lie |
//! | `library` | what there is, looked up when needed and remembered |
//! | `catalog` | what there is at one moment |
//! | `conditions` | whether a skill is of use here |
//! | `rank` | which skills fit some words |
//! | `index` | the list in the prompt |
//! | `view` | reading a skill and the files beside it, and what it lacks |
//! | `template` | placeholders in its text |
//! | `render` | a skill ready to be sent to the model |
//! | `surroundings` | the world around skills, as far as they need it |
//! | `slash` | skills as commands, and the message that is sent |
//! | `bundles` | several skills under one name |
//! | `manage` | writing skills: plans, rules, carrying out |
//! | `usage` | how often skills are used, and who made them |
//! | `undo` | putting a file of a skill back to what it was |
//! | `curator` | tidying skills up: stale, put away, brought back |
//! | `shipped` | the skills that come with the program |
//! | `sync` | bringing them into a home |
//! | `guard` | dangers in a skill, and who is trusted how far |
//! | `hub` | skills of others |
//!
//! Nothing here runs a command, asks a person or talks to a model: whoever can do so calls.

mod bundles;
mod catalog;
mod conditions;
mod curator;
mod frontmatter;
pub mod guard;
pub mod hub;
mod index;
mod library;
mod manage;
mod rank;
mod render;
mod roots;
mod shipped;
mod skill;
mod slash;
mod surroundings;
mod sync;
mod template;
mod undo;
mod usage;
mod view;

pub use bundles::{Bundle, BundleError, bundles, create_bundle, delete_bundle};
pub use catalog::{Catalog, CatalogEntry, Found, NO_CATEGORY};
pub use conditions::{
    Circumstances, Conditions, Hidden, Locality, Surrounding, System, hidden, is_disabled, unusable,
};
pub use curator::{
    Absorbed, Archived, Backup, Begun, Curator, CuratorError, Merging, Move, Rewrite, Run,
    State as CuratorState, Trial, missing_from,
};
pub use frontmatter::{Form, Frontmatter};
pub use index::{MOST_TOKENS, index};
pub use library::{LeftOut, Library, LibraryOptions};
pub use manage::{
    Action, Author, Candidate, FileChange, Ground, LARGEST_FILE, LONGEST_TEXT, ManageError,
    Objection, PROTECTED, Patchable, Plan, Target, check_name, check_support_path, check_text,
};
pub use rank::best;
pub use render::Rendered;
pub use roots::{Root, RootKind, plugin_roots, roots};
pub use shipped::{Contents, Shipped, ShippedSkill};
pub use skill::{
    Blueprint, ConfigItem, CredentialFile, Hermes, LONGEST_COMPATIBILITY, LONGEST_DESCRIPTION,
    LONGEST_NAME, RequiredVariable, Setup, Skill,
};
pub use slash::{Chosen, command_name, commands, message, preloaded, said, typed_and_added};
pub use surroundings::{Bare, Surroundings};
pub use sync::{Modified, SyncError, SyncReport};
pub use template::{InlineShell, Placeholders, SessionShell, with_commands_run};
pub use undo::{Undo, UndoError};
pub use usage::{BY_AGENT, Usage, UsageError, UsageEvent, UsageRecord, UsageState};
pub use view::{FileText, Linked, Readiness, Status, ViewError, Viewed};
