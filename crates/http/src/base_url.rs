//! Where a vendor's API lives.

use std::fmt;
use std::str::FromStr;

use hermes_secrets::{Origin, OriginError};
use url::Url;

/// A vendor's base URL; paths are appended to it, and a query in it goes along with every request.
#[derive(Clone, PartialEq, Eq)]
pub struct BaseUrl(Url);

impl BaseUrl {
    /// The address of one endpoint: `chat/completions` below `https://host/v1` is `https://host/v1/chat/completions`.
    pub fn join(&self, path: &str) -> Url {
        let mut url = self.0.clone();
        let (path, query) = path
            .split_once('?')
            .map_or((path, None), |(path, query)| (path, Some(query)));
        let whole = format!(
            "{}/{}",
            url.path().trim_end_matches('/'),
            path.trim_start_matches('/')
        );
        url.set_path(if path.is_empty() {
            self.0.path()
        } else {
            &whole
        });
        if let Some(query) = query {
            let joined = self
                .0
                .query()
                .map_or_else(|| query.to_owned(), |base| format!("{base}&{query}"));
            url.set_query(Some(&joined));
        }
        url
    }

    /// The origin, to bind the vendor's key to.
    pub fn origin(&self) -> Result<Origin, OriginError> {
        Origin::of(&self.0)
    }
}

impl From<Url> for BaseUrl {
    fn from(mut url: Url) -> Self {
        url.set_fragment(None);
        Self(url)
    }
}

impl FromStr for BaseUrl {
    type Err = url::ParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse::<Url>().map(Self::from)
    }
}

impl fmt::Debug for BaseUrl {
    /// Leaves out user and query, which may hold a key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = self.0.host_str().unwrap_or_default();
        write!(f, "{}://{host}", self.0.scheme())?;
        if let Some(port) = self.0.port() {
            write!(f, ":{port}")?;
        }
        f.write_str(self.0.path())
    }
}
