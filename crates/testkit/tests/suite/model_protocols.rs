//! One script, five protocols: each answer comes in the form its request came in.

use hermes_testkit::model_server::{Answer, ModelServer, Protocol, Scenario, Step, Usage, text};
use serde_json::{Value, json};

use super::http_client::Response;
use super::vendors::{Form, amazon_frames, ask, body};

const USAGE: Usage = Usage {
    prompt_tokens: 50,
    completion_tokens: 9,
    cached_tokens: 30,
    cache_write_tokens: 5,
    reasoning_tokens: 4,
};

fn full_answer() -> Answer {
    text("Hello")
        .reasoning("thinking")
        .signature("seal")
        .and_tool_call("terminal", json!({"command": "ls"}))
        .usage(USAGE)
}

fn answered(protocol: Protocol, form: Form) -> Response {
    let reply = Step::new(full_answer()).chunk_chars(5);
    let server = ModelServer::start(Scenario::new().reply(reply)).unwrap();
    let response = ask(&server, protocol, "hi", form);
    server.assert_done();
    assert_eq!(response.status, 200, "{protocol}");
    assert!(response.complete);
    response
}

fn names(events: &[(String, Value)]) -> Vec<&str> {
    events.iter().map(|(name, _)| name.as_str()).collect()
}

#[test]
fn responses_answer_as_a_document() {
    let answer = answered(Protocol::Responses, Form::Whole).json();
    assert_eq!(answer["object"], "response");
    assert_eq!(answer["status"], "completed");
    assert_eq!(
        answer["output"],
        json!([
            {
                "id": "rs_1_0",
                "type": "reasoning",
                "summary": [{"type": "summary_text", "text": "thinking"}],
                "encrypted_content": "seal",
            },
            {
                "id": "msg_1_1",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": "Hello", "annotations": []}],
            },
            {
                "id": "fc_1_2",
                "type": "function_call",
                "status": "completed",
                "call_id": "call_1_0",
                "name": "terminal",
                "arguments": "{\"command\":\"ls\"}",
            },
        ])
    );
    assert_eq!(
        answer["usage"],
        json!({
            "input_tokens": 50,
            "input_tokens_details": {"cached_tokens": 30},
            "output_tokens": 9,
            "output_tokens_details": {"reasoning_tokens": 4},
            "total_tokens": 59,
        })
    );
}

#[test]
fn responses_stream_items_one_after_another() {
    let events = answered(Protocol::Responses, Form::Streamed).named_events();
    assert_eq!(
        names(&events),
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.reasoning_summary_part.added",
            "response.reasoning_summary_text.delta",
            "response.reasoning_summary_text.delta",
            "response.reasoning_summary_text.done",
            "response.reasoning_summary_part.done",
            "response.output_item.done",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.output_item.added",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "response.output_item.done",
            "response.completed",
        ]
    );
    for (index, (name, payload)) in events.iter().enumerate() {
        assert_eq!(payload["type"], name.as_str());
        assert_eq!(payload["sequence_number"], index);
    }
    let whole = answered(Protocol::Responses, Form::Whole).json();
    assert_eq!(events.last().unwrap().1["response"], whole);
    assert_eq!(events[8].1["item"], whole["output"][0]);
    assert_eq!(events[2].1["item"]["encrypted_content"], Value::Null);
}

#[test]
fn anthropic_answers_as_a_document() {
    let answer = answered(Protocol::Anthropic, Form::Whole).json();
    assert_eq!(
        answer,
        json!({
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "scripted",
            "content": [
                {"type": "thinking", "thinking": "thinking", "signature": "seal"},
                {"type": "text", "text": "Hello"},
                {"type": "tool_use", "id": "call_1_0", "name": "terminal", "input": {"command": "ls"}},
            ],
            "stop_reason": "tool_use",
            "stop_sequence": null,
            "usage": {
                "input_tokens": 15,
                "cache_read_input_tokens": 30,
                "cache_creation_input_tokens": 5,
                "output_tokens": 9,
            },
        })
    );
}

#[test]
fn anthropic_streams_blocks() {
    let events = answered(Protocol::Anthropic, Form::Streamed).named_events();
    let (first, last) = (&events[0], &events[events.len() - 2]);
    assert_eq!(first.0, "message_start");
    assert_eq!(first.1["message"]["usage"]["cache_read_input_tokens"], 30);
    assert_eq!(events[1].0, "ping");
    assert_eq!(last.1["delta"]["stop_reason"], "tool_use");
    assert_eq!(last.1["usage"]["output_tokens"], 9);
    assert_eq!(events.last().unwrap().0, "message_stop");
    let deltas: Vec<(u64, Value)> = events
        .iter()
        .filter(|(name, _)| name == "content_block_delta")
        .map(|(_, payload)| (payload["index"].as_u64().unwrap(), payload["delta"].clone()))
        .collect();
    let json_delta = |text: &str| json!({"type": "input_json_delta", "partial_json": text});
    assert_eq!(
        deltas,
        [
            (0, json!({"type": "thinking_delta", "thinking": "think"})),
            (0, json!({"type": "thinking_delta", "thinking": "ing"})),
            (0, json!({"type": "signature_delta", "signature": "seal"})),
            (1, json!({"type": "text_delta", "text": "Hello"})),
            (2, json_delta("{\"com")),
            (2, json_delta("mand\"")),
            (2, json_delta(":\"ls\"")),
            (2, json_delta("}")),
        ]
    );
}

