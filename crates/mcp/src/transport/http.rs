//! A server at an address: how its HTTP client is made and how sessions are opened with it.

mod client;
mod hearing;
mod landing;
mod resume;
mod silence;
mod trust;

use std::sync::Arc;
use std::time::Duration;

use hermes_http::{AddressPolicy, ClientBuilder, HttpClient, Timeouts};
use rmcp::serve_client;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use tokio::sync::OnceCell;
use tokio_util::task::TaskTracker;
use url::Url;

use super::sse::EventTransport;
use super::stream::MOST_BYTES;
use super::{Connection, Marks, handshake};
use crate::fleet::Surroundings;
use crate::requests::Ears;
use crate::server::Kind;
use crate::{Authority, Failure, RecoveryPolicy, Server};
pub(super) use client::{Client, Headers};
use hearing::{Hearing, Late};
use silence::Silence;
pub(crate) use trust::apply as apply_trust;

/// Longest that one exchange may take, whatever it is; calls have shorter limits of their own.
const WHOLE_EXCHANGE: Duration = Duration::from_secs(24 * 60 * 60);
/// What the limit of a call is exceeded by, so that the call's own limit counts.
const SLACK: Duration = Duration::from_secs(1);
/// Longest wait before a broken event stream is opened again.
const STREAM_RETRY: Duration = Duration::from_secs(60);

/// The way to a server at an address.
pub(crate) struct HttpRoute {
    server: Server,
    surroundings: Arc<Surroundings>,
    authority: Option<Arc<dyn Authority>>,
    /// Kept between sessions, so that a new one needs no new connection.
    http: OnceCell<HttpClient>,
    late: Late,
}

impl HttpRoute {
    pub(crate) fn new(
        server: Server,
        surroundings: Arc<Surroundings>,
        authority: Option<Arc<dyn Authority>>,
    ) -> Self {
        Self {
            server,
            surroundings,
            authority,
            http: OnceCell::new(),
            late: Late::default(),
        }
    }

    pub(super) fn authority(&self) -> Option<&Arc<dyn Authority>> {
        self.authority.as_ref()
    }

    pub(super) async fn open(
        &self,
        ears: Ears,
        tasks: &TaskTracker,
    ) -> Result<Connection, Failure> {
        let url = self.url()?;
        let http = self.http.get_or_try_init(|| self.build()).await?.clone();
        let marks = Arc::<Marks>::default();
        let policy = self.server.policy(&self.surroundings.policy);
        let client = Client {
            headers: Headers::of(self.server.settings(), &url)?,
            authority: self.authority.clone(),
            marks: Arc::clone(&marks),
            hearing: Arc::new(Hearing::new(self.late.clone())),
            landing: Arc::default(),
            timeouts: timeouts(&policy),
            pause: policy.backoff_first,
            answers: Silence::new(
                policy.http_read_timeout.max(policy.call_timeout + SLACK),
                ears.callers.asking(),
            ),
            news: Silence::new(policy.stream_read_timeout, ears.callers.asking()),
            http: http.clone(),
        };
        let opened = match self.server.kind() {
            Kind::Sse => match EventTransport::open(client, url).await {
                Ok(transport) => handshake(serve_client(ears, transport)).await,
                Err(error) => Err(Failure::from_wire(&error, crate::failure::FIRST)),
            },
            Kind::Http | Kind::Stdio => {
                let transport =
                    StreamableHttpClientTransport::with_client(client, config(url.as_str()));
                handshake(serve_client(ears, transport)).await
            }
        };
        match opened {
            Ok(service) => Ok(Connection::watch(service, marks, None, tasks).await),
            Err(failure) => {
                // Whatever is kept open may be what does not work.
                http.forget_connections();
                Err(failure)
            }
        }
    }

    fn url(&self) -> Result<Url, Failure> {
        let text = self.server.settings().url.trim();
        let url = Url::parse(text).ok().filter(|url| {
            matches!(url.scheme(), "http" | "https")
                && url.host_str().is_some_and(|h| !h.is_empty())
        });
        url.ok_or_else(|| Failure::Unusable {
            text: "the url is not an http or https address with a host".to_owned(),
        })
    }

    async fn build(&self) -> Result<HttpClient, Failure> {
        let unusable = |text: String| Failure::Unusable { text };
        let mut settings = self.surroundings.network.clone();
        trust::apply(
            self.server.settings(),
            &mut settings,
            self.surroundings.user_home.as_deref(),
        )
        .await
        .map_err(unusable)?;
        settings.timeouts.connect = self
            .server
            .policy(&self.surroundings.policy)
            .connect_timeout
            .min(settings.timeouts.connect);
        ClientBuilder::new(settings, AddressPolicy::Any)
            .redactor(self.surroundings.redactor.clone())
            .build()
            .map_err(|error| unusable(error.to_string()))
    }
}

/// Silence has limits of its own, which know when a person is asked.
fn timeouts(policy: &RecoveryPolicy) -> Timeouts {
    Timeouts {
        connect: policy.connect_timeout,
        first_byte: WHOLE_EXCHANGE,
        idle: WHOLE_EXCHANGE,
        total: WHOLE_EXCHANGE,
    }
}

/// Without any recovery of the library: sessions are renewed by their supervisor, which knows of it.
fn config(url: &str) -> StreamableHttpClientTransportConfig {
    let mut config =
        StreamableHttpClientTransportConfig::with_uri(url).reinit_on_expired_session(false);
    let mut retry = ExponentialBackoff::default();
    retry.max_delay = Some(STREAM_RETRY);
    config.retry_config = Arc::new(retry);
    config.max_sse_event_size = MOST_BYTES;
    config.allow_stateless = true;
    config
}
