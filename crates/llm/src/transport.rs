//! The one way requests leave for a provider: encode, send, decode. Never retries.

mod reading;
mod signing;

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use futures_core::Stream;
use futures_util::stream;
use hermes_core::{Clock, MediaReader, ModelClient, ModelEvent, ModelRequest, Patience};
use hermes_http::{AuthScheme, HttpClient, HttpError, RedirectRule, Response, Stage, Timeouts};
use hermes_secrets::Secret;
use http::{HeaderMap, HeaderName, header};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::allowance::Allowances;
use crate::embedded::LocalModels;
use crate::error::{ModelError, VendorError};
use crate::picture::Pictures;
use crate::route::{Address, Auth, Route};
use crate::schema::Schemas;
use crate::wire::{self, Dialect, WireError};
use reading::Reading;
pub(crate) use signing::Unsigned;

/// What every call shares.
#[derive(Clone)]
pub struct Transport {
    /// Makes the requests.
    pub http: HttpClient,
    /// Where pictures and files are.
    pub media: Arc<dyn MediaReader>,
    /// The schemas of tools, as they were sent before.
    pub schemas: Arc<Schemas>,
    /// Tells the time for signatures and delays.
    pub clock: Arc<dyn Clock>,
    /// Models inside this process.
    pub local: LocalModels,
    /// Pictures that were made smaller.
    pub pictures: Pictures,
    /// What providers say may still be used.
    pub allowances: Allowances,
}

/// A model at an address, with the credential of this attempt.
pub struct HttpModel {
    transport: Transport,
    route: Arc<Route>,
    address: Address,
    secret: Option<Secret>,
}

/// What leaves, but for the credential.
#[derive(Hash)]
struct Composed {
    url: Url,
    headers: Vec<(HeaderName, String)>,
    body: Vec<u8>,
}

impl HttpModel {
    /// A client for one attempt.
    pub fn new(
        transport: Transport,
        route: Arc<Route>,
        address: Address,
        secret: Option<Secret>,
    ) -> Self {
        Self {
            transport,
            route,
            address,
            secret,
        }
    }

    /// The request as it leaves, but for the credential.
    async fn compose(&self, request: &ModelRequest) -> Result<Composed, ModelError> {
        let media = &self.transport.media;
        let shrunk = match self.route.quirks.picture_edge {
            Some(edge) => Some(self.transport.pictures.prepare(request, media, edge).await),
            None => None,
        };
        let quirks = &self.route.quirks;
        let dialect = Dialect {
            provider: &self.route.provider,
            quirks,
            schemas: &self.transport.schemas,
            media: match &shrunk {
                Some(shrunk) => shrunk,
                None => media.as_ref(),
            },
        };
        let protocol = self.address.protocol;
        let body = wire::encode(protocol, request, &dialect);
        let body = serde_json::to_vec(&body)
            .map_err(|error| WireError::Malformed(format!("the request: {error}")))?;
        let base = self.address.base.join("");
        let path = wire::path(protocol, &request.model, base.path(), quirks);
        let mut url = self.address.base.join(&path);
        if !self.address.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&self.address.query);
        }
        let mut headers = vec![
            (header::CONTENT_TYPE, "application/json".to_owned()),
            (header::ACCEPT, wire::accepts(protocol, quirks).to_owned()),
        ];
        let own = wire::headers(protocol, &request.model, quirks).into_iter();
        headers.extend(own.map(|(name, value)| (HeaderName::from_static(name), value)));
        if let Some(name) = &quirks.conversation_header
            && let Ok(name) = name.parse::<HeaderName>()
        {
            headers.push((name, request.conversation.clone()));
        }
        headers.extend(self.address.headers.iter().cloned());
        Ok(Composed { url, headers, body })
    }

    /// A number that differs when what leaves for this request differs, the credential aside.
    pub(crate) async fn print(&self, request: &ModelRequest) -> Option<u64> {
        let composed = self.compose(request).await.ok()?;
        let mut hasher = DefaultHasher::new();
        composed.hash(&mut hasher);
        Some(hasher.finish())
    }

    async fn open(
        &self,
        request: &ModelRequest,
        patience: Patience,
        cancel: CancellationToken,
    ) -> Result<Response, ModelError> {
        // Pictures may have to be made smaller first.
        let composed = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(ModelError::Cancelled),
            composed = self.compose(request) => composed?,
        };
        let Composed { url, headers, body } = composed;
        let mut sending = self
            .transport
            .http
            .post(url.clone())
            .timeouts(Timeouts {
                first_byte: patience.first_event,
                idle: patience.idle,
                total: patience.total,
                ..Timeouts::default()
            })
            // The conversation is for this provider, not for whoever it points to.
            .redirects(RedirectRule::SameOrigin)
            .cancel(cancel);
        for (name, value) in headers {
            sending = sending.header(name, value);
        }
        match (&self.address.auth, &self.secret) {
            (Auth::None, _) | (_, None) => {}
            (Auth::Bearer, Some(secret)) => sending = sending.auth(secret, AuthScheme::Bearer),
            (Auth::Header(name), Some(secret)) => {
                sending = sending.auth(secret, AuthScheme::Header(name.clone()));
            }
            (Auth::SigV4 { region }, Some(secret)) => {
                for (name, value) in self.signature(secret, region, &url, &body)? {
                    sending = sending.header(HeaderName::from_static(name), value);
                }
            }
        }
        let response = sending.body(body).send().await;
        let response = match response {
            Ok(response) => {
                self.hear(response.headers());
                response.require_success().await
            }
            Err(error) => Err(error),
        };
        response.map_err(|error| self.failed(error))
    }

    fn hear(&self, headers: &HeaderMap) {
        let Route {
            provider,
            provider_name,
            ..
        } = &*self.route;
        let now = self.transport.clock.now();
        let allowances = &self.transport.allowances;
        allowances.hear(provider, provider_name, headers, now);
    }

    fn signature(
        &self,
        secret: &Secret,
        region: &str,
        url: &Url,
        body: &[u8],
    ) -> Result<Vec<(&'static str, String)>, ModelError> {
        let origin = self.address.base.origin();
        let origin = origin.map_err(|error| WireError::Malformed(error.to_string()))?;
        let request = Unsigned {
            method: "POST",
            url,
            headers: &[("content-type", "application/json")],
            body,
        };
        request.sign(secret, &origin, region, self.transport.clock.now())
    }

    fn failed(&self, error: HttpError) -> ModelError {
        match error {
            HttpError::Cancelled => ModelError::Cancelled,
            HttpError::Status(status) => {
                VendorError::from_status(&status, self.transport.clock.now()).into()
            }
            HttpError::Timeout {
                stage: Stage::FirstByte | Stage::Idle,
                after,
                ..
            } => ModelError::Stalled(after),
            other => ModelError::Http(other),
        }
    }
}

impl ModelClient for HttpModel {
    type Error = ModelError;

    fn stream(
        &self,
        request: ModelRequest,
        patience: Patience,
        cancel: CancellationToken,
    ) -> impl Stream<Item = Result<ModelEvent, ModelError>> + Send {
        let state = Reading::Opening {
            model: self,
            request: Box::new(request),
            patience,
            cancel,
        };
        stream::unfold(state, Reading::next)
    }
}
