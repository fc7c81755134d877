//! Messages in both directions over what began as a request.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use http::{HeaderValue, StatusCode, header};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{self, Message};

use crate::wait::Wait;
use crate::{DisplayUrl, HttpError, RequestBuilder, Stage};

/// No message is larger; a server that sends more is not understood.
const MAX_MESSAGE: usize = 4 << 20;
const BUFFER: usize = 32 << 10;
/// After so long without a word the other side is asked for one.
const PING: Duration = Duration::from_secs(20);
/// So many questions without an answer mean that nobody is there.
const MAX_UNANSWERED: u8 = 3;
/// How long the other side may take to accept a message, or to say goodbye.
const SEND: Duration = Duration::from_secs(30);
const GOODBYE: Duration = Duration::from_secs(2);

/// An open WebSocket. Dropping it closes the connection without a word.
pub struct WebSocket {
    stream: WebSocketStream<reqwest::Upgraded>,
    shown: DisplayUrl,
    wait: Wait,
    unanswered: u8,
}

/// What travels on a WebSocket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebSocketMessage {
    /// Text.
    Text(String),
    /// Bytes.
    Binary(Bytes),
    /// The other side is done; the last message.
    Closed {
        /// Why, as a number; 1005 when it did not say.
        code: u16,
        /// Why, in words.
        reason: String,
    },
}

pub(crate) async fn open(request: RequestBuilder) -> Result<WebSocket, HttpError> {
    let key = generate_key();
    let upgrade = HeaderValue::from_static("Upgrade");
    let answer = request
        .header(header::CONNECTION, upgrade)
        .header(header::UPGRADE, HeaderValue::from_static("websocket"))
        .header(
            header::SEC_WEBSOCKET_VERSION,
            HeaderValue::from_static("13"),
        )
        .header(header::SEC_WEBSOCKET_KEY, key.as_str())
        .send()
        .await?;
    if answer.status() != StatusCode::SWITCHING_PROTOCOLS {
        answer.require_success().await?;
        return Err(HttpError::invalid(
            "the answer to a request for a websocket",
        ));
    }
    let expected = derive_accept_key(key.as_bytes());
    let accepted = answer.headers().get(header::SEC_WEBSOCKET_ACCEPT);
    if accepted.is_none_or(|accepted| accepted.as_bytes() != expected.as_bytes()) {
        return Err(HttpError::invalid(
            "the answer to a request for a websocket",
        ));
    }
    let (upgraded, shown, wait) = answer.upgraded().await?;
    let limits = WebSocketConfig::default()
        .read_buffer_size(BUFFER)
        .write_buffer_size(0)
        .max_message_size(Some(MAX_MESSAGE))
        .max_frame_size(Some(MAX_MESSAGE));
    let stream = WebSocketStream::from_raw_socket(upgraded, Role::Client, Some(limits)).await;
    Ok(WebSocket {
        stream,
        shown,
        wait,
        unanswered: 0,
    })
}

impl WebSocket {
    /// Waits for the next message, asking a silent server now and then whether it is still there. May be
    /// dropped and called again.
    pub async fn next(&mut self) -> Result<WebSocketMessage, HttpError> {
        loop {
            let read = tokio::select! {
                biased;
                () = self.wait.cancelled() => return Err(HttpError::Cancelled),
                read = timeout(PING, self.stream.next()) => read,
            };
            let Ok(read) = read else {
                if self.unanswered == MAX_UNANSWERED {
                    return Err(HttpError::Timeout {
                        url: self.shown.clone(),
                        stage: Stage::Idle,
                        after: PING * u32::from(MAX_UNANSWERED),
                    });
                }
                self.unanswered += 1;
                self.write(Message::Ping(Bytes::new())).await?;
                continue;
            };
            self.unanswered = 0;
            match read {
                Some(Ok(Message::Text(text))) => {
                    return Ok(WebSocketMessage::Text(text.as_str().to_owned()));
                }
                Some(Ok(Message::Binary(bytes))) => return Ok(WebSocketMessage::Binary(bytes)),
                // Pings are answered by the library, with the next thing that is written or read.
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
                Some(Ok(Message::Close(frame))) => {
                    let (code, reason) = frame.map_or((1005, String::new()), |frame| {
                        (u16::from(frame.code), frame.reason.as_str().to_owned())
                    });
                    return Ok(WebSocketMessage::Closed { code, reason });
                }
                Some(Err(error)) => return Err(self.broken(error)),
                None => return Err(self.broken(tungstenite::Error::ConnectionClosed)),
            }
        }
    }

    /// Sends a message and waits until it is on its way.
    pub async fn send(&mut self, message: WebSocketMessage) -> Result<(), HttpError> {
        let message = match message {
            WebSocketMessage::Text(text) => Message::text(text),
            WebSocketMessage::Binary(bytes) => Message::Binary(bytes),
            WebSocketMessage::Closed { .. } => Message::Close(None),
        };
        self.write(message).await
    }

    /// Says goodbye and closes the connection.
    pub async fn close(mut self) {
        // Nobody may be listening any more.
        let _ = timeout(GOODBYE, self.stream.close(None)).await;
    }

    async fn write(&mut self, message: Message) -> Result<(), HttpError> {
        match timeout(SEND, self.stream.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(self.broken(error)),
            Err(_) => Err(HttpError::Timeout {
                url: self.shown.clone(),
                stage: Stage::Idle,
                after: SEND,
            }),
        }
    }

    fn broken(&self, error: tungstenite::Error) -> HttpError {
        HttpError::Interrupted {
            url: self.shown.clone(),
            source: Box::new(error),
        }
    }
}
