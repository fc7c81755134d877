//! What a call costs, as far as that can be known.

use hermes_core::{CacheLife, CostStatus, Usage};
use serde::{Deserialize, Serialize};

use super::snapshot;
use crate::route::Route;

/// Providers that are paid by the month, whatever is used.
const SUBSCRIPTIONS: [&str; 3] = ["alibaba-coding-plan", "ollama-cloud", "opencode-go"];

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
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// What is sent.
    pub input: f64,
    /// What is answered.
    pub output: f64,
    /// What is sent and remembered from before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<f64>,
    /// What is sent and will be remembered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
}

impl Price {
    /// `None` when a kind of token that was used has no price.
    fn of(&self, usage: &Usage, life: CacheLife) -> Option<f64> {
        let part = |tokens: u64, price: Option<f64>| match tokens {
            0 => Some(0.0),
            tokens => price.map(|price| tokens as f64 * price / 1_000_000.0),
        };
        Some(
            part(usage.input_tokens, Some(self.input))?
                + part(usage.output_tokens, Some(self.output))?
                + part(usage.cache_read_tokens, self.cache_read)?
                + part(usage.cache_write_tokens, self.write(life))?,
        )
    }

    /// Lists have the price of five minutes. Where remembering costs extra, an hour is twice what is sent.
    fn write(&self, life: CacheLife) -> Option<f64> {
        let listed = self.cache_write?;
        match life {
            CacheLife::Long if listed > self.input => Some(listed.max(2.0 * self.input)),
            CacheLife::Long | CacheLife::Short => Some(listed),
        }
    }
}

/// The cost of a call whose prefix is remembered for so long: as the provider reported it, else by the prices in its own list, else from the built-in
/// price list, else unknown.
pub fn cost(usage: &Usage, route: &Route, life: CacheLife, reported: Option<f64>) -> Cost {
    if let Some(usd) = reported {
        return Cost {
            usd: Some(usd),
            status: CostStatus::Actual,
            source: format!("reported by {}", route.provider_name),
        };
    }
    if route.is_local() {
        return included("runs locally");
    }
    if is_subscribed(route) {
        return included("part of the subscription");
    }
    let listed = route.price.and_then(|price| price.of(usage, life));
    if listed.is_some() {
        return Cost {
            usd: listed,
            status: CostStatus::Estimated,
            source: format!("listed by {}", route.provider_name),
        };
    }
    let sent = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
    let known = snapshot::find(&route.provider, &route.model, sent);
    match known.and_then(|price| price.of(usage, life)) {
        Some(usd) => Cost {
            usd: Some(usd),
            status: CostStatus::Estimated,
            source: snapshot::AS_OF.to_owned(),
        },
        None => Cost {
            usd: None,
            status: CostStatus::Unknown,
            source: "no price is known".to_owned(),
        },
    }
}

/// What tokens cost in a request of usual length; some providers take more for long ones. Nothing where nothing is paid
/// by the token.
pub fn usual_price(route: &Route) -> Option<Price> {
    if route.is_local() || is_subscribed(route) {
        return None;
    }
    let known = || snapshot::find(&route.provider, &route.model, 0);
    route.price.or_else(known)
}

fn is_subscribed(route: &Route) -> bool {
    SUBSCRIPTIONS.contains(&route.provider.as_str())
}

fn included(source: &str) -> Cost {
    Cost {
        usd: None,
        status: CostStatus::Included,
        source: source.to_owned(),
    }
}
