//! Servers nearby decide themselves how large a window a model gets, often a small one. They are asked,
//! and told how large it has to be. Servers elsewhere are asked only about models nobody else knows.

use std::sync::Arc;
use std::time::Duration;

use hermes_config::LoadMode;
use hermes_core::WireProtocol;
use hermes_http::HttpClient;
use hermes_secrets::Secret;
use serde_json::{Value as Json, json};

use crate::detect::{LocalServer, OllamaModel, Probe, Silent, USUAL_PORTS, listed_models};
use crate::metadata::window_from_listing;
use crate::quirks::{Quirks, ReasoningStyle};
use crate::route::{Address, Endpoint, Route, WindowSource};

/// A window in which an agent can work; asked for when the user set none.
pub const ENOUGH: u32 = 65_536;

/// Reading a large model from a slow disk takes minutes.
const LOADING: Duration = Duration::from_secs(300);

/// A server that takes longer to say which models it has is not waited for.
const NAMING: Duration = Duration::from_secs(5);

/// The profile of LM Studio.
const LM_STUDIO: &str = "lmstudio";

/// How far a look at a server may go.
#[derive(Clone, Copy)]
pub enum Reach<'a> {
    /// Only ask.
    Look,
    /// Have the model loaded with the window that is wanted.
    Load {
        /// Who loads models into LM Studio.
        mode: LoadMode,
        /// Hears what takes long.
        progress: &'a (dyn Fn(&str) + Sync),
    },
}

/// A route after its server was asked.
#[derive(Debug)]
pub struct Prepared {
    /// The route, with the window that is really there.
    pub route: Route,
    /// What the user should know, such as a window smaller than wanted.
    pub notes: Vec<String>,
}

/// Finds out which window the server of a route gives its model, and asks for a larger one where the
/// server lets us. Routes to servers that do not answer, and to models whose window is known from elsewhere,
/// stay as they are.
pub async fn prepare(
    http: &HttpClient,
    mut route: Route,
    secret: Option<&Secret>,
    reach: Reach<'_>,
) -> Prepared {
    let mut notes = Vec::new();
    if let Endpoint::Http(address) = &route.endpoint
        && (address.local
            || route.quirks.asks_ollama
            || route.limits.window_from == WindowSource::Guess)
        && let Some(probe) = Probe::new(http, &address.base, secret)
    {
        let visit = Visit { probe, reach };
        let seen = match named(&route) {
            _ if !address.local => Ok((None, None)),
            Some(server) => Ok((Some(server), None)),
            None if is_worth_a_look(&route, address) => visit.probe.who().await,
            None => Ok((None, None)),
        };
        let found = match seen {
            _ if route.quirks.asks_ollama && !address.local => visit.far_ollama(&route).await,
            Ok((Some(LocalServer::LmStudio), _)) => visit.lm_studio(&route, &mut notes).await,
            Ok((Some(LocalServer::Ollama), _)) => visit.ollama(&route, &mut notes).await,
            Ok((Some(LocalServer::LlamaCpp), listing)) => visit.llama_cpp(&route, listing).await,
            Ok((Some(LocalServer::Vllm) | None, listing)) => visit.listed(&route, listing).await,
            // One that does not answer is not asked anything else.
            Err(Silent) => None,
        };
        if let Some(found) = found {
            found.put_into(&mut route);
        }
    }
    Prepared { route, notes }
}

/// The model of a server nearby that has exactly one, whatever model the route names.
pub async fn only_model(
    http: &HttpClient,
    route: &Route,
    secret: Option<&Secret>,
) -> Option<String> {
    let Endpoint::Http(address) = &route.endpoint else {
        return None;
    };
    let probe = Probe::new(http, &address.base, secret).filter(|_| address.local)?;
    let listing = probe.patience(NAMING).listing().await?;
    match <[String; 1]>::try_from(listed_models(&listing)) {
        Ok([only]) => Some(only),
        Err(_) => None,
    }
}

