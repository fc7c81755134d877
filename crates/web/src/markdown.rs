//! Pages as text with a little markup.

/// Lines are folded by whoever shows them, not here.
const WIDTH: usize = 10_000;
/// What begins a picture that stands in the text itself.
const INLINE: &str = "](data:";

/// A page's words without its tags. Markup nobody can make sense of is still text.
pub(crate) fn of(html: &str) -> String {
    html2text::config::plain()
        .no_link_wrapping()
        .string_from_read(html.as_bytes(), WIDTH)
        .unwrap_or_else(|_| html.to_owned())
}

/// What a page calls itself.
pub(crate) fn title(html: &str) -> String {
    let lower = html.to_ascii_lowercase();
    let found = lower.find("<title").and_then(|at| {
        let start = at + lower.get(at..)?.find('>')? + 1;
        let end = start + lower.get(start..)?.find("</title")?;
        html.get(start..end)
    });
    of(found.unwrap_or_default()).trim().to_owned()
}

/// The same text, with the names of pictures in the place of their bytes.
pub(crate) fn without_inline_pictures(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(INLINE) {
        let (before, from) = rest.split_at(at);
        let end = from.find(')').map_or(from.len(), |end| end + 1);
        match before.rfind("![") {
            Some(start) => {
                out.push_str(before.get(..start).unwrap_or_default());
                let name = before.get(start + 2..).unwrap_or_default();
                out.push_str(&format!("[IMAGE: {name}]"));
            }
            None => {
                out.push_str(before);
                out.push(']');
            }
        }
        rest = from.get(end..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    // IN-5
    #[test]
    fn pictures_in_the_text_leave_their_names() {
        assert_eq!(
            without_inline_pictures(
                "a ![Logo](data:image/png;base64,AAAA==) b ![](data:x) [l](http://x)"
            ),
            "a [IMAGE: Logo] b [IMAGE: ] [l](http://x)"
        );
        assert_eq!(without_inline_pictures("plain"), "plain");
    }

    #[test]
    fn a_page_has_its_title() {
        assert_eq!(title("<html><TITLE a=b>A &amp; B</TITLE>"), "A & B");
        assert_eq!(title("<p>nothing</p>"), "");
    }
}
