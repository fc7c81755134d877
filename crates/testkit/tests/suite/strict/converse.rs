use hermes_testkit::model_server::Protocol;
use serde_json::{Value, json};

use super::{Rule, check, list, nothing, remove};

fn body() -> Value {
    let call = |id: &str| json!({"toolUse": {"toolUseId": id, "name": "terminal", "input": {}}});
    let result = |id: &str| json!({"toolResult": {"toolUseId": id, "content": [{"text": "x"}]}});
    json!({
        "system": [{"text": "be kind"}],
        "inferenceConfig": {"maxTokens": 4096},
        "messages": [
            {"role": "user", "content": [{"text": "list"}]},
            {"role": "assistant", "content": [
                {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}},
                {"text": "Looking."},
                call("a"),
                call("b"),
            ]},
            {"role": "user", "content": [result("a"), result("b")]},
        ],
        "toolConfig": {"tools": [{"toolSpec": {
            "name": "terminal",
            "description": "runs",
            "inputSchema": {"json": {"type": "object", "properties": {}}},
        }}]},
    })
}

#[test]
fn rules_of_the_conversation() {
    let rules = [
        Rule {
            keeps: |body| remove(body, "system"),
            breaks: |body| body["system"][0]["text"] = " ".into(),
            says: "must be a text that is not empty",
        },
        Rule {
            keeps: nothing,
            breaks: |body| body["messages"][1]["content"][1]["text"] = "\n".into(),
            says: "must be a text that is not empty",
        },
        Rule {
            keeps: nothing,
            breaks: |body| body["messages"][0]["content"] = json!([]),
            says: "must be a list that is not empty",
        },
        Rule {
            keeps: nothing,
            breaks: |body| {
                let hello = json!({"role": "assistant", "content": [{"text": "x"}]});
                list(&mut body["messages"]).insert(0, hello);
            },
            says: "the first message must be the user's",
        },
        Rule {
            keeps: nothing,
            breaks: |body| {
                let more = json!({"role": "user", "content": [{"text": "x"}]});
                list(&mut body["messages"]).push(more);
            },
            says: "follows itself",
        },
        Rule {
            keeps: nothing,
            breaks: |body| {
                let more = json!({"role": "assistant", "content": [{"text": "x"}]});
                list(&mut body["messages"]).push(more);
            },
            says: "the last message must be the user's",
        },
        Rule {
            keeps: nothing,
            breaks: |body| body["messages"][0]["_local"] = true.into(),
            says: "`_local` is a local key",
        },
        Rule {
            keeps: |body| {
                let picture = json!({"image": {"format": "png", "source": {"bytes": ""}}});
                list(&mut body["messages"][0]["content"]).push(picture);
            },
            breaks: |body| {
                let both = json!({"text": "x", "image": {"format": "png"}});
                body["messages"][0]["content"] = json!([both]);
            },
            says: "must be exactly one of",
        },
        Rule {
            keeps: nothing,
            breaks: |body| {
                let reasoning = &mut body["messages"][1]["content"][0]["reasoningContent"];
                remove(&mut reasoning["reasoningText"], "signature");
            },
            says: "signature: must be a text",
        },
    ];
    check(Protocol::Converse, &body(), &rules);
}

