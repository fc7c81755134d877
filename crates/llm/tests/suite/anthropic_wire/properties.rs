use super::cache::marks;
use super::histories::any_block;
use super::*;

/// What the provider checks before it reads a conversation.
fn assert_legal(sent: &Json) {
    let messages = sent["messages"].as_array().unwrap();
    assert_eq!(messages[0]["role"], "user", "{sent}");
    let mut waiting: Vec<String> = Vec::new();
    let mut used = std::collections::HashSet::new();
    for (index, message) in messages.iter().enumerate() {
        let role = if index % 2 == 0 { "user" } else { "assistant" };
        assert_eq!(message["role"], role, "{sent}");
        let blocks = message["content"].as_array().unwrap();
        assert!(!blocks.is_empty(), "{sent}");
        for block in blocks {
            match block["type"].as_str().unwrap() {
                "text" => assert!(!block["text"].as_str().unwrap().trim().is_empty(), "{sent}"),
                "tool_use" => {
                    let id = block["id"].as_str().unwrap();
                    let fine = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
                    assert!(role == "assistant" && id.chars().all(fine), "{sent}");
                    assert!(!id.is_empty() && used.insert(id.to_owned()), "{sent}");
                    assert!(block["input"].is_object(), "{sent}");
                    waiting.push(id.to_owned());
                }
                "tool_result" => {
                    assert_eq!(role, "user", "{sent}");
                    assert_eq!(block["tool_use_id"], *waiting.remove(0), "{sent}");
                }
                _ => {}
            }
            if role == "user" && block["type"] != "tool_result" {
                assert!(waiting.is_empty(), "text before a result: {sent}");
            }
        }
        assert!(
            role == "assistant" || waiting.is_empty(),
            "no result: {sent}"
        );
    }
}

fn without(messages: &Json, hidden: &[&str]) -> Vec<Json> {
    let mut messages = messages.as_array().unwrap().clone();
    for message in &mut messages {
        let blocks = message["content"].as_array_mut().unwrap();
        blocks.retain(|block| !hidden.contains(&block["type"].as_str().unwrap()));
        for block in blocks {
            block.as_object_mut().unwrap().remove("cache_control");
        }
    }
    messages
}

fn any_replay() -> impl Strategy<Value = ReasoningReplay> {
    use ReasoningReplay::{All, Native, Never, Unsigned};
    prop::sample::select(vec![Native, All, Never, Unsigned])
}

// PV-8
#[test]
fn a_turn_in_another_order_than_its_answers_goes_back_in_theirs() {
    let used = |id: &str| json!({"type": "tool_use", "id": id, "name": "look", "input": {}});
    let named = |id: &str| call(id, "look", json!({}));
    let turn = assistant(
        vec![named("a_2"), named("b_1")],
        raw(json!([used("b_1"), used("a_2")])),
    );
    assert_legal(&body(
        &request("claude-opus-4-6", vec![turn]),
        &Quirks::default(),
    ));
}

proptest! {
    // PV-8
    #[test]
    fn every_history_is_legal_and_encoded_the_same_way_twice(
        history in any_history(),
        replay in any_replay(),
    ) {
        let quirks = Quirks { replay, cache: CacheStyle::Blocks, ..Quirks::default() };
        let request = request("claude-opus-4-6", history);
        let sent = body(&request, &quirks);
        assert_legal(&sent);
        prop_assert!(marks(&sent).len() <= 4);
        prop_assert_eq!(sent.to_string(), body(&request, &quirks).to_string());
    }

    // AG-21
    #[test]
    fn a_request_begins_with_the_one_before(
        steps in prop::collection::vec(0_usize..3, 1..4),
        replay in any_replay(),
    ) {
        let turn = |number: usize| {
            let id = format!("t{number}");
            let blocks = json!([
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "tool_use", "id": id, "name": "look", "input": {}},
            ]);
            assistant(vec![call(&id, "look", json!({}))], raw(blocks))
        };
        let answer = || {
            let blocks = json!([
                {"type": "thinking", "thinking": "so", "signature": "s"},
                {"type": "text", "text": "done"},
            ]);
            assistant(vec![said("done")], raw(blocks))
        };
        let quirks = Quirks { replay, cache: CacheStyle::Blocks, ..Quirks::default() };
        let requests = rounds(&steps, turn, answer);
        let sent: Vec<Json> = requests
            .iter()
            .map(|history| body(&request("claude-opus-4-6", history.clone()), &quirks))
            .collect();
        for (pair, history) in sent.windows(2).zip(requests.iter().skip(1)) {
            // Only when the person speaks again is the thinking of the loop before left out.
            let new_round = history.last().is_some_and(|last| last.role == Role::User);
            let hidden: &[&str] = match replay {
                ReasoningReplay::Native if new_round => &["thinking"],
                _ => &[],
            };
            let (before, after) = (without(&pair[0]["messages"], hidden), without(&pair[1]["messages"], hidden));
            prop_assert!(after.starts_with(&before), "{before:?}\n{after:?}");
            for field in ["system", "tools", "model", "max_tokens"] {
                prop_assert_eq!(&pair[0][field], &pair[1][field]);
            }
        }
    }

    // PV-8
    #[test]
    fn no_frame_is_too_strange(frames in prop::collection::vec(any_frame(), 0..12)) {
        let _ = read(&frames);
        let mut out = Vec::new();
        for frame in &frames {
            let _ = decoder("here", "m").document(frame, &mut out);
            let data = frame.to_string();
            let cut: String = data.chars().take(data.len() / 2).collect();
            let _ = decoder("here", "m").frame(&Frame { event: Some("error".to_owned()), data: cut }, &mut out);
        }
    }
}

fn any_frame() -> impl Strategy<Value = Json> {
    let kinds = vec![
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "error",
        "new",
    ];
    let delta = prop::sample::select(vec![
        "text_delta",
        "thinking_delta",
        "signature_delta",
        "input_json_delta",
        "citations_delta",
        "x",
    ]);
    let delta = (delta, "[{}\"a]{0,3}").prop_map(|(kind, text)| {
        json!({"type": kind, "text": text, "thinking": 3, "signature": text, "partial_json": text})
    });
    let odd = prop::sample::select(vec![
        json!(null),
        json!([]),
        json!(-1),
        json!("x"),
        json!({"usage": {"input_tokens": -1}}),
        json!({"type": 1}),
    ]);
    (prop::sample::select(kinds), prop::option::of(0_u64..3), delta, any_block(), odd.clone(), odd).prop_map(
        |(kind, index, delta, block, odd, other)| json!({
            "type": kind, "index": index, "delta": delta, "content_block": block, "message": odd,
            "content": [block, other], "usage": other,
        }),
    )
}
