use super::*;

// PV-8
#[test]
fn the_rest_of_the_body() {
    let mut request = request("anthropic/claude-opus-4.6", Vec::new());
    request.settings.tool_choice = ToolChoice::Required;
    request.settings.temperature = Some(1.5);
    let quirks = Quirks {
        extra_body: json!({"speed": "fast"}).as_object().cloned().unwrap(),
        conversation_field: Some("thread".to_owned()),
        ..Quirks::default()
    };
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let text = |text: &str| json!({"type": "text", "text": text});
    assert_eq!(
        body(&request, &quirks),
        json!({
            "model": "claude-opus-4-6",
            "max_tokens": 128_000,
            "temperature": 1.0,
            "system": [text("Be brief.")],
            "tools": [
                {"name": "look", "description": "Does look.", "input_schema": schema},
                {"name": "write", "description": "Does write.", "input_schema": schema},
            ],
            "tool_choice": {"type": "any"},
            "messages": [{"role": "user", "content": [text("(the conversation goes on)")]}],
            "stream": true,
            "thread": "c1",
            "speed": "fast",
        })
    );
}

// PV-8
#[test]
fn preview_features_by_model_and_host() {
    let always = [
        "interleaved-thinking-2025-05-14",
        "fine-grained-tool-streaming-2025-05-14",
    ];
    assert_eq!(betas("claude-opus-4-6", &Betas::default()), always);
    let wanted = Betas {
        long_context: true,
        fast: true,
        refused: &["fine-grained-tool-streaming-2025-05-14"],
    };
    assert_eq!(
        betas("claude-opus-4.6", &wanted),
        [
            "interleaved-thinking-2025-05-14",
            "context-1m-2025-08-07",
            "fast-mode-2026-02-01"
        ]
    );
    assert_eq!(
        betas("claude-sonnet-4-6", &wanted),
        ["interleaved-thinking-2025-05-14", "context-1m-2025-08-07"]
    );
}

// PV-8: the header goes with what the body asks for.
#[test]
fn a_body_that_asks_for_speed_comes_with_its_preview_feature() {
    let asked = |speed: Json, model: &str| {
        let quirks = Quirks {
            extra_body: speed.as_object().cloned().unwrap(),
            ..Quirks::default()
        };
        let headers = headers(WireProtocol::Anthropic, model, &quirks);
        let betas = headers.iter().find(|(name, _)| *name == "anthropic-beta");
        betas.unwrap().1.contains("fast-mode-2026-02-01")
    };
    assert!(asked(json!({"speed": "fast"}), "claude-opus-4-6"));
    assert!(!asked(json!({"speed": "fast"}), "claude-sonnet-4-6"));
    assert!(!asked(json!({"speed": "standard"}), "claude-opus-4-6"));
    assert!(!asked(json!({}), "claude-opus-4-6"));
}

// PV-8
#[test]
fn limits_and_thinking_by_family() {
    use ThinkingStyle::{Adaptive, Budget, None};
    for (model, limit, style) in [
        ("claude-3-haiku-20240307", 4_096, None),
        ("claude-3-5-haiku-latest", 8_192, None),
        ("claude-3.7-sonnet", 128_000, Budget),
        ("claude-opus-4-20250514", 32_000, Budget),
        ("claude-opus-4-1", 32_000, Budget),
        ("claude-opus-4-5", 64_000, Budget),
        ("anthropic/claude-opus-4.6", 128_000, Adaptive),
        ("claude-opus-4-7", 128_000, Adaptive),
        ("claude-sonnet-4-5", 64_000, Budget),
        ("us.anthropic.claude-sonnet-4-6-v1:0", 64_000, Adaptive),
        ("claude-haiku-4-5", 64_000, Budget),
        ("claude-sonnet-5", 128_000, Adaptive),
        ("claude-fable-5", 128_000, Adaptive),
        ("kimi-for-coding", 128_000, Adaptive),
        ("MiniMax-M2.5", 131_072, Budget),
        ("qwen3-coder-plus", 65_536, Budget),
        ("something-else", 128_000, Budget),
    ] {
        assert_eq!(thinking_style(model), style, "{model}");
        let sent = body(&request(model, vec![user("x")]), &Quirks::default());
        assert_eq!(sent["max_tokens"], limit, "{model}");
        let dots = model.contains("MiniMax") || model.starts_with("us.");
        assert_eq!(
            sent["model"].as_str().unwrap().contains('.'),
            dots,
            "{model}"
        );
    }
}

