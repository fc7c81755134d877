//! Daytona: the API for sandboxes, and the toolbox in each of them.

mod toolbox;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Query, Request, State as Shared};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::yard::Yard;
use super::{Fault, Faults, ground, locked};
use toolbox::Sessions;

const KEY: &str = "dtn_test_key";
/// More processors than this are over the quota.
const QUOTA: u64 = 8;

/// A running vendor, ended with all its sandboxes when dropped.
pub struct Daytona {
    state: Arc<State>,
    port: u16,
    runtime: Option<Runtime>,
}

/// What all requests share.
struct State {
    port: u16,
    yard: Yard,
    sandboxes: Mutex<BTreeMap<String, Value>>,
    sessions: Sessions,
    faults: Faults,
    requests: Mutex<Vec<String>>,
    made: Mutex<u32>,
}

impl Daytona {
    /// Starts one.
    pub fn start() -> anyhow::Result<Self> {
        let (runtime, listener, port) = ground("daytona")?;
        let state = Arc::new(State {
            port,
            yard: Yard::new()?,
            sandboxes: Mutex::default(),
            sessions: Sessions::default(),
            faults: Faults::default(),
            requests: Mutex::default(),
            made: Mutex::default(),
        });
        let app = Router::new()
            .route("/api/sandbox", get(list).post(make))
            .route("/api/sandbox/{id}", get(look).delete(remove))
            .route("/api/sandbox/{id}/start", post(start))
            .route("/api/sandbox/{id}/stop", post(stop))
            .route("/api/sandbox/{id}/toolbox-proxy-url", get(proxy))
            .merge(toolbox::routes())
            .layer(middleware::from_fn_with_state(state.clone(), gate))
            .with_state(state.clone());
        runtime.spawn(async move { axum::serve(listener, app).await });
        Ok(Self {
            state,
            port,
            runtime: Some(runtime),
        })
    }

    /// The address of the API.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/api", self.port)
    }

    /// The key that is accepted.
    pub fn key(&self) -> &'static str {
        KEY
    }

    /// Lets something go wrong.
    pub fn fault(&self, fault: Fault) {
        self.state.faults.add(fault);
    }

    /// All sandboxes as the API shows them.
    pub fn sandboxes(&self) -> Vec<Value> {
        locked(&self.state.sandboxes).values().cloned().collect()
    }

    /// How many requests had this in their method and path.
    pub fn requests(&self, part: &str) -> usize {
        let requests = locked(&self.state.requests);
        requests.iter().filter(|one| one.contains(part)).count()
    }

    /// Sessions and terminals that were not removed.
    pub fn open_sessions(&self) -> usize {
        self.state.sessions.count()
    }

    /// Stops a sandbox behind everybody's back.
    pub fn stop(&self, id: &str) {
        self.state.halt(id);
    }

    /// Removes a sandbox behind everybody's back.
    pub fn remove(&self, id: &str) {
        self.state.destroy(id);
    }
}

impl Drop for Daytona {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl State {
    fn find(&self, id: &str) -> Option<Value> {
        let mut sandboxes = locked(&self.sandboxes);
        let one = sandboxes
            .values_mut()
            .find(|one| one["id"] == id || one["name"] == id)?;
        let seen = one.clone();
        // What was on its way arrives after somebody has looked.
        match one["state"].as_str() {
            Some("creating" | "starting") => one["state"] = json!("started"),
            Some("pending_build") => {
                one["state"] = json!("build_failed");
                one["errorReason"] = json!("manifest unknown");
            }
            Some(_) | None => {}
        }
        Some(seen)
    }

    fn halt(&self, id: &str) {
        self.yard.end(id);
        self.sessions.forget(id);
        let mut sandboxes = locked(&self.sandboxes);
        if let Some(one) = sandboxes.get_mut(id) {
            one["state"] = json!("stopped");
            if one["autoDeleteInterval"] == 0 {
                sandboxes.remove(id);
            }
        }
    }

    fn destroy(&self, id: &str) {
        self.sessions.forget(id);
        self.yard.remove(id);
        locked(&self.sandboxes).remove(id);
    }

