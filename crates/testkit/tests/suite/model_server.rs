//! The scripted server answers in order, in the vendor's format, and remembers everything.

use std::time::Duration;

use hermes_testkit::model_server::{
    Gate, ModelServer, Outcome, Scenario, Step, ToolCall, Usage, error, text, tool_call,
};
use serde_json::{Value, json};

use super::http_client::{ask, ask_streamed, chat, send};

fn deltas(events: &[String]) -> Vec<Value> {
    events
        .iter()
        .filter_map(|event| serde_json::from_str::<Value>(event).ok())
        .filter(|chunk| chunk["choices"] != json!([]))
        .map(|chunk| chunk["choices"][0]["delta"].clone())
        .collect()
}

#[test]
fn answers_a_plain_request_with_one_document() {
    let usage = Usage {
        prompt_tokens: 7,
        completion_tokens: 3,
        cached_tokens: 2,
        reasoning_tokens: 1,
        ..Usage::default()
    };
    let scenario = Scenario::new().reply(text("hi").reasoning("hm").usage(usage));
    let server = ModelServer::start(scenario).unwrap();
    let response = chat(&server.base_url(), &ask("hello"));
    assert_eq!(response.status, 200);
    assert_eq!(
        response.json(),
        json!({
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": "scripted",
            "choices": [{
                "index": 0,
                "message": {"role": "assistant", "content": "hi", "reasoning_content": "hm"},
                "finish_reason": "stop",
            }],
            "usage": {
                "prompt_tokens": 7,
                "completion_tokens": 3,
                "total_tokens": 10,
                "prompt_tokens_details": {"cached_tokens": 2},
                "completion_tokens_details": {"reasoning_tokens": 1},
            },
        })
    );
    server.assert_done();
}

#[test]
fn streams_role_reasoning_text_finish_usage_and_done() {
    let reply = Step::new(text("héllo").reasoning("ab")).chunk_chars(3);
    let server = ModelServer::start(Scenario::new().reply(reply)).unwrap();
    let response = chat(&server.base_url(), &ask_streamed("hello"));
    assert!(response.complete);
    assert!(
        response.head.contains("text/event-stream"),
        "{}",
        response.head
    );
    let events = response.events();
    assert_eq!(
        deltas(&events),
        [
            json!({"role": "assistant", "content": ""}),
            json!({"reasoning_content": "ab"}),
            json!({"content": "hél"}),
            json!({"content": "lo"}),
            json!({}),
        ]
    );
    let finish: Value = serde_json::from_str(&events[events.len() - 3]).unwrap();
    assert_eq!(finish["choices"][0]["finish_reason"], "stop");
    let usage: Value = serde_json::from_str(&events[events.len() - 2]).unwrap();
    assert_eq!(usage["choices"], json!([]));
    assert_eq!(usage["usage"]["total_tokens"], 120);
    assert_eq!(events.last().unwrap(), "[DONE]");
}

#[test]
fn streams_tool_calls_in_fragments() {
    let reply =
        tool_call("terminal", json!({"command": "ls"})).and_tool_call("broken", json!("{\"a\": "));
    let reply = Step::new(reply).chunk_chars(10);
    let server = ModelServer::start(Scenario::new().reply(reply)).unwrap();
    let events = chat(&server.base_url(), &ask_streamed("list")).events();
    let call = |index: u64, fragment: &str| json!({"tool_calls": [{"index": index, "function": {"arguments": fragment}}]});
    let start = |index: u64, id: &str, name: &str| {
        let function = json!({"name": name, "arguments": ""});
        json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]})
    };
    assert_eq!(
        deltas(&events),
        [
            json!({"role": "assistant", "content": ""}),
            start(0, "call_1_0", "terminal"),
            call(0, "{\"command\""),
            call(0, ":\"ls\"}"),
            start(1, "call_1_1", "broken"),
            call(1, "{\"a\": "),
            json!({}),
        ]
    );
}

