//! What the answer to `/models` says about a model.

use serde_json::Value as Json;

const WINDOW_FIELDS: [&str; 12] = [
    "context_length",
    "context_window",
    "context_size",
    "max_context_length",
    "max_position_embeddings",
    "max_model_len",
    "max_input_tokens",
    "max_sequence_length",
    "max_seq_len",
    "n_ctx",
    "n_ctx_train",
    "ctx_size",
];

const OUTPUT_FIELDS: [&str; 3] = ["max_completion_tokens", "max_output_tokens", "max_tokens"];

/// Where servers put such fields beside the entry itself.
const INNER: [&str; 5] = ["meta", "top_provider", "limits", "capabilities", "limit"];

/// The context window a listing gives a model.
pub fn window_from_listing(listing: &Json, model: &str) -> Option<u32> {
    number(entry(listing, model)?, &WINDOW_FIELDS)
}

/// The longest answer a listing gives a model.
pub fn output_from_listing(listing: &Json, model: &str) -> Option<u32> {
    number(entry(listing, model)?, &OUTPUT_FIELDS)
}

fn entry<'j>(listing: &'j Json, model: &str) -> Option<&'j Json> {
    let lists = [Some(listing), listing.get("data"), listing.get("models")];
    let entries = lists.into_iter().flatten().find_map(Json::as_array)?;
    let name = |entry: &Json| {
        ["id", "name", "model", "key", "slug"]
            .iter()
            .filter_map(|key| entry.get(key)?.as_str())
            .any(|name| {
                name == model
                    || name
                        .strip_prefix("models/")
                        .is_some_and(|name| name == model)
            })
    };
    entries.iter().find(|entry| name(entry))
}

fn number(entry: &Json, fields: &[&str]) -> Option<u32> {
    let inner = INNER.iter().filter_map(|key| entry.get(key));
    std::iter::once(entry).chain(inner).find_map(|place| {
        fields.iter().find_map(|field| {
            let value = place.get(field)?;
            let number = value
                .as_u64()
                .or_else(|| value.as_str().and_then(|text| text.parse().ok()))?;
            u32::try_from(number).ok().filter(|number| *number > 0)
        })
    })
}
