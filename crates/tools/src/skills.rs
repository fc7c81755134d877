//! `skills_list`, `skill_view` and `skill_manage`: what the agent knows how to do.
//!
//! Where skills lie and what may be written is the skills crate's; here is what a model may ask and is
//! told, who is asked for what a skill lacks, and what is written down before something changes.

mod approve;
mod capture;
mod consent;
mod list;
mod manage;
mod seen;
mod view;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use hermes_core::{Tool, ToolError, ToolSpec};
use hermes_skills::{Author, Library};
use hermes_store::{JournalOrigin, Store};
use serde_json::Value as Json;

use crate::arguments::text;
use crate::staging::Staging;

pub use approve::{ApproveSkillError, StagedSkill, approve_skill, skill_diff};
pub use capture::{Person, equip};
pub use seen::Seen;

/// What the tools of all sessions share.
pub struct SkillServices {
    /// The skills.
    pub library: Arc<Library>,
    /// Where changes are written down.
    pub store: Store,
    /// Where changes wait for a yes.
    pub staging: Staging,
    /// Whether they do.
    pub approval: AtomicBool,
    /// Which session has read what.
    pub seen: Seen,
    /// How long a person may take for one value that a skill needs.
    pub patience: Duration,
}

impl SkillServices {
    /// How long a person may take for one value: twice as long as for a yes, since a key has to be fetched first,
    /// and at most two minutes.
    pub fn patience(for_a_yes: Duration) -> Duration {
        for_a_yes.saturating_mul(2).min(Duration::from_secs(120))
    }
}

/// Who calls the tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillCaller {
    /// Where the conversation takes place.
    pub surface: String,
    /// Whether a person can be asked for a secret there.
    pub may_ask: bool,
}

/// Whose rules hold for a change.
fn author(origin: JournalOrigin) -> Author {
    match origin {
        JournalOrigin::Foreground | JournalOrigin::User => Author::Conversation,
        JournalOrigin::BackgroundReview | JournalOrigin::Curator => Author::Behind,
    }
}

/// The tools for a turn of a session.
pub fn skill_tools(services: &Arc<SkillServices>, caller: &SkillCaller) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(list::SkillsList::new(services.clone(), caller.clone())),
        Arc::new(view::SkillView::new(services.clone(), caller.clone())),
        Arc::new(manage::SkillManage::new(services.clone())),
    ]
}

/// What the model is told of them.
pub(crate) fn described() -> [ToolSpec; 3] {
    [list::spec(), view::spec(), manage::spec()]
}

fn told(answer: Json) -> hermes_core::ToolResult {
    text(answer.to_string())
}

/// Does something with skills on a thread that may wait.
async fn blocking<T: Send + 'static>(
    services: &Arc<SkillServices>,
    work: impl FnOnce(&SkillServices) -> T + Send + 'static,
) -> Result<T, ToolError> {
    let services = services.clone();
    tokio::task::spawn_blocking(move || work(&services))
        .await
        .map_err(|error| ToolError::OutcomeUnknown {
            message: format!("the call ended early: {error}"),
        })
}
