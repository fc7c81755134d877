//! Texts of servers and transports, made fit to be shown.

use std::sync::LazyLock;

use hermes_secrets::{Redactor, Scope};
use regex::{Captures, Regex};

/// Most characters of an error that are passed on.
const MOST_CHARS: usize = 8_000;

/// Stands where a text could not be looked through.
const UNFIT: &str = "(an error whose text cannot be shown)";

/// An address with a query or a user in it, which is where tokens are put.
static ADDRESS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?i)\b((?:https?|wss?)://)(?:[^\s/?#@"'<>`]*@)?([^\s?#"'<>`]*)(\?[^\s"'<>`)]*)?(#[^\s"'<>`)]*)?"#)
        .ok()
});

/// A bare `key=`, which is too common a word to be masked in what people write, but not in an error.
static KEY: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?i)\b(key)(\s*=\s*["']?)[^\s"'&,;<>`]{6,}"#).ok());

/// A text without secrets: known values and key shapes are masked, addresses lose user, query and
/// fragment, and what is far too long is cut.
pub fn clean(redactor: &Redactor, text: &str) -> String {
    let masked = redactor.redact_in(Scope::Chat, text);
    let bare = match ADDRESS.as_ref() {
        Some(address) => address.replace_all(&masked, |found: &Captures<'_>| {
            let part = |index| found.get(index).map_or("", |part| part.as_str());
            let mark = if part(3).is_empty() { "" } else { "?…" };
            format!("{}{}{mark}", part(1), part(2))
        }),
        // The patterns are constants that are tested; without them a text is better not shown.
        None => return UNFIT.to_owned(),
    };
    let bare = match KEY.as_ref() {
        Some(key) => key.replace_all(&bare, "$1$2[redacted]"),
        None => return UNFIT.to_owned(),
    };
    if bare.chars().count() <= MOST_CHARS {
        return bare.into_owned();
    }
    let head: String = bare.chars().take(MOST_CHARS).collect();
    format!("{head}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    // MCP-61
    #[test]
    fn keys_and_queries_do_not_get_through() {
        let redactor = Redactor::default();
        let text = "error sending request for url (https://u:pw@h.example.test:8/mcp?api_key=abc123&x=1#f): \
                    Bearer sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH refused";
        let shown = clean(&redactor, text);
        assert!(
            shown.contains("https://h.example.test:8/mcp?…): "),
            "{shown}"
        );
        for secret in ["abc123", "pw@", "sk-proj-abc", "#f"] {
            assert!(!shown.contains(secret), "{secret} in {shown}");
        }
        let shown = clean(
            &redactor,
            "refused: key=4f9A8bC2dE7gH1iJ3kL5, KEY='hunter2x'",
        );
        assert_eq!(shown, "refused: key=[redacted], KEY='[redacted]'");
        // A word that only ends like a name of keys keeps its value.
        assert_eq!(clean(&redactor, "monkey=banana"), "monkey=banana");
        assert_eq!(clean(&redactor, &"x".repeat(9_000)).chars().count(), 8_001);
    }
}
