//! Receiving requests, recording them and choosing the step that answers.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use axum::body::{Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{Method, request};
use axum::response::Response;

use super::chat_completions::{self, Envelope};
use super::chat_request::ChatRequest;
use super::protocol::Protocol;
use super::record::{Outcome, RecordedRequest};
use super::reply::{Reply, error_body, text};
use super::scenario::Scenario;
use super::step::{Step, Timing};
use super::wire::Plan;

const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;
const MAX_RECORDED: usize = 10_000;

/// What all connections of one server share.
#[derive(Debug)]
pub(super) struct Shared {
    scenario: Scenario,
    started_at: Instant,
    log: Option<Mutex<File>>,
    progress: Mutex<Progress>,
}

#[derive(Debug, Default)]
struct Progress {
    used: Vec<bool>,
    arrived: u64,
    completions: u64,
    requests: VecDeque<RecordedRequest>,
}

impl Shared {
    pub(super) fn new(scenario: Scenario, log: Option<File>) -> Self {
        let used = vec![false; scenario.steps.len()];
        Self {
            scenario,
            started_at: Instant::now(),
            log: log.map(Mutex::new),
            progress: Mutex::new(Progress {
                used,
                ..Progress::default()
            }),
        }
    }

    pub(super) fn requests(&self) -> Vec<RecordedRequest> {
        locked(&self.progress).requests.iter().cloned().collect()
    }

    pub(super) fn unused_steps(&self) -> usize {
        let progress = locked(&self.progress);
        let steps = self.scenario.steps.iter().zip(&progress.used);
        steps.filter(|(step, used)| !step.repeat && !**used).count()
    }

    /// Numbers the request, decides who answers it, and records both.
    fn admit(&self, mut request: RecordedRequest) -> RecordedRequest {
        let mut progress = locked(&self.progress);
        progress.arrived += 1;
        request.number = progress.arrived;
        request.outcome = self.route(&request, &mut progress);
        if progress.requests.len() == MAX_RECORDED {
            progress.requests.pop_front();
        }
        progress.requests.push_back(request.clone());
        drop(progress);
        if let Some(log) = &self.log {
            let line = request.log_line(request.arrived_at - self.started_at);
            // A full disk must not change what the client under test sees.
            let _ = writeln!(locked(log), "{line}");
        }
        request
    }

    fn route(&self, request: &RecordedRequest, progress: &mut Progress) -> Outcome {
        let path = request.path.split('?').next().unwrap_or_default();
        if request.method == Method::GET.as_str() && path.ends_with("/models") {
            return Outcome::Models;
        }
        if request.method != Method::POST.as_str() {
            return Outcome::NotFound;
        }
        match Protocol::of_path(path) {
            None => Outcome::NotFound,
            Some(Protocol::ChatCompletions) => self.take_step(request, progress),
            Some(
                other @ (Protocol::Responses
                | Protocol::Anthropic
                | Protocol::Gemini
                | Protocol::Converse),
            ) => Outcome::NotImplemented(other),
        }
    }

    fn take_step(&self, request: &RecordedRequest, progress: &mut Progress) -> Outcome {
        let Some(json) = &request.json else {
            return Outcome::BadRequest;
        };
        progress.completions += 1;
        let chat = ChatRequest::from_json(json);
        let call = progress.completions;
        for (index, step) in self.scenario.steps.iter().enumerate() {
            let Some(used) = progress.used.get_mut(index) else {
                continue;
            };
            if (step.repeat || !*used) && step.when.accepts(request, &chat, call) {
                *used = true;
                return Outcome::Step(index);
            }
        }
        Outcome::Unmatched
    }
}

/// Answers one HTTP request of any kind.
pub(super) async fn serve(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let Ok(body) = to_bytes(body, MAX_BODY_BYTES).await else {
        let message = format!("the body was cut off or longer than {MAX_BODY_BYTES} bytes");
        return refuse(413, "body_unreadable", &message).await;
    };
    let request = shared.admit(recorded(&head, &body));
    match request.outcome {
        Outcome::Step(index) => match shared.scenario.steps.get(index) {
            Some(step) => play(step, &request).await,
            None => refuse(500, "unmatched", "the script changed under a request").await,
        },
        Outcome::Models => {
            let list = chat_completions::models(&shared.scenario.models);
            Plan::json(200, &list).send(Timing::default()).await
        }
        Outcome::Unmatched => {
            let message = format!(
                "no step left for request {}: {}",
                request.number,
                summary(&request)
            );
            refuse(500, "unmatched", &message).await
        }
        Outcome::BadRequest => refuse(400, "invalid_json", "the body is not JSON").await,
        Outcome::NotImplemented(protocol) => {
            let message = format!("the scripted server does not speak {protocol} yet");
            refuse(501, "not_implemented", &message).await
        }
        Outcome::NotFound => {
            let message = format!("no route for {} {}", request.method, request.path);
            refuse(404, "not_found", &message).await
        }
    }
}

async fn play(step: &Step, request: &RecordedRequest) -> Response {
    let mut plan = match &step.reply {
        Reply::Answer(answer) => completion(answer, step, request),
        Reply::Echo => {
            let said = chat_of(request).last_user.unwrap_or_default();
            completion(&text(said), step, request)
        }
        Reply::Error(failure) => {
            let mut plan = Plan::json(failure.status, &failure.json());
            let retry = failure.retry_after_seconds;
            plan.headers
                .extend(retry.map(|seconds| ("retry-after".to_owned(), seconds.to_string())));
            plan
        }
        Reply::Frames(frames) => {
            Plan::events(frames.iter().map(|frame| format!("{frame}\n\n")).collect())
        }
        Reply::Bytes(raw) => Plan {
            status: raw.status,
            content_type: raw.content_type.clone(),
            headers: Vec::new(),
            frames: vec![Bytes::copy_from_slice(raw.body.as_bytes())],
            streamed: false,
        },
    };
    let scripted = step.headers.iter();
    plan.headers
        .extend(scripted.map(|(name, value)| (name.clone(), value.clone())));
    plan.send(step.timing).await
}

fn completion(answer: &super::Answer, step: &Step, request: &RecordedRequest) -> Plan {
    let chat = chat_of(request);
    let envelope = Envelope {
        request_number: request.number,
        model: &chat.model,
        wants_usage: chat.wants_usage,
        chunk_chars: step.timing.chunk_chars,
    };
    if chat.wants_stream {
        Plan::events(chat_completions::stream(answer, &envelope))
    } else {
        Plan::json(200, &chat_completions::document(answer, &envelope))
    }
}

async fn refuse(status: u16, kind: &str, message: &str) -> Response {
    let plan = Plan::json(status, &error_body(kind, message));
    plan.send(Timing::default()).await
}

fn chat_of(request: &RecordedRequest) -> ChatRequest {
    ChatRequest::from_json(request.json.as_ref().unwrap_or(&serde_json::Value::Null))
}

fn summary(request: &RecordedRequest) -> String {
    let chat = chat_of(request);
    format!(
        "{} {}, model {:?}, last user message {:?}",
        request.method, request.path, chat.model, chat.last_user
    )
}

fn recorded(head: &request::Parts, body: &Bytes) -> RecordedRequest {
    let headers = head.headers.iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.as_str().to_owned(), value)
    });
    RecordedRequest {
        number: 0,
        method: head.method.to_string(),
        path: head.uri.to_string(),
        headers: headers.collect(),
        body: body.to_vec(),
        json: serde_json::from_slice(body).ok(),
        arrived_at: Instant::now(),
        outcome: Outcome::NotFound,
    }
}

/// A panic in one handler must not hide what the others recorded.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
