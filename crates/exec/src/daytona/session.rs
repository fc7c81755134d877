//! A shell in a sandbox, through a session of the toolbox: input as requests, output as a log that is followed.

use std::time::Duration;

use hermes_http::{WebSocket, WebSocketMessage};
use http::Method;
use serde::Deserialize;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::relay::{CHUNK, Log, Said};
use crate::rest::{Again, Server};
use crate::supervise::{Channel, Closed, Crew, Ends, Role};
use crate::{ExecError, relay};

/// How often a session that may have been made or not is made under another name.
const STARTS: u32 = 3;
/// How often a log whose stream broke is read again.
const MAX_REWINDS: u32 = 10;
const REWIND_PAUSE: Duration = Duration::from_millis(300);
/// How long removing a session may take when nobody waits for it any more.
const REMOVE: Duration = Duration::from_secs(10);

/// One session with one command in it.
#[derive(Clone)]
struct Session {
    toolbox: Server,
    path: String,
    command: String,
}

#[derive(Deserialize)]
struct Executed {
    #[serde(rename = "cmdId")]
    command: String,
}

#[derive(Deserialize)]
struct Progress {
    #[serde(rename = "exitCode", default)]
    code: Option<i32>,
}

/// Runs `role.boot()` in a session called after `name`.
pub(super) async fn open(
    toolbox: &Server,
    name: &str,
    role: Role,
    crew: &Crew,
) -> Result<Channel, ExecError> {
    let session = start(toolbox, name, role).await?;
    let log = match session.follow().await {
        Ok(log) => log,
        Err(error) => {
            session.remove().await;
            return Err(error);
        }
    };
    let (channel, ends) = Channel::served();
    let Ends { typed, shown, over } = ends;
    // Told when the shell has ended: what else is typed is for nobody.
    let ended = CancellationToken::new();
    let (stop, feeding) = (crew.stop.clone(), ended.clone());
    let feeder = session.clone();
    crew.tasks.spawn(async move {
        tokio::select! {
            () = feeder.feed(typed, feeding) => {}
            () = stop.cancelled() => {}
        }
    });
    let stop = crew.stop.clone();
    crew.tasks.spawn(async move {
        tokio::select! {
            () = session.show(log, shown, over, ended) => {}
            () = stop.cancelled() => {}
        }
        session.remove().await;
    });
    Ok(channel)
}

async fn start(toolbox: &Server, name: &str, role: Role) -> Result<Session, ExecError> {
    let what = "starting a program";
    let command = relay::command(role.boot());
    let body = json!({ "command": command, "runAsync": true, "suppressInputEcho": true });
    let mut attempt = 0;
    loop {
        attempt += 1;
        let id = format!("{name}-{attempt}");
        let path = format!("process/session/{id}");
        let make = json!({ "sessionId": id });
        let made = async {
            toolbox
                .ask(
                    Method::POST,
                    "process/session",
                    Some(&make),
                    Again::IfRefused,
                    what,
                )
                .await?;
            let exec = format!("{path}/exec");
            toolbox
                .json::<Executed>(Method::POST, &exec, Some(&body), Again::IfRefused, what)
                .await
        };
        let made = made.await;
        let mut session = Session {
            toolbox: toolbox.clone(),
            path,
            command: String::new(),
        };
        match made {
            Ok(executed) => {
                session.command = executed.command;
                return Ok(session);
            }
            Err(ExecError::Gone(said)) => return Err(ExecError::Gone(said)),
            Err(error) if attempt == STARTS => return Err(error),
            Err(error) => {
                tracing::debug!(%error, "a session is made once more");
                session.remove().await;
            }
        }
    }
}

impl Session {
    fn command_path(&self) -> String {
        format!("{}/command/{}", self.path, self.command)
    }

    async fn follow(&self) -> Result<WebSocket, ExecError> {
        let path = format!("{}/logs?follow=true", self.command_path());
        self.toolbox.websocket(&path, "following a program").await
    }

