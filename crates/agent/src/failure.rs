//! What a result says about how it went.

use hermes_tools::NOT_AN_ERROR;
use serde_json::Value as Json;

/// Begins every failure of a call.
pub(crate) const ERROR: &str = "[TOOL_ERROR] ";
/// Longer answers are not looked at for failures.
const MOST_LOOKED_AT: usize = 256 * 1024;
/// Most characters of a reason.
const MOST_OF_REASON: usize = 400;

/// Why what a call did failed, when its result says that it did: the call itself, a program's exit code, an error in the
/// answer, or nothing but that. A code with which a command only answers, as `grep` does that found nothing, is no
/// failure, nor is that of a process the call only looked at. Notes may stand behind it.
pub fn why_failed(content: &str) -> Option<String> {
    if let Some(reason) = content.strip_prefix(ERROR) {
        return Some(first_line(reason));
    }
    if let Some(rest) = content.strip_prefix("Error") {
        return (!rest.starts_with(char::is_alphanumeric)).then(|| first_line(content));
    }
    if !content.starts_with('{') || content.len() > MOST_LOOKED_AT {
        return None;
    }
    let mut values = serde_json::Deserializer::from_str(content).into_iter();
    let answer: Json = values.next()?.ok()?;
    let text = |name: &str| answer.get(name)?.as_str().filter(|text| !text.is_empty());
    if let Some(error) = text("error") {
        return Some(first_line(error));
    }
    if text("completion_reason").is_some() {
        return None;
    }
    let code = answer
        .get("exit_code")?
        .as_i64()
        .filter(|code| *code != 0)?;
    Some(match text("exit_code_meaning") {
        Some(meaning) if meaning.ends_with(NOT_AN_ERROR) => return None,
        Some(meaning) => format!("exit {code}: {}", first_line(meaning)),
        None => format!("exit {code}"),
    })
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.chars().take(MOST_OF_REASON).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_says_why_it_failed() {
        for (content, why) in [
            (r#"{"output":"","exit_code":3,"error":null}"#, "exit 3"),
            (
                r#"{"output":"","exit_code":7,"exit_code_meaning":"the host could not be connected to"}"#,
                "exit 7: the host could not be connected to",
            ),
            (
                "{\"exit_code\":-1,\"error\":\"refused\\nsay why\"}\n\n[a note]",
                "refused",
            ),
            ("[TOOL_ERROR] no such file\nmore", "no such file"),
            ("Error: no", "Error: no"),
        ] {
            assert_eq!(why_failed(content).as_deref(), Some(why), "{content}");
        }
        for content in [
            r#"{"output":"exit 3","exit_code":0,"error":null}"#,
            r#"{"output":"","exit_code":1,"error":null,"exit_code_meaning":"nothing matched; this is not an error"}"#,
            r#"{"status":"exited","exit_code":3,"completion_reason":"exited","output":""}"#,
            r#"{"error":""}"#,
            "Errors are listed here",
            "text",
            "",
        ] {
            assert_eq!(why_failed(content), None, "{content}");
        }
    }
}
