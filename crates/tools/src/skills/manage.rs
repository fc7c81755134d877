//! `skill_manage`: making, changing and removing skills.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_core::future::BoxFuture;
use hermes_core::{Effect, SessionId, Tool, ToolContext, ToolOutcome, ToolSpec};
use hermes_skills::{Action, Candidate, Ground, ManageError, Objection, Plan, Target};
use hermes_store::{JournalOrigin, NewJournalEntry};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::approve::waiting;
use super::{SkillServices, author, blocking, consent, told};
use crate::arguments::{read, refuse};
use crate::edit::{Replacement, Text, regions, replace, unified};
use crate::staging::{Subsystem, ToStage};

pub(super) struct SkillManage {
    spec: ToolSpec,
    services: Arc<SkillServices>,
}

/// A call, and a change as it waits for a yes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Wish {
    pub(super) action: Verb,
    pub(super) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) category: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) old_string: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) new_string: Option<String>,
    #[serde(default)]
    pub(super) replace_all: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) file_path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) file_content: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) absorbed_into: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Verb {
    Create,
    Edit,
    Patch,
    Delete,
    WriteFile,
    RemoveFile,
}

impl Verb {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Edit => "edit",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::WriteFile => "write_file",
            Self::RemoveFile => "remove_file",
        }
    }
}

pub(super) fn spec() -> ToolSpec {
    ToolSpec {
        name: "skill_manage".to_owned(),
        description: "Keep skills: create one from work worth repeating, patch one that is wrong or incomplete. A skill \
                      is a SKILL.md: --- name and description ---, then when to use it, numbered steps with exact \
                      commands, pitfalls, and how to check the result. Longer material goes into files."
            .to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                "action": {
                    "type": "string",
                    "enum": ["create", "edit", "patch", "delete", "write_file", "remove_file"],
                    "description": "edit replaces the whole SKILL.md; patch changes a part of it, or of file_path.",
                },
                "name": {"type": "string", "description": "Lower-case letters, digits and -"},
                "content": {"type": "string", "description": "create, edit: the whole SKILL.md."},
                "category": {"type": "string", "description": "create: the directory it goes into."},
                "old_string": {"type": "string", "description": "patch: what is replaced."},
                "new_string": {"type": "string", "description": "patch: what comes instead."},
                "replace_all": {"type": "boolean"},
                "file_path": {"type": "string", "description": "Below references/, templates/, scripts/ or assets/."},
                "file_content": {"type": "string", "description": "write_file: the whole file."},
                "absorbed_into": {"type": "string", "description": "delete: the skill that now holds what this one said."},
            },
            "required": ["action", "name"],
        }),
        effect: Effect::Mutating,
    }
}

