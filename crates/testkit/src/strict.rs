//! Whether a request body is one that the strictest vendor of its protocol would take.
//!
//! What a tolerant server lets pass breaks at the next vendor, so tests check bodies with the rules of
//! the strict ones. The rules are about the body alone; headers and paths are not looked at.

mod anthropic;
mod calls;
mod chat;
mod checker;
mod converse;
mod gemini;
mod markers;
mod responses;
mod schema;
mod turns;

use serde_json::Value;

use self::checker::Checker;
use crate::model_server::Protocol;

/// What is wrong with a request body, each with its place in it; empty when nothing is.
pub fn violations(protocol: Protocol, body: &Value) -> Vec<String> {
    violations_allowing(protocol, body, &[])
}

/// The same, taking `extra_keys` at any place: extensions of one vendor.
pub fn violations_allowing(protocol: Protocol, body: &Value, extra_keys: &[String]) -> Vec<String> {
    let mut checker = Checker::new(extra_keys);
    match protocol {
        Protocol::ChatCompletions => chat::check(&mut checker, body),
        Protocol::Responses => responses::check(&mut checker, body),
        Protocol::Anthropic => anthropic::check(&mut checker, body),
        Protocol::Gemini => gemini::check(&mut checker, body),
        Protocol::Converse => converse::check(&mut checker, body),
    }
    checker.into_found()
}
