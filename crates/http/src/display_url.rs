//! A URL that is safe to show.

use std::fmt;

use hermes_secrets::{Redactor, Scope};
use url::Url;

/// Scheme, host, port and path of a URL, with keys in the path masked; never the user, query or fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisplayUrl(String);

impl DisplayUrl {
    /// Makes a URL safe to show, masking also what the redactor knows.
    pub fn new(url: &Url, redactor: &Redactor) -> Self {
        let mut shown = url.clone();
        // Both fail only for URLs without a host, which have no user either.
        let _ = shown.set_username("");
        let _ = shown.set_password(None);
        shown.set_query(None);
        shown.set_fragment(None);
        let mut text = redactor.redact_in(Scope::Log, shown.as_str()).into_owned();
        if url.query().is_some() {
            text.push_str("?…");
        }
        Self(text)
    }
}

impl fmt::Display for DisplayUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
