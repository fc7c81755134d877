//! Honcho: a service that builds models of the user and of the agent from what they say.
//!
//! A workspace holds peers, the user and the agent, and sessions in which both speak. Before a turn the session's
//! context and an answer about the user come along; after it both messages go there.

mod deliver;
mod names;
mod peers;
mod recall;
mod settings;
mod tools;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_core::future::BoxFuture;
use hermes_core::ToolSpec;
use hermes_http::AuthScheme;
use hermes_store::Store;
use serde_json::{Value as Json, json};

use self::recall::Cadence;
use self::settings::{Mode, Settings};
use super::api::{Api, ApiOptions, segment};
use super::catalog::Setup;
use super::error::ProviderError;
use super::provider::{Delivery, Manner, Provider, Question, Scene};

pub(super) const NAME: &str = "honcho";
/// Sessions whose cadence is remembered.
const MOST_SESSIONS: usize = 256;

pub(super) fn make(setup: &Setup<'_>) -> Result<Arc<dyn Provider>, ProviderError> {
    let settings = Settings::read(setup)?;
    let key = settings.key.clone();
    let api = Api::new(ApiOptions {
        provider: NAME,
        client: setup.client.clone(),
        address: settings.address.clone(),
        key: key.map(|key| ("HONCHO_API_KEY", key, AuthScheme::Bearer)),
        timeout: settings.timeout,
    })?;
    Ok(Arc::new(Honcho {
        api,
        settings,
        store: setup.store.clone(),
        home: setup.home.to_owned(),
        made: Mutex::default(),
        settled: Mutex::default(),
        cadence: Mutex::default(),
    }))
}

pub(crate) struct Honcho {
    api: Api,
    settings: Settings,
    store: Store,
    home: PathBuf,
    /// Sessions that are known to be there, each with a peer of a user that is known to be in it.
    made: Mutex<HashSet<(String, String)>>,
    /// Those of them whose other peers were looked at.
    settled: Mutex<HashSet<(String, String)>>,
    /// When what was asked last, by conversation and user.
    cadence: Mutex<HashMap<(String, String), Cadence>>,
}

impl Honcho {
    /// A path below the workspace.
    fn path(&self, rest: &str) -> String {
        format!("v3/workspaces/{}/{rest}", segment(&self.settings.workspace))
    }

    fn peer_path(&self, peer: &str, rest: &str) -> String {
        self.path(&format!("peers/{}/{rest}", segment(peer)))
    }

    fn session_path(&self, session: &str, rest: &str) -> String {
        self.path(&format!("sessions/{}/{rest}", segment(session)))
    }
}

impl Provider for Honcho {
    fn manner(&self) -> Manner {
        Manner {
            // Elsewhere the first message makes the session: its context is asked for.
            begins: self.settings.begins && self.settings.mode == Mode::Tools,
            recalls: self.settings.mode != Mode::Tools,
            ahead: true,
            hold: self.settings.hold,
            ends: false,
            mirrors: true,
            forgets: false,
        }
    }

    fn prompt(&self) -> String {
        let tools = "The honcho_ tools ask Honcho, which builds a model of the user from your conversations: \
             honcho_profile and honcho_context for what is known, honcho_search for what was said, honcho_reasoning for a \
             considered answer, honcho_conclude to keep or remove a conclusion.";
        let comes = "What Honcho knows about the user comes along with messages.";
        match self.settings.mode {
            Mode::Hybrid => format!("{comes} {tools}"),
            Mode::Context => comes.to_owned(),
            Mode::Tools => tools.to_owned(),
        }
    }

    fn tools(&self) -> Vec<ToolSpec> {
        match self.settings.mode {
            Mode::Context => Vec::new(),
            Mode::Hybrid | Mode::Tools => tools::specs(),
        }
    }

    fn begin<'a>(&'a self, scene: &'a Scene) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move { self.session(scene).await.map(|_| ()) })
    }

    fn recall<'a>(
        &'a self,
        question: &'a Question,
    ) -> BoxFuture<'a, Result<Option<String>, ProviderError>> {
        Box::pin(self.recalled(question))
    }

    fn deliver<'a>(&'a self, delivery: &'a Delivery) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(self.delivered(delivery))
    }

    fn call<'a>(
        &'a self,
        scene: &'a Scene,
        tool: &'a str,
        arguments: &'a Json,
    ) -> BoxFuture<'a, Result<Json, ProviderError>> {
        Box::pin(self.called(scene, tool, arguments))
    }

    fn check(&self) -> BoxFuture<'_, Result<String, ProviderError>> {
        Box::pin(async move {
            let workspace = &self.settings.workspace;
            self.api
                .ask("v3/workspaces", json!({"id": workspace}))
                .await?;
            let status = self.api.get(&self.path("queue/status"), &[]).await?;
            let waiting = status["pending_work_units"].as_u64().unwrap_or(0);
            Ok(format!(
                "workspace {workspace}, {waiting} pieces of work waiting there"
            ))
        })
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
