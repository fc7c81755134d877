//! Requests of the Responses protocol.

use crate::suite::lab::SCHEMAS;
use hermes_core::{Effort, Message, ModelRequest, Part, RawTurn, Role, ToolChoice, WireProtocol};
use hermes_llm::wire::{Dialect, responses};
use hermes_llm::{Quirks, ReasoningReplay, ReasoningStyle};
use serde_json::{Value as Json, json};

use super::{call, message, thinking};
use crate::suite::chat_wire::request::{
    OnePicture, answering, calling, picture, request, tool, user,
};

fn body(request: &ModelRequest, quirks: &Quirks) -> Json {
    let dialect = Dialect {
        provider: "mock",
        quirks,
        media: &OnePicture,
        schemas: &SCHEMAS,
    };
    responses::encode(request, &dialect)
}

fn raw(provider: &str, model: &str, items: Json) -> Option<RawTurn> {
    Some(RawTurn {
        protocol: WireProtocol::Responses,
        provider: provider.to_owned(),
        model: model.to_owned(),
        body: items,
    })
}

// PV-7
#[test]
fn a_request_has_all_its_keys_and_stores_nothing() {
    let mut request = request(vec![user("hi")]);
    request.tools = vec![tool("look")].into();
    request.settings.max_output_tokens = Some(9);
    request.settings.tool_choice = ToolChoice::None;
    let mut sent = body(&request, &Quirks::default());
    let key = sent
        .as_object_mut()
        .unwrap()
        .shift_remove("prompt_cache_key")
        .unwrap();
    let key = key.as_str().unwrap();
    assert!(key.starts_with("pck_") && key.len() == 28);
    let expected = json!({
        "model": "m1", "stream": true, "store": false,
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"effort": "medium", "summary": "auto"},
        "max_output_tokens": 9,
        "instructions": "be brief",
        "tool_choice": "none", "parallel_tool_calls": true,
        "tools": [{
            "type": "function", "name": "look", "description": "looks", "strict": false,
            "parameters": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
        }],
        "input": [{"role": "user", "content": "hi"}],
    });
    assert_eq!(sent, expected);

    // The key stands for the prefix alone, in whatever order the tools are.
    let key_of = |names: &[&str], text: &str| {
        let mut other = request.clone();
        other.tools = names.iter().map(|name| tool(name)).collect();
        other.messages = vec![user(text).into()];
        body(&other, &Quirks::default())["prompt_cache_key"].clone()
    };
    assert_eq!(key_of(&["a", "b"], "x"), key_of(&["b", "a"], "y"));
    assert_ne!(key_of(&["a"], "x"), key_of(&["b"], "x"));

    request.tools = Vec::new().into();
    let sent = body(
        &request,
        &Quirks {
            replay: ReasoningReplay::Never,
            ..Quirks::default()
        },
    );
    for absent in ["tools", "tool_choice", "parallel_tool_calls", "include"] {
        assert_eq!(sent.get(absent), None, "{absent}");
    }
}

// PV-12
#[test]
fn effort_is_mapped_to_what_the_model_knows() {
    let sent = |effort: Option<Effort>, style: &ReasoningStyle| {
        let mut request = request(vec![user("hi")]);
        request.settings.effort = effort;
        body(
            &request,
            &Quirks {
                reasoning: style.clone(),
                ..Quirks::default()
            },
        )
        .get("reasoning")
        .cloned()
    };
    let on = |word: &str| Some(json!({"effort": word, "summary": "auto"}));
    for (effort, expected) in [
        (None, on("medium")),
        (Some(Effort::Off), None),
        (Some(Effort::Minimal), on("low")),
        (Some(Effort::Low), on("low")),
        (Some(Effort::Medium), on("medium")),
        (Some(Effort::High), on("high")),
        (Some(Effort::ExtraHigh), on("xhigh")),
        (Some(Effort::Max), on("xhigh")),
        (Some(Effort::Ultra), on("xhigh")),
    ] {
        assert_eq!(
            sent(effort, &ReasoningStyle::Native),
            expected,
            "{effort:?}"
        );
    }
    let levels = ["none", "low", "high"].map(str::to_owned).to_vec();
    let few = ReasoningStyle::Effort {
        levels,
        default: None,
        unsaid: Vec::new(),
    };
    assert_eq!(sent(None, &few), None);
    assert_eq!(sent(Some(Effort::Off), &few), on("none"));
    assert_eq!(sent(Some(Effort::Ultra), &few), on("high"));
    assert_eq!(sent(Some(Effort::High), &ReasoningStyle::Omit), None);
}

