//! The model inside this process, behind the same seam as all others.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_core::stream::BoxStream;
use futures_util::{StreamExt, stream};
use hermes_core::{FinishReason, Message, ModelEvent, ModelRequest, Role};
use hermes_local_model::{
    Answer, AnswerEvent, ChatMessage, ChatRequest, Engine, LoadOptions, LocalError, Reason,
    Sampling,
};
use tokio::sync::{Mutex, oneshot};
use tokio_util::sync::CancellationToken;

use crate::classify::Reason as FailureReason;
use crate::error::{ModelError, VendorError};

/// The loaded model. One at a time: a model takes more memory than everything else together.
#[derive(Clone, Default)]
pub struct LocalModels(Arc<Mutex<Option<Loaded>>>);

type Loaded = (PathBuf, Arc<Engine>);

impl LocalModels {
    /// Answers from a model file, loading it first when needed.
    pub(crate) fn stream(
        &self,
        file: PathBuf,
        request: ModelRequest,
        cancel: CancellationToken,
    ) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let models = self.clone();
        let opening = async move {
            // A large file takes long to read, and so does waiting for somebody else's.
            let engine = tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(ModelError::Cancelled),
                engine = models.engine(&file) => engine?,
            };
            engine.start(asked(&request), cancel).map_err(failed)
        };
        stream::once(opening)
            .flat_map(|opened| match opened {
                Ok(answer) => stream::unfold(Some(answer), next)
                    .flat_map(stream::iter)
                    .boxed(),
                Err(error) => stream::once(async { Err(error) }).boxed(),
            })
            .boxed()
    }

    async fn engine(&self, file: &Path) -> Result<Arc<Engine>, ModelError> {
        let mut slot = self.0.clone().lock_owned().await;
        if let Some((path, engine)) = &*slot
            && path == file
        {
            return Ok(engine.clone());
        }
        *slot = None;
        let path = file.to_owned();
        let (told, loaded) = oneshot::channel();
        // A thread of its own that keeps the slot until it is done: whoever stops waiting leaves the model to
        // the next question, and a program that ends does not wait for a file nobody wants any more.
        let load = move || {
            let engine = Engine::load(&path, LoadOptions::default()).map(Arc::new);
            if let Ok(engine) = &engine {
                *slot = Some((path, engine.clone()));
            }
            drop(slot);
            // Nobody may be waiting any more.
            let _ = told.send(engine);
        };
        let thread = std::thread::Builder::new().name("model-loading".to_owned());
        thread
            .spawn(load)
            .map_err(|_| failed(LocalError::Stopped))?;
        let engine = loaded.await;
        engine
            .map_err(|_| failed(LocalError::Stopped))?
            .map_err(failed)
    }
}

/// How large the window of a model file is, as far as it can be read.
pub(crate) fn window_of(file: &Path) -> Option<u32> {
    let window = Engine::window_of(file, &LoadOptions::default()).ok()?;
    u32::try_from(window).ok()
}

type Piece = Vec<Result<ModelEvent, ModelError>>;

async fn next(answer: Option<Answer>) -> Option<(Piece, Option<Answer>)> {
    let mut answer = answer?;
    match answer.next().await? {
        Ok(AnswerEvent::Text(text)) => Some((vec![Ok(ModelEvent::Text(text))], Some(answer))),
        Ok(AnswerEvent::Finished(finish)) => {
            let usage = ModelEvent::Usage {
                usage: finish.usage,
                cost_usd: None,
            };
            let reason = match finish.reason {
                Reason::Stop => FinishReason::Stop,
                Reason::Length => FinishReason::Length,
                Reason::Cancelled => return Some((vec![Err(ModelError::Cancelled)], None)),
            };
            let finished = ModelEvent::Finished { reason, raw: None };
            Some((vec![Ok(usage), Ok(finished)], None))
        }
        Err(error) => Some((vec![Err(failed(error))], None)),
    }
}

fn asked(request: &ModelRequest) -> ChatRequest {
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    if !request.system.trim().is_empty() {
        messages.push(ChatMessage::new(Role::System, &*request.system));
    }
    messages.extend(request.messages.iter().filter_map(|message| said(message)));
    let sampling = Sampling::default();
    ChatRequest {
        messages,
        tools: Vec::new(),
        max_tokens: request.settings.max_output_tokens.map(|most| most as usize),
        sampling: Sampling {
            temperature: request
                .settings
                .temperature
                .map_or(sampling.temperature, |set| set as f32),
            ..sampling
        },
    }
}

/// What tools answered in a conversation with another model becomes part of what the user said.
fn said(message: &Message) -> Option<ChatMessage> {
    let role = match message.role {
        Role::Tool => Role::User,
        other => other,
    };
    let text = message.plain_text();
    (!text.trim().is_empty()).then(|| ChatMessage::new(role, text))
}

fn failed(error: LocalError) -> ModelError {
    match error {
        LocalError::Cancelled => ModelError::Cancelled,
        LocalError::TooLong { .. } => VendorError {
            code: Some("context_length_exceeded".to_owned()),
            message: error.to_string(),
            ..VendorError::default()
        }
        .into(),
        LocalError::Busy(_) => ModelError::Unasked {
            reason: FailureReason::Overloaded,
            message: error.to_string(),
            retry_after: None,
        },
        other => ModelError::Embedded(other.to_string()),
    }
}
