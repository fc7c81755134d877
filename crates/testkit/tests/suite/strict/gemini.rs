use hermes_testkit::model_server::Protocol;
use serde_json::{Value, json};

use super::{Rule, check, list, nothing, remove};

fn body() -> Value {
    let call = |name: &str| json!({"functionCall": {"name": name, "args": {}}});
    let result = |name: &str| json!({"functionResponse": {"name": name, "response": {}}});
    json!({
        "systemInstruction": {"parts": [{"text": "be kind"}]},
        "contents": [
            {"role": "user", "parts": [{"text": "list"}]},
            {"role": "model", "parts": [
                {"text": "hm", "thought": true},
                {"functionCall": {"name": "a", "args": {}}, "thoughtSignature": "s"},
                call("b"),
            ]},
            {"role": "user", "parts": [result("a"), result("b")]},
        ],
        "tools": [{"functionDeclarations": [
            {"name": "a", "description": "x", "parameters": {
                "type": "object",
                "properties": {"c": {"type": "string", "enum": ["x"]}},
                "required": ["c"],
            }},
            {"name": "b"},
        ]}],
        "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
        "generationConfig": {"maxOutputTokens": 1, "thinkingConfig": {"includeThoughts": true}},
    })
}

#[test]
fn rules_of_the_conversation() {
    let rules = [
        Rule {
            keeps: |body| {
                let seal = json!({"text": "", "thoughtSignature": "s"});
                list(&mut body["contents"][1]["parts"]).push(seal);
            },
            breaks: |body| body["contents"][0]["parts"][0]["text"] = "".into(),
            says: "must be a text that is not empty",
        },
        Rule {
            keeps: |body| remove(body, "systemInstruction"),
            breaks: |body| body["systemInstruction"]["parts"][0]["text"] = "".into(),
            says: "must be a text that is not empty",
        },
        Rule {
            keeps: nothing,
            breaks: |body| {
                let hello = json!({"role": "model", "parts": [{"text": "x"}]});
                list(&mut body["contents"]).insert(0, hello);
            },
            says: "the first message must be the user's",
        },
        Rule {
            keeps: nothing,
            breaks: |body| {
                let more = json!({"role": "user", "parts": [{"text": "x"}]});
                list(&mut body["contents"]).push(more);
            },
            says: "follows itself",
        },
        Rule {
            keeps: nothing,
            breaks: |body| {
                let more = json!({"role": "model", "parts": [{"text": "x"}]});
                list(&mut body["contents"]).push(more);
            },
            says: "the last message must be the user's",
        },
        Rule {
            keeps: nothing,
            breaks: |body| body["contents"][0]["parts"] = json!([]),
            says: "must be a list that is not empty",
        },
        Rule {
            keeps: |body| {
                let picture = json!({"inlineData": {"mimeType": "image/png", "data": ""}});
                list(&mut body["contents"][0]["parts"]).push(picture);
            },
            breaks: |body| {
                let both = json!({"text": "x", "inlineData": {"mimeType": "a/b", "data": ""}});
                body["contents"][0]["parts"] = json!([both]);
            },
            says: "must be exactly one of",
        },
        Rule {
            keeps: nothing,
            breaks: |body| body["contents"][0]["timestamp"] = 1.into(),
            says: "`timestamp` is a local key",
        },
        Rule {
            keeps: nothing,
            breaks: |body| body["contents"][0]["parts"][0]["thought"] = true.into(),
            says: "`thought` is not known here",
        },
    ];
    check(Protocol::Gemini, &body(), &rules);
}

#[test]
fn rules_of_calls_and_results() {
    let rules = [
        Rule {
            keeps: |body| list(&mut body["contents"][2]["parts"]).swap(0, 1),
            breaks: |body| {
                body["contents"][2]["parts"][1]["functionResponse"]["name"] = "z".into();
            },
            says: "results of [\"a\", \"z\"] after calls of [\"a\", \"b\"]",
        },
        Rule {
            keeps: nothing,
            breaks: |body| drop(list(&mut body["contents"][2]["parts"]).pop()),
            says: "results of [\"a\"] after calls of [\"a\", \"b\"]",
        },
        Rule {
            keeps: nothing,
            breaks: |body| {
                let stray = json!({"functionResponse": {"name": "a", "response": {}}});
                list(&mut body["contents"][0]["parts"]).push(stray);
            },
            says: "results of [\"a\"] after calls of []",
        },
        Rule {
            keeps: nothing,
            breaks: |body| {
                let response = &mut body["contents"][2]["parts"][0]["functionResponse"];
                response["response"] = "text".into();
            },
            says: "response: must be an object",
        },
        Rule {
            keeps: |body| remove(&mut body["contents"][1]["parts"][2]["functionCall"], "args"),
            breaks: |body| body["contents"][1]["parts"][2]["functionCall"]["args"] = "{}".into(),
            says: "args: must be an object",
        },
        Rule {
            keeps: |body| {
                body["contents"][1]["parts"][1]["functionCall"]["id"] = "1".into();
                body["contents"][1]["parts"][2]["functionCall"]["id"] = "2".into();
            },
            breaks: |body| {
                body["contents"][1]["parts"][1]["functionCall"]["id"] = "1".into();
                body["contents"][1]["parts"][2]["functionCall"]["id"] = "1".into();
            },
            says: "appears twice",
        },
    ];
    check(Protocol::Gemini, &body(), &rules);
}

