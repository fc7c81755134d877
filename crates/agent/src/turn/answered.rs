//! What an answer leads to: tools, the end of the turn, or another call that changes something.

use hermes_core::{
    CallId, Event, FinishReason, Message, Part, Role, ToolCall, TurnEnd, WireProtocol,
};
use hermes_llm::Answer;
use hermes_store::StoreError;

use super::{Step, Turn};
use crate::repair::{self, Arguments};
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

impl Turn<'_> {
    /// Decides by refusal, length, calls and text, in this order.
    pub(super) async fn answered(&mut self, mut answer: Answer) -> Result<Step, StoreError> {
        let (said, thought) = think::split(&answer.text);
        if !thought.is_empty() {
            answer.text = said;
            answer.reasoning.push_str(&thought);
        }
        let responses = self.around.spec.course.route().protocol() == Some(WireProtocol::Responses);
        if responses && answer.calls.is_empty() && answer.text.contains(LEAKED_CALL) {
            answer.text.clear();
            answer.raw = None;
            answer.finish = Some(FinishReason::Paused);
        }
        let most_pauses = match responses {
            true => MOST_INCOMPLETE,
            false => MOST_PAUSES,
        };
        match answer.finish {
            // A filter that struck in the middle leaves nothing that should be run.
            Some(FinishReason::Refused) if answer.is_empty() || !answer.calls.is_empty() => {
                return Ok(self.refused());
            }
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
        if answer.is_empty() && self.fragments.is_empty() && self.held.is_empty() {
            return self.said_nothing(&answer).await;
        }
        self.done(answer).await
    }

    /// The provider ended an answer that it means to go on with. What it said so far is a row, sent back as it
    /// came; a crash in between loses none of it.
    async fn paused(&mut self, answer: Answer) -> Result<Step, StoreError> {
        self.tries.paused += 1;
        if !answer.can_be_shown_again() {
            // Nothing to go on from, and no request is sent twice as it was.
            self.aside.push(Message::text(Role::User, SAY_IT).into());
        } else if self.fragments.is_empty() && self.held.is_empty() {
            self.aside.clear();
            self.keep(answer.to_message(Vec::new())).await?;
        } else {
            // In the middle of an answer that becomes one row at its end.
            self.fragments.push_str(&answer.text);
            self.aside.push(answer.to_message(Vec::new()).into());
        }
        Ok(Step::CallModel)
    }

    fn refused(&mut self) -> Step {
        let now = self.around.services.clock.now();
        if self.around.spec.course.leave_refusing(now) {
            return Step::CallModel;
        }
        let label = self.around.spec.course.route().label();
        fail(
            &format!("{label} refused to answer this"),
            "say it in another way, or choose another model with `hermes model`",
        )
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
        self.fragments.push_str(&answer.text);
        // A tiny model that found no end will not find one with more room.
        let most = if self.around.spec.course.route().is_embedded() {
            0
        } else {
            MOST_CONTINUED
        };
        if self.tries.continued >= most {
            let whole = Answer {
                text: self.take_said(),
                raw: None,
                ..answer
            };
            self.keep(whole.to_message(Vec::new())).await?;
            if self.tries.broke_off {
                let label = self.around.spec.course.route().label();
                return Ok(fail(
                    &format!(
                        "{label}: the answer broke off again and again; what came of it is kept"
                    ),
                    "check the network, and say `go on` to have the rest",
                ));
            }
            let text = "The answer is longer than the model's limit and ends here.".to_owned();
            self.say(Event::Notice { text }).await;
            return Ok(Step::Finish(TurnEnd::Done));
        }
        self.tries.continued += 1;
        self.raise_output(self.tries.continued, answer.usage.output_tokens);
        self.aside.clear();
        self.aside
            .push(Message::text(Role::Assistant, &*self.fragments).into());
        self.aside.push(Message::text(Role::User, GO_ON).into());
        // The next piece goes on in the middle of a sentence.
        self.spoke = false;
        Ok(Step::CallModel)
    }

    /// Gives the next answer more room than the one that was cut off had. Says whether there is more.
    fn raise_output(&mut self, times: u32, used: u64) -> bool {
        let set = self.around.spec.course.route().limits.output;
        // Without a limit of ours the provider's own was reached, which shows in what was used.
        let used = u32::try_from(used).unwrap_or(u32::MAX);
        let base = set.unwrap_or(FIRST_OUTPUT.max(used));
        let raised = base.saturating_mul(1 << times.min(8));
        let raised = raised.min(LAST_OUTPUT.max(base));
        let before = self.output_limit.or(set).unwrap_or(used);
        self.output_limit = Some(raised.max(before));
        raised > before
    }

    async fn done(&mut self, answer: Answer) -> Result<Step, StoreError> {
        let said = self.take_said();
        let whole = if said.is_empty() {
            answer
        } else {
            // Put together from several answers: no provider's own form says it all.
            Answer {
                text: (said + &answer.text).trim_end().to_owned(),
                raw: None,
                ..answer
            }
        };
        self.aside.clear();
        if let Some(nudge) = self.too_early(&whole) {
            self.aside.push(whole.to_message(Vec::new()).into());
            self.aside.push(Message::text(Role::User, nudge).into());
            self.held = whole.text.trim().to_owned();
            return Ok(Step::CallModel);
        }
        self.keep(whole.to_message(Vec::new())).await?;
        Ok(Step::Finish(TurnEnd::Done))
    }

    /// Every retry changes something about the request.
    async fn said_nothing(&mut self, answer: &Answer) -> Result<Step, StoreError> {
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
            if self.around.spec.course.leave_silent(now) {
                self.aside.clear();
                return Ok(Step::CallModel);
            }
            return Ok(Step::Finish(TurnEnd::Empty));
        };
        // One more nudge each time: no request is sent twice as it was.
        self.aside.push(Message::text(Role::User, nudge).into());
        Ok(Step::CallModel)
    }

    async fn wants_tools(&mut self, answer: Answer) -> Result<Step, StoreError> {
        let mut asked = Vec::new();
        let mut truncated = false;
        let mut broken = false;
        for call in &answer.calls {
            let name = repair::tool_name(&call.name, self.toolbox.names());
            let schema = name
                .as_deref()
                .and_then(|name| self.toolbox.get(name))
                .map(|tool| &tool.spec().parameters);
            let arguments = repair::arguments(&call.arguments, schema);
            truncated |= matches!(arguments, Arguments::Truncated);
            broken |= matches!(arguments, Arguments::Broken);
            asked.push((call, name, arguments));
        }
        if truncated {
            return Ok(self.cut_in_a_call(answer.usage.output_tokens));
        }
        if broken && self.tries.bad_arguments < MOST_BAD_ARGUMENTS {
            self.tries.bad_arguments += 1;
            self.aside
                .push(Message::text(Role::User, VALID_JSON).into());
            return Ok(Step::CallModel);
        }
        let all_unknown = asked.iter().all(|(_, name, _)| name.is_none());
        let mut calls: Vec<ToolCall> = Vec::new();
        let mut ready = Vec::new();
        let mut refused: Vec<(CallId, String, String)> = Vec::new();
        for (call, name, arguments) in asked {
            let shown = name.clone().unwrap_or_else(|| call.name.clone());
            let (value, fault) = match arguments {
                Arguments::Good(value) => (value, None),
                Arguments::Truncated | Arguments::Broken => (
                    serde_json::json!({}),
                    Some("the arguments are not valid JSON".to_owned()),
                ),
            };
            let wanted = ToolCall {
                id: call.id.clone(),
                name: shown.clone(),
                arguments: value,
            };
            let doubled = calls
                .iter()
                .any(|known| known.name == wanted.name && known.arguments == wanted.arguments);
            if doubled && fault.is_none() {
                continue;
            }
            let known = name.is_some();
            let fault = fault.or_else(|| match (known, self.toolbox.meant(&wanted)) {
                (false, _) => Some(format!(
                    "there is no tool named {}; the tools are: {}",
                    call.name,
                    self.toolbox.shown().collect::<Vec<_>>().join(", ")
                )),
                (true, Err(fault)) => Some(fault),
                (true, Ok(_)) if broken => Some(
                    "not run, because another call of the same answer was malformed".to_owned(),
                ),
                (true, Ok(meant)) => {
                    ready.push(meant);
                    None
                }
            });
            if let Some(fault) = fault {
                refused.push((call.id.clone(), shown, fault));
            }
            calls.push(wanted);
        }
        self.aside.clear();
        let said = self.take_said();
        let text = said.clone() + &answer.text;
        // Put together from several answers: no provider's own form says it all.
        let raw = answer.raw.clone().filter(|_| said.is_empty());
        let mut message = Answer {
            text,
            raw,
            ..answer
        }
        .to_message(calls.clone());
        if let Some(raw) = &mut message.raw {
            hermes_llm::wire::patch_calls(raw, &calls);
        }
        self.keep(message).await?;
        for (call, name, fault) in refused {
            self.keep(Message {
                role: Role::Tool,
                parts: vec![Part::ToolResult {
                    call,
                    name,
                    content: format!("[TOOL_ERROR] {fault}"),
                    failed: true,
                }],
                raw: None,
            })
            .await?;
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

fn fail(message: &str, hint: &str) -> Step {
    Step::Finish(TurnEnd::Failed {
        message: message.to_owned(),
        hint: Some(hint.to_owned()),
    })
}
