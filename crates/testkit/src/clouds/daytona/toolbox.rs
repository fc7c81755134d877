//! The server inside a sandbox: sessions whose output is a log, terminals, single commands.

use std::collections::HashMap;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;
use std::process::ChildStdin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, State as Shared};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{delete, get, post};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::{State, locked, refusal};
use crate::clouds::terminal::{self, Terminal};
use crate::clouds::yard::{on_exit, text};

const LOOK: Duration = Duration::from_millis(20);
/// How much of a log goes into one message.
const PIECE: usize = 16 << 10;
/// A stream that is to break does so after this much.
const BREAK_AFTER: usize = 100_000;

/// One command in a session's shell: its output goes line by line into a log, marked by its stream.
const WRAPPER: &str = r#"{
mkfifo "$D/in" "$D/out" "$D/err"
while IFS= read -r hline || [ -n "$hline" ]; do printf '\001\001\001%s\n' "$hline"; done <"$D/out" >>"$D/log" &
hout=$!
while IFS= read -r hline || [ -n "$hline" ]; do printf '\002\002\002%s\n' "$hline"; done <"$D/err" >>"$D/log" &
herr=$!
sleep 1000 >"$D/in" &
hhold=$!
{ COMMAND; } <"$D/in" >"$D/out" 2>"$D/err"
hcode=$?
kill $hhold
wait $hout $herr
echo $hcode >"$D/code"
}
"#;

/// Sessions and terminals by sandbox and name.
#[derive(Default)]
pub(super) struct Sessions {
    shells: Mutex<HashMap<(String, String), Shell>>,
    terminals: Mutex<HashMap<(String, String), Option<Terminal>>>,
}

struct Shell {
    input: ChildStdin,
    group: Pid,
    echoes: bool,
}

impl Sessions {
    pub(super) fn count(&self) -> usize {
        locked(&self.shells).len() + locked(&self.terminals).len()
    }

    pub(super) fn forget(&self, sandbox: &str) {
        locked(&self.shells).retain(|(id, _), _| id != sandbox);
        locked(&self.terminals).retain(|(id, _), _| id != sandbox);
    }
}

pub(super) fn routes() -> Router<Arc<State>> {
    let session = "/toolbox/{id}/process/session/{session}";
    Router::new()
        .route("/toolbox/{id}/process/session", post(open))
        .route(session, delete(close))
        .route(&format!("{session}/exec"), post(exec))
        .route(&format!("{session}/command/{{command}}"), get(progress))
        .route(&format!("{session}/command/{{command}}/input"), post(input))
        .route(&format!("{session}/command/{{command}}/logs"), get(logs))
        .route("/toolbox/{id}/process/execute", post(execute))
        .route("/toolbox/{id}/process/pty", post(open_terminal))
        .route("/toolbox/{id}/process/pty/{name}", delete(close_terminal))
        .route("/toolbox/{id}/process/pty/{name}/connect", get(connect))
}

fn stopped() -> Response {
    refusal(StatusCode::BAD_REQUEST, "the sandbox is not started")
}

fn trouble(error: impl std::fmt::Display) -> Response {
    refusal(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string())
}

fn unknown() -> Response {
    refusal(StatusCode::NOT_FOUND, "session not found")
}

impl State {
    fn folder(&self, id: &str, session: &str) -> PathBuf {
        self.yard.home(id).join(".toolbox").join(session)
    }
}

async fn open(
    Shared(state): Shared<Arc<State>>,
    Path(id): Path<String>,
    Json(body): Json<Value>,
) -> Response {
    if !state.runs(&id) {
        return stopped();
    }
    let name = body["sessionId"].as_str().unwrap_or_default().to_owned();
    let started = state
        .yard
        .command(&id, "bash")
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(error) => return trouble(error),
    };
    let Some(input) = child.stdin.take() else {
        return trouble("no input");
    };
    let shell = Shell {
        input,
        group: Pid::from_raw(child.id() as i32),
        echoes: true,
    };
    on_exit(child, drop);
    locked(&state.sessions.shells).insert((id, name), shell);
    StatusCode::CREATED.into_response()
}

