//! Calls that do not work at first: waits, other keys, other routes, changed requests.

use std::sync::Arc;
use std::time::Duration;

use hermes_core::{CallId, Media, MediaSource, Part, WireProtocol};
use hermes_llm::classify::Reason;
use hermes_llm::{Answer, Ask, AskedCall, CallEnd, Course, Route};
use hermes_testkit::model_server::{
    ModelServer, RecordedRequest, Scenario, Step, bytes, error, text, tool_call,
};
use jiff::Timestamp;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::lab::{Heard, Lab, answered, course, kept, question, request, route, user};

mod broken_off;
mod health;
mod origin;
mod pictures;
mod pictures_stopped;
mod silence;
mod thinking;
mod tools;
mod unchanged;

const CHAT: WireProtocol = WireProtocol::ChatCompletions;

fn serve(steps: impl IntoIterator<Item = Step>) -> ModelServer {
    let scenario = steps.into_iter().fold(Scenario::new(), Scenario::reply);
    ModelServer::start(scenario).unwrap()
}

fn chain(routes: impl IntoIterator<Item = Route>) -> Course {
    let mut routes = routes.into_iter().map(Arc::new);
    Course::new(routes.next().unwrap(), routes)
}

fn bearers(server: &ModelServer) -> Vec<String> {
    let bearer = |request: &RecordedRequest| {
        let value = request.header("authorization").unwrap_or_default();
        value.trim_start_matches("Bearer ").to_owned()
    };
    server.requests().iter().map(bearer).collect()
}

fn unsupported(parameter: &str, instead: &str) -> Step {
    error(400)
        .body(json!({"error": {
            "message": format!("Unsupported parameter: '{parameter}' is not supported with this model.{instead}"),
            "type": "invalid_request_error", "param": parameter, "code": "unsupported_parameter",
        }}))
        .into()
}

// PV-11
#[tokio::test]
async fn refused_parameters_are_changed_once_and_remembered_for_the_model() {
    let server = serve([
        unsupported("max_tokens", " Use 'max_completion_tokens' instead."),
        unsupported("temperature", ""),
        text("first").into(),
        text("second").into(),
        text("other").into(),
    ]);
    let lab = Lab::new();
    let route = lab.route(CHAT, &server);
    let mut request = question();
    request.settings.temperature = Some(0.2);
    let (end, heard) = lab.call(&mut course(&route), &request).await;
    assert_eq!(answered(end).text, "first");
    assert!(heard.waits().is_empty(), "a changed request needs no wait");
    // Another conversation knows from the start.
    assert_eq!(lab.ask(&route, &request).await.text, "second");
    let other = Route {
        model: "lab-2".to_owned(),
        ..route
    };
    assert_eq!(lab.ask(&other, &request).await.text, "other");
    server.assert_done();
    let asked: Vec<[bool; 3]> = server
        .requests()
        .iter()
        .map(|request| {
            let body = request.expect_json();
            ["max_tokens", "max_completion_tokens", "temperature"]
                .map(|key| body.get(key).is_some())
        })
        .collect();
    assert_eq!(
        asked,
        [
            [true, false, true],
            [false, true, true],
            [false, true, false],
            [false, true, false],
            [true, false, true],
        ]
    );
}

// PV-18
#[tokio::test]
async fn a_limit_that_was_raised_is_one_of_its_route() {
    let server = serve([]);
    let lab = Lab::new();
    let limited = |model: &str, output| {
        let mut route = lab.route(CHAT, &server);
        route.model = model.to_owned();
        route.limits.output = output;
        route
    };
    let now = Timestamp::UNIX_EPOCH;
    let mut course = chain([limited("lab-1", Some(500)), limited("lab-2", None)]);
    assert_eq!(course.output_limit(), Some(500));
    course.raise_output(4_000);
    assert_eq!(course.output_limit(), Some(4_000));
    assert!(course.leave_silent(now));
    assert_eq!(course.output_limit(), None);
    course.raise_output(8_000);
    course.begin_turn(now);
    assert_eq!(course.output_limit(), Some(500));
}

