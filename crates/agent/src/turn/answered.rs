//! What an answer leads to: tools, the end of the turn, or another call that changes something.

use std::borrow::Cow;

use hermes_core::{Event, FinishReason, Message, Part, Role, TurnEnd, WireProtocol};
use hermes_llm::{Answer, CallFailure};
use hermes_memory::scrubbed;
use hermes_store::StoreError;

use super::asked::{Asked, Named, Sorted};
use super::call::GO_ON_FOR_THE_REST;
use super::early::is_announcement;
use super::{Entry, Step, Turn};
use crate::batch::present;
use crate::explain;
use crate::repair::Arguments;
use crate::think;

const MOST_CONTINUED: u32 = 3;
const MOST_CUT_CALLS: u32 = 4;
/// A provider that runs tools of its own pauses between them.
const MOST_PAUSES: u32 = 10;
/// One that leaves an answer incomplete seldom completes it later.
const MOST_INCOMPLETE: u32 = 2;
/// How a model of OpenAI's begins a call when it writes one down instead of making it.
const LEAKED_CALL: &str = "to=functions.";
const MOST_EMPTY: u32 = 3;
const MOST_THINKING_ONLY: u32 = 2;
const MOST_BAD_NAMES: u32 = 3;
const MOST_BAD_ARGUMENTS: u32 = 2;
/// Where a raised limit of the answer starts and ends.
const FIRST_OUTPUT: u32 = 4_096;
const LAST_OUTPUT: u32 = 32_768;

const GO_ON: &str =
    "Your answer was cut off. Go on exactly where it stopped, without repeating anything.";
const USE_RESULTS: &str = "You have the results of the tools. Answer the user now.";
const SAY_IT: &str = "You thought about it but said nothing. Answer now.";
const VALID_JSON: &str =
    "The arguments of your last tool call were not valid JSON. Send the call again.";
const SMALLER_CALL: &str = "Your tool call was longer than an answer may be and was cut off. Do it in several smaller calls.";
const AGAIN: &str = "Your last answer was empty. Answer the user, or call a tool.";
/// Tools that keep something for later. Whoever calls them beside an answer has nothing to add to it.
const KEEPING: [&str; 2] = ["memory", "skill_manage"];

