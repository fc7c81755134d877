//! What a call costs, as far as that can be known.

use hermes_core::{CostStatus, Usage};

use crate::route::Route;

/// When the prices below were looked up.
const AS_OF: &str = "price list of 2026-01";

/// What a call cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    /// US dollars; absent when no price is known.
    pub usd: Option<f64>,
    /// How far it can be trusted.
    pub status: CostStatus,
    /// Where it comes from.
    pub source: String,
}

/// US dollars for a million tokens; `None` means unknown, not free.
struct Price {
    /// Vendors that charge it: the provider's id, or the vendor in front of the name.
    sellers: &'static [&'static str],
    /// The model, with dashes for dots.
    model: &'static str,
    input: f64,
    output: f64,
    cache_read: Option<f64>,
    cache_write: Option<f64>,
}

const ANTHROPIC: &[&str] = &["anthropic"];
const OPENAI: &[&str] = &["openai-api", "openai"];
const GOOGLE: &[&str] = &["gemini", "google"];
const DEEPSEEK: &[&str] = &["deepseek"];
const XAI: &[&str] = &["xai", "x-ai"];
const MOONSHOT: &[&str] = &["kimi-coding", "moonshotai"];
const ZAI: &[&str] = &["zai", "z-ai"];
const MINIMAX: &[&str] = &["minimax"];

const fn claude(model: &'static str, input: f64, output: f64) -> Price {
    Price {
        sellers: ANTHROPIC,
        model,
        input,
        output,
        cache_read: Some(input * 0.1),
        cache_write: Some(input * 1.25),
    }
}

/// Writing to these caches costs nothing beyond the input.
const fn cached(
    sellers: &'static [&'static str],
    model: &'static str,
    input: f64,
    cache_read: f64,
    output: f64,
) -> Price {
    Price {
        sellers,
        model,
        input,
        output,
        cache_read: Some(cache_read),
        cache_write: Some(input),
    }
}

const PRICES: &[Price] = &[
    claude("claude-opus-4", 15.0, 75.0),
    claude("claude-opus-4-5", 5.0, 25.0),
    claude("claude-opus-4-6", 5.0, 25.0),
    claude("claude-opus-4-1", 15.0, 75.0),
    claude("claude-sonnet-4", 3.0, 15.0),
    claude("claude-sonnet-4-5", 3.0, 15.0),
    claude("claude-sonnet-4-6", 3.0, 15.0),
    claude("claude-haiku-4-5", 1.0, 5.0),
    claude("claude-3-5-haiku", 0.8, 4.0),
    cached(OPENAI, "gpt-5", 1.25, 0.125, 10.0),
    cached(OPENAI, "gpt-5-mini", 0.25, 0.025, 2.0),
    cached(OPENAI, "gpt-5-nano", 0.05, 0.005, 0.4),
    cached(OPENAI, "gpt-5-1", 1.25, 0.125, 10.0),
    cached(OPENAI, "gpt-5-2", 1.75, 0.175, 14.0),
    cached(OPENAI, "gpt-4-1", 2.0, 0.5, 8.0),
    cached(OPENAI, "gpt-4-1-mini", 0.4, 0.1, 1.6),
    cached(OPENAI, "gpt-4-1-nano", 0.1, 0.025, 0.4),
    cached(OPENAI, "gpt-4o", 2.5, 1.25, 10.0),
    cached(OPENAI, "gpt-4o-mini", 0.15, 0.075, 0.6),
    cached(OPENAI, "o3", 2.0, 0.5, 8.0),
    cached(OPENAI, "o4-mini", 1.1, 0.275, 4.4),
    cached(GOOGLE, "gemini-2-5-pro", 1.25, 0.125, 10.0),
    cached(GOOGLE, "gemini-2-5-flash", 0.3, 0.03, 2.5),
    cached(GOOGLE, "gemini-2-5-flash-lite", 0.1, 0.01, 0.4),
    cached(GOOGLE, "gemini-3-pro", 2.0, 0.2, 12.0),
    cached(GOOGLE, "gemini-3-flash", 0.5, 0.05, 3.0),
    cached(DEEPSEEK, "deepseek-chat", 0.28, 0.028, 0.42),
    cached(DEEPSEEK, "deepseek-reasoner", 0.28, 0.028, 0.42),
    cached(XAI, "grok-4", 3.0, 0.75, 15.0),
    cached(XAI, "grok-3-mini", 0.3, 0.075, 0.5),
    cached(MOONSHOT, "kimi-k2", 0.6, 0.15, 2.5),
    cached(ZAI, "glm-4-6", 0.6, 0.11, 2.2),
    cached(ZAI, "glm-4-7", 0.6, 0.11, 2.2),
    cached(MINIMAX, "minimax-m2", 0.3, 0.03, 1.2),
];

/// The cost of a call: as the provider reported it, else from the price list, else unknown.
pub fn cost(usage: &Usage, route: &Route, reported: Option<f64>) -> Cost {
    if let Some(usd) = reported {
        return Cost {
            usd: Some(usd),
            status: CostStatus::Actual,
            source: format!("reported by {}", route.provider_name),
        };
    }
    if route.is_local() {
        return Cost {
            usd: None,
            status: CostStatus::Included,
            source: "runs locally".to_owned(),
        };
    }
    let usd = find(&route.provider, &route.model).and_then(|price| price.of(usage));
    match usd {
        Some(usd) => Cost {
            usd: Some(usd),
            status: CostStatus::Estimated,
            source: AS_OF.to_owned(),
        },
        None => Cost {
            usd: None,
            status: CostStatus::Unknown,
            source: "no price is known".to_owned(),
        },
    }
}

fn find(provider: &str, model: &str) -> Option<&'static Price> {
    let model = model.to_lowercase().replace('.', "-");
    let (seller, name) = model.split_once('/').unwrap_or((provider, &model));
    PRICES
        .iter()
        .find(|price| price.sellers.contains(&seller) && price.covers(name))
}

impl Price {
    /// Exactly this model, possibly with a date or a word that does not change the price.
    fn covers(&self, name: &str) -> bool {
        name.strip_prefix(self.model).is_some_and(|rest| {
            rest.is_empty() || rest == "-latest" || rest.starts_with("-preview") || is_dated(rest)
        })
    }

    /// `None` when a kind of token that was used has no price.
    fn of(&self, usage: &Usage) -> Option<f64> {
        let part = |tokens: u64, price: Option<f64>| match tokens {
            0 => Some(0.0),
            tokens => price.map(|price| tokens as f64 * price / 1_000_000.0),
        };
        Some(
            part(usage.input_tokens, Some(self.input))?
                + part(usage.output_tokens, Some(self.output))?
                + part(usage.cache_read_tokens, self.cache_read)?
                + part(usage.cache_write_tokens, self.cache_write)?,
        )
    }
}

/// `-20250514`, `-2025-04-14`, `-0905-preview`: when it came out, not which version it is.
fn is_dated(rest: &str) -> bool {
    let first = rest
        .strip_prefix('-')
        .and_then(|rest| rest.split('-').next());
    first.is_some_and(|first| first.len() >= 4 && first.bytes().all(|byte| byte.is_ascii_digit()))
}
