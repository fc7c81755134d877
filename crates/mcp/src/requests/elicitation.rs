//! Questions of servers to the person whose call is running.

mod fields;

use std::io;
use std::time::Duration;

use hermes_core::{
    Answer, AnsweredBy, Decider, Form, Question, QuestionId, QuestionKind, Reach, Reply,
};
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use super::{Caller, Ears};
use crate::Link;

/// Most bytes of what a server asks; nobody reads more before saying yes.
const LONGEST: usize = 32 * 1024;

/// How much longer than the question itself its answer is waited for.
const GUARD: Duration = Duration::from_secs(5);

/// Asks, and answers the server whatever happens: what goes wrong is a no.
pub(super) async fn answer(
    ears: &Ears,
    request: ElicitRequestParams,
    task: Option<&str>,
    gone: &CancellationToken,
) -> ElicitResult {
    let decline = ElicitResult::new(ElicitationAction::Decline);
    let Some(_place) = ears.callers.place(&ears.server) else {
        return ElicitResult::new(ElicitationAction::Cancel);
    };
    if !fits(&request) {
        tracing::warn!(
            server = &*ears.server,
            "a question that is far too long was declined"
        );
        return decline;
    }
    let asked = ears.callers.behind(task).await;
    let Some(caller) = asked.filter(|_| ears.elicitation.enabled) else {
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

fn fits(request: &ElicitRequestParams) -> bool {
    let mut left = Room(LONGEST);
    serde_json::to_writer(&mut left, request).is_ok()
}

/// Shows the pages a server wants to be opened before it does what was asked; whether all were dealt with.
pub(super) async fn visited(ears: &Ears, caller: &Caller, links: &[Link]) -> bool {
    if !ears.elicitation.enabled || links.is_empty() {
        return false;
    }
    let _open = ears.callers.ask();
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

/// Servers ask the person: links may let somebody in, and consent is theirs to give.
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
                editable: false,
                decider: Decider::Person,
            })
            .await;
        match reply.answer {
            Answer::Deny { .. } | Answer::Instead(_) | Answer::Dismiss => refusal(&reply),
            Answer::AllowOnce
            | Answer::AllowSession
            | Answer::AllowAlways
            | Answer::Text(_)
            | Answer::Filled(_) => ElicitResult::new(ElicitationAction::Accept),
        }
    }

    /// Asks for the fields of a form, all at once.
    async fn form(&self, message: &str, schema: &Json) -> ElicitResult {
        let server = &*self.ears.server;
        let Some(fields) = fields::of(schema) else {
            tracing::warn!(server, "a form with too many fields was declined");
            return ElicitResult::new(ElicitationAction::Decline);
        };
        let form = Form {
            from: format!("MCP server {server} asks"),
            text: message.to_owned(),
            fields,
        };
        if form.fields.is_empty() {
            return self.yes_or_no(form).await;
        }
        let reply = self.put(QuestionKind::Form(form.clone())).await;
        let values = match &reply.answer {
            Answer::Filled(values) => Some(values.clone()),
            // Whoever can only say words gives the one value there is, or takes what is proposed.
            Answer::Text(text) => match form.fields.as_slice() {
                [_] => form.filled(|_| Some(text.as_str())),
                _ => form.proposal(),
            },
            Answer::AllowOnce | Answer::AllowSession | Answer::AllowAlways => form.proposal(),
            Answer::Deny { .. } | Answer::Instead(_) | Answer::Dismiss => return refusal(&reply),
        };
        match values {
            Some(values) => {
                ElicitResult::new(ElicitationAction::Accept).with_content(Json::Object(values))
            }
            None => ElicitResult::new(ElicitationAction::Decline),
        }
    }

    /// A form without fields asks for nothing but consent.
    async fn yes_or_no(&self, form: Form) -> ElicitResult {
        let reply = self
            .put(QuestionKind::Approval {
                action: form.text,
                reasons: vec![form.from],
                marks: Vec::new(),
                reach: Reach::Once,
                editable: false,
                decider: Decider::Person,
            })
            .await;
        match reply.answer {
            Answer::Deny { .. } | Answer::Dismiss => refusal(&reply),
            _ => ElicitResult::new(ElicitationAction::Accept).with_content(json!({})),
        }
    }
}

/// Takes so many bytes and keeps none.
struct Room(usize);

impl io::Write for Room {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = self.0.checked_sub(bytes.len());
        self.0 = left.ok_or_else(|| io::Error::from(io::ErrorKind::FileTooLarge))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A person's no declines; what was put away, and what nobody answered, is withdrawn.
fn refusal(reply: &Reply) -> ElicitResult {
    let declined = reply.answer != Answer::Dismiss;
    ElicitResult::new(match reply.by {
        AnsweredBy::Person(_) | AnsweredBy::Rule(_) if declined => ElicitationAction::Decline,
        AnsweredBy::Person(_)
        | AnsweredBy::Rule(_)
        | AnsweredBy::Program(_)
        | AnsweredBy::Runtime
        | AnsweredBy::Stopped => ElicitationAction::Cancel,
    })
}