/// The fields an effort decides about.
fn effort_fields(model: &str, effort: Option<Effort>, quirks: &Quirks) -> Json {
    let mut request = request(model, vec![user("x")]);
    request.settings.effort = effort;
    request.settings.temperature = Some(0.5);
    request.settings.max_output_tokens = Some(6_000);
    let sent = body(&request, quirks);
    let names = ["max_tokens", "thinking", "output_config", "temperature"];
    names
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), sent.get(name)?.clone())))
        .collect::<serde_json::Map<_, _>>()
        .into()
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
fn effort_as_budget() {
    let quirks = Quirks::default();
    let plain = json!({"max_tokens": 6_000, "temperature": 0.5});
    let budget = |tokens: u32| {
        json!({
            "max_tokens": tokens + 4_096,
            "thinking": {"type": "enabled", "budget_tokens": tokens},
            "temperature": 1,
        })
    };
    assert_eq!(effort_fields("claude-sonnet-4-5", None, &quirks), plain);
    let expected = [
        plain.clone(),
        budget(4_000),
        budget(4_000),
        budget(8_000),
        budget(16_000),
        budget(32_000),
        budget(32_000),
        budget(32_000),
    ];
    for (effort, expected) in EFFORTS.iter().zip(expected) {
        assert_eq!(
            effort_fields("claude-sonnet-4-5", Some(*effort), &quirks),
            expected,
            "{effort:?}"
        );
        assert_eq!(
            effort_fields("claude-3-5-haiku", Some(*effort), &quirks),
            plain,
            "{effort:?}"
        );
    }
    // A budget never pushes the answer over the limit of the model.
    assert_eq!(
        effort_fields("claude-opus-4-1", Some(Effort::Max), &quirks),
        budget(27_904)
    );
}

// PV-12
#[test]
fn effort_as_a_word() {
    let quirks = Quirks::default();
    let adaptive = |word: &str| {
        json!({
            "max_tokens": 6_000,
            "thinking": {"type": "adaptive", "display": "summarized"},
            "output_config": {"effort": word},
        })
    };
    for (model, words) in [
        (
            "claude-opus-4-6",
            ["low", "low", "medium", "high", "high", "max", "max"],
        ),
        (
            "claude-opus-4-7",
            ["low", "low", "medium", "high", "xhigh", "max", "max"],
        ),
        (
            "kimi-for-coding",
            ["low", "low", "medium", "high", "high", "high", "high"],
        ),
    ] {
        for (effort, word) in EFFORTS.iter().skip(1).zip(words) {
            assert_eq!(
                effort_fields(model, Some(*effort), &quirks),
                adaptive(word),
                "{model} {effort:?}"
            );
        }
    }
    let plain = json!({"max_tokens": 6_000, "temperature": 0.5});
    assert_eq!(
        effort_fields("claude-opus-4-6", Some(Effort::Off), &quirks),
        plain
    );
    assert_eq!(
        effort_fields("claude-opus-4-7", None, &quirks),
        json!({"max_tokens": 6_000})
    );
    let forced = Quirks {
        reasoning: ReasoningStyle::Adaptive,
        temperature: Temperature::Fixed(0.2),
        ..Quirks::default()
    };
    assert_eq!(
        effort_fields("other", Some(Effort::High), &forced),
        adaptive("high")
    );
    let fixed = json!({"max_tokens": 6_000, "temperature": 0.2});
    assert_eq!(effort_fields("other", None, &forced), fixed);
    let none = Quirks {
        reasoning: ReasoningStyle::Omit,
        temperature: Temperature::Omit,
        ..Quirks::default()
    };
    assert_eq!(
        effort_fields("claude-opus-4-6", Some(Effort::High), &none),
        json!({"max_tokens": 6_000})
    );
}

// PV-12
#[test]
fn thinking_is_left_out_where_the_provider_would_refuse_it() {
    let mut forced = request("claude-opus-4-6", vec![user("x")]);
    forced.settings.effort = Some(Effort::High);
    forced.settings.tool_choice = ToolChoice::Required;
    assert_eq!(body(&forced, &Quirks::default()).get("thinking"), None);

    let foreign = vec![
        user("go"),
        recorded_message(None),
        result("toolu_1", "a"),
        result("toolu_2", "b"),
    ];
    let mut switched = request("claude-sonnet-4-5", foreign);
    switched.settings.effort = Some(Effort::High);
    assert_eq!(body(&switched, &Quirks::default()).get("thinking"), None);
    for message in [assistant(vec![said("done")], None), user("next")] {
        switched.messages.push(Arc::new(message));
    }
    assert_eq!(
        body(&switched, &Quirks::default())["thinking"]["budget_tokens"],
        16_000
    );
}

// PV-12, AG-20: whoever serves the model, and whatever is sent back of its thinking.
#[test]
fn thinking_rests_in_a_loop_that_is_sent_back_without_it() {
    let thinks = |model: &str, replay: ReasoningReplay| {
        let history = vec![
            user("go"),
            recorded_message(raw(recorded_blocks())),
            result("toolu_1", "a"),
            result("toolu_2", "b"),
        ];
        let mut request = request(model, history);
        request.settings.effort = Some(Effort::Medium);
        let quirks = Quirks {
            replay,
            ..Quirks::default()
        };
        body(&request, &quirks).get("thinking").is_some()
    };
    assert!(!thinks("claude-sonnet-4-5", ReasoningReplay::Never));
    assert!(!thinks("claude-sonnet-4-5", ReasoningReplay::Unsigned));
    assert!(thinks("claude-sonnet-4-5", ReasoningReplay::All));
    // Others think on without what they thought before.
    assert!(thinks("MiniMax-M2.5", ReasoningReplay::Never));
}
