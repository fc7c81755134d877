//! A turn: from one message to one answer, as a state machine of one enum.
//!
//! Every step writes its rows before anything it leads to happens, so that a crash leaves a history the
//! next turn can go on from. Only the results of tools may still be on their way to the disk while the next
//! request is (`unsettled`). The token of the turn reaches every model call and every tool.

mod alone;
mod answered;
mod asked;
mod call;
mod compact;
mod counted;
mod early;
mod finish;
mod masked;
mod news;
mod pictures;
mod prepare;
mod recall;
mod said;
mod skills;
mod system;
mod tools;
mod unsettled;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use hermes_core::{Event, InboxId, Media, Message, MessageId, TurnEnd, TurnId, Usage};
use hermes_llm::{Answer, CallFailure};
use hermes_store::{OwnTurn, Pending, StoreError};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::asker::SessionAsker;
use crate::batch::Ready;
use crate::batch::guard::Guard;
use crate::engine::{Services, SessionSpec, Shared};
use crate::lane::Lane;
use crate::learning::Learning;
use crate::prompt::Hints;
use crate::toolbox::Toolbox;
pub(crate) use call::is_remark;
use counted::Counted;
pub(crate) use news::is_news;
pub(crate) use recall::{Recollections, scene};
use said::Said;
pub(crate) use skills::{Part as SkillsPart, Wish, listed as skills_listed};
use unsettled::Unsettled;
#[cfg(test)]
pub(crate) use {call::steered, news::news_of_nothing};

/// What starts a turn.
pub(crate) enum Input {
    Message {
        text: String,
        media: Vec<Media>,
    },
    /// A message that calls for skills.
    Skills(Wish),
    Retry,
    Undo {
        turns: u32,
    },
    Compact {
        focus: Option<String>,
        /// Exchanges that stay as they are.
        exchanges: Option<u32>,
    },
    /// Tells what a compaction would do.
    PreviewCompact {
        exchanges: Option<u32>,
    },
    /// A process in the background has something to tell.
    News,
}

/// Remarks that may wait for the next call of the model.
const MOST_REMARKS: usize = 64;
/// Bytes of them from which on no more are taken.
const MOST_REMARK_BYTES: usize = 1024 * 1024;

/// A remark made while a turn runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Remark {
    pub(crate) text: String,
    /// The rows of the inbox it stands in.
    pub(crate) rows: Vec<InboxId>,
}

/// All of them.
#[derive(Clone, Default)]
pub(crate) struct Steering(Arc<Mutex<VecDeque<Remark>>>);

impl Steering {
    /// Keeps a remark until the model is asked next; `false` when too much waits for that already.
    pub(crate) fn push(&self, remark: Remark) -> bool {
        let mut waiting = self.lock();
        let bytes: usize = waiting.iter().map(|one| one.text.len()).sum();
        let room = waiting.len() < MOST_REMARKS && bytes < MOST_REMARK_BYTES;
        if room {
            waiting.push_back(remark);
        }
        room
    }

    /// All remarks so far, as one.
    pub(crate) fn take(&self) -> Option<Remark> {
        self.lock().drain(..).reduce(|mut all, one| {
            all.text = format!("{}\n\n{}", all.text, one.text);
            all.rows.extend(one.rows);
            all
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<Remark>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a turn is given.
pub(crate) struct Surroundings<'a> {
    pub(crate) services: &'a Services,
    pub(crate) shared: &'a Arc<Shared>,
    pub(crate) spec: &'a mut SessionSpec,
    pub(crate) events: &'a Lane<Event>,
    pub(crate) asker: Arc<SessionAsker>,
    pub(crate) steering: Steering,
    /// Rows of the inbox that what starts the turn stands in.
    pub(crate) rows: Vec<InboxId>,
    /// A summary that is being prepared, or was.
    pub(crate) ahead: &'a mut Option<JoinHandle<()>>,
    pub(crate) learning: &'a mut Learning,
    pub(crate) recollections: &'a mut Recollections,
    /// Fires when the session ends.
    pub(crate) stop: &'a CancellationToken,
    pub(crate) cancel: CancellationToken,
}

/// What a turn does next.
pub(crate) enum Step {
    CallModel,
    Answered(Box<Answer>),
    RunTools(Vec<Ready>),
    Compact(CompactFor),
    Finish(TurnEnd),
}

/// Why a history is made shorter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CompactFor {
    /// The next request would be too large.
    Room,
    /// The provider said the last one was.
    Overflow,
    /// The user asked for it, perhaps with something the summary should dwell on, and with so many exchanges at the
    /// end that stay as they are.
    User {
        focus: Option<String>,
        exchanges: Option<u32>,
    },
}

/// Whether the history can still be made shorter in this turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Compacting {
    /// Nothing speaks against it.
    #[default]
    Open,
    /// It failed lately; only a provider's refusal is reason enough to try again.
    Resting,
    /// It gained too little to try again.
    InVain,
}

/// A message and the row it is kept in.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) row: MessageId,
    pub(crate) message: Arc<Message>,
    /// Roughly how many tokens it takes, with what was recalled.
    pub(crate) tokens: u32,
    /// What an external memory knew about it; goes out behind it and is in no row.
    pub(crate) recalled: Option<Arc<str>>,
}