// PV-18
#[tokio::test]
async fn a_history_goes_on_at_a_provider_of_another_protocol() {
    let chat = serve([
        tool_call("look", json!({"path": "a.txt"}))
            .reasoning("Look first.")
            .into(),
        error(404)
            .message("The model `lab-1` does not exist")
            .into(),
    ]);
    let anthropic = serve([text("It says hello.").into(), text("Gladly.").into()]);
    let lab = Lab::new();
    let first = lab.route(CHAT, &chat);
    let mut second = route("other", WireProtocol::Anthropic, &anthropic);
    if let hermes_llm::Endpoint::Http(address) = &mut second.endpoint {
        address
            .headers
            .push((http::HeaderName::from_static("x-team"), "blue".to_owned()));
        address
            .query
            .push(("api-version".to_owned(), "3".to_owned()));
    }
    lab.keys("other", &anthropic, &["sk-other"]);
    let mut course = chain([first, second]);

    let (end, _) = lab.call(&mut course, &question()).await;
    let answer = answered(end);
    let mut history = vec![user("What is in a.txt?")];
    history.extend(kept(&answer));
    let (end, heard) = lab.call(&mut course, &request(history.clone())).await;
    assert_eq!(answered(end).text, "It says hello.");
    assert_eq!(heard.changes(), 1);
    history.push(user("Thanks, once more?"));
    let (end, heard) = lab.call(&mut course, &request(history)).await;
    assert_eq!(
        (answered(end).text.as_str(), heard.changes()),
        ("Gladly.", 0)
    );
    chat.assert_done();
    anthropic.assert_done();
    let sent = &anthropic.requests()[0];
    assert_eq!(sent.header("x-api-key"), Some("sk-other"));
    assert_eq!(sent.header("x-team"), Some("blue"));
    assert!(sent.path.ends_with("?api-version=3"), "{}", sent.path);
    let body = sent.expect_json();
    assert_eq!(body["model"], "claude-opus-4-6");
    assert_eq!(body["messages"][1]["content"][0]["type"], "tool_use");
    assert_eq!(body["messages"][2]["content"][0]["content"], "hello");
}

// AG-11
#[tokio::test]
async fn a_wait_that_the_server_asks_for_is_kept() {
    let server = serve([
        error(429).retry_after(7).into(),
        error(429).retry_after(30).into(),
        text("at last").into(),
    ]);
    let mut lab = Lab::new();
    lab.caller.attempts = 3;
    let (end, heard) = lab
        .call(&mut course(&lab.route(CHAT, &server)), &question())
        .await;
    assert_eq!(answered(end).text, "at last");
    assert_eq!(
        heard.waits(),
        [Duration::from_secs(7), Duration::from_secs(30)]
    );
    server.assert_done();
}

// AG-11
#[tokio::test]
async fn attempts_end_at_the_number_that_is_set() {
    let server = serve([Step::new(error(500)).repeat()]);
    let mut lab = Lab::new();
    lab.caller.attempts = 4;
    let (end, heard) = lab
        .call(&mut course(&lab.route(CHAT, &server)), &question())
        .await;
    let CallEnd::Failed(failure) = end else {
        panic!("{end:?}");
    };
    assert_eq!(
        (failure.calls, failure.fault.reason),
        (4, Reason::ServerError)
    );
    let waits = heard.waits();
    assert_eq!(waits.len(), 3);
    for (wait, least) in waits.iter().zip([2, 4, 8]) {
        let least = Duration::from_secs(least);
        assert!((least..=least.mul_f64(1.5)).contains(wait), "{waits:?}");
    }
}

// AG-14
#[tokio::test]
async fn a_failed_route_gives_way_and_is_preferred_again_after_its_rest() {
    for (status, rest) in [(401, 0), (402, 60), (429, 60), (503, 0)] {
        let first = serve([Step::new(error(status)), Step::new(text("first again"))]);
        let second = serve([Step::new(text("second")), Step::new(text("second again"))]);
        let lab = Lab::new();
        let preferred = lab.route(CHAT, &first);
        let fallback = route("other", CHAT, &second);
        lab.keys("other", &second, &["sk-other"]);
        let mut course = chain([preferred, fallback]);
        let (end, heard) = lab.call(&mut course, &question()).await;
        let said = answered(end).text;
        assert_eq!((said.as_str(), heard.changes()), ("second", 1), "{status}");
        assert_eq!(course.route().provider, "other");

        lab.clock.advance(Duration::from_secs(30));
        let now = "2026-01-01T00:00:30Z".parse().unwrap();
        assert_eq!(course.begin_turn(now), rest == 0, "{status}");
        if rest > 0 {
            let (end, _) = lab.call(&mut course, &question()).await;
            assert_eq!(answered(end).text, "second again");
            lab.clock.advance(Duration::from_secs(40));
            assert!(course.begin_turn("2026-01-01T00:01:10Z".parse().unwrap()));
        }
        let (end, _) = lab.call(&mut course, &question()).await;
        assert_eq!(answered(end).text, "first again", "{status}");
        assert_eq!(course.route().provider, "lab");
    }
}