fn schema(body: &mut Value) -> &mut Value {
    &mut body["tools"][0]["functionDeclarations"][0]["parameters"]
}

#[test]
fn rules_of_schemas() {
    let rules = [
        Rule {
            keeps: |body| schema(body)["properties"]["c"]["nullable"] = true.into(),
            breaks: |body| schema(body)["properties"]["c"]["additionalProperties"] = false.into(),
            says: "parameters.properties.c: `additionalProperties` is not known here",
        },
        Rule {
            keeps: nothing,
            breaks: |body| schema(body)["$schema"] = "x".into(),
            says: "`$schema` is not known here",
        },
        Rule {
            keeps: |body| schema(body)["type"] = "OBJECT".into(),
            breaks: |body| schema(body)["properties"]["c"] = json!({"type": ["string", "null"]}),
            says: "is not a type",
        },
        Rule {
            keeps: nothing,
            breaks: |body| {
                schema(body)["properties"]["c"] = json!({"type": "integer", "enum": [1, 2]});
            },
            says: "`enum` is for texts only",
        },
        Rule {
            keeps: |body| {
                let items = json!({"type": "string"});
                schema(body)["properties"]["c"] = json!({"type": "array", "items": items});
            },
            breaks: |body| schema(body)["properties"]["c"] = json!({"type": "array"}),
            says: "an array needs `items`",
        },
        Rule {
            keeps: |body| {
                let branches = json!([{"type": "string"}, {"type": "integer"}]);
                schema(body)["properties"]["c"] = json!({"anyOf": branches});
            },
            breaks: |body| {
                schema(body)["properties"]["c"] = json!({"anyOf": [{"const": 1}]});
            },
            says: "anyOf[0]: `const` is not known here",
        },
        Rule {
            keeps: nothing,
            breaks: |body| schema(body)["required"] = json!(["d"]),
            says: "`required` names what is not a property",
        },
        Rule {
            keeps: nothing,
            breaks: |body| schema(body)["anyOf"] = json!([]),
            says: "`anyOf` at the root",
        },
    ];
    check(Protocol::Gemini, &body(), &rules);
}

#[test]
fn rules_of_the_top_level_and_tools() {
    let rules = [
        Rule {
            keeps: |body| body["safetySettings"] = json!([]),
            breaks: |body| body["model"] = "m".into(),
            says: "`model` is not known here",
        },
        Rule {
            keeps: |body| body["generationConfig"]["topP"] = 1.into(),
            breaks: |body| body["generationConfig"]["max_tokens"] = 1.into(),
            says: "`max_tokens` is not known here",
        },
        Rule {
            keeps: |body| {
                body["generationConfig"]["thinkingConfig"]["thinkingLevel"] = "low".into();
            },
            breaks: |body| body["generationConfig"]["thinkingConfig"]["effort"] = "low".into(),
            says: "`effort` is not known here",
        },
        Rule {
            keeps: |body| {
                remove(body, "tools");
                remove(body, "toolConfig");
            },
            breaks: |body| remove(body, "tools"),
            says: "only with `tools`",
        },
        Rule {
            keeps: nothing,
            breaks: |body| {
                body["tools"][0]["functionDeclarations"][1]["name"] = "1b".into();
            },
            says: "must begin with a letter",
        },
        Rule {
            keeps: nothing,
            breaks: |body| body["tools"][0]["functionDeclarations"][1]["name"] = "a".into(),
            says: "appears twice",
        },
        Rule {
            keeps: nothing,
            breaks: |body| body["tools"] = json!([{"functionDeclarations": []}]),
            says: "must be a list that is not empty",
        },
    ];
    check(Protocol::Gemini, &body(), &rules);
}
