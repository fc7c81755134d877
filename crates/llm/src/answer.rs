//! An answer, put together from its events.

use hermes_core::{
    CacheLife, CallId, FinishReason, Message, ModelEvent, Part, RawTurn, Role, ToolCall, Usage,
};
use serde_json::Value as Json;

/// What providers call the items of a turn that hold thinking.
const THINKING: [&str; 3] = ["reasoning", "thinking", "redacted_thinking"];

/// What a model answered.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// The text.
    pub text: String,
    /// The readable thinking.
    pub reasoning: String,
    /// The tools it asks for, in order.
    pub calls: Vec<AskedCall>,
    /// Why it ended; `None` when it broke off.
    pub finish: Option<FinishReason>,
    /// The turn in the provider's own form.
    pub raw: Option<RawTurn>,
    /// How long what was sent is to be remembered, which is part of the price.
    pub cache: CacheLife,
    /// What it used, as far as the provider said.
    pub usage: Usage,
    /// What the provider says it cost.
    pub cost_usd: Option<f64>,
}

/// A call as the model wrote it. The arguments are text that may be broken JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedCall {
    /// The model's name for the call.
    pub id: CallId,
    /// The tool, as the model spelled it.
    pub name: String,
    /// The arguments, as they came.
    pub arguments: String,
}

impl Answer {
    /// Takes the next event in.
    pub fn take(&mut self, event: &ModelEvent) {
        match event {
            ModelEvent::Text(text) => self.text.push_str(text),
            ModelEvent::Reasoning(text) => self.reasoning.push_str(text),
            ModelEvent::CallStarted { id, name } => self.calls.push(AskedCall {
                id: id.clone(),
                name: name.clone(),
                arguments: String::new(),
            }),
            ModelEvent::CallArguments { id, fragment } => {
                if let Some(call) = self.calls.iter_mut().rfind(|call| call.id == *id) {
                    call.arguments.push_str(fragment);
                }
            }
            ModelEvent::Usage { usage, cost_usd } => {
                self.usage = *usage;
                self.cost_usd = cost_usd.or(self.cost_usd);
            }
            ModelEvent::Finished { reason, raw } => {
                self.finish = Some(*reason);
                self.raw.clone_from(raw);
            }
        }
    }

    /// Whether there is nothing a person or a tool could use.
    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty() && self.calls.is_empty()
    }

    /// Whether a provider can be shown what it said so far: thinking alone is not taken back.
    pub fn can_be_shown_again(&self) -> bool {
        let thought = |item: &Json| match item.get("type").and_then(Json::as_str) {
            Some(kind) => THINKING.contains(&kind),
            None => item.get("reasoningContent").is_some(),
        };
        let items = self.raw.as_ref().and_then(|raw| raw.body.as_array());
        !self.text.trim().is_empty()
            || items.is_some_and(|items| items.iter().any(|item| !thought(item)))
    }

    /// The answer as a message, with the calls as they are to be run.
    pub fn to_message(&self, calls: Vec<ToolCall>) -> Message {
        let mut parts = Vec::new();
        if !self.reasoning.is_empty() {
            parts.push(Part::Reasoning {
                text: self.reasoning.clone(),
            });
        }
        if !self.text.is_empty() {
            parts.push(Part::Text {
                text: self.text.clone(),
            });
        }
        parts.extend(calls.into_iter().map(Part::ToolCall));
        Message {
            role: Role::Assistant,
            parts,
            raw: self.raw.clone(),
        }
    }
}
