use super::*;

// PV-8
#[test]
fn a_stream_becomes_events_in_order() {
    let (events, end) = read(&recorded());
    assert_eq!(end, Ok(()));
    let id = |text: &str| CallId(text.to_owned());
    let (one, two) = (id("toolu_1"), id("toolu_2"));
    let usage = |output_tokens| ModelEvent::Usage {
        usage: Usage {
            input_tokens: 5,
            output_tokens,
            cache_read_tokens: 70,
            cache_write_tokens: 20,
            reasoning_tokens: 0,
        },
        cost_usd: None,
    };
    let expected = vec![
        usage(1),
        ModelEvent::Reasoning("Let me ".to_owned()),
        ModelEvent::Reasoning("see.".to_owned()),
        ModelEvent::Text("I look.".to_owned()),
        ModelEvent::CallStarted {
            id: one.clone(),
            name: "look".to_owned(),
        },
        ModelEvent::CallArguments {
            id: one.clone(),
            fragment: "{\"path\": \"/t".to_owned(),
        },
        ModelEvent::CallArguments {
            id: one,
            fragment: "mp\", \"deep\": 1.50}".to_owned(),
        },
        ModelEvent::Reasoning("And".to_owned()),
        ModelEvent::CallStarted {
            id: two,
            name: "look".to_owned(),
        },
        usage(9),
        ModelEvent::Finished {
            reason: FinishReason::ToolCalls,
            raw: raw(recorded_blocks()),
        },
    ];
    assert_eq!(events, expected);
}

// PV-8
#[test]
fn a_document_reads_like_a_stream() {
    let mut out = Vec::new();
    let document = json!({
        "content": recorded_blocks(), "stop_reason": "tool_use", "usage": {"input_tokens": 3},
    });
    let mut decoder = decoder("here", "claude-opus-4-6");
    assert_eq!(decoder.document(&document, &mut out), Ok(()));
    let written = ModelEvent::CallArguments {
        id: CallId("toolu_1".to_owned()),
        fragment: "{\"path\":\"/tmp\",\"deep\":1.5}".to_owned(),
    };
    assert!(out.contains(&written), "{out:?}");
    assert_eq!(
        finished(&out),
        (FinishReason::ToolCalls, raw(recorded_blocks()))
    );
}

// PV-8
#[test]
fn reasons_for_stopping() {
    for (word, reason) in [
        ("end_turn", FinishReason::Stop),
        ("stop_sequence", FinishReason::Stop),
        ("something_new", FinishReason::Stop),
        ("tool_use", FinishReason::Stop),
        ("max_tokens", FinishReason::Length),
        ("model_context_window_exceeded", FinishReason::Length),
        ("refusal", FinishReason::Refused),
        ("pause_turn", FinishReason::Paused),
    ] {
        let (events, end) = read(&[ended(word)]);
        assert_eq!(end, Ok(()));
        assert_eq!(finished(&events), (reason, None), "{word}");
    }
    let called = start(0, json!({"type": "tool_use", "name": "look"}));
    let (events, _) = read(&[called, ended("end_turn")]);
    let (reason, turn) = finished(&events);
    assert_eq!(reason, FinishReason::ToolCalls);
    let block = json!([{"type": "tool_use", "name": "look", "id": "call_0", "input": {}}]);
    assert_eq!(turn, raw(block));
}

// PV-8
#[test]
fn answers_that_do_not_end_well() {
    let call = start(
        0,
        json!({"type": "tool_use", "id": "t", "name": "look", "input": {}}),
    );
    let open = delta(
        0,
        json!({"type": "input_json_delta", "partial_json": "{\"pa"}),
    );
    let cut = WireError::Cut {
        open_calls: vec!["look".to_owned()],
    };
    assert_eq!(read(&[call, open]).1, Err(cut));
    let text = delta(0, json!({"type": "text_delta", "text": "hal"}));
    let cut = WireError::Cut {
        open_calls: Vec::new(),
    };
    assert_eq!(read(std::slice::from_ref(&text)).1, Err(cut));
    assert_eq!(read(&[json!({"type": "ping"})]).1, Err(WireError::Empty));
    let failure = json!({
        "type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}, "request_id": "r1",
    });
    let vendor = WireError::Vendor(VendorError {
        code: Some("overloaded_error".to_owned()),
        message: "Overloaded".to_owned(),
        request_id: Some("r1".to_owned()),
        ..VendorError::default()
    });
    assert_eq!(read(&[text, failure.clone()]).1, Err(vendor.clone()));
    let mut out = Vec::new();
    let document = decoder("here", "m").document(&failure, &mut out);
    assert_eq!(document, Err(vendor));
    let page = Frame {
        event: None,
        data: "<html>".to_owned(),
    };
    let read = decoder("here", "m").frame(&page, &mut out);
    assert!(matches!(read, Err(WireError::Malformed(_))), "{read:?}");
}

// PV-29
#[test]
fn usage_counts_every_bucket_once() {
    let usage = |frames: &[Json]| {
        let (events, _) = read(frames);
        events.iter().rev().find_map(|event| match event {
            ModelEvent::Usage { usage, .. } => Some(*usage),
            _ => None,
        })
    };
    let begun = |usage: Json| json!({"type": "message_start", "message": {"usage": usage}});
    let done = |usage: Json| json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage});
    let counted =
        |input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens| {
            Some(Usage {
                input_tokens,
                output_tokens,
                cache_read_tokens,
                cache_write_tokens,
                reasoning_tokens,
            })
        };
    let all = json!({"input_tokens": 5, "cache_read_input_tokens": 70, "cache_creation_input_tokens": 20, "output_tokens": 1});
    for (frames, expected) in [
        (
            vec![begun(all.clone()), done(json!({"output_tokens": 40}))],
            counted(5, 40, 70, 20, 0),
        ),
        (
            vec![
                begun(json!({"input_tokens": 0})),
                done(json!({"input_tokens": 8, "output_tokens": 4})),
            ],
            counted(8, 4, 0, 0, 0),
        ),
        (
            vec![
                begun(all),
                done(
                    json!({"input_tokens": 0, "output_tokens": 40, "output_tokens_details": {"thinking_tokens": 30}}),
                ),
            ],
            counted(5, 40, 70, 20, 30),
        ),
        (vec![begun(json!(null)), done(json!(null))], None),
    ] {
        assert_eq!(usage(&frames), expected);
    }
}
