//! Whatever a server does, in each of the five protocols.

use hermes_core::{FinishReason, Usage, WireProtocol};
use hermes_llm::classify::Reason;
use hermes_llm::{CallEnd, Quirks, ReasoningReplay};
use hermes_testkit::model_server::{
    self as script, ModelServer, Scenario, Step, ToolCall, bytes, error, text, tool_call,
};
use serde_json::{Value as Json, json};
use std::sync::Arc;
use std::time::Duration;

use super::lab::{
    Heard, Lab, PROTOCOLS, answered, course, impatient, kept, partial, question, request, user,
};

mod broken;
mod halves;

/// How long nothing may come where nothing is to come in time.
const SOON: Duration = Duration::from_millis(200);

fn serve(scenario: Scenario) -> ModelServer {
    ModelServer::start(scenario).unwrap()
}

fn once(step: impl Into<Step>) -> ModelServer {
    serve(Scenario::new().reply(step))
}

fn always(step: impl Into<Step>) -> ModelServer {
    serve(Scenario::new().reply(step.into().repeat()))
}

const LONG: &str = "Once upon a time there was a file that nobody had looked at for a long while, \
    and so nobody knew what was in it until somebody asked, which was a good thing to do, because \
    it turned out to hold a greeting and nothing else, as so many files of this name do.";

#[tokio::test]
async fn a_text_arrives_in_every_protocol() {
    for protocol in PROTOCOLS {
        // Odd pieces: frames and characters are cut wherever it falls.
        let server = once(
            Step::new(text("Grüße, 世界!"))
                .chunk_chars(3)
                .write_bytes(7),
        );
        let lab = Lab::new();
        let route = lab.route(protocol, &server);
        let (end, heard) = lab.call(&mut course(&route), &question()).await;
        let answer = answered(end);
        assert_eq!(answer.text, "Grüße, 世界!", "{protocol:?}");
        assert_eq!(heard.text(), answer.text);
        assert_eq!(answer.finish, Some(FinishReason::Stop), "{protocol:?}");
        server.assert_done();
    }
}

/// The turn of the model in the follow-up request, as that protocol has it.
fn replayed(protocol: WireProtocol, body: &Json) -> Json {
    match protocol {
        WireProtocol::ChatCompletions => body["messages"][2].clone(),
        WireProtocol::Anthropic | WireProtocol::Converse => body["messages"][1]["content"].clone(),
        WireProtocol::Gemini => body["contents"][1]["parts"].clone(),
        WireProtocol::Responses => {
            let items = body["input"].as_array().unwrap().iter();
            let own =
                |item: &&Json| item["role"] != "user" && item["type"] != "function_call_output";
            items.filter(own).cloned().collect()
        }
    }
}

/// What of a raw turn must come back.
fn expected(protocol: WireProtocol, raw: &Json) -> Json {
    let items = || raw.as_array().unwrap().clone().into_iter();
    match protocol {
        WireProtocol::ChatCompletions | WireProtocol::Anthropic | WireProtocol::Converse => {
            raw.clone()
        }
        // Thoughts are for reading; their seal is on the part behind them.
        WireProtocol::Gemini => items().filter(|part| part["thought"] != true).collect(),
        // Ids of things that were not stored mean nothing to the provider.
        WireProtocol::Responses => items()
            .map(|mut item| {
                let fields = item.as_object_mut().unwrap();
                fields.remove("id");
                if fields["type"] == "function_call" {
                    fields.remove("status");
                }
                item
            })
            .collect(),
    }
}

