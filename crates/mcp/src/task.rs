//! What the protocol says about tasks: calls that a server carries out behind our back, as of 2025-11-25.

use std::time::Duration;

use rmcp::model::{ClientRequest, CustomRequest, JsonObject, ServerCapabilities};
use serde_json::{Map, Value as Json, json};

use crate::Failure;
use crate::requests::Following;
use crate::transport::{EXECUTION, TASK, TASKS};

/// How often a task is asked about when the server does not say.
const USUAL_INTERVAL: Duration = Duration::from_secs(1);
/// Bounds of what a server may say.
const INTERVALS: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));
/// The news that a task is in another state, which may come or not.
pub(crate) const NEWS: &str = "notifications/tasks/status";
/// Where a question of a server names the task it belongs to.
const RELATED: &str = "io.modelcontextprotocol/related-task";

/// A task that was started.
pub(crate) struct Task {
    pub(crate) id: String,
    pub(crate) interval: Duration,
    /// Hears how far the call that started it is, until the task is over.
    pub(crate) following: Following,
}

/// How a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Working,
    InputRequired,
    Completed,
    Failed,
    Cancelled,
}

/// What a server says about a task.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) status: Status,
    pub(crate) message: Option<String>,
    pub(crate) interval: Option<Duration>,
}

/// Whether a server carries out calls of tools as tasks.
pub(crate) fn is_offered(capabilities: &ServerCapabilities) -> bool {
    let tasks = capabilities.experimental.as_ref();
    let tasks = tasks.and_then(|found| found.get(TASKS));
    let requests = tasks.and_then(|tasks| tasks.get("requests"));
    requests.is_some_and(|requests| requests.pointer("/tools/call").is_some())
}

/// Whether an entry of a list of tools wants to be called as a task.
pub(crate) fn is_needed(tool: &Json) -> bool {
    let execution = tool.get("_meta").and_then(|meta| meta.get(EXECUTION));
    let support = execution.and_then(|execution| execution.get("taskSupport"));
    support.and_then(Json::as_str) == Some("required")
}

/// The task that a question of a server belongs to.
pub(crate) fn related(meta: Option<&JsonObject>) -> Option<&str> {
    meta?.get(RELATED)?.get("taskId")?.as_str()
}

/// Starts a call as a task, whose result is kept for `keep`.
pub(crate) fn start(name: &str, arguments: &Map<String, Json>, keep: Duration) -> ClientRequest {
    let keep = u64::try_from(keep.as_millis()).unwrap_or(u64::MAX);
    let params = json!({ "name": name, "arguments": arguments, "task": { "ttl": keep } });
    ClientRequest::CustomRequest(CustomRequest::new("tools/call", Some(params)))
}

/// Asks about a task: how it stands (`get`), what came of it (`result`), or to give it up (`cancel`).
pub(crate) fn about(id: &str, what: &str) -> ClientRequest {
    let params = json!({ "taskId": id });
    ClientRequest::CustomRequest(CustomRequest::new(format!("tasks/{what}"), Some(params)))
}

impl Task {
    /// Reads the answer to `start`; nothing when the server did what was asked at once.
    pub(crate) fn read(answer: &Json, following: Following) -> Result<Option<Self>, Failure> {
        let Some(task) = answer.get("task") else {
            return Ok(None);
        };
        let id = task.get("taskId").and_then(Json::as_str);
        let id = id.filter(|id| !id.is_empty()).ok_or_else(|| {
            let text = "the server started a task without an id".to_owned();
            Failure::Protocol { text }
        })?;
        Ok(Some(Self {
            id: id.to_owned(),
            interval: interval(task).unwrap_or(USUAL_INTERVAL),
            following,
        }))
    }
}

impl Report {
    /// Reads the answer to `get`.
    pub(crate) fn read(answer: &Json) -> Result<Self, Failure> {
        let task = answer.get(TASK).unwrap_or(answer);
        let text = |key: &str| task.get(key).and_then(Json::as_str);
        let status = match text("status") {
            Some("working") => Status::Working,
            Some("input_required") => Status::InputRequired,
            Some("completed") => Status::Completed,
            Some("failed") => Status::Failed,
            Some("cancelled") => Status::Cancelled,
            other => {
                let other: String = other.unwrap_or("none").chars().take(40).collect();
                let text = format!("the server names a status of a task nobody knows: {other}");
                return Err(Failure::Protocol { text });
            }
        };
        Ok(Self {
            status,
            message: text("statusMessage").map(str::to_owned),
            interval: interval(task),
        })
    }

    /// The answer of a tool in the place of one that the server does not give.
    pub(crate) fn as_failed(&self, why: &str) -> Json {
        let text = match &self.message {
            Some(message) => format!("{why}: {message}"),
            None => why.to_owned(),
        };
        json!({ "content": [{ "type": "text", "text": text }], "isError": true })
    }
}

fn interval(task: &Json) -> Option<Duration> {
    let milliseconds = task.get("pollInterval")?.as_f64()?;
    let (least, most) = INTERVALS;
    let asked = Duration::try_from_secs_f64(milliseconds / 1000.0).unwrap_or(most);
    Some(asked.clamp(least, most))
}

#[cfg(test)]
mod tests {
    use super::*;

    // MCP-88
    #[test]
    fn intervals_are_those_of_the_server_within_bounds() {
        let of = |value: Json| interval(&json!({ "pollInterval": value }));
        assert_eq!(of(json!(1500)), Some(Duration::from_millis(1500)));
        assert_eq!(of(json!(0)), Some(INTERVALS.0));
        assert_eq!(of(json!(1e300)), Some(INTERVALS.1));
        assert_eq!(of(json!(-5)), Some(INTERVALS.1));
        assert_eq!(of(Json::Null), None);
    }

    // MCP-88
    #[test]
    fn a_status_nobody_knows_is_named() {
        let read = |status: Json| Report::read(&json!({ TASK: { "status": status } }));
        assert_eq!(read(json!("failed")).unwrap().status, Status::Failed);
        for status in [json!("sleeping"), json!(7), Json::Null] {
            assert!(matches!(read(status), Err(Failure::Protocol { .. })));
        }
    }
}