    /// Moves on what is typed until that ends, the shell ends or nobody takes it.
    async fn feed(&self, mut typed: DuplexStream, ended: CancellationToken) {
        let mut buffer = vec![0; CHUNK];
        let mut number = 0;
        loop {
            let read = tokio::select! {
                read = typed.read(&mut buffer) => read.unwrap_or(0),
                () = ended.cancelled() => 0,
            };
            let line = match buffer.get(..read) {
                Some([]) | None => relay::end(number),
                Some(bytes) => relay::input(number, bytes),
            };
            let path = format!("{}/input", self.command_path());
            let body = json!({ "data": line });
            let sent = self
                .toolbox
                .ask(
                    Method::POST,
                    &path,
                    Some(&body),
                    Again::Yes,
                    "typing into a program",
                )
                .await;
            if let Err(error) = sent {
                tracing::debug!(%error, "input was not taken");
                return;
            }
            if read == 0 {
                return;
            }
            number += 1;
        }
    }

    /// Moves on what is shown. A reader that went away does not hold up the program.
    async fn show(
        &self,
        mut stream: WebSocket,
        shown: DuplexStream,
        over: oneshot::Sender<Closed>,
        ended: CancellationToken,
    ) {
        let mut shown = Some(shown);
        let mut over = Some(over);
        let mut log = Log::default();
        let mut rewinds = 0;
        loop {
            let message = match stream.next().await {
                Ok(WebSocketMessage::Text(text)) => text.into_bytes(),
                Ok(WebSocketMessage::Binary(bytes)) => bytes.to_vec(),
                Ok(WebSocketMessage::Closed { .. }) | Err(_) => {
                    match self.again(&mut rewinds).await {
                        Ok(fresh) => stream = fresh,
                        Err(code) => {
                            tell(&mut over, code, log.complaint());
                            ended.cancel();
                            return;
                        }
                    }
                    log.rewind();
                    continue;
                }
            };
            for said in log.feed(&message) {
                match said {
                    Said::Output(bytes) => {
                        rewinds = 0;
                        if let Some(open) = shown.as_mut()
                            && open.write_all(&bytes).await.is_err()
                        {
                            shown = None;
                        }
                    }
                    Said::Code(code) => {
                        tell(&mut over, Some(code), log.complaint());
                        ended.cancel();
                    }
                    Said::End => {
                        stream.close().await;
                        return;
                    }
                }
            }
        }
    }

    /// Another stream of the same log; otherwise what is known about how the program ended.
    async fn again(&self, rewinds: &mut u32) -> Result<WebSocket, Option<i32>> {
        while *rewinds < MAX_REWINDS {
            *rewinds += 1;
            let progress: Result<Progress, ExecError> = self
                .toolbox
                .json(
                    Method::GET,
                    &self.command_path(),
                    None,
                    Again::Yes,
                    "looking at a program",
                )
                .await;
            match progress {
                // The relay itself has ended without a word, so the log has been read to its end.
                Ok(Progress { code: Some(code) }) if *rewinds > 1 => return Err(Some(code)),
                Ok(_) => {}
                Err(_) => return Err(None),
            }
            if let Ok(stream) = self.follow().await {
                return Ok(stream);
            }
            tokio::time::sleep(REWIND_PAUSE * *rewinds).await;
        }
        Err(None)
    }

    /// Ends whatever is left of it.
    async fn remove(&self) {
        let remove = self.toolbox.ask(
            Method::DELETE,
            &self.path,
            None,
            Again::Yes,
            "removing a session",
        );
        if let Ok(Err(error)) = timeout(REMOVE, remove).await {
            tracing::debug!(%error, "a session was not removed");
        }
    }
}

fn tell(over: &mut Option<oneshot::Sender<Closed>>, code: Option<i32>, complaint: String) {
    if let Some(over) = over.take() {
        // Nobody may be waiting any more.
        let _ = over.send(Closed { code, complaint });
    }
}
