//! The requests of the protocol, made by our own HTTP client.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use hermes_config::{McpServer, names_secret};
use hermes_http::{AuthScheme, HttpClient, RequestBuilder, Response, Timeouts};
use hermes_secrets::{Origin, OriginPattern, Secret, SecretName};
use http::{HeaderName, HeaderValue, Method, StatusCode, header};
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, JsonRpcMessage, ProtocolVersion, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::common::http_header::{EVENT_STREAM_MIME_TYPE, JSON_MIME_TYPE};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use serde_json::Value as Json;
use sse_stream::Sse;
use url::Url;

use super::hearing::Hearing;
use super::landing::Landing;
use super::resume::{self, Events, Question};
use super::silence::Silence;
use crate::failure::names_bad_session;
use crate::server::is_ours;
use crate::transport::reading::parse;
use crate::transport::stream::{MOST_BYTES, events};
use crate::transport::{Marks, WireError};
use crate::{Authority, Failure};

/// How much of a failure's body is read.
const EXCERPT: usize = 64 << 10;

type Error = StreamableHttpError<WireError>;

/// Makes the requests of one session.
#[derive(Clone)]
pub(in crate::transport) struct Client {
    pub(super) headers: Headers,
    pub(super) authority: Option<Arc<dyn Authority>>,
    pub(super) marks: Arc<Marks>,
    pub(super) hearing: Arc<Hearing>,
    pub(super) landing: Arc<Landing>,
    pub(super) timeouts: Timeouts,
    /// Before a stream that could not be opened again is asked for once more.
    pub(super) pause: Duration,
    /// On answers.
    pub(super) answers: Silence,
    /// On streams of what the server says by itself.
    pub(super) news: Silence,
    pub(super) http: HttpClient,
}

/// The configured headers of a server.
#[derive(Clone, Default)]
pub(in crate::transport) struct Headers {
    plain: Vec<(HeaderName, HeaderValue)>,
    /// Bound to the server's origin, and masked wherever they turn up.
    secret: Vec<(HeaderName, Secret)>,
}

impl Headers {
    pub(super) fn of(settings: &McpServer, url: &Url) -> Result<Self, Failure> {
        let mut headers = Self::default();
        for (name, value) in settings.headers.iter().filter(|(name, _)| !is_ours(name)) {
            let wrong = || Failure::Unusable {
                text: format!("the header {name} is not valid"),
            };
            let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
            let plain = HeaderValue::from_str(value).map_err(|_| wrong())?;
            match confidential(&header, value, url) {
                Some(secret) => headers.secret.push((header, secret)),
                None => headers.plain.push((header, plain)),
            }
        }
        Ok(headers)
    }

    fn has(&self, name: &HeaderName) -> bool {
        self.plain.iter().any(|(known, _)| known == name)
            || self.secret.iter().any(|(known, _)| known == name)
    }
}

fn confidential(name: &HeaderName, value: &str, url: &Url) -> Option<Secret> {
    let known = [header::AUTHORIZATION, header::COOKIE].contains(name);
    if !known && !names_secret(name.as_str()) {
        return None;
    }
    let origin = Origin::of(url).ok()?;
    let label = SecretName::new(name.as_str()).ok()?;
    Secret::new(label, value.to_owned(), [OriginPattern::from(origin)]).ok()
}

/// A request that was answered with success.
pub(in crate::transport) struct Answered(pub(in crate::transport) Response);

