//! What a page says, without its markup.

use encoding_rs::{Encoding, UTF_8};

use crate::markdown;

/// As far as a page is searched for the name of its encoding.
const HEAD: usize = 1024;

/// The kinds of content that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Markup,
    Plain,
}

/// The title and the text of a page; `None` when its kind cannot be read as text.
pub(crate) fn of(content_type: &str, body: &[u8]) -> Option<(String, String)> {
    let essence = content_type.split(';').next().unwrap_or_default();
    let kind = kind(&essence.trim().to_ascii_lowercase())?;
    let (text, _, _) = encoding(content_type, body).decode(body);
    Some(match kind {
        Kind::Plain => (String::new(), text.into_owned()),
        Kind::Markup => (markdown::title(&text), markdown::of(&text)),
    })
}

fn kind(essence: &str) -> Option<Kind> {
    match essence {
        "text/html" | "application/xhtml+xml" => Some(Kind::Markup),
        "" => Some(Kind::Plain),
        "application/json"
        | "application/xml"
        | "application/javascript"
        | "application/x-ndjson"
        | "application/yaml"
        | "application/toml" => Some(Kind::Plain),
        other if other.starts_with("text/") => Some(Kind::Plain),
        other if other.ends_with("+json") || other.ends_with("+xml") => Some(Kind::Plain),
        _ => None,
    }
}

/// The header counts before what the page says of itself.
fn encoding(content_type: &str, body: &[u8]) -> &'static Encoding {
    let head = body.get(..body.len().min(HEAD)).unwrap_or_default();
    let head = String::from_utf8_lossy(head);
    [content_type, &head]
        .into_iter()
        .find_map(|text| Encoding::for_label(charset(text)?.as_bytes()))
        .unwrap_or(UTF_8)
}

fn charset(text: &str) -> Option<&str> {
    const NAME: &str = "charset=";
    let start = text.to_ascii_lowercase().find(NAME)? + NAME.len();
    let value = text.get(start..)?.trim_start_matches(['"', '\'']);
    value
        .split(|c: char| !c.is_ascii_alphanumeric() && !"-_:.".contains(c))
        .next()
        .filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_taken_off_and_words_are_kept() {
        let page = b"<html><head><title>T</title><style>p{}</style><script>x()</script></head>\
            <body><h1>Head</h1><p>One <b>word</b> &amp; more</p><ul><li>first</li></ul></body></html>";
        let (title, text) = of("text/html; charset=utf-8", page).unwrap();
        assert_eq!(title, "T");
        for part in ["Head", "word", "& more", "first"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        for part in ["p{}", "x()", "<b>"] {
            assert!(!text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn letters_are_read_as_the_page_says() {
        assert_eq!(
            of("text/plain; charset=ISO-8859-1", b"caf\xe9").unwrap().1,
            "caf\u{e9}"
        );
        let page = b"<meta charset=\"windows-1252\"><p>caf\xe9</p>";
        assert!(of("text/html", page).unwrap().1.contains("caf\u{e9}"));
        assert_eq!(of("", "caf\u{e9}".as_bytes()).unwrap().1, "caf\u{e9}");
    }

    #[test]
    fn pictures_are_no_text() {
        assert_eq!(of("image/png", b"\x89PNG"), None);
        assert!(of("application/ld+json", b"{}").is_some());
    }
}
