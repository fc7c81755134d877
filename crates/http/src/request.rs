//! One request, as the caller describes it.

use bytes::Bytes;
use hermes_secrets::Secret;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use serde::Serialize;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::client::Carriage;
use crate::error::Cause;
use crate::websocket::{self, WebSocket};
use crate::{AuthScheme, HttpClient, HttpError, RedirectRule, Response, Timeouts, hop};

/// Describes a request. A mistake in it is reported by [`send`](Self::send).
pub struct RequestBuilder {
    client: HttpClient,
    plan: Result<Plan, HttpError>,
}

/// Everything that is needed to make the request, several times if it is redirected.
pub(crate) struct Plan {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Payload,
    pub(crate) credentials: Vec<(Secret, AuthScheme)>,
    pub(crate) timeouts: Timeouts,
    pub(crate) cancel: CancellationToken,
    pub(crate) redirects: RedirectRule,
    pub(crate) carriage: Carriage,
}

#[derive(Clone)]
pub(crate) enum Payload {
    Empty,
    Bytes(Bytes),
    Form(Vec<(String, String)>),
}

impl RequestBuilder {
    pub(crate) fn new(client: HttpClient, method: Method, url: Result<Url, Cause>) -> Self {
        let timeouts = client.inner.settings.timeouts;
        let plan = url
            .map_err(|error| HttpError::invalid_because("the url", error))
            .map(|url| Plan {
                method,
                url,
                headers: HeaderMap::new(),
                body: Payload::Empty,
                credentials: Vec::new(),
                timeouts,
                cancel: CancellationToken::new(),
                redirects: RedirectRule::default(),
                carriage: Carriage::default(),
            });
        Self { client, plan }
    }

    /// Sets a header that is not a credential.
    pub fn header<V>(self, name: HeaderName, value: V) -> Self
    where
        V: TryInto<HeaderValue>,
    {
        self.with(|plan| {
            let value = value
                .try_into()
                .map_err(|_| HttpError::invalid("a header"))?;
            plan.headers.insert(name, value);
            Ok(())
        })
    }

    /// Adds query parameters that are not credentials.
    pub fn query<'a>(self, pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        self.with(|plan| {
            plan.url.query_pairs_mut().extend_pairs(pairs);
            Ok(())
        })
    }

    /// Attaches a secret. Sending fails when the URL's origin may not see it.
    pub fn auth(self, secret: &Secret, scheme: AuthScheme) -> Self {
        self.client.inner.redactor.add(secret);
        let secret = secret.clone();
        self.with(|plan| {
            plan.credentials.push((secret, scheme));
            Ok(())
        })
    }

    /// Sends these bytes; the caller sets the content type.
    pub fn body(self, body: impl Into<Bytes>) -> Self {
        self.with(|plan| {
            plan.body = Payload::Bytes(body.into());
            Ok(())
        })
    }

    /// Sends a value as JSON.
    pub fn json<T: Serialize + ?Sized>(self, value: &T) -> Self {
        self.with(|plan| {
            let body = serde_json::to_vec(value)
                .map_err(|error| HttpError::invalid_because("the body", error))?;
            plan.body = Payload::Bytes(body.into());
            plan.headers.insert(
                header::CONTENT_TYPE,
                HeaderValue::from_static("application/json"),
            );
            Ok(())
        })
    }

    /// Sends a form; secret fields are added with [`AuthScheme::FormField`].
    pub fn form<'a>(self, pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        self.with(|plan| {
            let pairs = pairs
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()));
            plan.body = Payload::Form(pairs.collect());
            Ok(())
        })
    }

    /// Replaces the client's limits of time; the connect limit stays the client's.
    pub fn timeouts(self, timeouts: Timeouts) -> Self {
        self.with(|plan| {
            plan.timeouts = Timeouts {
                connect: plan.timeouts.connect,
                ..timeouts
            };
            Ok(())
        })
    }

    /// Ends the request, and the reading of its body, when the token is cancelled.
    pub fn cancel(self, token: CancellationToken) -> Self {
        self.with(|plan| {
            plan.cancel = token;
            Ok(())
        })
    }

    /// Says what to do about redirects.
    pub fn redirects(self, rule: RedirectRule) -> Self {
        self.with(|plan| {
            plan.redirects = rule;
            Ok(())
        })
    }

    /// Uses HTTP/2 whatever the server offers, on a connection shared with others of this kind: for gRPC.
    pub fn http2(self) -> Self {
        self.with(|plan| {
            plan.carriage = Carriage::Http2;
            Ok(())
        })
    }

    /// Asks for a WebSocket in place of an answer. The connect and first-byte limits hold for the asking.
    pub async fn websocket(self) -> Result<WebSocket, HttpError> {
        let asked = self.with(|plan| {
            plan.carriage = Carriage::Http1;
            plan.redirects = RedirectRule::Stop;
            Ok(())
        });
        websocket::open(asked).await
    }

    /// Makes the request and returns when the response's head is there, whatever its status.
    pub async fn send(self) -> Result<Response, HttpError> {
        hop::run(self.client, self.plan?).await
    }

    fn with(mut self, change: impl FnOnce(&mut Plan) -> Result<(), HttpError>) -> Self {
        if let Ok(plan) = &mut self.plan
            && let Err(error) = change(plan)
        {
            self.plan = Err(error);
        }
        self
    }
}
