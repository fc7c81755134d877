//! Effort in each of the ways providers have for it.

use hermes_core::Effort;
use hermes_llm::{Quirks, ReasoningStyle};
use serde_json::{Value as Json, json};

use super::request::{body, request};

const ALL: [Option<Effort>; 9] = [
    None,
    Some(Effort::Off),
    Some(Effort::Minimal),
    Some(Effort::Low),
    Some(Effort::Medium),
    Some(Effort::High),
    Some(Effort::ExtraHigh),
    Some(Effort::Max),
    Some(Effort::Ultra),
];

fn levels(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// What a style adds to the body, for no effort and for each one from `none` to `ultra`.
fn added(style: ReasoningStyle, model: &str) -> Vec<Json> {
    let quirks = Quirks {
        reasoning: style,
        ..Quirks::default()
    };
    ALL.iter()
        .map(|effort| {
            let mut request = request(Vec::new());
            request.model = model.to_owned();
            request.settings.effort = *effort;
            let Json::Object(mut body) = body(&request, &quirks) else {
                panic!("a body is an object");
            };
            for key in ["model", "stream", "stream_options", "messages"] {
                body.shift_remove(key).expect(key);
            }
            Json::Object(body)
        })
        .collect()
}

// PV-12
#[test]
fn styles_that_say_nothing_add_nothing() {
    for style in [
        ReasoningStyle::Native,
        ReasoningStyle::Omit,
        ReasoningStyle::Adaptive,
    ] {
        assert_eq!(added(style, "m"), vec![json!({}); 9]);
    }
}

// PV-12
#[test]
fn levels_go_to_the_nearest_the_provider_knows() {
    let effort = |word: &str| json!({"reasoning_effort": word});
    let style = |words: &[&str], default: Option<&str>| ReasoningStyle::Effort {
        levels: levels(words),
        default: default.map(str::to_owned),
        unsaid: Vec::new(),
    };
    let expected: Vec<Json> = [
        "high", "low", "low", "medium", "high", "high", "high", "high",
    ]
    .iter()
    .map(|word| effort(word))
    .collect();
    let mut three = added(style(&["low", "medium", "high"], Some("high")), "m");
    assert_eq!(three.remove(1), json!({}), "off is left out");
    assert_eq!(three, expected);

    let four = added(style(&["none", "low", "medium", "high", "max"], None), "m");
    let expected = [
        json!({}),
        effort("none"),
        effort("low"),
        effort("low"),
        effort("medium"),
        effort("high"),
        effort("max"),
        effort("max"),
        effort("max"),
    ];
    assert_eq!(four, expected);
}

// PV-12
#[test]
fn an_effort_may_be_asked_for_by_saying_nothing() {
    let style = ReasoningStyle::Effort {
        levels: levels(&["low", "high"]),
        default: Some("high".to_owned()),
        unsaid: levels(&["minimal"]),
    };
    let sent = added(style, "m");
    let effort = |word: &str| json!({"reasoning_effort": word});
    assert_eq!(sent[0], effort("high"));
    assert_eq!(sent[2], json!({}), "minimal");
    assert_eq!(sent[3], effort("low"));
}

// PV-12
#[test]
fn aggregators_take_an_object() {
    let on = |word: &str| json!({"reasoning": {"enabled": true, "effort": word}});
    let expected = [
        on("medium"),
        json!({"reasoning": {"enabled": false}}),
        on("minimal"),
        on("low"),
        on("medium"),
        on("high"),
        on("xhigh"),
        on("max"),
        on("max"),
    ];
    assert_eq!(
        added(
            ReasoningStyle::Object {
                silent_off: false,
                default: Some("medium".to_owned())
            },
            "m"
        ),
        expected
    );
    assert_eq!(
        added(
            ReasoningStyle::Object {
                default: None,
                silent_off: false
            },
            "m"
        )[0],
        json!({})
    );
}

// PV-12
#[test]
fn a_switch_may_have_levels() {
    let thinking = |kind: &str| json!({"thinking": {"type": kind}});
    let with = |word: &str| json!({"thinking": {"type": "enabled"}, "reasoning_effort": word});
    let plain = added(
        ReasoningStyle::ThinkingSwitch {
            on: "enabled".to_owned(),
            levels: Vec::new(),
            only_when_set: true,
        },
        "m",
    );
    let mut expected = vec![thinking("enabled"); 9];
    expected[0] = json!({});
    expected[1] = thinking("disabled");
    assert_eq!(plain, expected);

    let leveled = added(
        ReasoningStyle::ThinkingSwitch {
            on: "enabled".to_owned(),
            levels: levels(&["low", "medium", "high", "max"]),
            only_when_set: false,
        },
        "m",
    );
    let expected = [
        thinking("enabled"),
        thinking("disabled"),
        with("low"),
        with("low"),
        with("medium"),
        with("high"),
        with("max"),
        with("max"),
        with("max"),
    ];
    assert_eq!(leveled, expected);
}

// PV-12
#[test]
fn gemini_and_local_servers_have_their_own_fields() {
    let config = |config: Json| json!({"extra_body": {"google": {"thinking_config": config}}});
    let level = |word: &str| config(json!({"include_thoughts": true, "thinking_level": word}));
    let hidden = config(json!({"include_thoughts": false}));
    let flash = added(ReasoningStyle::GoogleConfig, "google/gemini-3-flash");
    let expected = [
        json!({}),
        hidden.clone(),
        level("low"),
        level("low"),
        level("medium"),
        level("high"),
        level("high"),
        level("high"),
        level("high"),
    ];
    assert_eq!(flash, expected);
    let pro = added(ReasoningStyle::GoogleConfig, "gemini-3-pro-preview");
    assert_eq!(
        (&pro[1], &pro[3], &pro[5]),
        (&hidden, &level("low"), &level("high"))
    );
    let older = added(ReasoningStyle::GoogleConfig, "gemini-2.5-flash");
    assert_eq!(
        older[1],
        config(json!({"include_thoughts": false, "thinking_budget": 0}))
    );
    assert_eq!(older[5], config(json!({"include_thoughts": true})));

    let local = added(ReasoningStyle::Local, "m");
    assert_eq!(local[0], json!({}));
    assert_eq!(
        local[1],
        json!({"reasoning_effort": "none", "think": false})
    );
    assert_eq!(local[2], json!({"reasoning_effort": "low"}));
    assert_eq!(local[8], json!({"reasoning_effort": "high"}));
}
