//! Calls that may change something at a server nobody trusts: a person says yes first, and who said what is
//! written down before anything is sent.

use std::sync::Arc;
use std::time::Duration;

use hermes_core::{
    Answer, AnsweredBy, Clock, Decider, Question, QuestionId, QuestionKind, Random, Reach, Reply,
    ToolContext, ToolError,
};
use hermes_secrets::{RedactorHandle, Scope};
use hermes_store::{Decision, DecisionOutcome, Store};
use serde_json::Value as Json;

/// Most characters of arguments that are shown with a question.
const SHOWN: usize = 2000;
/// Most characters of an action that are kept.
const MOST_ACTION: usize = 4_000;
/// What such a call is called among the categories of decisions.
const CATEGORY: &str = "untrusted-mcp-server";

/// Asks, and notes what was said.
#[derive(Clone)]
pub(crate) struct Consent {
    pub(crate) redactor: RedactorHandle,
    pub(crate) random: Arc<dyn Random>,
    pub(crate) clock: Arc<dyn Clock>,
    /// Where decisions are kept.
    pub(crate) store: Option<Store>,
    /// How long a person may take.
    pub(crate) patience: Duration,
}

impl Consent {
    /// Asks whether a tool of a server may be called like this; the words for the model when not.
    pub(crate) async fn ask(
        &self,
        server: &str,
        tool: &str,
        arguments: &Json,
        context: &ToolContext,
    ) -> Result<(), ToolError> {
        let arguments = arguments.to_string();
        let reason =
            format!("MCP server {server} is not trusted and this tool may change something");
        let action = format!("{tool} {}", shown(&arguments));
        let reply = self.put(action, reason.clone(), context).await;
        let allowed = match &reply.answer {
            Answer::AllowOnce | Answer::AllowSession | Answer::AllowAlways => true,
            Answer::Deny { .. }
            | Answer::Instead(_)
            | Answer::Text(_)
            | Answer::Filled(_)
            | Answer::Dismiss => false,
        };
        // The question has no lasting answer, so a yes is for this call whatever word it comes in.
        let outcome = match allowed {
            true => DecisionOutcome::Once,
            false => DecisionOutcome::Refused,
        };
        let decision = Decision {
            session: context.session.to_string(),
            call: context.call.clone(),
            at: self.clock.now().as_duration().as_secs_f64(),
            tool: tool.to_owned(),
            action: self.kept(&format!("{tool} {arguments}")),
            place: format!("mcp {server}"),
            categories: vec![CATEGORY.to_owned()],
            outcome,
            decided_by: name(&reply.by),
            reason,
        };
        let written = match &self.store {
            Some(store) => store.record_decision(decision).await,
            None => Ok(()),
        };
        match (allowed, written) {
            (true, Ok(())) => Ok(()),
            // Nothing runs that nobody could answer for afterwards.
            (true, Err(error)) => Err(for_model(format!(
                "the call was not made: the decision could not be written down ({error})"
            ))),
            (false, written) => {
                if let Err(error) = written {
                    tracing::warn!(%error, "a refusal could not be written down");
                }
                Err(for_model(refusal(server, &reply)))
            }
        }
    }

    async fn put(&self, action: String, reason: String, context: &ToolContext) -> Reply {
        let question = Question {
            id: QuestionId(self.random.next_u64()),
            session: context.session.clone(),
            kind: QuestionKind::Approval {
                action,
                reasons: vec![reason],
                marks: Vec::new(),
                reach: Reach::Once,
                editable: false,
                decider: Decider::Anyone,
            },
            deadline: self.patience,
        };
        context.asker.ask(question, context.cancel.clone()).await
    }

    fn kept(&self, action: &str) -> String {
        let redactor = self.redactor.snapshot();
        let masked = redactor.redact_in(Scope::Chat, action);
        masked.chars().take(MOST_ACTION).collect()
    }
}

fn for_model(message: String) -> ToolError {
    ToolError::ForModel { message }
}

fn refusal(server: &str, reply: &Reply) -> String {
    match &reply.by {
        AnsweredBy::Person(_) => "the user refused this call".to_owned(),
        AnsweredBy::Program(name) => {
            format!("a program that may answer for the user refused this call ({name})")
        }
        AnsweredBy::Rule(_) | AnsweredBy::Runtime => {
            format!("calls of MCP server {server} need a yes, and nobody gave one")
        }
        AnsweredBy::Stopped => "this call was stopped before anybody answered".to_owned(),
    }
}

fn name(by: &AnsweredBy) -> String {
    match by {
        AnsweredBy::Person(name) | AnsweredBy::Program(name) => name.clone(),
        AnsweredBy::Rule(rule) => format!("rule: {rule}"),
        AnsweredBy::Runtime => "runtime".to_owned(),
        AnsweredBy::Stopped => "stopped".to_owned(),
    }
}

/// The beginning of a text, and how much of it is not shown.
fn shown(text: &str) -> String {
    let hidden = text.chars().count().saturating_sub(SHOWN);
    if hidden == 0 {
        return text.to_owned();
    }
    let head: String = text.chars().take(SHOWN).collect();
    format!("{head}… ({hidden} more characters are not shown)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_shown_of_arguments_is_counted() {
        assert_eq!(shown("{\"a\":1}"), "{\"a\":1}");
        let long = shown(&"ä".repeat(SHOWN + 7));
        assert!(
            long.ends_with("ä… (7 more characters are not shown)"),
            "{long}"
        );
    }
}
