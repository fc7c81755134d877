//! A shell on a terminal in a sandbox, over a WebSocket of the toolbox.

use std::time::Duration;

use bytes::Bytes;
use hermes_http::{WebSocket, WebSocketMessage};
use http::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::time::timeout;

use crate::ExecError;
use crate::rest::{Again, Server};
use crate::supervise::{Channel, Closed, Crew, Ends, Role, quote};

const CHUNK: usize = 16 << 10;
/// How long removing a terminal may take when nobody waits for it any more.
const REMOVE: Duration = Duration::from_secs(10);

/// Runs `role.boot()` on a terminal called `name`. The launcher sets its size.
pub(super) async fn open(
    toolbox: &Server,
    name: &str,
    role: Role,
    crew: &Crew,
) -> Result<Channel, ExecError> {
    let what = "opening a terminal";
    let body = json!({ "id": name, "cols": 80, "rows": 24, "envs": { "TERM": "xterm-256color" } });
    toolbox
        .ask(
            Method::POST,
            "process/pty",
            Some(&body),
            Again::IfRefused,
            what,
        )
        .await?;
    let path = format!("process/pty/{name}");
    let connect = async {
        let mut socket = toolbox.websocket(&format!("{path}/connect"), what).await?;
        let line = format!("exec /bin/sh -c {}\n", quote(role.boot()));
        let typed = socket
            .send(WebSocketMessage::Binary(Bytes::from(line)))
            .await;
        typed.map_err(|error| ExecError::Gone(error.to_string()))?;
        Ok(socket)
    };
    let socket = match connect.await {
        Ok(socket) => socket,
        Err(error) => {
            remove(toolbox, &path).await;
            return Err(error);
        }
    };
    let (channel, ends) = Channel::served();
    let Ends { typed, shown, over } = ends;
    let (stop, toolbox) = (crew.stop.clone(), toolbox.clone());
    crew.tasks.spawn(async move {
        let closed = tokio::select! {
            closed = carry(socket, typed, shown) => closed,
            () = stop.cancelled() => Closed::default(),
        };
        // Nobody may be waiting any more.
        let _ = over.send(closed);
        remove(&toolbox, &path).await;
    });
    Ok(channel)
}

/// Moves bytes in both directions until the terminal ends.
async fn carry(mut socket: WebSocket, mut typed: DuplexStream, shown: DuplexStream) -> Closed {
    let mut shown = Some(shown);
    let mut buffer = vec![0; CHUNK];
    let mut typing = true;
    loop {
        tokio::select! {
            message = socket.next() => match message {
                Ok(WebSocketMessage::Binary(bytes)) => {
                    if let Some(open) = shown.as_mut() && open.write_all(&bytes).await.is_err() {
                        shown = None;
                    }
                }
                // Only news about the connection comes as text.
                Ok(WebSocketMessage::Text(_)) => {}
                Ok(WebSocketMessage::Closed { reason, .. }) => return told(&reason),
                Err(error) => return Closed { code: None, complaint: error.to_string() },
            },
            read = typed.read(&mut buffer), if typing => match read {
                Ok(count @ 1..) => {
                    let bytes = Bytes::copy_from_slice(buffer.get(..count).unwrap_or_default());
                    if socket.send(WebSocketMessage::Binary(bytes)).await.is_err() {
                        typing = false;
                    }
                }
                // A terminal's input does not end.
                Ok(0) | Err(_) => typing = false,
            },
        }
    }
}

/// How it ended, which the toolbox says in the reason for closing.
fn told(reason: &str) -> Closed {
    let parsed: Option<Value> = serde_json::from_str(reason).ok();
    let code = parsed
        .as_ref()
        .and_then(|reason| i32::try_from(reason.get("exitCode")?.as_i64()?).ok());
    Closed {
        code,
        complaint: String::new(),
    }
}

async fn remove(toolbox: &Server, path: &str) {
    let remove = toolbox.ask(
        Method::DELETE,
        path,
        None,
        Again::Yes,
        "removing a terminal",
    );
    match timeout(REMOVE, remove).await {
        Ok(Err(ExecError::Gone(_)) | Ok(_)) => {}
        Ok(Err(error)) => tracing::debug!(%error, "a terminal was not removed"),
        Err(_) => tracing::debug!("a terminal was not removed in time"),
    }
}
