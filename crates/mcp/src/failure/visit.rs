//! Pages that a server wants to be opened before it does anything.

use serde_json::Value as Json;

/// The code with which a server says that a person has to open a page first.
pub(super) const REQUIRED: i32 = -32_042;
/// Most pages of one such error.
const MOST_LINKS: usize = 5;

/// A page a server wants a person to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// What the server says about it.
    pub message: String,
    /// Its address.
    pub url: String,
}

/// The pages that an error names.
pub(super) fn links(data: Option<&Json>) -> Vec<Link> {
    let named = data.and_then(|data| data.get("elicitations")?.as_array());
    let read = |entry: &Json| {
        let text = |key: &str| entry.get(key).and_then(Json::as_str);
        Some(Link {
            message: super::clipped(text("message").unwrap_or_default()),
            url: text("url")?.to_owned(),
        })
    };
    let links = named.into_iter().flatten().filter_map(read);
    links.take(MOST_LINKS).collect()
}
