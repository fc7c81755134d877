//! Our defaults against those of the reference.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use hermes_config::{Config, Reader, Setting};
use serde_json::{Value, json};

/// Where we differ on purpose: the key, what the reference has, what we have.
fn intended() -> BTreeMap<String, (Value, Value)> {
    let none = Value::Null;
    BTreeMap::from([
        // Plain text is turned into a map before it is read, so the typed form is always a map.
        ("model".to_owned(), (json!(""), json!({}))),
        // The reference has two loaders that disagree; its terminal interface streams.
        ("display.streaming".to_owned(), (json!(false), json!(true))),
        // The screen draws Markdown; stripping it is for terminals that cannot.
        (
            "display.final_response_markdown".to_owned(),
            (json!("strip"), json!("render")),
        ),
        // Looking back has a budget of its own here.
        (
            "learning".to_owned(),
            (none.clone(), json!({ "daily_tokens": 200_000 })),
        ),
        // Where skills of others are looked for can be said here.
        (
            "skills.hub".to_owned(),
            (
                none.clone(),
                Config::default().skills.hub.to_value().to_json(),
            ),
        ),
        // Every task on the side has the same keys.
        (
            "auxiliary.memory_query_rewrite.reasoning_effort".to_owned(),
            (none.clone(), json!("")),
        ),
        (
            "auxiliary.moa_reference.reasoning_effort".to_owned(),
            (none.clone(), json!("")),
        ),
        (
            "auxiliary.moa_aggregator.reasoning_effort".to_owned(),
            (none, json!("")),
        ),
    ])
}

#[test]
fn defaults_are_those_of_the_reference() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/fixtures/reference/config/defaults.json");
    let reference: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let ours = Config::default().to_value().to_json();

    let mut differences = BTreeMap::new();
    compare("", &reference, &ours, &mut differences);
    assert_eq!(differences, intended());
}

fn compare(
    path: &str,
    reference: &Value,
    ours: &Value,
    differences: &mut BTreeMap<String, (Value, Value)>,
) {
    match (reference, ours) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: Vec<_> = a
                .keys()
                .chain(b.keys().filter(|key| !a.contains_key(*key)))
                .collect();
            for key in keys {
                let path = if path.is_empty() {
                    key.clone()
                } else {
                    format!("{path}.{key}")
                };
                let missing = Value::Null;
                let a = a.get(key).unwrap_or(&missing);
                let b = b.get(key).unwrap_or(&missing);
                compare(&path, a, b, differences);
            }
        }
        // 1 and 1.0 are the same.
        (Value::Number(a), Value::Number(b)) if a.as_f64() == b.as_f64() => {}
        (a, b) if a == b => {}
        (a, b) => {
            differences.insert(path.to_owned(), (a.clone(), b.clone()));
        }
    }
}

#[test]
fn reading_the_defaults_back_changes_nothing() {
    let config = Config::default();
    let mut reader = Reader::default();
    let read = Config::read(&config.to_value().into(), &mut reader);
    assert_eq!(reader.into_problems(), []);
    assert_eq!(read, Some(config));
}
