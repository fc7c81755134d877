use super::*;

// PV-8
#[test]
fn a_follow_up_repeats_the_recorded_bytes() {
    let (events, _) = read(&recorded());
    let (_, turn) = finished(&events);
    let history = vec![
        user("go"),
        recorded_message(turn),
        result("toolu_1", "a"),
        result("toolu_2", "b"),
    ];
    let sent = body(&request("claude-opus-4-6", history), &Quirks::default());
    assert_eq!(
        sent["messages"][1]["content"].to_string(),
        recorded_blocks().to_string()
    );
}

// PV-8
#[test]
fn whatever_the_history_the_order_is_legal() {
    let mut shown = result("a b", "first");
    shown.parts.push(picture("shot"));
    let history = vec![
        assistant(vec![said("hello")], None),
        user("one"),
        user("two"),
        assistant(
            vec![
                call("a b", "look", json!({"path": "x"})),
                said("looking"),
                call("c", "write", json!("no object")),
                call("d", "write", json!({})),
            ],
            None,
        ),
        result("c", ""),
        user("hurry"),
        shown,
        result("nobody", "lost"),
        assistant(vec![said(" ")], None),
        assistant(vec![said("almost")], None),
        assistant(vec![said("done")], None),
    ];
    let sent = body(&request("claude-opus-4-6", history), &Quirks::default());
    let lost = hermes_llm::wire::legal::LOST_RESULT;
    let text = |text: &str| json!({"type": "text", "text": text});
    assert_eq!(
        sent["messages"],
        json!([
            {"role": "user", "content": [text("(the conversation goes on)")]},
            {"role": "assistant", "content": [text("hello")]},
            {"role": "user", "content": [text("one"), text("two")]},
            {"role": "assistant", "content": [
                text("looking"),
                {"type": "tool_use", "id": "a_b_c8687a08aa", "name": "look", "input": {"path": "x"}},
                {"type": "tool_use", "id": "c", "name": "write", "input": {}},
                {"type": "tool_use", "id": "d", "name": "write", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a_b_c8687a08aa", "content": [
                    text("first"),
                    {"type": "image", "source": {
                        "type": "base64", "media_type": "image/png", "data": "Ynl0ZXM=",
                    }},
                ]},
                {"type": "tool_result", "tool_use_id": "c", "content": "(no text)"},
                {"type": "tool_result", "tool_use_id": "d", "content": lost, "is_error": true},
                text("hurry"),
            ]},
            {"role": "assistant", "content": [text("almost"), text("done")]},
            {"role": "user", "content": [text("(go on)")]},
        ])
    );
}

#[track_caller]
fn check_thinking(
    replay: ReasoningReplay,
    model: &str,
    turn: Option<RawTurn>,
    later: bool,
    expected: &[&str],
) {
    let mut history = vec![
        user("go"),
        recorded_message(turn),
        result("toolu_1", "a"),
        result("toolu_2", "b"),
    ];
    if later {
        history.extend([assistant(vec![said("done")], None), user("more")]);
    }
    let quirks = Quirks {
        replay,
        ..Quirks::default()
    };
    let sent = body(&request(model, history), &quirks);
    let kinds: Vec<&str> = sent["messages"][1]["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| block["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, expected);
}

const WHOLE: [&str; 6] = [
    "thinking",
    "redacted_thinking",
    "text",
    "tool_use",
    "thinking",
    "tool_use",
];

const BARE: [&str; 3] = ["text", "tool_use", "tool_use"];

