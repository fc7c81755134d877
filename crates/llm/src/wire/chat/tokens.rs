//! What an answer used, in counts that do not overlap.

use hermes_core::Usage;
use serde_json::Value as Json;

/// Reads a usage object; `None` when it counts nothing.
pub(super) fn usage(object: &Json) -> Option<Usage> {
    let prompt = count(object, &["/prompt_tokens"]);
    let completion = count(object, &["/completion_tokens"]);
    if prompt.is_none() && completion.is_none() {
        return None;
    }
    let (prompt, completion) = (prompt.unwrap_or(0), completion.unwrap_or(0));
    let read = count(
        object,
        &[
            "/prompt_tokens_details/cached_tokens",
            "/cache_read_input_tokens",
            "/prompt_cache_hit_tokens",
            "/cached_tokens",
        ],
    );
    let write = count(
        object,
        &[
            "/prompt_tokens_details/cache_write_tokens",
            "/cache_creation_input_tokens",
        ],
    );
    let reasoning = count(object, &["/completion_tokens_details/reasoning_tokens"]).unwrap_or(0);
    let (read, write) = (read.unwrap_or(0), write.unwrap_or(0));
    // Some providers count thinking beside the completion, and some only in the total, which tells. With a cache
    // the rest of the total may be something else.
    let rest = count(object, &["/total_tokens"])
        .and_then(|total| total.checked_sub(prompt.saturating_add(completion)))
        .filter(|rest| *rest == reasoning || (reasoning == 0 && read == 0 && write == 0));
    Some(Usage {
        input_tokens: prompt.saturating_sub(read).saturating_sub(write),
        output_tokens: completion.saturating_add(rest.unwrap_or(0)),
        cache_read_tokens: read,
        cache_write_tokens: write,
        reasoning_tokens: reasoning,
    })
}

/// What the provider says it cost, in US dollars.
pub(crate) fn cost(object: &Json) -> Option<f64> {
    object
        .get("cost")
        .and_then(Json::as_f64)
        .filter(|cost| cost.is_finite() && *cost >= 0.0)
}

/// The first of the places that holds something other than nothing.
pub(crate) fn count(object: &Json, places: &[&str]) -> Option<u64> {
    let mut found = places
        .iter()
        .filter_map(|place| object.pointer(place).and_then(whole));
    let first = found.next()?;
    if first > 0 {
        return Some(first);
    }
    Some(found.find(|more| *more > 0).unwrap_or(0))
}

/// A count, also when it was written as a float. What no answer can use is no count.
fn whole(value: &Json) -> Option<u64> {
    const MOST: u64 = 1 << 48;
    let number = value
        .as_u64()
        .or_else(|| value.as_f64().filter(|n| *n >= 0.0).map(|n| n as u64))?;
    (number <= MOST).then_some(number)
}