async fn exec(
    Shared(state): Shared<Arc<State>>,
    Path((id, session)): Path<(String, String)>,
    Json(body): Json<Value>,
) -> Response {
    let folder = state.folder(&id, &session);
    let mut shells = locked(&state.sessions.shells);
    let Some(shell) = shells.get_mut(&(id, session)) else {
        return unknown();
    };
    shell.echoes = body["suppressInputEcho"] != true;
    let command = body["command"].as_str().unwrap_or_default();
    let made = std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(folder.join("log"), ""))
        .and_then(|()| {
            let script = WRAPPER
                .replace("$D", &text(&folder))
                .replace("COMMAND", command);
            shell.input.write_all(script.as_bytes())?;
            shell.input.flush()
        });
    match made {
        Ok(()) => (StatusCode::ACCEPTED, Json(json!({ "cmdId": "one" }))).into_response(),
        Err(error) => trouble(error),
    }
}

async fn progress(
    Shared(state): Shared<Arc<State>>,
    Path((id, session, command)): Path<(String, String, String)>,
) -> Response {
    if !locked(&state.sessions.shells).contains_key(&(id.clone(), session.clone())) {
        return unknown();
    }
    let code = std::fs::read_to_string(state.folder(&id, &session).join("code"));
    let code: Option<i32> = code.ok().and_then(|code| code.trim().parse().ok());
    Json(json!({ "id": command, "exitCode": code })).into_response()
}

async fn input(
    Shared(state): Shared<Arc<State>>,
    Path((id, session, _)): Path<(String, String, String)>,
    Json(body): Json<Value>,
) -> Response {
    let folder = state.folder(&id, &session);
    let echoes = match locked(&state.sessions.shells).get(&(id, session)) {
        Some(shell) => shell.echoes,
        None => return unknown(),
    };
    let pipe = folder.join("in");
    if folder.join("code").exists() {
        return refusal(StatusCode::GONE, "the command has completed");
    }
    let data = body["data"].as_str().unwrap_or_default().to_owned();
    let written = tokio::task::spawn_blocking(move || {
        // Without this a missing pipe would become a file.
        let mut pipe = std::fs::File::options().write(true).open(pipe)?;
        pipe.write_all(data.as_bytes())?;
        if echoes {
            let mut log = std::fs::File::options()
                .append(true)
                .open(folder.join("log"))?;
            log.write_all(format!("\x01\x01\x01{data}").as_bytes())?;
        }
        Ok::<_, std::io::Error>(())
    });
    match written.await {
        Ok(Ok(())) => StatusCode::NO_CONTENT.into_response(),
        Ok(Err(error)) => trouble(error),
        Err(error) => trouble(error),
    }
}

async fn logs(
    Shared(state): Shared<Arc<State>>,
    Path((id, session, _)): Path<(String, String, String)>,
    upgrade: WebSocketUpgrade,
) -> Response {
    if !locked(&state.sessions.shells).contains_key(&(id.clone(), session.clone())) {
        return unknown();
    }
    upgrade.on_upgrade(move |socket| follow(state, id, session, socket))
}

/// Sends the log from its beginning and as it grows, until the command has ended or the session is gone.
async fn follow(state: Arc<State>, id: String, session: String, mut socket: WebSocket) {
    let folder = state.folder(&id, &session);
    let breaks = state.faults.take("stream").is_some();
    let mut at = 0;
    let mut buffer = vec![0; PIECE];
    loop {
        let over = folder.join("code").exists();
        let read = std::fs::File::open(folder.join("log")).and_then(|mut log| {
            log.seek(SeekFrom::Start(at as u64))?;
            log.read(&mut buffer)
        });
        match read {
            Ok(0) if over => break,
            Ok(0) => tokio::time::sleep(LOOK).await,
            Ok(count) => {
                at += count;
                let piece = Message::Binary(buffer[..count].to_vec().into());
                if socket.send(piece).await.is_err() || breaks && at > BREAK_AFTER {
                    return;
                }
            }
            Err(_) => break,
        }
        let gone = !locked(&state.sessions.shells).contains_key(&(id.clone(), session.clone()));
        if gone {
            break;
        }
    }
    // The other side may be gone.
    let _ = socket.send(Message::Close(None)).await;
}

