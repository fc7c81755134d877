//! One command in a sandbox: started, looked at until it has ended, cancelled when nobody waits for it any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;
use url::Url;

use crate::ExecError;
use crate::rest::{Again, Server};

/// Where commands start.
pub(super) const DIRECTORY: &str = "/root";
/// No sandbox lives longer, and so no command.
pub(super) const LONGEST_LIFE: Duration = Duration::from_secs(60 * 60);
/// Between two looks at a command. The first one comes sooner: most are short.
const LOOK: Duration = Duration::from_millis(250);
const FIRST_LOOK: Duration = Duration::from_millis(50);
/// After so many looks a command counts as long and is looked at less often.
const MANY_LOOKS: u32 = 20;
const SELDOM: Duration = Duration::from_secs(1);
/// How long after its time a command may take to be reported.
const GRACE: Duration = Duration::from_secs(10);

/// A sandbox, and the server that runs commands in it.
#[derive(Clone)]
pub(crate) struct Sandbox {
    server: Server,
    id: String,
    /// Begins the ids of all commands.
    stem: String,
    started: Arc<AtomicU64>,
}

/// What is to be run.
pub(super) struct Command {
    pub(super) id: String,
    pub(super) script: String,
    pub(super) input: Option<String>,
    pub(super) limit: Duration,
}

/// How far a command is.
#[derive(Debug, Deserialize)]
pub(super) struct Progress {
    #[serde(default, alias = "state")]
    pub(super) status: Status,
    #[serde(default)]
    pub(super) output: Option<String>,
    #[serde(default)]
    pub(super) returncode: Option<i32>,
}

/// What a command is up to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    Completed,
    Failed,
    Cancelled,
    Timeout,
    /// Not at its end.
    #[default]
    #[serde(other)]
    Running,
}

impl Sandbox {
    pub(super) fn new(server: Server, id: String, stem: String, started: Arc<AtomicU64>) -> Self {
        Self {
            server,
            id,
            stem,
            started,
        }
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn stem(&self) -> &str {
        &self.stem
    }

    /// A command that nobody else calls the same.
    pub(super) fn command(&self, script: String, limit: Duration) -> Command {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        Command {
            id: format!("{}-{number}", self.stem),
            script,
            input: None,
            limit,
        }
    }

    fn path(&self, rest: &str) -> String {
        format!("v1/sandboxes/{}/execs{rest}", self.id)
    }

    /// The request that starts a command.
    pub(super) fn request(&self, command: &Command) -> (Url, Value) {
        let limit = u64::try_from(command.limit.as_millis()).unwrap_or(u64::MAX);
        let mut body = json!({
            "execId": command.id,
            "command": command.script,
            "cwd": DIRECTORY,
            "timeoutMs": limit,
        });
        if let Some(input) = &command.input {
            body["stdinData"] = json!(input);
        }
        (self.server.base.join(&self.path("")), body)
    }

    /// Starts a command. One that may have started or not is asked about: its id is ours.
    pub(super) async fn start(&self, command: &Command) -> Result<Progress, ExecError> {
        let (_, body) = self.request(command);
        let (path, what) = (self.path(""), "starting a program");
        let started = self
            .server
            .json(Method::POST, &path, Some(&body), Again::IfRefused, what)
            .await;
        match started {
            Err(ExecError::Gone(said)) => Err(ExecError::Gone(said)),
            Err(error) => self.look(&command.id).await.map_err(|_| error),
            started => started,
        }
    }

    pub(super) async fn look(&self, id: &str) -> Result<Progress, ExecError> {
        let (path, what) = (self.path(&format!("/{id}")), "looking at a program");
        self.server
            .json(Method::GET, &path, None, Again::Yes, what)
            .await
    }

    /// Ends a command; one that has ended already is none of our business.
    pub(super) async fn cancel(&self, id: &str) {
        let (path, what) = (self.path(&format!("/{id}/cancel")), "ending a program");
        let cancelled = self
            .server
            .ask(Method::POST, &path, Some(&json!({})), Again::Yes, what)
            .await;
        if let Err(error) = cancelled {
            tracing::debug!(%error, "a program was not cancelled");
        }
    }

    /// Runs a command to its end and returns what it printed.
    pub(super) async fn run(&self, command: &Command) -> Result<String, ExecError> {
        let deadline = Instant::now() + command.limit + GRACE;
        let mut progress = self.start(command).await?;
        let mut pause = FIRST_LOOK;
        let mut looks = 0;
        while progress.status == Status::Running {
            if Instant::now() > deadline {
                self.cancel(&command.id).await;
                return Err(ExecError::TimedOut {
                    what: "a program of ours in the sandbox".to_owned(),
                    limit: command.limit,
                });
            }
            tokio::time::sleep(pause).await;
            looks += 1;
            pause = if looks < MANY_LOOKS { LOOK } else { SELDOM };
            progress = self.look(&command.id).await?;
        }
        let output = progress.output.unwrap_or_default();
        match (progress.status, progress.returncode) {
            (Status::Completed, None | Some(0)) => Ok(output),
            (status, code) => Err(ExecError::Io {
                what: format!("a program of ours ended with {status:?} and {code:?}"),
                source: std::io::Error::other(output.trim().to_owned()),
            }),
        }
    }
}
