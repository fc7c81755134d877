//! Reading what local servers say about themselves.

use serde_json::Value as Json;

use super::LocalServer;

/// Whom the entries of a list of models belong to, at servers that put their own name there.
const OWNERS: [(&str, LocalServer); 4] = [
    ("llamacpp", LocalServer::LlamaCpp),
    ("vllm", LocalServer::Vllm),
    ("library", LocalServer::Ollama),
    ("organization_owner", LocalServer::LmStudio),
];

/// The server that a list of models comes from, where its entries say so.
pub fn owner(listing: &Json) -> Option<LocalServer> {
    let entries = listing.get("data")?.as_array()?.iter();
    let mut owners = entries.filter_map(|entry| entry.get("owned_by")?.as_str());
    owners.find_map(|owner| {
        let known = OWNERS.iter().find(|(name, _)| *name == owner);
        known.map(|(_, server)| *server)
    })
}

/// A model of LM Studio.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LmStudioModel {
    /// The name requests use.
    pub id: String,
    /// The window it is loaded with; absent when it is not loaded.
    pub loaded_window: Option<u32>,
    /// The largest window it can have.
    pub max_window: Option<u32>,
    /// The words for effort it knows, where it says.
    pub efforts: Vec<String>,
}

/// A model of Ollama.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OllamaModel {
    /// The window its own settings ask for.
    pub set_window: Option<u32>,
    /// The largest window it can have.
    pub max_window: Option<u32>,
    /// The window it is loaded with now; absent when it is not loaded.
    pub loaded_window: Option<u32>,
    /// `tools`, `vision`, `thinking` and the like.
    pub capabilities: Vec<String>,
}

impl OllamaModel {
    /// Whether it can do something, such as `tools`; `None` where its server does not say.
    pub(crate) fn can(&self, what: &str) -> Option<bool> {
        let said = !self.capabilities.is_empty();
        said.then(|| self.capabilities.iter().any(|word| word == what))
    }

    /// What to tell the user when a window was asked for and another one is in force.
    pub fn mismatch(&self, wanted: u32) -> Option<String> {
        let loaded = self.loaded_window.filter(|loaded| *loaded < wanted)?;
        Some(format!(
            "Ollama runs the model with a window of {loaded} tokens, not {wanted}: \
             set OLLAMA_CONTEXT_LENGTH={wanted} for its server"
        ))
    }
}

/// The models of LM Studio's `/api/v1/models`; `None` for answers of other servers.
pub fn lm_studio_models(answer: &Json) -> Option<Vec<LmStudioModel>> {
    let entries = answer.get("models")?.as_array()?;
    entries
        .iter()
        .map(|entry| {
            // Ollama's entries have no key, so this tells the two apart.
            let id = entry.get("key")?.as_str()?.to_owned();
            let loaded = entry.get("loaded_instances").and_then(Json::as_array);
            let loaded = loaded.into_iter().flatten();
            let efforts = entry.pointer("/capabilities/reasoning/allowed_options");
            Some(LmStudioModel {
                id,
                loaded_window: loaded
                    .filter_map(|instance| number(instance.pointer("/config/context_length")?))
                    .max(),
                max_window: entry.get("max_context_length").and_then(number),
                efforts: words(efforts),
            })
        })
        .collect()
}

/// The names in Ollama's `/api/tags`; `None` for answers of other servers.
pub fn ollama_names(answer: &Json) -> Option<Vec<String>> {
    let entries = answer.get("models")?.as_array()?;
    entries
        .iter()
        .map(|entry| entry.get("name")?.as_str().map(ToOwned::to_owned))
        .collect()
}

/// What Ollama's `/api/show` says about a model.
pub fn ollama_model(answer: &Json) -> OllamaModel {
    let parameters = answer.get("parameters").and_then(Json::as_str);
    let set_window = parameters
        .into_iter()
        .flat_map(str::lines)
        .find_map(|line| {
            let mut words = line.split_whitespace();
            (words.next() == Some("num_ctx")).then(|| words.next()?.parse().ok())?
        });
    let info = answer.get("model_info").and_then(Json::as_object);
    let max_window = info
        .into_iter()
        .flatten()
        .find_map(|(key, value)| key.ends_with(".context_length").then(|| number(value))?);
    OllamaModel {
        set_window,
        max_window,
        loaded_window: None,
        capabilities: words(answer.get("capabilities")),
    }
}

/// The window Ollama's `/api/ps` says a model is loaded with.
pub fn ollama_loaded_window(answer: &Json, model: &str) -> Option<u32> {
    let tagged = format!("{model}:latest");
    let entries = answer.get("models")?.as_array()?;
    let entry = entries.iter().find(|entry| {
        ["name", "model"]
            .iter()
            .filter_map(|key| entry.get(key)?.as_str())
            .any(|name| name == model || name == tagged)
    })?;
    number(entry.get("context_length")?)
}

/// The window in llama.cpp's `/props`.
pub fn llama_cpp_window(answer: &Json) -> Option<u32> {
    let settings = answer.get("default_generation_settings")?;
    number(settings.get("n_ctx").or_else(|| answer.get("n_ctx"))?)
}

fn number(value: &Json) -> Option<u32> {
    let number = u32::try_from(value.as_u64()?).ok()?;
    (number > 0).then_some(number)
}

fn words(value: Option<&Json>) -> Vec<String> {
    let items = value.and_then(Json::as_array);
    items
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .map(ToOwned::to_owned)
        .collect()
}
