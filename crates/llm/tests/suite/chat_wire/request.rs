//! Requests of chat completions.

use std::sync::Arc;

use crate::suite::lab::SCHEMAS;
use hermes_core::{
    CacheLife, CallId, Effect, Media, MediaReader, MediaSource, Message, ModelRequest,
    ModelSettings, Part, RawTurn, Role, ToolCall, ToolChoice, ToolSpec, WireProtocol,
};
use hermes_llm::wire::{Dialect, chat};
use hermes_llm::{CacheStyle, MaxTokensKey, Quirks, ReasoningReplay, Temperature};
use serde_json::{Value as Json, json};

pub(crate) struct OnePicture;

impl MediaReader for OnePicture {
    fn read(&self, hash: &str) -> Option<Vec<u8>> {
        (hash == "known").then(|| b"png".to_vec())
    }
}

pub(crate) fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        model: "m1".to_owned(),
        conversation: "s1".to_owned(),
        system: "be brief".into(),
        tools: Vec::new().into(),
        messages: messages.into_iter().map(Arc::new).collect(),
        settings: ModelSettings::default(),
    }
}

pub(crate) fn body(request: &ModelRequest, quirks: &Quirks) -> Json {
    let dialect = Dialect {
        provider: "mock",
        quirks,
        media: &OnePicture,
        schemas: &SCHEMAS,
    };
    chat::encode(request, &dialect)
}

pub(crate) fn user(text: &str) -> Message {
    Message::text(Role::User, text)
}

pub(crate) fn calling(id: &str, arguments: Json, raw: Option<RawTurn>) -> Message {
    let call = ToolCall {
        id: CallId(id.to_owned()),
        name: "look".to_owned(),
        arguments,
    };
    Message {
        role: Role::Assistant,
        parts: vec![Part::ToolCall(call)],
        raw,
    }
}

pub(crate) fn answering(id: &str, content: &str, media: Vec<Media>) -> Message {
    let mut parts = vec![Part::ToolResult {
        call: CallId(id.to_owned()),
        name: "look".to_owned(),
        content: content.to_owned(),
        failed: false,
    }];
    parts.extend(media.into_iter().map(Part::Media));
    Message {
        role: Role::Tool,
        parts,
        raw: None,
    }
}

pub(crate) fn picture(hash: &str) -> Media {
    Media {
        mime: "image/png".to_owned(),
        source: MediaSource::Blob(hash.to_owned()),
        name: Some("cat.png".to_owned()),
    }
}

pub(crate) fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: "looks".to_owned(),
        parameters: json!({"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}),
        effect: Effect::ReadOnly,
    }
}

fn raw(provider: &str, model: &str, body: Json) -> Option<RawTurn> {
    Some(RawTurn {
        protocol: WireProtocol::ChatCompletions,
        provider: provider.to_owned(),
        model: model.to_owned(),
        body,
    })
}

// PV-6, PV-11
#[test]
fn a_request_has_the_keys_its_provider_wants() {
    let mut request = request(vec![user("hi")]);
    request.tools = vec![tool("look")].into();
    request.settings.max_output_tokens = Some(100);
    request.settings.temperature = Some(0.5);
    request.settings.tool_choice = ToolChoice::Required;
    let expected = json!({
        "model": "m1",
        "stream": true,
        "stream_options": {"include_usage": true},
        "max_tokens": 100,
        "temperature": 0.5,
        "tool_choice": "required",
        "tools": [{"type": "function", "function": {
            "name": "look", "description": "looks",
            "parameters": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
        }}],
        "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}],
    });
    assert_eq!(body(&request, &Quirks::default()), expected);

    let quirks = Quirks {
        max_tokens_key: MaxTokensKey::MaxCompletionTokens,
        temperature: Temperature::Omit,
        developer_role: true,
        conversation_field: Some("session_id".to_owned()),
        extra_body:
            json!({"provider": {"sort": "price"}, "max_completion_tokens": 7, "tool_choice": null})
                .as_object()
                .unwrap()
                .clone(),
        ..Quirks::default()
    };
    let body = body(&request, &quirks);
    assert_eq!(body["max_completion_tokens"], 7);
    assert_eq!(body["session_id"], "s1");
    assert_eq!(body["provider"]["sort"], "price");
    assert_eq!(body["messages"][0]["role"], "developer");
    for absent in ["max_tokens", "temperature", "tool_choice"] {
        assert_eq!(body.get(absent), None, "{absent}");
    }
    assert_eq!(
        body.as_object().unwrap().keys().next_back().unwrap(),
        "messages"
    );
}

