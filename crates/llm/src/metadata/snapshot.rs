//! Prices that providers publish on pages, as they were at one time.

use super::price::Price;

/// When the prices below were looked up.
pub(super) const AS_OF: &str = "price list of 2026";

/// A price and whose it is.
struct Entry {
    /// Who charges it: the provider's id, or the vendor in front of the name.
    sellers: &'static [&'static str],
    /// The model, with dashes for dots.
    model: &'static str,
    /// It counts for requests of more tokens than this.
    above: u64,
    price: Price,
}

const ALIBABA: &[&str] = &["alibaba", "qwen"];
const AMAZON: &[&str] = &["amazon"];
const ANTHROPIC: &[&str] = &["anthropic", "opencode-zen"];
const ARCEE: &[&str] = &["arcee", "arcee-ai"];
const DEEPSEEK: &[&str] = &["deepseek", "deepseek-ai"];
const FIREWORKS: &[&str] = &["fireworks"];
const GMI: &[&str] = &["gmi"];
const GOOGLE: &[&str] = &["gemini", "google"];
const HUGGING_FACE: &[&str] = &["huggingface"];
const MINIMAX: &[&str] = &["minimax", "minimax-cn"];
const MOONSHOT: &[&str] = &["kimi-coding", "kimi-coding-cn", "moonshotai"];
const OPENAI: &[&str] = &["openai-api", "openai"];
const STEPFUN: &[&str] = &["stepfun"];
const UPSTAGE: &[&str] = &["upstage"];
const XAI: &[&str] = &["xai", "x-ai"];
const XIAOMI: &[&str] = &["xiaomi"];
const ZAI: &[&str] = &["zai", "z-ai"];

const fn claude(model: &'static str, input: f64, output: f64) -> Entry {
    Entry {
        sellers: ANTHROPIC,
        model,
        above: 0,
        price: Price {
            input,
            output,
            cache_read: Some(input * 0.1),
            cache_write: Some(input * 1.25),
        },
    }
}

/// Writing to these caches costs nothing beyond the input.
const fn cached(
    sellers: &'static [&'static str],
    model: &'static str,
    input: f64,
    cache_read: f64,
    output: f64,
) -> Entry {
    Entry {
        sellers,
        model,
        above: 0,
        price: Price {
            input,
            output,
            cache_read: Some(cache_read),
            cache_write: Some(input),
        },
    }
}

/// What it costs when more is sent.
const fn above(tokens: u64, entry: Entry) -> Entry {
    Entry {
        above: tokens,
        ..entry
    }
}

