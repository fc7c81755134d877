//! Bedrock Converse: bodies, answers, binary frames and signatures.

mod cache;
mod effort;
pub(crate) mod frames;
mod signature;

use std::sync::Arc;

use crate::suite::lab::SCHEMAS;
use hermes_core::{
    CallId, FinishReason, Media, MediaReader, MediaSource, Message, ModelEvent, ModelRequest,
    ModelSettings, Part, RawTurn, Role, ToolCall, ToolChoice, ToolSpec, Usage, WireProtocol,
};
use hermes_llm::wire::converse::{decoder, encode};
use hermes_llm::wire::{Decoder, Dialect, Frame, WireError};
use hermes_llm::{Quirks, VendorError};
use serde_json::{Value as Json, json};

const PROVIDER: &str = "bedrock";
const MODEL: &str = "us.anthropic.claude-sonnet-4-20250514-v1:0";

struct OneFile;

impl MediaReader for OneFile {
    fn read(&self, hash: &str) -> Option<Vec<u8>> {
        (hash == "known").then(|| b"picture".to_vec())
    }
}

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        model: MODEL.to_owned(),
        conversation: "c".to_owned(),
        system: "Be brief.".into(),
        tools: Arc::new([]),
        messages: messages.into_iter().map(Arc::new).collect(),
        settings: ModelSettings::default(),
    }
}

fn body_with(request: &ModelRequest, quirks: &Quirks) -> Json {
    let dialect = Dialect {
        provider: PROVIDER,
        quirks,
        media: &OneFile,
        schemas: &SCHEMAS,
    };
    encode(request, &dialect)
}

fn body(request: &ModelRequest) -> Json {
    body_with(request, &Quirks::default())
}

fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: "Reads a file.".to_owned(),
        parameters: json!({ "type": "object", "properties": { "path": { "type": "string" } } }),
        effect: hermes_core::Effect::ReadOnly,
    }
}

fn said(role: Role, parts: Vec<Part>) -> Message {
    Message {
        role,
        parts,
        raw: None,
    }
}

fn call(id: &str) -> Part {
    Part::ToolCall(ToolCall {
        id: CallId(id.to_owned()),
        name: "read".to_owned(),
        arguments: json!({ "path": "a" }),
    })
}

fn result(id: &str, content: &str, failed: bool) -> Message {
    said(
        Role::Tool,
        vec![Part::ToolResult {
            call: CallId(id.to_owned()),
            name: "read".to_owned(),
            content: content.to_owned(),
            failed,
        }],
    )
}

fn frame(event: &str, data: Json) -> Frame {
    Frame {
        event: Some(event.to_owned()),
        data: data.to_string(),
    }
}

fn read(frames: &[Frame]) -> Result<Vec<ModelEvent>, WireError> {
    let mut decoder = decoder(PROVIDER, MODEL);
    let mut out = Vec::new();
    for frame in frames {
        decoder.frame(frame, &mut out)?;
    }
    decoder.end(&mut out)?;
    Ok(out)
}

/// An answer that thinks, speaks and calls.
fn answer() -> Vec<Frame> {
    let delta = |index: u32, delta: Json| {
        frame(
            "contentBlockDelta",
            json!({ "contentBlockIndex": index, "delta": delta }),
        )
    };
    vec![
        frame("messageStart", json!({ "role": "assistant" })),
        delta(0, json!({ "reasoningContent": { "text": "Hm" } })),
        delta(0, json!({ "reasoningContent": { "text": "m." } })),
        delta(0, json!({ "reasoningContent": { "signature": "sig" } })),
        frame("contentBlockStop", json!({ "contentBlockIndex": 0 })),
        delta(1, json!({ "text": "I read " })),
        delta(1, json!({ "text": "it." })),
        frame("contentBlockStop", json!({ "contentBlockIndex": 1 })),
        frame(
            "contentBlockStart",
            json!({ "contentBlockIndex": 2, "start": { "toolUse": { "toolUseId": "t1", "name": "read" } } }),
        ),
        delta(2, json!({ "toolUse": { "input": "{\"path\":" } })),
        delta(2, json!({ "toolUse": { "input": "\"a\"}" } })),
        frame("contentBlockStop", json!({ "contentBlockIndex": 2 })),
        frame("messageStop", json!({ "stopReason": "tool_use" })),
        frame(
            "metadata",
            json!({ "usage": { "inputTokens": 10, "outputTokens": 5, "totalTokens": 118,
                "cacheReadInputTokens": 100, "cacheWriteInputTokens": 3 } }),
        ),
    ]
}

fn blocks() -> Json {
    json!([
        { "reasoningContent": { "reasoningText": { "text": "Hmm.", "signature": "sig" } } },
        { "text": "I read it." },
        { "toolUse": { "toolUseId": "t1", "name": "read", "input": { "path": "a" } } },
    ])
}

