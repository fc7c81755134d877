//! The tool itself: approval, interpreter, limits, and the answer.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_core::{Effect, Handling, Tool, ToolContext, ToolOutcome, ToolSpec};
use hermes_exec::{Input, Launch, Place, RunId, strip_ansi};
use hermes_secrets::Scope;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};
use tokio::time::Instant;

use super::calls::ScriptCalls;
use super::environment::scrubbed;
use super::session::{self, End, Files, Order, Ran};
use super::stub;
use crate::arguments::{read, refuse, text};
use crate::guard::{Action, Clearance};
use crate::workplace::{Confined, Workplace};

/// What a call may take beyond its script: questions to a person, a sandbox that is made first.
const BESIDE_THE_SCRIPT: Duration = Duration::from_secs(300);

/// How scripts are run.
#[derive(Debug, Clone)]
pub struct CodeSettings {
    /// Whether scripts run in the project, with its interpreter, or apart from it.
    pub in_project: bool,
    /// How long a script may take.
    pub timeout: Duration,
    /// How many calls it may make.
    pub most_calls: u32,
    /// Names of variables the user lets through.
    pub passthrough: Vec<String>,
    /// The time zone scripts are told.
    pub time_zone: Option<String>,
    /// The virtual environment Hermes was started from, when there is one.
    pub project_environment: Option<PathBuf>,
}

/// Runs Python scripts.
pub struct ExecuteCode {
    spec: ToolSpec,
    place: Arc<Workplace>,
    settings: CodeSettings,
}

#[derive(Deserialize)]
struct Asked {
    code: String,
}

impl ExecuteCode {
    /// What the model is told.
    pub(crate) fn described() -> ToolSpec {
        ToolSpec {
            name: "execute_code".to_owned(),
            description: "Run a Python script that can call this session's tools: `from hermes_tools import \
                          read_file, search_files, terminal, …`; they take the same arguments and return dicts. \
                          Good for loops over many files or results, and for keeping bulky data out of the \
                          conversation: only what the script prints comes back."
                .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {"code": {"type": "string", "description": "Python source."}},
                "required": ["code"],
            }),
            effect: Effect::Mutating,
        }
    }

    /// The tool for a session's workplace.
    pub fn new(place: Arc<Workplace>, settings: CodeSettings) -> Self {
        Self {
            spec: Self::described(),
            place,
            settings,
        }
    }

    /// The interpreter on the far side, or the project's own here.
    fn interpreter(&self) -> Option<String> {
        if !self.settings.in_project || self.place.backend.place() != Place::Host {
            return None;
        }
        let python = self
            .settings
            .project_environment
            .as_ref()?
            .join("bin/python");
        python.is_file().then(|| python.display().to_string())
    }

    async fn run(
        &self,
        code: String,
        confined: &Confined,
        context: &ToolContext,
    ) -> Result<(Ran, u32), String> {
        let place = &self.place;
        let host = &context.host;
        let callable = stub::callable(&host.offered());
        let token = format!(
            "{:016x}{:016x}",
            place.random.next_u64(),
            place.random.next_u64()
        );
        let name = format!(
            "{:016x}{:016x}",
            place.random.next_u64(),
            place.random.next_u64()
        );
        let calls = ScriptCalls {
            context,
            host,
            token: &token,
            callable: &callable,
            most: self.settings.most_calls,
            made: AtomicU32::new(0),
        };
        let here = place.backend.place() == Place::Host;
        let environment = scrubbed(
            &place.environment,
            &self.settings.passthrough,
            self.settings.time_zone.as_deref(),
        );
        let directory = self
            .settings
            .in_project
            .then(|| place.directory().display().to_string());
        let order = Order {
            scratch: place.backend.scratch().display().to_string(),
            directory,
            python: self.interpreter(),
            environment: vec![("HERMES_RPC_TOKEN".to_owned(), token.clone())],
            name: name.clone(),
            files: Files {
                module: stub::module(&callable),
                script: code,
            },
        };
        let launch = Launch {
            id: RunId::new(name),
            argv: vec!["python3".to_owned()],
            directory: here.then(|| place.directory()),
            environment,
            input: Input::Pipe,
            confinement: confined.confinement(),
        };
        let ran = session::run(
            &place.backend,
            launch,
            &order,
            &calls,
            self.settings.timeout,
            &context.cancel,
        )
        .await
        .map_err(|error| error.to_string())?;
        Ok((ran, calls.made()))
    }

    fn present(&self, ran: &Ran, made: u32, took: Duration, confined: &Confined) -> Json {
        let redactor = self.place.redactor.snapshot();
        let clean = |text: &str| {
            redactor
                .redact_in(Scope::Code, strip_ansi(text).trim_end())
                .into_owned()
        };
        let mut output = clean(&ran.output.text);
        let (status, code, error) = match &ran.end {
            End::Code(0) => ("success", 0, None),
            End::Code(code) => (
                "error",
                *code,
                Some(format!("the script ended with {code}")),
            ),
            End::TimedOut => {
                let limit = self.settings.timeout.as_secs();
                let why = format!("the script was stopped after {limit} s");
                ("timeout", 124, Some(why))
            }
            End::Interrupted => ("interrupted", 130, Some("stopped".to_owned())),
            End::Failed(why) => ("error", -1, Some(why.clone())),
        };
        if status != "success" && ran.complaint.total_bytes > 0 {
            output.push_str("\n--- stderr ---\n");
            output.push_str(&clean(&ran.complaint.text));
        }
        let mut answer = Map::new();
        let mut add = |name: &str, value: Json| answer.insert(name.to_owned(), value);
        add("status", status.into());
        add("output", output.into());
        add("exit_code", code.into());
        add("tool_calls_made", made.into());
        add(
            "duration_seconds",
            ((took.as_secs_f64() * 100.0).round() / 100.0).into(),
        );
        add("stdout_truncated", (ran.output.omitted_bytes > 0).into());
        let kept = ran.output.total_bytes - ran.output.omitted_bytes;
        add("stdout_bytes_captured", kept.into());
        add("stdout_bytes_total", ran.output.total_bytes.into());
        add("stdout_bytes_omitted", ran.output.omitted_bytes.into());
        if let Some(error) = error {
            add("error", error.into());
        }
        add("backend", self.place.place().into());
        add("sandbox", confined.words().into());
        Json::Object(answer)
    }
}

impl Tool for ExecuteCode {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn handling(&self) -> Handling {
        Handling {
            deadline: self.settings.timeout + BESIDE_THE_SCRIPT,
            ..Handling::default()
        }
    }

    fn call<'a>(&'a self, arguments: Json, context: &'a ToolContext) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move {
            let asked: Asked = read(arguments)?;
            if asked.code.trim().is_empty() {
                return Err(refuse("there is no code"));
            }
            let confined = self.place.confinement.get().await;
            if let Confined::Refused(why) = confined {
                return Err(refuse(why.as_str()));
            }
            let action = Action::script("execute_code", &asked.code);
            match self.place.guard.clear(&action, &self.place, context).await {
                Clearance::Cleared(_) => self.place.before_change(None, context).await,
                Clearance::Refused(why) => {
                    let refused = json!({"status": "error", "output": "", "exit_code": -1, "tool_calls_made": 0, "error": why});
                    return Ok(text(refused.to_string()));
                }
            }
            let started = Instant::now();
            match self.run(asked.code, confined, context).await {
                Ok((ran, made)) => Ok(text(
                    self.present(&ran, made, started.elapsed(), confined)
                        .to_string(),
                )),
                Err(why) => Err(refuse(why)),
            }
        })
    }
}
