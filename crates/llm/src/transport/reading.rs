//! Reading an answer: bytes, frames, events, and how long silence may last.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::Poll;

use bytes::Bytes;
use futures_util::FutureExt as _;
use hermes_core::{ModelEvent, ModelRequest, Patience};
use hermes_http::{Body, HttpError};
use http::header;
use serde_json::Value as Json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::HttpModel;
use crate::error::{ModelError, VendorError};
use crate::wire::chat::decode::says_something;
use crate::wire::{self, Decoder, Framing, Rest, WireError};

/// More than any answer has; what is longer is not an answer.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// How many pieces are taken before the words in them are told.
const MOST_AT_ONCE: usize = 64;

/// One answer on its way.
pub(super) enum Reading<'a> {
    Opening {
        model: &'a HttpModel,
        request: Box<ModelRequest>,
        patience: Patience,
        cancel: CancellationToken,
    },
    Open(Box<Answering<'a>>),
    Over,
}

pub(super) struct Answering<'a> {
    model: &'a HttpModel,
    body: Body,
    framing: Framing,
    decoder: Box<dyn Decoder>,
    ready: VecDeque<ModelEvent>,
    patience: Patience,
    silence: Silence,
    /// How it ended, told once everything that was read is delivered.
    ended: Option<Result<(), ModelError>>,
}

/// What silence is measured from. Keep-alive comments are bytes but no answer, so they do not end it.
#[derive(Clone, Copy)]
enum Silence {
    /// The call began at this time, and nothing of an answer has come.
    First(Instant),
    /// Something of the answer came, or was asked for, at this time.
    Since(Instant),
}

impl<'a> Reading<'a> {
    pub(super) async fn next(self) -> Option<(Result<ModelEvent, ModelError>, Reading<'a>)> {
        let mut answering = match self {
            Self::Over => return None,
            Self::Open(answering) => answering,
            Self::Opening {
                model,
                request,
                patience,
                cancel,
            } => match Answering::open(model, &request, patience, cancel).await {
                Ok(answering) => Box::new(answering),
                Err(error) => return Some((Err(error), Self::Over)),
            },
        };
        match answering.event().await {
            Ok(Some(event)) => Some((Ok(event), Self::Open(answering))),
            Ok(None) => None,
            Err(error) => Some((Err(error), Self::Over)),
        }
    }
}