// PV-7
// PV-8
// PV-9
// PV-10
// AG-20
#[tokio::test]
async fn a_turn_with_thinking_and_a_call_is_sent_back_as_it_came() {
    for protocol in PROTOCOLS {
        let call = tool_call("look", json!({"path": "a.txt", "b": [1, {"z": 1, "a": 2}]}))
            .reasoning("I should look at the file first.")
            .signature("c2VhbGVk");
        let server = serve(
            Scenario::new()
                .extra_keys(["reasoning_content"])
                .reply(call)
                .reply(text("It says hello.")),
        );
        let lab = Lab::new();
        let mut route = lab.route(protocol, &server);
        if protocol == WireProtocol::ChatCompletions {
            route.quirks = Arc::new(Quirks {
                replay: ReasoningReplay::Content,
                ..Quirks::default()
            });
        }
        let first = lab.ask(&route, &question()).await;
        assert_eq!(first.finish, Some(FinishReason::ToolCalls), "{protocol:?}");
        assert_eq!(
            first.reasoning, "I should look at the file first.",
            "{protocol:?}"
        );
        let raw = first.raw.clone().unwrap();
        assert_eq!((raw.protocol, raw.provider.as_str()), (protocol, "lab"));

        let mut history = vec![user("What is in a.txt?")];
        history.extend(kept(&first));
        let second = lab.ask(&route, &request(history)).await;
        assert_eq!(second.text, "It says hello.");
        server.assert_done();
        let sent = server.requests();
        let sent = replayed(protocol, sent[1].expect_json());
        assert_eq!(sent, expected(protocol, &raw.body), "{protocol:?}");
        if protocol != WireProtocol::ChatCompletions {
            assert!(
                sent.to_string().contains("c2VhbGVk"),
                "{protocol:?}: {sent}"
            );
        }
    }
}

// PV-29, AG-25
#[tokio::test]
async fn usage_means_the_same_in_every_protocol() {
    for protocol in PROTOCOLS {
        let used = script::Usage {
            prompt_tokens: 100,
            completion_tokens: 20,
            cached_tokens: 30,
            cache_write_tokens: 10,
            reasoning_tokens: 5,
        };
        let server = once(script::Answer {
            usage: Some(used),
            ..text("Hi")
        });
        let lab = Lab::new();
        let answer = lab.ask(&lab.route(protocol, &server), &question()).await;
        let tells_writes = !matches!(protocol, WireProtocol::Responses | WireProtocol::Gemini);
        let tells_thinking = !matches!(protocol, WireProtocol::Anthropic | WireProtocol::Converse);
        let expected = Usage {
            input_tokens: if tells_writes { 60 } else { 70 },
            output_tokens: 20,
            cache_read_tokens: 30,
            cache_write_tokens: if tells_writes { 10 } else { 0 },
            reasoning_tokens: if tells_thinking { 5 } else { 0 },
        };
        assert_eq!(answer.usage, expected, "{protocol:?}");
        assert_eq!(answer.usage.total(), 120, "{protocol:?}");
    }
}

// AG-16
#[tokio::test]
async fn what_was_said_before_a_cut_counts() {
    for protocol in PROTOCOLS {
        for step in [
            Step::new(text(LONG)).close_after(9),
            Step::new(text(LONG)).hang_after(9),
        ] {
            let server = once(step);
            let lab = Lab::new();
            let limit = Duration::from_secs(5);
            let route = impatient(lab.route(protocol, &server), limit);
            let heard = Heard::then_silence(limit);
            let (end, heard) = lab
                .call_hearing(&mut course(&route), &question(), heard)
                .await;
            let answer = partial(end);
            assert!(
                !answer.text.is_empty() && LONG.starts_with(&answer.text),
                "{protocol:?}"
            );
            assert_eq!(answer.text, heard.text());
            assert_eq!(answer.finish, Some(FinishReason::Length));
            assert!(answer.raw.is_none());
            server.assert_done();
        }
    }
}

// AG-16
#[tokio::test]
async fn a_call_that_is_cut_is_asked_for_again_and_nothing_is_shown_twice() {
    let arguments = json!({"path": LONG});
    for protocol in PROTOCOLS {
        if protocol == WireProtocol::Gemini {
            // Calls come in one piece there: a cut leaves none behind.
            continue;
        }
        let answer = || {
            let call = ToolCall::new("look", arguments.clone());
            text("Let me look. ").and_call(call)
        };
        let server = serve(
            Scenario::new()
                .reply(Step::new(answer()).close_after(14))
                // The second attempt dies before it says anything.
                .reply(error(503))
                .reply(answer()),
        );
        let mut lab = Lab::new();
        lab.caller.attempts = 3;
        let route = lab.route(protocol, &server);
        let (end, heard) = lab.call(&mut course(&route), &question()).await;
        let answer = answered(end);
        assert_eq!(heard.text(), "Let me look. ", "{protocol:?}");
        assert_eq!(answer.text, "Let me look. ");
        assert_eq!(answer.calls.len(), 1, "{protocol:?}");
        let sent: Json = serde_json::from_str(&answer.calls[0].arguments).unwrap();
        assert_eq!(sent, arguments, "{protocol:?}");
        assert_eq!(heard.waits().len(), 2);
        server.assert_done();
    }
}

