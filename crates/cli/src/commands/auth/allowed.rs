//! What providers said may still be used, in words.

use std::time::Duration;

use hermes_llm::{Allowances, Credits, Limit};
use jiff::Timestamp;

use super::show::span;

/// Parts and amounts, provider by provider.
pub(crate) fn rows(allowances: &Allowances, now: Timestamp) -> Vec<[String; 2]> {
    let mut rows = Vec::new();
    for said in allowances.all() {
        let provider = said.provider;
        for limit in &said.limits {
            let part = format!("{} left at {provider}", limit.what);
            rows.push([part, left(limit, now)]);
        }
        if let Some(credits) = &said.credits {
            rows.push([format!("credit at {provider}"), balance(credits)]);
        }
    }
    rows
}

fn left(limit: &Limit, now: Timestamp) -> String {
    let wait = limit.back.map(|back| back.duration_since(now));
    let wait = wait.and_then(|wait| Duration::try_from(wait).ok());
    // Once that time has passed they are back, whatever was left.
    let left = match (limit.back, wait, limit.of) {
        (Some(_), None, Some(all)) => all,
        _ => limit.left,
    };
    let of = limit.of.map(|all| format!(" of {all}")).unwrap_or_default();
    let back = wait.map(|wait| format!(", all back in {}", span(wait)));
    format!("{left}{of}{}", back.unwrap_or_default())
}

fn balance(credits: &Credits) -> String {
    let parts = [
        (credits.subscription, "by subscription"),
        (credits.purchased, "bought"),
    ];
    let parts = parts.into_iter().filter_map(|(amount, kind)| {
        let amount = dollars(amount?);
        Some(format!("{amount} {kind}"))
    });
    let parts: Vec<String> = parts.collect();
    let mut text = dollars(credits.remaining);
    if !parts.is_empty() {
        text = format!("{text} ({})", parts.join(", "));
    }
    if credits.locked {
        text.push_str("; models that cost something are refused");
    }
    text
}

/// Whole cents, without going through a fraction.
fn dollars(micros: i64) -> String {
    let sign = if micros < 0 { "-" } else { "" };
    let cents = micros.unsigned_abs() / 10_000;
    format!("{sign}${}.{:02}", cents / 100, cents % 100)
}
