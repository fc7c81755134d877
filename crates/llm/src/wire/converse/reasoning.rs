//! How hard to think. The service has no field of its own for it: what a maker's models understand goes
//! beside the common fields.

use hermes_core::{Effort, ModelRequest, ToolChoice};
use serde_json::{Value as Json, json};

use crate::quirks::{Quirks, ReasoningStyle};
use crate::wire::anthropic::{ThinkingStyle, effort_word, thinking_style};

/// What must be left for the answer behind the thinking.
const ROOM_FOR_ANSWER: u32 = 4_096;

/// Thinking, decided for one request.
pub(super) enum Thinking {
    /// Nothing is said about it.
    Unsaid,
    /// With a number of tokens.
    Budget(u32),
    /// The model decides how long, guided by an effort.
    Adaptive(&'static str),
    /// By one of the words the profile knows.
    Level(String),
}

impl Thinking {
    /// The fields beside the common ones.
    pub(super) fn fields(&self) -> Option<Json> {
        match self {
            Self::Unsaid => None,
            Self::Budget(budget) => {
                Some(json!({ "thinking": { "type": "enabled", "budget_tokens": budget } }))
            }
            Self::Adaptive(effort) => Some(json!({
                "thinking": { "type": "adaptive", "display": "summarized" },
                "output_config": { "effort": effort },
            })),
            Self::Level(level) => Some(json!({ "reasoning_effort": level })),
        }
    }

    /// Fewest tokens that may be asked for.
    pub(super) fn least_output(&self) -> u32 {
        match self {
            Self::Budget(budget) => budget + ROOM_FOR_ANSWER,
            Self::Unsaid | Self::Adaptive(_) | Self::Level(_) => 1,
        }
    }

    /// Whether a temperature may stand beside it.
    pub(super) fn takes_temperature(&self) -> bool {
        match self {
            Self::Unsaid | Self::Level(_) => true,
            Self::Budget(_) | Self::Adaptive(_) => false,
        }
    }
}

/// Decides for a request whose conversation is written already.
pub(super) fn plan(request: &ModelRequest, quirks: &Quirks, messages: &[Json]) -> Thinking {
    let effort = match request.settings.effort {
        None | Some(Effort::Off) => return Thinking::Unsaid,
        Some(effort) => effort,
    };
    let style = match &quirks.reasoning {
        ReasoningStyle::Effort { levels, .. } => {
            return match nearest(effort, levels) {
                Some(level) => Thinking::Level(level.to_owned()),
                None => Thinking::Unsaid,
            };
        }
        ReasoningStyle::Native if request.model.contains("claude") => {
            thinking_style(&request.model)
        }
        ReasoningStyle::Adaptive => ThinkingStyle::Adaptive,
        ReasoningStyle::Native
        | ReasoningStyle::Omit
        | ReasoningStyle::Object { .. }
        | ReasoningStyle::Verbosity { .. }
        | ReasoningStyle::ThinkingSwitch { .. }
        | ReasoningStyle::GoogleConfig
        | ReasoningStyle::Local => ThinkingStyle::None,
    };
    // A forced call and thinking exclude each other.
    if request.settings.tool_choice == ToolChoice::Required && !request.tools.is_empty() {
        return Thinking::Unsaid;
    }
    match style {
        ThinkingStyle::None => Thinking::Unsaid,
        ThinkingStyle::Adaptive => Thinking::Adaptive(effort_word(&request.model, effort)),
        ThinkingStyle::Budget if begun_without_thinking(messages) => Thinking::Unsaid,
        ThinkingStyle::Budget => Thinking::Budget(match effort {
            Effort::Off | Effort::Minimal | Effort::Low => 4_000,
            Effort::Medium => 8_000,
            Effort::High => 16_000,
            Effort::ExtraHigh | Effort::Max | Effort::Ultra => 32_000,
        }),
    }
}

/// The level of the same name, else the highest below it, else the lowest.
fn nearest(effort: Effort, levels: &[String]) -> Option<&str> {
    let word = match effort {
        Effort::Off => "none",
        Effort::Minimal => "minimal",
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
        Effort::ExtraHigh => "xhigh",
        Effort::Max | Effort::Ultra => "max",
    };
    const ORDER: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
    let rank = |word: &str| ORDER.iter().position(|known| *known == word);
    levels
        .iter()
        .map(String::as_str)
        .rfind(|level| rank(level) <= rank(word))
        .or(levels.first().map(String::as_str))
}

/// Whether the tool loop under way was begun without thinking. Such a loop must end the way it began:
/// the model's maker asks for the thinking it never signed.
fn begun_without_thinking(messages: &[Json]) -> bool {
    let last = messages
        .iter()
        .rfind(|message| message["role"] == "assistant");
    let Some(blocks) = last.and_then(|message| message["content"].as_array()) else {
        return false;
    };
    let thinks = blocks
        .first()
        .is_some_and(|block| block["reasoningContent"].is_object());
    !thinks && blocks.iter().any(|block| block["toolUse"].is_object())
}
