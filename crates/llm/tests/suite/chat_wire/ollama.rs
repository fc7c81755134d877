//! Ollama's own interface.

use crate::suite::lab::SCHEMAS;
use hermes_core::{Effort, FinishReason, ModelEvent, Part, WireProtocol};
use hermes_llm::wire::{Dialect, encode};
use hermes_llm::{Quirks, ReasoningStyle};
use serde_json::json;

use super::super::lab::OnePicture;
use super::read;
use super::request::{answering, calling, picture, request, user};

// PV-23
#[test]
fn a_request_has_the_window_and_everything_in_ollamas_words() {
    let quirks = Quirks {
        ollama_window: Some(32_768),
        reasoning: ReasoningStyle::Local,
        ..Quirks::default()
    };
    let mut seen = user("look at this");
    seen.parts.push(Part::Media(picture("picture")));
    let call = json!({"path": "a.txt"});
    let mut request = request(vec![
        seen,
        calling("c1", call.clone(), None),
        answering("c1", "hello", Vec::new()),
    ]);
    request.settings.max_output_tokens = Some(500);
    request.settings.temperature = Some(0.5);
    request.settings.effort = Some(Effort::Off);
    let dialect = Dialect {
        provider: "custom",
        quirks: &quirks,
        media: &OnePicture,
        schemas: &SCHEMAS,
    };
    let body = encode(WireProtocol::ChatCompletions, &request, &dialect);
    assert_eq!(
        body["options"],
        json!({"num_ctx": 32768, "num_predict": 500, "temperature": 0.5})
    );
    assert_eq!(body["think"], false);
    for unknown in [
        "max_tokens",
        "temperature",
        "stream_options",
        "reasoning_effort",
    ] {
        assert_eq!(body.get(unknown), None, "{unknown}");
    }
    assert_eq!(
        body.as_object().unwrap().keys().next_back().unwrap(),
        "messages"
    );
    let messages = body["messages"].as_array().unwrap();
    let pictured = messages
        .iter()
        .find(|message| message.get("images").is_some());
    assert_eq!(pictured.unwrap()["images"], json!(["cG5n"]));
    let called = messages
        .iter()
        .find(|message| message.get("tool_calls").is_some());
    let function = &called.unwrap()["tool_calls"][0]["function"];
    assert_eq!(function["arguments"], call);
    let result = messages
        .iter()
        .find(|message| message["role"] == "tool")
        .unwrap();
    assert_eq!(result["tool_name"], function["name"]);
    assert!(
        messages
            .iter()
            .all(|message| message["content"].is_string())
    );
}

// PV-23
#[test]
fn an_answer_of_ollama_is_read_with_its_calls_and_counts() {
    let call = |name: &str| json!({"function": {"name": name, "arguments": {"path": "a"}}});
    let events = read(&[
        json!({"created_at": "1", "message": {"role": "assistant", "content": "", "thinking": "Hm."}, "done": false}),
        json!({"created_at": "2", "message": {"content": "Look."}, "done": false}),
        json!({"created_at": "3", "message": {"content": "", "tool_calls": [call("look"), call("look")]}, "done": false}),
        json!({"created_at": "4", "message": {"content": ""}, "done": true, "done_reason": "stop", "prompt_eval_count": 9, "eval_count": 4}),
    ])
    .unwrap();
    let started = |event: &&ModelEvent| matches!(event, ModelEvent::CallStarted { .. });
    assert_eq!(events.iter().filter(started).count(), 2);
    assert_eq!(events[0], ModelEvent::Reasoning("Hm.".to_owned()));
    assert_eq!(events[1], ModelEvent::Text("Look.".to_owned()));
    let used = events.iter().find_map(|event| match event {
        ModelEvent::Usage { usage, .. } => Some(*usage),
        _ => None,
    });
    assert_eq!(used.map(|usage| usage.output_tokens), Some(4));
    assert!(matches!(
        events.last(),
        Some(ModelEvent::Finished {
            reason: FinishReason::ToolCalls,
            ..
        })
    ));
    let failed = read(&[json!({"error": "model 'x' not found"})]).unwrap_err();
    assert!(failed.to_string().contains("not found"), "{failed}");
}
