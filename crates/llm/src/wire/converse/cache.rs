//! Points up to which the service should remember a request.

use hermes_core::CacheLife;
use serde_json::{Value as Json, json};

/// The service takes four points; one is for the system text, which stands behind the tools.
const MARKED_MESSAGES: usize = 3;

/// Models that remember for a short time only.
const SHORT_LIVED: [&str; 4] = [
    "claude-3",
    "claude-opus-4-1",
    "claude-opus-4-2025",
    "claude-sonnet-4-2025",
];

/// Puts points behind the system text and the last messages.
pub(super) fn write(system: &mut Vec<Json>, messages: &mut [Json], life: CacheLife, model: &str) {
    let point = point(life, model);
    if !system.is_empty() {
        system.push(point.clone());
    }
    let ends = messages
        .iter_mut()
        .rev()
        .filter_map(|message| message.get_mut("content")?.as_array_mut())
        .filter(|blocks| can_end(blocks))
        .take(MARKED_MESSAGES);
    for blocks in ends {
        blocks.push(point.clone());
    }
}

fn point(life: CacheLife, model: &str) -> Json {
    match possible(life, model) {
        CacheLife::Long => json!({ "cachePoint": { "type": "default", "ttl": "1h" } }),
        CacheLife::Short => json!({ "cachePoint": { "type": "default" } }),
    }
}

/// For how long the service remembers for a model, when so long is asked for.
pub(in crate::wire) fn possible(asked: CacheLife, model: &str) -> CacheLife {
    if SHORT_LIVED.iter().any(|name| model.contains(name)) {
        CacheLife::Short
    } else {
        asked
    }
}

/// Whether a point may stand behind these blocks: thinking may not be marked.
fn can_end(blocks: &[Json]) -> bool {
    blocks
        .last()
        .is_some_and(|last| last.get("reasoningContent").is_none())
}
