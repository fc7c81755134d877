//! Any history to any provider, and recorded answers read the same way every time.

use std::sync::Arc;

use crate::suite::lab::SCHEMAS;
use hermes_core::{
    CallId, Effort, Media, MediaSource, Message, ModelSettings, Part, RawTurn, Role, ToolCall,
    ToolChoice, WireProtocol,
};
use hermes_llm::wire::{self, Dialect};
use hermes_llm::{CacheStyle, Quirks, ReasoningReplay};
use hermes_testkit::strict::violations_allowing;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::lab::{OnePicture, PROTOCOLS, model_of, request, strict};

mod pictures;
mod recordings;
mod transcripts;
mod vendors;

fn text(text: &str) -> Part {
    Part::Text {
        text: text.to_owned(),
    }
}

fn media(mime: &str, source: MediaSource) -> Part {
    Part::Media(Media {
        mime: mime.to_owned(),
        source,
        name: Some("a file".to_owned()),
    })
}

/// Ids that come twice, that are blank, too long, or in characters few providers take.
fn any_id() -> impl Strategy<Value = String> {
    let long = "x".repeat(90);
    prop::sample::select(vec![
        String::new(),
        " ".to_owned(),
        "a".to_owned(),
        "b".to_owned(),
        "a_2".to_owned(),
        "functions.look:0".to_owned(),
        "gemini_call-1".to_owned(),
        long,
    ])
}

fn any_name() -> impl Strategy<Value = String> {
    let names = [
        "look",
        "look",
        "",
        "mcp.files/read it",
        "7zip",
        "größe",
        "-x",
    ];
    prop_oneof![
        4 => prop::sample::select(names.map(str::to_owned).to_vec()),
        1 => Just("n".repeat(80)),
    ]
}

fn any_arguments() -> impl Strategy<Value = Json> {
    prop::sample::select(vec![
        json!({}),
        json!({"path": "x", "deep": {"b": [1, null], "a": ""}}),
        json!("{\"path\": 1}"),
        json!("no object"),
        json!([1]),
        json!(null),
    ])
}

fn any_part() -> impl Strategy<Value = Part> {
    prop_oneof![
        3 => prop::sample::select(vec!["", "  ", "\n", "hi", "so be it "]).prop_map(text),
        1 => prop::sample::select(vec!["", "hm"]).prop_map(|text| Part::Reasoning { text: text.to_owned() }),
        3 => (any_id(), any_name(), any_arguments()).prop_map(|(id, name, arguments)| {
            Part::ToolCall(ToolCall { id: CallId(id), name, arguments })
        }),
        3 => (any_id(), prop::sample::select(vec!["", " ", "r", "{\"a\": 1}"]), any::<bool>()).prop_map(
            |(id, content, failed)| Part::ToolResult {
                call: CallId(id),
                name: "look".to_owned(),
                content: content.to_owned(),
                failed,
            }
        ),
        1 => (
            prop::sample::select(vec!["image/png", "image/x-odd", "audio/ogg", "application/pdf", "text/csv"]),
            prop::sample::select(vec!["picture", "gone"]),
        ).prop_map(|(mime, hash)| media(mime, MediaSource::Blob(hash.to_owned()))),
        1 => Just(media("image/png", MediaSource::Url("https://pictures.example/a.png".to_owned()))),
    ]
}

