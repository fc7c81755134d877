//! What the user can set about HTTP.

use std::collections::BTreeMap;
use std::time::Duration;

use hermes_secrets::{Origin, RedactorHandle};

use crate::{BaseUrl, BuildError, ProxySettings, tls};

/// Settings that all clients share, resolved from the configuration by the caller.
#[derive(Clone, Debug)]
pub struct ClientSettings {
    /// Proxies and what bypasses them.
    pub proxies: ProxySettings,
    /// Which certificate authorities are trusted.
    pub roots: Roots,
    /// Single servers that are believed in another way because the user said so, by origin. It says nothing about
    /// another port of the same machine, and nothing about a proxy on the way.
    pub trust: BTreeMap<Origin, Trust>,
    /// What is shown to servers that ask who we are.
    pub identity: Option<Identity>,
    /// Use IPv4 only, for networks whose IPv6 is broken.
    pub force_ipv4: bool,
    /// Limits of time for requests that set none of their own.
    pub timeouts: Timeouts,
    /// Sent with every request.
    pub user_agent: String,
    /// Base URLs that replace the built-in ones, by vendor.
    pub base_urls: BTreeMap<String, BaseUrl>,
}

impl Default for ClientSettings {
    fn default() -> Self {
        Self {
            proxies: ProxySettings::default(),
            roots: Roots::BuiltIn,
            trust: BTreeMap::new(),
            identity: None,
            force_ipv4: false,
            timeouts: Timeouts::default(),
            user_agent: concat!("hermes/", env!("CARGO_PKG_VERSION")).to_owned(),
            base_urls: BTreeMap::new(),
        }
    }
}

impl ClientSettings {
    /// Tells a redactor the secrets that stand in these settings. Building a client does it as well; who builds one
    /// later, or never, must not show them meanwhile.
    pub fn announce(&self, redactor: &RedactorHandle) {
        let proxies = [&self.proxies.http, &self.proxies.https];
        for proxy in proxies.into_iter().flatten() {
            if let Some(password) = proxy.password() {
                redactor.add(password);
            }
        }
    }

    /// Whether what single servers are believed by can be used, which no connection to others finds out.
    pub(crate) fn check_servers(&self) -> Result<(), BuildError> {
        self.trust.values().try_for_each(|trust| match trust {
            Trust::Unchecked => Ok(()),
            Trust::Also(bundle) => tls::check_bundle(bundle),
        })
    }
}

/// Which certificate authorities are trusted. Bundles are the content of a PEM file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Roots {
    /// Mozilla's list, which is part of the program: works on a machine without any certificates.
    #[default]
    BuiltIn,
    /// Mozilla's list and the user's bundle, such as a company's own authority.
    BuiltInAnd(Vec<u8>),
    /// The user's bundle only.
    Only(Vec<u8>),
}

/// How a single server is believed to be who it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// By these authorities beside the usual ones, as the content of a PEM file.
    Also(Vec<u8>),
    /// Without a look at its certificate; each connection that is set up for it says so in the log.
    Unchecked,
}

/// A certificate of our own and its key, as the content of PEM files.
#[derive(Clone, PartialEq, Eq)]
pub struct Identity {
    /// The certificate, then those that lead to its authority.
    pub certificates: Vec<u8>,
    /// Its key, without a password.
    pub key: Vec<u8>,
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[certificate and key]")
    }
}

/// Limits of time. Every request has all four.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For lookup, connection and TLS handshake. A property of the client; requests cannot change it.
    pub connect: Duration,
    /// From the start of a hop, connecting included, to the response's head.
    pub first_byte: Duration,
    /// Between two pieces of the body.
    pub idle: Duration,
    /// For the whole exchange, redirects and body included.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(60),
            idle: Duration::from_secs(60),
            total: Duration::from_secs(600),
        }
    }
}
