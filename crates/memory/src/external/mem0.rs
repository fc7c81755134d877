//! mem0: facts that a service draws from what is said, in its cloud or on a server of one's own.
//!
//! Both speak of the same things with other paths: the cloud below `/v1` and `/v2`, a server of one's own at its root.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_core::{Effect, ToolSpec};
use hermes_http::AuthScheme;
use http::HeaderName;
use serde_json::{Value as Json, json};

use super::api::{Api, ApiOptions, rows, segment, text_of};
use super::catalog::Setup;
use super::error::ProviderError;
use super::fields::Fields;
use super::provider::{Delivery, Errand, Manner, Provider, Question, Scene};
use super::tool::{bounded, needed, spec, unknown};

pub(super) const NAME: &str = "mem0";
const CLOUD: &str = "https://api.mem0.ai";
const TIMEOUT: Duration = Duration::from_secs(30);
/// Memories recalled for one message.
const MOST_RECALLED: u64 = 5;
/// Memories among which one with the very same words is looked for.
const MOST_ALIKE: u64 = 10;
/// Memories among which those of a turn are looked for.
const MOST_OF_TURN: u64 = 50;

/// Where things are.
struct Paths {
    add: &'static str,
    search: &'static str,
    /// One memory, with its id in the place of the mark.
    one: &'static str,
}

const OF_CLOUD: Paths = Paths {
    add: "v1/memories/",
    search: "v2/memories/search/",
    one: "v1/memories/~/",
};
const OF_SERVER: Paths = Paths {
    add: "memories",
    search: "search",
    one: "memories/~",
};

pub(super) fn make(setup: &Setup<'_>) -> Result<Arc<dyn Provider>, ProviderError> {
    let fields = Fields::read(NAME, &setup.home.join("mem0.json"), setup.environment)?;
    let key = fields.text(&["api_key", "apiKey"], "MEM0_API_KEY");
    let host = fields.text(&["host", "base_url"], "MEM0_HOST");
    let mode = fields.text(&["mode"], "MEM0_MODE");
    let cloud = match mode.as_deref() {
        Some("cloud" | "platform") => true,
        Some("self-hosted" | "self_hosted" | "selfhosted" | "local") => false,
        Some(_) => return Err(missing("mode is cloud or self-hosted")),
        None => host.as_deref().is_none_or(|host| host.starts_with(CLOUD)),
    };
    let address = match (host, cloud) {
        (Some(host), _) => host,
        (None, true) => CLOUD.to_owned(),
        (None, false) => return Err(missing("MEM0_HOST is missing")),
    };
    if cloud && key.is_none() {
        return Err(missing("MEM0_API_KEY is missing"));
    }
    let scheme = match cloud {
        true => AuthScheme::Authorization("Token"),
        false => AuthScheme::Header(HeaderName::from_static("x-api-key")),
    };
    let named = |names: &[&str], variable: &str, usual: &str| {
        let text = fields.text(names, variable);
        text.unwrap_or_else(|| setup.own(usual))
    };
    Ok(Arc::new(Mem0 {
        api: Api::new(ApiOptions {
            provider: NAME,
            client: setup.client.clone(),
            address,
            key: key.map(|key| ("MEM0_API_KEY", key, scheme)),
            timeout: TIMEOUT,
        })?,
        paths: if cloud { OF_CLOUD } else { OF_SERVER },
        cloud,
        user: named(&["user_id"], "MEM0_USER_ID", "hermes-user"),
        agent: named(&["agent_id"], "MEM0_AGENT_ID", "hermes"),
    }))
}

fn missing(what: &str) -> ProviderError {
    ProviderError::Setup {
        provider: NAME,
        what: what.to_owned(),
    }
}

struct Mem0 {
    api: Api,
    paths: Paths,
    cloud: bool,
    user: String,
    agent: String,
}

impl Mem0 {
    async fn search(&self, query: &str, most: u64) -> Result<Vec<Json>, ProviderError> {
        let rows = self.rows(query, most).await?;
        let rows = rows.iter().filter_map(|row| {
            let text = text_of(row, &["memory", "text"])?;
            Some(json!({"id": row["id"], "memory": text, "score": row["score"]}))
        });
        Ok(rows
            .take(usize::try_from(most).unwrap_or(usize::MAX))
            .collect())
    }

    /// What a search answers, as the service writes it.
    async fn rows(&self, query: &str, most: u64) -> Result<Vec<Json>, ProviderError> {
        let body = match self.cloud {
            true => json!({"query": query, "filters": {"user_id": self.user}, "top_k": most}),
            false => json!({"query": query, "user_id": self.user, "limit": most}),
        };
        let found = self.api.ask(self.paths.search, body).await?;
        Ok(rows(&found, &["results", "memories"]).to_vec())
    }

    /// Adds messages. `infer` lets the service draw facts from them; without it they are kept word by word. Facts
    /// carry the mark of the turn they were drawn from, so that they can be found again.
    async fn add(
        &self,
        messages: Json,
        infer: bool,
        mark: Option<&str>,
    ) -> Result<Json, ProviderError> {
        let mut body = json!({
            "messages": messages,
            "user_id": self.user,
            "agent_id": self.agent,
            "infer": infer,
        });
        if let Some(mark) = mark {
            body["metadata"] = json!({"hermes": mark});
        }
        self.api.add(self.paths.add, body).await
    }

