//! The tool itself: approval, interpreter, limits, and the answer.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_core::{Effect, Handling, Tool, ToolContext, ToolOutcome, ToolSpec};
use hermes_exec::{ExecError, Input, Launch, Place, RunId, strip_ansi};
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};
use tokio::time::Instant;

use super::calls::ScriptCalls;
use super::environment::scrubbed;
use super::session::{self, End, Files, Order, Ran};
use super::stub;
use crate::arguments::{read, refuse, text};
use crate::guard::{Action, Clearance};
use crate::stopwatch::Stopwatch;
use crate::workplace::{Confined, LET_OUT, Workplace, refused_by_sandbox};

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

/// What came of a script.
struct Outcome {
    ran: Ran,
    made: u32,
    confined: Confined,
    /// Why it was not let out of its sandbox.
    note: Option<String>,
}

impl Outcome {
    /// The line by which it tells that its sandbox was in the way.
    fn refused(&self) -> Option<String> {
        match self.ran.end {
            End::Code(code) => refused_by_sandbox(&self.confined, &self.ran.complaint.text, code),
            End::TimedOut | End::Interrupted | End::Failed(_) => None,
        }
    }
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

    /// Runs a script. When the sandbox was in its way, a person is asked, once, whether it may run again without.
    async fn run(
        &self,
        code: &str,
        confined: Confined,
        context: &ToolContext,
    ) -> Result<Outcome, String> {
        let scratch = &self.place.scratch;
        let (ran, made) = self.once(code, &confined, scratch, context).await?;
        let inside = Outcome {
            ran,
            made,
            confined,
            note: None,
        };
        let Some(line) = inside.refused() else {
            return Ok(inside);
        };
        let action = Action::script_outside("execute_code", code, &line);
        let place = &self.place;
        if let Clearance::Refused(why) = place.guard.clear(&action, place, context).await {
            return Ok(Outcome {
                note: Some(why),
                ..inside
            });
        }
        // Where confined commands cannot write: one that still runs would decide what the script says.
        let folder = place.outside.folder().await;
        let folder = folder.map_err(|error| error.to_string())?;
        let confined = Confined::Not(LET_OUT.to_owned());
        let (ran, made) = self.once(code, &confined, folder, context).await?;
        Ok(Outcome {
            ran,
            made,
            confined,
            note: None,
        })
    }

    async fn once(
        &self,
        code: &str,
        confined: &Confined,
        scratch: &Path,
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
        // What the script may take is counted without the time in which a person is asked for it.
        let (stopwatch, context) = Stopwatch::around(context);
        let calls = ScriptCalls {
            context: &context,
            host,
            token: &token,
            callable: &callable,
            most: self.settings.most_calls,
            made: AtomicU32::new(0),
        };
        let mut environment = scrubbed(
            &place.environment,
            &self.settings.passthrough,
            self.settings.time_zone.as_deref(),
        );
        environment.extend(place.granted.variables());
        let order = self.order(code, scratch, &name, &token, &callable);
        let launch = Launch {
            id: RunId::new(name),
            argv: vec!["python3".to_owned()],
            directory: None,
            environment,
            input: Input::Pipe,
            confinement: confined.confinement(),
        };
        let ran = session::run(
            &place.backend,
            launch,
            &order,
            &calls,
            stopwatch.over(self.settings.timeout),
            &context.cancel,
        )
        .await
        .map_err(|error| not_started(&error))?;
        Ok((ran, calls.made()))
    }

    fn order(
        &self,
        code: &str,
        scratch: &Path,
        name: &str,
        token: &str,
        callable: &[&'static str],
    ) -> Order {
        let directory = self.place.directory().into_os_string();
        let folder = format!("hermes_exec_{:016x}", self.place.random.next_u64());
        Order {
            folder: scratch.join(folder).display().to_string(),
            directory: self
                .settings
                .in_project
                .then(|| directory.into_encoded_bytes()),
            python: self.interpreter(),
            environment: vec![("HERMES_RPC_TOKEN".to_owned(), token.to_owned())],
            name: name.to_owned(),
            files: Files {
                module: stub::module(callable),
                script: code.to_owned(),
            },
        }
    }

    fn present(&self, outcome: &Outcome, took: Duration) -> Json {
        let Outcome {
            ran,
            made,
            confined,
            note,
        } = outcome;
        let redactor = self.place.redactor.snapshot();
        let clean = |text: &str| {
            redactor
                .redact_in(self.place.masking.of_script(), strip_ansi(text).trim_end())
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
        add("tool_calls_made", (*made).into());
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
        if let Some(note) = note {
            add("sandbox_note", note.as_str().into());
        }
        Json::Object(answer)
    }
}

/// Why nothing of a script ran.
fn not_started(error: &ExecError) -> String {
    match error {
        ExecError::Io { source, .. } if source.kind() == ErrorKind::NotFound => {
            "there is no python3 on the PATH; install it, or do this with terminal".to_owned()
        }
        other => other.to_string(),
    }
}

impl Tool for ExecuteCode {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn handling(&self) -> Handling {
        Handling {
            // Twice: a script may run again outside the sandbox.
            deadline: self.settings.timeout * 2 + BESIDE_THE_SCRIPT,
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
            if let Confined::Refused(why) = &confined {
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
            let outcome = self.run(&asked.code, confined, context).await;
            let outcome = outcome.map_err(refuse)?;
            Ok(text(self.present(&outcome, started.elapsed()).to_string()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // EX-32
    #[test]
    fn a_missing_interpreter_is_named_with_what_to_do() {
        let failed = |kind: ErrorKind| {
            let (what, source) = ("starting python3".to_owned(), kind.into());
            not_started(&ExecError::Io { what, source })
        };
        let told = failed(ErrorKind::NotFound);
        assert!(
            told.contains("no python3") && told.contains("install it"),
            "{told}"
        );
        assert!(failed(ErrorKind::OutOfMemory).starts_with("starting python3: "));
    }
}
