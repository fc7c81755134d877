//! Which hosts a client may reach.

use std::net::IpAddr;
use std::str::FromStr;

use url::{Host, Url};

use crate::network::Network;
use crate::{Refusal, address};

/// Which hosts a client may reach. It is checked for every hop, on names before and on addresses after the lookup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddressPolicy {
    /// Public hosts only: for addresses that a model, a web page or a stranger chose.
    Public,
    /// Public and private hosts but no cloud metadata: the user allowed private addresses.
    PublicAndPrivate,
    /// Anything: for endpoints that the user configured by name.
    Any,
    /// Only these hosts and networks, and no cloud metadata.
    AllowList(Vec<HostRule>),
}

/// A host or network on an allow list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostRule {
    /// Exactly this name.
    Name(String),
    /// Any sub-domain of this name.
    SubdomainsOf(String),
    /// Addresses in this block, named as such or resolved to.
    Network(Network),
}

impl FromStr for HostRule {
    type Err = std::convert::Infallible;

    /// Reads `example.com`, `*.example.com`, `192.0.2.1` or `10.0.0.0/8`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let name = text.trim().trim_end_matches('.').to_ascii_lowercase();
        Ok(match (name.parse(), name.strip_prefix("*.")) {
            (Ok(network), _) => Self::Network(network),
            (Err(_), Some(parent)) => Self::SubdomainsOf(parent.to_owned()),
            (Err(_), None) => Self::Name(name),
        })
    }
}

/// Names that resolve to a metadata service inside a cloud.
const METADATA_NAMES: &[&str] = &[
    "metadata.google.internal",
    "metadata.goog",
    "metadata.azure.internal",
    "metadata.azure.com",
    "instance-data",
    "instance-data.ec2.internal",
    "metadata",
];

impl AddressPolicy {
    /// Judges what can be judged without a lookup: scheme, name, literal address.
    pub(crate) fn check_url(&self, url: &Url) -> Result<(), Refusal> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Refusal::Scheme {
                scheme: url.scheme().to_owned(),
            });
        }
        match url.host() {
            Some(Host::Ipv4(v4)) => self.check_address(&v4.to_string(), IpAddr::V4(v4)),
            Some(Host::Ipv6(v6)) => self.check_address(&v6.to_string(), IpAddr::V6(v6)),
            Some(Host::Domain(name)) => self.check_name(name),
            None => Err(Refusal::Scheme {
                scheme: url.scheme().to_owned(),
            }),
        }
    }

    /// Judges an address that `host` is or resolved to.
    pub(crate) fn check_address(&self, host: &str, address: IpAddr) -> Result<(), Refusal> {
        if *self != Self::Any && address::is_metadata(address) {
            return Err(Refusal::Metadata {
                host: host.to_owned(),
            });
        }
        match self {
            Self::Any | Self::PublicAndPrivate => Ok(()),
            Self::Public if address::is_public(address) => Ok(()),
            Self::Public => Err(Refusal::Address { address }),
            Self::AllowList(rules) => {
                let listed = rules
                    .iter()
                    .any(|rule| rule.covers_name(host) || rule.covers_address(address));
                if listed {
                    Ok(())
                } else {
                    Err(Refusal::NotListed {
                        host: host.to_owned(),
                    })
                }
            }
        }
    }

    fn check_name(&self, name: &str) -> Result<(), Refusal> {
        let name = normal(name);
        if *self != Self::Any && METADATA_NAMES.contains(&name.as_str()) {
            return Err(Refusal::Metadata { host: name });
        }
        match self {
            Self::Any | Self::PublicAndPrivate | Self::Public => Ok(()),
            // A name that no rule covers may still resolve into a listed network.
            Self::AllowList(rules) => {
                let may_pass = rules
                    .iter()
                    .any(|rule| rule.covers_name(&name) || matches!(rule, HostRule::Network(_)));
                if may_pass {
                    Ok(())
                } else {
                    Err(Refusal::NotListed { host: name })
                }
            }
        }
    }
}

impl HostRule {
    fn covers_name(&self, host: &str) -> bool {
        let host = normal(host);
        match self {
            Self::Name(name) => *name == host,
            Self::SubdomainsOf(parent) => host
                .strip_suffix(parent.as_str())
                .is_some_and(|rest| rest.len() > 1 && rest.ends_with('.')),
            Self::Network(_) => false,
        }
    }

    fn covers_address(&self, address: IpAddr) -> bool {
        match self {
            Self::Network(network) => network.contains(address),
            Self::Name(_) | Self::SubdomainsOf(_) => false,
        }
    }
}

fn normal(host: &str) -> String {
    host.trim_end_matches('.').to_ascii_lowercase()
}
