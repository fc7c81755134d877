//! Questions of servers to the person whose call is running.

use std::time::Duration;

use hermes_core::{Answer, AnsweredBy, Question, QuestionId, QuestionKind, Reach, Reply};
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::{Map, Value as Json, json};
use tokio_util::sync::CancellationToken;

use super::{Caller, Ears};
use crate::Link;

/// Most fields of a form that are asked for.
const MOST_FIELDS: usize = 30;
/// How much longer than the question itself its answer is waited for.
const GUARD: Duration = Duration::from_secs(5);

/// Asks, and answers the server whatever happens: what goes wrong is a no.
pub(super) async fn answer(
    ears: &Ears,
    request: ElicitRequestParams,
    gone: &CancellationToken,
) -> ElicitResult {
    let decline = ElicitResult::new(ElicitationAction::Decline);
    let Some(caller) = ears.callers.latest().filter(|_| ears.elicitation.enabled) else {
        return decline;
    };
    // The limit of the call stands still until this is dropped.
    let _open = ears.callers.ask();
    let limit = ears.elicitation.timeout;
    let asking = Asking {
        ears,
        caller,
        limit,
    };
    let asked = async {
        match request {
            ElicitRequestParams::FormElicitationParams {
                message,
                requested_schema,
                ..
            } => {
                let schema = serde_json::to_value(requested_schema).unwrap_or_default();
                asking.form(&message, &schema).await
            }
            ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
                asking.link(&message, url).await
            }
            _ => decline,
        }
    };
    tokio::select! {
        result = tokio::time::timeout(limit + GUARD, asked) => {
            result.unwrap_or_else(|_| ElicitResult::new(ElicitationAction::Cancel))
        }
        () = gone.cancelled() => ElicitResult::new(ElicitationAction::Cancel),
    }
}

/// Shows the pages a server wants to be opened before it does what was asked; whether all were dealt with.
pub(super) async fn visited(ears: &Ears, caller: &Caller, links: &[Link]) -> bool {
    if !ears.elicitation.enabled || links.is_empty() {
        return false;
    }
    let limit = ears.elicitation.timeout;
    let asking = Asking {
        ears,
        caller: caller.clone(),
        limit,
    };
    for link in links {
        let asked = asking.link(&link.message, link.url.clone());
        let answered = tokio::time::timeout(limit + GUARD, asked).await;
        if !answered.is_ok_and(|result| result.action == ElicitationAction::Accept) {
            return false;
        }
    }
    true
}

struct Asking<'a> {
    ears: &'a Ears,
    caller: Caller,
    limit: Duration,
}

impl Asking<'_> {
    async fn put(&self, kind: QuestionKind) -> Reply {
        let question = Question {
            id: QuestionId(self.ears.random.next_u64()),
            session: self.caller.session.clone(),
            kind,
            deadline: self.limit,
        };
        let cancel = self.caller.cancel.child_token();
        self.caller.asker.ask(question, cancel).await
    }

    /// Shows an address and asks whether it was dealt with.
    async fn link(&self, message: &str, url: String) -> ElicitResult {
        let server = &self.ears.server;
        let reply = self
            .put(QuestionKind::Approval {
                action: url,
                reasons: vec![format!(
                    "MCP server {server} asks you to open this: {message}"
                )],
                marks: Vec::new(),
                reach: Reach::Once,
            })
            .await;
        match reply.answer {
            Answer::Deny { .. } => refusal(&reply),
            Answer::AllowOnce | Answer::AllowSession | Answer::AllowAlways | Answer::Text(_) => {
                ElicitResult::new(ElicitationAction::Accept)
            }
        }
    }

    /// Asks for the fields of a form one after the other.
    async fn form(&self, message: &str, schema: &Json) -> ElicitResult {
        let server = &self.ears.server;
        let fields = schema.get("properties").and_then(Json::as_object);
        let fields: Vec<(&String, &Json)> =
            fields.into_iter().flatten().take(MOST_FIELDS).collect();
        if fields.is_empty() {
            let reply = self
                .put(QuestionKind::Approval {
                    action: message.to_owned(),
                    reasons: vec![format!("MCP server {server} asks")],
                    marks: Vec::new(),
                    reach: Reach::Once,
                })
                .await;
            return match reply.answer {
                Answer::Deny { .. } => refusal(&reply),
                _ => ElicitResult::new(ElicitationAction::Accept).with_content(json!({})),
            };
        }
        let required = schema.get("required").and_then(Json::as_array);
        let is_required =
            |name: &str| required.is_some_and(|names| names.iter().any(|one| one == name));
        let mut content = Map::new();
        for (name, field) in fields {
            let question = format!(
                "MCP server {server}: {message}\n{}",
                described(name, field, is_required(name))
            );
            let reply = self
                .put(QuestionKind::Clarify {
                    question,
                    choices: choices(field),
                })
                .await;
            let text = match &reply.answer {
                Answer::Text(text) => text.trim(),
                Answer::AllowOnce | Answer::AllowSession | Answer::AllowAlways => "yes",
                Answer::Deny { .. } => return refusal(&reply),
            };
            match read(field, text) {
                Some(value) => {
                    content.insert(name.clone(), value);
                }
                None if is_required(name) => return ElicitResult::new(ElicitationAction::Decline),
                None => {}
            }
        }
        ElicitResult::new(ElicitationAction::Accept).with_content(Json::Object(content))
    }
}

