use hermes_llm::{SchemaTarget, sanitize};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

const TARGETS: [SchemaTarget; 6] = [
    SchemaTarget::Common,
    SchemaTarget::Anthropic,
    SchemaTarget::Moonshot,
    SchemaTarget::Gemini,
    SchemaTarget::Xai,
    SchemaTarget::LlamaCpp,
];

/// One schema with everything the rules are about.
fn awkward() -> Json {
    json!({
        "$defs": {
            "Point": {
                "type": "object",
                "properties": {"x": {"type": "number"}, "next": {"$ref": "#/$defs/Point"}},
                "required": ["x"],
            },
        },
        "oneOf": [{"required": ["path"]}, {"properties": {"address": {"type": "string"}}}],
        "not": {"required": ["nothing"]},
        "properties": {
            "path": {"type": ["string", "null"], "format": "uri", "pattern": "^/"},
            "amount": {"type": ["integer", "string"], "description": "how many"},
            "mode": {"enum": ["fast", "", null, "slow"]},
            "mime": {"type": "string", "enum": ["image/png", "image/jpeg"]},
            "level": {"enum": [1, 2]},
            "place": {"anyOf": [{"$ref": "#/$defs/Point"}, {"type": "null"}], "default": null},
            "free": {},
            "map": {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
            "pair": {"type": "array", "items": [{"type": "string"}, {"type": "number"}]},
            "list": {"type": "array"},
            "pattern": {"type": "string", "const": "x"},
            "choice": {
                "type": "string",
                "oneOf": [{"type": "string", "maxLength": 3}, {"type": "null"}, {"type": "number"}],
            },
        },
        "required": ["path", "gone", "path"],
        "additionalProperties": false,
    })
}

fn golden(target: SchemaTarget) -> String {
    let text = serde_json::to_string_pretty(&sanitize(&awkward(), target));
    text.expect("a schema is JSON")
}

// PV-13
#[test]
fn each_target_gets_what_it_accepts() {
    insta::assert_snapshot!("schema_common", golden(SchemaTarget::Common));
    insta::assert_snapshot!("schema_anthropic", golden(SchemaTarget::Anthropic));
    insta::assert_snapshot!("schema_moonshot", golden(SchemaTarget::Moonshot));
    insta::assert_snapshot!("schema_gemini", golden(SchemaTarget::Gemini));
    insta::assert_snapshot!("schema_xai", golden(SchemaTarget::Xai));
    insta::assert_snapshot!("schema_llama_cpp", golden(SchemaTarget::LlamaCpp));
}

// PV-13
#[test]
fn a_root_that_is_a_reference_is_opened() {
    let schema = json!({
        "$ref": "#/$defs/Arguments",
        "$defs": {"Arguments": {"type": "object", "properties": {"a": {"type": "string"}}}},
    });
    for target in TARGETS {
        let clean = sanitize(&schema, target);
        assert_eq!(
            clean["properties"]["a"],
            json!({"type": "string"}),
            "{target:?}"
        );
        assert_eq!(clean.get("$ref"), None, "{target:?}");
    }
}

// PV-13
#[test]
fn references_for_gemini_cannot_grow_without_limit() {
    let mut definitions = serde_json::Map::new();
    for level in 0..12 {
        let next = json!({"$ref": format!("#/$defs/D{}", level + 1)});
        definitions.insert(
            format!("D{level}"),
            json!({"properties": {"a": next, "b": next, "c": next, "d": next}}),
        );
    }
    let schema = json!({"$ref": "#/$defs/D0", "$defs": definitions});
    let clean = sanitize(&schema, SchemaTarget::Gemini).to_string();
    assert!(!clean.contains("$ref"));
    assert!(clean.len() < 100_000, "{}", clean.len());
}

fn any_schema() -> impl Strategy<Value = Json> {
    let types = prop_oneof![
        prop::sample::select(vec![
            "string", "number", "integer", "object", "array", "null"
        ])
        .prop_map(|name| json!(name)),
        prop::collection::vec(
            prop::sample::select(vec!["string", "number", "object", "null"]),
            0..4
        )
        .prop_map(|names| json!(names)),
        Just(json!(7)),
    ];
    let leaf = prop_oneof![
        types.prop_map(|kind| json!({ "type": kind })),
        prop::collection::vec(
            prop::sample::select(vec![
                json!("a/b"),
                json!("a"),
                json!(""),
                json!(null),
                json!(3)
            ]),
            0..4
        )
        .prop_map(|values| json!({ "enum": values })),
        Just(json!({"const": null})),
        Just(json!({"$ref": "#/$defs/one", "default": 1})),
        Just(json!({"$ref": "#", "format": "uri"})),
        Just(json!(true)),
        Just(json!("string")),
        Just(json!(null)),
    ];
    leaf.prop_recursive(4, 40, 4, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..4);
        let named = prop::collection::hash_map("[a-c]", inner.clone(), 0..3);
        prop_oneof![
            (
                prop::sample::select(vec!["anyOf", "oneOf", "allOf", "items"]),
                list.clone()
            )
                .prop_map(|(key, list)| json!({ (key): list })),
            (named, prop::collection::vec("[a-d]", 0..3), inner.clone()).prop_map(
                |(named, required, extra)| json!({
                    "properties": named, "required": required, "additionalProperties": extra,
                })
            ),
            (inner.clone(), inner.clone(), list).prop_map(|(one, other, list)| {
                let mut merged = serde_json::Map::new();
                for node in [one, other].iter().filter_map(Json::as_object) {
                    merged.extend(node.clone());
                }
                merged.insert("anyOf".to_owned(), json!(list));
                merged.insert("$defs".to_owned(), json!({"one": {"type": "object"}}));
                Json::Object(merged)
            }),
            inner.prop_map(|one| json!({"type": "array", "items": one, "nullable": true})),
        ]
    })
}

