//! The client and how it is built.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use hermes_secrets::{Origin, Redactor, RedactorHandle};
use http::Method;
use url::Url;

use crate::error::Cause;
use crate::resolve::{CheckedResolver, DynResolver, Family};
use crate::{
    AddressPolicy, BaseUrl, BuildError, ClientSettings, DisplayUrl, HttpError, ProxyError,
    RequestBuilder, Resolver, SystemResolver, tls,
};

/// Connections kept open for each host.
const MAX_IDLE_PER_HOST: usize = 8;
/// How much of one answer may be under way on a connection that carries many: small beside the whole, so
/// that a few answers nobody reads for a while do not hold up the others.
const STREAM_WINDOW: u32 = 256 << 10;
const CONNECTION_WINDOW: u32 = 16 << 20;
/// How often a shared connection is tried, and how long it may take to answer.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// How a request travels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Carriage {
    /// As both sides agree.
    #[default]
    Negotiated,
    /// On a connection of its own that can become something else.
    Http1,
    /// With others on one connection, also where nothing can be agreed on.
    Http2,
}

/// Connections that may be shared: no request borrows one that was made with another trust.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Line {
    carriage: Carriage,
    /// The server, where it is believed in its own way.
    server: Option<Origin>,
}

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
        settings.announce(&redactor);
        settings.check_servers()?;
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
        let line = Line::default();
        let connections = Connections::open(&settings, &resolver, &line)?;
        Ok(HttpClient {
            inner: Arc::new(Inner {
                settings,
                resolver,
                redactor,
                connections: RwLock::new(HashMap::from([(line, connections)])),
            }),
        })
    }
}

/// What is kept open, without a proxy and through one.
#[derive(Clone)]
pub(crate) struct Connections {
    pub(crate) direct: reqwest::Client,
    pub(crate) proxied: Option<reqwest::Client>,
}

impl Connections {
    /// Opens nothing yet.
    fn open(
        settings: &ClientSettings,
        resolver: &CheckedResolver,
        line: &Line,
    ) -> Result<Self, BuildError> {
        let direct = base(settings, resolver.clone(), line)?
            .build()
            .map_err(client_error)?;
        let proxies = &settings.proxies;
        let exempt: Vec<_> = [&proxies.http, &proxies.https]
            .into_iter()
            .flatten()
            .map(|proxy| proxy.host().to_owned())
            .collect();
        if exempt.is_empty() {
            return Ok(Self {
                direct,
                proxied: None,
            });
        }
        let resolver = CheckedResolver {
            exempt,
            ..resolver.clone()
        };
        let mut builder = base(settings, resolver, line)?;
        if let Some(proxy) = &proxies.http {
            builder = builder
                .proxy(reqwest::Proxy::http(proxy.full_url()?).map_err(|_| ProxyError::Url)?);
        }
        if let Some(proxy) = &proxies.https {
            builder = builder
                .proxy(reqwest::Proxy::https(proxy.full_url()?).map_err(|_| ProxyError::Url)?);
        }
        Ok(Self {
            direct,
            proxied: Some(builder.build().map_err(client_error)?),
        })
    }
}

fn base(
    settings: &ClientSettings,
    resolver: CheckedResolver,
    line: &Line,
) -> Result<reqwest::ClientBuilder, BuildError> {
    let mut tls = tls::config(settings, line.server.as_ref())?;
    let builder = match line.carriage {
        Carriage::Negotiated => reqwest::Client::builder(),
        Carriage::Http1 => {
            tls.alpn_protocols = vec![b"http/1.1".to_vec()];
            reqwest::Client::builder().http1_only()
        }
        Carriage::Http2 => {
            tls.alpn_protocols = vec![b"h2".to_vec()];
            reqwest::Client::builder()
                .http2_prior_knowledge()
                .http2_initial_stream_window_size(STREAM_WINDOW)
                .http2_initial_connection_window_size(CONNECTION_WINDOW)
                .http2_keep_alive_interval(KEEP_ALIVE)
                .http2_keep_alive_timeout(KEEP_ALIVE)
        }
    };
    Ok(builder
        .tls_backend_preconfigured(tls)
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
    connections: RwLock<HashMap<Line, Connections>>,
}

impl HttpClient {
    /// Opens new connections from here on; requests under way keep theirs.
    pub fn forget_connections(&self) {
        let inner = &self.inner;
        // What could be built once can be built again; what is seldom used is built when it is.
        let line = Line::default();
        if let Ok(fresh) = Connections::open(&inner.settings, &inner.resolver, &line) {
            *inner
                .connections
                .write()
                .unwrap_or_else(PoisonError::into_inner) = HashMap::from([(line, fresh)]);
        }
    }

    /// The connections for requests to an address.
    pub(crate) fn connections(
        &self,
        carriage: Carriage,
        url: &Url,
    ) -> Result<Connections, HttpError> {
        let inner = &self.inner;
        let is_special = |origin: &Origin| inner.settings.trust.contains_key(origin);
        let server = Origin::of(url).ok().filter(is_special);
        let line = Line { carriage, server };
        let known = inner
            .connections
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&line)
            .cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let fresh = Connections::open(&inner.settings, &inner.resolver, &line)
            .map_err(|error| HttpError::invalid_because("the client", error))?;
        let mut all = inner
            .connections
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        Ok(all.entry(line).or_insert(fresh).clone())
    }

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

    /// Whether a request for this address would be refused by our rules, for an address that somebody else is to fetch.
    /// The name is looked up; nothing is connected to.
    pub async fn check(&self, url: &Url) -> Result<(), HttpError> {
        crate::hop::check(self, url).await
    }

    /// Makes a URL safe to show.
    pub fn display(&self, url: &Url) -> DisplayUrl {
        DisplayUrl::new(url, self.snapshot())
    }

    pub(crate) fn snapshot(&self) -> Redactor {
        self.inner.redactor.snapshot()
    }
}
