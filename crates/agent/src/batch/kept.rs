//! A result as it is written to a file: most tools answer one line of JSON, and whoever reads or searches a file does it
//! line by line.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::Value as Json;

/// The result with the line breaks of what it quotes: each of its values in a line after its name, then those of several
/// lines below theirs. As it is when it quotes none, and when it is no JSON; what follows the JSON stays.
pub(super) fn in_lines(content: &str) -> Cow<'_, str> {
    let mut values = serde_json::Deserializer::from_str(content).into_iter::<Json>();
    let Some(Ok(value @ Json::Object(_))) = values.next() else {
        return Cow::Borrowed(content);
    };
    if !has_lines(&value) {
        return Cow::Borrowed(content);
    }
    let rest = content.get(values.byte_offset()..).unwrap_or_default();
    let (mut short, mut long) = (String::new(), String::new());
    write(&value, "", &mut short, &mut long);
    Cow::Owned(format!("{short}{long}{rest}"))
}

fn has_lines(value: &Json) -> bool {
    match value {
        Json::String(text) => text.contains('\n'),
        Json::Array(items) => items.iter().any(has_lines),
        Json::Object(fields) => fields.values().any(has_lines),
        Json::Null | Json::Bool(_) | Json::Number(_) => false,
    }
}

fn write(value: &Json, name: &str, short: &mut String, long: &mut String) {
    // Writing to a string cannot fail.
    let _ = match value {
        Json::String(text) if has_lines(value) => write!(long, "\n{name}:\n{text}\n"),
        Json::Array(items) if has_lines(value) => {
            for (index, item) in items.iter().enumerate() {
                write(item, &format!("{name}[{index}]"), short, long);
            }
            Ok(())
        }
        Json::Object(fields) if has_lines(value) => {
            for (field, item) in fields {
                let dot = if name.is_empty() { "" } else { "." };
                write(item, &format!("{name}{dot}{field}"), short, long);
            }
            Ok(())
        }
        Json::String(text) => writeln!(short, "{name}: {text}"),
        other => writeln!(short, "{name}: {other}"),
    };
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // EX-69
    #[test]
    fn an_answer_that_quotes_lines_is_kept_with_its_line_breaks() {
        let answer = json!({
            "output": "one\ntwo \"2\"", "exit_code": 0, "error": null,
            "pages": [{"url": "http://a", "text": "x\ny\n"}, {"url": "http://b", "more": [1, 2]}],
        });
        let expected = "exit_code: 0\nerror: null\npages[0].url: http://a\n\
                        pages[1]: {\"url\":\"http://b\",\"more\":[1,2]}\n\
                        \noutput:\none\ntwo \"2\"\n\npages[0].text:\nx\ny\n\n";
        assert_eq!(in_lines(&answer.to_string()), expected);
        let noted = format!("{answer}\n\n[Note: a note.]");
        assert_eq!(in_lines(&noted), format!("{expected}\n\n[Note: a note.]"));
        for same in [
            "words\nand more",
            "{broken\n",
            r#"{"rows":["a","b"]}"#,
            "[\"a\\nb\"]",
        ] {
            assert_eq!(in_lines(same), same);
        }
    }
}
