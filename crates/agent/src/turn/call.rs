//! Asking the model, once.

use hermes_config::Config;
use hermes_core::{
    CacheLife, Effort, Event, FinishReason, Message, ModelRequest, ModelSettings, Role, ToolChoice,
    TurnEnd,
};
use hermes_llm::classify::{Fault, Reason};
use hermes_llm::{Answer, Ask, CallEnd, CallEvent, CallFailure, CallSink, Route};
use hermes_store::StoreError;
use tokio_util::sync::CancellationToken;

use super::answered::plain;
use super::counted::Counted;
use super::unsettled::Unsettled;
use super::{CompactFor, Compacting, Entry, Step, Turn};
use crate::joint::Joint;
use crate::lane::Lane;
use crate::think::Filter;
use crate::{dump, explain, ledger, prompt};

/// Tells the model, in its last call, to sum up.
const OUT_OF_CALLS: &str = "The limit of model calls for this request is reached and no more tools can be used. \
     Say what was done, what was found, and what is left to do.";

/// Behind the hint about an answer of which a piece is kept.
pub(super) const GO_ON_FOR_THE_REST: &str = ", and say `go on` to have the rest";

impl Turn<'_> {
    /// Makes the next model call.
    pub(super) async fn call_model(&mut self) -> Result<Step, StoreError> {
        if self.around.cancel.is_cancelled() {
            return Ok(Step::Finish(TurnEnd::Interrupted));
        }
        if self.tries.calls >= self.around.spec.most_calls {
            if self.said.is_whole() {
                // There is an answer: better than a report that there was no time for one.
                return Ok(Step::Finish(TurnEnd::Done));
            }
            self.settle().await?;
            return self.sum_up().await;
        }
        if let Some(remark) = self.around.steering.take() {
            self.keep_remark(remark).await?;
        }
        self.look_up_count().await?;
        if self.is_too_long() {
            return Ok(Step::Compact(CompactFor::Room));
        }
        self.prepare_summary();
        self.tries.calls += 1;
        let request = self.request(ToolChoice::Auto);
        Ok(match self.call(&request).await? {
            CallEnd::Answered(answer) => {
                self.broke_off = None;
                Step::Answered(answer)
            }
            CallEnd::Partial(answer, failure) => {
                self.broke_off = Some(failure);
                Step::Answered(answer)
            }
            CallEnd::TooLong(fault) => {
                self.give_back();
                self.too_long(&fault)
            }
            CallEnd::Stopped(answer) => {
                self.keep_partial(&answer).await?;
                Step::Finish(TurnEnd::Interrupted)
            }
            CallEnd::Failed(failure) => Step::Finish(self.failed(&failure)),
        })
    }

    /// A call that does not count: nobody answered it, or it did the work of several. There is an end to this too.
    pub(super) fn give_back(&mut self) {
        if self.tries.given_back < self.around.spec.most_calls {
            self.tries.given_back += 1;
            self.tries.calls = self.tries.calls.saturating_sub(1);
        }
    }

    /// The provider refused a request for its length; what it said about the window is kept.
    fn too_long(&self, fault: &Fault) -> Step {
        let (route, window) = (
            self.around.spec.course.route(),
            self.around.spec.course.window(),
        );
        // A tier that was not booked says nothing about the model.
        if fault.reason == Reason::ContextOverflow && window < route.limits.window {
            self.around.services.routes.learned_window(route, window);
        }
        Step::Compact(CompactFor::Overflow)
    }

    /// The one call without tools that ends a turn whose budget is spent.
    async fn sum_up(&mut self) -> Result<Step, StoreError> {
        self.aside
            .push(Message::text(Role::User, OUT_OF_CALLS).into());
        let mut request = self.request(ToolChoice::None);
        for _ in 0..2 {
            let end = self.call(&request).await?;
            // Some models call tools as long as any are on offer.
            request.tools = [].into();
            match end {
                CallEnd::Answered(answer) if answer.finish == Some(FinishReason::Refused) => {
                    // Another model is asked for it anew.
                    self.aside.pop();
                    return self.refused(plain(*answer)).await;
                }
                CallEnd::Answered(answer) | CallEnd::Partial(answer, _) => {
                    let mut answer = plain(*answer);
                    if answer.text.trim().is_empty() {
                        continue;
                    }
                    self.without_repetition(&mut answer);
                    let answer = Answer {
                        calls: Vec::new(),
                        raw: None,
                        ..self.whole(answer)
                    };
                    self.keep_whole(answer.to_message(Vec::new())).await?;
                    break;
                }
                CallEnd::Stopped(answer) => {
                    self.keep_partial(&answer).await?;
                    return Ok(Step::Finish(TurnEnd::Interrupted));
                }
                CallEnd::TooLong(fault) => {
                    // It is asked for again when there is room.
                    self.aside.pop();
                    return Ok(self.too_long(&fault));
                }
                CallEnd::Failed(failure) => return Ok(Step::Finish(self.failed(&failure))),
            }
        }
        Ok(Step::Finish(TurnEnd::Budget))
    }

    fn is_too_long(&self) -> bool {
        self.may_compact() && self.expected() > self.limit()
    }

    /// The conversation as the next request would begin, byte for byte.
    pub(crate) fn snapshot(&self) -> ModelRequest {
        self.request(ToolChoice::Auto)
    }

    fn request(&self, tool_choice: ToolChoice) -> ModelRequest {
        let config = &self.around.services.config;
        let route = self.around.spec.course.route();
        let unsettled = self.unsettled.iter().flat_map(Unsettled::messages);
        let behind = unsettled.chain(&self.aside).cloned();
        let messages = self
            .prefill
            .iter()
            .cloned()
            .chain(self.wired())
            .chain(behind);
        let mut request = ModelRequest {
            model: route.model.clone(),
            conversation: self.around.spec.id.to_string(),
            system: self.system.clone(),
            tools: self.toolbox.specs(),
            messages: messages.collect(),
            settings: ModelSettings {
                // The course knows it, for each route.
                max_output_tokens: None,
                temperature: None,
                effort: None,
                tool_choice,
                cache: match config.prompt_caching.cache_ttl {
                    hermes_config::CacheTtl::FiveMinutes => CacheLife::Short,
                    hermes_config::CacheTtl::OneHour => CacheLife::Long,
                },
            },
        };
        address(config, self.around.spec.effort, &mut request, route);
        request
    }

    async fn call(&mut self, request: &ModelRequest) -> Result<CallEnd, StoreError> {
        let tokens = self.expected();
        let (config, effort) = (&self.around.services.config, self.around.spec.effort);
        let addressed =
            |request: &mut ModelRequest, route: &Route| address(config, effort, request, route);
        let ask = Ask {
            request,
            tokens,
            compactable: self.around.services.config.compression.enabled
                && self.compacting != Compacting::InVain,
            addressed: Some(&addressed),
        };
        let cancel = self.around.cancel.clone();
        let mut sink = EventSink {
            events: self.around.events,
            cancel: &cancel,
            filter: Filter::default(),
            // What is said behind a tool starts a paragraph of its own.
            gap: self.spoke,
            joint: Joint::new(self.said.fragments()),
            changed: None,
            unsettled: self.unsettled.take(),
            settled: Ok(Vec::new()),
        };
        if self.around.services.dumps.every {
            self.dump(request, "every request is written down");
        }
        let started = self.around.services.clock.now();
        let end = {
            let caller = &self.around.services.caller;
            caller
                .call(&mut self.around.spec.course, &ask, &mut sink, &cancel)
                .await
        };
        self.spoke |= sink.finish().await;
        self.history.extend(sink.settled?);
        if let Some(reason) = sink.changed {
            self.tell_route(reason).await;
        }
        match &end {
            CallEnd::Answered(answer) | CallEnd::Partial(answer, _) | CallEnd::Stopped(answer) => {
                self.account(answer, started).await;
            }
            CallEnd::Failed(failure) => self.dump(request, &failure.to_string()),
            CallEnd::TooLong(_) => {}
        }
        Ok(end)
    }

    /// Says which model answers from here on.
    pub(super) async fn tell_route(&self, reason: String) {
        let route = self.around.spec.course.route();
        let event = Event::RouteChanged {
            provider: route.provider.clone(),
            model: route.model.clone(),
            reason,
        };
        self.say(event).await;
    }

    fn dump(&self, request: &ModelRequest, why: &str) {
        let spec = &self.around.spec;
        dump::write(self.around.services, &spec.id, &spec.course, request, why);
    }

    /// Writes what the call used to the ledger. Not waited for: the next row carries it along.
    async fn account(&mut self, answer: &Answer, started: jiff::Timestamp) {
        let usage = answer.usage;
        self.usage += usage;
        let prompt = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
        let estimate = self.estimate();
        self.scale.learn(estimate, prompt);
        if prompt > 0 {
            self.counted = Counted::Nothing;
        }
        let services = self.around.services;
        let (session, route) = (&self.around.spec.id, self.around.spec.course.route());
        let call = ledger::entry(session, "", route, answer, started, services.clock.now());
        drop(services.store.record_call(call));
        self.say(Event::Usage {
            turn: self.usage,
            call: usage,
        })
        .await;
    }

    /// What was said before a stop is part of the conversation.
    async fn keep_partial(&mut self, answer: &Answer) -> Result<(), StoreError> {
        let mut answer = plain(Answer {
            text: answer.text.clone(),
            ..Answer::default()
        });
        if answer.text.trim().is_empty() {
            return Ok(());
        }
        self.without_repetition(&mut answer);
        let text = self.whole(answer).text;
        self.keep_whole(Message::text(Role::Assistant, text.trim()))
            .await
    }

    fn failed(&self, failure: &CallFailure) -> TurnEnd {
        let (mut message, mut hint) = explain::failure(failure);
        if !self.said.is_empty() {
            message.push_str("; what came of the answer is kept");
            hint.push_str(GO_ON_FOR_THE_REST);
        }
        TurnEnd::Failed {
            message,
            hint: Some(hint),
        }
    }
}

