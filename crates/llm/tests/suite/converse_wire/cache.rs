//! What the service should remember.

use hermes_core::{CacheLife, Message, Part, RawTurn, Role, WireProtocol};
use hermes_llm::{CacheStyle, Quirks};
use hermes_testkit::model_server::Protocol;
use hermes_testkit::strict::violations;
use serde_json::{Value as Json, json};

use super::{MODEL, PROVIDER, body_with, call, request, result, said, tool};

fn quirks(cache: CacheStyle) -> Quirks {
    Quirks {
        cache,
        ..Quirks::default()
    }
}

/// A turn that ends with thinking, as the provider sent it.
fn thinking() -> Message {
    Message {
        role: Role::Assistant,
        parts: vec![Part::Text {
            text: "so".to_owned(),
        }],
        raw: Some(RawTurn {
            protocol: WireProtocol::Converse,
            provider: PROVIDER.to_owned(),
            model: MODEL.to_owned(),
            body: json!([{"text": "so"}, {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "c2VhbA=="}}}]),
        }),
    }
}

fn talk() -> Vec<Message> {
    let mut rows = vec![Message::text(Role::User, "one")];
    for id in ["a", "b", "c"] {
        rows.push(said(Role::Assistant, vec![call(id)]));
        rows.push(result(id, "seen", false));
    }
    rows.push(Message::text(Role::Assistant, "done"));
    rows.push(Message::text(Role::User, "two"));
    rows.push(thinking());
    rows
}

fn points(place: &Json) -> Vec<Json> {
    let blocks = place.as_array().into_iter().flatten();
    blocks
        .filter_map(|block| block.get("cachePoint").cloned())
        .collect()
}

// AG-21
#[test]
fn the_system_text_and_the_last_three_messages_are_marked_where_the_model_remembers() {
    let mut request = request(talk());
    request.tools = vec![tool("read")].into();
    let body = body_with(&request, &quirks(CacheStyle::Blocks));
    let found = violations(Protocol::Converse, &body);
    assert!(found.is_empty(), "{found:#?}\n{body:#}");
    assert_eq!(points(&body["system"]), [json!({"type": "default"})]);
    let messages = body["messages"].as_array().unwrap();
    let marked: Vec<usize> = messages
        .iter()
        .enumerate()
        .filter(|(_, message)| !points(&message["content"]).is_empty())
        .map(|(index, _)| index)
        .collect();
    let last = messages.len() - 1;
    // The one before the last ends with thinking, which takes no mark.
    assert_eq!(marked, [last - 3, last - 2, last], "{body:#}");
    for message in messages {
        let blocks = message["content"].as_array().unwrap();
        let inner = &blocks[..blocks.len() - 1];
        assert!(
            points(&json!(inner)).is_empty(),
            "only at the end: {message}"
        );
    }
    // Others find stable bytes by themselves, or not at all.
    for cache in [CacheStyle::Automatic, CacheStyle::Envelope] {
        let body = body_with(&request, &quirks(cache));
        assert!(!body.to_string().contains("cachePoint"), "{body:#}");
    }
}

// AG-21
#[test]
fn a_long_life_is_asked_of_models_that_know_it() {
    let mut request = request(vec![Message::text(Role::User, "one")]);
    request.settings.cache = CacheLife::Long;
    for (model, point) in [
        (
            "us.anthropic.claude-sonnet-4-6",
            json!({"type": "default", "ttl": "1h"}),
        ),
        (MODEL, json!({"type": "default"})),
        (
            "anthropic.claude-3-7-sonnet-20250219-v1:0",
            json!({"type": "default"}),
        ),
    ] {
        request.model = model.to_owned();
        let body = body_with(&request, &quirks(CacheStyle::Blocks));
        assert_eq!(points(&body["system"]), [point], "{model}");
    }
}

// AG-2: but for the marks, a longer conversation begins with the bytes of a shorter one.
#[test]
fn the_conversation_is_the_last_part_of_a_body() {
    let mut request = request(talk());
    request.settings.max_output_tokens = Some(9_000);
    let body = body_with(&request, &Quirks::default());
    let keys: Vec<&String> = body.as_object().unwrap().keys().collect();
    assert_eq!(keys.last().map(|key| key.as_str()), Some("messages"));
}
