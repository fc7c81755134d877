//! Markers that tell a provider which prefix to keep.

use hermes_core::CacheLife;
use serde_json::{Value as Json, json};

/// Markers on messages after the system text; providers take four in all.
const MOVING_MARKERS: usize = 3;

/// Marks the system text and the last messages that can carry a marker.
pub(super) fn mark(messages: &mut [Json], life: CacheLife, text_only_tool_results: bool) {
    let marker = match life {
        CacheLife::Short => json!({"type": "ephemeral"}),
        CacheLife::Long => json!({"type": "ephemeral", "ttl": "1h"}),
    };
    let is_system = |message: &Json| matches!(role(message), "system" | "developer");
    let mut left = MOVING_MARKERS;
    for message in messages.iter_mut().rev() {
        if is_system(message) {
            set(message, &marker);
        } else if left > 0
            && !(text_only_tool_results && role(message) == "tool")
            && set(message, &marker)
        {
            left -= 1;
        }
    }
}

fn role(message: &Json) -> &str {
    message.get("role").and_then(Json::as_str).unwrap_or("")
}

/// Puts the marker on the last text of a message; false when it has none.
fn set(message: &mut Json, marker: &Json) -> bool {
    let Some(content) = message.get_mut("content") else {
        return false;
    };
    if let Json::String(text) = content {
        if text.is_empty() {
            return false;
        }
        *content = json!([{"type": "text", "text": text}]);
    }
    let text = content.as_array_mut().and_then(|parts| {
        parts
            .iter_mut()
            .rev()
            .filter_map(Json::as_object_mut)
            .find(|part| part.contains_key("text"))
    });
    match text {
        Some(part) => {
            part.insert("cache_control".to_owned(), marker.clone());
            true
        }
        None => false,
    }
}