// PV-8 AG-2
#[test]
fn signed_thinking_goes_back_to_its_issuer_in_every_later_request() {
    use ReasoningReplay::{All, Native, Never, Unsigned};
    let opus = "claude-opus-4-6";
    let signed = || raw(recorded_blocks());
    let foreign = || raw_of("elsewhere", opus, recorded_blocks());
    let unsigned = || {
        raw(json!([
            {"type": "thinking", "thinking": "Hm."},
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}},
            {"type": "tool_use", "id": "toolu_2", "name": "look", "input": "{\"a\":"},
        ]))
    };
    check_thinking(Native, opus, signed(), false, &WHOLE);
    check_thinking(Native, "anthropic/claude-opus-4.6", signed(), false, &WHOLE);
    check_thinking(Native, opus, signed(), true, &WHOLE);
    check_thinking(Native, "claude-sonnet-4-6", signed(), false, &BARE);
    check_thinking(Native, opus, foreign(), false, &BARE);
    check_thinking(
        Native,
        opus,
        unsigned(),
        false,
        &["text", "text", "tool_use", "tool_use"],
    );
    check_thinking(
        Native,
        opus,
        unsigned(),
        true,
        &["text", "text", "tool_use", "tool_use"],
    );
    check_thinking(All, opus, signed(), true, &WHOLE);
    check_thinking(
        All,
        opus,
        foreign(),
        true,
        &["thinking", "text", "tool_use", "tool_use"],
    );
    check_thinking(Unsigned, opus, signed(), false, &BARE);
    check_thinking(
        Unsigned,
        opus,
        unsigned(),
        true,
        &["thinking", "text", "tool_use", "tool_use"],
    );
    check_thinking(Never, opus, signed(), false, &BARE);
}

// PV-8
#[test]
fn a_raw_turn_follows_what_the_history_did_to_its_calls() {
    let blocks = json!([
        {"type": "text", "text": ""},
        {"type": "tool_use", "id": "toolu_1", "name": "look", "input": "{\"path\": "},
        {"type": "tool_use", "id": "toolu_2", "name": "look", "input": {}},
    ]);
    let turn = assistant(
        vec![call("toolu_1", "look", json!({"path": "x"}))],
        raw(blocks),
    );
    let history = vec![
        user("go"),
        turn.clone(),
        result("toolu_1", "a"),
        turn,
        result("toolu_1", "b"),
    ];
    let sent = body(&request("claude-opus-4-6", history), &Quirks::default());
    let used =
        |id: &str| json!([{"type": "tool_use", "id": id, "name": "look", "input": {"path": "x"}}]);
    assert_eq!(sent["messages"][1]["content"], used("toolu_1"));
    assert_eq!(sent["messages"][3]["content"], used("toolu_1_2"));
    assert_eq!(
        sent["messages"][4]["content"][0]["tool_use_id"],
        "toolu_1_2"
    );
}

// PV-8
#[test]
fn a_paused_turn_is_sent_back_whole() {
    let blocks = json!([
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}},
    ]);
    let history = vec![user("go"), assistant(Vec::new(), raw(blocks.clone()))];
    let sent = body(&request("claude-opus-4-6", history), &Quirks::default());
    assert_eq!(
        sent["messages"][1],
        json!({"role": "assistant", "content": blocks})
    );
}

/// A history with so many screenshots, the last of which is gone.
fn looked_at(screenshots: usize) -> Vec<Message> {
    let mut history = vec![user("go")];
    for step in 1..=screenshots {
        let id = format!("t{step}");
        history.push(assistant(vec![call(&id, "look", json!({}))], None));
        let mut shown = result(&id, "seen");
        let last = step == screenshots;
        shown
            .parts
            .push(picture(if last { "gone" } else { "shot" }));
        history.push(shown);
    }
    history
}

// PV-8, AG-2: many at once, so that most requests begin with the one before.
#[test]
fn old_screenshots_are_left_out_sixteen_at_a_time() {
    for (screenshots, left_out) in [(18, 0), (19, 16), (34, 16), (35, 32)] {
        let request = request("claude-opus-4-6", looked_at(screenshots));
        let sent = body(&request, &Quirks::default());
        let shown = |step: usize| &sent["messages"][2 * step]["content"][0]["content"][1];
        for step in 1..screenshots {
            let outdated = "[attachment shot.png (image/png) is outdated and left out]";
            match step <= left_out {
                true => assert_eq!(shown(step)["text"], outdated, "{step} of {screenshots}"),
                false => assert_eq!(shown(step)["type"], "image", "{step} of {screenshots}"),
            }
        }
        assert_eq!(
            shown(screenshots)["text"],
            "[attachment shot.png (image/png) is not available]"
        );
    }
    for quirks in [
        Quirks {
            no_images: true,
            ..Quirks::default()
        },
        Quirks {
            text_only_tool_results: true,
            ..Quirks::default()
        },
    ] {
        let sent = body(&request("claude-opus-4-6", looked_at(5)), &quirks).to_string();
        assert!(!sent.contains("\"image\""));
    }
}
