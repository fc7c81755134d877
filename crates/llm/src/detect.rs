//! Which server runs on this machine, and what it has.

mod answer;

use std::time::Duration;

use hermes_http::{AuthScheme, BaseUrl, HttpClient, RequestBuilder, Timeouts};
use hermes_secrets::Secret;
use serde_json::{Value as Json, json};

pub use answer::{
    LmStudioModel, OllamaModel, llama_cpp_window, lm_studio_models, ollama_loaded_window,
    ollama_model, ollama_names, owner,
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
    let probe = Probe::new(http, base, None)?;
    probe.whole().await.unwrap_or(None)
}

/// What Ollama knows about one model, and the window it is loaded with now.
pub async fn ollama(http: &HttpClient, base: &BaseUrl, model: &str) -> Option<OllamaModel> {
    Probe::new(http, base, None)?.ollama(model).await
}

fn root_of(base: &BaseUrl) -> Option<BaseUrl> {
    let mut url = base.join("");
    url.set_query(None);
    let path = url.path().trim_end_matches('/');
    let root = path.strip_suffix("/v1").unwrap_or(path).to_owned();
    url.set_path(&root);
    matches!(url.scheme(), "http" | "https").then(|| BaseUrl::from(url))
}

/// Asks one server about itself.
pub(crate) struct Probe<'a> {
    http: &'a HttpClient,
    base: BaseUrl,
    /// The native interfaces stand beside `/v1`, not below it.
    root: BaseUrl,
    secret: Option<&'a Secret>,
    patience: Duration,
}

/// Nobody answered in time: asking for something else would only take as long again.
pub(crate) struct Silent;

impl<'a> Probe<'a> {
    pub(crate) fn new(
        http: &'a HttpClient,
        base: &BaseUrl,
        secret: Option<&'a Secret>,
    ) -> Option<Self> {
        Some(Self {
            http,
            base: base.clone(),
            root: root_of(base)?,
            secret,
            patience: PATIENCE,
        })
    }

    /// Waits this long for each answer.
    pub(crate) fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// What Ollama says about a model, and with which window it runs now.
    pub(crate) async fn ollama(&self, model: &str) -> Option<OllamaModel> {
        let mut about = self.ollama_model(model).await?;
        about.loaded_window = self.ollama_window(model).await;
        Some(about)
    }

    /// What Ollama says about a model.
    pub(crate) async fn ollama_model(&self, model: &str) -> Option<OllamaModel> {
        let question = json!({"model": model, "name": model});
        Some(ollama_model(&self.post("api/show", &question).await.ok()??))
    }

    pub(crate) async fn ollama_window(&self, model: &str) -> Option<u32> {
        let running = self.get("api/ps").await.ok()??;
        ollama_loaded_window(&running, model)
    }

    pub(crate) async fn lm_studio(&self, model: &str) -> Option<LmStudioModel> {
        let answer = self.get("api/v1/models").await.ok()??;
        let models = lm_studio_models(&answer)?;
        models.into_iter().find(|about| about.id == model)
    }

    /// The list of models that every imitation of OpenAI has.
    pub(crate) async fn listing(&self) -> Option<Json> {
        let answer = self.read(self.http.get(self.base.join("models")));
        answer.await.ok()?
    }

    pub(crate) async fn post(&self, path: &str, body: &Json) -> Result<Option<Json>, Silent> {
        self.read(self.http.post(self.root.join(path)).json(body))
            .await
    }

    /// Which server this is, by what it says, and its list of models. Most say it in the list; the others are
    /// known by an interface that nobody else has.
    pub(crate) async fn who(&self) -> Result<(Option<LocalServer>, Option<Json>), Silent> {
        let listing = self.read(self.http.get(self.base.join("models"))).await?;
        if let Some(server) = listing.as_ref().and_then(owner) {
            return Ok((Some(server), listing));
        }
        if self.props().await?.is_some() {
            return Ok((Some(LocalServer::LlamaCpp), listing));
        }
        let answer = self.get("api/v1/models").await?;
        if answer.as_ref().and_then(lm_studio_models).is_some() {
            return Ok((Some(LocalServer::LmStudio), listing));
        }
        for (path, server) in [
            ("api/version", LocalServer::Ollama),
            ("version", LocalServer::Vllm),
        ] {
            let answer = self.get(path).await?;
            let version = answer.as_ref().and_then(|answer| answer.get("version"));
            if version.is_some_and(Json::is_string) {
                return Ok((Some(server), listing));
            }
        }
        Ok((None, listing))
    }

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
        if let Some(answer) = self.props().await? {
            let window = llama_cpp_window(&answer);
            return found(LocalServer::LlamaCpp, self.models().await?, window);
        }
        let version = self.get("version").await?;
        let version = version.as_ref().and_then(|answer| answer.get("version"));
        if version.is_some_and(Json::is_string) {
            return found(LocalServer::Vllm, self.models().await?, None);
        }
        Ok(None)
    }

    /// The window llama.cpp was started with.
    pub(crate) async fn llama_cpp_window(&self) -> Option<u32> {
        llama_cpp_window(&self.props().await.ok()??)
    }

    /// What llama.cpp says about itself.
    async fn props(&self) -> Result<Option<Json>, Silent> {
        for path in ["props", "v1/props"] {
            let answer = self.get(path).await?;
            let is_its = |answer: &Json| answer.get("default_generation_settings").is_some();
            if answer.as_ref().is_some_and(is_its) {
                return Ok(answer);
            }
        }
        Ok(None)
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Option<Json>, Silent> {
        self.read(self.http.get(self.root.join(path))).await
    }

    /// `None` when there is an answer, but not one of the server we asked for.
    async fn read(&self, request: RequestBuilder) -> Result<Option<Json>, Silent> {
        let mut limited = request.timeouts(Timeouts {
            first_byte: self.patience,
            idle: self.patience,
            total: self.patience,
            ..Timeouts::default()
        });
        if let Some(secret) = self.secret {
            limited = limited.auth(secret, AuthScheme::Bearer);
        }
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
        match tokio::time::timeout(self.patience, exchange).await {
            Ok(answer) => answer,
            Err(_) => Err(Silent),
        }
    }

    async fn models(&self) -> Result<Vec<String>, Silent> {
        let listing = self.get("v1/models").await?.unwrap_or_default();
        Ok(listed_models(&listing))
    }
}

/// The names in a list of models.
pub(crate) fn listed_models(listing: &Json) -> Vec<String> {
    let data = listing.get("data").and_then(Json::as_array);
    data.into_iter()
        .flatten()
        .filter_map(|entry| entry.get("id")?.as_str())
        .map(ToOwned::to_owned)
        .collect()
}
