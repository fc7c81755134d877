//! `terminal`: one command of the session's shell, in the foreground or behind it.

mod background;
mod disabled;
mod foreground;
mod sudo;
mod unsent;

use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_core::{Effect, Handling, Tool, ToolContext, ToolOutcome, ToolSpec};
use hermes_exec::ExecError;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::arguments::{read, text};
use crate::workplace::{Confined, Limits, Workplace};

pub use disabled::DisabledTerminal;

/// What a call may take beyond its command: questions to a person, a sandbox that is made first.
const BESIDE_THE_COMMAND: Duration = Duration::from_secs(600);

/// Runs commands.
pub struct Terminal {
    spec: ToolSpec,
    place: Arc<Workplace>,
}

#[derive(Deserialize)]
struct Asked {
    command: String,
    #[serde(default)]
    background: bool,
    #[serde(default)]
    timeout: Option<u64>,
    #[serde(default)]
    workdir: Option<String>,
    #[serde(default)]
    pty: bool,
    #[serde(default)]
    notify_on_complete: bool,
    #[serde(default)]
    watch_patterns: Vec<String>,
}

impl Terminal {
    /// What the model is told.
    pub(crate) fn described(Limits { usual, most }: Limits) -> ToolSpec {
        ToolSpec {
            name: "terminal".to_owned(),
            description: "Run a bash command. Directory, exported variables, functions and aliases carry over to \
                          the next call. Servers, watchers and anything long go to the background: read and \
                          stop them with `process`. Use the file tools rather than cat, sed or echo for files."
                .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "command": {"type": "string"},
                    "background": {"type": "boolean", "description": "Start it and go on; answers with a session_id for `process`."},
                    "timeout": {"type": "integer", "minimum": 1, "description": format!("Seconds, {} by default and {} at most in the foreground.", usual.as_secs(), most.as_secs())},
                    "workdir": {"type": "string", "description": "Where to run it, instead of where the last command ended."},
                    "pty": {"type": "boolean", "description": "Give it a terminal, for programs that insist on one."},
                    "notify_on_complete": {"type": "boolean", "description": "Background: say so when it ends."},
                    "watch_patterns": {"type": "array", "items": {"type": "string"}, "description": "Background: say so when a line contains one of these."},
                },
                "required": ["command"],
            }),
            effect: Effect::Mutating,
        }
    }

    /// The tool for a session's workplace.
    pub fn new(place: Arc<Workplace>) -> Self {
        Self {
            spec: Self::described(place.limits),
            place,
        }
    }
}

impl Tool for Terminal {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn handling(&self) -> Handling {
        Handling {
            deadline: self.place.limits.most.max(self.place.limits.usual) + BESIDE_THE_COMMAND,
            ..Handling::default()
        }
    }

    fn call<'a>(&'a self, arguments: Json, context: &'a ToolContext) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move {
            if let Some(why) = no_command(&arguments) {
                return Ok(failed("error", why));
            }
            let asked: Asked = read(arguments)?;
            let confined = &self.place.confinement.get().await;
            if let Confined::Refused(why) = confined {
                return Ok(failed("disabled", why));
            }
            if let Some(character) = asked
                .workdir
                .as_deref()
                .and_then(hermes_exec::guidance::bad_workdir_character)
            {
                return Ok(failed(
                    "blocked",
                    &format!("workdir must not contain {character:?}"),
                ));
            }
            if asked.background {
                background::start(&self.place, confined, asked, context).await
            } else {
                foreground::run(&self.place, confined, asked, context).await
            }
        })
    }
}

/// Why there is nothing to run.
fn no_command(arguments: &Json) -> Option<&'static str> {
    match arguments.get("command") {
        None => Some("there is no command; give it as a string"),
        Some(Json::String(command)) => command.trim().is_empty().then_some("the command is empty"),
        Some(_) => Some("the command must be a string, with its arguments in it"),
    }
}

/// A command that did not run because of this.
fn unable(error: &ExecError) -> hermes_core::ToolResult {
    let status = match error {
        ExecError::Unavailable { .. } => "disabled",
        ExecError::Gone(_)
        | ExecError::TimedOut { .. }
        | ExecError::Cancelled
        | ExecError::Confinement(_)
        | ExecError::Io { .. } => "error",
    };
    failed(status, &error.to_string())
}

/// A command that did not run.
fn failed(status: &str, error: &str) -> hermes_core::ToolResult {
    text(json!({"output": "", "exit_code": -1, "error": error, "status": status}).to_string())
}
