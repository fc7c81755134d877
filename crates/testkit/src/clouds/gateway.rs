//! A gateway that makes sandboxes of Modal for whoever has its token, and runs whole commands in them.

mod execs;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State as Shared};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::yard::Yard;
use super::{Fault, Faults, ground, locked};
use execs::Execs;

const TOKEN: &str = "gateway_test_token";
/// More processors than this are over the quota.
const QUOTA: f64 = 8.0;

/// A running gateway, ended with all its sandboxes when dropped.
pub struct ModalGateway {
    state: Arc<State>,
    port: u16,
    runtime: Option<Runtime>,
}

/// What all requests share.
struct State {
    yard: Yard,
    sandboxes: Mutex<BTreeMap<String, Value>>,
    /// The sandbox that an idempotency key made.
    known: Mutex<BTreeMap<String, String>>,
    execs: Execs,
    faults: Faults,
    requests: Mutex<Vec<String>>,
}

impl ModalGateway {
    /// Starts one.
    pub fn start() -> anyhow::Result<Self> {
        let (runtime, listener, port) = ground("gateway")?;
        let state = Arc::new(State {
            yard: Yard::new()?,
            sandboxes: Mutex::default(),
            known: Mutex::default(),
            execs: Execs::default(),
            faults: Faults::default(),
            requests: Mutex::default(),
        });
        let execs = "/v1/sandboxes/{id}/execs";
        let app = Router::new()
            .route("/v1/sandboxes", post(make))
            .route("/v1/sandboxes/{id}/terminate", post(terminate))
            .route(execs, post(execs::start))
            .route(&format!("{execs}/{{exec}}"), get(execs::look))
            .route(&format!("{execs}/{{exec}}/cancel"), post(execs::cancel))
            .layer(middleware::from_fn_with_state(state.clone(), gate))
            .with_state(state.clone());
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

    /// The token that is accepted.
    pub fn token(&self) -> &'static str {
        TOKEN
    }

    /// Lets something go wrong.
    pub fn fault(&self, fault: Fault) {
        self.state.faults.add(fault);
    }

    /// Takes the middle out of longer outputs from now on.
    pub fn cut(&self, longest: usize) {
        self.state.execs.cut(longest);
    }

    /// All running sandboxes by their ids, as they were asked for.
    pub fn sandboxes(&self) -> BTreeMap<String, Value> {
        locked(&self.state.sandboxes).clone()
    }

    /// How many requests had this in their method and path.
    pub fn requests(&self, part: &str) -> usize {
        let requests = locked(&self.state.requests);
        requests.iter().filter(|one| one.contains(part)).count()
    }

    /// Commands that have not ended.
    pub fn running(&self) -> usize {
        self.state.execs.running()
    }

    /// Ends a sandbox behind everybody's back.
    pub fn remove(&self, id: &str) {
        self.state.end(id);
    }
}

impl Drop for ModalGateway {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl State {
    fn end(&self, id: &str) {
        locked(&self.sandboxes).remove(id);
        self.yard.remove(id);
    }
}

/// An error as the gateway writes it.
fn refusal(status: StatusCode, message: &str) -> Response {
    (status, Json(json!({ "error": message }))).into_response()
}

fn missing() -> Response {
    refusal(StatusCode::NOT_FOUND, "no such sandbox")
}

/// Where the files of a task are kept.
fn snapshot(sandbox: &Value) -> String {
    let key = sandbox["logicalKey"].as_str().unwrap_or_default();
    format!("kept-{key}")
}

/// Everything passes here: the book of requests, faults and the token.
async fn gate(Shared(state): Shared<Arc<State>>, request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    locked(&state.requests).push(format!("{} {path}", request.method()));
    let token = request.headers().get(header::AUTHORIZATION);
    if token.is_none_or(|token| token.as_bytes() != format!("Bearer {TOKEN}").as_bytes()) {
        return refusal(StatusCode::UNAUTHORIZED, "the token is not known");
    }
    match state.faults.take(&path) {
        None => next.run(request).await,
        // It is done, but nobody hears of it.
        Some(0) => {
            next.run(request).await;
            let broken = futures_util::stream::once(async {
                Err::<axum::body::Bytes, _>(std::io::Error::other("gone"))
            });
            Response::new(Body::from_stream(broken))
        }
        Some(status) => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
            refusal(status, "on purpose")
        }
    }
}

async fn make(Shared(state): Shared<Arc<State>>, headers: HeaderMap, body: String) -> Response {
    let Ok(wanted) = serde_json::from_str::<Value>(&body) else {
        return refusal(StatusCode::BAD_REQUEST, "not JSON");
    };
    let Some(key) = headers
        .get("x-idempotency-key")
        .and_then(|key| key.to_str().ok())
    else {
        return refusal(StatusCode::BAD_REQUEST, "x-idempotency-key is missing");
    };
    if wanted["cpu"].as_f64().unwrap_or(0.0) > QUOTA {
        return refusal(StatusCode::FORBIDDEN, "the limit of processors is exceeded");
    }
    if wanted["image"].to_string().contains("missing") {
        return refusal(StatusCode::UNPROCESSABLE_ENTITY, "manifest unknown");
    }
    let mut known = locked(&state.known);
    if let Some(id) = known.get(key) {
        return Json(json!({ "id": id })).into_response();
    }
    let id = format!("sb-{}", known.len() + 1);
    let kept = snapshot(&wanted);
    let keeps = wanted["persistentFilesystem"] == true && state.yard.home(&kept).exists();
    let made = match keeps {
        true => state.yard.copy(&kept, &id),
        false => state.yard.make(&id),
    };
    if let Err(error) = made {
        return refusal(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string());
    }
    known.insert(key.to_owned(), id.clone());
    locked(&state.sandboxes).insert(id.clone(), wanted);
    Json(json!({ "id": id })).into_response()
}

async fn terminate(
    Shared(state): Shared<Arc<State>>,
    Path(id): Path<String>,
    Json(how): Json<Value>,
) -> Response {
    let Some(sandbox) = locked(&state.sandboxes).get(&id).cloned() else {
        return missing();
    };
    if how["snapshotBeforeTerminate"] == true {
        let kept = snapshot(&sandbox);
        state.yard.remove(&kept);
        if let Err(error) = state.yard.copy(&id, &kept) {
            return refusal(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string());
        }
    }
    state.end(&id);
    Json(json!({ "status": "terminated" })).into_response()
}
