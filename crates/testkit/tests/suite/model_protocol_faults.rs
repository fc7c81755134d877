//! Faults and conditions work the same in every protocol.

use std::io::{ErrorKind, Read as _};
use std::time::Duration;

use hermes_testkit::model_server::{
    ModelServer, Outcome, Protocol, Scenario, Step, bytes, error, frames, text,
};
use serde_json::json;

use super::http_client::{open, send};
use super::vendors::{
    ALL, Form, amazon_frames, answer_text, ask, body, error_message, offer_tool, path,
};

#[test]
fn errors_have_the_shape_of_the_vendor() {
    let kind = |protocol| match protocol {
        Protocol::ChatCompletions | Protocol::Responses | Protocol::Anthropic => "rate_limit_error",
        Protocol::Gemini => "RESOURCE_EXHAUSTED",
        Protocol::Converse => "ThrottlingException",
    };
    for protocol in ALL {
        let scenario = Scenario::new()
            .reply(error(429).message("slow down").retry_after(3))
            .reply(error(400).kind("special").message("no"))
            .reply(error(500))
            .reply(error(503).body(json!({"own": "shape"})));
        let server = ModelServer::start(scenario).unwrap();
        let limited = ask(&server, protocol, "a", Form::Streamed);
        assert_eq!(limited.status, 429);
        assert!(limited.head.contains("retry-after: 3"), "{}", limited.head);
        let answer = limited.json();
        assert_eq!(error_message(protocol, &answer), "slow down", "{protocol}");
        let everything = format!("{}{}", limited.head, limited.text());
        assert!(everything.contains(kind(protocol)), "{everything}");
        match protocol {
            Protocol::Anthropic => assert_eq!(answer["type"], "error"),
            Protocol::Gemini => {
                assert_eq!(answer["error"]["code"], 429);
                assert_eq!(answer["error"]["details"][0]["retryDelay"], "3s");
            }
            Protocol::Converse => {
                let header = "x-amzn-errortype: ThrottlingException";
                assert!(limited.head.contains(header), "{}", limited.head);
            }
            Protocol::ChatCompletions | Protocol::Responses => {}
        }
        let special = ask(&server, protocol, "b", Form::Whole);
        let everything = format!("{}{}", special.head, special.text());
        assert!(everything.contains("special"), "{everything}");
        let plain = ask(&server, protocol, "c", Form::Whole).json();
        assert_eq!(error_message(protocol, &plain), "scripted 500");
        let own = ask(&server, protocol, "d", Form::Whole).json();
        assert_eq!(own, json!({"own": "shape"}));
    }
}

#[test]
fn frames_pass_through_and_become_binary_for_converse() {
    for protocol in ALL {
        let scripted = frames([
            "first {\"a\":1}",
            "throttlingException {\"message\":\"slow\"}",
        ]);
        let server = ModelServer::start(Scenario::new().reply(scripted)).unwrap();
        let response = ask(&server, protocol, "go", Form::Streamed);
        if protocol != Protocol::Converse {
            let expected = "first {\"a\":1}\n\nthrottlingException {\"message\":\"slow\"}\n\n";
            assert_eq!(response.text(), expected);
            continue;
        }
        let frames = amazon_frames(&response.body);
        assert_eq!(frames[0].header(":event-type"), "first");
        assert_eq!(frames[0].payload, json!({"a": 1}));
        assert_eq!(frames[1].header(":message-type"), "exception");
        assert_eq!(frames[1].header(":exception-type"), "throttlingException");
        assert_eq!(frames[1].payload["message"], "slow");
    }
}

#[test]
fn bytes_and_small_writes_reach_every_protocol() {
    for protocol in ALL {
        let scenario = Scenario::new()
            .reply(
                bytes(vec![0xff, 0x00])
                    .status(502)
                    .content_type("text/html"),
            )
            .reply(Step::new(text("héllo wörld")).write_bytes(1))
            .reply(text("héllo wörld"));
        let server = ModelServer::start(scenario).unwrap();
        let broken = ask(&server, protocol, "a", Form::Whole);
        assert_eq!((broken.status, broken.body), (502, vec![0xff, 0x00]));
        assert!(broken.head.contains("text/html"), "{}", broken.head);
        let cut = ask(&server, protocol, "b", Form::Streamed);
        let whole = ask(&server, protocol, "c", Form::Streamed);
        assert!(cut.complete && whole.complete);
        // Only the number of the request differs between the two.
        assert_eq!(cut.body.len(), whole.body.len(), "{protocol}");
    }
}

#[test]
fn streams_break_off_where_scripted() {
    for protocol in ALL {
        let reply = |count| Step::new(text("abcdef")).chunk_chars(1).close_after(count);
        let scenario = Scenario::new().reply(reply(4)).reply(text("abcdef"));
        let server = ModelServer::start(scenario).unwrap();
        let cut = ask(&server, protocol, "go", Form::Streamed);
        assert!(!cut.complete, "{protocol}");
        let frames = match protocol {
            Protocol::Converse => amazon_frames(&cut.body).len(),
            _ => cut.text().matches("\n\n").count(),
        };
        assert_eq!(frames, 4, "{protocol}");
        assert!(ask(&server, protocol, "go", Form::Streamed).complete);
    }
}