    fn runs(&self, id: &str) -> bool {
        let sandboxes = locked(&self.sandboxes);
        sandboxes
            .get(id)
            .is_some_and(|one| one["state"] == "started")
    }
}

/// An error as the API writes it.
fn refusal(status: StatusCode, message: &str) -> Response {
    let body = json!({ "statusCode": status.as_u16(), "message": message });
    (status, Json(body)).into_response()
}

fn missing() -> Response {
    refusal(StatusCode::NOT_FOUND, "Sandbox not found")
}

/// Everything passes here: the book of requests, faults and the key.
async fn gate(Shared(state): Shared<Arc<State>>, request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    locked(&state.requests).push(format!("{} {path}", request.method()));
    let key = request.headers().get(header::AUTHORIZATION);
    if key.is_none_or(|key| key.as_bytes() != format!("Bearer {KEY}").as_bytes()) {
        return refusal(StatusCode::UNAUTHORIZED, "Invalid credentials");
    }
    // Streams end by their own faults.
    let upgrade = request.headers().contains_key(header::UPGRADE);
    match state.faults.take(&path).filter(|_| !upgrade) {
        None => next.run(request).await,
        Some(0) => {
            let broken = futures_util::stream::once(async {
                Err::<axum::body::Bytes, _>(std::io::Error::other("gone"))
            });
            Response::new(Body::from_stream(broken))
        }
        Some(status) => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
            let mut answer = refusal(status, "on purpose");
            if status == StatusCode::TOO_MANY_REQUESTS {
                let soon = header::HeaderValue::from_static("0");
                answer.headers_mut().insert(header::RETRY_AFTER, soon);
            }
            answer
        }
    }
}

async fn make(Shared(state): Shared<Arc<State>>, headers: HeaderMap, body: String) -> Response {
    let Ok(mut one) = serde_json::from_str::<Value>(&body) else {
        return refusal(StatusCode::BAD_REQUEST, "not JSON");
    };
    if one["cpu"].as_u64().unwrap_or(0) > QUOTA {
        return refusal(StatusCode::FORBIDDEN, "Total CPU limit exceeded");
    }
    let taken = locked(&state.sandboxes)
        .values()
        .any(|other| other["name"] == one["name"]);
    if taken {
        return refusal(StatusCode::CONFLICT, "a sandbox of that name exists");
    }
    let number = {
        let mut made = locked(&state.made);
        *made += 1;
        *made
    };
    let id = format!("box-{number}");
    let image = one["buildInfo"]["dockerfileContent"].to_string();
    let begins = match image.contains("missing") {
        true => "pending_build",
        false => "creating",
    };
    one["id"] = json!(id);
    one["state"] = json!(begins);
    one["createdAt"] = json!("2026-01-01T00:00:00.000Z");
    if let Some(organisation) = headers.get("x-daytona-organization-id") {
        one["organizationId"] = json!(organisation.to_str().unwrap_or_default());
    }
    if let Err(error) = state.yard.make(&id) {
        return refusal(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string());
    }
    locked(&state.sandboxes).insert(id, one.clone());
    Json(one).into_response()
}

/// One sandbox a page, so that pages matter.
async fn list(
    Shared(state): Shared<Arc<State>>,
    Query(query): Query<BTreeMap<String, String>>,
) -> Response {
    let wanted: BTreeMap<String, String> = query
        .get("labels")
        .and_then(|labels| serde_json::from_str(labels).ok())
        .unwrap_or_default();
    let sandboxes = locked(&state.sandboxes);
    let fitting: Vec<&Value> = sandboxes
        .values()
        .filter(|one| {
            wanted
                .iter()
                .all(|(name, value)| one["labels"][name] == *value)
        })
        .collect();
    let start: usize = query
        .get("cursor")
        .and_then(|cursor| cursor.parse().ok())
        .unwrap_or(0);
    let next = (start + 1 < fitting.len()).then(|| (start + 1).to_string());
    let items: Vec<&Value> = fitting.into_iter().skip(start).take(1).collect();
    Json(json!({ "items": items, "nextCursor": next })).into_response()
}

async fn look(Shared(state): Shared<Arc<State>>, Path(id): Path<String>) -> Response {
    state
        .find(&id)
        .map_or_else(missing, |one| Json(one).into_response())
}

async fn remove(Shared(state): Shared<Arc<State>>, Path(id): Path<String>) -> Response {
    if state.find(&id).is_none() {
        return missing();
    }
    state.destroy(&id);
    Json(json!({})).into_response()
}

async fn start(Shared(state): Shared<Arc<State>>, Path(id): Path<String>) -> Response {
    match locked(&state.sandboxes).get_mut(&id) {
        Some(one) => {
            one["state"] = json!("starting");
            Json(one.clone()).into_response()
        }
        None => missing(),
    }
}

async fn stop(Shared(state): Shared<Arc<State>>, Path(id): Path<String>) -> Response {
    if state.find(&id).is_none() {
        return missing();
    }
    state.halt(&id);
    Json(json!({})).into_response()
}

async fn proxy(Shared(state): Shared<Arc<State>>, Path(_): Path<String>) -> Response {
    let url = format!("http://127.0.0.1:{}/toolbox/", state.port);
    Json(json!({ "url": url })).into_response()
}
