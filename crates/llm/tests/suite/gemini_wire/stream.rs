use super::*;

// PV-9
#[test]
fn a_stream_becomes_events_and_raw_parts() {
    let frames = [
        chunk(json!([{"text": "Let me ", "thought": true}])),
        chunk(json!([{"text": "see.", "thought": true}])),
        chunk(json!([{"text": "I "}, {"text": "look."}])),
        chunk(json!([signed("/a", "s1"), look("/b")])),
        last(json!([{"text": "", "thoughtSignature": "s2"}]), "STOP"),
    ];
    let (events, end) = read(&frames);
    assert_eq!(end, Ok(()));
    let id = |text: &str| CallId(text.to_owned());
    let started = |text: &str| ModelEvent::CallStarted {
        id: id(text),
        name: "look".to_owned(),
    };
    let arguments = |text: &str, fragment: &str| ModelEvent::CallArguments {
        id: id(text),
        fragment: fragment.to_owned(),
    };
    let parts = json!([
        {"text": "Let me see.", "thought": true},
        {"text": "I look."},
        signed("/a", "s1"),
        look("/b"),
        {"text": "", "thoughtSignature": "s2"},
    ]);
    assert_eq!(
        events,
        vec![
            ModelEvent::Reasoning("Let me ".to_owned()),
            ModelEvent::Reasoning("see.".to_owned()),
            ModelEvent::Text("I ".to_owned()),
            ModelEvent::Text("look.".to_owned()),
            started("call_r_0"),
            arguments("call_r_0", "{\"path\":\"/a\"}"),
            started("call_r_1"),
            arguments("call_r_1", "{\"path\":\"/b\"}"),
            ModelEvent::Finished {
                reason: FinishReason::ToolCalls,
                raw: raw(parts),
            },
        ]
    );
}

// PV-9
#[test]
fn repeated_parts_are_one_call_and_equal_calls_are_two() {
    let repeated = [
        chunk(json!([look("/a")])),
        chunk(json!([signed("/a", "s")])),
        last(json!([]), "STOP"),
    ];
    assert_eq!(calls(&repeated), [pair("call_r_0", "look")]);
    assert_eq!(finished(&repeated).1, raw(json!([signed("/a", "s")])));
    let equal = [
        chunk(json!([look("/a"), look("/a")])),
        chunk(json!([look("/a"), look("/a")])),
    ];
    assert_eq!(
        calls(&equal),
        [pair("call_r_0", "look"), pair("call_r_1", "look")]
    );
    let grown = [
        chunk(json!([look("/a")])),
        chunk(json!([look("/a"), look("/b")])),
    ];
    assert_eq!(
        calls(&grown),
        [pair("call_r_0", "look"), pair("call_r_1", "look")]
    );
    let named = |id: &str| json!({"functionCall": {"name": "look", "args": {}, "id": id}});
    let named = [
        chunk(json!([named("x")])),
        chunk(json!([named("x")])),
        chunk(json!([named("y")])),
    ];
    assert_eq!(calls(&named), [pair("x", "look"), pair("y", "look")]);
    assert_eq!(
        calls(&[last(json!([look("/a")]), "STOP")]),
        [pair("call_0", "look")]
    );
}