#[test]
fn rules_of_calls_and_results() {
    let rules = [
        Rule {
            keeps: |body| list(&mut body["messages"][2]["content"]).swap(0, 1),
            breaks: |body| drop(list(&mut body["messages"][2]["content"]).pop()),
            says: "call \"b\" has no result",
        },
        Rule {
            keeps: nothing,
            breaks: |body| {
                let again = body["messages"][2]["content"][0].clone();
                list(&mut body["messages"][2]["content"]).push(again);
            },
            says: "has its result already",
        },
        Rule {
            keeps: nothing,
            breaks: |body| drop(list(&mut body["messages"][1]["content"]).pop()),
            says: "result without a call",
        },
        Rule {
            keeps: nothing,
            breaks: |body| {
                body["messages"][1]["content"][3]["toolUse"]["toolUseId"] = "a".into();
                list(&mut body["messages"][2]["content"]).pop();
            },
            says: "is used twice",
        },
        Rule {
            keeps: nothing,
            breaks: |body| {
                body["messages"][1]["content"][2]["toolUse"]["toolUseId"] = "a:1".into();
                body["messages"][2]["content"][0]["toolResult"]["toolUseId"] = "a:1".into();
            },
            says: "must be 1 to 64 of",
        },
        Rule {
            keeps: nothing,
            breaks: |body| body["messages"][1]["content"][2]["toolUse"]["input"] = "{}".into(),
            says: "input: must be an object",
        },
        Rule {
            keeps: |body| {
                body["messages"][2]["content"][0]["toolResult"]["status"] = "error".into();
            },
            breaks: |body| {
                body["messages"][2]["content"][0]["toolResult"]["status"] = "failed".into();
            },
            says: "is none of",
        },
        Rule {
            keeps: |body| {
                let result = &mut body["messages"][2]["content"][0]["toolResult"];
                result["content"] = json!([{"json": {}}]);
            },
            breaks: |body| {
                let result = &mut body["messages"][2]["content"][0]["toolResult"];
                result["content"] = json!([{"text": ""}]);
            },
            says: "must be a text that is not empty",
        },
        Rule {
            keeps: |body| {
                list(&mut body["messages"]).truncate(1);
                remove(body, "toolConfig");
            },
            breaks: |body| remove(body, "toolConfig"),
            says: "needed by calls and results",
        },
    ];
    check(Protocol::Converse, &body(), &rules);
}

fn point() -> Value {
    json!({"cachePoint": {"type": "default"}})
}

#[test]
fn rules_of_the_top_level_tools_and_cache_points() {
    let rules = [
        Rule {
            keeps: |body| body["additionalModelRequestFields"] = json!({"x": 1}),
            breaks: |body| body["modelId"] = "m".into(),
            says: "`modelId` is not known here",
        },
        Rule {
            keeps: |body| body["inferenceConfig"]["topP"] = 1.into(),
            breaks: |body| body["inferenceConfig"]["max_tokens"] = 1.into(),
            says: "`max_tokens` is not known here",
        },
        Rule {
            keeps: |body| {
                for place in ["system", "messages"] {
                    let blocks = match place {
                        "system" => &mut body["system"],
                        _ => &mut body["messages"][0]["content"],
                    };
                    list(blocks).extend([point(), point()]);
                }
            },
            breaks: |body| {
                list(&mut body["system"]).extend([point(), point()]);
                list(&mut body["messages"][0]["content"]).extend([point(), point()]);
                list(&mut body["toolConfig"]["tools"]).push(point());
            },
            says: "5 cache markers, more than 4",
        },
        Rule {
            keeps: |body| list(&mut body["messages"][1]["content"]).insert(2, point()),
            breaks: |body| list(&mut body["messages"][1]["content"]).insert(1, point()),
            says: "a cache marker on thinking",
        },
        Rule {
            keeps: nothing,
            breaks: |body| {
                let spec = &mut body["toolConfig"]["tools"][0]["toolSpec"];
                spec["description"] = "".into();
            },
            says: "description: must be a text",
        },
        Rule {
            keeps: nothing,
            breaks: |body| {
                let spec = &mut body["toolConfig"]["tools"][0]["toolSpec"];
                spec["inputSchema"]["json"]["type"] = "string".into();
            },
            says: "the root must have the type object",
        },
        Rule {
            keeps: nothing,
            breaks: |body| {
                let same = body["toolConfig"]["tools"][0].clone();
                list(&mut body["toolConfig"]["tools"]).push(same);
            },
            says: "appears twice",
        },
    ];
    check(Protocol::Converse, &body(), &rules);
}
