//! A tool's answer in one line, for when its words are not worth their room.

use hermes_core::ToolCall;
use serde_json::Value as Json;

use super::one_line;

/// Answers up to this many characters say it shorter than a digest would.
pub(crate) const SHORT: usize = 200;
/// Most characters of the argument that is shown.
const MOST_OF_ARGUMENT: usize = 100;
/// Arguments that say what a call was about, the most telling first.
const TELLING: [&str; 9] = [
    "command", "path", "file", "url", "query", "pattern", "name", "task", "code",
];
/// Call arguments longer than this are cut.
const LONG_ARGUMENTS: usize = 500;
/// What is left of each text inside them.
const CUT_TEXT: usize = 200;

/// Tool, what it was called with, how it went and how much it said.
pub(crate) fn digest(name: &str, call: Option<&ToolCall>, content: &str, failed: bool) -> String {
    let about = call
        .and_then(|call| telling(&call.arguments))
        .map(|text| format!(" {}", one_line(&text, MOST_OF_ARGUMENT)))
        .unwrap_or_default();
    let outcome = match (failed, exit_code(content)) {
        (true, _) => "failed".to_owned(),
        (false, Some(code)) => format!("exit code {code}"),
        (false, None) => "done".to_owned(),
    };
    format!(
        "[{name}{about}: {outcome}, {} characters in {} lines]",
        content.chars().count(),
        content.lines().count()
    )
}

fn telling(arguments: &Json) -> Option<String> {
    let arguments = arguments.as_object()?;
    let named = TELLING.iter().find_map(|name| arguments.get(*name));
    let value = named.or_else(|| arguments.values().find(|value| value.is_string()))?;
    Some(match value {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    })
}

/// Programs are told by how they ended.
fn exit_code(content: &str) -> Option<i64> {
    let json: Json = serde_json::from_str(content).ok()?;
    ["exit_code", "returncode"]
        .iter()
        .find_map(|name| json.get(name)?.as_i64())
}

/// The arguments of a call, with long texts inside them cut. Still an object of the same shape.
pub(crate) fn arguments(given: &Json) -> Json {
    if given.to_string().len() > LONG_ARGUMENTS {
        cut(given)
    } else {
        given.clone()
    }
}

fn cut(value: &Json) -> Json {
    match value {
        Json::String(text) => {
            let start = super::start_of(text, CUT_TEXT);
            if start.len() == text.len() {
                value.clone()
            } else {
                let left = text.chars().count() - CUT_TEXT;
                Json::String(format!("{start}… ({left} more characters)"))
            }
        }
        Json::Array(items) => Json::Array(items.iter().map(cut).collect()),
        Json::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(name, value)| (name.clone(), cut(value)));
            Json::Object(fields.collect())
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use hermes_core::CallId;
    use serde_json::json;

    use super::*;

    fn call(arguments: Json) -> ToolCall {
        ToolCall {
            id: CallId("c".to_owned()),
            name: "t".to_owned(),
            arguments,
        }
    }

    #[test]
    fn a_digest_says_what_was_done_and_how_it_went() {
        let terminal = call(json!({"timeout": 5, "command": "cargo test\n--all"}));
        assert_eq!(
            digest(
                "terminal",
                Some(&terminal),
                r#"{"exit_code": 2, "output": ""}"#,
                false
            ),
            "[terminal cargo test --all: exit code 2, 30 characters in 1 lines]"
        );
        let read = call(json!({"path": "src/main.rs"}));
        assert_eq!(
            digest("read_file", Some(&read), "a\nb", false),
            "[read_file src/main.rs: done, 3 characters in 2 lines]"
        );
        assert_eq!(
            digest("x", None, "no", true),
            "[x: failed, 2 characters in 1 lines]"
        );
    }

    #[test]
    fn long_arguments_keep_their_shape() {
        let short = json!({"content": "x".repeat(300)});
        assert_eq!(arguments(&short), short);
        let long = json!({"path": "a", "edits": [{"new": "y".repeat(900)}], "n": 3});
        let cut = arguments(&long);
        assert_eq!((&cut["path"], &cut["n"]), (&json!("a"), &json!(3)));
        let text = cut["edits"][0]["new"].as_str().unwrap_or_default();
        assert!(text.starts_with("yyy") && text.ends_with("(700 more characters)"));
    }
}
