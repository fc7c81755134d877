//! One language server that runs: the task that owns it, and the way to that.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hermes_exec::{Backend, Ending, ExecError, Input, Launch, Process, RunId, Unfinished};
use hermes_policy::Confinement;
use serde_json::{Value as Json, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::documents::Documents;
use super::findings::{Finding, new_ones};
use super::frame::{Garbled, frame, next};
use super::language::Server;
use super::{Extent, protocol};

/// A server that was silent for so long has said what it has to say.
const SETTLED: Duration = Duration::from_millis(200);
/// A server nobody asked for so long is ended; the next change starts it again.
const IDLE: Duration = Duration::from_secs(15 * 60);
/// Looks that may wait for their turn.
const QUEUE: usize = 8;
/// Messages a server may be behind with reading.
const MOST_UNREAD: usize = 64;
/// Looks in a row during which a server says nothing at all; it hangs then.
const MOST_SILENT: u32 = 3;

/// Why a server is not used any more.
#[derive(Debug, thiserror::Error)]
enum LspError {
    #[error("it has no standard input")]
    NoInput,
    #[error("it ended")]
    Ended,
    #[error("it does not read what it is told")]
    Deaf,
    #[error("it hangs: nothing came from it during {MOST_SILENT} changes")]
    Silent,
    #[error(transparent)]
    Garbled(#[from] Garbled),
    #[error("it refused to begin: {0}")]
    Refused(String),
}

/// Why a server is not there any more.
#[derive(Debug)]
enum Ended {
    Asked,
    Unused,
    Failed(LspError),
}

/// What a server is started with.
pub(super) struct Start<'a> {
    pub(super) server: &'a Server,
    pub(super) root: &'a Path,
    pub(super) environment: Vec<(String, String)>,
    pub(super) confinement: Option<Arc<Confinement>>,
    pub(super) extent: Extent,
    pub(super) number: u64,
}

/// A change to be looked at.
pub(super) struct Look {
    pub(super) uri: String,
    pub(super) language: String,
    pub(super) before: Option<String>,
    pub(super) after: String,
    pub(super) deadline: Instant,
    /// The errors the change brought; nothing when that is not known.
    pub(super) reply: oneshot::Sender<Option<Vec<Finding>>>,
}

/// Starts a server below `tasks`. The way to it closes when it ends, and it ends with `stop`.
pub(super) async fn start(
    backend: &dyn Backend,
    start: Start<'_>,
    tasks: &TaskTracker,
    stop: CancellationToken,
) -> Result<mpsc::Sender<Look>, ExecError> {
    // What it complains about goes nowhere: nobody reads it, and a full pipe would stop it.
    let mut argv: Vec<String> = ["/bin/sh", "-c", "exec \"$@\" 2>/dev/null", "sh"]
        .map(str::to_owned)
        .into();
    argv.extend(start.server.argv.iter().cloned());
    let launch = Launch {
        id: RunId::new(format!("lsp{:016x}", start.number)),
        argv,
        directory: Some(start.root.to_owned()),
        environment: start.environment,
        input: Input::Pipe,
        confinement: start.confinement,
    };
    let process = backend.spawn(launch).await?;
    let hello = protocol::initialize(start.root);
    let (name, extent) = (start.server.name.clone(), start.extent);
    let (asks, inbox) = mpsc::channel(QUEUE);
    tasks.spawn(async move {
        match serve(process, hello, extent, inbox, stop).await {
            Ended::Asked | Ended::Unused => {}
            Ended::Failed(error) => {
                tracing::warn!(server = name, %error, "a language server was ended");
            }
        }
    });
    Ok(asks)
}

/// Speaks with a server until it is not needed or not usable any more, and ends it with all it started.
async fn serve(
    process: Process,
    hello: Json,
    extent: Extent,
    asks: mpsc::Receiver<Look>,
    stop: CancellationToken,
) -> Ended {
    let unfinished = Unfinished::new(process.control.clone());
    let Some(input) = process.input else {
        return Ended::Failed(LspError::NoInput);
    };
    let (outgoing, frames) = mpsc::channel(MOST_UNREAD);
    let mut talk = Talk {
        output: process.output,
        arrived: Vec::new(),
        outgoing,
        documents: Documents::new(extent),
        ready: false,
        heard: 0,
        silent: 0,
    };
    let talking = async {
        match talk.send(&hello) {
            Ok(()) => talk.run(asks).await,
            Err(error) => Ended::Failed(error),
        }
    };
    let ended = tokio::select! {
        biased;
        () = stop.cancelled() => Ended::Asked,
        ended = talking => ended,
        () = write(input, frames) => Ended::Failed(LspError::Ended),
    };
    match process.control.end(Ending::Kill).await {
        Ok(()) => unfinished.finished(),
        Err(error) => tracing::warn!(%error, "a language server could not be ended"),
    }
    ended
}

/// Passes messages on; returns when nobody reads them.
async fn write(mut input: Box<dyn AsyncWrite + Send + Unpin>, mut frames: mpsc::Receiver<Vec<u8>>) {
    while let Some(bytes) = frames.recv().await {
        if input.write_all(&bytes).await.is_err() || input.flush().await.is_err() {
            return;
        }
    }
}

/// A conversation with a server.
struct Talk {
    output: Box<dyn AsyncRead + Send + Unpin>,
    arrived: Vec<u8>,
    outgoing: mpsc::Sender<Vec<u8>>,
    documents: Documents,
    ready: bool,
    /// Messages that came.
    heard: u64,
    /// Looks in a row without one.
    silent: u32,
}

impl Talk {
    async fn run(&mut self, mut asks: mpsc::Receiver<Look>) -> Ended {
        let mut unused = Instant::now() + IDLE;
        loop {
            tokio::select! {
                biased;
                look = asks.recv() => {
                    unused = Instant::now() + IDLE;
                    let Some(look) = look else {
                        return Ended::Unused;
                    };
                    if let Err(error) = self.answer(look).await {
                        return Ended::Failed(error);
                    }
                }
                // Read also while nobody asks: a server must never wait for us.
                heard = self.hear() => {
                    if let Err(error) = heard {
                        return Ended::Failed(error);
                    }
                }
                () = sleep_until(unused) => return Ended::Unused,
            }
        }
    }

    async fn answer(&mut self, look: Look) -> Result<(), LspError> {
        let heard = self.heard;
        let found = self.look(&look).await?;
        self.silent = match (&found, self.heard == heard) {
            (None, true) if look.deadline <= Instant::now() => self.silent + 1,
            _ => 0,
        };
        // Whoever asked may have gone on.
        let _ = look.reply.send(found);
        match self.silent >= MOST_SILENT {
            true => Err(LspError::Silent),
            false => Ok(()),
        }
    }

    /// The errors that a change brought; nothing when that is not known in time.
    async fn look(&mut self, look: &Look) -> Result<Option<Vec<Finding>>, LspError> {
        while !self.ready {
            if !self.hear_by(look.deadline).await? {
                return Ok(None);
            }
        }
        let before = match &look.before {
            None => Vec::new(),
            Some(text) => {
                // Half of the time: the other half is for what matters.
                let now = Instant::now();
                let half = now + look.deadline.saturating_duration_since(now) / 2;
                match self.findings(look, text, half).await? {
                    Some(found) => found,
                    None => {
                        // Then it is at least known by the next change.
                        self.tell(look, &look.after)?;
                        return Ok(None);
                    }
                }
            }
        };
        let after = self.findings(look, &look.after, look.deadline).await?;
        Ok(after.map(|after| new_ones(&before, after)))
    }

    /// What is found in a text of a file.
    async fn findings(
        &mut self,
        look: &Look,
        text: &str,
        deadline: Instant,
    ) -> Result<Option<Vec<Finding>>, LspError> {
        self.tell(look, text)?;
        if let Some(known) = self.documents.known(&look.uri) {
            return Ok(Some(known.clone()));
        }
        while self.documents.known(&look.uri).is_none() {
            if !self.hear_by(deadline).await? {
                return Ok(None);
            }
        }
        // Some say what they know at once and the rest a moment later.
        while self.hear_by(deadline.min(Instant::now() + SETTLED)).await? {}
        Ok(self.documents.known(&look.uri).cloned())
    }

    fn tell(&mut self, look: &Look, text: &str) -> Result<(), LspError> {
        let messages = self.documents.tell(&look.uri, &look.language, text);
        messages.iter().try_for_each(|message| self.send(message))
    }

    /// Takes one message in; false when none came in time.
    async fn hear_by(&mut self, deadline: Instant) -> Result<bool, LspError> {
        match timeout_at(deadline, self.hear()).await {
            Ok(heard) => heard.map(|()| true),
            Err(_) => Ok(false),
        }
    }

    /// Takes one message in. Nothing is lost when this is dropped halfway.
    async fn hear(&mut self) -> Result<(), LspError> {
        loop {
            if let Some(message) = next(&mut self.arrived)? {
                self.heard += 1;
                return self.take(message);
            }
            match self.output.read_buf(&mut self.arrived).await {
                Ok(0) | Err(_) => return Err(LspError::Ended),
                Ok(_) => {}
            }
        }
    }

    fn take(&mut self, message: Json) -> Result<(), LspError> {
        let field = |name: &str| message.get(name).unwrap_or(&Json::Null);
        let (method, id) = (field("method").as_str(), field("id"));
        match (method, id.is_null()) {
            (Some("textDocument/publishDiagnostics"), true) => {
                if let Ok(published) = serde_json::from_value(field("params").clone()) {
                    self.documents.publish(published);
                }
                Ok(())
            }
            (Some(_) | None, true) => Ok(()),
            (Some(method), false) => self.send(&protocol::answer(method, id, field("params"))),
            (None, false) if *id == json!(protocol::INITIALIZE) => {
                if let Some(error) = message.get("error") {
                    return Err(LspError::Refused(error.to_string()));
                }
                self.ready = true;
                self.send(&protocol::initialized())
            }
            (None, false) => Ok(()),
        }
    }

    fn send(&self, message: &Json) -> Result<(), LspError> {
        self.outgoing
            .try_send(frame(message))
            .map_err(|_| LspError::Deaf)
    }
}
