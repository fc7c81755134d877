//! What a provider and the user want in every request: quirks, headers, parameters, the answer's limit.

use std::collections::BTreeMap;

use hermes_config::{GuardrailStream, GuardrailTrace, RoutingSort};
use hermes_core::WireProtocol;
use http::HeaderName;
use serde::Deserialize as _;
use serde_json::{Map, Value as Json, json};
use url::Url;

use super::Request;
use super::error::ResolveError;
use super::server::Server;
use super::wanted::Wanted;
use crate::metadata;
use crate::profile::{AuthStyle, Feature, Profile};
use crate::quirks::Quirks;

/// The model of OpenRouter that picks models for code.
const CODING_ROUTER: &str = "openrouter/pareto-code";

/// Everything that goes along.
pub(super) struct Dress {
    pub(super) quirks: Quirks,
    pub(super) headers: Vec<(HeaderName, String)>,
    pub(super) query: Vec<(String, String)>,
    pub(super) auth: AuthStyle,
    /// Variables that hold the key.
    pub(super) key_env: Vec<String>,
    pub(super) max_tokens: Option<u32>,
}

/// Puts together the profile, its rules, the sections that apply and the user's own words, in this order.
pub(super) fn dress(
    request: &Request<'_>,
    wanted: &Wanted,
    server: &Server<'_>,
    model: &str,
    url: &Url,
    protocol: WireProtocol,
) -> Result<Dress, ResolveError> {
    let profile = &server.profile;
    let mut quirks = profile.quirks.clone();
    let mut headers = wanted.default_headers.clone();
    headers.extend(profile.headers.clone());
    let mut query = profile.query.clone();
    let mut auth = profile.auth.clone();
    let mut max_tokens = profile.max_tokens;
    let mut key_env = &profile.key_env;
    for rule in &profile.rules {
        let speaks = rule.protocol_is.is_none_or(|wanted| wanted == protocol);
        if !speaks || !rule.holds(model, url) {
            continue;
        }
        lay(&mut quirks, rule.quirks.clone());
        headers.extend(rule.headers.clone());
        query.extend(rule.query.clone());
        auth = rule.auth.clone().unwrap_or(auth);
        max_tokens = rule.max_tokens.or(max_tokens);
        if !rule.key_env.is_empty() {
            key_env = &rule.key_env;
        }
    }
    lay(
        &mut quirks,
        body(features(request, profile, model, protocol, &mut headers)),
    );
    lay(&mut quirks, body(wanted.extra_body.clone()));
    if let Some(window) = wanted.num_ctx {
        let options = json!({"options": {"num_ctx": window}});
        lay(&mut quirks, body(object(options)));
    }
    if let Some(entry) = &server.settings {
        let own = entry.values.extra_body.iter();
        lay(
            &mut quirks,
            body(
                own.map(|(key, value)| (key.clone(), value.to_json()))
                    .collect(),
            ),
        );
        headers.extend(entry.values.extra_headers.clone());
    }
    headers.extend(wanted.headers.clone());

    let mut quirks = Quirks::deserialize(Json::Object(quirks)).unwrap_or_default();
    fill_version(&mut quirks.extra_body);
    let set = vision_set(server, wanted, model);
    quirks.vision_set = set.is_some();
    let sees = set.or_else(|| metadata::sees(model));
    quirks.no_images |= sees == Some(false);
    Ok(Dress {
        quirks,
        headers: names(headers)?,
        query: query.into_iter().collect(),
        auth,
        key_env: key_env.clone(),
        max_tokens,
    })
}

/// What the user said about the model's eyes.
fn vision_set(server: &Server<'_>, wanted: &Wanted, model: &str) -> Option<bool> {
    let entry = server.settings.as_ref();
    let of_model = entry.and_then(|entry| super::assemble::about_model(entry, model));
    of_model
        .and_then(|about| about.supports_vision)
        .or(wanted.vision)
}

/// Lays quirks over others; bodies are joined field by field.
fn lay(under: &mut Map<String, Json>, over: Map<String, Json>) {
    for (key, value) in over {
        match (under.get_mut(&key), value) {
            (Some(Json::Object(under)), Json::Object(over)) if key == "extra_body" => {
                under.extend(over);
            }
            (_, value) => {
                under.insert(key, value);
            }
        }
    }
}

fn body(fields: Map<String, Json>) -> Map<String, Json> {
    let mut quirks = Map::new();
    if !fields.is_empty() {
        quirks.insert("extra_body".to_owned(), Json::Object(fields));
    }
    quirks
}

fn object(value: Json) -> Map<String, Json> {
    match value {
        Json::Object(map) => map,
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => {
            Map::new()
        }
    }
}

