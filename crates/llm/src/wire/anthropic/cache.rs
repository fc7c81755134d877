//! Marking the prefix the provider should remember.

use hermes_core::CacheLife;
use serde_json::{Value as Json, json};

/// The provider takes four marks; one is for the system text.
const MARKED_MESSAGES: usize = 3;

/// The mark for a lifetime.
fn mark(life: CacheLife) -> Json {
    match life {
        CacheLife::Short => json!({ "type": "ephemeral" }),
        CacheLife::Long => json!({ "type": "ephemeral", "ttl": "1h" }),
    }
}

/// Marks the end of the system text and of the last messages.
pub(super) fn write(system: &mut [Json], messages: &mut [Json], life: CacheLife) {
    let ends = messages
        .iter_mut()
        .rev()
        .filter_map(|message| carrier(message.get_mut("content")?.as_array_mut()?))
        .take(MARKED_MESSAGES);
    for block in system.last_mut().into_iter().chain(ends) {
        if let Some(block) = block.as_object_mut() {
            block.insert("cache_control".to_owned(), mark(life));
        }
    }
}

/// The last block that may carry a mark: thinking may not.
fn carrier(blocks: &mut [Json]) -> Option<&mut Json> {
    blocks.iter_mut().rfind(|block| {
        !matches!(
            block["type"].as_str(),
            None | Some("thinking" | "redacted_thinking")
        )
    })
}