#[test]
fn pictures_are_sent_or_their_absence_is_told() {
    let seen = Message {
        role: Role::User,
        parts: vec![
            Part::Text {
                text: "what is this".to_owned(),
            },
            Part::Media(picture("known")),
            Part::Media(picture("gone")),
        ],
        raw: None,
    };
    let history = vec![
        seen,
        calling("1", json!({}), None),
        answering("1", "", vec![picture("known")]),
    ];
    let request = request(history);
    let image = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,cG5n"}});
    let sent = body(&request, &Quirks::default());
    let parts = sent["messages"][1]["content"].as_array().unwrap();
    assert_eq!(parts[0], json!({"type": "text", "text": "what is this"}));
    assert_eq!(parts[1], image);
    assert!(
        parts[2]["text"]
            .as_str()
            .unwrap()
            .contains("is not available")
    );
    assert_eq!(sent["messages"][3]["content"], json!([image]));

    let blind = Quirks {
        no_images: true,
        text_only_tool_results: true,
        ..Quirks::default()
    };
    let sent = body(&request, &blind);
    assert!(
        sent["messages"][1]["content"]
            .as_str()
            .unwrap()
            .contains("cat.png")
    );
    assert!(sent["messages"][3]["content"].is_string());

    // A tool may give text only, but the model sees: the picture follows.
    let strings = Quirks {
        text_only_tool_results: true,
        ..Quirks::default()
    };
    let sent = body(&request, &strings);
    let roles: Vec<_> = sent["messages"].as_array().unwrap()[2..]
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles[..4], ["assistant", "tool", "assistant", "user"]);
    assert!(sent["messages"][3]["content"].is_string());
    assert_eq!(sent["messages"][5]["content"], json!([image]));
    let none = Quirks {
        no_tool_images: true,
        ..strings
    };
    let sent = body(&request, &none);
    assert!(!sent["messages"].to_string()[400..].contains("(the pictures"));
    assert!(
        sent["messages"][3]["content"]
            .as_str()
            .unwrap()
            .contains("left out")
    );
}

// AG-20
#[test]
fn a_turn_goes_back_to_its_issuer_with_what_only_it_can_read() {
    let signature = json!({"google": {"thought_signature": "sig"}});
    let details = json!([{"type": "reasoning.text", "text": "hm", "signature": "s"}]);
    let turn = json!({
        "role": "assistant", "content": null, "reasoning_content": "hm", "reasoning_details": details,
        "tool_calls": [{
            "id": "1", "type": "function", "extra_content": signature,
            "function": {"name": "look", "arguments": "{\"q\": 1, \"a\": 2}"},
        }],
    });
    let sent = |provider: &str, model: &str, replay: ReasoningReplay| {
        let quirks = Quirks {
            replay,
            ..Quirks::default()
        };
        let call = calling(
            "1",
            json!({"q": 1, "a": 2}),
            raw(provider, model, turn.clone()),
        );
        let body = body(
            &request(vec![user("hi"), call, answering("1", "", Vec::new())]),
            &quirks,
        );
        assert_eq!(
            body["messages"][3],
            json!({"role": "tool", "tool_call_id": "1", "content": "(no output)"})
        );
        body["messages"][2].clone()
    };
    let call = |arguments: &str| json!({"id": "1", "type": "function", "function": {"name": "look", "arguments": arguments}});
    let mut signed = call("{\"q\": 1, \"a\": 2}");
    signed["extra_content"] = signature;
    let plain = json!({"role": "assistant", "content": null, "tool_calls": [signed]});
    assert_eq!(sent("mock", "m1", ReasoningReplay::Native), plain);
    let with = |key: &str, value: Json| {
        let mut message = plain.clone();
        message[key] = value;
        message
    };
    assert_eq!(
        sent("mock", "m1", ReasoningReplay::Content),
        with("reasoning_content", "hm".into())
    );
    assert_eq!(
        sent("mock", "m1", ReasoningReplay::Details),
        with("reasoning_details", details)
    );
    assert_eq!(sent("mock", "m0", ReasoningReplay::Details), plain);

    // From elsewhere: sorted arguments, no signature, no thoughts but the blank one some insist on.
    let neutral =
        json!({"role": "assistant", "content": null, "tool_calls": [call("{\"a\":2,\"q\":1}")]});
    assert_eq!(sent("other", "m1", ReasoningReplay::Details), neutral);
    let mut padded = neutral;
    padded["reasoning_content"] = " ".into();
    assert_eq!(sent("other", "m1", ReasoningReplay::Content), padded);
}