// AG-14
#[tokio::test]
async fn the_chain_is_walked_in_order_and_the_last_failure_is_told() {
    let servers = [error(401), error(402), error(403)].map(|step| serve([step.into()]));
    let lab = Lab::new();
    let routes: Vec<Route> = servers
        .iter()
        .enumerate()
        .map(|(index, server)| {
            let name = format!("provider-{index}");
            lab.keys(&name, server, &["sk-a"]);
            route(&name, CHAT, server)
        })
        .collect();
    let (end, heard) = lab.call(&mut chain(routes), &question()).await;
    let CallEnd::Failed(failure) = end else {
        panic!("{end:?}");
    };
    assert_eq!((failure.calls, heard.changes()), (3, 2));
    assert_eq!(failure.route.provider, "provider-2");
    assert_eq!(failure.fault.status, Some(403));
    for server in &servers {
        server.assert_done();
    }
}

// PV-17
#[tokio::test]
async fn the_keys_of_a_provider_take_turns_as_they_are_refused() {
    let server = serve([
        error(429).into(),
        error(429).into(),
        error(402).into(),
        error(401).into(),
        text("after an hour").into(),
    ]);
    let mut lab = Lab::new();
    lab.caller.attempts = 3;
    let route = lab.route(CHAT, &server);
    lab.keys("lab", &server, &["sk-one", "sk-two", "sk-three"]);
    let mut course = course(&route);
    let (end, heard) = lab.call(&mut course, &question()).await;
    let CallEnd::Failed(failure) = end else {
        panic!("{end:?}");
    };
    assert_eq!(failure.fault.reason, Reason::Auth);
    // A limit may pass, so its key is tried once more; the other refusals are final.
    assert_eq!(heard.waits().len(), 1);
    assert_eq!(bearers(&server), ["sk-one", "sk-one", "sk-two", "sk-three"]);

    // All three rest. The refused one is the first that may be used again.
    let (end, _) = lab.call(&mut self::course(&route), &question()).await;
    assert!(matches!(end, CallEnd::Failed(_)), "{end:?}");
    assert_eq!(
        server.requests().len(),
        4,
        "nobody is asked with a key that rests"
    );
    lab.clock.advance(Duration::from_secs(301));
    let (end, _) = lab.call(&mut self::course(&route), &question()).await;
    assert_eq!(answered(end).text, "after an hour");
    assert_eq!(bearers(&server)[4], "sk-three");
    server.assert_done();
}

// PV-17
#[tokio::test]
async fn a_key_rests_until_its_refusal_says_that_it_may_be_used_again() {
    let used_up = |name: &str, when: u64| {
        let mut said = json!({"type": "usage_limit_reached", "message": "That was all."});
        said[name] = json!(when);
        Step::new(error(429).body(json!({ "error": said })))
    };
    let details = json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "metadata": {"quotaResetDelay": "1h1m1.5s"}}]);
    let of_google = json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED",
        "message": "That was all.", "details": details}});
    let server = serve([
        // Two hours after the lab's clock.
        used_up("resets_at", 1_767_232_800),
        used_up("resets_in_seconds", 5_400),
        error(429).body(of_google).into(),
    ]);
    let lab = Lab::new();
    let route = lab.route(CHAT, &server);
    lab.keys("lab", &server, &["sk-one", "sk-two", "sk-three"]);
    lab.fail(&route, &question()).await;
    assert_eq!(bearers(&server), ["sk-one", "sk-two", "sk-three"]);
    let entries = lab.caller.keys.entries("lab").unwrap();
    let rests = entries.iter().map(|entry| entry.rest.unwrap().as_secs());
    assert_eq!(rests.collect::<Vec<_>>(), [7_200, 5_400, 3_661]);
}