/// A person's no declines; when nobody answered, the question is withdrawn.
fn refusal(reply: &Reply) -> ElicitResult {
    ElicitResult::new(match reply.by {
        AnsweredBy::Person(_) | AnsweredBy::Rule(_) => ElicitationAction::Decline,
        AnsweredBy::Runtime => ElicitationAction::Cancel,
    })
}

fn described(name: &str, field: &Json, required: bool) -> String {
    let text = |key: &str| field.get(key).and_then(Json::as_str);
    let kind = text("type").unwrap_or("string");
    let title = text("title").unwrap_or(name);
    let about = text("description").map(|about| format!(": {about}"));
    let optional = if required { "" } else { ", may be left empty" };
    format!("{title} ({kind}{optional}){}", about.unwrap_or_default())
}

/// What a field may be, when that is a list.
fn choices(field: &Json) -> Vec<String> {
    if field.get("type").and_then(Json::as_str) == Some("boolean") {
        return vec!["yes".to_owned(), "no".to_owned()];
    }
    let listed = field.get("enum").and_then(Json::as_array);
    let titled = field.get("oneOf").and_then(Json::as_array);
    let plain = listed.into_iter().flatten().filter_map(Json::as_str);
    let named = titled
        .into_iter()
        .flatten()
        .filter_map(|one| one.get("const").and_then(Json::as_str));
    plain.chain(named).map(str::to_owned).collect()
}

/// A typed answer as the kind of value the field wants; nothing for an empty one and for one that does not
/// fit.
fn read(field: &Json, text: &str) -> Option<Json> {
    if text.is_empty() {
        return field.get("default").cloned();
    }
    match field.get("type").and_then(Json::as_str) {
        Some("boolean") => match text.to_lowercase().as_str() {
            "yes" | "y" | "true" | "1" | "on" => Some(json!(true)),
            "no" | "n" | "false" | "0" | "off" => Some(json!(false)),
            _ => None,
        },
        Some("integer") => text.parse::<i64>().ok().map(|number| json!(number)),
        Some("number") => text.parse::<f64>().ok().map(|number| json!(number)),
        Some("array") => Some(json!(text.split(',').map(str::trim).collect::<Vec<_>>())),
        _ => Some(json!(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_become_the_kind_of_value_a_field_wants() {
        let field = |kind: &str| json!({ "type": kind });
        assert_eq!(read(&field("boolean"), "Yes"), Some(json!(true)));
        assert_eq!(read(&field("boolean"), "perhaps"), None);
        assert_eq!(read(&field("integer"), "7"), Some(json!(7)));
        assert_eq!(read(&field("integer"), "7.5"), None);
        assert_eq!(read(&field("number"), "7.5"), Some(json!(7.5)));
        assert_eq!(read(&field("string"), "x"), Some(json!("x")));
        let with_default = json!({ "type": "string", "default": "d" });
        assert_eq!(read(&with_default, ""), Some(json!("d")));
        let titled = json!({ "oneOf": [{ "const": "a", "title": "A" }] });
        assert_eq!(choices(&titled), ["a"]);
    }
}
