//! Which server runs on this machine, and what it has.

mod answer;

use std::time::Duration;

use hermes_http::{BaseUrl, HttpClient, RequestBuilder, Timeouts};
use serde_json::{Value as Json, json};

use crate::metadata::window_from_listing;

pub use answer::{
    LmStudioModel, OllamaModel, llama_cpp_window, lm_studio_models, ollama_loaded_window,
    ollama_model, ollama_names,
};

/// A probe that takes longer is answered by nobody we know.
const PATIENCE: Duration = Duration::from_secs(2);

/// More than any list of models has.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// Where local servers usually listen.
pub const USUAL_PORTS: [(LocalServer, u16); 4] = [
    (LocalServer::Ollama, 11434),
    (LocalServer::LmStudio, 1234),
    (LocalServer::LlamaCpp, 8080),
    (LocalServer::Vllm, 8000),
];

/// A kind of local server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LocalServer {
    /// Ollama.
    Ollama,
    /// LM Studio.
    LmStudio,
    /// The server of llama.cpp.
    LlamaCpp,
    /// vLLM.
    Vllm,
}

impl LocalServer {
    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ollama => "Ollama",
            Self::LmStudio => "LM Studio",
            Self::LlamaCpp => "llama.cpp",
            Self::Vllm => "vLLM",
        }
    }
}

/// What a server said about itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Detected {
    /// Which one it is.
    pub server: LocalServer,
    /// Its models, by the names requests use.
    pub models: Vec<String>,
    /// The window it runs with, when there is one for all models.
    pub window: Option<u32>,
}

/// Finds out which server answers at an address; `None` for others and for nobody.
pub async fn detect(http: &HttpClient, base: &BaseUrl) -> Option<Detected> {
    let probe = Probe {
        http,
        root: &root_of(base)?,
    };
    probe.whole().await.unwrap_or(None)
}

/// What Ollama knows about one model, and the window it is loaded with now.
pub async fn ollama(http: &HttpClient, base: &BaseUrl, model: &str) -> Option<OllamaModel> {
    let probe = Probe {
        http,
        root: &root_of(base)?,
    };
    let url = probe.root.join("api/show");
    let question = http.post(url).json(&json!({"model": model, "name": model}));
    let mut about = ollama_model(&probe.read(question).await.ok()??);
    if let Ok(Some(running)) = probe.get("api/ps").await {
        about.loaded_window = ollama_loaded_window(&running, model);
    }
    Some(about)
}

/// The window a server gives a model, as far as it says. Most say it in their list of models; Ollama
/// and LM Studio, told by their usual ports, are asked in their own way.
pub async fn window(http: &HttpClient, base: &BaseUrl, model: &str) -> Option<u32> {
    let probe = Probe {
        http,
        root: &root_of(base)?,
    };
    let port = base.join("").port();
    let is_usual = |wanted| {
        USUAL_PORTS
            .iter()
            .any(|(server, usual)| *server == wanted && port == Some(*usual))
    };
    if is_usual(LocalServer::Ollama) {
        let about = ollama(http, base, model).await?;
        return about.loaded_window.or(about.set_window);
    }
    if is_usual(LocalServer::LmStudio) {
        let answer = probe.get("api/v1/models").await.ok()??;
        let models = lm_studio_models(&answer)?;
        let about = models.into_iter().find(|about| about.id == model)?;
        return about.loaded_window.or(about.max_window);
    }
    let listing = probe.read(http.get(base.join("models"))).await.ok()??;
    window_from_listing(&listing, model)
}

/// The native interfaces stand beside `/v1`, not below it.
fn root_of(base: &BaseUrl) -> Option<BaseUrl> {
    let mut url = base.join("");
    url.set_query(None);
    let path = url.path().trim_end_matches('/');
    let root = path.strip_suffix("/v1").unwrap_or(path).to_owned();
    url.set_path(&root);
    matches!(url.scheme(), "http" | "https").then(|| BaseUrl::from(url))
}

struct Probe<'a> {
    http: &'a HttpClient,
    root: &'a BaseUrl,
}

/// Nobody answered in time: asking for something else would only take as long again.
struct Silent;

impl Probe<'_> {
    async fn whole(&self) -> Result<Option<Detected>, Silent> {
        let found = |server, models, window| {
            Ok(Some(Detected {
                server,
                models,
                window,
            }))
        };
        // LM Studio also imitates Ollama's list, so it is asked first.
        if let Some(answer) = self.get("api/v1/models").await?
            && let Some(models) = lm_studio_models(&answer)
        {
            let names = models.into_iter().map(|model| model.id).collect();
            return found(LocalServer::LmStudio, names, None);
        }
        if let Some(answer) = self.get("api/tags").await?
            && let Some(names) = ollama_names(&answer)
        {
            return found(LocalServer::Ollama, names, None);
        }
        for path in ["props", "v1/props"] {
            if let Some(answer) = self.get(path).await?
                && answer.get("default_generation_settings").is_some()
            {
                let window = llama_cpp_window(&answer);
                return found(LocalServer::LlamaCpp, self.models().await?, window);
            }
        }
        let version = self.get("version").await?;
        let version = version.as_ref().and_then(|answer| answer.get("version"));
        if version.is_some_and(Json::is_string) {
            return found(LocalServer::Vllm, self.models().await?, None);
        }
        Ok(None)
    }

    async fn get(&self, path: &str) -> Result<Option<Json>, Silent> {
        self.read(self.http.get(self.root.join(path))).await
    }

    /// `None` when there is an answer, but not one of the server we asked for.
    async fn read(&self, request: RequestBuilder) -> Result<Option<Json>, Silent> {
        let limited = request.timeouts(Timeouts {
            first_byte: PATIENCE,
            idle: PATIENCE,
            total: PATIENCE,
            ..Timeouts::default()
        });
        let exchange = async {
            let response = match limited.send().await {
                Ok(response) => response,
                Err(_) => return Err(Silent),
            };
            if !response.status().is_success() {
                return Ok(None);
            }
            Ok(response.json(MOST_BYTES).await.ok())
        };
        // Connecting has the client's own, longer limit.
        match tokio::time::timeout(PATIENCE, exchange).await {
            Ok(answer) => answer,
            Err(_) => Err(Silent),
        }
    }

    async fn models(&self) -> Result<Vec<String>, Silent> {
        let listing = self.get("v1/models").await?.unwrap_or_default();
        let data = listing.get("data").and_then(Json::as_array);
        Ok(data
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.get("id")?.as_str())
            .map(ToOwned::to_owned)
            .collect())
    }
}
