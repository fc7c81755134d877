use super::*;

/// What the provider checks before it reads a conversation.
fn assert_legal(sent: &Json) {
    let contents = sent["contents"].as_array().unwrap();
    let mut waiting: Vec<(Json, Json)> = Vec::new();
    for (index, content) in contents.iter().enumerate() {
        let role = if index % 2 == 0 { "user" } else { "model" };
        assert_eq!(content["role"], role, "{sent}");
        let parts = content["parts"].as_array().unwrap();
        assert!(!parts.is_empty(), "{sent}");
        let mut first = true;
        for part in parts {
            let (called, response) = (&part["functionCall"], &part["functionResponse"]);
            if called.is_object() {
                assert_eq!(role, "model", "{sent}");
                assert!(!first || part["thoughtSignature"].is_string(), "{sent}");
                first = false;
                waiting.push((called["name"].clone(), called["id"].clone()));
            } else if response.is_object() {
                assert!(response["response"].is_object(), "{sent}");
                assert_eq!(
                    waiting.remove(0),
                    (response["name"].clone(), response["id"].clone()),
                    "{sent}"
                );
            } else if role == "user" {
                assert!(waiting.is_empty(), "{sent}");
            }
            if let Some(text) = part["text"].as_str() {
                assert!(
                    !text.trim().is_empty() || part["thoughtSignature"].is_string(),
                    "{sent}"
                );
            }
        }
        assert!(role == "model" || waiting.is_empty(), "{sent}");
    }
    assert_eq!(contents[0]["role"], "user");
}

proptest! {
    // PV-9
    #[test]
    fn every_history_is_legal_and_encoded_the_same_way_twice(history in any_history()) {
        let request = request(MODEL, history);
        let sent = body(&request, &Quirks::default());
        assert_legal(&sent);
        prop_assert_eq!(sent.to_string(), body(&request, &Quirks::default()).to_string());
    }

    // PV-9
    #[test]
    fn a_request_begins_with_the_one_before(steps in prop::collection::vec(0_usize..3, 1..4)) {
        let turn = |number: usize| {
            let id = format!("t{number}");
            let raw = number.is_multiple_of(2).then(|| raw(json!([{"text": "hm", "thought": true}, signed("/a", "s")])));
            assistant(vec![call(&id, "look", json!({"path": "/a"}))], raw.flatten())
        };
        let answer = || Message::text(Role::Assistant, "done");
        let sent: Vec<Json> = rounds(&steps, turn, answer)
            .into_iter()
            .map(|history| body(&request(MODEL, history), &Quirks::default()))
            .collect();
        for pair in sent.windows(2) {
            let contents = |index: usize| pair[index]["contents"].as_array().unwrap();
            prop_assert!(contents(1).starts_with(contents(0)));
        }
    }

    // PV-9
    #[test]
    fn no_frame_is_too_strange(frames in prop::collection::vec(any_chunk(), 0..8)) {
        let _ = read(&frames);
        let mut out = Vec::new();
        for frame in &frames {
            let _ = decoder("here", MODEL).document(frame, &mut out);
            let data = frame.to_string();
            let cut: String = data.chars().take(data.len() / 2).collect();
            let _ = decoder("here", MODEL).frame(&Frame { event: None, data: cut }, &mut out);
        }
    }
}

fn any_chunk() -> impl Strategy<Value = Json> {
    let part = prop_oneof![
        Just(look("/a")),
        Just(signed("/b", "s")),
        Just(json!({"functionCall": {"id": 4}})),
        Just(json!({"functionCall": null, "text": 3})),
        "[a-c]{0,2}".prop_map(|text| json!({"text": text, "thought": "yes"})),
        Just(json!(null)),
    ];
    let odd = prop::sample::select(vec![
        json!(null),
        json!([]),
        json!(-1),
        json!({"promptTokenCount": -4}),
        json!({"blockReason": 1}),
        json!("STOP"),
    ]);
    (
        prop::collection::vec(part, 0..4),
        odd.clone(),
        odd.clone(),
        odd,
    )
        .prop_map(|(parts, one, two, three)| {
            json!({
                "candidates": [{"content": {"parts": parts}, "finishReason": one}],
                "usageMetadata": two, "promptFeedback": three, "responseId": one,
            })
        })
}
