//! The Responses protocol: items out, items back.

mod request;

use hermes_core::{CallId, FinishReason, ModelEvent, Usage};
use hermes_llm::wire::{Decoder, Frame, WireError, responses};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::chat_wire::random::any_json;

fn frame(event: &Json) -> Frame {
    Frame {
        event: event["type"].as_str().map(str::to_owned),
        data: event.to_string(),
    }
}

fn read(events: &[Json]) -> Result<Vec<ModelEvent>, WireError> {
    let mut decoder = responses::decoder("mock", "m1");
    let mut out = Vec::new();
    for event in events {
        decoder.frame(&frame(event), &mut out)?;
    }
    decoder.end(&mut out)?;
    Ok(out)
}

fn completed() -> Json {
    json!({"type": "response.completed", "response": {"id": "r1", "status": "completed", "output": []}})
}

fn item(kind: &str, place: usize, item: Json) -> Json {
    json!({"type": format!("response.output_item.{kind}"), "output_index": place, "item": item})
}

fn message(text: &str, phase: Option<&str>) -> Json {
    let mut item = json!({
        "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    });
    if let Some(phase) = phase {
        item["phase"] = phase.into();
    }
    item
}

fn call(arguments: &str) -> Json {
    json!({"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "look", "arguments": arguments, "status": "completed"})
}

fn thinking() -> Json {
    json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "sealed", "summary": [{"type": "summary_text", "text": "hm"}]})
}

fn text(text: &str) -> ModelEvent {
    ModelEvent::Text(text.to_owned())
}

fn fragment(fragment: &str) -> ModelEvent {
    ModelEvent::CallArguments {
        id: CallId("c1".to_owned()),
        fragment: fragment.to_owned(),
    }
}

fn started() -> ModelEvent {
    ModelEvent::CallStarted {
        id: CallId("c1".to_owned()),
        name: "look".to_owned(),
    }
}

/// The events before the last one, the reason and the items.
fn split(mut events: Vec<ModelEvent>) -> (Vec<ModelEvent>, FinishReason, Json) {
    match events.pop() {
        Some(ModelEvent::Finished { reason, raw }) => (events, reason, raw.unwrap().body),
        other => panic!("{other:?}"),
    }
}

// PV-7
#[test]
fn the_output_is_rebuilt_from_done_items_when_the_last_event_has_none() {
    let events = [
        json!({"type": "response.created", "response": {"id": "r1", "status": "in_progress"}}),
        item(
            "added",
            0,
            json!({"type": "reasoning", "id": "rs_1", "summary": []}),
        ),
        json!({"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 0}),
        json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "hm"}),
        item("done", 0, thinking()),
        item(
            "added",
            1,
            json!({"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "look", "arguments": ""}),
        ),
        json!({"type": "response.function_call_arguments.delta", "output_index": 1, "delta": "{\"q\""}),
        json!({"type": "response.function_call_arguments.delta", "output_index": 1, "delta": ":1}"}),
        json!({"type": "response.function_call_arguments.done", "output_index": 1, "arguments": "{\"q\":1}"}),
        item("done", 1, call("{\"q\":1}")),
        item(
            "done",
            2,
            json!({"type": "web_search_call", "id": "ws_1", "status": "completed"}),
        ),
        completed(),
    ];
    let (told, reason, items) = split(read(&events).unwrap());
    let expected = [
        ModelEvent::Reasoning("hm".to_owned()),
        started(),
        fragment("{\"q\""),
        fragment(":1}"),
    ];
    assert_eq!(told, expected);
    assert_eq!(reason, FinishReason::ToolCalls);
    assert_eq!(items, json!([thinking(), call("{\"q\":1}")]));
}

// PV-7
#[test]
fn what_was_not_streamed_is_told_from_the_whole_item() {
    let events = [
        item("done", 0, thinking()),
        item("done", 1, message("hello", None)),
        item(
            "added",
            2,
            json!({"type": "function_call", "call_id": "c1", "name": "look"}),
        ),
        json!({"type": "response.function_call_arguments.delta", "output_index": 2, "delta": "{\"q\""}),
        // The rest was lost, and this one names its item in another way.
        json!({"type": "response.output_item.done", "item": call("{\"q\":1}")}),
        completed(),
    ];
    let (told, reason, _) = split(read(&events).unwrap());
    let expected = [
        ModelEvent::Reasoning("hm".to_owned()),
        text("hello"),
        started(),
        fragment("{\"q\""),
        fragment(":1}"),
    ];
    assert_eq!(told, expected);
    assert_eq!(reason, FinishReason::ToolCalls);

    let custom =
        json!({"type": "custom_tool_call", "call_id": "c1", "name": "look", "input": "free words"});
    let (told, ..) = split(read(&[item("done", 0, custom), completed()]).unwrap());
    assert_eq!(told, [started(), fragment("{\"input\":\"free words\"}")]);

    let mut out = Vec::new();
    let body = json!({"id": "r1", "status": "completed", "output": [message("hello", None)], "error": null});
    responses::decoder("mock", "m1")
        .document(&body, &mut out)
        .unwrap();
    assert_eq!(
        split(out),
        (
            vec![text("hello")],
            FinishReason::Stop,
            json!([message("hello", None)])
        )
    );
}

// PV-7
#[test]
fn phases_tell_interim_words_from_the_answer() {
    let delta = |place: usize, text: &str| json!({"type": "response.output_text.delta", "output_index": place, "delta": text});
    let commentary = message("looking", Some("commentary"));
    let both = [
        item("added", 0, commentary.clone()),
        delta(0, "look"),
        delta(0, "ing"),
        item("done", 0, commentary.clone()),
        item("done", 1, message("found", Some("final_answer"))),
        completed(),
    ];
    let (told, reason, items) = split(read(&both).unwrap());
    assert_eq!(told, [text("look"), text("ing"), text("\n\nfound")]);
    assert_eq!(reason, FinishReason::Stop);
    assert_eq!(items[0]["phase"], "commentary");

    let reason = |done: Json| split(read(&[item("done", 0, done), completed()]).unwrap()).1;
    assert_eq!(reason(commentary), FinishReason::Paused);
    assert_eq!(reason(thinking()), FinishReason::Paused);
    let (told, ..) = split(
        read(&[
            item("done", 0, message("hm", Some("analysis"))),
            completed(),
        ])
        .unwrap(),
    );
    assert_eq!(told, [ModelEvent::Reasoning("hm".to_owned())]);
    let refusal = json!({"type": "message", "content": [{"type": "refusal", "refusal": "no"}]});
    assert_eq!(reason(refusal), FinishReason::Refused);
}

// PV-7
#[test]
fn unfinished_and_failed_answers_are_told_apart() {
    let incomplete = |why: Json| {
        let end = json!({"type": "response.incomplete", "response": {"status": "incomplete", "incomplete_details": why}});
        split(read(&[item("done", 0, message("half", None)), end]).unwrap()).1
    };
    assert_eq!(
        incomplete(json!({"reason": "max_output_tokens"})),
        FinishReason::Length
    );
    assert_eq!(
        incomplete(json!({"reason": "content_filter"})),
        FinishReason::Refused
    );
    assert_eq!(incomplete(json!(null)), FinishReason::Paused);

    let error = |event: Json| match read(&[event]) {
        Err(WireError::Vendor(error)) => error,
        other => panic!("{other:?}"),
    };
    let failed = error(
        json!({"type": "response.failed", "response": {"status": "failed", "error": {"code": "rate_limit_exceeded", "message": "slow down"}}}),
    );
    assert_eq!(
        (failed.code.as_deref(), failed.message.as_str()),
        (Some("rate_limit_exceeded"), "slow down")
    );
    assert_eq!(
        error(json!({"type": "error", "code": "server_error", "message": "oops"})).message,
        "oops"
    );
    assert_eq!(
        error(json!({"type": "response.failed", "response": {"status": "failed"}}))
            .code
            .as_deref(),
        Some("failed")
    );
    assert_eq!(error(json!({"error": {"message": "bare"}})).message, "bare");

    assert_eq!(
        read(&[json!({"type": "response.created", "response": {"id": "r"}})]),
        Err(WireError::Empty)
    );
    let open = item(
        "added",
        0,
        json!({"type": "function_call", "call_id": "c1", "name": "look"}),
    );
    let cut = WireError::Cut {
        open_calls: vec!["look".to_owned()],
    };
    assert_eq!(read(&[open]), Err(cut));
}

// PV-29, AG-25
#[test]
fn usage_does_not_overlap() {
    let usage = json!({
        "input_tokens": 100, "input_tokens_details": {"cached_tokens": 60},
        "output_tokens": 20, "output_tokens_details": {"reasoning_tokens": 15}, "total_tokens": 120,
    });
    let end =
        json!({"type": "response.completed", "response": {"status": "completed", "usage": usage}});
    let (told, ..) = split(read(&[item("done", 0, message("a", None)), end]).unwrap());
    let expected = ModelEvent::Usage {
        usage: Usage {
            input_tokens: 40,
            output_tokens: 20,
            cache_read_tokens: 60,
            cache_write_tokens: 0,
            reasoning_tokens: 15,
        },
        cost_usd: None,
    };
    assert_eq!(told, [text("a"), expected]);
}

proptest! {
    #[test]
    fn no_event_makes_the_decoder_panic(events in prop::collection::vec(any_json(), 0..8)) {
        let mut decoder = responses::decoder("mock", "m1");
        let mut out = Vec::new();
        for event in &events {
            let _ = decoder.frame(&Frame { event: None, data: event.to_string() }, &mut out);
            let wrapped = item("done", 0, event.clone());
            let _ = decoder.frame(&frame(&wrapped), &mut out);
        }
        let _ = decoder.end(&mut out);
        for event in &events {
            let _ = responses::decoder("mock", "m1").document(event, &mut Vec::new());
        }
    }
}