impl Client {
    /// Sends a request with everything every request carries. Any status but success is an error.
    pub(in crate::transport) async fn send(
        &self,
        request: RequestBuilder,
        session_id: bool,
    ) -> Result<Answered, WireError> {
        let (request, token) = self.signed(request).await?;
        let response = self.answers.bound(request.send()).await??;
        let status = response.status();
        if status.is_success() {
            self.marks.hear();
            return Ok(Answered(response));
        }
        let challenge = response
            .headers()
            .get(header::WWW_AUTHENTICATE)
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned);
        let refused = status == StatusCode::UNAUTHORIZED
            || (status == StatusCode::FORBIDDEN && challenge.is_some());
        if refused {
            return Err(WireError::Refused {
                status: status.as_u16(),
                token,
                challenge,
            });
        }
        if status == StatusCode::NOT_FOUND && session_id {
            return Err(WireError::Status {
                status: 404,
                body: String::new(),
            });
        }
        // The status says more than a body that cannot be read.
        let body = self.answers.bound(response.text(EXCERPT)).await?;
        let body = body.unwrap_or_default();
        Err(WireError::Status {
            status: status.as_u16(),
            body,
        })
    }

    async fn signed(
        &self,
        request: RequestBuilder,
    ) -> Result<(RequestBuilder, Option<Secret>), WireError> {
        // What is configured is for the server that was named, not for where it leads.
        if self.landing.is_abroad() {
            return Ok((request, None));
        }
        let mut request = request;
        for (name, value) in &self.headers.plain {
            request = request.header(name.clone(), value.clone());
        }
        for (name, secret) in &self.headers.secret {
            request = request.auth(secret, AuthScheme::Header(name.clone()));
        }
        let token = match &self.authority {
            Some(authority) => authority.bearer().await?,
            None => None,
        };
        if let Some(token) = &token {
            request = request.auth(token, AuthScheme::Bearer);
        }
        Ok((request, token))
    }

    pub(in crate::transport) fn marks(&self) -> Arc<Marks> {
        Arc::clone(&self.marks)
    }

    pub(in crate::transport) fn landing(&self) -> &Landing {
        &self.landing
    }

    /// A request without a body. It names the version that is asked for until another one is agreed on: some
    /// servers want to know it before there is a session.
    pub(in crate::transport) fn request(&self, method: Method, url: &str) -> RequestBuilder {
        let version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        self.http
            .request(method, url)
            .timeouts(self.timeouts)
            .header(HeaderName::from_static(PROTOCOL_VERSION), version.as_str())
    }

    /// A stream of events that may be silent for a while.
    pub(in crate::transport) fn listening(&self, url: &str) -> RequestBuilder {
        self.request(Method::GET, url)
            .header(header::ACCEPT, EVENT_STREAM_MIME_TYPE)
    }

    /// What comes on the stream that answers a request.
    pub(super) fn answering(
        &self,
        answered: Answered,
        request: RequestId,
        limit: usize,
    ) -> Result<Events, WireError> {
        let body = answered.0.stream(usize::MAX)?.into_stream();
        let body = self.answers.clone().within(body);
        Ok(events(body, limit, Arc::clone(&self.marks), Some(request)))
    }

    /// What comes on such a stream.
    pub(in crate::transport) fn heard(&self, answered: Answered) -> Result<Events, WireError> {
        let body = answered.0.stream(usize::MAX)?.into_stream();
        let body = self.news.clone().within(body);
        Ok(events(body, MOST_BYTES, Arc::clone(&self.marks), None))
    }

    /// A message as the body of a request.
    pub(in crate::transport) fn posting(
        &self,
        url: &str,
        message: &ClientJsonRpcMessage,
    ) -> RequestBuilder {
        self.marks.sending(message);
        self.request(Method::POST, url)
            .header(
                header::ACCEPT,
                format!("{JSON_MIME_TYPE}, {EVENT_STREAM_MIME_TYPE}"),
            )
            .json(message)
    }

    fn protocol(
        &self,
        mut request: RequestBuilder,
        session_id: Option<&str>,
        custom: HashMap<HeaderName, HeaderValue>,
    ) -> RequestBuilder {
        for (name, value) in custom {
            // What the user set counts, also for the version of the protocol.
            if !self.headers.has(&name) {
                request = request.header(name, value);
            }
        }
        if let Some(id) = session_id {
            request = request.header(HeaderName::from_static(SESSION_ID), id);
        }
        request
    }

    async fn post(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        custom: HashMap<HeaderName, HeaderValue>,
        limit: usize,
    ) -> Result<StreamableHttpPostResponse, Error> {
        if session_id.is_some() {
            self.hearing.before(&message).await;
        }
        let request = self.posting(self.landing.url(&uri), &message);
        let request = self.protocol(request, session_id.as_deref(), custom.clone());
        let answered = match self.send(request, session_id.is_some()).await {
            Ok(answered) => answered,
            Err(WireError::Status { status, body }) => {
                return as_answer(&message, status, body, session_id.is_some());
            }
            Err(error) => return Err(StreamableHttpError::Client(error)),
        };
        let id = match &message {
            JsonRpcMessage::Request(request) => request.id.clone(),
            _ => return Ok(StreamableHttpPostResponse::Accepted),
        };
        let question = Question {
            uri,
            session_id,
            headers: custom,
            id,
            limit,
        };
        if is_handshake(&message) {
            self.landing.settle(&question.uri, answered.0.url());
        }
        match self.read(answered, &question).await? {
            // Before the handshake is over there is no session in which more could be asked for.
            StreamableHttpPostResponse::Sse(events, session_id) if !is_handshake(&message) => {
                let events = resume::whole(self.clone(), question, events);
                Ok(StreamableHttpPostResponse::Sse(events, session_id))
            }
            answer => Ok(answer),
        }
    }

    /// Asks for a stream of events, behind one of them where it was open before.
    pub(super) async fn listen(
        &self,
        uri: &str,
        session_id: Option<&str>,
        last: Option<&str>,
        custom: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Answered, WireError> {
        let request = self.listening(self.landing.url(uri));
        let mut request = self.protocol(request, session_id, custom);
        if let Some(id) = last {
            request = request.header(HeaderName::from_static(LAST_EVENT_ID), id);
        }
        self.send(request, session_id.is_some()).await
    }

    async fn read(
        &self,
        answered: Answered,
        question: &Question,
    ) -> Result<StreamableHttpPostResponse, Error> {
        let response = &answered.0;
        if [StatusCode::ACCEPTED, StatusCode::NO_CONTENT].contains(&response.status()) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        let text = |name: &str| {
            let value = response.headers().get(name)?.to_str().ok()?;
            Some(value.to_owned())
        };
        let session_id = text(SESSION_ID);
        if session_id.is_some() {
            self.marks.got_session_id();
        }
        let found = text(header::CONTENT_TYPE.as_str());
        let kind = found.as_deref().unwrap_or_default().to_ascii_lowercase();
        if kind.starts_with(EVENT_STREAM_MIME_TYPE) {
            let events = self.answering(answered, question.id.clone(), question.limit);
            let events = events.map_err(StreamableHttpError::Client)?;
            return Ok(StreamableHttpPostResponse::Sse(events, session_id));
        }
        if !kind.starts_with(JSON_MIME_TYPE) {
            return Err(StreamableHttpError::Client(WireError::NotMcp { found }));
        }
        let body = self.answers.bound(answered.0.bytes(MOST_BYTES)).await;
        let body = body
            .and_then(|body| body.map_err(WireError::from))
            .map_err(StreamableHttpError::Client)?;
        let parsed = parse(&body).map_err(|error| {
            StreamableHttpError::Client(WireError::Malformed(format!(
                "the answer is not a message of the protocol: {error}"
            )))
        })?;
        Ok(StreamableHttpPostResponse::Json(parsed, session_id))
    }
}

