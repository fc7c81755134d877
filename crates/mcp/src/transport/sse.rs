//! The older transport: answers come on one event stream, requests go to an address the stream names.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use hermes_secrets::Origin;
use http::header;
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use sse_stream::{Error, Sse};
use tokio_util::task::TaskTracker;
use url::Url;

use super::WireError;
use super::http::Client;
use super::reading::parse;

/// The name of the event that says where requests go.
const ENDPOINT: &str = "endpoint";
/// The status of an answer to a request in a session the server does not know.
const UNKNOWN_SESSION: u16 = 404;
/// How long requests under way may take to fail by themselves after the stream has ended.
const LAST_POSTS: Duration = Duration::from_secs(2);

/// A session over an event stream.
pub(super) struct EventTransport {
    client: Client,
    endpoint: Arc<str>,
    /// `None` once it is over.
    stream: Option<BoxStream<'static, Result<Sse, Error>>>,
    /// Requests under way.
    posts: TaskTracker,
}

impl EventTransport {
    /// Opens the stream and waits for the address of requests. Bounded by the caller.
    pub(super) async fn open(client: Client, url: Url) -> Result<Self, WireError> {
        let answered = client.send(client.listening(url.as_str()), false).await?;
        client.landing().settle(url.as_str(), answered.0.url());
        let url = answered.0.url().clone();
        let found = answered
            .0
            .headers()
            .get(header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned);
        if !found
            .as_deref()
            .is_some_and(|kind| kind.starts_with("text/event-stream"))
        {
            return Err(WireError::NotMcp { found });
        }
        let marks = client.marks();
        // The address of requests names the session.
        marks.got_session_id();
        let mut stream = client.heard(answered)?;
        while let Some(event) = stream.next().await {
            let event = event.map_err(|error| WireError::Malformed(error.to_string()))?;
            if event.event.as_deref() == Some(ENDPOINT) {
                let endpoint = within_origin(&url, event.data.as_deref().unwrap_or_default())?;
                return Ok(Self {
                    client,
                    endpoint: endpoint.as_str().into(),
                    stream: Some(stream),
                    posts: TaskTracker::new(),
                });
            }
        }
        Err(WireError::Closed)
    }
}

/// The address of requests; one at another origin would get our headers.
fn within_origin(url: &Url, endpoint: &str) -> Result<Url, WireError> {
    let wrong = |why: &str| WireError::Malformed(format!("the server names an endpoint {why}"));
    let target = url
        .join(endpoint.trim())
        .map_err(|_| wrong("that is no address"))?;
    match (Origin::of(url), Origin::of(&target)) {
        (Ok(ours), Ok(theirs)) if ours == theirs => Ok(target),
        _ => Err(wrong("at another origin")),
    }
}

impl Transport<RoleClient> for EventTransport {
    type Error = WireError;

    fn send(
        &mut self,
        item: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let client = self.client.clone();
        let endpoint = Arc::clone(&self.endpoint);
        let open = self.stream.is_some();
        self.posts.track_future(async move {
            if !open {
                return Err(WireError::Closed);
            }
            let answer = client.send(client.posting(&endpoint, &item), true).await;
            if let Err(WireError::Status {
                status: UNKNOWN_SESSION,
                ..
            }) = &answer
            {
                client.marks().turned_away(&item);
            }
            answer.map(|_| ())
        })
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let Some(stream) = &mut self.stream else {
                // What was refused is told as refused; only then is the session over for everybody.
                self.posts.close();
                let _ = tokio::time::timeout(LAST_POSTS, self.posts.wait()).await;
                return None;
            };
            let event = match stream.next().await {
                Some(Ok(event)) => event,
                Some(Err(error)) => {
                    tracing::debug!(%error, "an event stream broke");
                    self.stream = None;
                    continue;
                }
                None => {
                    self.stream = None;
                    continue;
                }
            };
            let is_message = event.event.as_deref().is_none_or(|name| name == "message");
            let data = event.data.unwrap_or_default();
            if !is_message || data.trim().is_empty() {
                continue;
            }
            match parse(data.as_bytes()) {
                Ok(message) => return Some(message),
                Err(error) => tracing::debug!(%error, "an event is not a message of the protocol"),
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.stream = None;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_stay_at_the_origin_of_the_stream() {
        let url = Url::parse("https://one.example.test/sse").unwrap();
        let target = within_origin(&url, "/messages?session_id=1").unwrap();
        assert_eq!(
            target.as_str(),
            "https://one.example.test/messages?session_id=1"
        );
        for other in ["https://two.example.test/m", "http://one.example.test/m"] {
            assert!(within_origin(&url, other).is_err(), "{other}");
        }
    }
}
