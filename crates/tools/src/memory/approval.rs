//! Whether a change may be made, when the settings want a person to say so.

use hermes_core::{
    Answer, AnsweredBy, Decider, Origin, Question, QuestionId, QuestionKind, Reach, ToolContext,
    ToolError,
};
use hermes_memory::{Action, Footing, Operation, preview};
use serde_json::{Value as Json, json};

use super::{Mark, MemoryTool, StagedChange};
use crate::arguments::refuse;
use crate::staging::{Subsystem, ToStage};

/// Most characters of a change in one line.
const MOST_OF_SUMMARY: usize = 400;

/// What came of asking.
pub(super) enum Permission {
    /// Go ahead.
    Given,
    /// Somebody said no; the model is told this.
    Refused(Json),
    /// It waits for somebody; the model is told this.
    Waits(Json),
}

impl MemoryTool {
    /// Asks the person at the terminal, or lets the change wait for one.
    pub(super) async fn permission(
        &self,
        change: &StagedChange,
        footing: Footing,
        context: &ToolContext,
    ) -> Result<Permission, ToolError> {
        // What it builds on has to be made before it.
        if footing == Footing::Waiting {
            return self.let_wait(change, context);
        }
        let sessions = &self.services.sessions;
        // What was allowed for a session is what its person can follow, not what is done behind it.
        let in_front = context.origin == Origin::Conversation;
        if in_front && sessions.has(&context.session, Mark::Allowed) {
            return Ok(Permission::Given);
        }
        if !(self.caller.may_ask && context.attended) {
            return self.let_wait(change, context);
        }
        let question = Question {
            // The asker numbers its questions.
            id: QuestionId(0),
            session: context.session.clone(),
            kind: QuestionKind::Approval {
                action: in_full(change),
                reasons: vec![
                    "the agent wants to remember this (memory.write_approval)".to_owned(),
                ],
                marks: Vec::new(),
                reach: Reach::Session,
                editable: false,
                // What is remembered stays, so the person looks at it.
                decider: Decider::Person,
            },
            deadline: self.services.patience,
        };
        let reply = context.asker.ask(question, context.cancel.clone()).await;
        if context.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        match (reply.answer, reply.by) {
            (Answer::AllowOnce, _) => Ok(Permission::Given),
            (Answer::AllowSession | Answer::AllowAlways, _) => {
                sessions.add(&context.session, Mark::Allowed);
                Ok(Permission::Given)
            }
            // Nobody said no: it waits until somebody looks.
            (_, AnsweredBy::Runtime) => self.let_wait(change, context),
            (Answer::Filled(_) | Answer::Instead(_) | Answer::Dismiss, _) => {
                Ok(Permission::Refused(refused(None)))
            }
            (Answer::Deny { reason }, _) => Ok(Permission::Refused(refused(reason.as_deref()))),
            (Answer::Text(words), _) => Ok(Permission::Refused(refused(Some(&words)))),
        }
    }

    fn let_wait(
        &self,
        change: &StagedChange,
        context: &ToolContext,
    ) -> Result<Permission, ToolError> {
        let staged = self.services.staging.stage(ToStage {
            subsystem: Subsystem::Memory,
            action: match change.operations.as_slice() {
                [one] => one.action.word().to_owned(),
                _ => "batch".to_owned(),
            },
            summary: in_short(change),
            origin: crate::origin::origin(context),
            payload: json!(change),
        });
        let staged = staged.map_err(|error| refuse(format!("{error}; {}", error.hint())))?;
        Ok(Permission::Waits(json!({
            "success": true,
            "staged": true,
            "pending_id": staged.id,
            "message": format!(
                "The user wants to look at changes of memory first. This one waits as {0}; `/memory approve {0}` \
                 or `hermes memory approve {0}` makes it. Do not try again.",
                staged.id
            ),
        })))
    }
}

fn refused(reason: Option<&str>) -> Json {
    let said = match reason.map(str::trim) {
        Some(reason) if !reason.is_empty() => format!(": {reason}"),
        _ => String::new(),
    };
    json!({
        "success": false,
        "done": true,
        "error": format!("the user does not want this remembered{said}. Do not try again."),
    })
}

/// A change as a person should see it before they say yes.
fn in_full(change: &StagedChange) -> String {
    let steps: Vec<String> = change
        .operations
        .iter()
        .map(|one| step(one, str::to_owned))
        .collect();
    format!("{}: {}", change.target.file_name(), steps.join("\n"))
}

/// A change in one line.
fn in_short(change: &StagedChange) -> String {
    let steps: Vec<String> = change
        .operations
        .iter()
        .map(|one| step(one, preview))
        .collect();
    let said = match steps.as_slice() {
        [one] => one.clone(),
        several => format!("{} steps: {}", several.len(), several.join("; ")),
    };
    said.chars().take(MOST_OF_SUMMARY).collect()
}

fn step(operation: &Operation, show: impl Fn(&str) -> String) -> String {
    let content = show(operation.content.as_deref().unwrap_or_default());
    let old_text = show(operation.old_text.as_deref().unwrap_or_default());
    match operation.action {
        Action::Add => format!("add “{content}”"),
        Action::Replace => format!("replace the entry with “{old_text}” by “{content}”"),
        Action::Remove => format!("remove the entry with “{old_text}”"),
    }
}