#[test]
fn streams_fall_silent_where_scripted() {
    for protocol in ALL {
        let reply = Step::new(text("abc")).hang_after(1);
        let server = ModelServer::start(Scenario::new().reply(reply)).unwrap();
        let target = path(protocol, Form::Streamed);
        let body = body(protocol, "go", Form::Streamed).to_string();
        let mut stream = open(&server.origin(), "POST", target, &body);
        let limit = Duration::from_millis(100);
        let requests = server
            .wait_for_requests(1, Duration::from_secs(10))
            .unwrap();
        assert_eq!(requests.len(), 1);
        stream.set_read_timeout(Some(limit)).unwrap();
        let mut seen = Vec::new();
        let silence = stream.read_to_end(&mut seen).unwrap_err().kind();
        assert!(
            matches!(silence, ErrorKind::WouldBlock | ErrorKind::TimedOut),
            "{protocol}: {silence:?}"
        );
    }
}

#[test]
fn conditions_read_every_protocol() {
    for protocol in ALL {
        let scenario = Scenario::new()
            .reply(Step::new(text("tools")).when_tools_offered())
            .reply(
                Step::new(text("model"))
                    .when_model("other:v1")
                    .when_no_tools(),
            )
            .reply(Step::new(text("rain")).when_user("rain"))
            .reply(Step::new(text("third")).when_call(4))
            .reply(Step::new(text("body")).when_body("needle"))
            .reply(Step::new(text("rest")).repeat());
        let server = ModelServer::start(scenario).unwrap();
        let said = |target: &str, body: &serde_json::Value| {
            let response = send(&server.origin(), "POST", target, &body.to_string());
            answer_text(protocol, &response.json())
        };
        let target = path(protocol, Form::Whole);
        let plain = |user: &str| body(protocol, user, Form::Whole);
        assert_eq!(said(target, &plain("will it rain?")), "rain");
        assert_eq!(said(target, &plain("rain again")), "rest");
        let mut offering = plain("x");
        offer_tool(protocol, &mut offering);
        assert_eq!(said(target, &offering), "tools");
        assert_eq!(said(target, &plain("y")), "third");
        assert_eq!(said(target, &plain("a needle")), "body");
        let (target, other) = match protocol {
            Protocol::Gemini => (
                "/v1beta/models/other:v1:generateContent".to_owned(),
                plain("z"),
            ),
            Protocol::Converse => ("/model/other%3Av1/converse".to_owned(), plain("z")),
            Protocol::ChatCompletions | Protocol::Responses | Protocol::Anthropic => {
                let mut body = plain("z");
                body["model"] = "other:v1".into();
                (target.to_owned(), body)
            }
        };
        assert_eq!(said(&target, &other), "model", "{protocol}");
        server.assert_done();
    }
}

#[test]
fn a_message_of_results_is_not_what_the_user_said() {
    let anthropic = json!({"messages": [
        {"role": "user", "content": "question"},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "sunny"}]},
    ]});
    let gemini = json!({"contents": [
        {"role": "user", "parts": [{"text": "question"}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "a", "response": {}}}]},
    ]});
    let converse = json!({"messages": [
        {"role": "user", "content": [{"text": "question"}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": []}}]},
    ]});
    let server = ModelServer::start(Scenario::echo().lenient()).unwrap();
    for (protocol, body) in [
        (Protocol::Anthropic, anthropic),
        (Protocol::Gemini, gemini),
        (Protocol::Converse, converse),
        (Protocol::Responses, json!({"input": "question"})),
    ] {
        let target = path(protocol, Form::Whole);
        let answer = send(&server.origin(), "POST", target, &body.to_string());
        assert_eq!(
            answer_text(protocol, &answer.json()),
            "question",
            "{protocol}"
        );
    }
}

#[test]
fn a_strict_server_refuses_with_the_reasons_and_keeps_its_step() {
    for protocol in ALL {
        let server = ModelServer::start(Scenario::new().reply(text("fine"))).unwrap();
        let mut body = body(protocol, "hi", Form::Whole);
        body["_local"] = true.into();
        let target = path(protocol, Form::Whole);
        let refused = send(&server.origin(), "POST", target, &body.to_string());
        assert_eq!(refused.status, 400);
        let message = error_message(protocol, &refused.json());
        assert!(message.contains("`_local` is a local key"), "{message}");
        let recorded = server.unmatched().remove(0);
        assert_eq!(recorded.outcome, Outcome::Refused);
        assert_eq!(recorded.violations, ["body: `_local` is a local key"]);
        let answer = ask(&server, protocol, "hi", Form::Whole).json();
        assert_eq!(answer_text(protocol, &answer), "fine");
    }
}

#[test]
fn a_lenient_server_takes_anything_and_extra_keys_are_taken_anywhere() {
    let mut body = body(Protocol::ChatCompletions, "hi", Form::Whole);
    body["provider"] = json!({"sort": "price"});
    body["messages"][0]["cache"] = json!(true);
    let target = path(Protocol::ChatCompletions, Form::Whole);
    let status = |scenario: Scenario| {
        let server = ModelServer::start(scenario).unwrap();
        send(&server.origin(), "POST", target, &body.to_string()).status
    };
    assert_eq!(status(Scenario::echo()), 400);
    assert_eq!(status(Scenario::echo().lenient()), 200);
    assert_eq!(status(Scenario::echo().extra_keys(["provider"])), 400);
    assert_eq!(
        status(Scenario::echo().extra_keys(["provider", "cache"])),
        200
    );
}
