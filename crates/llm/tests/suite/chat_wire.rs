//! Answers of chat completions, in all the shapes servers give them.

mod effort;
mod ollama;
pub(crate) mod random;
pub(crate) mod request;
mod usage;

use hermes_core::{CallId, FinishReason, ModelEvent, RawTurn, Usage, WireProtocol};
use hermes_llm::wire::sse::SseParser;
use hermes_llm::wire::{Decoder, Frame, WireError, chat};
use serde_json::{Value as Json, json};

fn frame(data: &str) -> Frame {
    Frame {
        event: None,
        data: data.to_owned(),
    }
}

fn read(chunks: &[Json]) -> Result<Vec<ModelEvent>, WireError> {
    let frames: Vec<Frame> = chunks
        .iter()
        .map(|chunk| frame(&chunk.to_string()))
        .collect();
    read_frames(&frames)
}

fn read_frames(frames: &[Frame]) -> Result<Vec<ModelEvent>, WireError> {
    let mut decoder = chat::decoder("mock", "m1");
    let mut events = Vec::new();
    for frame in frames {
        decoder.frame(frame, &mut events)?;
    }
    decoder.end(&mut events)?;
    Ok(events)
}

fn delta(delta: Json) -> Json {
    json!({"id": "r1", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn finish(reason: &str) -> Json {
    json!({"id": "r1", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn text(text: &str) -> ModelEvent {
    ModelEvent::Text(text.to_owned())
}

fn reasoning(text: &str) -> ModelEvent {
    ModelEvent::Reasoning(text.to_owned())
}

fn started(id: &str, name: &str) -> ModelEvent {
    ModelEvent::CallStarted {
        id: CallId(id.to_owned()),
        name: name.to_owned(),
    }
}

fn arguments(id: &str, fragment: &str) -> ModelEvent {
    ModelEvent::CallArguments {
        id: CallId(id.to_owned()),
        fragment: fragment.to_owned(),
    }
}

fn finished(reason: FinishReason, body: Json) -> ModelEvent {
    ModelEvent::Finished {
        reason,
        raw: Some(RawTurn {
            protocol: WireProtocol::ChatCompletions,
            provider: "mock".to_owned(),
            model: "m1".to_owned(),
            body,
        }),
    }
}

fn tool(id: &str, name: &str, arguments: &str) -> Json {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

/// Started calls with all their arguments, in order.
fn calls(events: &[ModelEvent]) -> Vec<(String, String, String)> {
    let mut calls: Vec<(String, String, String)> = Vec::new();
    for event in events {
        match event {
            ModelEvent::CallStarted { id, name } => {
                assert!(calls.iter().all(|(known, ..)| *known != id.0));
                calls.push((id.0.clone(), name.clone(), String::new()));
            }
            ModelEvent::CallArguments { id, fragment } => {
                let call = calls.iter_mut().find(|(known, ..)| *known == id.0);
                call.expect("arguments of a call that began")
                    .2
                    .push_str(fragment);
            }
            _ => {}
        }
    }
    calls
}

// PV-6
#[test]
fn a_stream_split_inside_characters_gives_text_calls_and_the_raw_turn() {
    let stream = concat!(
        ": keep-alive\n\n",
        "data: {\"id\":\"r1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"gr\u{fc}n\"}}]}\r\n\r\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"look\",\"arguments\":\"\"}}]}}]}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"look\",\"arguments\":\"{\\\"q\\\":\"}}]}}]}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"1}\"}}]}}]}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n",
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3}}\n\n",
        "data: [DONE]\n\n",
    );
    let expected = vec![
        text("gr\u{fc}n"),
        started("a", "look"),
        arguments("a", "{\"q\":"),
        arguments("a", "1}"),
        ModelEvent::Usage {
            usage: Usage {
                input_tokens: 7,
                output_tokens: 3,
                ..Usage::default()
            },
            cost_usd: None,
        },
        finished(
            FinishReason::ToolCalls,
            json!({"role": "assistant", "content": "gr\u{fc}n", "tool_calls": [tool("a", "look", "{\"q\":1}")]}),
        ),
    ];
    for size in [1, 2, 7, 4096] {
        let mut parser = SseParser::new();
        let mut frames = Vec::new();
        for piece in stream.as_bytes().chunks(size) {
            frames.extend(parser.push(piece).unwrap());
        }
        assert_eq!(read_frames(&frames).unwrap(), expected, "pieces of {size}");
    }
}

// PV-6
#[test]
fn calls_are_told_apart_however_servers_number_them() {
    let piece = |piece: Json| delta(json!({"tool_calls": [piece]}));
    let whole = |id: &str, name: &str, arguments: &str| {
        (id.to_owned(), name.to_owned(), arguments.to_owned())
    };
    let function = |name: &str, arguments: &str| json!({"name": name, "arguments": arguments});

    // All at index 0, told apart by their ids.
    let events = read(&[
        piece(json!({"index": 0, "id": "a", "function": function("x", "{\"n\"")})),
        piece(json!({"index": 0, "function": {"arguments": ":1}"}})),
        piece(json!({"index": 0, "id": "b", "function": function("x", "{}")})),
        finish("tool_calls"),
    ]);
    assert_eq!(
        calls(&events.unwrap()),
        [whole("a", "x", "{\"n\":1}"), whole("b", "x", "{}")]
    );

    // No index, ids only on the first piece.
    let events = read(&[
        piece(json!({"id": "a", "function": function("x", "{")})),
        piece(json!({"function": {"arguments": "}"}})),
        piece(json!({"id": "b", "function": function("y", "{}")})),
        finish("stop"),
    ]);
    let events = events.unwrap();
    assert_eq!(
        calls(&events),
        [whole("a", "x", "{}"), whole("b", "y", "{}")]
    );
    assert!(matches!(
        events.last(),
        Some(ModelEvent::Finished {
            reason: FinishReason::ToolCalls,
            ..
        })
    ));

    // Neither, arguments as an object; the same id for two calls; the name after the arguments.
    let events = read(&[
        delta(json!({"tool_calls": [
            {"function": {"name": "x", "arguments": {"n": 1}}},
            {"function": {"name": "x", "arguments": {"n": 2}}},
        ]})),
        finish("stop"),
    ]);
    let found = calls(&events.unwrap());
    assert_eq!(found.len(), 2);
    assert_eq!(found[1].2, "{\"n\":2}");
    assert_ne!(found[0].0, found[1].0);

    let events = read(&[
        piece(json!({"index": 0, "id": "a", "function": function("x", "{}")})),
        piece(json!({"index": 1, "id": "a", "function": function("y", "{}")})),
        piece(json!({"index": 2, "id": "c", "function": {"arguments": "{\"late\""}})),
        piece(json!({"index": 2, "function": function("z", ":1}")})),
        finish("tool_calls"),
    ]);
    let found = calls(&events.unwrap());
    assert_eq!(found.len(), 3);
    assert_eq!(found[2], whole("c", "z", "{\"late\":1}"));

    // The older form, and a call that never gets a name.
    let events = read(&[
        delta(json!({"function_call": {"name": "x", "arguments": "{"}})),
        delta(json!({"function_call": {"arguments": "}"}})),
        piece(json!({"index": 4, "id": "n", "function": {"arguments": "{}"}})),
        finish("function_call"),
    ]);
    let found = calls(&events.unwrap());
    assert_eq!((found[0].1.as_str(), found[0].2.as_str()), ("x", "{}"));
    assert_eq!(found[1], whole("n", "unnamed_tool", "{}"));
}

// PV-6
#[test]
fn content_may_be_a_list_and_thinking_comes_under_several_names() {
    let events = read(&[
        delta(
            json!({"reasoning": "a", "reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "a"}]}),
        ),
        delta(
            json!({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "b", "signature": "s"}]}),
        ),
        delta(
            json!({"reasoning_details": [{"type": "reasoning.encrypted", "index": 1, "data": "zz"}]}),
        ),
        delta(json!({"reasoning_content": "c"})),
        delta(
            json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "d"}]}, {"type": "text", "text": "hi"}, "!"]}),
        ),
        finish("stop"),
    ]);
    let expected = [
        reasoning("a"),
        reasoning("b"),
        reasoning("c"),
        reasoning("d"),
        text("hi"),
        text("!"),
        finished(
            FinishReason::Stop,
            json!({
                "role": "assistant", "content": "hi!", "reasoning": "a", "reasoning_content": "cd",
                "reasoning_details": [
                    {"type": "reasoning.text", "index": 0, "text": "ab", "signature": "s"},
                    {"type": "reasoning.encrypted", "index": 1, "data": "zz"},
                ],
            }),
        ),
    ];
    assert_eq!(events.unwrap(), expected);
}