fn nodes<'a>(schema: &'a Json, found: &mut Vec<&'a Json>) {
    found.push(schema);
    for key in ["properties", "$defs"] {
        for one in schema[key].as_object().into_iter().flatten() {
            nodes(one.1, found);
        }
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        for one in schema[key].as_array().into_iter().flatten() {
            nodes(one, found);
        }
    }
    for key in ["items", "additionalProperties"] {
        if schema[key].is_object() {
            nodes(&schema[key], found);
        }
    }
}

proptest! {
    // PV-13
    #[test]
    fn twice_is_once_and_the_original_stays(schema in any_schema()) {
        for target in TARGETS {
            let before = schema.to_string();
            let once = sanitize(&schema, target);
            prop_assert_eq!(&sanitize(&once, target).to_string(), &once.to_string());
            prop_assert_eq!(&schema.to_string(), &before);
        }
    }

    // PV-13
    #[test]
    fn every_node_keeps_the_rules(schema in any_schema()) {
        for target in TARGETS {
            let clean = sanitize(&schema, target);
            prop_assert_eq!(&clean["type"], "object");
            prop_assert!(clean["properties"].is_object());
            for key in ["allOf", "anyOf", "oneOf", "enum", "not"] {
                prop_assert!(clean.get(key).is_none());
            }
            let mut found = Vec::new();
            nodes(&clean, &mut found);
            for node in found {
                prop_assert!(!node["type"].is_array(), "{node}");
                prop_assert!(node["type"] != "object" || node["properties"].is_object(), "{node}");
                for name in node["required"].as_array().into_iter().flatten() {
                    prop_assert!(node["properties"].get(name.as_str().unwrap()).is_some(), "{node}");
                }
                match target {
                    SchemaTarget::Anthropic => prop_assert!(node.get("nullable").is_none()),
                    SchemaTarget::Moonshot => {
                        prop_assert!(node.get("anyOf").is_none() || node.get("type").is_none());
                        let composed = ["$ref", "anyOf", "oneOf", "allOf"];
                        prop_assert!(
                            node["type"].is_string() || composed.iter().any(|key| node.get(key).is_some()),
                            "{node}"
                        );
                    }
                    SchemaTarget::Gemini => {
                        prop_assert!(node.get("$ref").is_none() && node.get("oneOf").is_none());
                        prop_assert!(node["type"].is_string() || node["anyOf"].is_array(), "{node}");
                    }
                    SchemaTarget::Xai | SchemaTarget::LlamaCpp => {
                        prop_assert!(node.get("format").is_none());
                    }
                    SchemaTarget::Common => {}
                }
            }
        }
    }
}
