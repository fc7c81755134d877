//! The model's name as its provider spells it.

use hermes_core::WireProtocol;

use super::server::{Kind, Server};
use crate::alias;
use crate::profile::pattern_matches;
use crate::wire::anthropic::wire_model;

/// Whose models have such names, for providers where every name begins with its vendor.
const VENDORS: &[(&str, &str)] = &[
    ("claude*", "anthropic"),
    ("gpt-*", "openai"),
    ("o3*", "openai"),
    ("o4*", "openai"),
    ("gemini*", "google"),
    ("gemma*", "google"),
    ("deepseek*", "deepseek"),
    ("qwen*", "qwen"),
    ("kimi*", "moonshotai"),
    ("glm*", "z-ai"),
    ("grok*", "x-ai"),
    ("minimax*", "minimax"),
    ("llama*", "meta-llama"),
    ("mistral*", "mistralai"),
    ("hermes*", "nousresearch"),
];

/// The name before the protocol is known: short names spelled out, the vendor put in front or taken off.
pub(super) fn spell(server: &Server<'_>, model: &str) -> String {
    if server.kind != Kind::BuiltIn {
        return model.to_owned();
    }
    let profile = &server.profile;
    if let Some(full) = alias::expand(model, profile) {
        return full.to_owned();
    }
    match model.split_once('/') {
        Some((vendor, rest)) if !profile.slugs => {
            let own = profile
                .vendors
                .iter()
                .any(|own| own.eq_ignore_ascii_case(vendor));
            if own { rest } else { model }.to_owned()
        }
        None if profile.slugs => slug(model),
        Some(_) | None => model.to_owned(),
    }
}

/// The name on the wire.
pub(super) fn finish(model: String, protocol: WireProtocol) -> String {
    match protocol {
        WireProtocol::Anthropic => wire_model(&model),
        WireProtocol::ChatCompletions
        | WireProtocol::Responses
        | WireProtocol::Gemini
        | WireProtocol::Converse => model,
    }
}

fn slug(model: &str) -> String {
    let vendor = VENDORS
        .iter()
        .find(|(pattern, _)| pattern_matches(pattern, model));
    match vendor {
        Some((_, vendor)) => format!("{vendor}/{}", dotted(model)),
        None => model.to_owned(),
    }
}

/// Claude's versions have a dash at Anthropic and a dot everywhere else: `claude-opus-4-6`.
fn dotted(model: &str) -> String {
    let mut parts = model.rsplitn(3, '-');
    let (minor, major, rest) = (parts.next(), parts.next(), parts.next());
    let number = |text: &&str| !text.is_empty() && text.len() < 3 && is_number(text);
    match (rest, major.filter(number), minor.filter(number)) {
        (Some(rest), Some(major), Some(minor)) if model.starts_with("claude") => {
            format!("{rest}-{major}.{minor}")
        }
        _ => model.to_owned(),
    }
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}
