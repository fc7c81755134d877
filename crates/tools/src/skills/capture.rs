//! Asking a person for what a skill lacks. What is typed goes to the file of secrets and nowhere else.

use std::sync::Arc;

use hermes_core::{
    Answer, Asker, Question, QuestionId, QuestionKind, SessionId, ToolContext, ToolError,
};
use hermes_skills::{RequiredVariable, Viewed};
use tokio_util::sync::CancellationToken;

use super::{SkillCaller, SkillServices, blocking};

/// Most values one skill asks for.
const MOST: usize = 8;

/// Who is behind a session.
#[derive(Clone, Copy)]
pub struct Person<'a> {
    /// The session.
    pub session: &'a SessionId,
    /// Asks them.
    pub asker: &'a dyn Asker,
    /// Whether somebody is there.
    pub attended: bool,
    /// Fires when nobody wants to know any more.
    pub cancel: &'a CancellationToken,
}

impl<'a> From<&'a ToolContext> for Person<'a> {
    fn from(context: &'a ToolContext) -> Self {
        Self {
            session: &context.session,
            asker: &*context.asker,
            attended: context.attended,
            cancel: &context.cancel,
        }
    }
}

/// What came of asking.
#[derive(Debug, Default)]
pub(super) struct Captured {
    /// Whether something was asked for and not given.
    pub(super) skipped: bool,
    /// What could not be kept, in words.
    pub(super) failed: Option<String>,
}

/// Asks for what skills lack that were called for by name, where somebody may be asked, before they are read. Answers
/// with what could not be kept, in words.
pub async fn equip(
    services: &Arc<SkillServices>,
    caller: &SkillCaller,
    names: &[String],
    person: Person<'_>,
) -> Vec<String> {
    let mut problems = Vec::new();
    for name in names {
        let (name, surface) = (name.clone(), caller.surface.clone());
        let viewed = blocking(services, move |services| {
            services.library.view(&name, &surface)
        });
        // Whoever reads it tells why it cannot be read.
        let Ok(Ok(viewed)) = viewed.await else {
            continue;
        };
        match capture(services, caller, &Arc::new(viewed), person).await {
            Ok(Captured {
                skipped: false,
                failed,
            }) => problems.extend(failed),
            // Not now.
            Ok(_) | Err(_) => break,
        }
    }
    problems
}

/// Asks for the variables that a skill lacks one by one, where somebody may be asked, until one is left open.
pub(super) async fn capture(
    services: &Arc<SkillServices>,
    caller: &SkillCaller,
    viewed: &Arc<Viewed>,
    person: Person<'_>,
) -> Result<Captured, ToolError> {
    let mut captured = Captured::default();
    if !(caller.may_ask && person.attended) {
        return Ok(captured);
    }
    let again = viewed.clone();
    let lacks = blocking(services, move |services| {
        services.library.readiness(&again.skill).variables
    });
    for variable in lacks.await?.iter().take(MOST) {
        let question = Question {
            // The asker numbers its questions.
            id: QuestionId(0),
            session: person.session.clone(),
            kind: QuestionKind::Secret {
                prompt: prompt(viewed, variable),
            },
            // Silence means not now.
            deadline: services.patience,
        };
        let reply = person.asker.ask(question, person.cancel.clone()).await;
        if person.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let Answer::Text(value) = reply.answer else {
            captured.skipped = true;
            break;
        };
        let value = value.trim().to_owned();
        if value.is_empty() {
            captured.skipped = true;
            break;
        }
        let name = variable.name.clone();
        let kept = blocking(services, move |services| {
            services.library.surroundings().keep(&name, value)
        });
        if let Err(why) = kept.await? {
            captured.failed = Some(why);
            break;
        }
    }
    Ok(captured)
}

fn prompt(viewed: &Viewed, variable: &RequiredVariable) -> String {
    let mut text = format!("The skill {} needs {}", viewed.entry.name, variable.name);
    if let Some(purpose) = &variable.required_for {
        text.push_str(&format!(" for {purpose}"));
    }
    text.push('.');
    for more in [&variable.prompt, &variable.help].into_iter().flatten() {
        text.push_str(&format!(" {more}"));
    }
    text.push_str("\nIt is kept in .env, and the model does not see it. Nothing skips it:");
    text
}
