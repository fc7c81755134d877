//! The client and how it is built.

use std::sync::Arc;

use hermes_secrets::{Redactor, RedactorHandle};
use http::Method;
use url::Url;

use crate::error::Cause;
use crate::resolve::{CheckedResolver, DynResolver, Family};
use crate::{
    AddressPolicy, BaseUrl, BuildError, ClientSettings, DisplayUrl, ProxyError, RequestBuilder,
    Resolver, SystemResolver, tls,
};

/// Connections kept open for each host.
const MAX_IDLE_PER_HOST: usize = 8;

/// Builds clients. The address policy belongs to the client, so that no request can borrow a connection that another
/// policy allowed.
pub struct ClientBuilder {
    settings: ClientSettings,
    policy: AddressPolicy,
    resolver: Arc<dyn DynResolver>,
    redactor: RedactorHandle,
}

impl ClientBuilder {
    /// Starts with a policy, which everyone has to think about.
    pub fn new(settings: ClientSettings, policy: AddressPolicy) -> Self {
        Self {
            settings,
            policy,
            resolver: Arc::new(SystemResolver),
            redactor: RedactorHandle::default(),
        }
    }

    /// Looks up names in another way than the system's.
    pub fn resolver(mut self, resolver: impl Resolver + 'static) -> Self {
        self.resolver = Arc::new(resolver);
        self
    }

    /// Masks error texts with the program's redactor, and tells it every credential that is used.
    pub fn redactor(mut self, redactor: RedactorHandle) -> Self {
        self.redactor = redactor;
        self
    }

    /// Builds the client; makes no connection.
    pub fn build(self) -> Result<HttpClient, BuildError> {
        let Self {
            settings,
            policy,
            resolver,
            redactor,
        } = self;
        let proxies: Vec<_> = [&settings.proxies.http, &settings.proxies.https]
            .into_iter()
            .flatten()
            .collect();
        for password in proxies.iter().filter_map(|proxy| proxy.password()) {
            redactor.add(password);
        }
        let family = if settings.force_ipv4 {
            Family::V4Only
        } else {
            Family::Both
        };
        let resolver = CheckedResolver {
            resolver,
            policy,
            family,
            exempt: Vec::new(),
        };
        let direct = base(&settings, resolver.clone())?
            .build()
            .map_err(client_error)?;
        let proxied = if proxies.is_empty() {
            None
        } else {
            let exempt = proxies
                .iter()
                .map(|proxy| proxy.host().to_owned())
                .collect();
            let mut builder = base(
                &settings,
                CheckedResolver {
                    exempt,
                    ..resolver.clone()
                },
            )?;
            if let Some(proxy) = &settings.proxies.http {
                builder = builder
                    .proxy(reqwest::Proxy::http(proxy.full_url()?).map_err(|_| ProxyError::Url)?);
            }
            if let Some(proxy) = &settings.proxies.https {
                builder = builder
                    .proxy(reqwest::Proxy::https(proxy.full_url()?).map_err(|_| ProxyError::Url)?);
            }
            Some(builder.build().map_err(client_error)?)
        };
        Ok(HttpClient {
            inner: Arc::new(Inner {
                settings,
                resolver,
                redactor,
                direct,
                proxied,
            }),
        })
    }
}

fn base(
    settings: &ClientSettings,
    resolver: CheckedResolver,
) -> Result<reqwest::ClientBuilder, BuildError> {
    Ok(reqwest::Client::builder()
        .tls_backend_preconfigured(tls::config(&settings.roots, &settings.insecure_hosts)?)
        .dns_resolver(resolver)
        // Also switches off the search for proxies in the environment.
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .connect_timeout(settings.timeouts.connect)
        .pool_max_idle_per_host(MAX_IDLE_PER_HOST)
        .user_agent(settings.user_agent.clone()))
}

fn client_error(error: reqwest::Error) -> BuildError {
    BuildError::Client(Cause::from(error.without_url()))
}

/// Makes requests. Clones share connections.
#[derive(Clone)]
pub struct HttpClient {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) settings: ClientSettings,
    pub(crate) resolver: CheckedResolver,
    pub(crate) redactor: RedactorHandle,
    pub(crate) direct: reqwest::Client,
    pub(crate) proxied: Option<reqwest::Client>,
}

impl HttpClient {
    /// Starts a request with any method.
    pub fn request<U>(&self, method: Method, url: U) -> RequestBuilder
    where
        U: TryInto<Url>,
        U::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        RequestBuilder::new(self.clone(), method, url.try_into().map_err(Into::into))
    }

    /// Starts a `GET`.
    pub fn get<U>(&self, url: U) -> RequestBuilder
    where
        U: TryInto<Url>,
        U::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.request(Method::GET, url)
    }

    /// Starts a `POST`.
    pub fn post<U>(&self, url: U) -> RequestBuilder
    where
        U: TryInto<Url>,
        U::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.request(Method::POST, url)
    }

    /// The base URL of a vendor: the user's override, else the built-in one.
    pub fn base_url(&self, vendor: &str, built_in: &BaseUrl) -> BaseUrl {
        self.inner
            .settings
            .base_urls
            .get(vendor)
            .unwrap_or(built_in)
            .clone()
    }

    /// Makes a URL safe to show.
    pub fn display(&self, url: &Url) -> DisplayUrl {
        DisplayUrl::new(url, &self.snapshot())
    }

    pub(crate) fn snapshot(&self) -> Redactor {
        self.inner.redactor.snapshot()
    }
}
