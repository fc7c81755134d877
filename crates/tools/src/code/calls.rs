//! What a script may ask of the session, checked call by call.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use hermes_core::{ToolContext, ToolError, ToolHost};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::session::Calls;
use crate::stopwatch::Stopwatch;

/// How long one call may take, without the time in which a person is asked.
const CALL_LIMIT: Duration = Duration::from_secs(300);
/// Arguments of `terminal` that scripts do not have: what they start must end with them.
const NOT_FOR_SCRIPTS: &[&str] = &["background", "pty", "notify_on_complete", "watch_patterns"];

/// The calls of one script.
pub(super) struct ScriptCalls<'a> {
    pub(super) context: &'a ToolContext,
    pub(super) host: &'a Arc<dyn ToolHost>,
    pub(super) token: &'a str,
    pub(super) callable: &'a [&'static str],
    pub(super) most: u32,
    pub(super) made: AtomicU32,
}

#[derive(Deserialize)]
struct Request {
    tool: String,
    #[serde(default)]
    args: serde_json::Map<String, Json>,
    #[serde(default)]
    token: String,
}

impl ScriptCalls<'_> {
    /// How many calls were let through.
    pub(super) fn made(&self) -> u32 {
        self.made.load(Ordering::Relaxed).min(self.most)
    }

    async fn reply(&self, line: &[u8]) -> Result<Json, String> {
        let request: Request =
            serde_json::from_slice(line).map_err(|error| format!("not a call: {error}"))?;
        if !same(&request.token, self.token) {
            return Err("the token is wrong".to_owned());
        }
        if !self.callable.contains(&request.tool.as_str()) {
            let known = self.callable.join(", ");
            return Err(format!(
                "scripts have no tool {}; they have: {known}",
                request.tool
            ));
        }
        if self.made.fetch_add(1, Ordering::Relaxed) >= self.most {
            return Err(format!(
                "a script may make {} calls (code_execution.max_tool_calls)",
                self.most
            ));
        }
        let mut arguments = request.args;
        if request.tool == "terminal" {
            arguments.retain(|name, _| !NOT_FOR_SCRIPTS.contains(&name.as_str()));
        }
        let (stopwatch, context) = Stopwatch::around(self.context);
        let arguments = Json::Object(arguments);
        tokio::select! {
            biased;
            outcome = self.host.call(&request.tool, arguments, &context) => match outcome {
                Ok(result) => Ok(Json::String(result.content)),
                Err(error) => reply_to(&error),
            },
            () = stopwatch.over(CALL_LIMIT) => {
                Err(format!("no result within {} s", CALL_LIMIT.as_secs()))
            }
        }
    }
}

/// What a script is told of a call that failed: what the tool answered, where that is more than words.
fn reply_to(error: &ToolError) -> Result<Json, String> {
    let answered = match error {
        ToolError::ForModel { message } => serde_json::from_str(message).ok(),
        ToolError::OutcomeUnknown { .. } | ToolError::TimedOut { .. } | ToolError::Cancelled => {
            None
        }
    };
    answered
        .filter(Json::is_object)
        .ok_or_else(|| error.to_string())
}

impl Calls for ScriptCalls<'_> {
    fn answer<'a>(&'a self, line: &'a [u8]) -> BoxFuture<'a, Json> {
        Box::pin(async move {
            self.reply(line)
                .await
                .unwrap_or_else(|error| json!({ "error": error }))
        })
    }
}

/// Takes the same time wherever the two differ.
fn same(given: &str, wanted: &str) -> bool {
    let differences = given
        .bytes()
        .zip(wanted.bytes())
        .fold(0, |seen, (left, right)| seen | (left ^ right));
    differences == 0 && given.len() == wanted.len()
}