// PV-9
#[test]
fn reasons_for_stopping() {
    for (word, reason) in [
        ("STOP", FinishReason::Stop),
        ("MAX_TOKENS", FinishReason::Length),
        ("SAFETY", FinishReason::Refused),
        ("RECITATION", FinishReason::Refused),
        ("PROHIBITED_CONTENT", FinishReason::Refused),
    ] {
        assert_eq!(finished(&[last(json!([]), word)]), (reason, None), "{word}");
    }
    let called = json!([look("/a")]);
    assert_eq!(
        finished(&[last(called.clone(), "STOP")]).0,
        FinishReason::ToolCalls
    );
    assert_eq!(
        finished(&[last(called, "MAX_TOKENS")]).0,
        FinishReason::ToolCalls
    );
    let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"}});
    assert_eq!(finished(&[blocked]), (FinishReason::Refused, None));
    let malformed = json!({"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "look("}]});
    let error = WireError::Malformed("MALFORMED_FUNCTION_CALL look(".to_owned());
    assert_eq!(read(&[malformed]).1, Err(error));
    // Nobody knows what was left out: half an answer is none.
    for word in ["OTHER", "LANGUAGE", "TOO_MANY_TOOL_CALLS", "NEW_WORD"] {
        let half = last(json!([{"text": "half an ans"}]), word);
        let error = WireError::Malformed(word.to_owned());
        assert_eq!(read(&[half]).1, Err(error), "{word}");
        let called = last(json!([look("/a")]), word);
        assert_eq!(finished(&[called]).0, FinishReason::ToolCalls, "{word}");
    }
    // A piece on the way that says it by the word for nothing.
    let on_the_way = last(json!([{"text": "a"}]), "FINISH_REASON_UNSPECIFIED");
    let end = last(json!([{"text": "b"}]), "STOP");
    assert_eq!(finished(&[on_the_way, end]).0, FinishReason::Stop);
}

// PV-9
#[test]
fn answers_that_do_not_end_well() {
    let cut = WireError::Cut {
        open_calls: vec!["look".to_owned()],
    };
    assert_eq!(read(&[chunk(json!([look("/a")]))]).1, Err(cut));
    assert_eq!(read(&[json!({})]).1, Err(WireError::Empty));
    let failure = json!({"error": {
        "code": 429, "status": "RESOURCE_EXHAUSTED", "message": "slow down",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1.5s"}],
    }});
    let vendor = WireError::Vendor(VendorError {
        status: Some(429),
        code: Some("RESOURCE_EXHAUSTED".to_owned()),
        message: "slow down".to_owned(),
        retry_after: Some(std::time::Duration::from_millis(1_500)),
        request_id: None,
    });
    assert_eq!(read(std::slice::from_ref(&failure)).1, Err(vendor.clone()));
    let mut out = Vec::new();
    assert_eq!(
        decoder("here", MODEL).document(&json!([failure]), &mut out),
        Err(vendor)
    );
}

// PV-9
#[test]
fn a_document_reads_like_a_stream() {
    for document in [
        chunk(json!([{"text": "yes"}])),
        json!([
            chunk(json!([{"text": "y"}])),
            last(json!([{"text": "es"}]), "STOP")
        ]),
    ] {
        let mut out = Vec::new();
        assert_eq!(decoder("here", MODEL).document(&document, &mut out), Ok(()));
        let end = ModelEvent::Finished {
            reason: FinishReason::Stop,
            raw: raw(json!([{"text": "yes"}])),
        };
        assert_eq!(out.last(), Some(&end));
    }
}

// PV-29
#[test]
fn usage_counts_every_bucket_once() {
    for (report, expected) in [
        (
            json!({"promptTokenCount": 100, "cachedContentTokenCount": 60, "candidatesTokenCount": 7,
                   "thoughtsTokenCount": 30, "totalTokenCount": 137}),
            (40, 37, 60, 30),
        ),
        (
            json!({"promptTokenCount": 10, "toolUsePromptTokenCount": 5, "candidatesTokenCount": 2}),
            (15, 2, 0, 0),
        ),
        (
            json!({"promptTokenCount": 1, "cachedContentTokenCount": 9}),
            (0, 0, 9, 0),
        ),
    ] {
        let mut frame = last(json!([{"text": "x"}]), "STOP");
        frame["usageMetadata"] = report;
        let (events, _) = read(&[json!({"usageMetadata": {"promptTokenCount": 3}}), frame]);
        let found = events.iter().rev().find_map(|event| match event {
            ModelEvent::Usage { usage, .. } => Some(*usage),
            _ => None,
        });
        let (input_tokens, output_tokens, cache_read_tokens, reasoning_tokens) = expected;
        let usage = Usage {
            input_tokens,
            output_tokens,
            cache_read_tokens,
            cache_write_tokens: 0,
            reasoning_tokens,
        };
        assert_eq!(found, Some(usage));
    }
}
