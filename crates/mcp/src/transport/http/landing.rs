//! Where a session is, when the address of its server leads elsewhere.

use std::sync::OnceLock;

use hermes_secrets::Origin;
use url::Url;

/// Redirects are followed by the handshake; what comes after it goes to where that was answered. Led anew each
/// time, a request would lose the id of its session on the way to another origin.
#[derive(Default)]
pub(in crate::transport) struct Landing(OnceLock<Place>);

struct Place {
    url: String,
    /// At another origin than the address in the settings.
    abroad: bool,
}

impl Landing {
    /// A session that was asked for at one address was granted at another, or the same.
    pub(in crate::transport) fn settle(&self, asked: &str, granted: &Url) {
        let origin = Url::parse(asked).ok().and_then(|url| Origin::of(&url).ok());
        let abroad = origin.is_none() || origin != Origin::of(granted).ok();
        self.0.get_or_init(|| Place {
            url: granted.as_str().to_owned(),
            abroad,
        });
    }

    /// Where requests go that would go to this address.
    pub(super) fn url<'a>(&'a self, asked: &'a str) -> &'a str {
        self.0.get().map_or(asked, |place| place.url.as_str())
    }

    /// Whether the session is at another origin.
    pub(super) fn is_abroad(&self) -> bool {
        self.0.get().is_some_and(|place| place.abroad)
    }
}
