//! What is needed to log in to a provider.

use std::collections::BTreeMap;
use std::time::Duration;

use hermes_http::BaseUrl;
use hermes_secrets::Origin;
use http::{HeaderName, HeaderValue};
use serde::Deserialize;
use url::Url;

use crate::failover::Renewal;

/// How to log in to one provider. Made by [`Flow::nous`] or read from a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// Where a device code is asked for.
    pub device_url: Url,
    /// Where codes and old tokens are turned into new tokens.
    pub token_url: Url,
    /// Who asks.
    pub client_id: String,
    /// What for.
    pub scope: Option<String>,
    /// Further headers of every request; never credentials.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Where the refresh token goes in a request.
    pub refresh_place: RefreshPlace,
    /// The time between two polls when the provider names none.
    pub interval: Duration,
    /// How much that time grows when the provider asks to slow down.
    pub slow_down: Duration,
    /// Its most.
    pub longest_interval: Duration,
    /// A token that ends this soon counts as ended.
    pub skew: Duration,
    /// A token is renewed when it has less than this left, unless it never had much more.
    pub least_life: Duration,
    /// When renewing the token may cure a failed call.
    pub renewal: Renewal,
}

/// Where the refresh token goes in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefreshPlace {
    /// Into the form, as the standard has it.
    Form,
    /// Into a header of the provider's own.
    Header(HeaderName),
}

/// Why a flow cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadFlow {
    /// Tokens would travel where others can read them.
    #[error("{url} is neither https nor on this machine")]
    Plain {
        /// The address.
        url: Url,
    },
    /// The two addresses belong to different servers.
    #[error("the device code comes from {device} but would be shown to {token}")]
    TwoServers {
        /// Where the code comes from.
        device: String,
        /// Where it would go.
        token: String,
    },
}

const SKEW: Duration = Duration::from_secs(120);
const LEAST_LIFE: Duration = Duration::from_secs(1_800);
const LONGEST_INTERVAL: Duration = Duration::from_secs(30);

impl Flow {
    /// The flow of the Nous Portal at this address.
    pub fn nous(portal: &BaseUrl) -> Result<Self, BadFlow> {
        Self {
            device_url: portal.join("api/oauth/device/code"),
            token_url: portal.join("api/oauth/token"),
            client_id: "hermes-cli".to_owned(),
            scope: Some("inference:invoke".to_owned()),
            headers: Vec::new(),
            refresh_place: RefreshPlace::Header(HeaderName::from_static("x-nous-refresh-token")),
            interval: Duration::from_secs(1),
            slow_down: Duration::from_secs(1),
            longest_interval: LONGEST_INTERVAL,
            skew: SKEW,
            least_life: LEAST_LIFE,
            renewal: Renewal::OnAuthAndBilling,
        }
        .checked()
    }

    /// The flow of a login that was made elsewhere than usual: where its tokens come from, and who asked.
    pub(crate) fn of_login(mut self, token_url: Url, client_id: Option<&str>) -> Option<Self> {
        if let Some(id) = client_id {
            id.clone_into(&mut self.client_id);
        }
        let private = is_private(&token_url);
        self.token_url = token_url;
        private.then_some(self)
    }

    fn checked(self) -> Result<Self, BadFlow> {
        for url in [&self.device_url, &self.token_url] {
            if !is_private(url) {
                return Err(BadFlow::Plain { url: url.clone() });
            }
        }
        let name = |url| Origin::of(url).map_or_else(|error| error.to_string(), |o| o.to_string());
        let (device, token) = (name(&self.device_url), name(&self.token_url));
        if device == token {
            Ok(self)
        } else {
            Err(BadFlow::TwoServers { device, token })
        }
    }
}

/// Whether nobody on the way can read what is sent there.
pub(crate) fn is_private(url: &Url) -> bool {
    let here = match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    url.scheme() == "https" || url.scheme() == "http" && here
}

/// A flow as a profile declares it, in the words of the standard.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Declared {
    device_authorization_endpoint: String,
    token_endpoint: String,
    client_id: String,
    scope: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    refresh_token_header: Option<String>,
}

impl<'de> Deserialize<'de> for Flow {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;

        let declared = Declared::deserialize(deserializer)?;
        let name = |name: &str| name.parse::<HeaderName>().map_err(Error::custom);
        let url = |text: &str| Url::parse(text).map_err(Error::custom);
        let headers = declared
            .headers
            .iter()
            .map(|(key, value)| Ok((name(key)?, value.parse().map_err(Error::custom)?)))
            .collect::<Result<_, D::Error>>()?;
        let refresh_place = match &declared.refresh_token_header {
            Some(header) => RefreshPlace::Header(name(header)?),
            None => RefreshPlace::Form,
        };
        Self {
            device_url: url(&declared.device_authorization_endpoint)?,
            token_url: url(&declared.token_endpoint)?,
            client_id: declared.client_id,
            scope: declared.scope,
            headers,
            refresh_place,
            // What the standard says.
            interval: Duration::from_secs(5),
            slow_down: Duration::from_secs(5),
            longest_interval: LONGEST_INTERVAL,
            skew: SKEW,
            least_life: LEAST_LIFE,
            renewal: Renewal::OnAuth,
        }
        .checked()
        .map_err(Error::custom)
    }
}
