//! gRPC over the program's one HTTP client: requests and answers are length-prefixed messages, how a call went is
//! said after the answer.

use std::marker::PhantomData;
use std::time::Duration;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use hermes_http::{AuthScheme, BaseUrl, Body, HttpClient, HttpError, Timeouts};
use hermes_secrets::Secret;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use prost::Message;

/// No message is larger.
const MAX_MESSAGE: usize = 8 << 20;
const PREFIX: usize = 5;
pub(super) const CONTENT_TYPE: &str = "application/grpc";

/// How a call failed, by the numbers of gRPC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Code {
    Cancelled,
    Unknown,
    InvalidArgument,
    DeadlineExceeded,
    NotFound,
    PermissionDenied,
    ResourceExhausted,
    FailedPrecondition,
    Aborted,
    Internal,
    Unavailable,
    Unauthenticated,
    Other(u32),
}

impl Code {
    fn of(number: u32) -> Self {
        match number {
            1 => Self::Cancelled,
            2 => Self::Unknown,
            3 => Self::InvalidArgument,
            4 => Self::DeadlineExceeded,
            5 => Self::NotFound,
            7 => Self::PermissionDenied,
            8 => Self::ResourceExhausted,
            9 => Self::FailedPrecondition,
            10 => Self::Aborted,
            13 => Self::Internal,
            14 => Self::Unavailable,
            16 => Self::Unauthenticated,
            other => Self::Other(other),
        }
    }
}

/// Why a call gave no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("{message} ({code:?})")]
    Status { code: Code, message: String },
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error("the answer is not understood")]
    Garbled,
}

impl Failure {
    pub(super) fn code(&self) -> Option<Code> {
        match self {
            Self::Status { code, .. } => Some(*code),
            Self::Http(_) | Self::Garbled => None,
        }
    }

    /// Whether the same call may succeed a little later.
    pub(super) fn is_transient(&self) -> bool {
        match self {
            Self::Status { code, .. } => matches!(
                code,
                Code::Cancelled
                    | Code::Unknown
                    | Code::DeadlineExceeded
                    | Code::ResourceExhausted
                    | Code::Aborted
                    | Code::Internal
                    | Code::Unavailable
            ),
            Self::Http(error) => error.is_transient(),
            Self::Garbled => false,
        }
    }

    /// Whether it only took too long, as a call that waits for something may.
    pub(super) fn is_patience(&self) -> bool {
        match self {
            Self::Status { code, .. } => *code == Code::DeadlineExceeded,
            Self::Http(error) => matches!(error, HttpError::Timeout { .. }),
            Self::Garbled => false,
        }
    }
}

/// One service of one server.
#[derive(Clone)]
pub(super) struct Service {
    pub(super) http: HttpClient,
    pub(super) base: BaseUrl,
    pub(super) name: &'static str,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) secrets: Vec<(Secret, AuthScheme)>,
}

impl Service {
    /// The path of a method.
    pub(super) fn path(&self, method: &str) -> String {
        format!("{}/{method}", self.name)
    }

    /// Calls a method with one answer.
    pub(super) async fn unary<A: Message + Default>(
        &self,
        method: &str,
        request: &impl Message,
        limit: Duration,
        extra: &[(HeaderName, HeaderValue)],
    ) -> Result<A, Failure> {
        let timeouts = Timeouts {
            first_byte: limit,
            idle: limit,
            total: limit,
            ..Timeouts::default()
        };
        let mut answers = self.call(method, request, timeouts, extra).await?;
        let answer = answers.next().await?.ok_or(Failure::Garbled)?;
        match answers.next().await? {
            None => Ok(answer),
            Some(_) => Err(Failure::Garbled),
        }
    }

    /// Calls a method with many answers; the longest silence is part of the bargain.
    pub(super) async fn stream<A: Message + Default>(
        &self,
        method: &str,
        request: &impl Message,
        silence: Duration,
    ) -> Result<Answers<A>, Failure> {
        let timeouts = Timeouts {
            first_byte: silence,
            idle: silence,
            total: Duration::MAX,
            ..Timeouts::default()
        };
        self.call(method, request, timeouts, &[]).await
    }

