//! Asking a person about a skill that looks dangerous.

use std::time::Duration;

use hermes_core::{
    Answer, AnsweredBy, Decider, Question, QuestionId, QuestionKind, Reach, ToolContext, ToolError,
};
use hermes_skills::{Objection, Plan};
use serde_json::{Value as Json, json};

/// How long a person may take; silence means no.
const PATIENCE: Duration = Duration::from_secs(300);

/// Shows what was found and asks whether the change may be made all the same. Answers with what the model is told
/// when it may not.
pub(super) async fn asked(
    plan: &Plan,
    objection: &Objection,
    context: &ToolContext,
) -> Result<Option<Json>, ToolError> {
    let question = Question {
        // The asker numbers its questions.
        id: QuestionId(0),
        session: context.session.clone(),
        kind: QuestionKind::Approval {
            action: plan.summary.clone(),
            reasons: objection.found.clone(),
            marks: Vec::new(),
            // The next change is looked at anew.
            reach: Reach::Once,
            editable: false,
            // What is learnt stays, so the person looks at it.
            decider: Decider::Person,
        },
        deadline: PATIENCE,
    };
    let reply = context.asker.ask(question, context.cancel.clone()).await;
    if context.cancel.is_cancelled() {
        return Err(ToolError::Cancelled);
    }
    let why = match (reply.answer, reply.by) {
        (Answer::AllowOnce | Answer::AllowSession | Answer::AllowAlways, _) => return Ok(None),
        (_, AnsweredBy::Runtime) => format!("{objection}, and nobody said that it may be made"),
        (Answer::Deny { reason: Some(said) } | Answer::Text(said), _) => {
            format!("the user does not want it: {said}")
        }
        (Answer::Deny { reason: None } | Answer::Filled(_) | Answer::Instead(_), _)
        | (Answer::Dismiss, _) => format!("the user does not want it: {objection}"),
    };
    Ok(Some(json!({
        "success": false,
        "error": format!("the change was not made: {why}"),
        "hint": "leave out what was objected to",
    })))
}
