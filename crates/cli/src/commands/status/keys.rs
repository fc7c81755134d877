//! Which keys are there.

use hermes_config::{PROVIDER_KEYS, names_secret};
use hermes_secrets::mask;
use serde::Serialize;

use super::scene::Scene;

/// Services that tools use, with the variables of their keys.
const SERVICES: &[(&str, &str)] = &[
    ("brave", "BRAVE_SEARCH_API_KEY"),
    ("browser-use", "BROWSER_USE_API_KEY"),
    ("browserbase", "BROWSERBASE_API_KEY"),
    ("elevenlabs", "ELEVENLABS_API_KEY"),
    ("exa", "EXA_API_KEY"),
    ("fal", "FAL_KEY"),
    ("firecrawl", "FIRECRAWL_API_KEY"),
    ("github", "GITHUB_TOKEN"),
    ("github", "GH_TOKEN"),
    ("mistral", "MISTRAL_API_KEY"),
    ("parallel", "PARALLEL_API_KEY"),
    ("tavily", "TAVILY_API_KEY"),
];

/// A provider or service and its key, which is never shown in full.
#[derive(Debug, Serialize)]
pub(in crate::commands) struct Key {
    pub(in crate::commands) provider: &'static str,
    /// The variable that is set, else the first one that could be.
    pub(in crate::commands) name: &'static str,
    pub(in crate::commands) set: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::commands) masked: Option<String>,
}

/// One for each provider and service; a provider has several variables, any of which will do.
pub(in crate::commands) fn keys(scene: &Scene) -> Vec<Key> {
    let providers = PROVIDER_KEYS
        .iter()
        .filter(|key| is_credential(key.name))
        .map(|key| (key.provider, key.name));
    let mut keys: Vec<Key> = Vec::new();
    for (provider, name) in providers.chain(SERVICES.iter().copied()) {
        let value = scene.environment.filled_named(name);
        let key = Key {
            provider,
            name,
            set: value.is_some(),
            masked: value.map(mask),
        };
        match keys.iter_mut().find(|known| known.provider == provider) {
            None => keys.push(key),
            Some(known) if !known.set && key.set => *known = key,
            Some(_) => {}
        }
    }
    keys
}

fn is_credential(name: &str) -> bool {
    names_secret(name) || name == "AWS_BEARER_TOKEN_BEDROCK"
}