/// What of a request depends on the model that answers it.
fn address(config: &Config, wished: Option<Effort>, request: &mut ModelRequest, route: &Route) {
    prompt::address(request, route);
    request.settings.effort = explain::effort(config, &route.model, wished);
}

/// How a remark begins that is made while the model works.
const REMARK: &str = "[While you were working, the user added: ";

/// How such a remark reaches the model.
pub(crate) fn steered(remark: &str) -> String {
    format!("{REMARK}{remark}]")
}

/// Whether a message is such a remark.
pub(crate) fn is_remark(message: &Message) -> bool {
    message.role == Role::User && message.plain_text().starts_with(REMARK)
}

/// Turns what happens in a call into events of the session.
struct EventSink<'a> {
    events: &'a Lane<Event>,
    cancel: &'a CancellationToken,
    filter: Filter,
    gap: bool,
    /// What a continued answer repeats is not shown again.
    joint: Joint,
    changed: Option<String>,
    /// What must be durable before anything of the answer is used.
    unsettled: Option<Unsettled>,
    settled: Result<Vec<Entry>, StoreError>,
}

impl EventSink<'_> {
    async fn settle(&mut self) {
        if let Some(unsettled) = self.unsettled.take() {
            self.settled = unsettled.settle(self.events, self.cancel).await;
        }
    }

    async fn tell(&self, event: Event) {
        self.events.send_until(event, self.cancel).await;
    }

    async fn text(&mut self, text: String) {
        let text = self.joint.push(text);
        self.shown(text).await;
    }

    async fn shown(&mut self, text: String) {
        if text.is_empty() {
            return;
        }
        let text = if std::mem::take(&mut self.gap) {
            format!("\n\n{text}")
        } else {
            text
        };
        self.tell(Event::TextDelta { text }).await;
    }

    async fn pieces(&mut self, pieces: crate::think::Pieces) {
        if !pieces.thought.is_empty() {
            let text = pieces.thought;
            self.tell(Event::ReasoningDelta { text }).await;
        }
        self.text(pieces.said).await;
    }

    /// Says whether anything was said.
    async fn finish(&mut self) -> bool {
        self.settle().await;
        let rest = self.filter.finish();
        self.pieces(rest).await;
        let rest = self.joint.finish();
        self.shown(rest).await;
        self.filter.has_spoken()
    }
}

impl CallSink for EventSink<'_> {
    async fn event(&mut self, event: CallEvent) {
        self.settle().await;
        match event {
            CallEvent::Text(text) => {
                let pieces = self.filter.push(&text);
                self.pieces(pieces).await;
            }
            CallEvent::Reasoning(text) => self.tell(Event::ReasoningDelta { text }).await,
            CallEvent::CallStarted { name } => self.tell(Event::ToolPreparing { name }).await,
            CallEvent::Quiet { since, left } => {
                let (since, left) = (since.as_secs(), left.as_secs());
                let text = format!("nothing has come for {since} s; connecting anew in {left} s");
                self.tell(Event::Notice { text }).await;
            }
            CallEvent::Waiting { wait, why } => {
                tracing::info!("trying again in {} s: {why}", wait.as_secs());
                // A short wait is nobody's business.
                if wait.as_secs() >= 5 {
                    let text = format!("{why}; trying again in {} s", wait.as_secs());
                    self.tell(Event::Notice { text }).await;
                }
            }
            CallEvent::Reduced { what: text } => self.tell(Event::Notice { text }).await,
            CallEvent::RouteChanged { why } => self.changed = Some(why),
        }
    }
}
