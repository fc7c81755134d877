//! How hard to think, how much to say and how freely.

use hermes_core::{Effort, ModelRequest, ToolChoice};
use serde_json::{Map, Value as Json, json};

use super::family::{Family, ThinkingStyle};
use crate::quirks::{Quirks, ReasoningReplay, ReasoningStyle, Temperature};

/// What must be left for the answer behind the thinking.
const ROOM_FOR_ANSWER: u32 = 4_096;

/// Thinking, decided for one request.
#[derive(Clone, Copy)]
enum Plan {
    Off,
    Budget(u32),
    Adaptive(&'static str),
}

/// Writes `max_tokens`, `thinking`, `output_config` and `temperature`.
pub(super) fn write(
    body: &mut Map<String, Json>,
    request: &ModelRequest,
    quirks: &Quirks,
    messages: &[Json],
) {
    let family = Family::of(&request.model);
    let plan = plan(request, quirks, family, messages);
    let asked = request.settings.max_output_tokens.unwrap_or(family.output);
    let limit = family.known_output().unwrap_or(u32::MAX);
    let room = match plan {
        Plan::Budget(budget) => budget + ROOM_FOR_ANSWER,
        Plan::Off | Plan::Adaptive(_) => 1,
    };
    body.insert("max_tokens".to_owned(), json!(asked.min(limit).max(room)));
    match plan {
        Plan::Off => {}
        Plan::Budget(budget) => {
            let thinking = json!({ "type": "enabled", "budget_tokens": budget });
            body.insert("thinking".to_owned(), thinking);
        }
        Plan::Adaptive(effort) => {
            let thinking = json!({ "type": "adaptive", "display": "summarized" });
            body.insert("thinking".to_owned(), thinking);
            body.insert("output_config".to_owned(), json!({ "effort": effort }));
        }
    }
    if let Some(temperature) = temperature(request, quirks, family, plan) {
        body.insert("temperature".to_owned(), temperature);
    }
}

fn plan(request: &ModelRequest, quirks: &Quirks, family: &Family, messages: &[Json]) -> Plan {
    let style = match &quirks.reasoning {
        ReasoningStyle::Omit => ThinkingStyle::None,
        ReasoningStyle::Adaptive => ThinkingStyle::Adaptive,
        // The other styles are fields of other protocols.
        ReasoningStyle::Native
        | ReasoningStyle::Effort { .. }
        | ReasoningStyle::Object { .. }
        | ReasoningStyle::Verbosity { .. }
        | ReasoningStyle::ThinkingSwitch { .. }
        | ReasoningStyle::GoogleConfig
        | ReasoningStyle::Local => family.thinking,
    };
    let effort = match request.settings.effort {
        None | Some(Effort::Off) => return Plan::Off,
        Some(effort) => effort,
    };
    // A forced call and thinking exclude each other.
    if request.settings.tool_choice == ToolChoice::Required && !request.tools.is_empty() {
        return Plan::Off;
    }
    match style {
        ThinkingStyle::None => Plan::Off,
        ThinkingStyle::Adaptive => Plan::Adaptive(family.effort_word(effort)),
        ThinkingStyle::Budget if insists(quirks, family) && begins_without_thinking(messages) => {
            Plan::Off
        }
        ThinkingStyle::Budget => {
            let most = family.known_output().unwrap_or(u32::MAX) - ROOM_FOR_ANSWER;
            Plan::Budget(budget(effort).min(most))
        }
    }
}

/// Whether thinking is refused over calls that do not begin with it. The models of the protocol's maker do so
/// wherever they are served, also where their thinking is never sent back; of others we know it of those only
/// who take their thinking back the maker's way.
fn insists(quirks: &Quirks, family: &Family) -> bool {
    family.is_makers_own() || quirks.replay == ReasoningReplay::Native
}

/// Whether the tool loop under way stands there without thinking: another model began it, thinking was off, or it
/// is not sent back. Such a loop must end without: the provider asks for the thinking block that is not there.
fn begins_without_thinking(messages: &[Json]) -> bool {
    let kinds: Vec<&str> = messages
        .iter()
        .rfind(|message| message["role"] == "assistant")
        .and_then(|message| message["content"].as_array())
        .into_iter()
        .flatten()
        .filter_map(|block| block["type"].as_str())
        .collect();
    let thinks = matches!(kinds.first(), Some(&("thinking" | "redacted_thinking")));
    kinds.contains(&"tool_use") && !thinks
}

fn budget(effort: Effort) -> u32 {
    match effort {
        Effort::Off | Effort::Minimal | Effort::Low => 4_000,
        Effort::Medium => 8_000,
        Effort::High => 16_000,
        Effort::ExtraHigh | Effort::Max | Effort::Ultra => 32_000,
    }
}

fn temperature(
    request: &ModelRequest,
    quirks: &Quirks,
    family: &Family,
    plan: Plan,
) -> Option<Json> {
    let asked = match quirks.temperature {
        Temperature::Omit => return None,
        Temperature::Fixed(value) => Some(value),
        Temperature::AsAsked => request.settings.temperature,
    };
    match plan {
        _ if !family.takes_temperature => None,
        Plan::Budget(_) => Some(json!(1)),
        Plan::Adaptive(_) => None,
        Plan::Off => asked.map(|value| json!(value.clamp(0.0, 1.0))),
    }
}
