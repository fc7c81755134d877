//! What is remembered about servers between runs: their tools, and what those said about themselves.

use hermes_config::Setting as _;
use hermes_core::Effect;
use hermes_store::Store;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use crate::{Catalog, RemoteTool, Server, review};

/// Remembers catalogues, so that tools can be offered before their server is connected. What is remembered
/// is good for the same settings only.
#[derive(Clone)]
pub struct Memory {
    store: Store,
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

impl Memory {
    /// Remembers in a store.
    pub fn new(store: Store) -> Self {
        Self { store }
    }

    /// What a server offered when it was last connected with these settings.
    pub async fn recall(&self, server: &Server) -> Option<Catalog> {
        let kept = self
            .store
            .mcp_catalog(server.name(), &settings_hash(server))
            .await;
        let written: Written = serde_json::from_str(&kept.ok()??).ok()?;
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

    /// Remembers what a server offers, and warns of tools whose description is noteworthy or has changed.
    /// Answers with the names of the changed ones.
    pub async fn note(&self, server: &Server, catalog: &Catalog) -> Vec<String> {
        let written = Written {
            tools: catalog
                .tools
                .iter()
                .map(|tool| WrittenTool {
                    name: tool.name.clone(),
                    description: tool.description.clone(),
                    schema: tool.schema.clone(),
                    effect: tool.effect,
                    needs_task: tool.needs_task,
                })
                .collect(),
            resources: catalog.resources,
            prompts: catalog.prompts,
            tasks: catalog.tasks,
            cut: catalog.cut.clone(),
        };
        let lost = |error: &dyn std::fmt::Display| {
            tracing::warn!(
                server = server.name(),
                "its tools could not be remembered: {error}"
            );
        };
        match serde_json::to_string(&written) {
            Ok(body) => {
                let hash = settings_hash(server);
                let kept = self
                    .store
                    .keep_mcp_catalog(server.name(), &hash, body)
                    .await;
                if let Err(error) = kept {
                    lost(&error);
                }
            }
            Err(error) => lost(&error),
        }
        match review(server.name(), &catalog.tools, Some(&self.store)).await {
            Ok(changed) => changed,
            Err(error) => {
                lost(&error);
                Vec::new()
            }
        }
    }

    /// Forgets a server that was removed.
    pub async fn forget(&self, server: &str) -> Result<(), hermes_store::StoreError> {
        self.store.forget_mcp_server(server).await
    }
}

/// Stands for the settings of a server without telling them.
fn settings_hash(server: &Server) -> String {
    let settings = server.settings().to_value().to_json().to_string();
    let digest = Sha256::digest(settings.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