/// Why a change was not made.
pub(super) enum Unmade {
    /// A field of the call is missing.
    Missing(&'static str),
    Refused(Box<ManageError>),
    /// The part to be replaced was not found, or not once.
    NoMatch {
        why: String,
        near: Vec<String>,
    },
    Store(hermes_store::StoreError),
}

impl From<ManageError> for Unmade {
    fn from(error: ManageError) -> Self {
        Self::Refused(Box::new(error))
    }
}

/// What a wish comes to, with all rules checked.
pub(super) fn planned(
    ground: &Ground<'_>,
    wish: &Wish,
    origin: JournalOrigin,
    has_read: bool,
) -> Result<Plan, Unmade> {
    let need =
        |field: &Option<String>, name: &'static str| field.clone().ok_or(Unmade::Missing(name));
    let action = match wish.action {
        Verb::Create => Action::Create {
            text: need(&wish.content, "content")?,
            category: wish.category.clone(),
        },
        Verb::Edit => Action::Edit {
            text: need(&wish.content, "content")?,
        },
        Verb::Patch => {
            let old = need(&wish.old_string, "old_string")?;
            let new = need(&wish.new_string, "new_string")?;
            let text = ground
                .patchable(&wish.name, wish.file_path.as_deref())?
                .text;
            let request = Replacement {
                old: &old,
                new: &new,
                all: wish.replace_all,
                near_line: None,
            };
            let edited = replace(&Text::new(text.clone()), &request);
            let edited = edited.map_err(|refusal| Unmade::NoMatch {
                why: refusal.to_string(),
                near: regions(&text, &old),
            })?;
            Action::Patch {
                file: wish.file_path.clone(),
                text: edited.body,
            }
        }
        Verb::Delete => Action::Delete {
            absorbed_into: wish.absorbed_into.clone(),
        },
        Verb::WriteFile => Action::WriteFile {
            file: need(&wish.file_path, "file_path")?,
            text: need(&wish.file_content, "file_content")?,
        },
        Verb::RemoveFile => Action::RemoveFile {
            file: need(&wish.file_path, "file_path")?,
        },
    };
    Ok(ground.plan(&wish.name, action, author(origin), has_read)?)
}

/// Writes a change down and makes it. `accepted` is what a person let pass although the guard objects. Blocks.
pub(super) fn carried_out(
    services: &SkillServices,
    plan: &Plan,
    (origin, session): (JournalOrigin, Option<&str>),
    accepted: Option<&Objection>,
) -> Result<(), Unmade> {
    // What was accepted may be more than what is left of it.
    let covered = |objection: &Objection| {
        let mut found = objection.found.iter();
        accepted.is_some_and(|accepted| found.all(|one| accepted.found.contains(one)))
    };
    let allowed = |candidate: &Candidate| match services.library.guard(candidate) {
        Ok(Some(objection)) if !covered(&objection) => Err(objection.to_string()),
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    };
    // What is refused is not written down.
    services.library.check(plan, &allowed)?;
    let mut noted = Vec::new();
    for row in rows(plan, origin, session) {
        let row = services.store.append_journal(row).wait();
        noted.push(row.map_err(Unmade::Store)?);
    }
    let made = services.library.apply(plan, author(origin), &allowed);
    if made.is_err() {
        // It was noted and is not done: nobody should read of it or take it back.
        for row in noted {
            if let Err(error) = services.store.mark_undone(row).wait() {
                tracing::warn!(%error, row, "a change that was not made stands in the journal");
            }
        }
    }
    Ok(made?)
}

/// What is written down of a change.
fn rows(plan: &Plan, origin: JournalOrigin, session: Option<&str>) -> Vec<NewJournalEntry> {
    let row = NewJournalEntry {
        origin,
        session: session.map(str::to_owned),
        subject: format!("skill:{}", plan.name),
        path: None,
        before: None,
        after: None,
        summary: plan.summary.clone(),
    };
    match plan.target {
        // There are no texts: the skill lies in the archive as it was.
        Target::Archived { .. } => vec![row],
        Target::New | Target::Kept => {
            let changes = plan.changes.iter();
            changes
                .map(|change| NewJournalEntry {
                    path: Some(change.path.display().to_string()),
                    before: change.before.clone(),
                    after: change.after.clone(),
                    ..row.clone()
                })
                .collect()
        }
    }
}

/// The differences of a plan, as people read them.
pub(super) fn diff(plan: &Plan) -> String {
    let changes = plan.changes.iter();
    changes
        .map(|change| {
            let below = change.path.strip_prefix(&plan.directory);
            let name = below.unwrap_or(&change.path).display().to_string();
            unified(
                &format!("{}/{name}", plan.name),
                change.before.as_deref().unwrap_or_default(),
                change.after.as_deref().unwrap_or_default(),
            )
        })
        .collect()
}

impl SkillManage {
    pub(super) fn new(services: Arc<SkillServices>) -> Self {
        Self {
            spec: spec(),
            services,
        }
    }

    async fn change(&self, wish: Wish, context: &ToolContext) -> ToolOutcome {
        let call = Call {
            origin: crate::origin::origin(context),
            session: context.session.clone(),
            asks: self.services.approval.load(Ordering::Relaxed),
            attended: context.attended,
        };
        let begun = call.clone();
        let tried = blocking(&self.services, move |services| {
            let session = &begun.session;
            let ground = match begun.asks {
                true => waiting(services, Some(session.as_str()), None),
                false => services.library.ground(),
            };
            let entry = ground.entry(&wish.name);
            let has_read = entry.is_ok_and(|entry| services.seen.has(session, &entry.directory));
            match planned(&ground, &wish, begun.origin, has_read) {
                Ok(plan) => begun.attempt(&ground, services, &wish, plan),
                Err(unmade) => Attempt::Answered(refused(&unmade)),
            }
        });
        let (plan, objection) = match tried.await? {
            Attempt::Answered(answer) => return Ok(told(answer)),
            Attempt::Failed(message) => return Err(refuse(message)),
            Attempt::Objected(plan, objection) => (plan, objection),
        };
        if let Some(no) = consent::asked(&plan, &objection, context).await? {
            return Ok(told(no));
        }
        let made = blocking(&self.services, move |services| {
            call.make(services, &plan, Some(&objection))
        });
        Ok(told(made.await?))
    }
}

/// Who calls, and under which rules.
#[derive(Clone)]
struct Call {
    origin: JournalOrigin,
    session: SessionId,
    /// Whether changes wait for a yes.
    asks: bool,
    /// Whether a person can be asked now.
    attended: bool,
}

/// How far a change came.
enum Attempt {
    /// To the end, whatever that is; the model is told this.
    Answered(Json),
    /// The guard objects, and somebody is there to ask.
    Objected(Plan, Objection),
    Failed(String),
}

impl Call {
    /// Makes a change, unless it has to wait for somebody.
    fn attempt(
        &self,
        ground: &Ground<'_>,
        services: &SkillServices,
        wish: &Wish,
        plan: Plan,
    ) -> Attempt {
        let objection = match ground.objection(&plan) {
            Ok(objection) => objection,
            Err(error) => return Attempt::Answered(refused(&error.into())),
        };
        if self.asks {
            let staged = self.staged(services, wish, &plan, objection);
            return staged.map_or_else(Attempt::Failed, Attempt::Answered);
        }
        match objection {
            Some(objection) if self.attended => Attempt::Objected(plan, objection),
            _ => Attempt::Answered(self.make(services, &plan, None)),
        }
    }