impl<'a> Answering<'a> {
    async fn open(
        model: &'a HttpModel,
        request: &ModelRequest,
        patience: Patience,
        cancel: CancellationToken,
    ) -> Result<Self, ModelError> {
        let started = Instant::now();
        let response = model.open(request, patience, cancel).await?;
        let kind = response
            .headers()
            .get(header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
            .to_owned();
        let protocol = model.address.protocol;
        Ok(Self {
            model,
            framing: Framing::of(&kind),
            decoder: wire::decoder(protocol, &model.route.provider, &request.model),
            body: response
                .stream(MOST_BYTES)
                .map_err(|error| model.failed(error))?,
            ready: VecDeque::new(),
            patience,
            silence: Silence::First(started),
            ended: None,
        })
    }

    async fn event(&mut self) -> Result<Option<ModelEvent>, ModelError> {
        // The time that the reader of the last event took is not the provider's.
        self.renew();
        loop {
            if let Some(event) = self.ready.pop_front() {
                self.silence = Silence::Since(Instant::now());
                return Ok(Some(event));
            }
            if let Some(end) = self.ended.take() {
                self.ended = Some(Ok(()));
                return end.map(|()| None);
            }
            let (since, limit) = match self.silence {
                Silence::First(began) => (began, self.patience.first_event),
                Silence::Since(came) => (came, self.patience.idle),
            };
            let Ok(chunk) = tokio::time::timeout_at(since + limit, self.body.chunk()).await else {
                return Err(ModelError::Stalled(limit));
            };
            self.take(chunk);
            self.gather().await;
        }
    }

    /// Takes what has come by now as well. Words that came together are told together: everybody who hears of them has
    /// less to do.
    async fn gather(&mut self) {
        for _ in 0..MOST_AT_ONCE {
            if self.ready.is_empty() || self.ended.is_some() {
                return;
            }
            // Who reads from the connection hands over one piece at a time.
            step_aside().await;
            let Some(chunk) = self.body.chunk().now_or_never() else {
                return;
            };
            self.take(chunk);
        }
    }

    fn take(&mut self, chunk: Result<Option<Bytes>, HttpError>) {
        let mut events = Vec::new();
        // What was read before a failure is delivered first: the engine can go on from it.
        match self.read(chunk, &mut events) {
            Ok(Progress::More) => {}
            Ok(Progress::Frames) => self.renew(),
            Ok(Progress::End) => self.ended = Some(Ok(())),
            Err(error) => self.ended = Some(Err(error)),
        }
        events.into_iter().for_each(|event| self.queue(event));
    }

    fn queue(&mut self, event: ModelEvent) {
        match (self.ready.back_mut(), event) {
            (Some(ModelEvent::Text(said)), ModelEvent::Text(more))
            | (Some(ModelEvent::Reasoning(said)), ModelEvent::Reasoning(more)) => {
                said.push_str(&more);
            }
            (_, event) => self.ready.push_back(event),
        }
    }

    fn renew(&mut self) {
        if let Silence::Since(came) = &mut self.silence {
            *came = Instant::now();
        }
    }

    fn read(
        &mut self,
        chunk: Result<Option<Bytes>, HttpError>,
        events: &mut Vec<ModelEvent>,
    ) -> Result<Progress, ModelError> {
        match chunk {
            Ok(Some(bytes)) => {
                let frames = self.framing.push(&bytes)?;
                for frame in &frames {
                    self.decoder.frame(frame, events)?;
                }
                if frames.is_empty() {
                    Ok(Progress::More)
                } else {
                    Ok(Progress::Frames)
                }
            }
            Ok(None) => self.finish(events),
            // A stream that breaks is read like one that ends early: the decoder knows what is missing.
            Err(broken @ HttpError::Interrupted { .. }) if self.framing.is_stream() => {
                match self.finish(events) {
                    // Nothing had come: that it broke says more than that it was empty.
                    Err(ModelError::Wire(WireError::Empty)) => Err(self.model.failed(broken)),
                    finished => finished,
                }
            }
            Err(error) => Err(self.model.failed(error)),
        }
    }

    fn finish(&mut self, events: &mut Vec<ModelEvent>) -> Result<Progress, ModelError> {
        match self.framing.finish()? {
            Rest::Frames(frames) => {
                if let Some((last, whole)) = frames.split_last() {
                    for frame in whole {
                        self.decoder.frame(frame, events)?;
                    }
                    match self.decoder.frame(last, events) {
                        // Half a frame is what a cut leaves behind; the decoder knows what is missing.
                        Err(WireError::Malformed(_)) if begins_like_json(&last.data) => {}
                        read => read?,
                    }
                }
                self.decoder.end(events).map_err(|error| match error {
                    WireError::Empty => self.nothing(),
                    other => other,
                })?;
            }
            Rest::Document(document) => {
                if let Some(error) = error_in(&document) {
                    return Err(error.into());
                }
                self.decoder.document(&document, events)?;
            }
        }
        Ok(Progress::End)
    }

    /// Why there is no answer: nothing came, or something that is none.
    fn nothing(&self) -> WireError {
        match self.framing.stray() {
            Some(came) => WireError::Malformed(format!("not what was expected: {}", came.trim())),
            None => WireError::Empty,
        }
    }
}

/// Lets those run who are ready. Unlike the runtime's own way, nobody looks for new events first.
async fn step_aside() {
    let mut waited = false;
    poll_fn(|context| {
        if std::mem::replace(&mut waited, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

enum Progress {
    /// Bytes that are no whole frame.
    More,
    Frames,
    End,
}

fn begins_like_json(data: &str) -> bool {
    data.trim_start().starts_with(['{', '['])
}

/// Some aggregators answer 200 with a failure inside.
fn error_in(document: &Json) -> Option<VendorError> {
    document
        .get("error")
        .filter(|error| says_something(error))?;
    VendorError::from_body(document)
}
