//! Commands, from their start to the report of how they ended.

use std::collections::HashMap;
use std::io::Write as _;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::extract::{Path, State as Shared};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Json, Response};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::{State, locked, missing, refusal};
use crate::clouds::yard::on_exit;

/// All commands by sandbox and id.
#[derive(Default)]
pub(super) struct Execs {
    all: Mutex<HashMap<String, Exec>>,
    /// Longer outputs lose their middle; 0 is no limit.
    longest: AtomicUsize,
}

#[derive(Clone)]
struct Exec {
    group: i32,
    /// When it is to be over; whoever looks after that ends it.
    deadline: Instant,
    /// How it is being ended, if it is.
    fate: Option<&'static str>,
    /// The status, what was printed and the code, once it has ended.
    over: Option<(String, String, i32)>,
}

impl Execs {
    pub(super) fn cut(&self, longest: usize) {
        self.longest.store(longest, Ordering::Relaxed);
    }

    pub(super) fn running(&self) -> usize {
        let all = locked(&self.all);
        all.values().filter(|exec| exec.over.is_none()).count()
    }

    fn shown(&self, output: String) -> String {
        let longest = self.longest.load(Ordering::Relaxed);
        if longest == 0 || output.len() <= longest || !output.is_ascii() {
            return output;
        }
        let half = longest / 2;
        format!("{}[cut]{}", &output[..half], &output[output.len() - half..])
    }

    /// Ends a command, if it has not ended.
    fn end(&self, name: &str, fate: &'static str) -> bool {
        let mut all = locked(&self.all);
        match all.get_mut(name) {
            Some(exec) if exec.over.is_none() => {
                exec.fate = Some(fate);
                // It may have ended by itself.
                let _ = killpg(Pid::from_raw(exec.group), Signal::SIGKILL);
                true
            }
            Some(_) => true,
            None => false,
        }
    }
}

fn named(sandbox: &str, exec: &str) -> String {
    format!("{sandbox}/{exec}")
}

pub(super) async fn start(
    Shared(state): Shared<Arc<State>>,
    Path(id): Path<String>,
    Json(wanted): Json<Value>,
) -> Response {
    if !locked(&state.sandboxes).contains_key(&id) {
        return missing();
    }
    let (Some(exec), Some(command), Some(limit)) = (
        wanted["execId"].as_str(),
        wanted["command"].as_str(),
        wanted["timeoutMs"].as_u64(),
    ) else {
        return refusal(StatusCode::BAD_REQUEST, "execId, command and timeoutMs");
    };
    let name = named(&id, exec);
    if locked(&state.execs.all).contains_key(&name) {
        return refusal(StatusCode::CONFLICT, "that execId is taken");
    }
    let printed = state.yard.home(&id).join(".toolbox").join(exec);
    let started = (|| {
        let out = std::fs::File::create(&printed)?;
        let errors = out.try_clone()?;
        let mut command_line = state.yard.command(&id, "bash");
        command_line.env("TMPDIR", state.yard.home(&id).join(".toolbox"));
        command_line
            .args(["-c", command])
            .stdout(out)
            .stderr(errors);
        let input = wanted["stdinData"].as_str().map(str::to_owned);
        if input.is_none() {
            command_line.stdin(Stdio::null());
        }
        let mut child = command_line.spawn()?;
        if let Some((mut pipe, text)) = child.stdin.take().zip(input) {
            // A reader that ended early is none of our business.
            std::thread::spawn(move || pipe.write_all(text.as_bytes()));
        }
        Ok::<_, std::io::Error>(child)
    })();
    let child = match started {
        Ok(child) => child,
        Err(error) => return refusal(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
    };
    let group = i32::try_from(child.id()).unwrap_or(0);
    let begun = Exec {
        group,
        deadline: Instant::now() + Duration::from_millis(limit),
        fate: None,
        over: None,
    };
    locked(&state.execs.all).insert(name.clone(), begun);
    let after = Arc::clone(&state);
    on_exit(child, move |code| {
        let output = std::fs::read(&printed).unwrap_or_default();
        // What is left lies in a directory that goes away.
        let _ = std::fs::remove_file(&printed);
        let output = String::from_utf8_lossy(&output).into_owned();
        let output = after.execs.shown(output);
        if let Some(exec) = locked(&after.execs.all).get_mut(&name) {
            let status = exec.fate.unwrap_or("completed").to_owned();
            exec.over = Some((status, output, code));
        }
    });
    Json(json!({ "execId": exec, "status": "running" })).into_response()
}

pub(super) async fn look(
    Shared(state): Shared<Arc<State>>,
    Path((id, exec)): Path<(String, String)>,
) -> Response {
    if !locked(&state.sandboxes).contains_key(&id) {
        return missing();
    }
    let name = named(&id, &exec);
    let known = locked(&state.execs.all).get(&name).cloned();
    if (known.as_ref()).is_some_and(|exec| exec.deadline < Instant::now()) {
        state.execs.end(&name, "timeout");
    }
    match known.map(|exec| exec.over) {
        None => refusal(StatusCode::NOT_FOUND, "no such command"),
        Some(None) => Json(json!({ "execId": exec, "status": "running" })).into_response(),
        Some(Some((status, output, code))) => Json(json!({
            "execId": exec,
            "status": status,
            "output": output,
            "returncode": code,
        }))
        .into_response(),
    }
}

pub(super) async fn cancel(
    Shared(state): Shared<Arc<State>>,
    Path((id, exec)): Path<(String, String)>,
) -> Response {
    match state.execs.end(&named(&id, &exec), "cancelled") {
        true => Json(json!({ "status": "cancelled" })).into_response(),
        false => refusal(StatusCode::NOT_FOUND, "no such command"),
    }
}