fn raw(model: &str) -> RawTurn {
    RawTurn {
        protocol: WireProtocol::Converse,
        provider: PROVIDER.to_owned(),
        model: model.to_owned(),
        body: blocks(),
    }
}

// PV-10, PV-29
#[test]
fn an_answer_is_read_block_by_block() {
    let id = || CallId("t1".to_owned());
    let arguments = |fragment: &str| ModelEvent::CallArguments {
        id: id(),
        fragment: fragment.to_owned(),
    };
    let usage = Usage {
        input_tokens: 10,
        output_tokens: 5,
        cache_read_tokens: 100,
        cache_write_tokens: 3,
        reasoning_tokens: 0,
    };
    assert_eq!(
        read(&answer()).unwrap(),
        [
            ModelEvent::Reasoning("Hm".to_owned()),
            ModelEvent::Reasoning("m.".to_owned()),
            ModelEvent::Text("I read ".to_owned()),
            ModelEvent::Text("it.".to_owned()),
            ModelEvent::CallStarted {
                id: id(),
                name: "read".to_owned()
            },
            arguments("{\"path\":"),
            arguments("\"a\"}"),
            ModelEvent::Usage {
                usage,
                cost_usd: None
            },
            ModelEvent::Finished {
                reason: FinishReason::ToolCalls,
                raw: Some(raw(MODEL)),
            },
        ]
    );
}

// PV-10, PV-29
#[test]
fn a_whole_document_means_the_same() {
    let document = json!({
        "output": { "message": { "role": "assistant", "content": blocks() } },
        "stopReason": "tool_use",
        "usage": { "inputTokens": 10, "outputTokens": 5 },
    });
    let mut out = Vec::new();
    decoder(PROVIDER, MODEL)
        .document(&document, &mut out)
        .unwrap();
    assert_eq!(
        out.last(),
        Some(&ModelEvent::Finished {
            reason: FinishReason::ToolCalls,
            raw: Some(raw(MODEL))
        })
    );
    assert!(out.contains(&ModelEvent::Text("I read it.".to_owned())));
    let refused = json!({ "__type": "ThrottlingException", "message": "slower" });
    let error = decoder(PROVIDER, MODEL).document(&refused, &mut out);
    assert!(
        matches!(error, Err(WireError::Vendor(VendorError { code: Some(code), .. }))
        if code == "ThrottlingException")
    );
}

// PV-10
#[test]
fn stop_reasons_are_translated() {
    let ends = |word: &str| {
        let frames = [
            frame("contentBlockDelta", json!({ "delta": { "text": "x" } })),
            frame("messageStop", json!({ "stopReason": word })),
        ];
        match read(&frames).map(|events| events.last().cloned()) {
            Ok(Some(ModelEvent::Finished { reason, .. })) => Ok(reason),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(error),
        }
    };
    for (word, reason) in [
        ("end_turn", FinishReason::Stop),
        ("stop_sequence", FinishReason::Stop),
        ("something new", FinishReason::Stop),
        ("max_tokens", FinishReason::Length),
        ("model_context_window_exceeded", FinishReason::Length),
        ("guardrail_intervened", FinishReason::Refused),
        ("content_filtered", FinishReason::Refused),
    ] {
        assert_eq!(ends(word), Ok(reason), "{word}");
    }
    assert!(matches!(
        ends("malformed_tool_use"),
        Err(WireError::Malformed(_))
    ));
}

// PV-10
#[test]
fn an_answer_that_breaks_off_names_its_open_calls() {
    assert_eq!(read(&[]), Err(WireError::Empty));
    let until_stop = &answer()[..10];
    assert_eq!(
        read(until_stop),
        Err(WireError::Cut {
            open_calls: vec!["read".to_owned()]
        })
    );
}

#[test]
fn hidden_reasoning_and_empty_arguments_are_kept() {
    let frames = [
        frame(
            "contentBlockDelta",
            json!({ "contentBlockIndex": 0, "delta": { "reasoningContent": { "redactedContent": "aGlkZGVu" } } }),
        ),
        frame(
            "contentBlockStart",
            json!({ "contentBlockIndex": 1, "start": { "toolUse": { "toolUseId": "t", "name": "now" } } }),
        ),
        frame("messageStop", json!({ "stopReason": "end_turn" })),
    ];
    let events = read(&frames).unwrap();
    let Some(ModelEvent::Finished { reason, raw }) = events.last() else {
        panic!("{events:?}");
    };
    assert_eq!(*reason, FinishReason::ToolCalls);
    assert_eq!(
        raw.as_ref().unwrap().body,
        json!([
            { "reasoningContent": { "redactedContent": "aGlkZGVu" } },
            { "toolUse": { "toolUseId": "t", "name": "now", "input": {} } },
        ])
    );
}

