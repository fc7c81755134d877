mod properties;
mod stream;

use super::anthropic_wire::{
    any_history, assistant, call, decode, dialect, picture, request, result, rounds, said, user,
};
use hermes_core::{
    CallId, Effort, FinishReason, Message, ModelEvent, ModelRequest, Part, RawTurn, Role,
    ToolChoice, Usage, WireProtocol,
};
use hermes_llm::wire::gemini::{decoder, encode, wire_model};
use hermes_llm::wire::{Decoder, Frame, WireError};
use hermes_llm::{Quirks, ReasoningReplay, ReasoningStyle, Temperature, VendorError};
use proptest::prelude::*;
use serde_json::{Value as Json, json};
use std::sync::Arc;

const MODEL: &str = "gemini-3-pro";

fn body(request: &ModelRequest, quirks: &Quirks) -> Json {
    encode(request, &dialect(quirks))
}

fn raw(parts: Json) -> Option<RawTurn> {
    Some(RawTurn {
        protocol: WireProtocol::Gemini,
        provider: "here".to_owned(),
        model: MODEL.to_owned(),
        body: parts,
    })
}

fn chunk(parts: Json) -> Json {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}}], "responseId": "r"})
}

fn last(parts: Json, reason: &str) -> Json {
    json!({"candidates": [{"content": {"parts": parts}, "finishReason": reason}]})
}

fn read(frames: &[Json]) -> (Vec<ModelEvent>, Result<(), WireError>) {
    decode(decoder("here", MODEL), frames)
}

fn finished(frames: &[Json]) -> (FinishReason, Option<RawTurn>) {
    let (events, end) = read(frames);
    assert_eq!(end, Ok(()));
    match events.last() {
        Some(ModelEvent::Finished { reason, raw }) => (*reason, raw.clone()),
        other => panic!("not finished: {other:?}"),
    }
}

fn calls(frames: &[Json]) -> Vec<(String, String)> {
    let (events, _) = read(frames);
    let started = events.into_iter().filter_map(|event| match event {
        ModelEvent::CallStarted { id, name } => Some((id.0, name)),
        _ => None,
    });
    started.collect()
}

fn look(path: &str) -> Json {
    json!({"functionCall": {"name": "look", "args": {"path": path}}})
}

fn signed(path: &str, signature: &str) -> Json {
    let mut part = look(path);
    part["thoughtSignature"] = json!(signature);
    part
}

fn pair(id: &str, name: &str) -> (String, String) {
    (id.to_owned(), name.to_owned())
}

// PV-9
#[test]
fn signatures_go_back_where_they_came_from() {
    let parts = json!([
        {"text": "Hm.", "thought": true},
        {"text": "I look."},
        signed("/a", "s1"),
        {"functionCall": {"name": "write", "args": {}, "id": "w"}},
        {"text": "", "thoughtSignature": "s2"},
    ]);
    let turn = |raw| {
        let calls = [
            call("call_0", "look", json!({"path": "/a"})),
            call("w", "write", json!({})),
        ];
        let mut parts = vec![said("I look.")];
        parts.extend(calls);
        assistant(parts, raw)
    };
    let mut written = result("w", "{\"bytes\": 3}");
    written.parts.push(picture("shot"));
    let history = |raw| {
        vec![
            user("go"),
            turn(raw),
            written.clone(),
            result("call_0", "seen"),
        ]
    };
    let answers = |id: bool| {
        let mut second = json!({"name": "write", "response": {"bytes": 3}});
        if id {
            second["id"] = json!("w");
        }
        json!({"role": "user", "parts": [
            {"functionResponse": {"name": "look", "response": {"output": "seen"}}},
            {"functionResponse": second},
            {"inlineData": {"mimeType": "image/png", "data": "Ynl0ZXM="}},
        ]})
    };
    let quirks = Quirks::default();
    let sent = body(&request(MODEL, history(raw(parts.clone()))), &quirks);
    let mut kept = parts.as_array().cloned().unwrap();
    kept.remove(0);
    assert_eq!(sent["contents"][1], json!({"role": "model", "parts": kept}));
    assert_eq!(sent["contents"][2], answers(true));

    // Another issuer's calls carry the value the provider documents for them.
    let neutral = |signature: Option<&str>| {
        let mut first = look("/a");
        if let Some(signature) = signature {
            first["thoughtSignature"] = json!(signature);
        }
        json!([{"text": "I look."}, first, {"functionCall": {"name": "write", "args": {}}}])
    };
    let foreign = Some(RawTurn {
        provider: "elsewhere".to_owned(),
        ..raw(parts.clone()).unwrap()
    });
    for (model, raw, signature) in [
        (MODEL, foreign, Some("skip_thought_signature_validator")),
        (
            "gemini-3-flash",
            raw(parts.clone()),
            Some("skip_thought_signature_validator"),
        ),
        ("gemini-2.5-pro", raw(parts.clone()), None),
    ] {
        let sent = body(&request(model, history(raw)), &quirks);
        assert_eq!(sent["contents"][1]["parts"], neutral(signature), "{model}");
        assert_eq!(sent["contents"][2], answers(false), "{model}");
    }
    let all = Quirks {
        replay: ReasoningReplay::All,
        ..Quirks::default()
    };
    let sent = body(&request(MODEL, history(raw(parts.clone()))), &all);
    assert_eq!(sent["contents"][1]["parts"], parts);
}

