//! What was refused is not sent again as it was, unless time has passed.

use std::collections::HashSet;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use hermes_core::ModelRequest;
use hermes_llm::{CallEvent, CallSink};
use proptest::prelude::*;
use tokio::sync::Barrier;
use tokio_util::task::TaskTracker;

use super::*;
use crate::suite::lab::PROTOCOLS;

/// Notes how many requests had been sent when the caller waited.
struct Watch<'a> {
    server: &'a ModelServer,
    heard: Heard,
    waited_after: Vec<usize>,
}

impl CallSink for Watch<'_> {
    async fn event(&mut self, event: CallEvent) {
        if matches!(event, CallEvent::Waiting { .. }) {
            self.waited_after.push(self.server.requests().len());
        }
        self.heard.event(event).await;
    }
}

/// Everything that tells one request from another, the credential included.
fn seen(request: &RecordedRequest) -> (String, Vec<u8>, Vec<String>) {
    let headers = [
        "authorization",
        "x-api-key",
        "x-goog-api-key",
        "anthropic-beta",
    ];
    let headers = headers.map(|name| request.header(name).unwrap_or_default().to_owned());
    (
        request.path.clone(),
        request.body.to_vec(),
        headers.to_vec(),
    )
}

/// A turn of an engine that has nothing to compact.
async fn turn(lab: &Lab, server: &ModelServer, course: &mut Course, request: &ModelRequest) {
    let mut watch = Watch {
        server,
        heard: Heard::default(),
        waited_after: Vec::new(),
    };
    for compactable in [true, false, false, false] {
        let ask = Ask {
            request,
            tokens: 100,
            compactable,
            addressed: None,
        };
        let cancel = CancellationToken::new();
        match lab.caller.call(course, &ask, &mut watch, &cancel).await {
            CallEnd::TooLong(_) => {}
            _ => break,
        }
    }
    let requests = server.requests();
    let mut since_wait = HashSet::new();
    for (index, request) in requests.iter().enumerate() {
        if watch.waited_after.contains(&index) {
            since_wait.clear();
        }
        assert!(
            since_wait.insert(seen(request)),
            "request {index} of {} is an earlier one, at once: {}",
            requests.len(),
            String::from_utf8_lossy(&request.body)
        );
    }
}

fn refusals() -> Vec<(u16, &'static str)> {
    vec![
        (
            400,
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        ),
        (
            400,
            "Unsupported parameter: 'temperature' is not supported with this model.",
        ),
        (
            400,
            "max_tokens is too large: 32000. This model supports at most 8192 completion tokens.",
        ),
        (
            400,
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
        ),
        (
            400,
            "This model's maximum context length is 100000 tokens. However, you requested 110000 tokens (90000 in the messages, 20000 in the completion).",
        ),
        (
            400,
            "At least one of the image dimensions exceed max allowed size: 2000 pixels",
        ),
        (400, "image exceeds 5 MB maximum"),
        (400, "this model does not support image input"),
        (
            400,
            "messages.1.content.0: Invalid `signature` in `thinking` block",
        ),
        (400, "The encrypted content could not be verified"),
        (
            400,
            "Unable to generate parser for this template: failed to parse grammar",
        ),
        (400, "tool message content must be a string"),
        (400, "streaming is not supported for this model"),
        (
            400,
            "The long context beta is not yet available for this subscription.",
        ),
        (400, "no"),
        (401, "invalid key"),
        (402, "no credit"),
        (403, "not yours"),
        (404, "The model `lab-1` does not exist"),
        (413, "too large"),
        (429, "Extra usage is required for long context requests."),
        (429, "slow down"),
        (500, "oops"),
        (503, "overloaded"),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    // AG-11, AG-12, AG-13
    #[test]
    fn no_request_is_repeated_at_once_whatever_the_provider_says(
        script in proptest::collection::vec(proptest::sample::select(refusals()), 1..6),
        protocol in proptest::sample::select(PROTOCOLS.to_vec()),
        temperature in proptest::option::of(Just(0.5)),
        (in_question, in_result) in any::<(bool, bool)>(),
        keys in 1_usize..4,
        fallback in any::<bool>(),
    ) {
        let refusal = |(status, message): &(u16, &str)| Step::new(error(*status).message(*message));
        let mut scenario = script.iter().map(refusal).fold(Scenario::new().lenient(), Scenario::reply);
        scenario = scenario.reply(refusal(&script[0]).repeat());
        let server = ModelServer::start(scenario).unwrap();
        let mut messages = vec![user("Look.")];
        messages.extend(kept(&one_call()));
        let ends = [in_question.then_some(0), in_result.then_some(messages.len() - 1)];
        for index in ends.into_iter().flatten() {
            messages[index].parts.push(picture());
        }
        let mut asked = request(messages);
        asked.settings.temperature = temperature;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut lab = Lab::new();
            lab.caller.attempts = 2;
            let pair = |name: &str| format!("AKID{name}\nsecret-of-{name}");
            let values: Vec<String> = ["one", "two", "three"].iter().take(keys).map(|name| pair(name)).collect();
            let plain: Vec<&str> = match protocol {
                WireProtocol::Converse => values.iter().map(String::as_str).collect(),
                _ => ["sk-one", "sk-two", "sk-three"].into_iter().take(keys).collect(),
            };
            lab.keys("lab", &server, &plain);
            lab.keys("other", &server, &["sk-other"]);
            let first = route("lab", protocol, &server);
            let second = Route { model: "other-1".to_owned(), ..route("other", CHAT, &server) };
            let mut course = chain(std::iter::once(first).chain(fallback.then_some(second)));
            turn(&lab, &server, &mut course, &asked).await;
        });
    }
}