// PV-6
#[test]
fn an_answer_that_breaks_off_says_what_was_under_way() {
    assert_eq!(read(&[]), Err(WireError::Empty));
    assert_eq!(
        read(&[json!({"choices": [], "usage": {"prompt_tokens": 1}})]),
        Err(WireError::Empty)
    );
    let cut = |open_calls: &[&str]| {
        Err(WireError::Cut {
            open_calls: open_calls.iter().map(|name| (*name).to_owned()).collect(),
        })
    };
    assert_eq!(read(&[delta(json!({"content": "half"}))]), cut(&[]));
    let call = delta(
        json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "x", "arguments": "{"}}]}),
    );
    assert_eq!(read(&[call]), cut(&["x"]));
    assert!(matches!(
        read_frames(&[frame("<html>")]),
        Err(WireError::Malformed(_))
    ));
}

// PV-6
#[test]
fn an_answer_that_says_it_is_done_is_whole_without_a_reason() {
    let ended = |chunks: &[Json]| {
        let mut frames: Vec<Frame> = chunks
            .iter()
            .map(|chunk| frame(&chunk.to_string()))
            .collect();
        frames.push(frame("[DONE]"));
        let last = read_frames(&frames)?.pop();
        let Some(ModelEvent::Finished { reason, .. }) = last else {
            panic!("{last:?}");
        };
        Ok::<_, WireError>(reason)
    };
    let call = |arguments: &str| delta(json!({"tool_calls": [tool("a", "look", arguments)]}));
    let hi = delta(json!({"content": "hi"}));
    let refusal = delta(json!({"refusal": "I cannot"}));
    let thought = delta(json!({"reasoning_content": "Hm."}));
    assert_eq!(ended(std::slice::from_ref(&hi)), Ok(FinishReason::Stop));
    assert_eq!(ended(&[refusal]), Ok(FinishReason::Refused));
    for arguments in ["{}", ""] {
        let called = ended(&[hi.clone(), call(arguments)]);
        assert_eq!(called, Ok(FinishReason::ToolCalls), "{arguments:?}");
    }
    let open_calls = vec!["look".to_owned()];
    assert_eq!(
        ended(&[hi, call("{\"path\":")]),
        Err(WireError::Cut { open_calls })
    );
    let open_calls = Vec::new();
    assert_eq!(ended(&[thought]), Err(WireError::Cut { open_calls }));
    assert_eq!(ended(&[]), Err(WireError::Empty));
}

