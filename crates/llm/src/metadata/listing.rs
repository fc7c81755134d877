//! What the answer to `/models` says about a model.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::kept::Facts;
use super::price::Price;

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

/// Where servers put such fields beside the entry itself.
const INNER: [&str; 5] = ["meta", "top_provider", "limits", "capabilities", "limit"];

/// The context window a listing gives a model.
pub fn window_from_listing(listing: &Json, model: &str) -> Option<u32> {
    window(entry(listing, model)?)
}

/// What a listing says about each of its models, by name.
pub fn facts_from_listing(listing: &Json) -> BTreeMap<String, Facts> {
    let named = |entry: &Json| {
        let name = ["id", "name"]
            .iter()
            .find_map(|key| entry.get(key)?.as_str())?;
        let facts = Facts {
            window: window(entry),
            price: price(entry),
        };
        let name = name.strip_prefix("models/").unwrap_or(name);
        (facts != Facts::default()).then(|| (name.to_owned(), facts))
    };
    let entries = entries(listing).into_iter().flatten();
    entries.filter_map(named).collect()
}

fn entries(listing: &Json) -> Option<&Vec<Json>> {
    let lists = [Some(listing), listing.get("data"), listing.get("models")];
    lists.into_iter().flatten().find_map(Json::as_array)
}

/// In the words of OpenRouter and those like it, for a token; of Novita, in parts of a dollar; or of DeepInfra.
fn price(entry: &Json) -> Option<Price> {
    let places = [
        (
            1_000_000.0,
            [
                "/pricing/prompt",
                "/pricing/completion",
                "/pricing/input_cache_read",
                "/pricing/input_cache_write",
            ],
        ),
        (
            0.000_1,
            [
                "/input_token_price_per_m",
                "/output_token_price_per_m",
                "/pricing/input_cache_read/price_per_m",
                "/pricing/input_cache_write/price_per_m",
            ],
        ),
        (
            1.0,
            [
                "/metadata/pricing/input_tokens",
                "/metadata/pricing/output_tokens",
                "/metadata/pricing/cache_read_tokens",
                "/metadata/pricing/cache_write_tokens",
            ],
        ),
    ];
    places.into_iter().find_map(|(factor, places)| {
        let [input, output, cache_read, cache_write] =
            places.map(|place| Some(amount(entry.pointer(place)?)? * factor));
        Some(Price {
            input: input?,
            output: output?,
            cache_read,
            cache_write,
        })
    })
}

/// A price; those that depend on what is used are said with a negative number.
fn amount(value: &Json) -> Option<f64> {
    let number = value
        .as_f64()
        .or_else(|| value.as_str().and_then(|text| text.parse().ok()))?;
    (number.is_finite() && number >= 0.0).then_some(number)
}

fn entry<'j>(listing: &'j Json, model: &str) -> Option<&'j Json> {
    let entries = entries(listing)?;
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

fn window(entry: &Json) -> Option<u32> {
    let inner = INNER.iter().filter_map(|key| entry.get(key));
    std::iter::once(entry).chain(inner).find_map(|place| {
        WINDOW_FIELDS.iter().find_map(|field| {
            let value = place.get(field)?;
            let number = value
                .as_u64()
                .or_else(|| value.as_str().and_then(|text| text.parse().ok()))?;
            u32::try_from(number).ok().filter(|number| *number > 0)
        })
    })
}
