use hermes_testkit::model_server::Protocol;
use serde_json::{Value, json};

use super::{Rule, check, list, nothing, remove};

fn body() -> Value {
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "terminal", "input": {}});
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": ""});
    json!({
        "model": "m",
        "max_tokens": 8192,
        "system": [{"type": "text", "text": "be kind"}],
        "messages": [
            {"role": "user", "content": "list"},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "text", "text": "Looking."},
                call("a"),
                call("b"),
            ]},
            {"role": "user", "content": [
                result("a"),
                result("b"),
                {"type": "text", "text": "and hurry"},
            ]},
        ],
        "tools": [{
            "name": "terminal",
            "description": "runs",
            "input_schema": {"type": "object", "properties": {"c": {"type": "string"}}},
        }],
    })
}

#[test]
fn rules_of_the_conversation() {
    let rules = [
        Rule {
            keeps: |body| body["system"] = "be kind".into(),
            breaks: |body| body["system"] = " ".into(),
            says: "system: must be a text that is not empty",
        },
        Rule {
            keeps: nothing,
            breaks: |body| body["messages"][0]["content"] = " \n".into(),
            says: "must be a text that is not empty",
        },
        Rule {
            keeps: |body| list(&mut body["messages"]).truncate(1),
            breaks: |body| body["messages"] = json!([]),
            says: "must be a list that is not empty",
        },
        Rule {
            keeps: nothing,
            breaks: |body| {
                let hello = json!({"role": "assistant", "content": "hello"});
                list(&mut body["messages"]).insert(0, hello);
            },
            says: "the first message must be the user's",
        },
        Rule {
            keeps: nothing,
            breaks: |body| {
                list(&mut body["messages"]).push(json!({"role": "user", "content": "x"}))
            },
            says: "follows itself",
        },
        Rule {
            keeps: nothing,
            breaks: |body| {
                list(&mut body["messages"]).push(json!({"role": "assistant", "content": "x"}));
            },
            says: "the last message must be the user's",
        },
        Rule {
            keeps: nothing,
            breaks: |body| {
                list(&mut body["messages"]).truncate(1);
                list(&mut body["messages"]).insert(0, json!({"role": "system", "content": "x"}));
                list(&mut body["messages"]).remove(1);
            },
            says: "messages[0]",
        },
        Rule {
            keeps: nothing,
            breaks: |body| body["messages"][0]["_db_persisted"] = true.into(),
            says: "`_db_persisted` is a local key",
        },
        Rule {
            keeps: nothing,
            breaks: |body| body["messages"][0]["api_content"] = "x".into(),
            says: "`api_content` is a local key",
        },
        Rule {
            keeps: nothing,
            breaks: |body| body["messages"][2]["content"][0]["name"] = "terminal".into(),
            says: "`name` is not known here",
        },
        Rule {
            keeps: |body| {
                let source = json!({"type": "base64", "media_type": "image/png", "data": ""});
                let picture = json!({"type": "image", "source": source});
                list(&mut body["messages"][2]["content"]).push(picture);
            },
            breaks: |body| {
                let picture = json!({"type": "image_url", "source": {}});
                list(&mut body["messages"][2]["content"]).push(picture);
            },
            says: "is none of",
        },
    ];
    check(Protocol::Anthropic, &body(), &rules);
}

#[test]
fn rules_of_calls_and_results() {
    let rules = [
        Rule {
            keeps: |body| list(&mut body["messages"][2]["content"]).swap(0, 1),
            breaks: |body| drop(list(&mut body["messages"][2]["content"]).remove(1)),
            says: "call \"b\" has no result",
        },
        Rule {
            keeps: nothing,
            breaks: |body| {
                let again = body["messages"][2]["content"][0].clone();
                list(&mut body["messages"][2]["content"]).insert(0, again);
            },
            says: "has its result already",
        },
        Rule {
            keeps: nothing,
            breaks: |body| drop(list(&mut body["messages"][1]["content"]).pop()),
            says: "result without a call: \"b\"",
        },
        Rule {
            keeps: nothing,
            breaks: |body| list(&mut body["messages"][2]["content"]).swap(1, 2),
            says: "results must come before other content",
        },
        Rule {
            keeps: nothing,
            breaks: |body| {
                body["messages"][1]["content"][3]["id"] = "a".into();
                list(&mut body["messages"][2]["content"]).remove(1);
            },
            says: "call id \"a\" is used twice",
        },
        Rule {
            keeps: |body| {
                body["messages"][1]["content"][2]["id"] = "toolu_0-A".into();
                body["messages"][2]["content"][0]["tool_use_id"] = "toolu_0-A".into();
            },
            breaks: |body| {
                body["messages"][1]["content"][2]["id"] = "call|1".into();
                body["messages"][2]["content"][0]["tool_use_id"] = "call|1".into();
            },
            says: "must be 1 to 64 of",
        },
        Rule {
            keeps: nothing,
            breaks: |body| body["messages"][1]["content"][2]["input"] = "{}".into(),
            says: "input: must be an object",
        },
        Rule {
            keeps: |body| {
                let text = json!([{"type": "text", "text": "x"}]);
                body["messages"][2]["content"][0]["content"] = text;
            },
            breaks: |body| body["messages"][2]["content"][0]["content"] = json!({}),
            says: "must be a text or blocks",
        },
    ];
    check(Protocol::Anthropic, &body(), &rules);
}

