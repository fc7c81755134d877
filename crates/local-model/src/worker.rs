//! The thread that makes answers.

use std::sync::Arc;
use std::sync::mpsc::Receiver;

use hermes_core::{Random, Usage};
use tokio::sync::mpsc::Sender;
use tokio_util::sync::CancellationToken;

use crate::engine::{AnswerEvent, ChatRequest, Finish, LoadOptions, Reason, Threads};
use crate::error::LocalError;
use crate::fit;
use crate::gguf::Gguf;
use crate::model::Model;
use crate::one_thread::on_one_thread;
use crate::sample::choose;
use crate::template::Template;
use crate::text::TextStream;
use crate::vocabulary::Vocabulary;

/// Tokens of the prompt read in one pass.
const CHUNK: usize = 128;

/// Part of the window kept free for the answer when a conversation is cut.
const ANSWER_SHARE: usize = 4;

/// One answer to make.
pub(crate) struct Job {
    pub(crate) request: ChatRequest,
    pub(crate) stop: Stop,
}

/// The other end of an answer: who may stop it, and where it goes.
pub(crate) struct Stop {
    caller: CancellationToken,
    engine: CancellationToken,
    events: Sender<Result<AnswerEvent, LocalError>>,
}

impl Stop {
    pub(crate) fn new(
        caller: CancellationToken,
        engine: CancellationToken,
        events: Sender<Result<AnswerEvent, LocalError>>,
    ) -> Self {
        Self {
            caller,
            engine,
            events,
        }
    }

    /// Whether nobody wants the answer any more.
    pub(crate) fn requested(&self) -> bool {
        self.caller.is_cancelled() || self.engine.is_cancelled() || self.events.is_closed()
    }

    /// Hands an event over. A reader that is gone is noticed by `requested`.
    fn send(&self, event: Result<AnswerEvent, LocalError>) {
        let _: Result<(), _> = self.events.blocking_send(event);
    }
}

/// A model with everything needed to talk to it.
pub(crate) struct Worker {
    model: Model,
    vocabulary: Vocabulary,
    template: Template,
    window: usize,
    threads: Threads,
    random: Arc<dyn Random>,
}

impl Worker {
    pub(crate) fn load(file: &mut Gguf, options: &LoadOptions) -> Result<Self, LocalError> {
        let model = Model::load(file)?;
        let vocabulary = Vocabulary::read(file)?;
        if vocabulary.len() > model.vocabulary()? {
            let detail = "its vocabulary is larger than its network";
            return Err(LocalError::damaged(file.path(), detail));
        }
        Ok(Self {
            window: model.shape().window.min(options.window),
            template: Template::read(file)?,
            threads: options.threads,
            random: Arc::clone(&options.random),
            vocabulary,
            model,
        })
    }

    pub(crate) fn architecture(&self) -> &'static str {
        self.model.shape().family_word()
    }

    pub(crate) fn window(&self) -> usize {
        self.window
    }

    /// Answers until the engine is dropped.
    pub(crate) fn run(mut self, jobs: &Receiver<Job>) {
        while let Ok(job) = jobs.recv() {
            let finished = self.answer(&job);
            job.stop.send(finished.map(AnswerEvent::Finished));
        }
    }

    fn answer(&mut self, job: &Job) -> Result<Finish, LocalError> {
        let Job { request, stop } = job;
        let mut usage = Usage::default();
        let spoken = match self.threads {
            Threads::EveryCore => self.speak(request, stop, &mut usage),
            Threads::One => {
                let spoken = on_one_thread(
                    || !stop.requested(),
                    || self.speak(request, stop, &mut usage),
                );
                match spoken {
                    Some(spoken) => spoken,
                    None if stop.requested() => Err(LocalError::Cancelled),
                    None => Err(LocalError::Stopped),
                }
            }
        };
        let reason = match spoken {
            Err(LocalError::Cancelled) => Reason::Cancelled,
            other => other?,
        };
        Ok(Finish { reason, usage })
    }

    fn speak(
        &mut self,
        request: &ChatRequest,
        stop: &Stop,
        usage: &mut Usage,
    ) -> Result<Reason, LocalError> {
        let prompt = self.prompt(request)?;
        let mut scores = self.read_prompt(&prompt, stop, usage)?;
        let room = self.window.saturating_sub(prompt.len());
        let most = request.max_tokens.unwrap_or(room).min(room);
        let mut text = TextStream::default();
        let mut said = Vec::new();
        let reason = loop {
            if said.len() >= most {
                break Reason::Length;
            }
            let token = choose(scores, &said, &request.sampling, self.random.as_ref());
            let token = token.ok_or_else(|| {
                candle_core::Error::Msg("the network gave no usable scores".to_owned())
            })?;
            usage.output_tokens += 1;
            if self.vocabulary.stops(token) {
                break Reason::Stop;
            }
            said.push(token);
            let piece = text.push(&self.vocabulary.bytes_of(token));
            if !piece.is_empty() {
                stop.send(Ok(AnswerEvent::Text(piece)));
            }
            scores = self.model.forward(&[token], stop)?;
        };
        let rest = text.finish();
        if !rest.is_empty() {
            stop.send(Ok(AnswerEvent::Text(rest)));
        }
        Ok(reason)
    }

    /// Reads the part of the prompt that is not in memory from an earlier answer.
    fn read_prompt(
        &mut self,
        prompt: &[u32],
        stop: &Stop,
        usage: &mut Usage,
    ) -> Result<Vec<f32>, LocalError> {
        // The last token is read again in any case: its scores begin the answer.
        let before_last = prompt.len().saturating_sub(1);
        let known = self.model.keep_common(prompt).min(before_last);
        self.model.rewind(known);
        usage.cache_read_tokens = known as u64;
        let mut scores = Vec::new();
        for chunk in prompt.get(known..).unwrap_or_default().chunks(CHUNK) {
            scores = self.model.forward(chunk, stop)?;
            usage.input_tokens += chunk.len() as u64;
        }
        Ok(scores)
    }

    /// The tokens of the conversation, without its oldest turns when it is too long.
    fn prompt(&self, request: &ChatRequest) -> Result<Vec<u32>, LocalError> {
        let tokens_at = |cut: usize| {
            let kept = fit::cut_at(&request.messages, cut);
            let text = self
                .template
                .render(kept, &request.tools, &self.vocabulary)?;
            self.vocabulary.encode(&text)
        };
        let whole = tokens_at(0)?;
        let share = self.window / ANSWER_SHARE;
        let answer = request.max_tokens.unwrap_or(share).clamp(1, share.max(1));
        let budget = self.window.saturating_sub(answer);
        if whole.len() <= budget {
            return Ok(whole);
        }
        let cuts = fit::cuts(&request.messages);
        let mut error = None;
        // The longer the cut, the shorter the prompt: the first that fits is found by halving.
        let first = cuts.partition_point(|cut| match tokens_at(*cut) {
            Ok(tokens) => tokens.len() > budget,
            Err(failed) => {
                error = Some(failed);
                false
            }
        });
        if let Some(error) = error {
            return Err(error);
        }
        let shortest = tokens_at(cuts.get(first).or(cuts.last()).copied().unwrap_or(0))?;
        // One question may take the room of the answer, but not all of the window.
        match shortest.len() < self.window {
            true => Ok(shortest),
            false => Err(LocalError::TooLong {
                tokens: shortest.len(),
                window: self.window,
            }),
        }
    }
}
