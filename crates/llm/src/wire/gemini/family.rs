//! What differs between Gemini models, by name.

use hermes_core::Effort;
use serde_json::{Value as Json, json};

/// How a model is asked to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Thinking {
    /// It cannot.
    None,
    /// It decides by itself; only whether its thoughts are shown can be chosen, and on some whether it
    /// thinks at all.
    Shown { optional: bool },
    /// By level.
    Level(&'static [&'static str]),
}

const LOW_TO_HIGH: &[&str] = &["low", "medium", "high"];
const LOW_OR_HIGH: &[&str] = &["low", "high"];

/// The name of a model as it stands in the address of a request.
pub fn wire_model(model: &str) -> &str {
    let mut name = model;
    while let Some(rest) = ["google/", "gemini/", "models/"]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
    {
        name = rest;
    }
    name
}

/// The `thinkingConfig` for an effort; `None` leaves it to the provider.
pub(super) fn thinking_config(model: &str, effort: Effort) -> Option<Json> {
    match (thinking(model), effort) {
        (Thinking::None, _) => None,
        (Thinking::Shown { optional: true }, Effort::Off) => {
            Some(json!({ "includeThoughts": false, "thinkingBudget": 0 }))
        }
        (Thinking::Shown { .. } | Thinking::Level(_), Effort::Off) => {
            Some(json!({ "includeThoughts": false }))
        }
        (Thinking::Shown { .. }, _) => Some(json!({ "includeThoughts": true })),
        (Thinking::Level(known), _) => Some(json!({
            "includeThoughts": true,
            "thinkingLevel": level(effort, known),
        })),
    }
}

/// Whether the first call of a turn must carry a signature.
pub(super) fn wants_signatures(model: &str) -> bool {
    matches!(thinking(model), Thinking::Level(_))
}

fn thinking(model: &str) -> Thinking {
    let name = wire_model(model).to_lowercase();
    let version = name.strip_prefix("gemini-").unwrap_or_default();
    let major: String = version.chars().take_while(char::is_ascii_digit).collect();
    let flash = name.contains("flash");
    match major.parse::<u32>() {
        Ok(3..) if flash => Thinking::Level(LOW_TO_HIGH),
        Ok(3..) => Thinking::Level(LOW_OR_HIGH),
        Ok(_) if version.starts_with("2.5") => Thinking::Shown { optional: flash },
        // Names such as `gemini-flash-latest` stand for models that think.
        Err(_) if version.ends_with("-latest") => Thinking::Shown { optional: false },
        Ok(_) | Err(_) => Thinking::None,
    }
}

fn level(effort: Effort, known: &[&'static str]) -> &'static str {
    match effort {
        Effort::Off | Effort::Minimal | Effort::Low => "low",
        Effort::Medium if known.contains(&"medium") => "medium",
        Effort::Medium | Effort::High | Effort::ExtraHigh | Effort::Max | Effort::Ultra => "high",
    }
}
