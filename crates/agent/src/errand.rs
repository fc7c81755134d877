//! Work beside conversations by a model with a few tools: looking back, merging skills. It leaves no rows, nobody
//! reads along, and every tool but those it was given is refused.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hermes_core::{
    Clock, Message, ModelRequest, Part, Role, SessionId, ToolCall, ToolContext, ToolOutcome,
};
use hermes_llm::{Answer, Ask, AskedCall, CallEnd, CallEvent, CallSink, Caller, Course};
use hermes_secrets::RedactorHandle;
use hermes_store::Store;

use crate::batch::present::{self, Sizes, Spill};
use crate::batch::{Ready, run};
use crate::repair::{self, Arguments};
use crate::toolbox::Toolbox;
use crate::turn::{text_tokens, tokens};
use crate::{ledger, prompt};

/// Tools that change something.
const CHANGES: [&str; 2] = ["memory", "skill_manage"];

/// A piece of work.
pub(crate) struct Errand<'a> {
    pub(crate) caller: &'a Caller,
    pub(crate) store: &'a Store,
    pub(crate) clock: &'a dyn Clock,
    pub(crate) redactor: &'a RedactorHandle,
    /// Where results that are too long for the model are kept.
    pub(crate) spill: PathBuf,
    /// The task, as `auxiliary` in the settings and the ledger name it.
    pub(crate) task: &'static str,
    /// The conversation that pays for it.
    pub(crate) session: Option<SessionId>,
    pub(crate) toolbox: Arc<Toolbox>,
    /// The tools that work in it.
    pub(crate) hands: &'a [&'a str],
    /// What any other tool answers.
    pub(crate) refused: fn(&str) -> String,
    pub(crate) most_calls: u32,
    /// What it may use; no end but `most_calls` without one.
    pub(crate) budget: Option<Budget>,
    /// How long one answer is waited for.
    pub(crate) limit: Duration,
    /// Where its calls run; each gets its own copy.
    pub(crate) context: ToolContext,
}

/// What a task may use over a time, all its runs together.
pub(crate) struct Budget {
    pub(crate) tokens: u64,
    pub(crate) period: Duration,
    /// Why the work ends when they are used up.
    pub(crate) spent: &'static str,
}

/// How it went.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// What was changed, in the words of the tools.
    pub(crate) changes: Vec<String>,
    /// How many of them wait for the user's yes.
    pub(crate) waiting: Waiting,
    /// Answers of the model.
    pub(crate) calls: u32,
    /// Why it ended before the model was done with it.
    pub(crate) cut_short: Option<String>,
    /// Whether that was because everything ends.
    pub(crate) stopped: bool,
}

/// Changes that wait for the user's yes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) memory: usize,
    pub(crate) skills: usize,
}

impl Waiting {
    pub(crate) fn count(self) -> usize {
        self.memory + self.skills
    }
}

