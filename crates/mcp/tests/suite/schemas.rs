//! The schemas of tools, also of hostile ones.

use hermes_mcp::normalise_schema;
use serde_json::{Value as Json, json};

fn golden(name: &str, schema: Json) {
    let once = normalise_schema(&schema);
    assert_eq!(normalise_schema(&once), once, "{name}");
    insta::assert_snapshot!(name, format!("{once:#}"));
}

// MCP-56
#[test]
fn schemas_come_out_as_recorded() {
    golden("nothing", Json::Null);
    golden("no_object", json!(["x"]));
    golden("empty", json!({}));
    golden(
        "definitions",
        json!({
            "type": "object",
            "definitions": { "A": { "type": "string" }, "definitions": { "$ref": "#/definitions/A" } },
            "properties": {
                "definitions": { "$ref": "#/definitions/A" },
                "b": { "$ref": "#/properties/definitions" },
                "nested": { "definitions": { "C": {} }, "$ref": "#/properties/nested/definitions/C" },
                "data": { "default": { "definitions": { "untouched": 1 }, "$ref": "#/definitions/A" } }
            }
        }),
    );
    golden(
        "both_definitions",
        json!({ "$defs": { "A": { "type": "string" } }, "definitions": { "A": { "type": "number" }, "B": {} } }),
    );
    golden(
        "nullable",
        json!({
            "properties": {
                "a": { "anyOf": [{ "type": "string", "title": "inner" }, { "type": "null" }], "title": "outer",
                       "description": "d", "default": null, "examples": ["x"] },
                "b": { "oneOf": [{ "type": "null" }, { "$ref": "#/definitions/A" }], "default": {} },
                "c": { "anyOf": [{ "type": "string" }, { "type": "integer" }, { "type": "null" }] },
                "d": { "anyOf": [{ "type": "null" }, { "type": "null" }] },
                "e": { "anyOf": [{ "anyOf": [{ "type": "string" }, { "const": null }] }, { "enum": [null] }] }
            },
            "definitions": { "A": { "required": ["gone"] } }
        }),
    );
    golden(
        "objects",
        json!({
            "required": ["a", "gone", 7],
            "properties": {
                "a": { "type": "object" },
                "b": { "type": "object", "properties": "broken", "required": ["x"] },
                "c": { "type": "array", "items": { "properties": { "d": {} }, "required": ["d"] } },
                "required": { "type": "string", "enum": ["properties"] }
            }
        }),
    );
    golden(
        "wrong_kinds",
        json!({ "type": "object", "properties": [1], "required": "x", "$defs": 3, "definitions": 4 }),
    );
}
