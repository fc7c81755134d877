//! Which models an account of AWS may use. They are listed by another service than the one that runs them.

use std::time::Duration;

use hermes_http::{AuthScheme, HttpClient, RedirectRule, Timeouts};
use hermes_secrets::Secret;
use http::HeaderName;
use jiff::Timestamp;
use serde_json::Value as Json;
use url::Url;

use crate::error::ModelError;
use crate::route::{Address, Auth};
use crate::transport::Unsigned;

/// More than any list has.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// A model, or a profile that spreads calls of one over several regions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BedrockModel {
    /// What requests call it.
    pub id: String,
    /// Who made it, as AWS spells it.
    pub maker: String,
}

/// Where the models are listed that run at this address; `None` when it is the same place, as behind a proxy.
pub fn listed_at(address: &Address) -> Option<String> {
    let mut url = address.base.join("");
    let host = url.host_str()?.strip_prefix("bedrock-runtime")?;
    let host = format!("bedrock{host}");
    url.set_host(Some(&host)).ok()?;
    url.set_path("");
    Some(url.to_string())
}

/// The models that answer with text, as a stream, and can be called. The secret belongs to the address.
pub async fn models(
    http: &HttpClient,
    address: &Address,
    secret: Option<&Secret>,
    now: Timestamp,
    patience: Duration,
) -> Result<Vec<BedrockModel>, ModelError> {
    let asking = Asking {
        http,
        address,
        secret,
        now,
        patience,
    };
    let models = asking.get("foundation-models?byOutputModality=TEXT");
    let profiles = asking.get("inference-profiles?maxResults=1000");
    let (models, profiles) = tokio::join!(models, profiles);
    let mut found = foundation(&models?);
    // Not everybody who may call models may list profiles.
    found.extend(
        profiles
            .map(|listing| of_profiles(&listing))
            .unwrap_or_default(),
    );
    found.sort_by(|one, other| one.id.cmp(&other.id));
    found.dedup();
    Ok(found)
}

struct Asking<'a> {
    http: &'a HttpClient,
    address: &'a Address,
    secret: Option<&'a Secret>,
    now: Timestamp,
    patience: Duration,
}

impl Asking<'_> {
    async fn get(&self, path: &str) -> Result<Json, ModelError> {
        let url = self.address.base.join(path);
        let mut request = self
            .http
            .get(url.clone())
            .redirects(RedirectRule::SameOrigin)
            .timeouts(Timeouts {
                connect: self.patience,
                first_byte: self.patience,
                idle: self.patience,
                total: self.patience,
            });
        match (&self.address.auth, self.secret) {
            (Auth::None, _) | (_, None) => {}
            (Auth::Bearer, Some(secret)) => request = request.auth(secret, AuthScheme::Bearer),
            (Auth::Header(name), Some(secret)) => {
                request = request.auth(secret, AuthScheme::Header(name.clone()));
            }
            (Auth::SigV4 { region }, Some(secret)) => {
                for (name, value) in self.signature(&url, secret, region)? {
                    request = request.header(HeaderName::from_static(name), value);
                }
            }
        }
        let answering = async {
            let response = request.send().await?.require_success().await?;
            response.json(MOST_BYTES).await
        };
        answering.await.map_err(ModelError::Http)
    }

    fn signature(
        &self,
        url: &Url,
        secret: &Secret,
        region: &str,
    ) -> Result<Vec<(&'static str, String)>, ModelError> {
        let origin = self.address.base.origin();
        let origin =
            origin.map_err(|error| crate::wire::WireError::Malformed(error.to_string()))?;
        let request = Unsigned {
            method: "GET",
            url,
            headers: &[],
            body: b"",
        };
        request.sign(secret, &origin, region, self.now)
    }
}

fn foundation(listing: &Json) -> Vec<BedrockModel> {
    let entries = listing.get("modelSummaries").and_then(Json::as_array);
    let has = |entry: &Json, key: &str, word: &str| {
        let words = entry.get(key).and_then(Json::as_array);
        words.is_none_or(|words| words.iter().any(|known| known == word))
    };
    entries
        .into_iter()
        .flatten()
        .filter(|entry| {
            let status = entry.pointer("/modelLifecycle/status");
            status.is_none_or(|status| status == "ACTIVE")
                && entry.get("responseStreamingSupported") != Some(&Json::Bool(false))
                && has(entry, "outputModalities", "TEXT")
                // The others answer under the name of a profile only.
                && has(entry, "inferenceTypesSupported", "ON_DEMAND")
        })
        .filter_map(|entry| {
            let maker = entry.get("providerName").and_then(Json::as_str);
            named(entry, "modelId", maker)
        })
        .collect()
}

fn of_profiles(listing: &Json) -> Vec<BedrockModel> {
    let entries = listing
        .get("inferenceProfileSummaries")
        .and_then(Json::as_array);
    entries
        .into_iter()
        .flatten()
        .filter(|entry| {
            let status = entry.get("status");
            status.is_none_or(|status| status == "ACTIVE")
        })
        .filter_map(|entry| {
            let id = entry.get("inferenceProfileId")?.as_str()?;
            // `eu.anthropic.claude-…`: the maker stands behind the region.
            named(entry, "inferenceProfileId", id.split('.').nth(1))
        })
        .collect()
}

fn named(entry: &Json, key: &str, maker: Option<&str>) -> Option<BedrockModel> {
    Some(BedrockModel {
        id: entry.get(key)?.as_str()?.to_owned(),
        maker: maker.unwrap_or_default().to_owned(),
    })
}
