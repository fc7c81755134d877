//! Name lookup, and the check that every address we connect to went through.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::{AddressPolicy, Refusal};

/// Looks up names. The client calls it once for each new connection and connects to what it answered, so a name that
/// changes between check and connection gains nothing. The connect timeout covers it; it may be dropped at any time.
pub trait Resolver: Send + Sync {
    /// Returns the addresses of a host name, best first.
    fn resolve(&self, host: &str) -> impl Future<Output = io::Result<Vec<IpAddr>>> + Send;
}

/// The operating system's own lookup.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((host, 0))
            .await?
            .map(|found| found.ip())
            .collect())
    }
}

/// [`Resolver`] behind a pointer.
pub(crate) trait DynResolver: Send + Sync {
    fn resolve_boxed<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

impl<R: Resolver> DynResolver for R {
    fn resolve_boxed<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(self.resolve(host))
    }
}

/// A lookup that only answers with addresses the policy allows.
#[derive(Clone)]
pub(crate) struct CheckedResolver {
    pub(crate) resolver: Arc<dyn DynResolver>,
    pub(crate) policy: AddressPolicy,
    pub(crate) family: Family,
    /// Hosts of our own proxies, which the policy does not concern.
    pub(crate) exempt: Vec<String>,
}

/// Which kinds of address to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Both,
    V4Only,
}

/// A lookup that gave nothing to connect to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LookupError {
    #[error("{0}")]
    Refused(Refusal),
    #[error("the name lookup failed")]
    Failed(#[source] io::Error),
    #[error("the name has no usable address")]
    Empty,
}

impl CheckedResolver {
    /// Looks up a host and judges every address: one bad answer refuses the name.
    pub(crate) async fn lookup(&self, host: &str) -> Result<Vec<IpAddr>, LookupError> {
        let mut addresses = self
            .resolver
            .resolve_boxed(host)
            .await
            .map_err(LookupError::Failed)?;
        if !self
            .exempt
            .iter()
            .any(|exempt| exempt.eq_ignore_ascii_case(host))
        {
            for address in &addresses {
                self.policy
                    .check_address(host, *address)
                    .map_err(LookupError::Refused)?;
            }
        }
        addresses.retain(|address| self.family == Family::Both || address.is_ipv4());
        if addresses.is_empty() {
            Err(LookupError::Empty)
        } else {
            Ok(addresses)
        }
    }
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let checked = self.clone();
        Box::pin(async move {
            let addresses = checked.lookup(name.as_str()).await?;
            // Port zero lets the connector fill in the URL's port.
            let sockets: Addrs = Box::new(
                addresses
                    .into_iter()
                    .map(|address| SocketAddr::new(address, 0)),
            );
            Ok(sockets)
        })
    }
}