// AG-12, AG-13
#[tokio::test]
async fn a_change_that_changes_nothing_is_not_sent() {
    for (status, message, reason) in [
        (413, "too large", Reason::PayloadTooLarge),
        (
            400,
            "Unsupported parameter: 'temperature' is not supported with this model.",
            Reason::TemperatureRejected,
        ),
        (
            400,
            "this model does not support image input",
            Reason::ImagesRejected,
        ),
    ] {
        let server = serve([Step::new(error(status).message(message)).repeat()]);
        let lab = Lab::new();
        let mut course = course(&lab.route(CHAT, &server));
        let mut failed = None;
        for compactable in [true, false] {
            let ask = Ask {
                request: &question(),
                tokens: 100,
                compactable,
                addressed: None,
            };
            let cancel = CancellationToken::new();
            let mut heard = Heard::default();
            let call = lab.caller.call(&mut course, &ask, &mut heard, &cancel);
            match call.await {
                CallEnd::TooLong(_) => {}
                CallEnd::Failed(failure) => {
                    failed = Some(failure);
                    break;
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(failed.unwrap().fault.reason, reason, "{message}");
        assert_eq!(server.requests().len(), 1, "{message}");
    }
}

// AG-13
#[tokio::test]
async fn what_was_refused_is_sent_again_when_the_user_asks_again() {
    let server = serve([error(413).into(), text("smaller than it looks").into()]);
    let lab = Lab::new();
    let mut course = course(&lab.route(CHAT, &server));
    let (end, _) = lab.call(&mut course, &question()).await;
    assert!(matches!(end, CallEnd::TooLong(_)), "{end:?}");
    course.begin_turn("2026-01-01T00:00:00Z".parse().unwrap());
    let (end, _) = lab.call(&mut course, &question()).await;
    assert_eq!(answered(end).text, "smaller than it looks");
}

/// Refuses the usual name of the limit, to two at a time.
async fn two_at_a_time(
    State(barrier): State<Arc<Barrier>>,
    body: String,
) -> (StatusCode, [(&'static str, &'static str); 1], String) {
    if body.contains("\"max_tokens\"") {
        barrier.wait().await;
        let message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
        let refusal = json!({"error": {"message": message, "param": "max_tokens", "code": "unsupported_parameter"}});
        let kind = [("content-type", "application/json")];
        return (StatusCode::BAD_REQUEST, kind, refusal.to_string());
    }
    let said = json!({"id": "1", "object": "chat.completion.chunk", "model": "lab-1", "choices": [
        {"index": 0, "delta": {"role": "assistant", "content": "well"}, "finish_reason": "stop"}]});
    let frames = format!("data: {said}\n\ndata: [DONE]\n\n");
    (
        StatusCode::OK,
        [("content-type", "text/event-stream")],
        frames,
    )
}

// PV-11
#[tokio::test]
async fn two_calls_that_learn_the_same_at_once_learn_it_once() {
    let barrier = Arc::new(Barrier::new(2));
    let router = Router::new()
        .route("/v1/chat/completions", post(two_at_a_time))
        .with_state(barrier);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    TaskTracker::new().spawn(async move { axum::serve(listener, router).await });
    // Only its address is taken, so that the rest of the lab fits.
    let stand_in = serve([Step::new(error(500)).repeat()]);
    let lab = Lab::new();
    let mut route = lab.route(CHAT, &stand_in);
    if let hermes_llm::Endpoint::Http(address) = &mut route.endpoint {
        address.base = base.parse().unwrap();
        address.auth = hermes_llm::Auth::None;
    }
    let (first, second) = (question(), question());
    let both = tokio::join!(lab.ask(&route, &first), lab.ask(&route, &second));
    assert_eq!(
        (both.0.text.as_str(), both.1.text.as_str()),
        ("well", "well")
    );
    assert_eq!(lab.ask(&route, &question()).await.text, "well");
}