/// Asks the same server for the same model in the same way as a route that was prepared: with another window,
/// Ollama would load the model anew for every helper task.
pub fn follow(route: &mut Route, prepared: &Route) {
    let same = route.model == prepared.model && route.address_text() == prepared.address_text();
    let asked = prepared.is_local() || prepared.quirks.asks_ollama;
    if same && asked {
        route.limits = prepared.limits;
        let mut quirks = Quirks::clone(&route.quirks);
        quirks.ollama_window = prepared.quirks.ollama_window;
        quirks.reasoning = prepared.quirks.reasoning.clone();
        quirks.no_tools = prepared.quirks.no_tools;
        quirks.no_images = prepared.quirks.no_images;
        route.quirks = Arc::new(quirks);
    }
}

/// The server that the settings name.
fn named(route: &Route) -> Option<LocalServer> {
    if route.provider == LM_STUDIO {
        Some(LocalServer::LmStudio)
    } else {
        asked_of_ollama(route).map(|_| LocalServer::Ollama)
    }
}

/// Whether to find out which server it is: its window is not known, or one listens here that has to be told.
fn is_worth_a_look(route: &Route, address: &Address) -> bool {
    let port = address.base.join("").port();
    !is_sure(route) || USUAL_PORTS.iter().any(|(_, usual)| port == Some(*usual))
}

/// The window that `model.ollama_num_ctx` asks for.
fn asked_of_ollama(route: &Route) -> Option<u32> {
    let options = route.quirks.extra_body.get("options")?;
    u32::try_from(options.get("num_ctx")?.as_u64()?).ok()
}

fn configured(route: &Route) -> Option<u32> {
    (route.limits.window_from == WindowSource::Configured).then_some(route.limits.window)
}

/// What was found out.
#[derive(Default)]
struct Found {
    window: Option<u32>,
    /// The words for effort that the model knows, where the server says so.
    efforts: Vec<String>,
    /// The model, as Ollama describes it.
    about: Option<OllamaModel>,
    /// The window every request asks Ollama for, which is then spoken to in its own way.
    asked: Option<u32>,
}

impl Found {
    fn put_into(self, route: &mut Route) {
        if let Some(window) = self.window {
            // A server cannot give more than it has, whatever the settings say.
            let kept = configured(route).is_some_and(|set| set <= window);
            if !kept {
                route.set_window(window, WindowSource::Endpoint);
            }
        }
        if route.protocol() != Some(WireProtocol::ChatCompletions) {
            return;
        }
        let mut quirks = Quirks::clone(&route.quirks);
        if !self.efforts.is_empty() {
            quirks.reasoning = ReasoningStyle::Effort {
                levels: self.efforts,
                default: None,
                unsaid: Vec::new(),
            };
        }
        if let Some(about) = self.about {
            about.put_into(&mut quirks);
        }
        if self.asked.is_some() {
            quirks.ollama_window = self.asked;
        }
        route.quirks = Arc::new(quirks);
    }
}

impl OllamaModel {
    /// Asking for what a model cannot do is an error at Ollama. Its older versions say nothing of what models
    /// can do: these are asked for everything but thoughts.
    fn put_into(&self, quirks: &mut Quirks) {
        if self.can("thinking") != Some(true) {
            quirks.reasoning = ReasoningStyle::Omit;
        }
        quirks.no_tools |= self.can("tools") == Some(false);
        if let Some(sees) = self.can("vision").filter(|_| !quirks.vision_set) {
            quirks.no_images = !sees;
        }
    }
}

struct Visit<'a> {
    probe: Probe<'a>,
    reach: Reach<'a>,
}

