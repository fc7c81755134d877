//! How long a call may be silent. What the user set is final; the rest depends on the size of the
//! request, on how long a model is known to think, and on whether it runs nearby.

use std::time::Duration;

use hermes_core::Patience;

use crate::failover::STALLS;
use crate::metadata::longest_name;
use crate::route::Route;

/// Limits that hold where a provider has none of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PatienceSettings {
    /// For a stream that has gone silent, if the user set it.
    pub stale: Option<Duration>,
    /// For a connection on which nothing at all comes, if the user set it.
    pub read: Option<Duration>,
    /// For an answer that comes as a whole, if the user set it.
    pub whole: Option<Duration>,
    /// For a silent stream of a model nearby.
    pub local_stale: Duration,
    /// For the whole call.
    pub total: Duration,
    /// So many silent streams in a row, and a route is not asked again.
    pub most_stalls: u32,
    /// Further calls after one that broke off before it said anything, if the user set it.
    pub retries: Option<u32>,
    /// How often the caller hears that nothing comes.
    pub notice: Duration,
}

impl Default for PatienceSettings {
    fn default() -> Self {
        Self {
            stale: None,
            read: None,
            whole: None,
            local_stale: Duration::from_secs(900),
            total: TOTAL,
            most_stalls: STALLS,
            retries: None,
            notice: Duration::from_secs(30),
        }
    }
}

const TOTAL: Duration = Duration::from_secs(1800);
const STALE: u64 = 180;
const STALE_WHOLE: u64 = 90;

/// Models that are silent for long while they think, by a part of their name, and the seconds they are given.
/// Of several that fit the longest counts. Names have dashes for dots here.
const THINKERS: &[(&str, u64)] = &[
    ("o1", 600),
    ("o3", 600),
    ("o3-mini", 300),
    ("o4-mini", 300),
    ("deepseek-r1", 600),
    ("deepseek-v4", 600),
    ("nemotron-ultra", 600),
    ("nemotron-3-ultra", 600),
    ("qwq", 300),
    ("grok-4", 300),
    ("claude-opus", 240),
    ("claude-sonnet", 180),
    ("qwen3", 180),
];

/// The limits of one call.
pub fn patience(route: &Route, tokens: u32, settings: &PatienceSettings) -> Patience {
    let total = route.patience.total.unwrap_or(settings.total);
    let of_kind = match route.quirks.no_streaming {
        true => settings.whole,
        false => settings.stale,
    };
    let (first_event, idle) = match route.patience.stale.or(of_kind) {
        Some(set) => (set, set),
        // Reading a long prompt can take a nearby model most of an hour, and it says nothing meanwhile.
        None if route.is_local() => (total, settings.local_stale),
        None => {
            // An answer that comes as a whole is either there soon or not at all.
            let [short, longer, long] = match route.quirks.no_streaming {
                true => [STALE_WHOLE, 150, 240],
                false => [STALE, 240, 300],
            };
            let by_size = match tokens {
                ..=50_000 => short,
                50_001..=100_000 => longer,
                _ => long,
            };
            let stale = Duration::from_secs(by_size.max(thinking_time(&route.model)));
            (stale, stale)
        }
    };
    let most = settings.read.unwrap_or(total).min(total);
    Patience {
        first_event: first_event.min(most),
        idle: idle.min(most),
        total,
    }
}

/// Whether a model thinks before it answers, and so may be silent for long.
pub(crate) fn is_reasoning_model(model: &str) -> bool {
    thinking_time(model) > 0
}

fn thinking_time(model: &str) -> u64 {
    longest_name(model, THINKERS, |(name, _)| name).map_or(0, |(_, seconds)| *seconds)
}
