//! Proxies, given in the settings and never taken from the environment.

use std::fmt;
use std::str::FromStr;

use hermes_secrets::{Origin, OriginPattern, Secret, SecretName};
use url::{Host, Url, form_urlencoded};

use crate::network::Network;

/// Which proxy carries which requests. Loopback hosts are always reached directly.
#[derive(Clone, Debug, Default)]
pub struct ProxySettings {
    /// For `http` URLs.
    pub http: Option<ProxyEndpoint>,
    /// For `https` URLs.
    pub https: Option<ProxyEndpoint>,
    /// Hosts that are reached directly.
    pub no_proxy: NoProxy,
}

impl ProxySettings {
    /// Sends everything through one proxy.
    pub fn all(proxy: ProxyEndpoint) -> Self {
        Self {
            http: Some(proxy.clone()),
            https: Some(proxy),
            no_proxy: NoProxy::default(),
        }
    }

    /// The proxy for a URL, if it goes through one.
    pub(crate) fn proxy_for(&self, url: &Url) -> Option<&ProxyEndpoint> {
        let proxy = if url.scheme() == "https" {
            &self.https
        } else {
            &self.http
        };
        proxy
            .as_ref()
            .filter(|_| !is_of_machine(url) && !self.no_proxy.matches(url))
    }
}

/// A proxy: `http`, `https`, `socks4`, `socks4a`, `socks5` (names resolved here) or `socks5h` (names resolved there).
#[derive(Clone)]
pub struct ProxyEndpoint {
    address: Url,
    username: String,
    password: Option<Secret>,
    setting: Option<String>,
}

/// A proxy as people know it: where it is and which setting names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyName {
    address: String,
    setting: Option<String>,
}

impl ProxyName {
    pub(crate) fn hint(&self) -> String {
        let setting = self.setting.as_deref().unwrap_or("its setting");
        format!("see that the proxy runs, mend or unset {setting}, or name the host in NO_PROXY")
    }
}

impl fmt::Display for ProxyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.setting {
            Some(setting) => write!(f, "{} of {setting}", self.address),
            None => f.write_str(&self.address),
        }
    }
}

/// Why a proxy setting cannot be used. The text itself is not repeated: it may hold a password.
#[derive(Debug, thiserror::Error)]
pub enum ProxyError {
    /// Not a URL with a host.
    #[error("the proxy is not a url with a host")]
    Url,
    /// A protocol that is not spoken.
    #[error(
        "{scheme} is not a proxy protocol; use http, https, socks4, socks4a, socks5 or socks5h"
    )]
    Scheme {
        /// The scheme given.
        scheme: String,
    },
}

impl FromStr for ProxyEndpoint {
    type Err = ProxyError;

    /// Reads `http://user:password@host:port`; without a scheme it is `http`.
    fn from_str(text: &str) -> Result<Self, ProxyError> {
        let whole = if text.contains("://") {
            text.to_owned()
        } else {
            format!("http://{text}")
        };
        let mut address: Url = whole.parse().map_err(|_| ProxyError::Url)?;
        let default_port = match address.scheme() {
            "http" => 80,
            "https" => 443,
            "socks4" | "socks4a" | "socks5" | "socks5h" => 1080,
            other => {
                return Err(ProxyError::Scheme {
                    scheme: other.to_owned(),
                });
            }
        };
        let port = address.port().unwrap_or(default_port);
        let (username, password) = (decode(address.username()), address.password().map(decode));
        address.set_port(Some(port)).map_err(|()| ProxyError::Url)?;
        address.set_username("").map_err(|()| ProxyError::Url)?;
        address.set_password(None).map_err(|()| ProxyError::Url)?;
        let origin = Origin::of(&address).map_err(|_| ProxyError::Url)?;
        let password = password.and_then(|password| {
            let name = SecretName::new("proxy-password").ok()?;
            Secret::new(name, password, [OriginPattern::Exact(origin)]).ok()
        });
        Ok(Self {
            address,
            username,
            password,
            setting: None,
        })
    }
}

impl ProxyEndpoint {
    /// Notes which setting names it, for those who are told that it does not work.
    #[must_use]
    pub fn named_by(self, setting: impl Into<String>) -> Self {
        Self {
            setting: Some(setting.into()),
            ..self
        }
    }

