//! Supermemory: a profile of the user and memories, kept under one tag.
//!
//! A conversation is one thing there, told again as a whole by its id, so telling it twice equals telling it once. What
//! one turn says is sent under an id of its own for the same reason.

use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_core::{Effect, ToolSpec};
use hermes_http::AuthScheme;
use http::Method;
use serde_json::{Value as Json, json};

use super::api::{Api, ApiOptions, Payload, Repeat, rows, segment, text_of};
use super::catalog::Setup;
use super::error::ProviderError;
use super::fields::Fields;
use super::provider::{Delivery, Errand, Manner, Provider, Question, Scene};
use super::tool::{bounded, needed, optional, refused, spec, unknown};

pub(super) const NAME: &str = "supermemory";
const CLOUD: &str = "https://api.supermemory.ai";
const TIMEOUT: Duration = Duration::from_secs(30);
/// Lines of each kind recalled for one message.
const MOST_RECALLED: usize = 10;
/// Memories among which one with the very same words is looked for.
const MOST_ALIKE: u64 = 10;

pub(super) fn make(setup: &Setup<'_>) -> Result<Arc<dyn Provider>, ProviderError> {
    let file = setup.home.join("supermemory.json");
    let fields = Fields::read(NAME, &file, setup.environment)?;
    let key = fields
        .text(&["api_key"], "SUPERMEMORY_API_KEY")
        .ok_or_else(|| ProviderError::Setup {
            provider: NAME,
            what: "SUPERMEMORY_API_KEY is missing".to_owned(),
        })?;
    let tag = fields.text(&["container_tag"], "SUPERMEMORY_CONTAINER_TAG");
    let address = fields.text(&["base_url"], "SUPERMEMORY_BASE_URL");
    Ok(Arc::new(Supermemory {
        api: Api::new(ApiOptions {
            provider: NAME,
            client: setup.client.clone(),
            address: address.unwrap_or_else(|| CLOUD.to_owned()),
            key: Some(("SUPERMEMORY_API_KEY", key, AuthScheme::Bearer)),
            timeout: TIMEOUT,
        })?,
        tag: match tag {
            // The same tag in every profile would mix them.
            Some(tag) => tag.replace("{profile}", setup.profile),
            None => setup.own("hermes"),
        },
    }))
}

struct Supermemory {
    api: Api,
    tag: String,
}

impl Supermemory {
    async fn profile(&self, query: Option<&str>) -> Result<Json, ProviderError> {
        let body = json!({"containerTag": self.tag, "q": query});
        self.api.ask("v4/profile", body).await
    }

    async fn search(&self, query: &str, most: u64) -> Result<Vec<Json>, ProviderError> {
        let body = json!({"q": query, "containerTag": self.tag, "limit": most});
        let found = self.api.ask("v4/search", body).await?;
        Ok(memories(&found))
    }

    /// Keeps a text under an id: the same id means the same text.
    async fn store(
        &self,
        content: &str,
        id: Option<&str>,
        about: Json,
    ) -> Result<Json, ProviderError> {
        let mut body = json!({"content": content, "containerTag": self.tag, "metadata": about});
        if let Some(id) = id {
            body["customId"] = json!(id);
        }
        match id {
            Some(_) => self.api.ask("v3/documents", body).await,
            None => self.api.add("v3/documents", body).await,
        }
    }
}

impl Supermemory {
    async fn forget(&self, id: &Json) -> Result<(), ProviderError> {
        let payload = Payload::Json(json!({"containerTag": self.tag, "id": id}));
        let forgotten = self
            .api
            .send(Method::DELETE, "v4/memories", &[], payload, Repeat::Safe);
        forgotten.await.map(drop)
    }
}

/// The memories in an answer.
fn memories(answer: &Json) -> Vec<Json> {
    let rows = rows(answer, &["results"]).iter();
    rows.filter_map(|row| {
        let text = text_of(row, &["memory", "chunk", "content"])?;
        Some(json!({"id": row["id"], "memory": text, "similarity": row["similarity"]}))
    })
    .collect()
}