/// A turn under way.
pub(crate) struct Turn<'a> {
    pub(crate) around: Surroundings<'a>,
    /// Keeps other programs out of the conversation.
    own: Option<OwnTurn>,
    pub(crate) id: TurnId,
    pub(crate) system: Arc<str>,
    /// Messages in front of every conversation.
    pub(crate) prefill: Vec<Arc<Message>>,
    pub(crate) history: Vec<Entry>,
    /// The newest results of tools, while they are being written.
    pub(crate) unsettled: Option<Unsettled>,
    /// The system prompt, while it is being written.
    pub(crate) described: Option<Pending<()>>,
    /// Messages that only the next call sees: nudges.
    pub(crate) aside: Vec<Arc<Message>>,
    pub(crate) toolbox: Arc<Toolbox>,
    pub(crate) guard: Guard,
    pub(crate) hints: Hints,
    pub(crate) usage: Usage,
    pub(crate) tries: Tries,
    pub(crate) scale: Scale,
    /// What the model counted before this turn.
    counted: Counted,
    /// An answer that more follows.
    pub(crate) said: Said,
    /// Whether anything was said in this turn already.
    pub(crate) spoke: bool,
    /// Why the last answer broke off, if it did.
    broke_off: Option<Box<CallFailure>>,
    /// What was typed, for an external memory.
    pub(crate) asked: Option<String>,
    /// What an external memory knows about it.
    pub(crate) recalled: Option<Arc<str>>,
    pub(crate) compacting: Compacting,
}

/// What was tried in this turn, each with its own limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tries {
    pub(crate) calls: u32,
    /// Calls that were taken off that count again.
    pub(crate) given_back: u32,
    pub(crate) continued: u32,
    pub(crate) cut_calls: u32,
    pub(crate) empty: u32,
    pub(crate) thinking_only: u32,
    pub(crate) nudged: bool,
    pub(crate) paused: u32,
    pub(crate) bad_names: u32,
    pub(crate) bad_arguments: u32,
    pub(crate) promises: u32,
    pub(crate) checks: u32,
}

/// How our estimates compare with what the provider counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    factor: f64,
}

impl Default for Scale {
    fn default() -> Self {
        Self { factor: 1.0 }
    }
}

impl Scale {
    /// The least share of an estimate that is believed. Some servers count only what they did not leave out.
    const LEAST: f64 = 0.3;

    pub(crate) fn learn(&mut self, estimated: u32, counted: u64) {
        if estimated > 500 && counted > 0 {
            // One odd count must not decide whether a history is thrown away.
            self.factor = (counted as f64 / f64::from(estimated)).clamp(Self::LEAST, 3.0);
        }
    }

    pub(crate) fn apply(&self, estimated: u32) -> u32 {
        (f64::from(estimated) * self.factor) as u32
    }
}

/// Runs a turn to its end. Everything worth knowing goes out as events.
pub(crate) async fn run(around: Surroundings<'_>, input: Input) {
    let events = around.events.clone();
    let (mut turn, mut step) = match begin(around, input).await {
        Ok(begun) => begun,
        Err(why) => {
            let over = Event::TurnFinished {
                turn: TurnId(0),
                why,
                answer: String::new(),
            };
            events.send(over).await;
            return;
        }
    };
    loop {
        let next = match step {
            Step::CallModel => turn.call_model().await,
            // Everything else looks at the history, or closes it.
            _ if turn.is_unsettled() => {
                if let Err(error) = turn.settle().await {
                    step = Step::Finish(failed(&error));
                }
                continue;
            }
            Step::Answered(answer) => turn.answered(*answer).await,
            Step::RunTools(batch) => turn.run_tools(batch).await,
            Step::Compact(why) => turn.compact(why).await,
            Step::Finish(why) => {
                turn.finish(why).await;
                return;
            }
        };
        step = next.unwrap_or_else(|error| Step::Finish(failed(&error)));
    }
}