// PV-6, PV-28
#[test]
fn failures_inside_an_answer_carry_the_inner_providers_words() {
    let vendor = |chunk: Json| match read(&[delta(json!({"content": "a"})), chunk]) {
        Err(WireError::Vendor(error)) => error,
        other => panic!("{other:?}"),
    };
    let inner = json!({"error": {"message": "slow down", "type": "rate_limit_error"}}).to_string();
    let error = vendor(json!({
        "error": {"code": 429, "message": "Provider returned error", "metadata": {"provider_name": "P", "raw": inner}},
        "choices": [],
    }));
    assert_eq!(error.status, Some(429));
    assert!(
        error.message.contains("Provider returned error") && error.message.contains("slow down")
    );
    let error = vendor(
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "error", "error": {"code": 502, "message": "gone"}}]}),
    );
    assert_eq!((error.status, error.message.as_str()), (Some(502), "gone"));
    assert_eq!(vendor(json!({"error": "overloaded"})).message, "overloaded");
    assert!(vendor(finish("error")).message.contains("error"));
    let named = Frame {
        event: Some("error".to_owned()),
        data: "plain words".to_owned(),
    };
    assert!(matches!(read_frames(&[named]), Err(WireError::Vendor(_))));
    // A field that is always there means nothing.
    let quiet = json!({"error": null, "choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": "stop"}]});
    assert!(read(&[quiet]).is_ok());
}

