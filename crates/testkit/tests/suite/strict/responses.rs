use hermes_testkit::model_server::Protocol;
use serde_json::{Value, json};

use super::{Rule, check, list, nothing, remove};

fn body() -> Value {
    json!({
        "model": "m",
        "instructions": "be kind",
        "store": false,
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "list"}]},
            {"type": "reasoning", "encrypted_content": "x", "summary": []},
            {"type": "function_call", "call_id": "a", "name": "terminal", "arguments": "{}"},
            {"type": "function_call", "call_id": "b", "name": "terminal", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "a", "output": ""},
            {"type": "function_call_output", "call_id": "b", "output": "x"},
        ],
        "tools": [{
            "type": "function",
            "name": "terminal",
            "strict": false,
            "parameters": {"type": "object", "properties": {}},
        }],
        "tool_choice": "auto",
        "parallel_tool_calls": true,
    })
}

#[test]
fn rules_of_the_input() {
    let rules = [
        Rule {
            keeps: |body| body["input"][0]["content"] = "plain".into(),
            breaks: |body| body["input"][0]["content"][0]["text"] = "".into(),
            says: "must be a text that is not empty",
        },
        Rule {
            keeps: |body| {
                let part = json!({"type": "output_text", "text": "x"});
                let said = json!({"type": "message", "role": "assistant", "content": [part]});
                list(&mut body["input"]).push(said);
            },
            breaks: |body| body["input"][0]["content"][0]["type"] = "output_text".into(),
            says: "is none of",
        },
        Rule {
            keeps: |body| body["input"][0]["role"] = "developer".into(),
            breaks: |body| body["input"][0]["role"] = "tool".into(),
            says: "is none of",
        },
        Rule {
            keeps: nothing,
            breaks: |body| body["input"] = json!([]),
            says: "must be a list that is not empty",
        },
        Rule {
            keeps: |body| body["input"][2]["id"] = "fc_1".into(),
            breaks: |body| body["input"][2]["id"] = "f".repeat(65).into(),
            says: "must be 1 to 64 characters",
        },
        Rule {
            keeps: nothing,
            breaks: |body| list(&mut body["input"]).push(json!({"type": "odd"})),
            says: "unknown item \"odd\"",
        },
        Rule {
            keeps: |body| body["input"][2]["status"] = "completed".into(),
            breaks: |body| body["input"][4]["tool_name"] = "terminal".into(),
            says: "`tool_name` is a local key",
        },
        Rule {
            keeps: nothing,
            breaks: |body| body["input"][0]["name"] = "ann".into(),
            says: "`name` is not known here",
        },
    ];
    check(Protocol::Responses, &body(), &rules);
}

#[test]
fn rules_of_calls_results_and_reasoning() {
    let rules = [
        Rule {
            keeps: |body| list(&mut body["input"]).swap(4, 5),
            breaks: |body| drop(list(&mut body["input"]).pop()),
            says: "call \"b\" has no result",
        },
        Rule {
            keeps: nothing,
            breaks: |body| drop(list(&mut body["input"]).remove(3)),
            says: "result without a call: \"b\"",
        },
        Rule {
            keeps: nothing,
            breaks: |body| {
                let again = body["input"][5].clone();
                list(&mut body["input"]).push(again);
            },
            says: "has its result already",
        },
        Rule {
            keeps: |body| {
                let said = json!({"role": "assistant", "content": "on it"});
                list(&mut body["input"]).insert(3, said);
            },
            breaks: |body| {
                let said = json!({"role": "user", "content": "wait"});
                list(&mut body["input"]).insert(4, said);
            },
            says: "call",
        },
        Rule {
            keeps: nothing,
            breaks: |body| {
                body["input"][3]["call_id"] = "a".into();
                drop(list(&mut body["input"]).pop());
            },
            says: "is used twice",
        },
        Rule {
            keeps: nothing,
            breaks: |body| body["input"][2]["arguments"] = json!({}),
            says: "the text of a JSON object",
        },
        Rule {
            keeps: |body| drop(list(&mut body["input"]).remove(1)),
            breaks: |body| remove(&mut body["input"][1], "encrypted_content"),
            says: "encrypted_content: must be a text",
        },
        Rule {
            keeps: nothing,
            breaks: |body| remove(&mut body["input"][1], "summary"),
            says: "`summary` must be a list",
        },
        Rule {
            keeps: nothing,
            breaks: |body| {
                let thought = list(&mut body["input"]).remove(1);
                list(&mut body["input"]).push(thought);
            },
            says: "reasoning without the item it led to",
        },
    ];
    check(Protocol::Responses, &body(), &rules);
}

#[test]
fn rules_of_the_top_level_and_tools() {
    let rules = [
        Rule {
            keeps: |body| body["include"] = json!(["reasoning.encrypted_content"]),
            breaks: |body| body["messages"] = json!([]),
            says: "`messages` is not known here",
        },
        Rule {
            keeps: nothing,
            breaks: |body| remove(body, "model"),
            says: "model: must be a text",
        },
        Rule {
            keeps: nothing,
            breaks: |body| body["store"] = true.into(),
            says: "store: must be false",
        },
        Rule {
            keeps: |body| remove(body, "instructions"),
            breaks: |body| body["instructions"] = "".into(),
            says: "instructions: must be a text",
        },
        Rule {
            keeps: |body| body["prompt_cache_key"] = "pck_1".into(),
            breaks: |body| body["prompt_cache_key"] = "p".repeat(65).into(),
            says: "must be 1 to 64 characters",
        },
        Rule {
            keeps: |body| body["reasoning"] = json!({"effort": "low", "summary": "auto"}),
            breaks: |body| body["reasoning"] = json!({"enabled": true}),
            says: "`enabled` is not known here",
        },
        Rule {
            keeps: |body| {
                for key in ["tools", "tool_choice", "parallel_tool_calls"] {
                    remove(body, key);
                }
            },
            breaks: |body| remove(body, "tools"),
            says: "only with `tools`",
        },
        Rule {
            keeps: nothing,
            breaks: |body| body["tools"][0]["function"] = json!({}),
            says: "`function` is not known here",
        },
        Rule {
            keeps: nothing,
            breaks: |body| body["tools"][0]["parameters"] = json!({"type": "array"}),
            says: "the root must have the type object",
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
    check(Protocol::Responses, &body(), &rules);
}
