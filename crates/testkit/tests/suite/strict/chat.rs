use hermes_testkit::model_server::Protocol;
use serde_json::{Value, json};

use super::{Rule, check, list, nothing, remove};

fn body() -> Value {
    let call = |id: &str| {
        let function = json!({"name": "terminal", "arguments": "{}"});
        json!({"id": id, "type": "function", "function": function})
    };
    json!({
        "model": "m",
        "messages": [
            {"role": "system", "content": "be kind"},
            {"role": "user", "content": [{"type": "text", "text": "list"}]},
            {"role": "assistant", "content": null, "tool_calls": [call("a"), call("b")]},
            {"role": "tool", "tool_call_id": "a", "content": "x"},
            {"role": "tool", "tool_call_id": "b", "content": ""},
        ],
        "tools": [{"type": "function", "function": {
            "name": "terminal",
            "description": "runs",
            "parameters": {"type": "object", "properties": {"c": {"type": "string"}}},
        }}],
        "tool_choice": "auto",
    })
}

#[test]
fn rules_of_the_conversation() {
    let rules = [
        Rule {
            keeps: |body| body["messages"][1]["content"] = "plain".into(),
            breaks: |body| body["messages"][1]["content"] = "".into(),
            says: "must be a text that is not empty",
        },
        Rule {
            keeps: |body| list(&mut body["messages"]).truncate(2),
            breaks: |body| {
                list(&mut body["messages"]).truncate(2);
                list(&mut body["messages"]).push(json!({"role": "user", "content": "x"}));
            },
            says: "may not follow \"user\"",
        },
        Rule {
            keeps: |body| body["messages"][0]["role"] = "developer".into(),
            breaks: |body| body["messages"][1]["role"] = "narrator".into(),
            says: "\"narrator\"",
        },
        Rule {
            keeps: nothing,
            breaks: |body| {
                list(&mut body["messages"]).push(json!({"role": "user", "content": "x"}))
            },
            says: "may not follow \"tool\"",
        },
        Rule {
            keeps: nothing,
            breaks: |body| {
                list(&mut body["messages"]).push(json!({"role": "assistant", "content": "x"}));
            },
            says: "must end with a user message or a result",
        },
        Rule {
            keeps: |body| body["messages"][1]["name"] = "ann".into(),
            breaks: |body| body["messages"][1]["timestamp"] = 1.into(),
            says: "`timestamp` is a local key",
        },
        Rule {
            keeps: nothing,
            breaks: |body| body["messages"][3]["tool_name"] = "terminal".into(),
            says: "`tool_name` is a local key",
        },
        Rule {
            keeps: |body| body["messages"][2]["content"] = "Looking.".into(),
            breaks: |body| body["messages"][2]["reasoning"] = "hm".into(),
            says: "`reasoning` is not known here",
        },
    ];
    check(Protocol::ChatCompletions, &body(), &rules);
}

#[test]
fn rules_of_calls_and_results() {
    let rules = [
        Rule {
            keeps: nothing,
            breaks: |body| drop(list(&mut body["messages"]).pop()),
            says: "call \"b\" has no result",
        },
        Rule {
            keeps: nothing,
            breaks: |body| body["messages"][4]["tool_call_id"] = "a".into(),
            says: "call",
        },
        Rule {
            keeps: nothing,
            breaks: |body| {
                let stray = json!({"role": "tool", "tool_call_id": "z", "content": "x"});
                list(&mut body["messages"]).push(stray);
            },
            says: "result without a call",
        },
        Rule {
            keeps: |body| {
                let results = &mut list(&mut body["messages"])[3..];
                results.swap(0, 1);
            },
            breaks: |body| {
                let again = body["messages"][3].clone();
                list(&mut body["messages"]).push(again);
            },
            says: "has its result already",
        },
        Rule {
            keeps: nothing,
            breaks: |body| {
                body["messages"][2]["tool_calls"][1]["id"] = "a".into();
                drop(list(&mut body["messages"]).pop());
            },
            says: "call id \"a\" is used twice",
        },
        Rule {
            keeps: nothing,
            breaks: |body| {
                body["messages"][2]["tool_calls"][0]["function"]["arguments"] = "{".into()
            },
            says: "the text of a JSON object",
        },
        Rule {
            keeps: nothing,
            breaks: |body| body["messages"][2]["tool_calls"][0]["function"]["name"] = "a.b".into(),
            says: "must be 1 to 64 of",
        },
        Rule {
            keeps: |body| {
                list(&mut body["messages"]).truncate(3);
                body["messages"][2] = json!({"role": "assistant", "content": "x"});
                list(&mut body["messages"]).push(json!({"role": "user", "content": "y"}));
            },
            breaks: |body| {
                list(&mut body["messages"]).truncate(3);
                body["messages"][2] =
                    json!({"role": "assistant", "content": "x", "tool_calls": []});
                list(&mut body["messages"]).push(json!({"role": "user", "content": "y"}));
            },
            says: "must be a list that is not empty",
        },
    ];
    check(Protocol::ChatCompletions, &body(), &rules);
}