    /// Removes what is kept in these very words.
    async fn forget(&self, content: &str) -> Result<(), ProviderError> {
        for found in self.search(content, MOST_ALIKE).await? {
            let same = found["memory"].as_str().map(str::trim) == Some(content.trim());
            if let Some(id) = found["id"].as_str().filter(|_| same) {
                self.api.delete(&self.one(id), &[]).await?;
            }
        }
        Ok(())
    }

    /// Removes the facts that were drawn from a turn and that its words lead to.
    async fn forget_turn(&self, mark: &str, words: [&str; 2]) -> Result<(), ProviderError> {
        let mut gone = HashSet::new();
        for words in words.into_iter().filter(|words| !words.is_empty()) {
            for found in self.rows(words, MOST_OF_TURN).await? {
                let id = found["id"].as_str().unwrap_or_default();
                let of_turn = found["metadata"]["hermes"].as_str() == Some(mark);
                if of_turn && !id.is_empty() && gone.insert(id.to_owned()) {
                    self.api.delete(&self.one(id), &[]).await?;
                }
            }
        }
        Ok(())
    }

    fn one(&self, id: &str) -> String {
        self.paths.one.replace('~', &segment(id))
    }
}

impl Provider for Mem0 {
    fn manner(&self) -> Manner {
        Manner {
            forgets: true,
            ..Manner::default()
        }
    }

    fn prompt(&self) -> String {
        "mem0 keeps facts about the user from all conversations; those that match a message come along with it. \
         mem0_search finds more, mem0_add keeps a fact word by word, mem0_update and mem0_delete mend what is wrong."
            .to_owned()
    }

    fn tools(&self) -> Vec<ToolSpec> {
        let id = json!({"type": "string", "description": "the id a search gave"});
        vec![
            spec(
                "mem0_search",
                "Finds facts about the user by meaning.",
                json!({
                    "query": {"type": "string"},
                    "top_k": {"type": "integer", "description": "how many; 10 if not given, at most 50"},
                }),
                &["query"],
                Effect::ReadOnly,
            ),
            spec(
                "mem0_add",
                "Keeps a fact about the user, word by word.",
                json!({"content": {"type": "string"}}),
                &["content"],
                Effect::Mutating,
            ),
            spec(
                "mem0_update",
                "Puts other words in the place of a fact.",
                json!({"memory_id": id, "content": {"type": "string"}}),
                &["memory_id", "content"],
                Effect::Idempotent,
            ),
            spec(
                "mem0_delete",
                "Removes a fact.",
                json!({"memory_id": id}),
                &["memory_id"],
                Effect::Idempotent,
            ),
        ]
    }

    fn recall<'a>(
        &'a self,
        question: &'a Question,
    ) -> BoxFuture<'a, Result<Option<String>, ProviderError>> {
        Box::pin(async move {
            let found = self.search(&question.text, MOST_RECALLED).await?;
            let lines: Vec<String> = found
                .iter()
                .filter_map(|row| Some(format!("- {}", row["memory"].as_str()?)))
                .collect();
            Ok((!lines.is_empty()).then(|| lines.join("\n")))
        })
    }

    fn deliver<'a>(&'a self, delivery: &'a Delivery) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            match &delivery.errand {
                Errand::Turn { user, assistant } => {
                    let messages = json!([
                        {"role": "user", "content": user},
                        {"role": "assistant", "content": assistant},
                    ]);
                    self.add(messages, true, Some(&delivery.token)).await?;
                }
                Errand::Written { content, .. } => {
                    let messages = json!([{"role": "user", "content": content}]);
                    self.add(messages, false, None).await?;
                }
                Errand::Removed { content, .. } => self.forget(content).await?,
                Errand::TakenBack {
                    turn,
                    user,
                    assistant,
                } => self.forget_turn(turn, [user, assistant]).await?,
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
                "mem0_search" => {
                    let most = bounded(asked, "top_k", 10, 50);
                    let found = self.search(needed(asked, "query")?, most).await?;
                    Ok(json!({"count": found.len(), "results": found}))
                }
                "mem0_add" => {
                    let content = needed(asked, "content")?;
                    let messages = json!([{"role": "user", "content": content}]);
                    self.add(messages, false, None).await?;
                    Ok(json!({"added": true}))
                }
                "mem0_update" => {
                    let path = self.one(needed(asked, "memory_id")?);
                    let body = json!({"text": needed(asked, "content")?});
                    self.api.put(&path, body).await?;
                    Ok(json!({"updated": true}))
                }
                "mem0_delete" => {
                    let path = self.one(needed(asked, "memory_id")?);
                    self.api.delete(&path, &[]).await?;
                    Ok(json!({"removed": true}))
                }
                other => Err(unknown(other)),
            }
        })
    }

    fn check(&self) -> BoxFuture<'_, Result<String, ProviderError>> {
        Box::pin(async move {
            self.search("hello", 1).await?;
            Ok(format!("the memories of {}", self.user))
        })
    }
}