    async fn call<A: Message + Default>(
        &self,
        method: &str,
        request: &impl Message,
        timeouts: Timeouts,
        extra: &[(HeaderName, HeaderValue)],
    ) -> Result<Answers<A>, Failure> {
        let mut call = self
            .http
            .post(self.base.join(&self.path(method)))
            .http2()
            .header(header::CONTENT_TYPE, CONTENT_TYPE)
            .header(header::TE, "trailers")
            .timeouts(timeouts)
            .body(framed(request));
        for (name, value) in self.headers.iter().chain(extra) {
            call = call.header(name.clone(), value.clone());
        }
        for (secret, scheme) in &self.secrets {
            call = call.auth(secret, scheme.clone());
        }
        let response = call.send().await?.require_success().await?;
        // A call that failed at once has no body; how it went stands in the head.
        if let Some(failure) = status(response.headers()) {
            failure?;
        }
        Ok(Answers {
            body: response.stream(usize::MAX)?,
            read: BytesMut::new(),
            kind: PhantomData,
        })
    }
}

/// A message as it is sent.
pub(super) fn framed(message: &impl Message) -> Bytes {
    let mut bytes = BytesMut::with_capacity(PREFIX + message.encoded_len());
    bytes.put_u8(0);
    bytes.put_u32(u32::try_from(message.encoded_len()).unwrap_or(u32::MAX));
    // The buffer grows, so there is always room.
    let _ = message.encode(&mut bytes);
    bytes.freeze()
}

/// The answers of a call.
pub(super) struct Answers<A> {
    body: Body,
    read: BytesMut,
    kind: PhantomData<A>,
}

impl<A: Message + Default> Answers<A> {
    /// The next one; `None` at the end of a call that went well.
    pub(super) async fn next(&mut self) -> Result<Option<A>, Failure> {
        loop {
            if let Some(message) = self.whole()? {
                return A::decode(message).map(Some).map_err(|_| Failure::Garbled);
            }
            match self.body.chunk().await? {
                Some(chunk) => self.read.extend_from_slice(&chunk),
                None if self.read.is_empty() => {
                    let trailers = self.body.trailers().and_then(status);
                    return match trailers {
                        Some(went) => went.map(|()| None),
                        // The stream ended without a word about how it went.
                        None => Err(Failure::Status {
                            code: Code::Unavailable,
                            message: "the answer broke off".to_owned(),
                        }),
                    };
                }
                None => return Err(Failure::Garbled),
            }
        }
    }

    fn whole(&mut self) -> Result<Option<Bytes>, Failure> {
        let Some(mut prefix) = self.read.get(..PREFIX) else {
            return Ok(None);
        };
        let compressed = prefix.get_u8();
        let length = prefix.get_u32() as usize;
        if compressed != 0 || length > MAX_MESSAGE {
            return Err(Failure::Garbled);
        }
        if self.read.len() < PREFIX + length {
            return Ok(None);
        }
        self.read.advance(PREFIX);
        Ok(Some(self.read.split_to(length).freeze()))
    }
}

/// How the call went, if these headers say.
fn status(headers: &HeaderMap) -> Option<Result<(), Failure>> {
    let number = headers.get("grpc-status")?.to_str().ok()?.parse().ok()?;
    if number == 0 {
        return Some(Ok(()));
    }
    let message = headers
        .get("grpc-message")
        .map(|message| decoded(message.as_bytes()))
        .unwrap_or_default();
    Some(Err(Failure::Status {
        code: Code::of(number),
        message,
    }))
}

/// Undoes the percent signs for what a header cannot hold.
fn decoded(text: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let pair = after
            .get(..2)
            .and_then(|pair| std::str::from_utf8(pair).ok());
        match pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            Some(_) | None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_a_call_went_is_read_from_its_headers() {
        let mut headers = HeaderMap::new();
        assert!(status(&headers).is_none());
        headers.insert("grpc-status", HeaderValue::from_static("0"));
        assert!(matches!(status(&headers), Some(Ok(()))));
        headers.insert("grpc-status", HeaderValue::from_static("16"));
        headers.insert("grpc-message", HeaderValue::from_static("no%20way %41%zz%"));
        let Some(Err(failure)) = status(&headers) else {
            panic!()
        };
        assert_eq!(failure.code(), Some(Code::Unauthenticated));
        assert_eq!(failure.to_string(), "no way A%zz% (Unauthenticated)");
    }
}
