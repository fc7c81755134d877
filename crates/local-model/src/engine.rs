//! The engine: one loaded model on a thread of its own.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use hermes_core::{Random, Role, SystemRandom, Usage};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::LocalError;
use crate::gguf::Gguf;
use crate::shape::Shape;
use crate::worker::{Job, Stop, Worker};

/// Answers that may wait for the one under way.
const WAITING: usize = 16;

/// Pieces of text the engine may be ahead of its reader.
const AHEAD: usize = 64;

/// How a model is loaded.
#[derive(Clone)]
pub struct LoadOptions {
    /// How much of the machine an answer may take.
    pub threads: Threads,
    /// The longest conversation in tokens; the model's own window when that is shorter. Memory grows
    /// with what is used of it.
    pub window: usize,
    /// Where the randomness of answers comes from.
    pub random: Arc<dyn Random>,
}

impl fmt::Debug for LoadOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("LoadOptions")
            .field("threads", &self.threads)
            .field("window", &self.window)
            .finish_non_exhaustive()
    }
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            threads: Threads::One,
            window: 8192,
            random: Arc::new(SystemRandom),
        }
    }
}

/// How many processor cores an answer uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Threads {
    /// One: steady, whatever else the machine does.
    #[default]
    One,
    /// One per physical core: faster on an idle machine, many times slower on a busy one.
    EveryCore,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatMessage {
    /// Who speaks.
    pub role: Role,
    /// What is said. Control tokens of the model in it are made harmless.
    pub content: String,
}

impl ChatMessage {
    /// A message.
    pub fn new(role: Role, content: impl Into<String>) -> Self {
        Self {
            role,
            content: content.into(),
        }
    }
}

/// What the model is asked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ChatRequest {
    /// The conversation, the last question at its end.
    pub messages: Vec<ChatMessage>,
    /// Function descriptions, for models whose template knows tools.
    pub tools: Vec<Value>,
    /// Most tokens of the answer; without it the window is the limit.
    pub max_tokens: Option<usize>,
    /// How the answer is chosen.
    pub sampling: Sampling,
}

/// How tokens are chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampling {
    /// 0 takes the likeliest token each time; higher is more varied.
    pub temperature: f32,
    /// Only the likeliest tokens that together have this share are considered.
    pub top_p: f32,
    /// Above 1, tokens said lately become less likely.
    pub repeat_penalty: f32,
}

impl Default for Sampling {
    fn default() -> Self {
        Self {
            temperature: 0.2,
            top_p: 0.9,
            repeat_penalty: 1.1,
        }
    }
}

/// What a loaded model says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelInfo {
    /// Its file.
    pub path: PathBuf,
    /// Its name, or the file's name when it has none.
    pub name: String,
    /// Its family.
    pub architecture: &'static str,
    /// The longest conversation in tokens.
    pub window: usize,
}

/// One piece of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerEvent {
    /// More text, never a part of a character.
    Text(String),
    /// The answer is complete. Always the last event of an answer that did not fail.
    Finished(Finish),
}

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finish {
    /// Why.
    pub reason: Reason,
    /// Tokens read anew, read from memory, and said.
    pub usage: Usage,
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The model was done.
    Stop,
    /// It reached the limit of the request or the end of its window.
    Length,
    /// The caller stopped it.
    Cancelled,
}

/// An answer under way. Dropping it stops the model.
#[derive(Debug)]
pub struct Answer(mpsc::Receiver<Result<AnswerEvent, LocalError>>);

impl Answer {
    /// The next piece; `None` after the last one.
    pub async fn next(&mut self) -> Option<Result<AnswerEvent, LocalError>> {
        self.0.recv().await
    }

    /// The next piece, for callers outside an async runtime.
    pub fn next_blocking(&mut self) -> Option<Result<AnswerEvent, LocalError>> {
        self.0.blocking_recv()
    }
}

/// A loaded model. Answers are made one after the other, in the order they were asked for.
///
/// Dropping the engine stops the answer under way and waits for its thread.
#[derive(Debug)]
pub struct Engine {
    info: ModelInfo,
    jobs: Option<SyncSender<Job>>,
    closing: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl Engine {
    /// Loads a model file and starts its thread. Blocks while it reads the file.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, is no sound GGUF, or needs what the engine does not have.
    pub fn load(path: &Path, options: LoadOptions) -> Result<Self, LocalError> {
        let mut file = Gguf::open(path)?;
        let stem = || path.file_stem().unwrap_or_default().to_string_lossy();
        let name = file
            .text("general.name")
            .map_or_else(|| stem().into_owned(), str::to_owned);
        let worker = Worker::load(&mut file, &options)?;
        let info = ModelInfo {
            path: path.to_owned(),
            name,
            architecture: worker.architecture(),
            window: worker.window(),
        };
        let (jobs, queue) = sync_channel(WAITING);
        let thread = std::thread::Builder::new()
            .name("local-model".to_owned())
            .spawn(move || worker.run(&queue))
            .map_err(|error| LocalError::file(path, error))?;
        Ok(Self {
            info,
            jobs: Some(jobs),
            closing: CancellationToken::new(),
            thread: Some(thread),
        })
    }

    /// The longest conversation in tokens that a file allows with these options, without loading it.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, is no sound GGUF, or needs what the engine does not have.
    pub fn window_of(path: &Path, options: &LoadOptions) -> Result<usize, LocalError> {
        let shape = Shape::read(&Gguf::open(path)?)?;
        Ok(shape.window.min(options.window))
    }

    /// What the model says about itself.
    pub fn info(&self) -> &ModelInfo {
        &self.info
    }

    /// Asks for an answer. Never blocks.
    ///
    /// # Errors
    ///
    /// [`LocalError::Busy`] when too many are waiting.
    pub fn start(
        &self,
        request: ChatRequest,
        cancel: CancellationToken,
    ) -> Result<Answer, LocalError> {
        let (events, answer) = mpsc::channel(AHEAD);
        let job = Job {
            request,
            stop: Stop::new(cancel, self.closing.clone(), events),
        };
        let jobs = self.jobs.as_ref().ok_or(LocalError::Stopped)?;
        jobs.try_send(job).map_err(|error| match error {
            TrySendError::Full(_) => LocalError::Busy(WAITING),
            TrySendError::Disconnected(_) => LocalError::Stopped,
        })?;
        Ok(Answer(answer))
    }

    /// Makes an answer and hands its text over as it comes. Blocks; not for async code.
    ///
    /// # Errors
    ///
    /// When the conversation does not fit the window or its template, or the engine fails.
    pub fn generate(
        &self,
        request: ChatRequest,
        cancel: CancellationToken,
        mut on_text: impl FnMut(&str),
    ) -> Result<Finish, LocalError> {
        let mut answer = self.start(request, cancel)?;
        while let Some(event) = answer.next_blocking() {
            match event? {
                AnswerEvent::Text(text) => on_text(&text),
                AnswerEvent::Finished(finish) => return Ok(finish),
            }
        }
        Err(LocalError::Stopped)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.closing.cancel();
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // A panic there was reported when it happened.
            let _: Result<(), _> = thread.join();
        }
    }
}