    fn make(&self, services: &SkillServices, plan: &Plan, accepted: Option<&Objection>) -> Json {
        // Tidying up belongs to no conversation.
        let session = Some(self.session.as_str()).filter(|_| self.origin != JournalOrigin::Curator);
        match carried_out(services, plan, (self.origin, session), accepted) {
            Ok(()) => {
                // Whoever wrote it knows what it says.
                if plan.target == Target::New {
                    services.seen.add(&self.session, &plan.directory);
                }
                made(plan)
            }
            Err(unmade) => refused(&unmade),
        }
    }

    /// Lets a change wait. Whoever says yes to it has read what the guard objects to.
    fn staged(
        &self,
        services: &SkillServices,
        wish: &Wish,
        plan: &Plan,
        objection: Option<Objection>,
    ) -> Result<Json, String> {
        let summary = match &objection {
            Some(objection) => format!("{}; {objection}", plan.summary),
            None => plan.summary.clone(),
        };
        let payload = super::approve::StagedSkill::payload(wish, self.session.as_str(), objection);
        let staged = services.staging.stage(ToStage {
            subsystem: Subsystem::Skills,
            action: wish.action.word().to_owned(),
            summary: summary.clone(),
            origin: self.origin,
            payload,
        });
        let staged = staged.map_err(|error| format!("{error}; {}", error.hint()))?;
        Ok(json!({
            "success": true,
            "staged": true,
            "pending_id": staged.id,
            "gist": summary,
            "message": format!(
                "The user looks at changes of skills first. This one waits as {0}; `/skills approve {0}` makes it. \
                 Do not try again.",
                staged.id
            ),
        }))
    }
}

fn made(plan: &Plan) -> Json {
    let mut answer = json!({
        "success": true,
        "message": plan.summary,
        "path": plan.directory.display().to_string(),
    });
    let more: Vec<(&str, Json)> = match &plan.target {
        Target::New => vec![
            (
                "skill_md",
                json!(plan.directory.join("SKILL.md").display().to_string()),
            ),
            (
                "hint",
                json!(
                    "files for it go in with write_file; it is listed from the next conversation on"
                ),
            ),
        ],
        Target::Kept => vec![("diff", json!(diff(plan)))],
        Target::Archived { into, .. } => vec![("archived_to", json!(into.display().to_string()))],
    };
    if let Some(fields) = answer.as_object_mut() {
        fields.extend(more.into_iter().map(|(key, value)| (key.to_owned(), value)));
    }
    answer
}

fn refused(unmade: &Unmade) -> Json {
    match unmade {
        Unmade::Missing(field) => json!({
            "success": false,
            "error": format!("{field} is missing"),
            "hint": "see the description of the action",
        }),
        Unmade::Refused(error) => json!({
            "success": false,
            "error": error.to_string(),
            "hint": error.hint(),
        }),
        Unmade::NoMatch { why, near } => json!({
            "success": false,
            "error": why,
            "hint": "read it again with skill_view and copy old_string from there",
            "nearby": near,
        }),
        Unmade::Store(error) => json!({
            "success": false,
            "error": format!("the change could not be written down: {error}"),
            "hint": "nothing was changed",
        }),
    }
}

impl Tool for SkillManage {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, arguments: Json, context: &'a ToolContext) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move { self.change(read(arguments)?, context).await })
    }
}