    pub(crate) fn name(&self) -> ProxyName {
        ProxyName {
            address: self.address.to_string(),
            setting: self.setting.clone(),
        }
    }

    pub(crate) fn host(&self) -> &str {
        self.address.host_str().unwrap_or_default()
    }

    pub(crate) fn password(&self) -> Option<&Secret> {
        self.password.as_ref()
    }

    /// The address with the credentials in it, as the HTTP library wants it.
    pub(crate) fn full_url(&self) -> Result<Url, ProxyError> {
        let mut url = self.address.clone();
        let origin = Origin::of(&url).map_err(|_| ProxyError::Url)?;
        url.set_username(&self.username)
            .map_err(|()| ProxyError::Url)?;
        if let Some(password) = &self.password {
            let value = password.expose_for(&origin).map_err(|_| ProxyError::Url)?;
            url.set_password(Some(value))
                .map_err(|()| ProxyError::Url)?;
        }
        Ok(url)
    }
}

impl fmt::Debug for ProxyEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.address)
    }
}

/// Hosts that bypass the proxy, in the usual notation.
#[derive(Clone, Debug, Default)]
pub struct NoProxy {
    rules: Vec<Rule>,
}

#[derive(Clone, Debug)]
enum Rule {
    Everything,
    /// The host and its sub-domains, at one port or all.
    Domain(String, Option<u16>),
    Network(Network),
}

impl NoProxy {
    /// Reads a comma-separated list of `*`, `example.com`, `.example.com`, `host:port`, addresses and blocks.
    pub fn parse(list: &str) -> Self {
        let rules = list
            .split([',', ' '])
            .map(str::trim)
            .filter(|entry| !entry.is_empty())
            .map(|entry| {
                if entry == "*" {
                    return Rule::Everything;
                }
                if let Ok(network) = entry.parse() {
                    return Rule::Network(network);
                }
                let (host, port) = match entry.rsplit_once(':') {
                    Some((host, port)) => port
                        .parse()
                        .map_or((entry, None), |port| (host, Some(port))),
                    None => (entry, None),
                };
                Rule::Domain(
                    host.trim_start_matches("*.")
                        .trim_start_matches('.')
                        .to_ascii_lowercase(),
                    port,
                )
            });
        Self {
            rules: rules.collect(),
        }
    }

    fn matches(&self, url: &Url) -> bool {
        self.rules.iter().any(|rule| match (rule, url.host()) {
            (Rule::Everything, _) => true,
            (Rule::Network(network), Some(Host::Ipv4(v4))) => network.contains(v4.into()),
            (Rule::Network(network), Some(Host::Ipv6(v6))) => network.contains(v6.into()),
            (Rule::Domain(domain, port), Some(Host::Domain(name))) => {
                let name = name.trim_end_matches('.');
                let covers = name
                    .strip_suffix(domain.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
                covers && port.is_none_or(|port| url.port_or_known_default() == Some(port))
            }
            (Rule::Domain(domain, port), Some(Host::Ipv4(v4))) => {
                *domain == v4.to_string()
                    && port.is_none_or(|port| url.port_or_known_default() == Some(port))
            }
            (Rule::Network(_), Some(Host::Domain(_)) | None)
            | (Rule::Domain(..), Some(Host::Ipv6(_)) | None) => false,
        })
    }
}

/// Whether a proxy could only reach itself there: this machine, and the services of a cloud that answer each
/// machine for itself.
fn is_of_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(v4)) => v4.is_loopback() || v4.is_link_local(),
        Some(Host::Ipv6(v6)) => v6.is_loopback(),
        None => false,
    }
}

fn decode(part: &str) -> String {
    let pair = format!("v={}", part.replace('+', "%2B").replace('&', "%26"));
    form_urlencoded::parse(pair.as_bytes())
        .map(|(_, value)| value.into_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_the_machine_does_not_go_through_a_proxy() {
        let proxy: ProxyEndpoint = "http://proxy.test:3128".parse().unwrap();
        let settings = ProxySettings::all(proxy);
        let goes = |url: &str| settings.proxy_for(&url.parse().unwrap()).is_some();
        assert!(goes("http://10.0.0.1/") && goes("https://vendor.test/"));
        assert!(!goes("http://169.254.169.254/latest/api/token"));
        assert!(!goes("http://127.0.0.1:1234/") && !goes("http://localhost/"));
    }
}