/// A profile and what was found along with it, in words.
fn told(answer: &Json) -> Option<String> {
    let profile = &answer["profile"];
    let mut parts = Vec::new();
    for (title, kind) in [("Lasting", "static"), ("Lately", "dynamic")] {
        let lines = rows(&profile[kind], &[]).iter().filter_map(Json::as_str);
        let lines: Vec<String> = lines
            .take(MOST_RECALLED)
            .map(|line| format!("- {line}"))
            .collect();
        if !lines.is_empty() {
            parts.push(format!("{title}:\n{}", lines.join("\n")));
        }
    }
    let found = memories(&answer["searchResults"]);
    let found = found.iter().filter_map(|row| row["memory"].as_str());
    let found: Vec<String> = found
        .take(MOST_RECALLED)
        .map(|line| format!("- {line}"))
        .collect();
    if !found.is_empty() {
        parts.push(format!("About this:\n{}", found.join("\n")));
    }
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

impl Provider for Supermemory {
    fn manner(&self) -> Manner {
        Manner {
            forgets: true,
            ..Manner::default()
        }
    }

    fn prompt(&self) -> String {
        "Supermemory keeps a profile of the user and memories from all conversations; what matches a message comes along \
         with it. supermemory_search finds more, supermemory_profile gives the whole profile, supermemory_store keeps \
         something, supermemory_forget removes it."
            .to_owned()
    }

    fn tools(&self) -> Vec<ToolSpec> {
        vec![
            spec(
                "supermemory_store",
                "Keeps something worth knowing in later conversations.",
                json!({"content": {"type": "string"}}),
                &["content"],
                Effect::Mutating,
            ),
            spec(
                "supermemory_search",
                "Finds memories by meaning.",
                json!({
                    "query": {"type": "string"},
                    "limit": {"type": "integer", "description": "how many; 5 if not given, at most 20"},
                }),
                &["query"],
                Effect::ReadOnly,
            ),
            spec(
                "supermemory_forget",
                "Removes a memory, by its id or by its words.",
                json!({"id": {"type": "string"}, "query": {"type": "string"}}),
                &[],
                Effect::Idempotent,
            ),
            spec(
                "supermemory_profile",
                "What is known about the user, lasting and of late; query adds what matches it.",
                json!({"query": {"type": "string"}}),
                &[],
                Effect::ReadOnly,
            ),
        ]
    }

    fn recall<'a>(
        &'a self,
        question: &'a Question,
    ) -> BoxFuture<'a, Result<Option<String>, ProviderError>> {
        Box::pin(async move { Ok(told(&self.profile(Some(&question.text)).await?)) })
    }

    fn deliver<'a>(&'a self, delivery: &'a Delivery) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            let session = &delivery.scene.session;
            let named = |token: &str| format!("{session}_{token}");
            match &delivery.errand {
                Errand::Turn { user, assistant } => {
                    let body = json!({
                        "conversationId": named(&delivery.token),
                        "containerTags": [self.tag],
                        "messages": [
                            {"role": "user", "content": user},
                            {"role": "assistant", "content": assistant},
                        ],
                        "metadata": {"session": session, "source": "hermes"},
                    });
                    self.api.ask("v4/conversations", body).await?;
                }
                Errand::Written { target, content } => {
                    let about = json!({"source": "hermes", "target": target});
                    self.store(content, Some(&delivery.token), about).await?;
                }
                Errand::Removed { content, .. } => {
                    for found in self.search(content, MOST_ALIKE).await? {
                        let same = found["memory"].as_str().map(str::trim) == Some(content.trim());
                        if same {
                            self.forget(&found["id"]).await?;
                        }
                    }
                }
                Errand::TakenBack { turn, .. } => {
                    let document = format!("v3/documents/{}", segment(&named(turn)));
                    self.api.remove(&document).await?;
                }
                Errand::Ended => {}
            }
            Ok(())
        })
    }

    fn call<'a>(
        &'a self,
        _: &'a Scene,
        tool: &'a str,
        asked: &'a Json,
    ) -> BoxFuture<'a, Result<Json, ProviderError>> {
        Box::pin(async move {
            match tool {
                "supermemory_store" => {
                    let content = needed(asked, "content")?;
                    let kept = self
                        .store(content, None, json!({"source": "hermes"}))
                        .await?;
                    Ok(json!({"stored": true, "id": kept["id"]}))
                }
                "supermemory_search" => {
                    let most = bounded(asked, "limit", 5, 20);
                    let found = self.search(needed(asked, "query")?, most).await?;
                    Ok(json!({"count": found.len(), "results": found}))
                }
                "supermemory_forget" => {
                    let id = match (optional(asked, "id"), optional(asked, "query")) {
                        (Some(id), _) => json!(id),
                        (None, Some(query)) => {
                            let found = self.search(query, 1).await?;
                            let Some(best) = found.first() else {
                                return Err(refused("nothing matches that"));
                            };
                            best["id"].clone()
                        }
                        (None, None) => return Err(refused("give id or query")),
                    };
                    self.forget(&id).await?;
                    Ok(json!({"forgotten": id}))
                }
                "supermemory_profile" => {
                    let profile = self.profile(optional(asked, "query")).await?;
                    Ok(json!({"profile": told(&profile)}))
                }
                other => Err(unknown(other)),
            }
        })
    }

    fn check(&self) -> BoxFuture<'_, Result<String, ProviderError>> {
        Box::pin(async move {
            self.profile(None).await?;
            Ok(format!("the tag {}", self.tag))
        })
    }
}