impl Visit<'_> {
    async fn lm_studio(self, route: &Route, notes: &mut Vec<String>) -> Option<Found> {
        let about = self.probe.lm_studio(&route.model).await?;
        let largest = about.max_window.unwrap_or(u32::MAX);
        let wanted = configured(route).unwrap_or(ENOUGH).min(largest);
        let now = about.loaded_window.or(about.max_window);
        let found = |window| {
            Some(Found {
                window,
                efforts: efforts(&about.efforts),
                ..Found::default()
            })
        };
        let progress = match self.reach {
            Reach::Load {
                mode: LoadMode::Explicit,
                progress,
            } if about.loaded_window.is_none_or(|loaded| loaded < wanted) => progress,
            Reach::Look | Reach::Load { .. } => return found(now),
        };
        progress(&loading("LM Studio", &route.model, wanted));
        let question = json!({"model": route.model, "context_length": wanted});
        let probe = self.probe.patience(LOADING);
        let answer = probe.post("api/v1/models/load", &question).await;
        let loaded = match answer {
            Ok(Some(_)) => {
                let again = probe.lm_studio(&route.model).await;
                again.and_then(|about| about.loaded_window)
            }
            Ok(None) | Err(_) => about.loaded_window,
        };
        if loaded.is_none_or(|loaded| loaded < wanted) {
            let rest = match loaded {
                Some(loaded) => format!("it runs with {loaded}"),
                None => "it is left to the server".to_owned(),
            };
            notes.push(format!(
                "LM Studio did not load {} with a window of {wanted} tokens: {rest}. \
                 `hermes config set model.lmstudio_load_mode jit` leaves loading to the server",
                route.model
            ));
        }
        found(loaded.or(now))
    }

    async fn ollama(self, route: &Route, notes: &mut Vec<String>) -> Option<Found> {
        let mut about = self.probe.ollama(&route.model).await?;
        let largest = about.max_window.unwrap_or(u32::MAX);
        let wanted = asked_of_ollama(route)
            .or(configured(route))
            .or(about.set_window)
            .unwrap_or(ENOUGH.min(largest));
        let mut window = wanted;
        if let Reach::Load { progress, .. } = self.reach {
            if about.loaded_window != Some(wanted) {
                progress(&loading("Ollama", &route.model, wanted));
                // A question without words only loads the model.
                let question = json!({
                    "model": route.model,
                    "stream": false,
                    "options": {"num_ctx": wanted},
                });
                let probe = self.probe.patience(LOADING);
                if let Ok(Some(_)) = probe.post("api/generate", &question).await {
                    about.loaded_window = probe.ollama_window(&route.model).await;
                }
            }
            notes.extend(about.mismatch(wanted));
            window = about.loaded_window.map_or(wanted, |real| real.min(wanted));
        }
        Some(Found {
            window: Some(window),
            efforts: Vec::new(),
            about: Some(about),
            asked: Some(wanted),
        })
    }

    /// Where somebody else runs it, it has all of its window.
    async fn far_ollama(self, route: &Route) -> Option<Found> {
        let about = self.probe.ollama_model(&route.model).await?;
        let unknown = route.limits.window_from > WindowSource::Endpoint;
        Some(Found {
            window: about.max_window.filter(|_| unknown),
            about: Some(about),
            ..Found::default()
        })
    }

    /// The list of llama.cpp names the window the model was made for, not the one there is.
    async fn llama_cpp(self, route: &Route, listing: Option<Json>) -> Option<Found> {
        if is_sure(route) {
            return None;
        }
        match self.probe.llama_cpp_window().await {
            Some(window) => Some(Found::plain(window)),
            None => self.listed(route, listing).await,
        }
    }

    /// Most servers say it in their list of models.
    async fn listed(self, route: &Route, listing: Option<Json>) -> Option<Found> {
        if is_sure(route) {
            return None;
        }
        let listing = match listing {
            Some(listing) => listing,
            None => self.probe.listing().await?,
        };
        window_from_listing(&listing, &route.model).map(Found::plain)
    }
}

/// Whether somebody who must know has said how large the window is. A refusal of a server nearby is none: it may
/// have been started anew with another window since.
fn is_sure(route: &Route) -> bool {
    match route.limits.window_from {
        WindowSource::Configured | WindowSource::Endpoint | WindowSource::File => true,
        WindowSource::Learned
        | WindowSource::Catalogue
        | WindowSource::Family
        | WindowSource::Guess => false,
    }
}

impl Found {
    fn plain(window: u32) -> Self {
        Self {
            window: Some(window),
            ..Self::default()
        }
    }
}

/// The efforts LM Studio offers, in the words requests have for them. Of a model that can only be switched on
/// and off, on is the middle.
fn efforts(offered: &[String]) -> Vec<String> {
    let word = |offered: &String| match offered.as_str() {
        "off" => "none".to_owned(),
        "on" => "medium".to_owned(),
        word => word.to_owned(),
    };
    offered.iter().map(word).collect()
}

fn loading(server: &str, model: &str, window: u32) -> String {
    format!("{server} loads {model} with a window of {window} tokens…")
}