// PV-9
#[test]
fn the_rest_of_the_body() {
    let mut request = request(
        "google/gemini-2.0-flash",
        vec![assistant(vec![said("hello")], None)],
    );
    request.settings.temperature = Some(0.5);
    request.settings.tool_choice = ToolChoice::Required;
    request.settings.effort = Some(Effort::High);
    let mut tools = request.tools.to_vec();
    tools[1].parameters = json!({"type": "object"});
    request.tools = tools.into();
    let schema = json!({
        "type": "object", "properties": {"path": {"type": "string", "nullable": true}},
    });
    assert_eq!(
        body(&request, &Quirks::default()),
        json!({
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "tools": [{"functionDeclarations": [
                {"name": "look", "description": "Does look.", "parameters": schema},
                {"name": "write", "description": "Does write."},
            ]}],
            "toolConfig": {"functionCallingConfig": {"mode": "ANY"}},
            "contents": [
                {"role": "user", "parts": [{"text": "(the conversation goes on)"}]},
                {"role": "model", "parts": [{"text": "hello"}]},
                {"role": "user", "parts": [{"text": "(go on)"}]},
            ],
            "generationConfig": {"maxOutputTokens": 65_535, "temperature": 0.5},
        })
    );
    assert_eq!(wire_model("google/gemini-3-pro"), "gemini-3-pro");
    assert_eq!(wire_model("models/gemini-3-pro"), "gemini-3-pro");
}

const EFFORTS: [Effort; 8] = [
    Effort::Off,
    Effort::Minimal,
    Effort::Low,
    Effort::Medium,
    Effort::High,
    Effort::ExtraHigh,
    Effort::Max,
    Effort::Ultra,
];

// PV-12
#[test]
fn effort_by_family() {
    let thoughts = json!({"includeThoughts": true});
    let hidden = json!({"includeThoughts": false});
    let level = |word: &str| json!({"includeThoughts": true, "thinkingLevel": word});
    let off = json!({"includeThoughts": false, "thinkingBudget": 0});
    let shown = |off: &Json| -> Vec<Json> {
        std::iter::once(off.clone())
            .chain(std::iter::repeat_n(thoughts.clone(), 7))
            .collect()
    };
    let levels = |words: [&str; 7]| -> Vec<Json> {
        std::iter::once(hidden.clone())
            .chain(words.map(level))
            .collect()
    };
    for (model, expected) in [
        ("gemini-2.5-pro", shown(&hidden)),
        ("models/gemini-2.5-flash", shown(&off)),
        (
            "gemini-3-flash-preview",
            levels(["low", "low", "medium", "high", "high", "high", "high"]),
        ),
        (
            "gemini-3.1-pro",
            levels(["low", "low", "high", "high", "high", "high", "high"]),
        ),
        ("gemini-2.0-flash", vec![Json::Null; 8]),
        ("gemma-3-27b", vec![Json::Null; 8]),
    ] {
        for (effort, expected) in EFFORTS.into_iter().zip(expected) {
            let mut request = request(model, vec![user("x")]);
            request.settings.effort = Some(effort);
            let sent = body(&request, &Quirks::default());
            assert_eq!(
                sent["generationConfig"]["thinkingConfig"], expected,
                "{model} {effort:?}"
            );
        }
        let mut request = request(model, vec![user("x")]);
        let unset = body(&request, &Quirks::default());
        assert_eq!(
            unset["generationConfig"],
            json!({"maxOutputTokens": 65_535}),
            "{model}"
        );
        request.settings.effort = Some(Effort::High);
        let omitted = Quirks {
            reasoning: ReasoningStyle::Omit,
            temperature: Temperature::Fixed(1.0),
            ..Quirks::default()
        };
        let sent = body(&request, &omitted);
        let fixed = json!({"maxOutputTokens": 65_535, "temperature": 1.0});
        assert_eq!(sent["generationConfig"], fixed, "{model}");
    }
}

// PV-9
#[test]
fn a_result_that_failed_says_so() {
    let mut failed = result("t", "no such file");
    if let Some(Part::ToolResult { failed, .. }) = failed.parts.first_mut() {
        *failed = true;
    }
    let turn = assistant(vec![call("t", "look", json!({}))], None);
    let mut request = request(MODEL, vec![user("go"), turn, failed]);
    request.messages.push(Arc::new(user("and?")));
    let sent = body(&request, &Quirks::default());
    let response = json!({"name": "look", "response": {"error": "no such file"}});
    assert_eq!(
        sent["contents"][2]["parts"],
        json!([{"functionResponse": response}, {"text": "and?"}])
    );
}
