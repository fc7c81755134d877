//! Helper calls beside the conversation: titles, summaries, pictures in words. They use the same caller and the same
//! failover, are written to the ledger under their task, and leave no rows.

use std::sync::Arc;
use std::time::Duration;

use hermes_core::{CacheLife, Effort, Message, ModelRequest, ModelSettings, SessionId, ToolChoice};
use hermes_llm::{Answer, Ask, CallEnd, CallEvent, CallFailure, CallSink, Caller, Course, Route};
use tokio_util::sync::CancellationToken;

use crate::engine::{Helpers, Services};
use crate::ledger;
use crate::turn::{text_tokens, tokens};

/// One question to a helper model.
pub(crate) struct Helper<'a> {
    pub(crate) services: &'a Services,
    pub(crate) session: &'a SessionId,
    /// The task, as `auxiliary` in the settings names it.
    pub(crate) task: &'static str,
    /// The route of the conversation.
    pub(crate) main: &'a Arc<Route>,
    pub(crate) most_tokens: u32,
    pub(crate) temperature: Option<f64>,
    pub(crate) timeout: Duration,
}

/// Why a helper gave nothing.
#[derive(Debug)]
pub(crate) enum HelperFailure {
    /// No answer in time.
    TimedOut,
    /// Stopped by the caller.
    Stopped,
    /// The question does not fit the helper's window.
    TooLong,
    /// It answered with nothing.
    Empty,
    /// The call failed for good.
    Failed(Box<CallFailure>),
}

/// What came of asking helpers.
pub(crate) struct Told {
    pub(crate) said: Result<String, HelperFailure>,
    /// Whether the model of the conversation was among those who were asked.
    pub(crate) asked_main: bool,
}

impl Helper<'_> {
    /// Asks and waits for the text.
    pub(crate) async fn ask(
        &self,
        system: &str,
        question: Message,
        cancel: &CancellationToken,
    ) -> Result<String, HelperFailure> {
        let told = self.ask_of(self.helpers(), system, question, cancel);
        told.await.said
    }

    /// Those who do the task.
    pub(crate) fn helpers(&self) -> Helpers {
        self.services.routes.helpers(self.task, self.main)
    }

    /// Asks these and no others.
    pub(crate) async fn ask_of(
        &self,
        helpers: Helpers,
        system: &str,
        question: Message,
        cancel: &CancellationToken,
    ) -> Told {
        let mut asked_main = false;
        let said = self.walk(helpers, system, question, cancel, &mut asked_main);
        Told {
            said: said.await,
            asked_main,
        }
    }

    async fn walk(
        &self,
        helpers: Helpers,
        system: &str,
        question: Message,
        cancel: &CancellationToken,
        asked_main: &mut bool,
    ) -> Result<String, HelperFailure> {
        let mut caller = self.services.caller.clone();
        if let Some(retries) = helpers.retries {
            caller.attempts = retries.saturating_add(1);
        }
        let size = text_tokens(system) + tokens(&question);
        let request = ModelRequest {
            model: String::new(),
            conversation: self.session.to_string(),
            system: system.into(),
            tools: Arc::from([]),
            messages: vec![question.into()],
            settings: ModelSettings {
                // The course has it, for those who want to be told.
                max_output_tokens: None,
                temperature: self.temperature,
                effort: Some(helpers.effort.unwrap_or(Effort::Off)),
                tool_choice: ToolChoice::None,
                cache: CacheLife::Short,
            },
        };
        let ask = Ask {
            request: &request,
            tokens: size,
            compactable: false,
            addressed: None,
        };
        let started = self.services.clock.now();
        let work = self.first_to_answer(&caller, helpers, &ask, cancel, asked_main);
        let (end, route) = match tokio::time::timeout(self.timeout, work).await {
            Ok(done) => done,
            Err(_) => return Err(HelperFailure::TimedOut),
        };
        match end {
            CallEnd::Answered(answer) | CallEnd::Partial(answer, _) => {
                self.account(&answer, &route, started);
                let (text, _) = crate::think::split(&answer.text);
                let text = text.trim();
                if text.is_empty() {
                    Err(HelperFailure::Empty)
                } else {
                    Ok(text.to_owned())
                }
            }
            CallEnd::TooLong(_) => Err(HelperFailure::TooLong),
            CallEnd::Stopped(_) => Err(HelperFailure::Stopped),
            CallEnd::Failed(failure) => Err(HelperFailure::Failed(failure)),
        }
    }

    /// Goes through those who may help. One the user named is left only when it has no capacity.
    async fn first_to_answer(
        &self,
        caller: &Caller,
        helpers: Helpers,
        ask: &Ask<'_>,
        cancel: &CancellationToken,
        asked_main: &mut bool,
    ) -> (CallEnd, Arc<Route>) {
        let mut routes = caller.by_health(helpers.routes).into_iter();
        let mut first = routes.next().unwrap_or_else(|| self.main.clone());
        loop {
            let others: Vec<_> = match helpers.named {
                true => Vec::new(),
                false => routes.by_ref().collect(),
            };
            *asked_main |= is_same(&first, self.main);
            let mut course = Course::new(first, others).beside().within(self.most_tokens);
            let end = caller.call(&mut course, ask, &mut Silent, cancel).await;
            // Of the others those were asked that stand before the last.
            let (all, last) = (course.routes(), course.route());
            let last = all.iter().position(|route| Arc::ptr_eq(route, last));
            let mut asked = all.iter().take(last.unwrap_or_default() + 1);
            *asked_main |= asked.any(|route| is_same(route, self.main));
            let full = matches!(&end, CallEnd::Failed(failure) if failure.fault.is_capacity());
            match routes.next().filter(|_| full) {
                Some(next) => first = next,
                None => return (end, course.route().clone()),
            }
        }
    }

    fn account(&self, answer: &Answer, route: &Route, started: jiff::Timestamp) {
        let now = self.services.clock.now();
        let call = ledger::entry(self.session, self.task, route, answer, started, now);
        drop(self.services.store.record_call(call));
    }
}

fn is_same(one: &Route, other: &Route) -> bool {
    let names = |route: &Route| (route.label(), route.address_text());
    names(one) == names(other)
}

struct Silent;

impl CallSink for Silent {
    async fn event(&mut self, _: CallEvent) {}
}