#[tokio::test]
async fn a_body_that_is_too_large_loses_its_pictures_for_this_request_only() {
    let server = serve([
        error(413).into(),
        text("without").into(),
        text("with").into(),
    ]);
    let lab = Lab::new();
    let route = lab.route(CHAT, &server);
    let mut shown = vec![user("Look.")];
    shown.extend(kept(&one_call()));
    if let Some(result) = shown.last_mut() {
        result.parts.push(picture());
    }
    let shown = request(shown);
    let mut course = course(&route);
    let mut heard = Heard::default();
    let ask = Ask {
        request: &shown,
        tokens: 100,
        compactable: false,
        addressed: None,
    };
    let cancel = CancellationToken::new();
    let end = lab
        .caller
        .call(&mut course, &ask, &mut heard, &cancel)
        .await;
    assert_eq!(answered(end).text, "without");
    assert_eq!(lab.ask(&route, &shown).await.text, "with");
    server.assert_done();
    let pictures: Vec<bool> = server
        .requests()
        .iter()
        .map(|request| request.expect_json().to_string().contains("image_url"))
        .collect();
    assert_eq!(pictures, [true, false, true]);
}

fn one_call() -> Answer {
    Answer {
        calls: vec![AskedCall {
            id: CallId("c1".to_owned()),
            name: "look".to_owned(),
            arguments: "{}".to_owned(),
        }],
        ..Answer::default()
    }
}

fn picture() -> Part {
    Part::Media(Media {
        mime: "image/png".to_owned(),
        source: MediaSource::Blob("picture".to_owned()),
        name: None,
    })
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_handed_back() {
    let server = serve([error(400)
        .body(json!({"error": {
            "message": "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
            "type": "invalid_request_error", "code": "context_length_exceeded",
        }}))
        .into()]);
    let lab = Lab::new();
    let mut course = course(&lab.route(CHAT, &server));
    let (end, _) = lab.call(&mut course, &question()).await;
    assert!(
        matches!(&end, CallEnd::TooLong(fault) if fault.stated_window == Some(8192)),
        "{end:?}"
    );
    assert_eq!(course.window(), 8192);
}

#[tokio::test]
async fn a_page_at_the_wrong_address_is_not_taken_for_a_missing_model() {
    let page = bytes("<!doctype html><title>Not Found</title>")
        .status(404)
        .content_type("text/html");
    let server = serve([page.into()]);
    let lab = Lab::new();
    let failure = lab.fail(&lab.route(CHAT, &server), &question()).await;
    assert_eq!(failure.fault.reason, Reason::Misconfigured);
    assert!(
        failure.fault.message.contains("base URL is probably wrong"),
        "{failure}"
    );
}

// PV-8
#[tokio::test]
async fn an_answer_is_not_asked_to_be_longer_than_a_small_window_has_room_for() {
    for (window, asked) in [(32_768, 16_384), (1_000_000, 128_000)] {
        let server = serve([text("short").into()]);
        let lab = Lab::new();
        let mut route = Route {
            model: "in-house".to_owned(),
            ..lab.route(WireProtocol::Anthropic, &server)
        };
        route.limits.window = window;
        let mut question = question();
        question.settings.max_output_tokens = None;
        question.settings.effort = None;
        assert_eq!(lab.ask(&route, &question).await.text, "short");
        assert_eq!(server.requests()[0].expect_json()["max_tokens"], asked);
    }
}

// PV-17
#[tokio::test]
async fn a_call_beside_a_conversation_is_made_with_another_key() {
    let server = serve([text("yes").into(), text("aside").into(), text("no").into()]);
    let lab = Lab::new();
    let route = lab.route(CHAT, &server);
    lab.keys("lab", &server, &["sk-one", "sk-two"]);
    let mut conversation = course(&route);
    answered(lab.call(&mut conversation, &question()).await.0);
    let mut beside = course(&route).beside();
    answered(lab.call(&mut beside, &question()).await.0);
    answered(lab.call(&mut conversation, &question()).await.0);
    assert_eq!(bearers(&server), ["sk-one", "sk-two", "sk-one"]);
}