#[test]
fn gemini_answers_as_a_document() {
    let answer = answered(Protocol::Gemini, Form::Whole).json();
    let candidate = &answer["candidates"][0];
    assert_eq!(candidate["finishReason"], "STOP");
    assert_eq!(candidate["content"]["role"], "model");
    let parts = candidate["content"]["parts"].as_array().unwrap();
    assert_eq!(parts[0], json!({"text": "thinking", "thought": true}));
    assert_eq!(
        parts[1],
        json!({"text": "Hello", "thoughtSignature": "seal"})
    );
    let call = json!({"name": "terminal", "args": {"command": "ls"}});
    assert_eq!(parts[2]["functionCall"], call);
    assert!(parts[2]["thoughtSignature"].is_string());
    assert_eq!(
        answer["usageMetadata"],
        json!({
            "promptTokenCount": 50,
            "cachedContentTokenCount": 30,
            "candidatesTokenCount": 5,
            "thoughtsTokenCount": 4,
            "totalTokenCount": 59,
        })
    );
}

#[test]
fn gemini_streams_events_or_an_array() {
    let events = answered(Protocol::Gemini, Form::Streamed).events();
    let server =
        ModelServer::start(Scenario::new().reply(Step::new(full_answer()).chunk_chars(5))).unwrap();
    let plain = super::http_client::send(
        &server.origin(),
        "POST",
        "/v1beta/models/scripted:streamGenerateContent",
        &body(Protocol::Gemini, "hi", Form::Whole).to_string(),
    );
    let chunks: Vec<Value> = events
        .iter()
        .map(|event| serde_json::from_str(event).unwrap())
        .collect();
    assert_eq!(plain.json(), json!(chunks));
    let texts: Vec<&Value> = chunks
        .iter()
        .map(|chunk| &chunk["candidates"][0]["content"]["parts"][0])
        .collect();
    assert_eq!(texts[0], &json!({"text": "think", "thought": true}));
    assert_eq!(texts[1], &json!({"text": "ing", "thought": true}));
    assert_eq!(
        texts[2],
        &json!({"text": "Hello", "thoughtSignature": "seal"})
    );
    assert_eq!(texts[3]["functionCall"]["name"], "terminal");
    assert_eq!(chunks.len(), 4);
    assert_eq!(chunks[2]["candidates"][0].get("finishReason"), None);
    assert_eq!(chunks[3]["candidates"][0]["finishReason"], "STOP");
    assert_eq!(chunks[3]["usageMetadata"]["totalTokenCount"], 59);
}

#[test]
fn converse_answers_as_a_document() {
    let answer = answered(Protocol::Converse, Form::Whole).json();
    let call = json!({"toolUseId": "call_1_0", "name": "terminal", "input": {"command": "ls"}});
    assert_eq!(
        answer["output"]["message"],
        json!({"role": "assistant", "content": [
            {"reasoningContent": {"reasoningText": {"text": "thinking", "signature": "seal"}}},
            {"text": "Hello"},
            {"toolUse": call},
        ]})
    );
    assert_eq!(answer["stopReason"], "tool_use");
    assert_eq!(
        answer["usage"],
        json!({
            "inputTokens": 15,
            "outputTokens": 9,
            "totalTokens": 59,
            "cacheReadInputTokens": 30,
            "cacheWriteInputTokens": 5,
        })
    );
}

#[test]
fn converse_streams_binary_frames() {
    let response = answered(Protocol::Converse, Form::Streamed);
    let kind = "application/vnd.amazon.eventstream";
    assert!(response.head.contains(kind), "{}", response.head);
    let frames = amazon_frames(&response.body);
    for frame in &frames {
        assert_eq!(frame.header(":message-type"), "event");
        assert_eq!(frame.header(":content-type"), "application/json");
    }
    let events: Vec<(&str, &Value)> = frames
        .iter()
        .map(|frame| (frame.header(":event-type"), &frame.payload))
        .collect();
    let delta = |index: u64, delta: Value| json!({"contentBlockIndex": index, "delta": delta});
    let stop = |index: u64| json!({"contentBlockIndex": index});
    let start = json!({"contentBlockIndex": 2, "start": {"toolUse": {"toolUseId": "call_1_0", "name": "terminal"}}});
    assert_eq!(events[0], ("messageStart", &json!({"role": "assistant"})));
    let expected = [
        (
            "contentBlockDelta",
            delta(0, json!({"reasoningContent": {"text": "think"}})),
        ),
        (
            "contentBlockDelta",
            delta(0, json!({"reasoningContent": {"text": "ing"}})),
        ),
        (
            "contentBlockDelta",
            delta(0, json!({"reasoningContent": {"signature": "seal"}})),
        ),
        ("contentBlockStop", stop(0)),
        ("contentBlockDelta", delta(1, json!({"text": "Hello"}))),
        ("contentBlockStop", stop(1)),
        ("contentBlockStart", start),
        (
            "contentBlockDelta",
            delta(2, json!({"toolUse": {"input": "{\"com"}})),
        ),
    ];
    for (event, (name, payload)) in events[1..].iter().zip(&expected) {
        assert_eq!(*event, (*name, payload));
    }
    let end = &events[events.len() - 2..];
    assert_eq!(end[0], ("messageStop", &json!({"stopReason": "tool_use"})));
    assert_eq!(end[1].0, "metadata");
    assert_eq!(end[1].1["usage"]["totalTokens"], 59);
}
