//! A URL that is safe to show.

use std::fmt;
use std::sync::Arc;

use hermes_secrets::{Redactor, Scope};
use url::Url;

/// Scheme, host, port and path of a URL, with keys in the path masked; never the user, query or fragment.
///
/// Every request has one and hardly any is shown, so keys are looked for when it is.
#[derive(Clone)]
pub struct DisplayUrl(Arc<Parts>);

struct Parts {
    url: Url,
    has_query: bool,
    redactor: Redactor,
}

impl DisplayUrl {
    /// Makes a URL safe to show, masking also what the redactor knows.
    pub fn new(url: &Url, redactor: Redactor) -> Self {
        let mut shown = url.clone();
        // Both fail only for URLs without a host, which have no user either.
        let _ = shown.set_username("");
        let _ = shown.set_password(None);
        shown.set_query(None);
        shown.set_fragment(None);
        Self(Arc::new(Parts {
            url: shown,
            has_query: url.query().is_some(),
            redactor,
        }))
    }
}

impl fmt::Display for DisplayUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts {
            url,
            has_query,
            redactor,
        } = &*self.0;
        f.write_str(&redactor.redact_in(Scope::Log, url.as_str()))?;
        f.write_str(if *has_query { "?…" } else { "" })
    }
}

impl fmt::Debug for DisplayUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DisplayUrl({self})")
    }
}
