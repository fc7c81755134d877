//! Whatever comes in, from the history or from the server.

use hermes_llm::Quirks;
use hermes_llm::wire::{Decoder, chat};
use proptest::prelude::*;
use serde_json::Value as Json;

use super::request::{body, request};
use super::{calls, delta, frame};
use crate::suite::legal_wire::any_history;

/// What fields of a chunk are called.
const KEYS: &[&str] = &[
    "choices",
    "delta",
    "message",
    "content",
    "tool_calls",
    "function",
    "name",
    "arguments",
    "index",
    "id",
    "finish_reason",
    "usage",
    "error",
    "reasoning",
    "reasoning_details",
    "text",
    "type",
    "thinking",
    "item",
    "output_index",
    "response",
    "output",
    "status",
    "call_id",
    "summary",
    "phase",
    "prompt_tokens",
];

/// What their values say.
const WORDS: &[&str] = &[
    "",
    "stop",
    "a",
    "{}",
    "message",
    "function_call",
    "reasoning",
    "response.output_item.added",
    "response.output_item.done",
    "response.completed",
    "response.output_text.delta",
    "response.function_call_arguments.delta",
    "custom_tool_call",
    "reasoning.text",
];

/// Values of the kinds a chunk has, in places where they do not belong.
pub(crate) fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        (-2i64..3).prop_map(Json::from),
        prop::sample::select(WORDS).prop_map(Json::from),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Json::from),
            prop::collection::vec((prop::sample::select(KEYS), inner), 0..5).prop_map(|fields| {
                fields
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value))
                    .collect()
            }),
        ]
    })
}

/// Every call of a request is answered right behind it, once, in order.
fn assert_legal(body: &Json) {
    let mut waiting: Vec<&str> = Vec::new();
    for message in body["messages"].as_array().unwrap() {
        if message["role"] == "tool" {
            assert_eq!(message["tool_call_id"], waiting.remove(0));
            assert_ne!(message["content"], "");
            continue;
        }
        assert!(waiting.is_empty());
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            assert_ne!(call["function"]["name"], "");
            let arguments = call["function"]["arguments"].as_str().unwrap();
            assert!(serde_json::from_str::<Json>(arguments).unwrap().is_object());
            waiting.push(call["id"].as_str().unwrap());
        }
    }
    assert!(waiting.is_empty());
}

proptest! {
    // PV-19
    #[test]
    fn any_history_makes_a_legal_request(history in any_history()) {
        let mut request = request(Vec::new());
        request.messages = history;
        assert_legal(&body(&request, &Quirks::default()));
    }

    #[test]
    fn no_frame_makes_the_decoder_panic(chunks in prop::collection::vec(any_json(), 0..6), noise in ".{0,20}") {
        let mut decoder = chat::decoder("mock", "m1");
        let mut out = Vec::new();
        let _ = decoder.frame(&frame(&noise), &mut out);
        for chunk in &chunks {
            let _ = decoder.frame(&frame(&chunk.to_string()), &mut out);
            let _ = decoder.frame(&frame(&delta(chunk.clone()).to_string()), &mut out);
        }
        let _ = decoder.end(&mut out);
        for chunk in &chunks {
            let _ = chat::decoder("mock", "m1").document(chunk, &mut Vec::new());
        }
        let _ = calls(&out);
    }
}