const PRICES: &[Entry] = &[
    claude("claude-opus-4", 15.0, 75.0),
    claude("claude-opus-4-5", 5.0, 25.0),
    claude("claude-opus-4-6", 5.0, 25.0),
    claude("claude-opus-4-1", 15.0, 75.0),
    claude("claude-sonnet-4", 3.0, 15.0),
    above(200_000, claude("claude-sonnet-4", 6.0, 22.5)),
    claude("claude-sonnet-4-5", 3.0, 15.0),
    above(200_000, claude("claude-sonnet-4-5", 6.0, 22.5)),
    claude("claude-sonnet-4-6", 3.0, 15.0),
    claude("claude-haiku-4-5", 1.0, 5.0),
    claude("claude-3-5-haiku", 0.8, 4.0),
    cached(OPENAI, "gpt-5", 1.25, 0.125, 10.0),
    cached(OPENAI, "gpt-5-mini", 0.25, 0.025, 2.0),
    cached(OPENAI, "gpt-5-nano", 0.05, 0.005, 0.4),
    cached(OPENAI, "gpt-5-1", 1.25, 0.125, 10.0),
    cached(OPENAI, "gpt-5-2", 1.75, 0.175, 14.0),
    cached(OPENAI, "gpt-5-4", 2.5, 0.25, 15.0),
    above(272_000, cached(OPENAI, "gpt-5-4", 5.0, 0.5, 22.5)),
    cached(OPENAI, "gpt-5-5", 5.0, 0.5, 30.0),
    above(272_000, cached(OPENAI, "gpt-5-5", 10.0, 1.0, 45.0)),
    cached(OPENAI, "gpt-4-1", 2.0, 0.5, 8.0),
    cached(OPENAI, "gpt-4-1-mini", 0.4, 0.1, 1.6),
    cached(OPENAI, "gpt-4-1-nano", 0.1, 0.025, 0.4),
    cached(OPENAI, "gpt-4o", 2.5, 1.25, 10.0),
    cached(OPENAI, "gpt-4o-mini", 0.15, 0.075, 0.6),
    cached(OPENAI, "o3", 2.0, 0.5, 8.0),
    cached(OPENAI, "o4-mini", 1.1, 0.275, 4.4),
    cached(GOOGLE, "gemini-2-5-pro", 1.25, 0.125, 10.0),
    above(200_000, cached(GOOGLE, "gemini-2-5-pro", 2.5, 0.25, 15.0)),
    cached(GOOGLE, "gemini-2-5-flash", 0.3, 0.03, 2.5),
    cached(GOOGLE, "gemini-2-5-flash-lite", 0.1, 0.01, 0.4),
    cached(GOOGLE, "gemini-3-pro", 2.0, 0.2, 12.0),
    above(200_000, cached(GOOGLE, "gemini-3-pro", 4.0, 0.4, 18.0)),
    cached(GOOGLE, "gemini-3-1-pro", 2.0, 0.2, 12.0),
    above(200_000, cached(GOOGLE, "gemini-3-1-pro", 4.0, 0.4, 18.0)),
    cached(GOOGLE, "gemini-3-flash", 0.5, 0.05, 3.0),
    cached(GOOGLE, "gemini-3-5-flash", 1.5, 0.15, 9.0),
    cached(DEEPSEEK, "deepseek-chat", 0.28, 0.028, 0.42),
    cached(DEEPSEEK, "deepseek-reasoner", 0.28, 0.028, 0.42),
    cached(DEEPSEEK, "deepseek-v4-flash", 0.22, 0.007, 0.66),
    cached(XAI, "grok-4", 3.0, 0.75, 15.0),
    cached(XAI, "grok-4-5", 2.0, 0.5, 6.0),
    above(200_000, cached(XAI, "grok-4-5", 4.0, 1.0, 12.0)),
    cached(XAI, "grok-3-mini", 0.3, 0.075, 0.5),
    cached(MOONSHOT, "kimi-k2", 0.6, 0.15, 2.5),
    cached(MOONSHOT, "kimi-k2-5", 0.6, 0.1, 3.0),
    cached(MOONSHOT, "kimi-k2-turbo", 2.4, 0.6, 10.0),
    cached(ZAI, "glm-4-6", 0.6, 0.11, 2.2),
    cached(ZAI, "glm-4-7", 0.6, 0.11, 2.2),
    cached(ZAI, "glm-5-2", 1.4, 0.26, 4.4),
    cached(FIREWORKS, "glm-5p2", 1.4, 0.14, 4.4),
    cached(GMI, "glm-5-2", 0.979, 0.182, 3.08),
    cached(HUGGING_FACE, "glm-5-2", 1.4, 1.4, 4.4),
    cached(MINIMAX, "minimax-m2", 0.3, 0.03, 1.2),
    cached(MINIMAX, "minimax-m3", 0.35, 0.07, 1.4),
    cached(ALIBABA, "qwen3-max", 1.2, 0.24, 6.0),
    above(32_000, cached(ALIBABA, "qwen3-max", 2.4, 0.48, 12.0)),
    above(128_000, cached(ALIBABA, "qwen3-max", 3.0, 0.6, 15.0)),
    cached(XIAOMI, "mimo-v2-5-pro", 1.0, 0.2, 3.0),
    above(200_000, cached(XIAOMI, "mimo-v2-5-pro", 2.0, 0.4, 6.0)),
    cached(STEPFUN, "step-3-5-flash", 0.1, 0.02, 0.3),
    cached(ARCEE, "trinity-large-thinking", 0.22, 0.06, 0.85),
    cached(UPSTAGE, "solar-pro3", 0.15, 0.15, 0.6),
    cached(AMAZON, "nova-pro", 0.8, 0.2, 3.2),
    cached(AMAZON, "nova-lite", 0.06, 0.015, 0.24),
];

/// What a model costs at a provider, for a request of so many tokens. What a provider asks itself counts more than
/// what the vendor of the model asks.
pub(super) fn find(provider: &str, model: &str, sent: u64) -> Option<Price> {
    let (vendor, name) = match provider {
        "bedrock" => of_account(model),
        _ => model.rsplit_once('/').unwrap_or((provider, model)),
    };
    let (vendor, name) = (plain(vendor), plain(name));
    let by = |seller: &str| {
        PRICES
            .iter()
            .filter(|entry| entry.sellers.contains(&seller) && entry.covers(&name))
            .filter(|entry| entry.above == 0 || sent > entry.above)
            .max_by_key(|entry| entry.above)
    };
    let found = by(provider).or_else(|| by(&vendor));
    found.map(|entry| entry.price)
}

fn plain(name: &str) -> String {
    name.to_lowercase().replace('.', "-")
}

/// Vendor and name of a model of AWS, such as `us.anthropic.claude-sonnet-4-6`: where it runs stands in front.
fn of_account(model: &str) -> (&str, &str) {
    let vendor = ["anthropic", "amazon"].into_iter();
    let split = |vendor: &'static str| {
        let (before, name) = model.split_once(vendor)?;
        let name = name.strip_prefix('.')?;
        (before.is_empty() || before.ends_with('.')).then_some((vendor, name))
    };
    vendor
        .filter_map(split)
        .next()
        .unwrap_or(("bedrock", model))
}

impl Entry {
    /// Exactly this model, possibly with a date or a word that does not change the price.
    fn covers(&self, name: &str) -> bool {
        name.strip_prefix(self.model).is_some_and(|rest| {
            let same = ["-latest", "-fp8"].contains(&rest);
            let marked = ["-preview", "-v1"]
                .iter()
                .any(|mark| rest.starts_with(mark));
            rest.is_empty() || same || marked || is_dated(rest)
        })
    }
}

/// `-20250514`, `-2025-04-14`, `-0905-preview`: when it came out, not which version it is.
fn is_dated(rest: &str) -> bool {
    let first = rest
        .strip_prefix('-')
        .and_then(|rest| rest.split('-').next());
    first.is_some_and(|first| first.len() >= 4 && first.bytes().all(|byte| byte.is_ascii_digit()))
}