// PV-6
#[test]
fn only_a_reached_limit_may_be_followed_by_a_complaint() {
    let complaint = json!({"error": {"code": 400, "message": "the limit was met"}, "choices": []});
    let limited = read(&[
        delta(json!({"content": "a"})),
        finish("length"),
        complaint.clone(),
    ]);
    assert!(limited.is_ok(), "{limited:?}");
    for reason in ["stop", "tool_calls", "content_filter"] {
        let ended = [
            delta(json!({"content": "a"})),
            finish(reason),
            complaint.clone(),
        ];
        match read(&ended) {
            Err(WireError::Vendor(error)) => assert_eq!(error.message, "the limit was met"),
            other => panic!("{reason}: {other:?}"),
        }
    }
}

// PV-6
#[test]
fn a_document_is_read_like_a_stream() {
    let mut events = Vec::new();
    let body = json!({"id": "r", "choices": [{"message": {"role": "assistant", "content": "hi", "tool_calls": [tool("a", "x", "{}")]}}]});
    chat::decoder("mock", "m1")
        .document(&body, &mut events)
        .unwrap();
    let raw = json!({"role": "assistant", "content": "hi", "tool_calls": [tool("a", "x", "{}")]});
    let expected = [
        text("hi"),
        started("a", "x"),
        arguments("a", "{}"),
        finished(FinishReason::ToolCalls, raw),
    ];
    assert_eq!(events, expected);
    for (body, empty) in [
        (json!({"choices": []}), true),
        (json!({"detail": "no such model"}), false),
        (json!({"error": {"message": "no"}}), false),
    ] {
        let error = chat::decoder("mock", "m1")
            .document(&body, &mut Vec::new())
            .unwrap_err();
        assert_eq!(error == WireError::Empty, empty, "{error:?}");
    }
}

#[test]
fn endings_are_told_apart() {
    let reason = |chunks: &[Json]| match read(chunks).unwrap().pop() {
        Some(ModelEvent::Finished { reason, .. }) => reason,
        other => panic!("{other:?}"),
    };
    let hi = delta(json!({"content": "hi"}));
    for (word, expected) in [
        ("stop", FinishReason::Stop),
        ("tool_calls", FinishReason::Stop),
        ("length", FinishReason::Length),
        ("content_filter", FinishReason::Refused),
        ("whatever", FinishReason::Stop),
    ] {
        assert_eq!(reason(&[hi.clone(), finish(word)]), expected, "{word}");
    }
    let refusal = delta(json!({"refusal": "I cannot"}));
    assert_eq!(
        reason(&[refusal.clone(), finish("stop")]),
        FinishReason::Refused
    );
    assert_eq!(reason(&[hi, refusal, finish("stop")]), FinishReason::Stop);
    assert_eq!(reason(&[finish("stop")]), FinishReason::Stop);
}