#[test]
fn ids_of_other_providers_are_made_to_fit() {
    let long = "x".repeat(60);
    let history = vec![
        user("go"),
        calling(&long, json!({}), None),
        answering(&long, "a", Vec::new()),
    ];
    let sent = body(&request(history), &Quirks::default());
    let id = sent["messages"][2]["tool_calls"][0]["id"].as_str().unwrap();
    assert!(id.starts_with("call_") && id.len() <= 40);
    assert_eq!(sent["messages"][3]["tool_call_id"], id);
}

// AG-21
#[test]
fn markers_go_on_the_system_text_and_the_last_three_messages_that_can_carry_one() {
    let history = vec![
        user("one"),
        Message::text(Role::Assistant, "two"),
        user("three"),
        calling("1", json!({}), None),
        answering("1", "four", Vec::new()),
        Message::text(Role::Assistant, "five"),
        Message {
            role: Role::User,
            parts: vec![
                Part::Text {
                    text: "six".to_owned(),
                },
                Part::Media(picture("known")),
            ],
            raw: None,
        },
    ];
    let mut request = request(history);
    let marked = |request: &ModelRequest, quirks: &Quirks| -> Vec<(usize, Json)> {
        let body = body(request, quirks);
        let messages = body["messages"].as_array().unwrap().clone();
        let marker = |message: &Json| {
            message["content"]
                .as_array()
                .into_iter()
                .flatten()
                .find_map(|part| part.get("cache_control").cloned())
        };
        messages
            .iter()
            .enumerate()
            .filter_map(|(place, message)| Some((place, marker(message)?)))
            .collect()
    };
    let envelope = Quirks {
        cache: CacheStyle::Envelope,
        ..Quirks::default()
    };
    let short = json!({"type": "ephemeral"});
    let places =
        |life: &Json, places: [usize; 4]| places.map(|place| (place, life.clone())).to_vec();
    assert_eq!(marked(&request, &envelope), places(&short, [0, 5, 6, 7]));

    let strings_from_tools = Quirks {
        text_only_tool_results: true,
        ..envelope.clone()
    };
    assert_eq!(
        marked(&request, &strings_from_tools),
        places(&short, [0, 3, 6, 7])
    );

    request.settings.cache = CacheLife::Long;
    let long = json!({"type": "ephemeral", "ttl": "1h"});
    assert_eq!(marked(&request, &envelope), places(&long, [0, 5, 6, 7]));
    assert_eq!(marked(&request, &Quirks::default()), []);
}

// AG-2
#[test]
fn a_longer_conversation_begins_with_the_bytes_of_a_shorter_one() {
    let rows = [
        user("one"),
        calling("1", json!({"b": 1, "a": {"d": 1, "c": 2}}), None),
        answering("1", "two", vec![picture("known")]),
        calling("1", json!({}), None),
        answering("1", "three", Vec::new()),
        Message::text(Role::Assistant, "four"),
        user("five"),
    ];
    let text = |count: usize| {
        let mut request = request(rows[..count].to_vec());
        request.tools = vec![tool("look"), tool("find")].into();
        let text = body(&request, &Quirks::default()).to_string();
        assert_eq!(text, body(&request, &Quirks::default()).to_string());
        text
    };
    // A request is sent after a user's message or after all results of a batch.
    for pair in [1, 3, 5, 7].windows(2) {
        let (shorter, longer) = (text(pair[0]), text(pair[1]));
        let prefix = shorter.strip_suffix("]}").unwrap();
        assert!(longer.starts_with(prefix), "{prefix}\n{longer}");
    }
}

#[test]
fn the_conversation_is_named_where_a_profile_asks_for_it() {
    let quirks: Quirks = serde_json::from_value(json!({
        "extra_body": {"tags": ["product=x", "conversation={conversation}"]},
    }))
    .unwrap();
    let mut request = request(vec![user("hi")]);
    request.conversation = "20260101_1".to_owned();
    assert_eq!(
        body(&request, &quirks)["tags"],
        json!(["product=x", "conversation=20260101_1"])
    );
}