impl Errand<'_> {
    /// Asks, runs what is asked for and asks again, until the model calls for nothing.
    pub(crate) async fn run(&self, mut request: ModelRequest, course: &mut Course) -> Outcome {
        let mut outcome = Outcome::default();
        for _ in 0..self.most_calls {
            let answer = match self.affordable_call(&request, course).await {
                Ok(answer) => answer,
                Err(why) => {
                    outcome.cut_short = Some(why);
                    outcome.stopped = self.context.cancel.is_cancelled();
                    return outcome;
                }
            };
            outcome.calls += 1;
            if answer.calls.is_empty() {
                return outcome;
            }
            let window = course.route().limits.window;
            self.answer(&answer, window, &mut request, &mut outcome)
                .await;
        }
        outcome.cut_short = Some(format!("{} calls were not enough", self.most_calls));
        outcome
    }

    async fn affordable_call(
        &self,
        request: &ModelRequest,
        course: &mut Course,
    ) -> Result<Box<Answer>, String> {
        if let Some(budget) = &self.budget {
            self.look_at(budget).await?;
        }
        self.call(request, course).await
    }

    /// Fails when the ledger says that nothing is left of a budget.
    async fn look_at(&self, budget: &Budget) -> Result<(), String> {
        let now = self.clock.now().as_duration();
        let since = now.as_secs_f64() - budget.period.as_secs_f64();
        match self.store.tokens_of_task(self.task, since).await {
            Ok(used) if used < budget.tokens => Ok(()),
            Ok(_) => Err(budget.spent.to_owned()),
            Err(error) => Err(format!("what it has cost is not known: {error}")),
        }
    }

    async fn call(
        &self,
        request: &ModelRequest,
        course: &mut Course,
    ) -> Result<Box<Answer>, String> {
        let fixed = text_tokens(&request.system) + self.toolbox.tokens();
        let said = request.messages.iter().map(|message| tokens(message));
        let ask = Ask {
            request,
            tokens: fixed + said.sum::<u32>(),
            compactable: false,
            addressed: Some(&prompt::address),
        };
        let started = self.clock.now();
        let mut unheard = Unheard;
        let cancel = &self.context.cancel;
        let call = self.caller.call(course, &ask, &mut unheard, cancel);
        let Ok(end) = tokio::time::timeout(self.limit, call).await else {
            return Err(format!("no answer came within {} s", self.limit.as_secs()));
        };
        match end {
            CallEnd::Answered(answer) => {
                let (session, now) = (&self.context.session, self.clock.now());
                let mut row =
                    ledger::entry(session, self.task, course.route(), &answer, started, now);
                row.session.clone_from(&self.session);
                // In the ledger before the next call, which may be one too many.
                if let Err(error) = self.store.record_call(row).await {
                    tracing::warn!(%error, "a call for {} is not in the ledger", self.task);
                }
                Ok(answer)
            }
            CallEnd::Partial(_, failure) => Err(format!("the answer broke off: {failure}")),
            CallEnd::Stopped(_) => Err("it was stopped".to_owned()),
            CallEnd::TooLong(_) => Err("it does not fit the model".to_owned()),
            CallEnd::Failed(failure) => Err(failure.to_string()),
        }
    }

    /// Runs what may be run, one after the other, and answers every call.
    async fn answer(
        &self,
        answer: &Answer,
        window: u32,
        request: &mut ModelRequest,
        outcome: &mut Outcome,
    ) {
        let calls = answer.calls.iter();
        let calls: Vec<ToolCall> = calls.map(|asked| self.mended(asked)).collect();
        request
            .messages
            .push(answer.to_message(calls.clone()).into());
        for call in calls {
            let shown = self.result_of(&call, window, outcome).await;
            let result = Part::ToolResult {
                call: call.id,
                name: call.name,
                content: shown.content,
                failed: shown.failed,
            };
            let message = Message {
                role: Role::Tool,
                parts: vec![result],
                raw: None,
            };
            request.messages.push(message.into());
        }
    }

    fn mended(&self, asked: &AskedCall) -> ToolCall {
        let tool = self.toolbox.get(&asked.name);
        let schema = tool.map(|tool| &tool.spec().parameters);
        let arguments = match repair::arguments(&asked.arguments, schema) {
            Arguments::Good(arguments) => arguments,
            Arguments::Truncated | Arguments::Broken => serde_json::json!({}),
        };
        ToolCall {
            id: asked.id.clone(),
            name: asked.name.clone(),
            arguments,
        }
    }

    async fn result_of(
        &self,
        call: &ToolCall,
        window: u32,
        outcome: &mut Outcome,
    ) -> present::Shown {
        let tool = self.toolbox.get(&call.name);
        let Some(tool) = tool.filter(|_| self.hands.contains(&call.name.as_str())) else {
            return present::Shown::failure(&(self.refused)(&call.name));
        };
        let ready = Ready {
            asked: call.name.clone(),
            call: call.clone(),
            tool: tool.clone(),
        };
        let context = ToolContext {
            call: call.id.clone(),
            cancel: self.context.cancel.child_token(),
            deadline: tool.handling().deadline,
            ..self.context.clone()
        };
        let ended = run::run(&ready, &context).await;
        if CHANGES.contains(&call.name.as_str()) {
            outcome.note(&call.name, &ended);
        }
        let mut shown = present::show(
            ended,
            &call.name,
            tool.handling().untrusted,
            Sizes::of_window(window).result,
            &self.redactor.snapshot(),
            &Spill::new(&self.spill),
        );
        shown.close();
        shown
    }
}

impl Outcome {
    /// Whether it was done as far as it could be. What was stopped before it changed anything was not, nor what no
    /// model answered.
    pub(crate) fn came_about(&self) -> bool {
        let answered = self.calls > 0 && !self.stopped;
        self.cut_short.is_none() || answered || !self.changes.is_empty()
    }

    /// Takes down what a tool says it changed, if it did.
    fn note(&mut self, tool: &str, ended: &ToolOutcome) {
        let Ok(output) = ended else { return };
        let Ok(result) = serde_json::from_str::<serde_json::Value>(&output.content) else {
            return;
        };
        if result["success"] != true {
            return;
        }
        // What waits is told to the model in words that are not for the user.
        let change = match result["pending_id"].as_str() {
            Some(id) => {
                match tool {
                    "memory" => self.waiting.memory += 1,
                    _ => self.waiting.skills += 1,
                }
                format!("{id} waits for your approval")
            }
            None => {
                let message = result["message"].as_str();
                message.unwrap_or("something was changed").to_owned()
            }
        };
        self.changes.push(change);
    }
}

/// Nobody listens.
struct Unheard;

impl CallSink for Unheard {
    async fn event(&mut self, _: CallEvent) {}
}
