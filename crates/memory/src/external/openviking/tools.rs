//! What a model may ask of OpenViking.

use hermes_core::{Effect, ToolSpec};
use serde_json::{Value as Json, json};

use super::super::error::ProviderError;
use super::super::provider::Scene;
use super::super::tool::{bounded, needed, optional, refused, spec, unknown};
use super::{OpenViking, said};

/// How much of something is read.
const LEVELS: [&str; 3] = ["abstract", "overview", "full"];
const VIEWS: [&str; 3] = ["list", "tree", "stat"];

pub(super) fn specs() -> Vec<ToolSpec> {
    let uri = json!({"type": "string", "description": "a viking:// address"});
    vec![
        spec(
            "viking_search",
            "Finds memories and documents by meaning.",
            json!({
                "query": {"type": "string"},
                "scope": {"type": "string", "description": "only below this viking:// address"},
                "limit": {"type": "integer", "description": "how many; 10 if not given, at most 50"},
            }),
            &["query"],
            Effect::ReadOnly,
        ),
        spec(
            "viking_read",
            "Reads what is at an address: its abstract, its overview, or all of it.",
            json!({"uri": uri, "level": {"type": "string", "enum": LEVELS, "description": "overview if not given"}}),
            &["uri"],
            Effect::ReadOnly,
        ),
        spec(
            "viking_browse",
            "Shows what is below an address.",
            json!({"uri": uri, "view": {"type": "string", "enum": VIEWS, "description": "list if not given"}}),
            &[],
            Effect::ReadOnly,
        ),
        spec(
            "viking_remember",
            "Keeps something worth knowing; it becomes a memory when the conversation ends.",
            json!({"content": {"type": "string"}}),
            &["content"],
            Effect::Mutating,
        ),
        spec(
            "viking_forget",
            "Removes what is at an address, with all below it.",
            json!({"uri": uri}),
            &["uri"],
            Effect::Idempotent,
        ),
        spec(
            "viking_add_resource",
            "Takes a page or a repository in as a document, by its http(s) address.",
            json!({
                "url": {"type": "string"},
                "reason": {"type": "string", "description": "why it is worth keeping"},
            }),
            &["url"],
            Effect::Mutating,
        ),
    ]
}

impl OpenViking {
    /// Has it take in a page.
    async fn added(&self, asked: &Json) -> Result<Json, ProviderError> {
        let url = needed(asked, "url")?;
        let reason = optional(asked, "reason").unwrap_or_default();
        // A path would be read from this machine's disk, past the rails that files have here.
        if !url.starts_with("http://") && !url.starts_with("https://") {
            return Err(refused("url begins with http:// or https://"));
        }
        let body = json!({"path": url, "reason": reason});
        let added = self.api.add("api/v1/resources", body).await?;
        Ok(json!({"added": true, "uri": result(&added)["root_uri"]}))
    }

    pub(super) async fn called(
        &self,
        scene: &Scene,
        tool: &str,
        asked: &Json,
    ) -> Result<Json, ProviderError> {
        match tool {
            "viking_search" => {
                let most = bounded(asked, "limit", 10, 50);
                let query = needed(asked, "query")?;
                let found = self.find(query, optional(asked, "scope"), most).await?;
                Ok(json!({"count": found.len(), "results": found}))
            }
            "viking_read" => {
                let path = match optional(asked, "level") {
                    None | Some("overview") => "api/v1/content/overview",
                    Some("abstract") => "api/v1/content/abstract",
                    Some("full") => "api/v1/content/read",
                    Some(_) => {
                        return Err(refused(format!("level is one of {}", LEVELS.join(", "))));
                    }
                };
                let uri = address(needed(asked, "uri")?)?;
                self.looked(path, uri).await
            }
            "viking_browse" => {
                let path = match optional(asked, "view") {
                    None | Some("list") => "api/v1/fs/ls",
                    Some("tree") => "api/v1/fs/tree",
                    Some("stat") => "api/v1/fs/stat",
                    Some(_) => return Err(refused(format!("view is one of {}", VIEWS.join(", ")))),
                };
                let uri = address(optional(asked, "uri").unwrap_or("viking://"))?;
                self.looked(path, uri).await
            }
            "viking_remember" => {
                let noted = format!("Remember this: {}", needed(asked, "content")?);
                self.add(&scene.session, json!([said("user", &noted)]))
                    .await?;
                Ok(json!({"kept": true}))
            }
            "viking_forget" => {
                let uri = address(needed(asked, "uri")?)?;
                if uri
                    .trim_start_matches("viking://")
                    .trim_matches('/')
                    .is_empty()
                {
                    return Err(refused("the whole tree cannot be removed"));
                }
                let query = [("uri", uri), ("recursive", "true")];
                self.api.delete("api/v1/fs", &query).await?;
                Ok(json!({"removed": uri}))
            }
            "viking_add_resource" => self.added(asked).await,
            other => Err(unknown(other)),
        }
    }

    async fn looked(&self, path: &str, uri: &str) -> Result<Json, ProviderError> {
        let answer = self.api.get(path, &[("uri", uri)]).await?;
        Ok(json!({"uri": uri, "result": result(&answer)}))
    }
}

fn result(answer: &Json) -> &Json {
    answer.get("result").unwrap_or(answer)
}

fn address(uri: &str) -> Result<&str, ProviderError> {
    match uri.starts_with("viking://") {
        true => Ok(uri),
        false => Err(refused("an address begins with viking://")),
    }
}
