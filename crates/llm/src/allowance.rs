//! How much may still be used, as providers tell it along with their answers. It is kept for people to look at:
//! nothing is decided by it, and it is gone with the process.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::HeaderMap;
use jiff::Timestamp;

use crate::classify::span;

/// What is counted, by the end of a header's name.
const COUNTED: [(&str, &str); 4] = [
    ("requests", "requests"),
    ("requests-1h", "requests in an hour"),
    ("tokens", "tokens"),
    ("tokens-1h", "tokens in an hour"),
];

/// What every provider that was asked said last, by its id.
#[derive(Debug, Clone, Default)]
pub struct Allowances(Arc<Mutex<BTreeMap<String, Allowance>>>);

/// What one provider said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Allowance {
    /// The provider's name for people.
    pub provider: String,
    /// What is counted, in the order of its words.
    pub limits: Vec<Limit>,
    /// What is paid for, where it says so.
    pub credits: Option<Credits>,
}

/// So many in a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// What is counted.
    pub what: &'static str,
    /// How many are left.
    pub left: u64,
    /// Of how many.
    pub of: Option<u64>,
    /// When all of them are back.
    pub back: Option<Timestamp>,
}

/// A balance, in millionths of a dollar. What belongs to a subscription may be owed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credits {
    /// All that is left.
    pub remaining: i64,
    /// What of it the subscription gives.
    pub subscription: Option<i64>,
    /// What of it was bought.
    pub purchased: Option<i64>,
    /// Whether models that cost something are refused.
    pub locked: bool,
}

impl Allowances {
    /// All that was said so far.
    pub fn all(&self) -> Vec<Allowance> {
        let said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        said.values().cloned().collect()
    }

    /// Notes what the headers of an answer say; most say nothing, and leave what is known.
    pub(crate) fn hear(&self, id: &str, name: &str, headers: &HeaderMap, now: Timestamp) {
        let limits: Vec<Limit> = COUNTED
            .iter()
            .filter_map(|(end, what)| limit(headers, end, what, now))
            .collect();
        let credits = credits(headers);
        if limits.is_empty() && credits.is_none() {
            return;
        }
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = said.entry(id.to_owned()).or_default();
        name.clone_into(&mut known.provider);
        known.credits = credits.or_else(|| known.credits.take());
        if !limits.is_empty() {
            known.limits = limits;
        }
    }
}

fn limit(headers: &HeaderMap, end: &str, what: &'static str, now: Timestamp) -> Option<Limit> {
    let word = |kind: &str| text(headers, &format!("x-ratelimit-{kind}-{end}"));
    let count = |kind: &str| word(kind)?.parse().ok();
    // Seconds, or a span such as `6m0s`.
    let wait = word("reset").and_then(|text| match text.parse() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => span(text),
    });
    Some(Limit {
        what,
        left: count("remaining")?,
        of: count("limit"),
        back: wait.and_then(|wait| now.checked_add(wait).ok()),
    })
}

fn credits(headers: &HeaderMap) -> Option<Credits> {
    let word = |name: &str| text(headers, &format!("x-nous-credits-{name}"));
    let amount = |name: &str| word(&format!("{name}-micros"))?.parse().ok();
    Some(Credits {
        remaining: amount("remaining")?,
        subscription: amount("subscription"),
        purchased: amount("purchased"),
        locked: word("paid-access") == Some("false"),
    })
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    Some(headers.get(name)?.to_str().ok()?.trim())
}
