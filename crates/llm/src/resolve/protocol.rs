//! Which protocol is spoken: as set, by the provider's rules, by the address, by the model.

use hermes_config::ApiMode;
use hermes_core::WireProtocol;
use url::Url;

use super::address::Base;
use super::error::ResolveError;
use super::server::{Kind, Server};
use super::wanted::Wanted;
use crate::profile::{Rule, pattern_matches};

/// Models that OpenAI serves over Responses only.
const NEEDS_RESPONSES: &str = "gpt-5*";
/// The only provider whose models the `codex` program would run.
const OPENAI: &str = "openai-api";

/// A protocol and why.
pub(super) struct Choice {
    pub(super) protocol: WireProtocol,
    pub(super) from: String,
    /// Where another one is set that does not count.
    pub(super) unheeded: Option<String>,
}

/// What the settings say, and where.
enum Set {
    Nothing,
    To(WireProtocol, String),
    InVain(String),
}

/// Decides by one order.
pub(super) fn choose(
    wanted: &Wanted,
    server: &Server<'_>,
    base: &Base,
    model: &str,
    signed: bool,
) -> Result<Choice, ResolveError> {
    if wanted.codex_program && server.id == OPENAI {
        let instead = "remove `model.openai_runtime`, and use `openai-api` with a key";
        return Err(no_codex_program(instead));
    }
    let choice = |protocol, from: &str, unheeded| Choice {
        protocol,
        from: from.to_owned(),
        unheeded,
    };
    let unheeded = match set(wanted, server, base)? {
        Set::To(protocol, from) => return Ok(choice(protocol, &from, None)),
        Set::InVain(from) => Some(from),
        Set::Nothing => None,
    };
    let (protocol, from) = known(server, base, model, signed);
    Ok(choice(protocol, from, unheeded))
}

/// What is spoken where nobody set it, and why.
fn known(
    server: &Server<'_>,
    base: &Base,
    model: &str,
    signed: bool,
) -> (WireProtocol, &'static str) {
    let says = |rule: &&Rule| {
        let applies = rule.protocol_is.is_none() && (signed || !rule.signed);
        applies && rule.holds(model, &base.url)
    };
    let rule = server.profile.rules.iter().rev().filter(says);
    if let Some(protocol) = rule.filter_map(|rule| rule.protocol).next() {
        return (protocol, "a rule of the provider");
    }
    // Chat completions is what everybody speaks beside something better, so the address may know more.
    let own = server.profile.protocol;
    let special = own.filter(|protocol| *protocol != WireProtocol::ChatCompletions);
    if let Some(protocol) = special {
        return (protocol, "the provider");
    }
    if let Some(protocol) = of_address(&base.url) {
        return (protocol, "the address");
    }
    if let Some(protocol) = own {
        return (protocol, "the provider");
    }
    if server.kind == Kind::BuiltIn && pattern_matches(NEEDS_RESPONSES, model) {
        return (WireProtocol::Responses, "the model");
    }
    (WireProtocol::ChatCompletions, "what most servers speak")
}

/// The protocol somebody set.
fn set(wanted: &Wanted, server: &Server<'_>, base: &Base) -> Result<Set, ResolveError> {
    let of_entry = server.settings.as_ref().and_then(|entry| {
        let mode = entry.values.api_mode;
        (mode != ApiMode::Unset).then(|| (mode, format!("{}.api_mode", entry.path)))
    });
    // What was set beside the model is closer than what holds for the whole provider.
    let Some((mode, from)) = wanted.api_mode.clone().or(of_entry) else {
        return Ok(Set::Nothing);
    };
    let protocol = match mode {
        ApiMode::Unset => return Ok(Set::Nothing),
        ApiMode::ChatCompletions => WireProtocol::ChatCompletions,
        // Left behind by another provider: an address without a name speaks it only where that shows.
        ApiMode::Responses
            if server.kind == Kind::Plain
                && of_address(&base.url) != Some(WireProtocol::Responses) =>
        {
            return Ok(Set::InVain(from));
        }
        ApiMode::Responses => WireProtocol::Responses,
        ApiMode::AnthropicMessages => WireProtocol::Anthropic,
        ApiMode::BedrockConverse => WireProtocol::Converse,
        ApiMode::CodexAppServer => {
            let instead = "remove `api_mode`, and use `openai-api` with a key";
            return Err(no_codex_program(instead));
        }
    };
    Ok(Set::To(protocol, from))
}

fn no_codex_program(instead: &'static str) -> ResolveError {
    ResolveError::Unsupported {
        what: "running models through the `codex` program",
        instead,
    }
}

/// The protocol an address gives away.
pub fn of_address(url: &Url) -> Option<WireProtocol> {
    let host = url.host_str()?;
    let path = url.path().trim_end_matches('/');
    let aws = host.starts_with("bedrock-runtime") && host.ends_with(".amazonaws.com");
    match host {
        "api.x.ai" | "api.openai.com" => Some(WireProtocol::Responses),
        "chatgpt.com" if path.starts_with("/backend-api/codex") => Some(WireProtocol::Responses),
        "api.anthropic.com" => Some(WireProtocol::Anthropic),
        "api.kimi.com" if path.contains("/coding") => Some(WireProtocol::Anthropic),
        "generativelanguage.googleapis.com" if !path.ends_with("/openai") => {
            Some(WireProtocol::Gemini)
        }
        _ if path.ends_with("/anthropic") || path.ends_with("/anthropic/v1") => {
            Some(WireProtocol::Anthropic)
        }
        _ if aws => Some(WireProtocol::Converse),
        _ => None,
    }
}