/// Fields of the body, and headers, that sections of the settings ask for.
fn features(
    request: &Request<'_>,
    profile: &Profile,
    model: &str,
    protocol: WireProtocol,
    headers: &mut BTreeMap<String, String>,
) -> Map<String, Json> {
    let mut fields = Map::new();
    for feature in &profile.features {
        match feature {
            Feature::ProviderRouting => {
                let routing = routing(request);
                if !routing.is_empty() {
                    fields.insert("provider".to_owned(), Json::Object(routing));
                }
            }
            Feature::ResponseCache if request.config.openrouter.response_cache => {
                let seconds = request.config.openrouter.response_cache_ttl.as_secs();
                headers.insert("x-openrouter-cache".to_owned(), "true".to_owned());
                headers.insert("x-openrouter-cache-ttl".to_owned(), seconds.to_string());
            }
            Feature::CodingRouter if model == CODING_ROUTER => {
                let score = request.config.openrouter.min_coding_score;
                fields.insert(
                    "plugins".to_owned(),
                    json!([{"id": "pareto-router", "min_coding_score": score}]),
                );
            }
            Feature::Guardrail if protocol == WireProtocol::Converse => {
                fields.extend(guardrail(request));
            }
            Feature::ServiceTier if speaks_openai(protocol) => {
                let tier = request.config.agent.service_tier.trim();
                if !tier.is_empty() {
                    fields.insert("service_tier".to_owned(), tier.into());
                }
            }
            Feature::ResponseCache
            | Feature::CodingRouter
            | Feature::Guardrail
            | Feature::ServiceTier => {}
        }
    }
    fields
}

fn speaks_openai(protocol: WireProtocol) -> bool {
    match protocol {
        WireProtocol::ChatCompletions | WireProtocol::Responses => true,
        WireProtocol::Anthropic | WireProtocol::Gemini | WireProtocol::Converse => false,
    }
}

fn routing(request: &Request<'_>) -> Map<String, Json> {
    let routing = &request.config.provider_routing;
    let mut fields = Map::new();
    for (key, list) in [
        ("only", &routing.only),
        ("ignore", &routing.ignore),
        ("order", &routing.order),
    ] {
        if !list.is_empty() {
            fields.insert(key.to_owned(), json!(list));
        }
    }
    if routing.sort != RoutingSort::Unset {
        fields.insert("sort".to_owned(), routing.sort.word().into());
    }
    if routing.require_parameters {
        fields.insert("require_parameters".to_owned(), true.into());
    }
    if !routing.data_collection.is_empty() {
        fields.insert(
            "data_collection".to_owned(),
            routing.data_collection.as_str().into(),
        );
    }
    fields
}

/// Whether a guardrail of Bedrock watches what is said.
pub(super) fn guarded(request: &Request<'_>) -> bool {
    let guardrail = &request.config.bedrock.guardrail;
    !guardrail.guardrail_identifier.is_empty()
}

fn guardrail(request: &Request<'_>) -> Map<String, Json> {
    if !guarded(request) {
        return Map::new();
    }
    let guardrail = &request.config.bedrock.guardrail;
    let stream = match guardrail.stream_processing_mode {
        GuardrailStream::Async => "async",
        GuardrailStream::Sync => "sync",
    };
    let trace = match guardrail.trace {
        GuardrailTrace::Disabled => "disabled",
        GuardrailTrace::Enabled => "enabled",
        GuardrailTrace::Full => "enabled_full",
    };
    object(json!({"guardrailConfig": {
        "guardrailIdentifier": guardrail.guardrail_identifier,
        "guardrailVersion": guardrail.guardrail_version,
        "trace": trace,
        "streamProcessingMode": stream,
    }}))
}

/// Puts our version where a profile asks for it.
fn fill_version(fields: &mut Map<String, Json>) {
    for (_, value) in fields.iter_mut() {
        fill_value(value);
    }
}

fn fill_value(value: &mut Json) {
    match value {
        Json::String(text) => *text = text.replace("{version}", env!("CARGO_PKG_VERSION")),
        Json::Array(items) => items.iter_mut().for_each(fill_value),
        Json::Object(fields) => fill_version(fields),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

fn names(headers: BTreeMap<String, String>) -> Result<Vec<(HeaderName, String)>, ResolveError> {
    headers
        .into_iter()
        .map(|(name, value)| {
            let sendable = http::HeaderValue::from_str(&value).is_ok();
            match name.parse::<HeaderName>() {
                Ok(parsed) if sendable => Ok((parsed, value)),
                Ok(_) | Err(_) => Err(ResolveError::BadHeader { name }),
            }
        })
        .collect()
}
