//! Reading an answer: bytes, frames, events, and how long silence may last.

use std::collections::VecDeque;

use bytes::Bytes;
use hermes_core::{ModelEvent, ModelRequest, Patience};
use hermes_http::{Body, HttpError};
use http::header;
use serde_json::Value as Json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::HttpModel;
use crate::error::{ModelError, VendorError};
use crate::wire::{self, Decoder, Framing, Rest, WireError};

/// More than any answer has; what is longer is not an answer.
const MOST_BYTES: usize = 64 * 1024 * 1024;

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
            let mut events = Vec::new();
            // What was read before a failure is delivered first: the engine can go on from it.
            match self.read(chunk, &mut events) {
                Ok(Progress::More) => {}
                Ok(Progress::Frames) => self.renew(),
                Ok(Progress::End) => self.ended = Some(Ok(())),
                Err(error) => self.ended = Some(Err(error)),
            }
            self.ready.extend(events);
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
                        Err(WireError::Malformed(_)) => {}
                        read => read?,
                    }
                }
                self.decoder.end(events)?;
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
}

enum Progress {
    /// Bytes that are no whole frame.
    More,
    Frames,
    End,
}

/// Some aggregators answer 200 with a failure inside.
fn error_in(document: &Json) -> Option<VendorError> {
    document.get("error").filter(|error| !error.is_null())?;
    VendorError::from_body(document)
}
