//! Changes of skills that waited for a yes.

use hermes_skills::{Ground, Objection};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::SkillServices;
use super::manage::{Unmade, Wish, carried_out, diff, planned};
use crate::staging::{Staged, StagingError, Subsystem};

/// A change as it waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StagedSkill {
    #[serde(flatten)]
    wish: Wish,
    /// The conversation it came from.
    #[serde(default)]
    session: Option<String>,
    /// What the guard held against it when it was put here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    objection: Option<Objection>,
}

impl StagedSkill {
    pub(super) fn payload(wish: &Wish, session: &str, objection: Option<Objection>) -> Json {
        json!(Self {
            wish: wish.clone(),
            session: Some(session.to_owned()),
            objection,
        })
    }

    fn read(staged: &Staged) -> Result<Self, ApproveSkillError> {
        let unreadable = |source| ApproveSkillError::Unreadable {
            id: staged.id.clone(),
            source,
        };
        serde_json::from_value(staged.payload.clone()).map_err(unreadable)
    }
}

/// Why a change that waited was not made. It goes on waiting.
#[derive(Debug, thiserror::Error)]
pub enum ApproveSkillError {
    /// It is none that we wrote.
    #[error("{id} does not hold a change of a skill")]
    Unreadable {
        /// The change.
        id: String,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// It cannot be made now.
    #[error("{why}")]
    Refused {
        /// Why not.
        why: String,
        /// What helps.
        hint: &'static str,
    },
    /// It was made and could not be let go.
    #[error(transparent)]
    Staging(#[from] StagingError),
}

impl ApproveSkillError {
    /// The next step.
    pub fn hint(&self) -> String {
        match self {
            Self::Unreadable { id, .. } => format!("hermes skills reject {id} lets it go"),
            Self::Refused { hint, .. } => (*hint).to_owned(),
            Self::Staging(error) => error.hint(),
        }
    }
}

impl From<Unmade> for ApproveSkillError {
    fn from(unmade: Unmade) -> Self {
        let (why, hint) = match unmade {
            Unmade::Missing(field) => (format!("{field} is missing"), "let it go"),
            Unmade::Refused(error) => (error.to_string(), error.hint()),
            Unmade::NoMatch { why, .. } => (why, "the skill has changed since; let it go"),
            Unmade::Store(error) => (error.to_string(), "nothing was changed"),
        };
        Self::Refused { why, hint }
    }
}

/// The skills as the changes would leave them that wait from this conversation, the oldest first; only those before
/// `until`, if that is named.
pub(super) fn waiting<'a>(
    services: &'a SkillServices,
    session: Option<&str>,
    until: Option<&Staged>,
) -> Ground<'a> {
    let mut ground = services.library.ground();
    let all = services.staging.list(Subsystem::Skills);
    let before = all
        .iter()
        .take_while(|one| until.is_none_or(|until| one.id != until.id));
    for staged in before.filter(|_| session.is_some()) {
        let Ok(change) = StagedSkill::read(staged) else {
            continue;
        };
        // One that cannot be made now leaves nothing.
        if change.session.as_deref() == session
            && let Ok(plan) = planned(&ground, &change.wish, staged.origin, true)
        {
            ground.add(&plan);
        }
    }
    ground
}

/// What a change that waits would do, as people read it. Blocks while it reads.
pub fn skill_diff(services: &SkillServices, staged: &Staged) -> Result<String, ApproveSkillError> {
    let change = StagedSkill::read(staged)?;
    let ground = waiting(services, change.session.as_deref(), Some(staged));
    let plan = planned(&ground, &change.wish, staged.origin, true)?;
    Ok(diff(&plan))
}

/// Makes a change that waited, lets it go, and says in a line what was done. Blocks.
pub fn approve_skill(
    services: &SkillServices,
    staged: &Staged,
) -> Result<String, ApproveSkillError> {
    let change = StagedSkill::read(staged)?;
    // It was read when it was asked for.
    let planned = |ground: &Ground<'_>| planned(ground, &change.wish, staged.origin, true);
    let plan = planned(&services.library.ground()).map_err(|unmade| {
        let ground = waiting(services, change.session.as_deref(), Some(staged));
        match (ApproveSkillError::from(unmade), planned(&ground)) {
            (ApproveSkillError::Refused { why, .. }, Ok(_)) => ApproveSkillError::Refused {
                why,
                hint: "approve what it builds on first: hermes skills pending lists it",
            },
            (error, _) => error,
        }
    })?;
    let from = (staged.origin, change.session.as_deref());
    carried_out(services, &plan, from, change.objection.as_ref())?;
    services.staging.remove(staged)?;
    Ok(plan.summary)
}