const SESSION_ID: &str = "mcp-session-id";
const PROTOCOL_VERSION: &str = "mcp-protocol-version";

fn is_handshake(message: &ClientJsonRpcMessage) -> bool {
    let JsonRpcMessage::Request(request) = message else {
        return false;
    };
    matches!(request.request, ClientRequest::InitializeRequest(_))
}

/// A failed status whose body is an error of the protocol is that error, so that its code counts; unless it
/// is about the session, where the status is what tells.
fn as_answer(
    message: &ClientJsonRpcMessage,
    status: u16,
    body: String,
    session_id: bool,
) -> Result<StreamableHttpPostResponse, Error> {
    let error = serde_json::from_str::<Json>(&body)
        .ok()
        .and_then(|mut body| {
            serde_json::from_value::<ErrorData>(body.get_mut("error")?.take()).ok()
        });
    let (JsonRpcMessage::Request(request), Some(error)) = (message, error) else {
        return Err(match status {
            404 if session_id => StreamableHttpError::SessionExpired,
            _ => StreamableHttpError::Client(WireError::Status { status, body }),
        });
    };
    if status == 400 && session_id && names_bad_session(&error.message.to_lowercase()) {
        return Err(StreamableHttpError::Client(WireError::Status {
            status,
            body: error.message.into_owned(),
        }));
    }
    let answer = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
    Ok(StreamableHttpPostResponse::Json(answer, None))
}

impl StreamableHttpClient for Client {
    type Error = WireError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Error> {
        self.post(uri, message, session_id, custom_headers, MOST_BYTES)
            .await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
        max_sse_event_size: usize,
    ) -> Result<StreamableHttpPostResponse, Error> {
        self.post(uri, message, session_id, custom_headers, max_sse_event_size)
            .await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        _: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Error> {
        let request = self.request(Method::DELETE, self.landing.url(&uri));
        let request = self.protocol(request, Some(&session_id), custom_headers);
        match self.send(request, true).await {
            Ok(_) => Ok(()),
            Err(WireError::Status { status: 405, .. }) => {
                Err(StreamableHttpError::ServerDoesNotSupportDeleteSession)
            }
            Err(error) => Err(StreamableHttpError::Client(error)),
        }
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        _: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Error> {
        let (session_id, last) = (session_id.as_deref(), last_event_id.as_deref());
        let sent = self.listen(&uri, session_id, last, custom_headers).await;
        self.hearing.settle();
        match sent {
            Ok(answered) => {
                let stream = self.heard(answered).map_err(StreamableHttpError::Client)?;
                // When this breaks, so has whatever else is kept open to the server; the next call must
                // not find out by losing its request.
                let http = self.http.clone();
                let stream = stream.inspect(move |event| {
                    if event.is_err() {
                        http.forget_connections();
                    }
                });
                Ok(stream.boxed())
            }
            Err(WireError::Status { status: 405, .. }) => {
                Err(StreamableHttpError::ServerDoesNotSupportSse)
            }
            Err(error) => Err(StreamableHttpError::Client(error)),
        }
    }
}

const LAST_EVENT_ID: &str = "last-event-id";