#[test]
fn rules_of_thinking() {
    let rules = [
        Rule {
            keeps: |body| {
                let block = json!({"type": "redacted_thinking", "data": "x"});
                body["messages"][1]["content"][0] = block;
            },
            breaks: |body| remove(&mut body["messages"][1]["content"][0], "signature"),
            says: "signature: must be a text",
        },
        Rule {
            keeps: nothing,
            breaks: |body| {
                body["messages"][1]["content"][0] = json!({"type": "redacted_thinking"});
            },
            says: "data: must be a text",
        },
        Rule {
            keeps: |body| body["thinking"] = json!({"type": "enabled", "budget_tokens": 4096}),
            breaks: |body| body["thinking"] = json!({"type": "enabled", "budget_tokens": 8192}),
            says: "must be at least 1024 and below `max_tokens`",
        },
        Rule {
            keeps: |body| body["thinking"] = json!({"type": "adaptive", "display": "summarized"}),
            breaks: |body| body["thinking"] = json!({"type": "adaptive", "budget_tokens": 2048}),
            says: "only with `enabled`",
        },
        Rule {
            keeps: |body| body["thinking"] = json!({"type": "disabled"}),
            breaks: |body| body["thinking"] = json!({"type": "off"}),
            says: "is none of",
        },
        Rule {
            keeps: |body| {
                body["thinking"] = json!({"type": "adaptive"});
                body["temperature"] = 1.into();
            },
            breaks: |body| {
                body["thinking"] = json!({"type": "adaptive"});
                body["temperature"] = json!(0.5);
            },
            says: "must be 1 with thinking",
        },
        Rule {
            keeps: |body| {
                body["thinking"] = json!({"type": "adaptive"});
                body["tool_choice"] = json!({"type": "auto"});
            },
            breaks: |body| {
                body["thinking"] = json!({"type": "adaptive"});
                body["tool_choice"] = json!({"type": "any"});
            },
            says: "may not be forced with thinking",
        },
        Rule {
            keeps: |body| drop(list(&mut body["messages"][1]["content"]).remove(0)),
            breaks: |body| {
                body["thinking"] = json!({"type": "enabled", "budget_tokens": 4096});
                list(&mut body["messages"][1]["content"]).remove(0);
            },
            says: "must begin with thinking",
        },
    ];
    check(Protocol::Anthropic, &body(), &rules);
}

fn mark(block: &mut Value) {
    block["cache_control"] = json!({"type": "ephemeral"});
}

#[test]
fn rules_of_cache_markers() {
    let rules = [
        Rule {
            keeps: |body| {
                mark(&mut body["tools"][0]);
                mark(&mut body["system"][0]);
                mark(&mut body["messages"][2]["content"][0]);
                mark(&mut body["messages"][2]["content"][1]);
            },
            breaks: |body| {
                mark(&mut body["tools"][0]);
                mark(&mut body["system"][0]);
                mark(&mut body["messages"][1]["content"][1]);
                mark(&mut body["messages"][2]["content"][0]);
                mark(&mut body["messages"][2]["content"][1]);
            },
            says: "5 cache markers, more than 4",
        },
        Rule {
            keeps: |body| mark(&mut body["messages"][1]["content"][1]),
            breaks: |body| mark(&mut body["messages"][1]["content"][0]),
            says: "a cache marker on thinking",
        },
        Rule {
            keeps: |body| {
                mark(&mut body["system"][0]);
                body["system"][0]["cache_control"]["ttl"] = "1h".into();
            },
            breaks: |body| {
                mark(&mut body["system"][0]);
                body["system"][0]["cache_control"]["ttl"] = "1d".into();
            },
            says: "\"1d\" is not a lifetime",
        },
        Rule {
            keeps: |body| {
                mark(&mut body["system"][0]);
                mark(&mut body["tools"][0]);
                body["tools"][0]["cache_control"]["ttl"] = "1h".into();
            },
            breaks: |body| {
                mark(&mut body["system"][0]);
                mark(&mut body["tools"][0]);
                body["system"][0]["cache_control"]["ttl"] = "1h".into();
            },
            says: "a marker of 1h after one of 5m",
        },
        Rule {
            keeps: nothing,
            breaks: |body| body["system"][0]["cache_control"] = json!({"type": "forever"}),
            says: "is none of",
        },
    ];
    check(Protocol::Anthropic, &body(), &rules);
}

#[test]
fn rules_of_the_top_level_and_tools() {
    let rules = [
        Rule {
            keeps: |body| body["metadata"] = json!({"user_id": "x"}),
            breaks: |body| body["max_completion_tokens"] = 1.into(),
            says: "`max_completion_tokens` is not known here",
        },
        Rule {
            keeps: nothing,
            breaks: |body| remove(body, "model"),
            says: "model: must be a text",
        },
        Rule {
            keeps: |body| body["max_tokens"] = 1.into(),
            breaks: |body| remove(body, "max_tokens"),
            says: "max_tokens: must be a positive number",
        },
        Rule {
            keeps: |body| body["tool_choice"] = json!({"type": "auto"}),
            breaks: |body| {
                remove(body, "tools");
                body["tool_choice"] = json!({"type": "auto"});
            },
            says: "only with `tools`",
        },
        Rule {
            keeps: nothing,
            breaks: |body| body["tools"][0]["input_schema"]["oneOf"] = json!([]),
            says: "`oneOf` at the root",
        },
        Rule {
            keeps: nothing,
            breaks: |body| remove(&mut body["tools"][0], "input_schema"),
            says: "the root must have the type object",
        },
        Rule {
            keeps: |body| body["tools"][0]["input_schema"]["properties"]["a.b"] = json!({}),
            breaks: |body| body["tools"][0]["input_schema"]["properties"]["a b"] = json!({}),
            says: "is not a property name",
        },
        Rule {
            keeps: nothing,
            breaks: |body| {
                let same = body["tools"][0].clone();
                list(&mut body["tools"]).push(same);
            },
            says: "appears twice",
        },
    ];
    check(Protocol::Anthropic, &body(), &rules);
}
