//! Asking a provider which models it has.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use hermes_core::WireProtocol;
use hermes_http::{AuthScheme, Timeouts};
use hermes_llm::metadata::{Facts, facts_from_listing};
use hermes_llm::resolve::{self, Flags, Request};
use hermes_llm::{Address, Auth, Endpoint, Route, bedrock, wire};
use jiff::Timestamp;
use serde_json::Value as Json;

use crate::models::{Chosen, Models};

/// Longer nobody waits for a list.
const PATIENCE: Duration = Duration::from_secs(8);
/// More than any list of models has.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// What a provider answered.
pub(super) struct Answer {
    /// The models as it names them.
    pub(super) names: Vec<String>,
    /// What it says about some of them.
    pub(super) facts: BTreeMap<String, Facts>,
}

impl Answer {
    /// Names and nothing else.
    fn of(names: Vec<String>) -> Self {
        Self {
            names,
            facts: BTreeMap::new(),
        }
    }
}

/// The models of a provider, or why there is no list.
pub(super) async fn ask(
    models: &Models,
    route: &Route,
    api_key: Option<&str>,
    now: Timestamp,
) -> Result<Answer, String> {
    let address = match &route.endpoint {
        Endpoint::Http(address) => address,
        Endpoint::Embedded { .. } => return Ok(Answer::of(vec![route.model.clone()])),
    };
    let asking = async {
        match path(route, address) {
            Some(path) => exchange(models, route, address, path).await,
            None => of_account(models, route, address, api_key, now).await,
        }
    };
    tokio::time::timeout(PATIENCE, asking)
        .await
        .unwrap_or_else(|_| Err(format!("it did not answer within {} s", PATIENCE.as_secs())))
}

fn path(route: &Route, address: &Address) -> Option<&'static str> {
    if route.is_at_bedrock() {
        return None;
    }
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
) -> Result<Answer, String> {
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
    let names = names(&listing).ok_or_else(|| "its answer is no list of models".to_owned())?;
    let profile = models.profiles.of_route(&route.provider).ok().flatten();
    let offered = |name: &String| profile.as_ref().is_none_or(|profile| profile.offers(name));
    let names: Vec<String> = names.into_iter().filter(offered).collect();
    let mut facts = facts_from_listing(&listing);
    facts.retain(|name, _| names.contains(name));
    Ok(Answer { names, facts })
}

/// The models that an account of AWS may use, of the makers the user wants.
async fn of_account(
    models: &Models,
    route: &Route,
    address: &Address,
    api_key: Option<&str>,
    now: Timestamp,
) -> Result<Answer, String> {
    let discovery = &models.loaded.config.bedrock.discovery;
    if !discovery.enabled {
        return Err("bedrock.discovery.enabled is off".to_owned());
    }
    let nothing = Chosen::default();
    // Another address, so another route: the key is bound anew.
    let lists: Arc<Route> = match bedrock::listed_at(address) {
        None => Arc::new(route.clone()),
        Some(place) => {
            let request = Request {
                flags: Flags {
                    model: Some(&route.model),
                    provider: Some(&route.provider),
                    base_url: Some(&place),
                    api_key,
                },
                ..models.request(&nothing)
            };
            let found = resolve::resolve(&request).map_err(|error| error.to_string())?;
            models.known(found)
        }
    };
    let Endpoint::Http(address) = &lists.endpoint else {
        return Err("it has no list of models".to_owned());
    };
    let lease = models.keys.lease(&lists).await;
    let lease = lease.map_err(|error| error.to_string())?;
    let listed = bedrock::models(&models.http, address, lease.secret.as_ref(), now, PATIENCE);
    let listed = listed.await.map_err(|error| error.to_string())?;
    let wanted = |maker: &str| {
        let filter = &discovery.provider_filter;
        filter.is_empty() || filter.iter().any(|known| known.eq_ignore_ascii_case(maker))
    };
    let listed = listed.into_iter().filter(|model| wanted(&model.maker));
    Ok(Answer::of(listed.map(|model| model.id).collect()))
}

/// Whether an entry is a model to talk to that can use tools, as far as the list says.
fn is_useful(entry: &Json) -> bool {
    let lacks = |place: &str, word: &str| {
        let words = entry.pointer(place).and_then(Json::as_array);
        words.is_some_and(|words| !words.is_empty() && words.iter().all(|known| known != word))
    };
    !lacks("/supported_parameters", "tools") && !lacks("/metadata/tags", "chat")
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
        .filter(|entry| is_useful(entry))
        .filter_map(|entry| entry.get(key)?.as_str())
        .map(|name| name.strip_prefix("models/").unwrap_or(name).to_owned())
        .collect();
    names.sort();
    names.dedup();
    Some(names)
}
