//! `process`: what runs in the background.

use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_core::{Effect, Handling, Tool, ToolContext, ToolOutcome, ToolSpec};
use hermes_exec::{Killed, ProcessError, ProcessInfo, ProcessLog, ProcessState, Waited};
use hermes_policy::Typed;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use crate::arguments::{read, refuse, text};
use crate::guard::{self, Clearance};
use crate::workplace::{Refused, Workplace};

/// Characters of output with each action.
const POLLED: usize = 1_000;
const WAITED: usize = 2_000;
/// Characters of a command in a list.
const COMMAND: usize = 200;
/// Characters of it in every other answer: whoever started it knows the rest.
const LONG_COMMAND: usize = 1_000;
/// What a call may take beyond waiting: a question to a person.
const BESIDE_WAITING: Duration = Duration::from_secs(600);
/// How often a text is judged again because somebody else typed meanwhile.
const MOST_JUDGED: usize = 5;
/// Lines of a log unless more are asked for.
const LINES: usize = 200;

/// Looks after background processes.
pub struct Process {
    spec: ToolSpec,
    place: Arc<Workplace>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    List,
    Poll,
    Log,
    Wait,
    Kill,
    Write,
    Submit,
    Close,
}

#[derive(Deserialize)]
struct Asked {
    action: Action,
    #[serde(default)]
    session_id: Option<Json>,
    #[serde(default)]
    data: Option<String>,
    #[serde(default)]
    timeout: Option<u64>,
    #[serde(default)]
    offset: Option<usize>,
    #[serde(default)]
    limit: Option<usize>,
}

impl Process {
    /// What the model is told.
    pub(crate) fn described() -> ToolSpec {
        ToolSpec {
            name: "process".to_owned(),
            description: "Look after processes that `terminal` started in the background: list them, poll one, read \
                          its log, wait for its end, kill it with everything it started, write to its input \
                          (submit adds a new line, close ends the input)."
                .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "action": {"type": "string", "enum": ["list", "poll", "log", "wait", "kill", "write", "submit", "close"]},
                    "session_id": {"type": "string", "description": "Which one; not for list."},
                    "data": {"type": "string", "description": "For write and submit."},
                    "timeout": {"type": "integer", "minimum": 1, "description": "Seconds to wait."},
                    "offset": {"type": "integer", "description": "First line of the log; 0 is the last ones."},
                    "limit": {"type": "integer", "minimum": 1, "description": "Lines of the log, 200 by default."},
                },
                "required": ["action"],
            }),
            effect: Effect::Mutating,
        }
    }

    /// The tool for a session's workplace.
    pub fn new(place: Arc<Workplace>) -> Self {
        Self {
            spec: Self::described(),
            place,
        }
    }

    async fn act(&self, asked: Asked, context: &ToolContext) -> Result<Json, ProcessError> {
        let processes = &self.place.processes;
        let id = asked.id();
        let data = asked.data.unwrap_or_default();
        Ok(match asked.action {
            Action::List => {
                let all = processes.list().await?;
                let session = context.session.as_str();
                let shown: Vec<Json> = all
                    .iter()
                    .filter(|info| info.session == session)
                    .map(listed)
                    .collect();
                json!({ "processes": shown })
            }
            Action::Poll => {
                let info = processes.poll(&id, POLLED).await?;
                let preview = info.output.as_str();
                let answer = with(about(&info), [("output_preview", preview.into())]);
                self.noted(answer, &info, context).await
            }
            Action::Log => {
                let limit = asked.limit.unwrap_or(LINES).max(1);
                let log = processes.log(&id, asked.offset.unwrap_or(0), limit).await?;
                let answer = page(&log);
                if log.first_line + log.line_count < log.total_lines {
                    return Ok(answer);
                }
                let info = ProcessInfo {
                    output: log.text,
                    ..log.info
                };
                self.noted(answer, &info, context).await
            }
            Action::Wait => self.wait(&id, asked.timeout, context).await?,
            Action::Kill => match processes.kill(&id, WAITED).await? {
                Killed::Killed(info) => ended("killed", &info),
                Killed::AlreadyExited(info) => ended("already_exited", &info),
                Killed::Survived(info) => with(
                    ended("error", &info),
                    [("error", "it does not react to being killed".into())],
                ),
            },
            Action::Write => self.typed(&id, &data, context).await?,
            Action::Submit => self.typed(&id, &format!("{data}\n"), context).await?,
            Action::Close => {
                processes.close_input(&id).await?;
                json!({"status": "ok"})
            }
        })
    }

    /// Hands a text to a process. A shell would run it, so it passes the rules a command passes.
    async fn typed(
        &self,
        id: &str,
        text: &str,
        context: &ToolContext,
    ) -> Result<Json, ProcessError> {
        let processes = &self.place.processes;
        let info = processes.poll(id, 0).await?;
        for _ in 0..MOST_JUDGED {
            let before = processes.typed(id).await?;
            let typed = Typed {
                command: &info.command,
                before: &before.text,
                beginning_lost: before.beginning_lost,
                text,
            };
            let action = guard::Action::typed("process", typed, &info.directory);
            let guard = &self.place.guard;
            let cleared = match guard.clear(&action, &self.place, context).await {
                Clearance::Refused(why) => return Ok(json!({"status": "blocked", "error": why})),
                Clearance::Cleared(cleared) => cleared,
            };
            let written = processes.write_after(id, &before, text.as_bytes()).await;
            // It would come after something else than it was judged by.
            if matches!(written, Err(ProcessError::TypedMeanwhile)) {
                continue;
            }
            let answer = json!({"status": "ok", "bytes_written": written?});
            return Ok(match cleared.note {
                Some(note) => with(answer, [("approval", note.into())]),
                None => answer,
            });
        }
        Err(ProcessError::TypedMeanwhile)
    }

    async fn wait(
        &self,
        id: &str,
        asked: Option<u64>,
        context: &ToolContext,
    ) -> Result<Json, ProcessError> {
        let most = self.place.limits.usual;
        let wanted = asked.map_or(most, Duration::from_secs);
        let limit = wanted.min(most);
        let waited = self
            .place
            .processes
            .wait(id, limit, &context.cancel, WAITED)
            .await?;
        Ok(match waited {
            Waited::Exited(info) => self.noted(ended("exited", &info), &info, context).await,
            Waited::TimedOut(info) => {
                let mut note = format!("it still runs after {} s", limit.as_secs());
                if wanted > most {
                    note.push_str(&format!("; one wait takes {} s at most", most.as_secs()));
                }
                with(ended("timeout", &info), [("timeout_note", note.into())])
            }
            Waited::Interrupted(info) => ended("interrupted", &info),
        })
    }

    /// Adds what came of a sandbox that was in the way of a process which has ended.
    async fn noted(&self, answer: Json, info: &ProcessInfo, context: &ToolContext) -> Json {
        match self.place.if_refused(info, context).await {
            None => answer,
            Some(Refused::In(why)) => with(answer, [("sandbox_note", why.into())]),
            Some(Refused::Out(started)) => {
                let note = format!(
                    "the sandbox was in its way; as allowed, it runs again outside as {}",
                    started.id
                );
                let again = ("restarted_as", started.id.into());
                with(answer, [again, ("sandbox_note", note.into())])
            }
        }
    }
}

