//! Writing skills: every change is planned first, then carried out in one step.
//!
//! A plan has passed all rules and says what each file is before and after, so that it can be shown,
//! written down and put aside. Carrying it out looks again whether the files are as they were.

mod apply;
mod ground;
mod guarded;
mod plan;
mod rules;
mod standard;

use std::io;
use std::path::PathBuf;

use hermes_config::FileError;

use crate::view::ViewError;

pub use apply::Candidate;
pub use ground::Ground;
pub use guarded::Objection;
pub use plan::{Action, FileChange, Patchable, Plan, Target};
pub use rules::{
    LARGEST_FILE, LONGEST_TEXT, PROTECTED, check_name, check_support_path, check_text,
};

/// Who asks for a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    /// A conversation, in front of the person.
    Conversation,
    /// Work behind a conversation, with nobody watching: it may touch only what the agent made itself.
    Behind,
}

/// A change that is not made.
#[derive(Debug, thiserror::Error)]
pub enum ManageError {
    #[error(transparent)]
    View(#[from] ViewError),
    #[error("{name:?} is no name for a skill")]
    Name { name: String },
    #[error("{category:?} is no name for a category")]
    Category { category: String },
    #[error("there is a skill {name} already, in {}", directory.display())]
    Exists { name: String, directory: PathBuf },
    #[error("{} is in the way and holds no skill", directory.display())]
    InTheWay { directory: PathBuf },
    #[error("the text is not a skill: {why}")]
    Text { why: String },
    #[error("other programs could not read the skill: {why}")]
    Standard { why: String },
    #[error("the text has {length} characters; at most {LONGEST_TEXT} are allowed")]
    TooLong { length: usize },
    #[error("the file has {length} bytes; at most {LARGEST_FILE} are allowed")]
    TooLarge { length: usize },
    #[error("{path} is not a place for a file of a skill")]
    Place { path: String },
    #[error("the skill has no file {path}")]
    NoFile { path: String },
    #[error("{} is not a text in UTF-8 of at most {LARGEST_FILE} bytes", path.display())]
    NotText { path: PathBuf },
    #[error("{name} is pinned")]
    Pinned { name: String },
    #[error("{name} is not for work in the background to change: {why}")]
    Foreign { name: String, why: &'static str },
    #[error("{name} has not been read in this conversation")]
    Unread { name: String },
    #[error("{name} is a link or the whole directory of skills")]
    NotADirectory { name: String },
    #[error("deleting {name} needs absorbed_into: the skill that now holds what it said")]
    NotAbsorbed { name: String },
    #[error("{into} does not hold all of {name}; missing: {}", missing.join(" | "))]
    NotHeld {
        name: String,
        into: String,
        /// The first lines and files that are not there.
        missing: Vec<String>,
    },
    #[error("{} was changed by somebody else meanwhile", path.display())]
    Changed { path: PathBuf },
    #[error("the change was not made: {why}")]
    Blocked { why: String },
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{} could not be changed", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl ManageError {
    /// What helps.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::View(error) => error.hint(),
            Self::Name { .. } => {
                "use lower-case letters and digits, at most 64, with single dashes between them, and no name under which nobody looks for skills, such as venv"
            }
            Self::Category { .. } => {
                "give one directory name, without slashes, and none in which nobody looks for skills, such as venv"
            }
            Self::Exists { .. } => "change that one, or choose another name",
            Self::InTheWay { .. } => {
                "choose another name, or tell the user, who can move it somewhere else"
            }
            Self::Text { .. } => {
                "begin with --- and the fields name and description, end them with ---, then write the instructions"
            }
            Self::Standard { .. } => {
                "only name, description, license, compatibility, allowed-tools and metadata stand at the head; everything else goes below metadata and hermes in it, lists with one item a line behind -"
            }
            Self::TooLong { .. } => "move parts of it into files under references/",
            Self::TooLarge { .. } => "split it, or leave out what can be fetched",
            Self::Place { .. } => {
                "files go below references/, templates/, scripts/ or assets/ of the skill"
            }
            Self::NoFile { .. } => "skill_view shows the files there are",
            Self::NotText { .. } => {
                "leave it: the change could not be taken back; the user can make it by hand"
            }
            Self::Pinned { .. } => "the user pinned it: hermes curator unpin releases it",
            Self::Foreign { .. } => "make a new skill, or leave it as it is",
            Self::Unread { .. } => "read it with skill_view first",
            Self::NotADirectory { .. } => "remove it by hand if that is wanted",
            Self::NotAbsorbed { .. } => "name an existing skill in absorbed_into",
            Self::NotHeld { .. } => "add what is missing to the other skill first, then try again",
            Self::Changed { .. } => "read it again and make the change anew",
            Self::Blocked { .. } => "leave out what was objected to",
            Self::File(error) => error.hint(),
            Self::Io { .. } => "check who owns the directory, and whether the disk is full",
        }
    }
}
