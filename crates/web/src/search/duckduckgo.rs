//! Results of the page that DuckDuckGo has for programs without JavaScript.

use url::Url;

use super::Found;

/// What the heading of a result is marked with.
const HEADING: &str = "result__a";
/// The same of its words.
const WORDS: &str = "result__snippet";
/// Advertisements lead here.
const ADVERTISEMENT: &str = "/y.js";

/// The results of a page. `None` when it is another page, such as one that asks for a person.
pub(super) fn results(page: &str) -> Option<Vec<Found>> {
    let mut found = Vec::new();
    let mut rest = page;
    while let Some((attributes, title, after)) = element(rest, HEADING) {
        let next = after.find(HEADING).unwrap_or(after.len());
        let own = after.get(..next).unwrap_or_default();
        let description = element(own, WORDS).map(|(_, words, _)| plain(words));
        rest = after;
        let Some(url) = attribute(attributes, "href").and_then(target) else {
            continue;
        };
        found.push(Found {
            title: plain(title),
            url,
            description: description.unwrap_or_default(),
        });
    }
    match found.is_empty() && !page.contains("no-results") {
        true => None,
        false => Some(found),
    }
}

/// The attributes and the content of the first element of a class, and what follows.
fn element<'p>(page: &'p str, class: &str) -> Option<(&'p str, &'p str, &'p str)> {
    let at = page.find(class)?;
    let start = page.get(..at)?.rfind('<')?;
    let tag = page.get(start..)?;
    let end = tag.find('>')?;
    let content = tag.get(end + 1..)?;
    let close = content.find("</a>")?;
    Some((
        tag.get(..end)?,
        content.get(..close)?,
        content.get(close..)?,
    ))
}

fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let value = tag.split_once(&format!("{name}=\""))?.1;
    value.split_once('"').map(|(value, _)| value)
}

/// Where a link leads in the end.
fn target(link: &str) -> Option<String> {
    let link = plain(link);
    let whole = match link.strip_prefix("//") {
        Some(rest) => format!("https://{rest}"),
        None => link,
    };
    let url = Url::parse(&whole).ok()?;
    if url.path() == ADVERTISEMENT {
        return None;
    }
    let behind = url.query_pairs().find(|(name, _)| name == "uddg");
    let url = match behind {
        Some((_, target)) => Url::parse(&target).ok()?,
        None => url,
    };
    matches!(url.scheme(), "http" | "https").then(|| url.to_string())
}

/// Text without tags, and with the signs that stand for others.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut inside = false;
    for c in text.chars() {
        match c {
            '<' => inside = true,
            '>' if inside => inside = false,
            _ if inside => {}
            c => out.push(c),
        }
    }
    let signs = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#x27;", "'"),
        ("&#39;", "'"),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ];
    for (sign, meant) in signs {
        out = out.replace(sign, meant);
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = r#"<div class="result"><h2><a rel="nofollow" class="result__a"
        href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.com%2Fa%3Fb%3D1&amp;rut=x">First &amp; <b>best</b></a></h2>
        <a class="result__snippet" href="x">Some <b>words</b> here.</a></div>
        <div class="result"><a class="result__a" href="https://duckduckgo.com/y.js?ad=1">Buy</a></div>
        <div class="result"><a class="result__a" href="https://example.org/">Second</a></div>"#;

    // IN-4
    #[test]
    fn results_are_read_and_advertisements_are_not() {
        let found = results(PAGE).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].title, "First & best");
        assert_eq!(found[0].url, "https://example.com/a?b=1");
        assert_eq!(found[0].description, "Some words here.");
        assert_eq!(found[1].url, "https://example.org/");
        assert_eq!(found[1].description, "");
        assert_eq!(results("<p>Are you a robot?</p>"), None);
        assert_eq!(results("<div class=\"no-results\">"), Some(Vec::new()));
    }
}