async fn close(
    Shared(state): Shared<Arc<State>>,
    Path((id, session)): Path<(String, String)>,
) -> Response {
    let folder = state.folder(&id, &session);
    let Some(shell) = locked(&state.sessions.shells).remove(&(id, session)) else {
        return unknown();
    };
    // It may have ended by itself.
    let _ = killpg(shell.group, Signal::SIGTERM);
    let _ = std::fs::remove_dir_all(folder);
    StatusCode::NO_CONTENT.into_response()
}

async fn execute(
    Shared(state): Shared<Arc<State>>,
    Path(id): Path<String>,
    Json(body): Json<Value>,
) -> Response {
    if !state.runs(&id) {
        return stopped();
    }
    let command = body["command"].as_str().unwrap_or_default().to_owned();
    let run = tokio::task::spawn_blocking(move || {
        state
            .yard
            .command(&id, "bash")
            .args(["-c", &command])
            .output()
    });
    match run.await {
        Ok(Ok(output)) => Json(json!({
            "exitCode": output.status.code(),
            "result": String::from_utf8_lossy(&output.stdout),
        }))
        .into_response(),
        Ok(Err(error)) => trouble(error),
        Err(error) => trouble(error),
    }
}

async fn open_terminal(
    Shared(state): Shared<Arc<State>>,
    Path(id): Path<String>,
    Json(body): Json<Value>,
) -> Response {
    if !state.runs(&id) {
        return stopped();
    }
    let name = body["id"].as_str().unwrap_or_default().to_owned();
    match terminal::start(&state.yard, &id, &["bash", "-i", "-l"]) {
        Ok(terminal) => {
            locked(&state.sessions.terminals).insert((id, name.clone()), Some(terminal));
            (StatusCode::CREATED, Json(json!({ "sessionId": name }))).into_response()
        }
        Err(error) => trouble(error),
    }
}

async fn close_terminal(
    Shared(state): Shared<Arc<State>>,
    Path(key): Path<(String, String)>,
) -> Response {
    match locked(&state.sessions.terminals).remove(&key) {
        Some(_) => StatusCode::OK.into_response(),
        None => unknown(),
    }
}

async fn connect(
    Shared(state): Shared<Arc<State>>,
    Path(key): Path<(String, String)>,
    upgrade: WebSocketUpgrade,
) -> Response {
    let terminal = locked(&state.sessions.terminals)
        .get_mut(&key)
        .and_then(Option::take);
    match terminal {
        Some(terminal) => upgrade.on_upgrade(|socket| carry(terminal, socket)),
        None => unknown(),
    }
}

async fn carry(terminal: Terminal, mut socket: WebSocket) {
    let Terminal {
        mut typed,
        mut shown,
        mut ended,
    } = terminal;
    let news = json!({ "type": "control", "status": "connected" }).to_string();
    if socket.send(Message::Text(news.into())).await.is_err() {
        return;
    }
    let mut code = None;
    loop {
        tokio::select! {
            biased;
            piece = shown.recv() => match piece {
                Some(piece) => {
                    if socket.send(Message::Binary(piece.into())).await.is_err() {
                        return;
                    }
                }
                None => break,
            },
            message = socket.recv() => match message {
                Some(Ok(Message::Binary(bytes))) => {
                    // A terminal that has ended says so itself.
                    let _ = tokio::task::block_in_place(|| typed.write(&bytes));
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return,
            },
            told = ended.recv(), if code.is_none() => code = told,
        }
    }
    let code = match code {
        Some(code) => code,
        None => ended.recv().await.unwrap_or(-1),
    };
    let frame = CloseFrame {
        code: if code == 0 { 1000 } else { 1011 },
        reason: json!({ "exitCode": code }).to_string().into(),
    };
    // The other side may be gone.
    let _ = socket.send(Message::Close(Some(frame))).await;
}