/// Nothing of the conversation is read before nobody else can write it.
async fn begin(mut around: Surroundings<'_>, input: Input) -> Result<(Turn<'_>, Step), TurnEnd> {
    let own = alone::wait(&mut around, &input).await;
    let own = own.map_err(|error| failed(&error))??;
    let begun = prepare::begin(around, own, input).await;
    begun.map_err(|error| failed(&error))
}

fn failed(error: &StoreError) -> TurnEnd {
    TurnEnd::Failed {
        message: format!("the conversation could not be kept: {error}"),
        hint: error.hint(),
    }
}

impl Turn<'_> {
    /// Keeps a message and makes it part of the history. It is durable when this returns.
    pub(crate) async fn keep(&mut self, message: Message) -> Result<(), StoreError> {
        self.settle().await?;
        let message = self.masked(message);
        let session = self.around.spec.id.clone();
        let store = &self.around.services.store;
        let rows = store.append(&session, vec![(&message).into()]).await?;
        if let Some(row) = rows.first() {
            self.history.push(Entry::new(*row, message));
        }
        Ok(())
    }

    /// As `keep`, for what may stand in rows of the inbox, which go in the same step. Says whether it was kept: whoever
    /// else took them said it.
    pub(crate) async fn keep_from(
        &mut self,
        rows: Vec<InboxId>,
        message: Message,
    ) -> Result<bool, StoreError> {
        self.settle().await?;
        let message = self.masked(message);
        let (session, store) = (&self.around.spec.id, &self.around.services.store);
        let records = vec![(&message).into()];
        let kept = store.take_up(rows, session, None, records).await?;
        let row = kept.as_ref().and_then(|kept| kept.first());
        let entry = row.map(|row| Entry::new(*row, message));
        self.history.extend(entry);
        Ok(kept.is_some())
    }

    /// Puts a message in the place of the one that was kept last.
    pub(crate) async fn keep_instead(&mut self, message: Message) -> Result<(), StoreError> {
        self.settle().await?;
        let message = self.masked(message);
        let Some(last) = self.history.pop() else {
            return self.keep(message).await;
        };
        let (session, store) = (&self.around.spec.id, &self.around.services.store);
        let rows = store
            .replace_last(session, last.row, vec![(&message).into()])
            .await?;
        if let Some(row) = rows.first() {
            self.history.push(Entry::new(*row, message));
        }
        Ok(())
    }

    pub(crate) async fn say(&self, event: Event) {
        self.around
            .events
            .send_until(event, &self.around.cancel)
            .await;
    }

    /// What the next request holds, in our own rough count.
    pub(crate) fn estimate(&self) -> u32 {
        let history: u32 = self.history.iter().map(|entry| entry.tokens).sum();
        let unsettled = self.unsettled.iter().flat_map(Unsettled::messages);
        let around = self.prefill.iter().chain(unsettled).chain(&self.aside);
        let aside: u32 = around.map(|message| tokens(message)).sum();
        let fixed = text_tokens(&self.system) + self.toolbox.tokens();
        fixed + history + aside
    }
}

impl Entry {
    pub(crate) fn new(row: MessageId, message: impl Into<Arc<Message>>) -> Self {
        let message = message.into();
        Self {
            row,
            tokens: tokens(&message),
            message,
            recalled: None,
        }
    }
}

/// Roughly how many tokens a message takes.
pub fn tokens(message: &Message) -> u32 {
    use hermes_core::Part;
    let parts = message.parts.iter().map(|part| match part {
        Part::Text { text } | Part::ToolResult { content: text, .. } => text_tokens(text),
        Part::Reasoning { .. } => 0,
        Part::Media(_) => 1_500,
        Part::ToolCall(call) => 8 + text_tokens(&call.arguments.to_string()),
    });
    4 + parts.sum::<u32>()
}

pub(crate) fn text_tokens(text: &str) -> u32 {
    u32::try_from(text.len().div_ceil(4)).unwrap_or(u32::MAX)
}
