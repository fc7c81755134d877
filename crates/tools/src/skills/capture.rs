//! Asking a person for what a skill lacks. What is typed goes to the file of secrets and nowhere else.

use std::sync::Arc;

use hermes_core::{Answer, Question, QuestionId, QuestionKind, ToolContext, ToolError};
use hermes_skills::{RequiredVariable, Viewed};

use super::{SkillServices, blocking};

/// Most values one skill asks for.
const MOST: usize = 8;

/// What came of asking.
#[derive(Debug, Default)]
pub(super) struct Captured {
    /// Whether something was asked for and not given.
    pub(super) skipped: bool,
    /// What could not be kept, in words.
    pub(super) failed: Option<String>,
}

/// Asks for variables one by one, until one is left open.
pub(super) async fn capture(
    services: &Arc<SkillServices>,
    viewed: &Viewed,
    missing: &[RequiredVariable],
    context: &ToolContext,
) -> Result<Captured, ToolError> {
    let mut captured = Captured::default();
    for variable in missing.iter().take(MOST) {
        let question = Question {
            // The asker numbers its questions.
            id: QuestionId(0),
            session: context.session.clone(),
            kind: QuestionKind::Secret {
                prompt: prompt(viewed, variable),
            },
            // Silence means not now.
            deadline: services.patience,
        };
        let reply = context.asker.ask(question, context.cancel.clone()).await;
        if context.cancel.is_cancelled() {
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
