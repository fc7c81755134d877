//! Asking a provider which models it has.

use std::time::Duration;

use hermes_core::WireProtocol;
use hermes_http::{AuthScheme, Timeouts};
use hermes_llm::{Address, Auth, Endpoint, Route, wire};
use serde_json::Value as Json;

use crate::models::Models;

/// Longer nobody waits for a list.
const PATIENCE: Duration = Duration::from_secs(8);
/// More than any list of models has.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// The models as the provider names them, or why there is no list.
pub(super) async fn ask(models: &Models, route: &Route) -> Result<Vec<String>, String> {
    let address = match &route.endpoint {
        Endpoint::Http(address) => address,
        Endpoint::Embedded { .. } => return Ok(vec![route.model.clone()]),
    };
    let Some(path) = path(address) else {
        return Err("it has no list of models".to_owned());
    };
    tokio::time::timeout(PATIENCE, exchange(models, route, address, path))
        .await
        .unwrap_or_else(|_| Err(format!("it did not answer within {} s", PATIENCE.as_secs())))
}

fn path(address: &Address) -> Option<&'static str> {
    match address.protocol {
        WireProtocol::ChatCompletions | WireProtocol::Responses | WireProtocol::Gemini => {
            Some("models")
        }
        WireProtocol::Anthropic => {
            let versioned = address
                .base
                .join("")
                .path()
                .trim_end_matches('/')
                .ends_with("/v1");
            Some(if versioned { "models" } else { "v1/models" })
        }
        WireProtocol::Converse => None,
    }
}

async fn exchange(
    models: &Models,
    route: &Route,
    address: &Address,
    path: &str,
) -> Result<Vec<String>, String> {
    let mut url = address.base.join(path);
    if !address.query.is_empty() {
        url.query_pairs_mut().extend_pairs(&address.query);
    }
    let lease = models
        .keys
        .lease(route)
        .await
        .map_err(|error| error.to_string())?;
    let mut request = models.http.get(url).timeouts(Timeouts {
        connect: PATIENCE,
        first_byte: PATIENCE,
        idle: PATIENCE,
        total: PATIENCE,
    });
    for (name, value) in wire::headers(address.protocol, &route.model, &route.quirks) {
        if let Ok(name) = name.parse() {
            request = request.header(name, value);
        }
    }
    for (name, value) in &address.headers {
        request = request.header(name.clone(), value.as_str());
    }
    match (&address.auth, &lease.secret) {
        (Auth::None | Auth::SigV4 { .. }, _) | (_, None) => {}
        (Auth::Bearer, Some(secret)) => request = request.auth(secret, AuthScheme::Bearer),
        (Auth::Header(name), Some(secret)) => {
            request = request.auth(secret, AuthScheme::Header(name.clone()));
        }
    }
    let response = request.send().await.map_err(|error| error.to_string())?;
    let response = response
        .require_success()
        .await
        .map_err(|error| error.to_string())?;
    let listing: Json = response
        .json(MOST_BYTES)
        .await
        .map_err(|error| error.to_string())?;
    names(&listing).ok_or_else(|| "its answer is no list of models".to_owned())
}

/// `data[].id` nearly everywhere, `models[].name` at Google.
fn names(listing: &Json) -> Option<Vec<String>> {
    let (entries, key) = match (listing.get("data"), listing.get("models")) {
        (Some(data), _) => (data, "id"),
        (None, Some(models)) => (models, "name"),
        (None, None) => (listing, "id"),
    };
    let mut names: Vec<String> = entries
        .as_array()?
        .iter()
        .filter_map(|entry| entry.get(key)?.as_str())
        .map(|name| name.strip_prefix("models/").unwrap_or(name).to_owned())
        .collect();
    names.sort();
    names.dedup();
    Some(names)
}