impl Turn<'_> {
    /// Decides by refusal, length, calls and text, in this order.
    pub(super) async fn answered(&mut self, answer: Answer) -> Result<Step, StoreError> {
        let mut answer = plain(answer);
        self.without_repetition(&mut answer);
        let responses = self.around.spec.course.route().protocol() == Some(WireProtocol::Responses);
        if responses && answer.calls.is_empty() && answer.text.contains(LEAKED_CALL) {
            answer.text.clear();
            answer.raw = None;
            answer.finish = Some(FinishReason::Paused);
        }
        if self.stops_too_soon(&answer) {
            answer.finish = Some(FinishReason::Length);
        }
        let most_pauses = match responses {
            true => MOST_INCOMPLETE,
            false => MOST_PAUSES,
        };
        match answer.finish {
            Some(FinishReason::Refused) => return self.refused(answer).await,
            Some(FinishReason::Paused)
                if self.tries.paused < most_pauses && answer.calls.is_empty() =>
            {
                return self.paused(answer).await;
            }
            Some(FinishReason::Length) if !answer.calls.is_empty() => {
                return Ok(self.cut_in_a_call(answer.usage.output_tokens));
            }
            Some(FinishReason::Length) if !answer.text.trim().is_empty() => {
                return self.cut_in_the_text(answer).await;
            }
            Some(FinishReason::Length) if !answer.reasoning.is_empty() => {
                return Ok(fail(
                    "the model used its whole answer for thinking and said nothing",
                    "lower agent.reasoning_effort, or raise model.max_tokens",
                ));
            }
            _ => {}
        }
        if !answer.calls.is_empty() {
            return self.wants_tools(answer).await;
        }
        if answer.is_empty() && self.said.is_empty() {
            return self.said_nothing(&answer).await;
        }
        self.done(answer).await
    }

    /// Ollama says that models of this family are done when it has cut their answer behind the results of tools.
    fn stops_too_soon(&self, answer: &Answer) -> bool {
        let route = self.around.spec.course.route();
        let unfinished = |text: &str| text.ends_with(|c: char| c.is_alphanumeric() || c == ',');
        route.quirks.ollama_window.is_some()
            && route.model.to_ascii_lowercase().contains("glm")
            && answer.finish == Some(FinishReason::Stop)
            && answer.calls.is_empty()
            && self.has_worked()
            && unfinished(answer.text.trim_end())
    }

    /// The provider ended an answer that it means to go on with. What it said so far is a row, sent back as it
    /// came; a crash in between loses none of it.
    async fn paused(&mut self, answer: Answer) -> Result<Step, StoreError> {
        self.tries.paused += 1;
        if !answer.can_be_shown_again() {
            // Nothing to go on from, and no request is sent twice as it was.
            self.aside.push(Message::text(Role::User, SAY_IT).into());
        } else {
            // In the middle of an answer it stands on its own: it is sent back as it came or not at all.
            self.leave_said();
            self.aside.clear();
            self.keep(answer.to_message(Vec::new())).await?;
        }
        Ok(Step::CallModel)
    }

    /// Half an answer is none, and a filter that struck in the middle leaves nothing that should be run: another model
    /// is asked. Where there is none the turn fails, and what was shown of the answer is kept.
    pub(super) async fn refused(&mut self, answer: Answer) -> Result<Step, StoreError> {
        let now = self.around.services.clock.now();
        let label = self.around.spec.course.route().label();
        if self.around.spec.course.leave_refusing(now) {
            self.tell_route(format!("{label} refused to answer")).await;
            return Ok(Step::CallModel);
        }
        let message = if answer.text.trim().is_empty() {
            format!("{label} refused to answer this")
        } else {
            let piece = Answer {
                raw: None,
                ..self.whole(answer)
            };
            self.keep_whole(piece.to_message(Vec::new())).await?;
            format!("{label} refused to go on with this answer; what came of it is kept")
        };
        Ok(fail(
            &message,
            "say it in another way, or choose another model with `hermes model`",
        ))
    }

    /// A call that was cut off never runs; the model writes it again with more room.
    fn cut_in_a_call(&mut self, used: u64) -> Step {
        if self.tries.cut_calls >= MOST_CUT_CALLS {
            return fail(
                "the model's tool calls are longer than its answers may be; none of them was run",
                "raise model.max_tokens, or ask for smaller steps",
            );
        }
        self.tries.cut_calls += 1;
        if !self.raise_output(self.tries.cut_calls, used) {
            // No request is sent twice as it was.
            self.aside
                .push(Message::text(Role::User, SMALLER_CALL).into());
        }
        Step::CallModel
    }

    async fn cut_in_the_text(&mut self, answer: Answer) -> Result<Step, StoreError> {
        // A tiny model that found no end will not find one with more room.
        let most = if self.around.spec.course.route().is_embedded() {
            0
        } else {
            MOST_CONTINUED
        };
        // How often a provider in trouble is asked is decided where it is asked.
        let is_trouble = |failure: &CallFailure| failure.fault.is_trouble();
        let counts = !self.broke_off.as_deref().is_some_and(is_trouble);
        if counts && self.tries.continued >= most {
            let whole = Answer {
                raw: None,
                ..self.whole(answer)
            };
            self.keep_whole(whole.to_message(Vec::new())).await?;
            if let Some(failure) = &self.broke_off {
                let (last, next) = explain::failure(failure);
                return Ok(fail(
                    &format!(
                        "the answer broke off again and again, and what came of it is kept; at last {last}"
                    ),
                    &format!("{next}{GO_ON_FOR_THE_REST}"),
                ));
            }
            let text = "The answer is longer than the model's limit and ends here.".to_owned();
            self.say(Event::Notice { text }).await;
            return Ok(Step::Finish(TurnEnd::Done));
        }
        if counts {
            self.tries.continued += 1;
            self.raise_output(self.tries.continued, answer.usage.output_tokens);
        }
        self.keep_piece(&answer).await?;
        self.aside.clear();
        self.aside.push(Message::text(Role::User, GO_ON).into());
        // The next piece goes on in the middle of a sentence.
        self.spoke = false;
        Ok(Step::CallModel)
    }

    /// Gives the next answer more room than the one that was cut off had. Says whether there is more.
    fn raise_output(&mut self, times: u32, used: u64) -> bool {
        let course = &mut self.around.spec.course;
        // More than this the provider has refused to give.
        let most = course.most_output();
        let set = course.route().limits.output.or(most);
        let most = most.unwrap_or(u32::MAX);
        // Without a limit of ours the provider's own was reached, which shows in what was used.
        let used = u32::try_from(used).unwrap_or(u32::MAX);
        let base = set.unwrap_or(FIRST_OUTPUT.max(used));
        let raised = base.saturating_mul(1 << times.min(8));
        let raised = raised.min(LAST_OUTPUT.max(base)).min(most);
        let before = course.output_limit().or(set).unwrap_or(used).min(most);
        course.raise_output(raised.max(before));
        raised > before
    }

    async fn done(&mut self, answer: Answer) -> Result<Step, StoreError> {
        let mut whole = self.whole(answer);
        if !self.said.is_empty() {
            whole.text.truncate(whole.text.trim_end().len());
        }
        self.aside.clear();
        if let Some(nudge) = self.too_early(&whole) {
            self.hold(&whole).await?;
            self.aside.push(Message::text(Role::User, nudge).into());
            return Ok(Step::CallModel);
        }
        self.keep_whole(whole.to_message(Vec::new())).await?;
        Ok(Step::Finish(TurnEnd::Done))
    }

    /// Every retry changes something about the request.
    async fn said_nothing(&mut self, answer: &Answer) -> Result<Step, StoreError> {
        if let Some(said) = self.answered_before() {
            self.aside.clear();
            self.keep(Message::text(Role::Assistant, said)).await?;
            return Ok(Step::Finish(TurnEnd::Done));
        }
        let recent = self.history.iter().rev().take(5);
        let after_tools = recent
            .into_iter()
            .any(|entry| entry.message.role == Role::Tool);
        let nudge = if after_tools && !self.tries.nudged {
            self.tries.nudged = true;
            USE_RESULTS
        } else if !answer.reasoning.trim().is_empty()
            && self.tries.thinking_only < MOST_THINKING_ONLY
        {
            self.tries.thinking_only += 1;
            SAY_IT
        } else if self.tries.empty < MOST_EMPTY {
            self.tries.empty += 1;
            AGAIN
        } else {
            let now = self.around.services.clock.now();
            let label = self.around.spec.course.route().label();
            if self.around.spec.course.leave_silent(now) {
                self.aside.clear();
                self.tell_route(format!("{label} answered nothing")).await;
                return Ok(Step::CallModel);
            }
            return Ok(Step::Finish(TurnEnd::Empty));
        };
        // One more nudge each time: no request is sent twice as it was.
        self.aside.push(Message::text(Role::User, nudge).into());
        Ok(Step::CallModel)
    }

    /// What was said beside calls that only kept something and did: the answer, when nothing follows it.
    fn answered_before(&self) -> Option<String> {
        let is_result = |entry: &&Entry| entry.message.role == Role::Tool;
        let results = self.history.iter().rev().take_while(is_result).count();
        let (rest, results) = self.history.split_at(self.history.len() - results);
        let asking = &rest.last()?.message;
        let failed = |part: &Part| match part {
            Part::ToolResult {
                failed, content, ..
            } => *failed || present::says_failed(content),
            Part::Text { .. } | Part::Reasoning { .. } | Part::Media(_) | Part::ToolCall(_) => {
                false
            }
        };
        let worked = !results
            .iter()
            .any(|entry| entry.message.parts.iter().any(failed));
        let kept = asking
            .tool_calls()
            .all(|call| KEEPING.contains(&call.name.as_str()));
        let said = asking.plain_text();
        let is_answer = asking.role == Role::Assistant && !said.trim().is_empty();
        (is_answer && !results.is_empty() && worked && kept && !is_announcement(&said))
            .then_some(said)
    }

    async fn wants_tools(&mut self, answer: Answer) -> Result<Step, StoreError> {
        let asked: Vec<Asked<'_>> = answer.calls.iter().map(|call| self.asked(call)).collect();
        let is_truncated = |one: &Asked<'_>| matches!(one.arguments, Arguments::Truncated);
        if asked.iter().any(is_truncated) {
            return Ok(self.cut_in_a_call(answer.usage.output_tokens));
        }
        let is_broken = |one: &Asked<'_>| matches!(one.arguments, Arguments::Broken);
        let broken = asked.iter().any(is_broken);
        if broken && self.tries.bad_arguments < MOST_BAD_ARGUMENTS {
            self.tries.bad_arguments += 1;
            self.aside
                .push(Message::text(Role::User, VALID_JSON).into());
            return Ok(Step::CallModel);
        }
        let all_unknown = asked.iter().all(|one| one.tool == Named::Unknown);
        let Sorted {
            calls,
            ready,
            refused,
        } = self.sorted(asked, broken);
        self.aside.clear();
        let mut message = self.whole(answer).to_message(calls.clone());
        if let Some(raw) = &mut message.raw {
            hermes_llm::wire::patch_calls(raw, &calls);
        }
        self.keep_whole(message).await?;
        for refused in refused {
            self.keep(refused.into_message()).await?;
        }
        if all_unknown {
            self.tries.bad_names += 1;
            if self.tries.bad_names >= MOST_BAD_NAMES {
                return Ok(fail(
                    "the model keeps asking for tools that do not exist",
                    "choose another model with `hermes model`",
                ));
            }
        }
        Ok(Step::RunTools(ready))
    }
}

/// An answer whose text is what was said: without thinking between tags, and without what an external memory recalled.
pub(super) fn plain(mut answer: Answer) -> Answer {
    if let Cow::Owned(without) = scrubbed(&answer.text) {
        answer.text = without.trim_start().to_owned();
        // The provider's own turn repeats it too.
        answer.raw = None;
    }
    let (said, thought) = think::split(&answer.text);
    if !thought.is_empty() {
        answer.text = said;
        answer.reasoning.push_str(&thought);
    }
    answer
}

fn fail(message: &str, hint: &str) -> Step {
    Step::Finish(TurnEnd::Failed {
        message: message.to_owned(),
        hint: Some(hint.to_owned()),
    })
}