#[test]
fn rules_of_the_top_level() {
    let rules = [
        Rule {
            keeps: |body| body["seed"] = 1.into(),
            breaks: |body| body["options"] = json!({"num_ctx": 1}),
            says: "`options` is not known here",
        },
        Rule {
            keeps: nothing,
            breaks: |body| remove(body, "model"),
            says: "model: must be a text",
        },
        Rule {
            keeps: |body| body["max_tokens"] = 1.into(),
            breaks: |body| {
                body["max_tokens"] = 1.into();
                body["max_completion_tokens"] = 1.into();
            },
            says: "both `max_tokens`",
        },
        Rule {
            keeps: |body| {
                body["stream"] = true.into();
                body["stream_options"] = json!({"include_usage": true});
            },
            breaks: |body| body["stream_options"] = json!({"include_usage": true}),
            says: "only with `stream`",
        },
        Rule {
            keeps: |body| {
                remove(body, "tools");
                remove(body, "tool_choice");
            },
            breaks: |body| remove(body, "tools"),
            says: "only with `tools`",
        },
        Rule {
            keeps: nothing,
            breaks: |body| body["tools"] = json!([]),
            says: "tools: must be a list that is not empty",
        },
    ];
    check(Protocol::ChatCompletions, &body(), &rules);
}

#[test]
fn rules_of_tools() {
    let rules = [
        Rule {
            keeps: |body| {
                let mut other = body["tools"][0].clone();
                other["function"]["name"] = "other".into();
                list(&mut body["tools"]).push(other);
            },
            breaks: |body| {
                let same = body["tools"][0].clone();
                list(&mut body["tools"]).push(same);
            },
            says: "appears twice",
        },
        Rule {
            keeps: |body| remove(&mut body["tools"][0]["function"], "parameters"),
            breaks: |body| body["tools"][0]["function"]["parameters"]["type"] = "string".into(),
            says: "the root must have the type object",
        },
        Rule {
            keeps: |body| {
                let property = &mut body["tools"][0]["function"]["parameters"]["properties"]["c"];
                *property = json!({"anyOf": [{"type": "string"}]});
            },
            breaks: |body| body["tools"][0]["function"]["parameters"]["anyOf"] = json!([]),
            says: "`anyOf` at the root",
        },
        Rule {
            keeps: |body| body["tools"][0]["function"]["parameters"]["required"] = json!(["c"]),
            breaks: |body| body["tools"][0]["function"]["parameters"]["required"] = json!(["d"]),
            says: "`required` names what is not a property",
        },
        Rule {
            keeps: nothing,
            breaks: |body| body["tools"][0]["function"]["parameters"]["properties"] = json!([]),
            says: "`properties` must be an object",
        },
        Rule {
            keeps: nothing,
            breaks: |body| body["tools"][0]["function"]["name"] = "".into(),
            says: "must be 1 to 64 of",
        },
    ];
    check(Protocol::ChatCompletions, &body(), &rules);
}
