//! What is remembered about servers between runs: their tools, and what those said about themselves.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use futures_util::FutureExt as _;
use futures_util::future::Shared;
use hermes_config::Setting as _;
use hermes_core::Effect;
use hermes_store::Store;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use crate::scan::review;
use crate::{Catalog, RemoteTool, Restated, Server};

/// Remembers catalogues, so that tools can be offered before their server is connected. What is remembered
/// is good for the same settings only.
#[derive(Clone)]
pub struct Memory {
    store: Store,
    /// Descriptions of one server are looked at at a time: many servers that come up together need no thread each.
    reviewing: Arc<Semaphore>,
}

/// What is remembered of several servers, as soon as it is read.
#[derive(Clone)]
pub(crate) struct Recollection(Shared<BoxFuture<'static, Arc<BTreeMap<String, String>>>>);

impl Recollection {
    /// What is remembered of one of them.
    pub(crate) async fn of(self, server: &str) -> Option<Catalog> {
        read(self.0.await.get(server)?)
    }
}

/// A catalogue as it is written down.
#[derive(Serialize, Deserialize)]
struct Written {
    tools: Vec<WrittenTool>,
    resources: bool,
    prompts: bool,
    #[serde(default)]
    tasks: bool,
    #[serde(default)]
    cut: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct WrittenTool {
    name: String,
    description: Option<String>,
    schema: Json,
    effect: Effect,
    #[serde(default)]
    needs_task: bool,
}

impl Written {
    fn of(catalog: &Catalog) -> Self {
        let tools = catalog.tools.iter().map(|tool| WrittenTool {
            name: tool.name.clone(),
            description: tool.description.clone(),
            schema: tool.schema.clone(),
            effect: tool.effect,
            needs_task: tool.needs_task,
        });
        Self {
            tools: tools.collect(),
            resources: catalog.resources,
            prompts: catalog.prompts,
            tasks: catalog.tasks,
            cut: catalog.cut.clone(),
        }
    }
}

impl Memory {
    /// Remembers in a store.
    pub fn new(store: Store) -> Self {
        Self {
            store,
            reviewing: Arc::new(Semaphore::new(1)),
        }
    }

    /// What a server offered when it was last connected with these settings.
    pub async fn recall(&self, server: &Server) -> Option<Catalog> {
        let kept = kept(&self.store, std::slice::from_ref(server)).await;
        read(kept.get(server.name())?)
    }

    /// Looks servers up, all with one request; each of them takes its own out of what is found.
    pub(crate) fn recall_all(&self, servers: Vec<Server>, tasks: &TaskTracker) -> Recollection {
        let store = self.store.clone();
        let found = tasks.spawn(async move { Arc::new(kept(&store, &servers).await) });
        let found = found.map(|found| found.unwrap_or_default());
        Recollection(found.boxed().shared())
    }

    /// Remembers what a server offers, for the next run.
    pub async fn keep(&self, server: &Server, catalog: &Catalog) {
        let kept = match serde_json::to_string(&Written::of(catalog)) {
            Ok(body) => {
                let hash = settings_hash(server);
                let kept = self.store.keep_mcp_catalog(server.name(), &hash, body);
                kept.await.map_err(|error| error.to_string())
            }
            Err(error) => Err(error.to_string()),
        };
        if let Err(error) = kept {
            lost(server, &error);
        }
    }

    /// Remembers what a server offers, and warns of tools whose description is noteworthy or has changed. Answers with
    /// the changed ones, each time until they are accepted.
    pub async fn note(&self, server: &Server, catalog: &Arc<Catalog>) -> Restated {
        self.keep(server, catalog).await;
        let Ok(_alone) = self.reviewing.acquire().await else {
            return Restated::default();
        };
        match review(server.name(), catalog, Some(&self.store)).await {
            Ok(restated) => restated,
            Err(error) => {
                lost(server, &error);
                Restated::default()
            }
        }
    }

    /// A person heard of these changes: that is how the tools are known from now on.
    pub async fn accept(
        &self,
        server: &str,
        restated: &Restated,
    ) -> Result<(), hermes_store::StoreError> {
        self.store.accept_mcp_tools(server, restated.pins()).await
    }

    /// Forgets a server that was removed.
    pub async fn forget(&self, server: &str) -> Result<(), hermes_store::StoreError> {
        self.store.forget_mcp_server(server).await
    }
}

/// What is written down of servers, by their names. What cannot be read is as good as forgotten.
async fn kept(store: &Store, servers: &[Server]) -> BTreeMap<String, String> {
    let servers = servers.iter();
    let wanted = servers.map(|server| (server.name().to_owned(), settings_hash(server)));
    match store.mcp_catalogs(wanted.collect()).await {
        Ok(kept) => kept,
        Err(error) => {
            tracing::warn!(%error, "what MCP servers offered before could not be read");
            BTreeMap::new()
        }
    }
}

fn read(body: &str) -> Option<Catalog> {
    let written: Written = serde_json::from_str(body).ok()?;
    let tools = written.tools.into_iter().map(|tool| RemoteTool {
        name: tool.name,
        description: tool.description,
        schema: tool.schema,
        effect: tool.effect,
        needs_task: tool.needs_task,
    });
    Some(Catalog {
        tools: tools.collect(),
        resources: written.resources,
        prompts: written.prompts,
        tasks: written.tasks,
        cut: written.cut,
    })
}

fn lost(server: &Server, error: &dyn std::fmt::Display) {
    tracing::warn!(
        server = server.name(),
        "its tools could not be remembered: {error}"
    );
}

/// Stands for the settings of a server without telling them.
fn settings_hash(server: &Server) -> String {
    let settings = server.settings().to_value().to_json().to_string();
    let digest = Sha256::digest(settings.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
