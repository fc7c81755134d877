//! The one way requests leave for a provider: encode, send, decode. Never retries.

mod reading;

use std::sync::Arc;

use futures_core::Stream;
use futures_util::stream;
use hermes_core::{Clock, MediaReader, ModelClient, ModelEvent, ModelRequest, Patience};
use hermes_http::{AuthScheme, HttpClient, HttpError, RedirectRule, Response, Stage, Timeouts};
use hermes_secrets::Secret;
use http::{HeaderName, HeaderValue, header};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::embedded::LocalModels;
use crate::error::{ModelError, VendorError};
use crate::picture::Pictures;
use crate::route::{Address, Auth, Route};
use crate::schema::Schemas;
use crate::wire::converse::sigv4::{self, Signer};
use crate::wire::{self, Dialect, WireError};
use reading::Reading;

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
}

/// A model at an address, with the credential of this attempt.
pub struct HttpModel {
    transport: Transport,
    route: Arc<Route>,
    address: Address,
    secret: Option<Secret>,
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

    async fn open(
        &self,
        request: &ModelRequest,
        patience: Patience,
        cancel: CancellationToken,
    ) -> Result<Response, ModelError> {
        let media = &self.transport.media;
        let shrunk = match self.route.quirks.picture_edge {
            Some(edge) => Some(self.transport.pictures.prepare(request, media, edge).await),
            None => None,
        };
        let dialect = Dialect {
            provider: &self.route.provider,
            quirks: &self.route.quirks,
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
        let quirks = &self.route.quirks;
        let base = self.address.base.join("");
        let path = wire::path(protocol, &request.model, base.path(), quirks);
        let mut url = self.address.base.join(&path);
        if !self.address.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&self.address.query);
        }
        let mut sending = self
            .transport
            .http
            .post(url.clone())
            .header(
                header::CONTENT_TYPE,
                HeaderValue::from_static("application/json"),
            )
            .header(
                header::ACCEPT,
                HeaderValue::from_static(wire::accepts(protocol, quirks)),
            )
            .timeouts(Timeouts {
                first_byte: patience.first_event,
                idle: patience.idle,
                total: patience.total,
                ..Timeouts::default()
            })
            // The conversation is for this provider, not for whoever it points to.
            .redirects(RedirectRule::SameOrigin)
            .cancel(cancel);
        for (name, value) in wire::headers(protocol, &request.model, quirks) {
            sending = sending.header(HeaderName::from_static(name), value);
        }
        if let Some(name) = &quirks.conversation_header
            && let Ok(name) = name.parse::<HeaderName>()
        {
            sending = sending.header(name, request.conversation.as_str());
        }
        for (name, value) in &self.address.headers {
            sending = sending.header(name.clone(), value.as_str());
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
            Ok(response) => response.require_success().await,
            Err(error) => Err(error),
        };
        response.map_err(|error| self.failed(error))
    }

    /// The key signs, it is not sent; what is sent of it are its id and the token it came with.
    fn signature(
        &self,
        secret: &Secret,
        region: &str,
        url: &Url,
        body: &[u8],
    ) -> Result<Vec<(&'static str, String)>, ModelError> {
        let failed = |error: HttpError| ModelError::Http(error);
        let origin = self
            .address
            .base
            .origin()
            .map_err(|error| WireError::Malformed(error.to_string()))?;
        let value = secret
            .expose_for(&origin)
            .map_err(|error| failed(error.into()))?;
        let mut parts = value.lines();
        let (Some(access_key), Some(secret_key)) = (parts.next(), parts.next()) else {
            let what = "the AWS credential has no secret key".to_owned();
            return Err(WireError::Malformed(what).into());
        };
        let signer = Signer {
            access_key,
            secret_key,
            session_token: parts.next(),
            region,
            service: "bedrock",
        };
        let host = match (url.host_str().unwrap_or_default(), url.port()) {
            (host, Some(port)) => format!("{host}:{port}"),
            (host, None) => host.to_owned(),
        };
        let query: Vec<(String, String)> = url.query_pairs().into_owned().collect();
        let query: Vec<(&str, &str)> = query
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let request = sigv4::Request {
            method: "POST",
            path: url.path(),
            query: &query,
            headers: &[("host", &host), ("content-type", "application/json")],
            body,
        };
        Ok(sigv4::sign(&signer, &request, self.transport.clock.now()))
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