// PV-9
// PV-10
#[tokio::test]
async fn a_failure_in_the_stream_before_anything_was_said_is_tried_again() {
    let malformed =
        r#"data: {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "index": 0}]}"#;
    let overloaded = r#"event: error
data: {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}"#;
    let failed = r#"event: response.failed
data: {"type": "response.failed", "response": {"status": "failed", "error": {"code": "server_error", "message": "sorry"}}}"#;
    for (protocol, frames) in [
        (
            WireProtocol::ChatCompletions,
            vec![r#"data: {"error": {"code": 502, "message": "sorry"}}"#],
        ),
        (WireProtocol::Responses, vec![failed]),
        (WireProtocol::Anthropic, vec![overloaded]),
        (WireProtocol::Gemini, vec![malformed]),
        (
            WireProtocol::Converse,
            vec![
                r#"messageStart {"role": "assistant"}"#,
                r#"modelStreamErrorException {"message": "sorry"}"#,
            ],
        ),
    ] {
        let server = serve(
            Scenario::new()
                .reply(script::frames(frames))
                .reply(text("Hi")),
        );
        let mut lab = Lab::new();
        lab.caller.attempts = 2;
        let route = lab.route(protocol, &server);
        let (end, heard) = lab.call(&mut course(&route), &question()).await;
        assert_eq!(answered(end).text, "Hi", "{protocol:?}");
        assert_eq!(
            (heard.text().as_str(), heard.waits().len()),
            ("Hi", 1),
            "{protocol:?}"
        );
        server.assert_done();
    }
}

// AG-12: what may not be streamed comes in one piece.
#[tokio::test]
async fn an_answer_that_may_not_be_streamed_is_asked_for_whole() {
    for protocol in PROTOCOLS {
        let message = "Your organization must be verified to stream this model.";
        let refused = json!({"error": {
            "message": message, "type": "invalid_request_error", "code": "unsupported_value",
        }});
        let server = serve(
            Scenario::new()
                .reply(error(400).body(refused))
                .reply(text(LONG)),
        );
        let lab = Lab::new();
        let route = lab.route(protocol, &server);
        let answer = lab.ask(&route, &question()).await;
        assert_eq!(answer.text, LONG, "{protocol:?}");
        assert_eq!(answer.finish, Some(FinishReason::Stop), "{protocol:?}");
        let streamed: Vec<bool> = server
            .requests()
            .iter()
            .map(|request| {
                let body = request.expect_json()["stream"].as_bool();
                body.unwrap_or_else(|| request.path.to_lowercase().contains("stream"))
            })
            .collect();
        assert_eq!(streamed, [true, false], "{protocol:?}");
        server.assert_done();
    }
}

#[tokio::test]
async fn silence_is_a_stall() {
    for protocol in PROTOCOLS {
        let late = Step::new(text("Hi")).delay(Duration::from_secs(5));
        for step in [late, Step::new(text("Hi")).hang_after(0)] {
            let server = always(step);
            let lab = Lab::new();
            let failure = lab
                .fail(&impatient(lab.route(protocol, &server), SOON), &question())
                .await;
            assert_eq!(failure.fault.reason, Reason::Timeout, "{protocol:?}");
            assert!(
                failure.fault.message.contains("no answer"),
                "{}",
                failure.fault.message
            );
            // Once more with fresh connections.
            assert_eq!(failure.calls, 2);
        }
    }
}

#[tokio::test]
async fn comments_do_not_keep_a_silent_answer_alive() {
    let said = json!({"choices": [{"index": 0, "delta": {"content": "Well"}}]});
    let mut frames = vec![format!("data: {said}")];
    // They come for longer than the whole call may take.
    frames.extend((0..1_000).map(|_| ": still here".to_owned()));
    let server = once(Step::new(script::frames(frames)).pace(Duration::from_millis(40)));
    let lab = Lab::new();
    let limit = Duration::from_secs(2);
    let route = impatient(lab.route(WireProtocol::ChatCompletions, &server), limit);
    let began = std::time::Instant::now();
    let (end, _) = lab.call(&mut course(&route), &question()).await;
    assert_eq!(partial(end).text, "Well");
    assert!(
        began.elapsed() < Duration::from_secs(15),
        "{:?}",
        began.elapsed()
    );
}

// AG-15
#[tokio::test]
async fn events_without_content_are_no_beginning_of_an_answer() {
    let response = json!({"id": "resp_1", "status": "in_progress", "output": []});
    let busy = json!({"type": "response.in_progress", "response": response});
    for (protocol, sign) in [
        (WireProtocol::Anthropic, json!({"type": "ping"})),
        (WireProtocol::Responses, busy),
    ] {
        let frame = format!("event: {}\ndata: {sign}", sign["type"].as_str().unwrap());
        let signs = script::frames(vec![frame; 1_000]);
        let server = always(Step::new(signs).pace(Duration::from_millis(40)));
        let lab = Lab::new();
        let began = std::time::Instant::now();
        let route = impatient(lab.route(protocol, &server), SOON);
        let failure = lab.fail(&route, &question()).await;
        assert_eq!(failure.fault.reason, Reason::Timeout, "{protocol:?}");
        let took = began.elapsed();
        assert!(took < Duration::from_secs(15), "{protocol:?}: {took:?}");
    }
}

// AG-15
#[tokio::test]
async fn events_without_content_keep_an_answer_alive_that_has_begun() {
    let frame = |event: Json| format!("event: {}\ndata: {event}", event["type"].as_str().unwrap());
    let words = |words: &str| {
        let delta = json!({"type": "text_delta", "text": words});
        frame(json!({"type": "content_block_delta", "index": 0, "delta": delta}))
    };
    let begun = json!({"id": "msg_1", "type": "message", "role": "assistant", "content": [],
        "model": "m", "usage": {"input_tokens": 1, "output_tokens": 1}});
    let mut frames = vec![
        frame(json!({"type": "message_start", "message": begun})),
        frame(json!({"type": "content_block_start", "index": 0,
            "content_block": {"type": "text", "text": ""}})),
        words("Well, "),
    ];
    frames.extend(vec![frame(json!({"type": "ping"})); 50]);
    frames.extend([
        words("yes."),
        frame(json!({"type": "content_block_stop", "index": 0})),
        frame(
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": 2}}),
        ),
        frame(json!({"type": "message_stop"})),
    ]);
    // The pings take longer than silence may.
    let server = once(Step::new(script::frames(frames)).pace(Duration::from_millis(60)));
    let lab = Lab::new();
    let limit = Duration::from_secs(2);
    let route = impatient(lab.route(WireProtocol::Anthropic, &server), limit);
    assert_eq!(lab.ask(&route, &question()).await.text, "Well, yes.");
}

#[tokio::test]
async fn a_call_can_be_stopped_at_any_time() {
    for protocol in PROTOCOLS {
        let server = once(Step::new(text(LONG)).hang_after(9));
        let lab = Lab::new();
        let route = lab.route(protocol, &server);
        let mut heard = Heard::default();
        let request = question();
        let ask = hermes_llm::Ask {
            request: &request,
            tokens: 10,
            compactable: false,
            addressed: None,
        };
        let cancel = tokio_util::sync::CancellationToken::new();
        let mut course = course(&route);
        let (end, ()) = tokio::join!(
            lab.caller.call(&mut course, &ask, &mut heard, &cancel),
            async {
                tokio::time::sleep(Duration::from_millis(100)).await;
                cancel.cancel();
            }
        );
        match end {
            CallEnd::Stopped(answer) => assert_eq!(answer.text, heard.text()),
            other => panic!("{protocol:?}: {other:?}"),
        }
    }
}
