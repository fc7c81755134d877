//! Mending what models write wrongly into tool calls: names that are nearly right, JSON that is nearly
//! JSON, numbers in quotes.

mod coerce;
mod json;

use hermes_core::without_halves;
use serde_json::Value as Json;

/// How alike two names must be to be taken for the same.
const ALIKE: f64 = 0.7;

/// What came of a call's arguments.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Arguments {
    /// An object, mended where needed.
    Good(Json),
    /// The text stops in the middle.
    Truncated,
    /// Not JSON, and nothing that could be made JSON.
    Broken,
}

/// How the names of tools of MCP servers begin.
const OF_SERVERS: &str = "mcp__";

/// The tool that is meant; `None` when no name comes near. What another server calls nearly the same is another
/// thing, so the name of a server's tool may be spelled differently and nothing more.
pub(crate) fn tool_name<'n>(asked: &str, names: impl Iterator<Item = &'n str>) -> Option<String> {
    let names: Vec<&str> = names.collect();
    if names.contains(&asked) {
        return Some(asked.to_owned());
    }
    let cut = asked
        .split(['"', '\'', '<', '>'])
        .next()
        .unwrap_or_default()
        .trim();
    let mut plain = snake(cut);
    if let Some(found) = spelled(&plain, &names) {
        return Some(found.to_owned());
    }
    if plain.starts_with(OF_SERVERS) {
        return None;
    }
    let ours = names.iter().filter(|name| !name.starts_with(OF_SERVERS));
    let ours: Vec<&str> = ours.copied().collect();
    for _ in 0..2 {
        let Some(shorter) = plain
            .strip_suffix("_tool")
            .or_else(|| plain.strip_suffix("tool"))
        else {
            break;
        };
        plain = shorter.trim_end_matches('_').to_owned();
        if let Some(found) = spelled(&plain, &ours) {
            return Some(found.to_owned());
        }
    }
    ours.iter()
        .map(|name| (strsim::normalized_levenshtein(&plain, name), *name))
        .filter(|(alike, _)| *alike >= ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name.to_owned())
}

/// The only one of these names that is spelled like this.
fn spelled<'n>(plain: &str, names: &[&'n str]) -> Option<&'n str> {
    let mut alike = names.iter().filter(|name| snake(name) == plain);
    let found = alike.next()?;
    alike.next().is_none().then_some(*found)
}

/// `ReadFile`, `read-file` and `read file` as `read_file`.
fn snake(name: &str) -> String {
    let mut out = String::new();
    let mut before: Option<char> = None;
    for letter in name.chars() {
        if letter.is_uppercase()
            && before.is_some_and(|before| before.is_lowercase() || before.is_ascii_digit())
        {
            out.push('_');
        }
        match letter {
            '-' | ' ' | '.' => out.push('_'),
            other => out.extend(other.to_lowercase()),
        }
        before = Some(letter);
    }
    out
}

/// Reads a call's arguments, mending what can be mended. With a schema, values of the wrong kind are
/// turned into the right one where that loses nothing.
pub(crate) fn arguments(text: &str, schema: Option<&Json>) -> Arguments {
    let trimmed = text.trim();
    if trimmed.is_empty() || trimmed == "null" {
        return Arguments::Good(Json::Object(serde_json::Map::new()));
    }
    match read(trimmed).or_else(|| json::mend(trimmed)) {
        Some(Json::String(inner)) => match read(&inner) {
            Some(object @ Json::Object(_)) => Arguments::Good(coerce::coerce(object, schema)),
            _ => Arguments::Broken,
        },
        Some(object @ Json::Object(_)) => Arguments::Good(coerce::coerce(object, schema)),
        Some(_) => Arguments::Broken,
        None if trimmed.ends_with(['}', ']']) => Arguments::Broken,
        None => Arguments::Truncated,
    }
}

/// The JSON that a model wrote. Half a character does not cost the rest.
pub(crate) fn read(text: &str) -> Option<Json> {
    serde_json::from_str(&without_halves(text)).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NAMES: [&str; 4] = ["read_file", "todo", "web_search", "terminal"];

    // AG-19
    #[test]
    fn names_that_are_nearly_right_are_mended() {
        for (asked, meant) in [
            ("read_file", Some("read_file")),
            ("ReadFile", Some("read_file")),
            ("read-file", Some("read_file")),
            ("Read File", Some("read_file")),
            ("TodoTool", Some("todo")),
            ("todo_tool_tool", Some("todo")),
            ("terminal\">", Some("terminal")),
            ("web_serch", Some("web_search")),
            ("launch_missiles", None),
            ("", None),
        ] {
            assert_eq!(
                tool_name(asked, NAMES.into_iter()).as_deref(),
                meant,
                "{asked}"
            );
        }
    }

    // MCP-55
    #[test]
    fn a_tool_of_a_server_is_never_taken_for_one_that_reads_alike() {
        let names = [
            "mcp__test_db__echo",
            "mcp__ev__readFile",
            "mcp__ev__x_Y",
            "mcp__ev__x_y",
            "terminal",
        ];
        for (asked, meant) in [
            ("mcp__test_db__echo", Some("mcp__test_db__echo")),
            ("mcp__Test-DB__echo", Some("mcp__test_db__echo")),
            ("mcp__test_db__echo\">", Some("mcp__test_db__echo")),
            ("mcp__ev__read_file", Some("mcp__ev__readFile")),
            ("mcp__prod_db__echo", None),
            ("mcp__test_db__echo_tool", None),
            ("mcp__test_db__ech", None),
            ("mcp_test_db_echo", None),
            ("test_db__echo", None),
            ("mcp__ev__X_y", None),
            ("mcp__terminal", None),
        ] {
            let found = tool_name(asked, names.into_iter());
            assert_eq!(found.as_deref(), meant, "{asked}");
        }
    }

    // AG-19
    #[test]
    fn arguments_are_mended_or_told_apart() {
        let good = |text: &str| match arguments(text, None) {
            Arguments::Good(value) => value,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(good(""), json!({}));
        assert_eq!(good("null"), json!({}));
        assert_eq!(good("{\"a\":1}"), json!({"a": 1}));
        assert_eq!(good("{\"a\":1,}"), json!({"a": 1}));
        assert_eq!(good("{\"a\":[1,2}"), json!({"a": [1, 2]}));
        assert_eq!(good("{\"a\":1}}}"), json!({"a": 1}));
        assert_eq!(good("{\"a\":\"x\ny\"}"), json!({"a": "x\ny"}));
        assert_eq!(good(r#"{"a":"x\ud83d"}"#), json!({"a": "x\u{fffd}"}));
        assert_eq!(good(r#"{'a':'\ude00',}"#), json!({"a": "\u{fffd}"}));
        assert_eq!(good(r#""{\"a\":\"\\ud83d\"}""#), json!({"a": "\u{fffd}"}));
        assert_eq!(good("\"{\\\"a\\\":1}\""), json!({"a": 1}));
        assert_eq!(
            good("{'a': True, 'b': None}"),
            json!({"a": true, "b": null})
        );
        assert_eq!(arguments("{\"path\": \"/a/b", None), Arguments::Truncated);
        assert_eq!(arguments("{\"a\" 1 2}", None), Arguments::Broken);
        assert_eq!(arguments("[1]", None), Arguments::Broken);
    }
}
