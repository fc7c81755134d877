//! Receiving requests and writing the answers the ledger chose.

use std::sync::Arc;
use std::time::Instant;

use axum::body::{Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{Method, request};
use axum::response::Response;

use super::answer::{Answer, text};
use super::envelope::Envelope;
use super::ledger::{Ledger, asked};
use super::protocol::Protocol;
use super::record::{Outcome, RecordedRequest};
use super::reply::{Reply, error};
use super::step::{Step, Timing};
use super::wire::Plan;
use super::{anthropic, chat_completions, converse, event_stream, gemini, responses, vendor_error};

const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;

/// Answers one HTTP request of any kind.
pub(super) async fn serve(State(ledger): State<Arc<Ledger>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let Ok(body) = to_bytes(body, MAX_BODY_BYTES).await else {
        let message = format!("the body was cut off or longer than {MAX_BODY_BYTES} bytes");
        return refuse(413, None, message).await;
    };
    let request = ledger.admit(recorded(&head, &body, Instant::now()));
    let scenario = &ledger.scenario;
    let step = match request.outcome {
        Outcome::Step(index) => scenario.steps.get(index),
        Outcome::Route { route, reply } => {
            let route = scenario.routes.get(route);
            route.and_then(|route| route.replies.get(reply))
        }
        Outcome::Models => {
            let list = chat_completions::models(&scenario.models);
            return Plan::json(200, &list).send(Timing::default()).await;
        }
        Outcome::Refused | Outcome::Unmatched | Outcome::BadRequest | Outcome::NotFound => None,
    };
    match step {
        Some(step) => {
            if let Some(gate) = &step.held {
                gate.passed().await;
            }
            let response = play(step, &request).await;
            ledger.answered(request.number);
            response
        }
        None => {
            let (status, message) = complaint(&request);
            refuse(status, request.protocol, message).await
        }
    }
}

async fn play(step: &Step, request: &RecordedRequest) -> Response {
    let invoked = Protocol::is_invoked(&request.path);
    let mut plan = match &step.reply {
        Reply::Answer(answer) => completion(answer, step, request),
        Reply::Echo => {
            let said = asked(request).last_user.unwrap_or_default();
            completion(&text(said), step, request)
        }
        Reply::Error(failure) if invoked => vendor_error::plan(failure, Some(Protocol::Converse)),
        Reply::Error(failure) => vendor_error::plan(failure, request.protocol),
        Reply::Frames(frames) if request.protocol == Some(Protocol::Converse) => {
            converse::scripted(frames)
        }
        Reply::Frames(frames) => {
            Plan::events(frames.iter().map(|frame| format!("{frame}\n\n")).collect())
        }
        Reply::Json(document) => Plan::json(200, document),
        Reply::Bytes(raw) => Plan {
            status: raw.status,
            content_type: raw.content_type.clone(),
            headers: Vec::new(),
            frames: vec![Bytes::copy_from_slice(raw.body.as_bytes())],
            streamed: false,
        },
    };
    if invoked && plan.streamed {
        let events = plan
            .frames
            .iter()
            .map(|event| String::from_utf8_lossy(event));
        let frames = events.map(|event| event_stream::packed(&event));
        plan = Plan::stream(event_stream::CONTENT_TYPE, frames);
    }
    let scripted = step.headers.iter();
    plan.headers
        .extend(scripted.map(|(name, value)| (name.clone(), value.clone())));
    plan.send(step.timing).await
}

fn completion(answer: &Answer, step: &Step, request: &RecordedRequest) -> Plan {
    let asked = asked(request);
    let envelope = Envelope {
        number: request.number,
        request: &asked,
        chunk_chars: step.timing.chunk_chars,
    };
    match asked.protocol {
        Protocol::ChatCompletions => chat_completions::plan(answer, &envelope),
        Protocol::Responses => responses::plan(answer, &envelope),
        Protocol::Anthropic => anthropic::plan(answer, &envelope),
        Protocol::Gemini => gemini::plan(answer, &envelope),
        Protocol::Converse => converse::plan(answer, &envelope),
    }
}

/// Status and words for a request that no step answers.
fn complaint(request: &RecordedRequest) -> (u16, String) {
    match request.outcome {
        Outcome::Refused => {
            let reasons = request.violations.join("; ");
            (400, format!("a strict vendor refuses this: {reasons}"))
        }
        Outcome::BadRequest => (400, "the body is not JSON".to_owned()),
        Outcome::NotFound => {
            let message = format!("no route for {} {}", request.method, request.path);
            (404, message)
        }
        Outcome::Unmatched | Outcome::Step(_) | Outcome::Route { .. } | Outcome::Models => {
            let asked = asked(request);
            let message = format!(
                "no step left for request {}: {} {}, model {:?}, last user message {:?}",
                request.number, request.method, request.path, asked.model, asked.last_user
            );
            (500, message)
        }
    }
}

async fn refuse(status: u16, protocol: Option<Protocol>, message: String) -> Response {
    let plan = vendor_error::plan(&error(status).message(message), protocol);
    plan.send(Timing::default()).await
}

fn recorded(head: &request::Parts, body: &Bytes, arrived_at: Instant) -> RecordedRequest {
    let headers = head.headers.iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.as_str().to_owned(), value)
    });
    let protocol = (head.method == Method::POST)
        .then(|| Protocol::of_path(head.uri.path()))
        .flatten();
    RecordedRequest {
        number: 0,
        method: head.method.to_string(),
        path: head.uri.to_string(),
        headers: headers.collect(),
        body: body.to_vec(),
        json: serde_json::from_slice(body).ok(),
        protocol,
        violations: Vec::new(),
        arrived_at,
        answered_at: None,
        outcome: Outcome::NotFound,
    }
}