/// A raw turn as its protocol has it, for the calls of a message, with odd things in it.
fn raw_body(protocol: WireProtocol, parts: &[Part], sealed: bool) -> Json {
    let calls: Vec<&ToolCall> = parts
        .iter()
        .filter_map(|part| match part {
            Part::ToolCall(call) => Some(call),
            _ => None,
        })
        .collect();
    let said: String = parts
        .iter()
        .filter_map(|part| match part {
            Part::Text { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let seal = if sealed { "c2VhbA==" } else { "" };
    let mut items = match protocol {
        WireProtocol::ChatCompletions => {
            let calls: Vec<Json> = calls
                .iter()
                .map(|call| {
                    json!({"id": call.id.0, "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments.to_string()}})
                })
                .collect();
            return json!({"role": "assistant", "content": said, "reasoning_content": "hm", "tool_calls": calls});
        }
        WireProtocol::Responses => vec![
            json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": seal}),
            json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": said, "annotations": []}]}),
            json!({"type": "web_search_call", "id": "ws_1"}),
        ],
        WireProtocol::Anthropic => vec![
            json!({"type": "thinking", "thinking": "hm", "signature": seal}),
            json!({"type": "redacted_thinking", "data": "c2VhbA=="}),
            json!({"type": "text", "text": said}),
        ],
        WireProtocol::Gemini => vec![
            json!({"text": "hm", "thought": true}),
            json!({"text": said}),
            json!({"text": "", "thoughtSignature": "c2VhbA=="}),
        ],
        WireProtocol::Converse => vec![
            json!({"reasoningContent": {"reasoningText": {"text": "hm", "signature": "c2VhbA=="}}}),
            json!({"text": said}),
        ],
    };
    items.extend(calls.iter().map(|call| {
        let (id, name, input) = (&call.id.0, &call.name, &call.arguments);
        match protocol {
            WireProtocol::ChatCompletions => Json::Null,
            WireProtocol::Responses => json!({"type": "function_call", "id": "fc", "call_id": id,
                "name": name, "arguments": input.to_string()}),
            WireProtocol::Anthropic => {
                json!({"type": "tool_use", "id": id, "name": name, "input": input})
            }
            WireProtocol::Gemini => json!({"functionCall": {"name": name, "args": input}}),
            WireProtocol::Converse => {
                json!({"toolUse": {"toolUseId": id, "name": name, "input": input}})
            }
        }
    }));
    items.into()
}

fn any_row() -> impl Strategy<Value = Arc<Message>> {
    let role = prop::sample::select(vec![
        Role::System,
        Role::User,
        Role::User,
        Role::Assistant,
        Role::Assistant,
        Role::Tool,
        Role::Tool,
    ]);
    let issuer = (
        prop::sample::select(PROTOCOLS.to_vec()),
        prop::sample::select(vec!["lab", "elsewhere"]),
        any::<bool>(),
        any::<bool>(),
    );
    let parts = prop::collection::vec(any_part(), 0..4);
    (role, parts, prop::option::of(issuer)).prop_map(|(role, parts, issuer)| {
        let raw = issuer.filter(|_| role == Role::Assistant);
        let raw = raw.map(|(protocol, provider, sealed, same_model)| RawTurn {
            protocol,
            provider: provider.to_owned(),
            model: if same_model {
                model_of(protocol)
            } else {
                "another"
            }
            .to_owned(),
            body: raw_body(protocol, &parts, sealed),
        });
        Arc::new(Message { role, parts, raw })
    })
}

fn any_settings() -> impl Strategy<Value = ModelSettings> {
    let effort = prop::option::of(prop::sample::select(vec![
        Effort::Off,
        Effort::Low,
        Effort::Max,
    ]));
    let choice = prop::sample::select(vec![
        ToolChoice::Auto,
        ToolChoice::None,
        ToolChoice::Required,
    ]);
    let output = prop::option::of(prop::sample::select(vec![1_u32, 8_000, 64_000]));
    (effort, choice, output).prop_map(|(effort, tool_choice, max_output_tokens)| ModelSettings {
        max_output_tokens,
        effort,
        tool_choice,
        ..ModelSettings::default()
    })
}

fn quirks_of(protocol: WireProtocol, text_only: bool, cached: bool, never: bool) -> Quirks {
    let cache = match protocol {
        _ if !cached => CacheStyle::Automatic,
        WireProtocol::Anthropic | WireProtocol::Converse => CacheStyle::Blocks,
        WireProtocol::ChatCompletions => CacheStyle::Envelope,
        _ => CacheStyle::Automatic,
    };
    Quirks {
        cache,
        text_only_tool_results: text_only,
        replay: if never {
            ReasoningReplay::Never
        } else {
            ReasoningReplay::Native
        },
        ..Quirks::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    // PV-19
    #[test]
    fn any_history_is_taken_by_the_strictest_provider_of_every_protocol(
        history in prop::collection::vec(any_row(), 0..10),
        settings in any_settings(),
        tools in any::<bool>(),
        (text_only, cached, never, no_tools) in any::<(bool, bool, bool, bool)>(),
    ) {
        for protocol in PROTOCOLS {
            let mut request = request(Vec::new());
            request.model = model_of(protocol).to_owned();
            request.messages.clone_from(&history);
            request.settings = settings.clone();
            if !tools {
                request.tools = [].into();
            }
            let quirks = Quirks { no_tools, ..quirks_of(protocol, text_only, cached, never) };
            let dialect = Dialect { provider: "lab", quirks: &quirks, media: &OnePicture, schemas: &SCHEMAS };
            let body = wire::encode(protocol, &request, &dialect);
            let found = violations_allowing(strict(protocol), &body, &["cache_control".to_owned()]);
            prop_assert!(found.is_empty(), "{:?}: {:#?}\n{:#}", protocol, found, body);
            prop_assert!(!no_tools || calls_of(&body).is_empty(), "{:#}", body);
        }
    }
}

/// The keys in which any protocol offers tools, calls them or answers calls.
fn calls_of(body: &Json) -> Vec<&str> {
    const KEYS: [&str; 11] = [
        "tools",
        "tool_choice",
        "toolConfig",
        "tool_calls",
        "tool_call_id",
        "tool_use_id",
        "call_id",
        "toolUse",
        "toolResult",
        "functionCall",
        "functionResponse",
    ];
    match body {
        Json::Object(fields) => {
            let own = KEYS.into_iter().filter(|key| fields.contains_key(*key));
            own.chain(fields.values().flat_map(calls_of)).collect()
        }
        Json::Array(items) => items.iter().flat_map(calls_of).collect(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => Vec::new(),
    }
}

// PV-11, PV-19
#[test]
fn a_model_without_tools_is_told_in_words_what_others_called() {
    let row = |role, parts| {
        Arc::new(Message {
            role,
            parts,
            raw: None,
        })
    };
    let history = [
        row(Role::User, vec![text("what is there?")]),
        row(
            Role::Assistant,
            vec![
                text("I look."),
                Part::ToolCall(ToolCall {
                    id: CallId("a".to_owned()),
                    name: "look".to_owned(),
                    arguments: json!({"path": "shed"}),
                }),
            ],
        ),
        row(
            Role::Tool,
            vec![Part::ToolResult {
                call: CallId("a".to_owned()),
                name: "look".to_owned(),
                content: "a saw".to_owned(),
                failed: false,
            }],
        ),
        row(Role::User, vec![text("go on")]),
    ];
    for protocol in PROTOCOLS {
        let mut request = request(Vec::new());
        request.model = model_of(protocol).to_owned();
        request.messages = history.to_vec();
        let quirks = Quirks {
            no_tools: true,
            ..Quirks::default()
        };
        let dialect = Dialect {
            provider: "lab",
            quirks: &quirks,
            media: &OnePicture,
            schemas: &SCHEMAS,
        };
        let body = wire::encode(protocol, &request, &dialect);
        let found = violations_allowing(strict(protocol), &body, &[]);
        assert!(found.is_empty(), "{protocol:?}: {found:#?}\n{body:#}");
        assert!(calls_of(&body).is_empty(), "{body:#}");
        let body = body.to_string();
        for words in [
            "I look.",
            "the tool look with",
            "shed",
            "The tool look answered",
            "a saw",
            "go on",
        ] {
            assert!(body.contains(words), "{protocol:?}: {words}: {body}");
        }
    }
}

// PV-19
#[test]
fn words_behind_the_results_of_tools_stay_in_the_order_of_roles() {
    let call = Part::ToolCall(ToolCall {
        id: CallId("a".to_owned()),
        name: "look".to_owned(),
        arguments: json!({}),
    });
    let row = |role, parts| Message {
        role,
        parts,
        raw: None,
    };
    let answer = || {
        row(
            Role::Tool,
            vec![Part::ToolResult {
                call: CallId("a".to_owned()),
                name: "look".to_owned(),
                content: "hello".to_owned(),
                failed: false,
            }],
        )
    };
    let start = || {
        vec![
            row(Role::User, vec![text("go")]),
            row(Role::Assistant, vec![call.clone()]),
            answer(),
        ]
    };
    let messages = |last: Vec<Part>| {
        let mut rows = start();
        rows.push(row(Role::User, last));
        let mut request = request(rows);
        request.system = "".into();
        let dialect = Dialect {
            provider: "lab",
            quirks: &Quirks::default(),
            media: &OnePicture,
            schemas: &SCHEMAS,
        };
        wire::encode(WireProtocol::ChatCompletions, &request, &dialect)["messages"].clone()
    };
    let said = messages(vec![text("stop that")]);
    assert_eq!(said.as_array().unwrap().len(), 3);
    assert_eq!(said[2]["content"], "hello\n\nThe user says:\nstop that");
    let shown = messages(vec![
        text("and this?"),
        media("image/png", MediaSource::Blob("picture".to_owned())),
    ]);
    let roles: Vec<&str> = shown
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant", "user"]);
    assert_eq!(shown[4]["content"][1]["type"], "image_url");
}

// PV-19
#[test]
fn pictures_behind_results_and_those_of_the_user_are_one_turn_in_every_protocol() {
    let row = |role, parts| Message {
        role,
        parts,
        raw: None,
    };
    let picture = || media("image/png", MediaSource::Blob("picture".to_owned()));
    let rows = |answering: Role| {
        vec![
            row(Role::System, vec![picture()]),
            row(
                Role::Assistant,
                vec![Part::ToolCall(ToolCall {
                    id: CallId("a".to_owned()),
                    name: "look".to_owned(),
                    arguments: json!({}),
                })],
            ),
            row(
                answering,
                vec![
                    Part::ToolResult {
                        call: CallId("a".to_owned()),
                        name: "look".to_owned(),
                        content: "seen".to_owned(),
                        failed: false,
                    },
                    picture(),
                ],
            ),
            row(Role::System, vec![picture(), text("and now?")]),
        ]
    };
    for protocol in PROTOCOLS {
        for answering in [Role::Tool, Role::System] {
            for text_only in [false, true] {
                let mut request = request(rows(answering));
                request.model = model_of(protocol).to_owned();
                let quirks = quirks_of(protocol, text_only, false, false);
                let dialect = Dialect {
                    provider: "lab",
                    quirks: &quirks,
                    media: &OnePicture,
                    schemas: &SCHEMAS,
                };
                let body = wire::encode(protocol, &request, &dialect);
                let found = violations_allowing(strict(protocol), &body, &[]);
                assert!(found.is_empty(), "{protocol:?}: {found:#?}\n{body:#}");
                if protocol == WireProtocol::ChatCompletions && text_only {
                    let last = body["messages"].as_array().unwrap().last().unwrap();
                    let kinds: Vec<&str> = last["content"]
                        .as_array()
                        .unwrap()
                        .iter()
                        .map(|part| part["type"].as_str().unwrap())
                        .collect();
                    assert_eq!(kinds, ["image_url", "image_url", "text"]);
                }
            }
        }
    }
}