// PV-1
#[test]
fn a_tool_that_the_provider_has_itself_is_only_named() {
    let mut request = request(vec![user("hi")]);
    request.tools = vec![tool("look"), tool("web_search")].into();
    let quirks = Quirks {
        own_tools: vec!["web_search".to_owned()],
        ..Quirks::default()
    };
    let sent = body(&request, &quirks);
    assert_eq!(sent["tools"][0]["name"], "look");
    assert_eq!(sent["tools"][1], json!({"type": "web_search"}));
    // Nowhere else.
    let plain = body(&request, &Quirks::default());
    assert_eq!(plain["tools"][1]["type"], "function");
}

fn turn(raw: Option<RawTurn>) -> Vec<Message> {
    let mut called = calling("c1", json!({"q": 1}), raw);
    called.parts.insert(
        0,
        Part::Reasoning {
            text: "hm".to_owned(),
        },
    );
    called.parts.insert(
        1,
        Part::Text {
            text: "looking".to_owned(),
        },
    );
    vec![user("hi"), called, answering("c1", "found", Vec::new())]
}

// PV-7, AG-20
#[test]
fn sealed_thoughts_go_back_without_ids_and_to_their_issuer_only() {
    let items = json!([
        thinking(),
        {"type": "web_search_call", "id": "ws_1"},
        message("looking", Some("commentary")),
        call("{ \"q\": 1 }"),
    ]);
    let sent = |provider: &str, model: &str, replay: ReasoningReplay| {
        let request = request(turn(raw(provider, model, items.clone())));
        body(
            &request,
            &Quirks {
                replay,
                ..Quirks::default()
            },
        )["input"]
            .clone()
    };
    let output = json!({"type": "function_call_output", "call_id": "c1", "output": "found"});
    let sealed = json!({"type": "reasoning", "encrypted_content": "sealed", "summary": [{"type": "summary_text", "text": "hm"}]});
    let spoken = json!({
        "type": "message", "role": "assistant", "id": "msg_1", "status": "completed", "phase": "commentary",
        "content": [{"type": "output_text", "text": "looking"}],
    });
    let called = |arguments: &str| json!({"type": "function_call", "call_id": "c1", "name": "look", "arguments": arguments});
    let hi = json!({"role": "user", "content": "hi"});
    let own = called("{ \"q\": 1 }");
    assert_eq!(
        sent("mock", "m1", ReasoningReplay::Native),
        json!([hi, sealed, spoken, own, output])
    );
    assert_eq!(
        sent("mock", "m1", ReasoningReplay::Never),
        json!([hi, spoken, own, output])
    );
    let neutral =
        json!([hi, {"role": "assistant", "content": "looking"}, called("{\"q\":1}"), output]);
    assert_eq!(sent("other", "m1", ReasoningReplay::Native), neutral);
    assert_eq!(sent("mock", "m2", ReasoningReplay::Native), neutral);
}

#[test]
fn a_turn_that_only_thought_is_replayed_and_ids_are_sent_once() {
    let thought = |items: Json| Message {
        role: Role::Assistant,
        parts: vec![Part::Reasoning {
            text: "hm".to_owned(),
        }],
        raw: raw("mock", "m1", items),
    };
    let mut history = vec![user("hi"), thought(json!([thinking()]))];
    for _ in 0..2 {
        history.push(Message {
            raw: raw("mock", "m1", json!([message("a", None)])),
            ..Message::text(Role::Assistant, "a")
        });
        history.push(user("more"));
    }
    history.push(thought(
        json!([{"type": "reasoning", "id": "rs_2", "summary": []}]),
    ));
    let sent = body(&request(history), &Quirks::default());
    let items = sent["input"].as_array().unwrap();
    assert_eq!(items.len(), 6);
    assert_eq!(items[1]["type"], "reasoning");
    assert_eq!(items[2]["id"], "msg_1");
    assert_eq!(items[4].get("id"), None);
    assert_eq!(items[5]["content"], "more");
}

#[test]
fn pictures_are_parts_and_a_longer_request_begins_with_a_shorter_one() {
    let mut rows = turn(None);
    rows[0].parts.push(Part::Media(picture("known")));
    rows.extend([Message::text(Role::Assistant, "done"), user("thanks")]);
    let shorter = body(&request(rows[..3].to_vec()), &Quirks::default());
    let image =
        json!({"type": "input_image", "image_url": "data:image/png;base64,cG5n", "detail": "auto"});
    assert_eq!(
        shorter["input"][0]["content"],
        json!([{"type": "input_text", "text": "hi"}, image])
    );
    let longer = body(&request(rows), &Quirks::default()).to_string();
    assert!(longer.starts_with(shorter.to_string().strip_suffix("]}").unwrap()));
}