#[test]
fn takes_the_first_unused_step_that_matches() {
    let scenario = Scenario::new()
        .reply(Step::new(text("for rain")).when_user("rain"))
        .reply(Step::new(text("third")).when_call(3))
        .reply(
            Step::new(text("gold"))
                .when_header("X-Tier", "gold")
                .when_no_tools(),
        )
        .reply(Step::new(text("other model")).when_model("big"))
        .reply(Step::new(text("default")).repeat());
    let server = ModelServer::start(scenario).unwrap();
    let mut offering = ask("anything");
    offering["tools"] = json!([{"type": "function", "function": {"name": "terminal"}}]);
    let requests = [
        ask("sun"),
        offering,
        ask("sun"),
        ask("will it rain?"),
        ask("rain again"),
    ];
    let answers: Vec<String> = requests
        .iter()
        .map(|request| {
            let answer = chat(&server.base_url(), request).json();
            answer["choices"][0]["message"]["content"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(answers, ["gold", "default", "third", "for rain", "default"]);
    assert_eq!(server.unused_steps(), 1);
}

#[test]
fn reports_a_request_that_has_no_step() {
    let server = ModelServer::start(Scenario::new().reply(text("only once"))).unwrap();
    chat(&server.base_url(), &ask("first"));
    let response = chat(&server.base_url(), &ask("second"));
    assert_eq!(response.status, 500);
    let message = response.json()["error"]["message"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(
        message,
        "no step left for request 2: POST /v1/chat/completions, model \"scripted\", last user message Some(\"second\")"
    );
    let unmatched = server.unmatched();
    assert_eq!(unmatched.len(), 1);
    assert_eq!(unmatched[0].outcome, Outcome::Unmatched);
    assert_eq!(
        unmatched[0].expect_json()["messages"][0]["content"],
        "second"
    );
}

#[test]
fn records_requests_byte_for_byte() {
    let server = ModelServer::start(Scenario::echo().lenient()).unwrap();
    let body = r#"{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}] }"#;
    let response = send(&server.base_url(), "POST", "/chat/completions?x=1", body);
    assert_eq!(response.json()["choices"][0]["message"]["content"], "a\nb");
    let request = server.requests().remove(0);
    assert_eq!(request.body, body.as_bytes());
    assert_eq!(request.path, "/v1/chat/completions?x=1");
    assert_eq!(request.method, "POST");
    assert_eq!(request.header("Authorization"), Some("Bearer sk-test"));
}

#[test]
fn lists_models_and_refuses_what_it_does_not_know() {
    let server = ModelServer::start(Scenario::new().models(["a", "b"])).unwrap();
    let models = send(&server.base_url(), "GET", "/models", "").json();
    assert_eq!(models["data"][1]["id"], "b");
    let refused = [
        ("GET", "/nothing", 404),
        ("GET", "/chat/completions", 404),
        ("POST", "/chat/completions", 400),
    ];
    for (method, path, status) in refused {
        let response = send(&server.base_url(), method, path, "{");
        assert_eq!(response.status, status, "{method} {path}");
    }
    assert_eq!(server.unmatched().len(), refused.len());
}

#[test]
fn answers_have_as_many_parts_as_scripted_in_any_order() {
    let reply = text("Looking. ")
        .and_call(ToolCall::new("terminal", json!({})).id("a"))
        .and_tool_call("read_file", json!({}))
        .then_reasoning("second thoughts")
        .then_text("Done.")
        .then_call(ToolCall::new("todo", json!({})).signature("s1"));
    let server = ModelServer::start(Scenario::new().reply(reply)).unwrap();
    let answer = chat(&server.base_url(), &ask("go")).json();
    let choice = &answer["choices"][0];
    assert_eq!(choice["finish_reason"], "tool_calls");
    let call = |id: &str, name: &str| {
        let function = json!({"name": name, "arguments": "{}"});
        json!({"id": id, "type": "function", "function": function})
    };
    let mut last = call("call_1_2", "todo");
    last["extra_content"] = json!({"google": {"thought_signature": "s1"}});
    assert_eq!(
        choice["message"],
        json!({
            "role": "assistant",
            "content": "Looking. Done.",
            "reasoning_content": "second thoughts",
            "tool_calls": [call("a", "terminal"), call("call_1_1", "read_file"), last],
        })
    );
}

#[test]
fn scenario_files_hold_the_same_types() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios");
    for name in [
        "weather-tool.json",
        "rough-vendor.json",
        "device-login.json",
    ] {
        let scenario = Scenario::from_file(format!("{directory}/{name}")).unwrap();
        let text = serde_json::to_string(&scenario).unwrap();
        assert_eq!(serde_json::from_str::<Scenario>(&text).unwrap(), scenario);
    }
    let broken = serde_json::from_str::<Scenario>(r#"{"steps": [{"reply": {"anwser": {}}}]}"#);
    assert!(broken.unwrap_err().to_string().contains("anwser"));
}

#[test]
fn a_held_answer_waits_for_its_gate() {
    let gate = Gate::new();
    let scenario = Scenario::new()
        .reply(Step::new(text("at last")).when_user("first").held(&gate))
        .reply(Step::new(text("at once")).when_user("second"));
    let server = ModelServer::start(scenario).unwrap();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| chat(&server.base_url(), &ask("first")));
        server
            .wait_for_requests(1, Duration::from_secs(10))
            .unwrap();
        // Others are answered meanwhile.
        let second = chat(&server.base_url(), &ask("second"));
        assert!(second.text().contains("at once"));
        let requests = server.requests();
        assert!(requests[0].answered_at.is_none() && !first.is_finished());
        gate.open();
        assert!(first.join().unwrap().text().contains("at last"));
    });
}

#[test]
fn refuses_a_scenario_that_cannot_be_sent() {
    let bad_header = Scenario::new().reply(Step::new(text("x")).header("bad name", "x"));
    assert!(ModelServer::start(bad_header).is_err());
    let bad_status = Scenario::new().reply(error(42));
    assert!(ModelServer::start(bad_status).is_err());
}
