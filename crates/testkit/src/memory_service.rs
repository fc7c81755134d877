//! A service that remembers, on loopback: it answers what a test wrote down, to requests with the right key, and
//! keeps everything it was asked. What was not written down is refused and can be asked for.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State as Shared};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::clouds::{ground, locked};
use crate::eventually;

/// Larger requests are refused.
const LARGEST_REQUEST: usize = 8 << 20;

/// A running service, ended when dropped.
pub struct MemoryService {
    state: Arc<State>,
    port: u16,
    runtime: Option<Runtime>,
}

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Method and path, without the query.
    pub line: String,
    /// The query as it stood in the address.
    pub query: String,
    /// The body, when it was JSON.
    pub body: Value,
    /// The body as it came.
    pub raw: Vec<u8>,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
}

impl Asked {
    /// A header by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

struct State {
    /// The header that has to be there, and its value.
    key: Option<(String, String)>,
    answers: Mutex<Vec<(String, Value)>>,
    faults: Mutex<Vec<Fault>>,
    asked: Mutex<Vec<Asked>>,
    unexpected: Mutex<Vec<String>>,
}

/// What becomes of requests whose line contains a text.
struct Fault {
    about: String,
    fate: Fate,
    times: usize,
}

#[derive(Clone, Copy)]
enum Fate {
    /// Answered as ever, before something goes wrong.
    Spared,
    Refused(u16),
    /// No answer at all.
    Silent,
    /// A web page in place of an answer.
    Page,
}

impl MemoryService {
    /// Starts one that wants this header with every request.
    pub fn start(key: Option<(&str, &str)>) -> anyhow::Result<Self> {
        let (runtime, listener, port) = ground("memory-service")?;
        let state = Arc::new(State {
            key: key.map(|(name, value)| (name.to_owned(), value.to_owned())),
            answers: Mutex::default(),
            faults: Mutex::default(),
            asked: Mutex::default(),
            unexpected: Mutex::default(),
        });
        let app = Router::new().fallback(answer).with_state(state.clone());
        runtime.spawn(async move { axum::serve(listener, app).await });
        Ok(Self {
            state,
            port,
            runtime: Some(runtime),
        })
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Answers a method and path from now on; `*` stands for one segment of the path. The latest word counts.
    pub fn on(&self, line: &str, answer: Value) -> &Self {
        locked(&self.state.answers).insert(0, (line.to_owned(), answer));
        self
    }

    /// Answers the next requests whose line contains this with a failure.
    pub fn fail(&self, about: &str, status: u16, times: usize) {
        self.plan(about, Fate::Refused(status), times);
    }

    /// Answers so many more of these requests first, and the ones after them with a failure.
    pub fn fail_after(&self, spared: usize, about: &str, status: u16, times: usize) {
        self.plan(about, Fate::Spared, spared);
        self.fail(about, status, times);
    }

    fn plan(&self, about: &str, fate: Fate, times: usize) {
        let about = about.to_owned();
        locked(&self.state.faults).push(Fault { about, fate, times });
    }

    /// Answers the next requests whose line contains this with a web page, as another program at the address would.
    pub fn show_a_page(&self, about: &str, times: usize) {
        self.plan(about, Fate::Page, times);
    }

    /// Never answers requests whose line contains this, until `mend`.
    pub fn hang(&self, about: &str) {
        self.plan(about, Fate::Silent, usize::MAX);
    }

    /// Nothing goes wrong any more.
    pub fn mend(&self) {
        locked(&self.state.faults).clear();
    }

    /// All requests so far, also those it turned down.
    pub fn asked(&self) -> Vec<Asked> {
        locked(&self.state.asked).clone()
    }

    /// The requests with this line; `*` stands for one segment.
    pub fn to(&self, line: &str) -> Vec<Asked> {
        let mut asked = self.asked();
        asked.retain(|asked| fits(line, &asked.line));
        asked
    }

    /// Waits for a request with this line.
    pub fn wait_for(&self, line: &str) -> anyhow::Result<Asked> {
        eventually(Duration::from_secs(30), line, || self.to(line).pop())
    }

    /// Method and path of all requests so far.
    pub fn lines(&self) -> Vec<String> {
        self.asked().into_iter().map(|asked| asked.line).collect()
    }

    /// Requests nobody wrote an answer down for.
    pub fn unexpected(&self) -> Vec<String> {
        locked(&self.state.unexpected).clone()
    }
}

impl Drop for MemoryService {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn answer(Shared(state): Shared<Arc<State>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let Ok(raw) = axum::body::to_bytes(body, LARGEST_REQUEST).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let line = format!("{} {}", head.method, head.uri.path());
    let headers = head.headers.iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.as_str().to_owned(), value)
    });
    let asked = Asked {
        line: line.clone(),
        query: head.uri.query().unwrap_or_default().to_owned(),
        body: serde_json::from_slice(&raw).unwrap_or_default(),
        raw: raw.to_vec(),
        headers: headers.collect(),
    };
    let allowed = state
        .key
        .as_ref()
        .is_none_or(|(name, value)| asked.header(name) == Some(value));
    locked(&state.asked).push(asked);
    match fault(&state, &line) {
        Some(Fate::Silent) => return std::future::pending().await,
        Some(Fate::Refused(status)) => return told(status, "made to fail"),
        Some(Fate::Page) => {
            return axum::response::Html("<!DOCTYPE html>\n<html></html>").into_response();
        }
        Some(Fate::Spared) | None => {}
    }
    if !allowed {
        return told(401, "no such key");
    }
    let found = locked(&state.answers)
        .iter()
        .find(|(known, _)| fits(known, &line))
        .map(|(_, answer)| answer.clone());
    match found {
        Some(answer) => axum::Json(answer).into_response(),
        None => {
            locked(&state.unexpected).push(line);
            told(404, "nothing is here")
        }
    }
}

fn told(status: u16, words: &str) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::IM_A_TEAPOT);
    (status, axum::Json(json!({"detail": words}))).into_response()
}

fn fault(state: &State, line: &str) -> Option<Fate> {
    let mut faults = locked(&state.faults);
    let fault = faults
        .iter_mut()
        .find(|fault| fault.times > 0 && line.contains(&fault.about))?;
    fault.times -= 1;
    Some(fault.fate)
}

/// Whether a line is the one that was written down.
fn fits(known: &str, line: &str) -> bool {
    let (known, line): (Vec<&str>, Vec<&str>) =
        (known.split('/').collect(), line.split('/').collect());
    known.len() == line.len()
        && known
            .iter()
            .zip(line)
            .all(|(known, part)| *known == "*" || *known == part)
}