#[test]
fn a_request_has_the_fields_of_the_protocol() {
    let mut request = request(vec![Message::text(Role::User, "Hi")]);
    request.tools = Arc::new([tool("read")]);
    request.settings.temperature = Some(0.5);
    assert_eq!(
        body(&request),
        json!({
            "toolConfig": { "tools": [{ "toolSpec": {
                "name": "read",
                "description": "Reads a file.",
                "inputSchema": { "json": { "type": "object",
                    "properties": { "path": { "type": "string" } } } },
            } }] },
            "system": [{ "text": "Be brief." }],
            "messages": [{ "role": "user", "content": [{ "text": "Hi" }] }],
            "inferenceConfig": { "maxTokens": 4096, "temperature": 0.5 },
        })
    );
    request.settings.tool_choice = ToolChoice::Required;
    assert_eq!(
        body(&request)["toolConfig"]["toolChoice"],
        json!({ "any": {} })
    );
    request.settings.tool_choice = ToolChoice::None;
    assert_eq!(body(&request).get("toolConfig"), None);
}

#[test]
fn a_history_with_calls_always_names_a_tool() {
    let history = vec![
        Message::text(Role::User, "Read a"),
        said(Role::Assistant, vec![call("t1")]),
        result("t1", "text", false),
    ];
    let request = request(history);
    assert_eq!(
        body(&request)["toolConfig"]["tools"][0]["toolSpec"]["name"],
        "read"
    );
}

// PV-10
#[test]
fn a_turn_goes_back_as_it_came_to_the_model_that_signed_it() {
    let history = |model: &str| {
        let mut turn = said(
            Role::Assistant,
            vec![
                Part::Reasoning {
                    text: "Hmm.".to_owned(),
                },
                Part::Text {
                    text: "I read it.".to_owned(),
                },
                call("t1"),
            ],
        );
        turn.raw = Some(raw(model));
        request(vec![
            Message::text(Role::User, "Read a"),
            turn,
            result("t1", "no such file", true),
            Message::text(Role::User, "And b?"),
        ])
    };
    let same = body(&history(MODEL));
    assert_eq!(
        same["messages"][1],
        json!({ "role": "assistant", "content": blocks() })
    );
    assert_eq!(
        same["messages"][2],
        json!({ "role": "user", "content": [
            { "toolResult": { "toolUseId": "t1", "content": [{ "text": "no such file" }], "status": "error" } },
            { "text": "And b?" },
        ] })
    );
    let unsigned: Vec<Json> = blocks().as_array().unwrap()[1..].to_vec();
    let other = body(&history("another"));
    assert_eq!(other["messages"][1]["content"], json!(unsigned));
    let never = Quirks {
        replay: hermes_llm::ReasoningReplay::Never,
        ..Quirks::default()
    };
    let never = body_with(&history(MODEL), &never);
    assert_eq!(never["messages"][1]["content"], json!(unsigned));
}

#[test]
fn a_conversation_begins_and_ends_with_the_person() {
    let empty = request(vec![]);
    let request = request(vec![
        Message::text(Role::Assistant, "Hello"),
        Message::text(Role::User, "Hi"),
        Message::text(Role::Assistant, "So"),
    ]);
    let roles: Vec<String> = body(&request)["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["role"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant", "user"]);
    assert_eq!(body(&empty)["messages"][0]["role"], "user");
}

#[test]
fn ids_of_other_providers_are_made_legal_on_both_sides() {
    let foreign = "call:1|x/y";
    let request = request(vec![
        Message::text(Role::User, "Read a"),
        said(Role::Assistant, vec![call(foreign)]),
        result(foreign, "", false),
    ]);
    let body = body(&request);
    let id = &body["messages"][1]["content"][0]["toolUse"]["toolUseId"];
    let answered = &body["messages"][2]["content"][0]["toolResult"];
    assert_eq!(&answered["toolUseId"], id);
    assert_eq!(answered["content"], json!([{ "text": "(no text)" }]));
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    assert!(id.as_str().unwrap().chars().all(legal), "{id}");
}

#[test]
fn pictures_are_sent_and_what_cannot_be_is_named() {
    let media = |mime: &str, source| {
        Part::Media(Media {
            mime: mime.to_owned(),
            source,
            name: Some("shot".to_owned()),
        })
    };
    let known = || MediaSource::Blob("known".to_owned());
    let request = request(vec![said(
        Role::User,
        vec![
            media("image/png", known()),
            media("image/png", MediaSource::Blob("gone".to_owned())),
            media("image/png", MediaSource::Url("https://x/y".to_owned())),
            media("audio/mpeg", known()),
        ],
    )]);
    let content = body(&request)["messages"][0]["content"].clone();
    assert_eq!(
        content[0],
        json!({ "image": { "format": "png", "source": { "bytes": "cGljdHVyZQ==" } } })
    );
    for index in 1..4 {
        let text = content[index]["text"].as_str().unwrap();
        assert!(text.starts_with("[shot ("), "{text}");
    }
}
