//! The event stream of one answer, opened again where it broke off.
//!
//! The library would do it too, but does not look at why it cannot be opened, and never ends: a call would wait for a
//! session that is long gone. It gets to see no ids of events here, so that it leaves it to us.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use http::{HeaderName, HeaderValue, header};
use rmcp::model::RequestId;
use rmcp::transport::common::http_header::EVENT_STREAM_MIME_TYPE;
use rmcp::transport::streamable_http_client::SseError;
use serde::Deserialize;
use serde::de::IgnoredAny;
use sse_stream::Sse;

use super::client::Client;
use crate::Failure;
use crate::failure::Edge;
use crate::transport::WireError;

/// How often in a row it may fail to be opened.
const MOST_FAILURES: u32 = 3;

pub(super) type Events = BoxStream<'static, Result<Sse, SseError>>;

/// What the stream answers, and how it is asked for.
pub(super) struct Question {
    pub(super) uri: Arc<str>,
    pub(super) session_id: Option<Arc<str>>,
    pub(super) headers: HashMap<HeaderName, HeaderValue>,
    pub(super) id: RequestId,
    /// Largest event.
    pub(super) limit: usize,
}

/// All of an answer that begins with these events.
pub(super) fn whole(client: Client, question: Question, events: Events) -> Events {
    let answer = Answer {
        client,
        question,
        events,
        last: None,
        retry: Duration::ZERO,
        heard: false,
        over: false,
    };
    let whole = stream::unfold(answer, |mut answer| async move {
        let event = answer.next().await?;
        Some((event, answer))
    });
    whole.boxed()
}

struct Answer {
    client: Client,
    question: Question,
    events: Events,
    /// The id of the last event, behind which the stream goes on.
    last: Option<String>,
    /// How long the server wants us to wait before we ask for the rest.
    retry: Duration,
    /// Whether anything came since the stream was opened.
    heard: bool,
    /// Whether nothing is to come.
    over: bool,
}

impl Answer {
    async fn next(&mut self) -> Option<Result<Sse, SseError>> {
        loop {
            match self.events.next().await {
                Some(Ok(mut event)) => {
                    self.note(&mut event);
                    return Some(Ok(event));
                }
                ended if self.over => return ended,
                ended => {
                    if ended.is_some() {
                        // What else is kept open has broken too.
                        self.client.http.forget_connections();
                    }
                    if !self.reopen().await {
                        self.over = true;
                        self.events = stream::empty().boxed();
                        return ended;
                    }
                }
            }
        }
    }

    fn note(&mut self, event: &mut Sse) {
        self.heard = true;
        if let Some(id) = event.id.take() {
            self.last = Some(id).filter(|id| !id.is_empty());
        }
        if let Some(retry) = event.retry.take() {
            self.retry = Duration::from_millis(retry);
        }
        self.over |= event.data.as_deref().is_some_and(is_answer);
    }

    /// Opens the stream again behind the last event. Says whether it is open.
    async fn reopen(&mut self) -> bool {
        let Some(last) = self.last.clone() else {
            return false;
        };
        // Asked at once, one that is closed without a word would be opened all the time.
        let mut pause = match std::mem::take(&mut self.heard) {
            true => Duration::ZERO,
            false => self.client.pause,
        };
        for failures in 0..MOST_FAILURES {
            tokio::time::sleep(pause.max(self.retry)).await;
            match self.client.rest(&self.question, &last).await {
                Ok(events) => {
                    self.events = events;
                    return true;
                }
                Err(error) => {
                    tracing::debug!(%error, "the rest of an answer could not be asked for");
                    if !Failure::from_wire(&error, self.edge()).may_pass() {
                        return false;
                    }
                }
            }
            pause = self.client.pause * 2_u32.pow(failures);
        }
        false
    }

    fn edge(&self) -> Edge {
        Edge {
            piped: false,
            session_id: self.question.session_id.is_some(),
            sent: true,
            known: true,
        }
    }
}

impl Client {
    /// What comes of an answer behind an event.
    async fn rest(&self, question: &Question, last: &str) -> Result<Events, WireError> {
        let Question {
            uri,
            session_id,
            headers,
            ..
        } = question;
        let answered = self
            .listen(uri, session_id.as_deref(), Some(last), headers.clone())
            .await?;
        let found = answered.0.headers().get(header::CONTENT_TYPE);
        let found = found.and_then(|value| value.to_str().ok());
        let found = found.map(str::to_ascii_lowercase);
        if !found
            .as_deref()
            .is_some_and(|kind| kind.starts_with(EVENT_STREAM_MIME_TYPE))
        {
            return Err(WireError::NotMcp { found });
        }
        self.answering(answered, question.id.clone(), question.limit)
    }
}

/// Whether a message is an answer, behind which nothing comes.
fn is_answer(message: &str) -> bool {
    #[derive(Deserialize)]
    struct Head {
        method: Option<IgnoredAny>,
        id: Option<IgnoredAny>,
    }
    serde_json::from_str::<Head>(message)
        .is_ok_and(|head| head.method.is_none() && head.id.is_some())
}