impl Asked {
    /// Models write the name as a number now and then.
    fn id(&self) -> String {
        match &self.session_id {
            Some(Json::String(id)) => id.trim().to_owned(),
            Some(other) => other.to_string(),
            None => String::new(),
        }
    }
}

impl Tool for Process {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn handling(&self) -> Handling {
        Handling {
            deadline: self.place.limits.usual + BESIDE_WAITING,
            ..Handling::default()
        }
    }

    fn call<'a>(&'a self, arguments: Json, context: &'a ToolContext) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move {
            let asked: Asked = read(arguments)?;
            if !matches!(asked.action, Action::List) && asked.id().is_empty() {
                return Err(refuse("session_id is missing: which process?"));
            }
            match self.act(asked, context).await {
                Ok(answer) => Ok(text(answer.to_string())),
                Err(ProcessError::NotFound(id)) => {
                    let error = format!("there is no process {id}; action=list shows them");
                    Ok(text(
                        json!({"status": "not_found", "error": error}).to_string(),
                    ))
                }
                Err(error) => Ok(text(
                    json!({"status": "error", "error": error.to_string()}).to_string(),
                )),
            }
        })
    }
}

/// What every answer about a process says.
fn about(info: &ProcessInfo) -> Json {
    let mut answer = json!({
        "session_id": info.id,
        "command": cut(&info.command, LONG_COMMAND),
        "status": "running",
        "pid": info.pid,
        "uptime_seconds": info.uptime.as_secs(),
    });
    if let ProcessState::Exited { exit_code, reason } = info.state {
        answer["status"] = "exited".into();
        answer["exit_code"] = exit_code.map_or(Json::Null, Json::from);
        answer["completion_reason"] = reason.word().into();
        answer["termination_source"] = reason.source().into();
    }
    if info.detached {
        answer["detached"] = true.into();
        answer["note"] =
            "an earlier run of Hermes started it: it can be killed, but not read or written".into();
    }
    answer
}

fn with<const N: usize>(answer: Json, more: [(&str, Json); N]) -> Json {
    let mut fields = match answer {
        Json::Object(fields) => fields,
        other => Map::from_iter([("value".to_owned(), other)]),
    };
    for (name, value) in more {
        fields.insert(name.to_owned(), value);
    }
    Json::Object(fields)
}

fn cut(command: &str, most: usize) -> String {
    command.chars().take(most).collect()
}

/// A page of output.
fn page(log: &ProcessLog) -> Json {
    let last = log.first_line + log.line_count;
    let showing = format!(
        "lines {} to {last} of {}",
        log.first_line + 1,
        log.total_lines
    );
    let mut answer = with(
        about(&log.info),
        [
            ("output", log.text.as_str().into()),
            ("total_lines", log.total_lines.into()),
            ("showing", showing.into()),
        ],
    );
    if log.beginning_lost {
        answer["beginning_lost"] = true.into();
    }
    answer
}

fn ended(status: &str, info: &ProcessInfo) -> Json {
    let output = info.output.as_str();
    with(
        about(info),
        [("status", status.into()), ("output", output.into())],
    )
}

fn listed(info: &ProcessInfo) -> Json {
    let preview = info.output.as_str();
    let mut answer = with(
        about(info),
        [
            ("command", cut(&info.command, COMMAND).into()),
            ("cwd", info.directory.display().to_string().into()),
            ("started_at", info.started_at.into()),
            ("output_preview", preview.into()),
        ],
    );
    if info.notify_on_complete {
        answer["notify_on_complete"] = true.into();
    }
    if !info.watch_patterns.is_empty() {
        answer["watch_patterns"] = info.watch_patterns.clone().into();
        answer["watch_hit"] = info.watch_hit.into();
    }
    answer
}
