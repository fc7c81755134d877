//! Hindsight: a bank of memories that can be recalled and thought about.
//!
//! What is retained under the id of a document replaces what was there, so a turn that is sent twice is kept once.

use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_core::{Effect, ToolSpec};
use hermes_http::AuthScheme;
use serde_json::{Value as Json, json};

use super::api::{Api, ApiOptions, rows, segment, text_of};
use super::catalog::Setup;
use super::error::ProviderError;
use super::fields::Fields;
use super::provider::{Delivery, Errand, Manner, Provider, Question, Scene};
use super::tool::{needed, optional, spec, unknown};

pub(super) const NAME: &str = "hindsight";
const CLOUD: &str = "https://api.hindsight.vectorize.io";
const LOCAL: &str = "http://localhost:8888";
const BUDGETS: [&str; 3] = ["low", "mid", "high"];
/// Memories recalled for one message, and about how many tokens of them.
const MOST_RECALLED: usize = 15;
const MOST_TOKENS: u32 = 2_048;

pub(super) fn make(setup: &Setup<'_>) -> Result<Arc<dyn Provider>, ProviderError> {
    let file = setup.home.join("hindsight/config.json");
    let fields = Fields::read(NAME, &file, setup.environment)?;
    let wrong = |what: &str| ProviderError::Setup {
        provider: NAME,
        what: what.to_owned(),
    };
    let key = fields.text(&["apiKey", "api_key"], "HINDSIGHT_API_KEY");
    let address = fields.text(&["api_url", "apiUrl"], "HINDSIGHT_API_URL");
    let address = match (address, fields.text(&["mode"], "HINDSIGHT_MODE").as_deref()) {
        (Some(address), _) => address,
        (None, Some("local" | "local_external" | "local_embedded")) => LOCAL.to_owned(),
        (None, None | Some("cloud")) if key.is_some() => CLOUD.to_owned(),
        (None, None | Some("cloud")) => return Err(wrong("HINDSIGHT_API_KEY is missing")),
        (None, Some(_)) => return Err(wrong("mode is cloud or local")),
    };
    let budget = fields.text(&["budget", "recall_budget"], "HINDSIGHT_BUDGET");
    let budget = budget.unwrap_or_else(|| "mid".to_owned());
    if !BUDGETS.contains(&budget.as_str()) {
        return Err(wrong("budget is low, mid or high"));
    }
    let bank = fields.text(&["bank_id", "bankId"], "HINDSIGHT_BANK_ID");
    let seconds = fields
        .number(&["timeout"], "HINDSIGHT_TIMEOUT")
        .unwrap_or(120.0);
    Ok(Arc::new(Hindsight {
        api: Api::new(ApiOptions {
            provider: NAME,
            client: setup.client.clone(),
            address,
            key: key.map(|key| ("HINDSIGHT_API_KEY", key, AuthScheme::Bearer)),
            timeout: Duration::from_secs_f64(seconds.clamp(1.0, 600.0)),
        })?,
        bank: bank.unwrap_or_else(|| setup.own("hermes")),
        budget,
    }))
}

struct Hindsight {
    api: Api,
    bank: String,
    budget: String,
}

impl Hindsight {
    fn path(&self, rest: &str) -> String {
        format!("v1/default/banks/{}/{rest}", segment(&self.bank))
    }

    async fn retain(
        &self,
        content: &str,
        context: &str,
        document: Option<String>,
    ) -> Result<Json, ProviderError> {
        let mut item = json!({"content": content, "context": context});
        let named = document.is_some();
        if let Some(document) = document {
            item["document_id"] = json!(document);
        }
        // The service takes its time over it; it need not be ours.
        let body = json!({"items": [item], "async": true});
        match named {
            true => self.api.ask(&self.path("memories"), body).await,
            false => self.api.add(&self.path("memories"), body).await,
        }
    }

    async fn recalled(&self, query: &str) -> Result<Vec<Json>, ProviderError> {
        let body = json!({"query": query, "budget": self.budget, "max_tokens": MOST_TOKENS});
        let found = self.api.ask(&self.path("memories/recall"), body).await?;
        let rows = rows(&found, &["results"]).iter();
        let rows = rows.filter_map(|row| {
            let text = text_of(row, &["text"])?;
            Some(json!({"id": row["id"], "text": text, "type": row["type"]}))
        });
        Ok(rows.take(MOST_RECALLED).collect())
    }
}

impl Provider for Hindsight {
    fn manner(&self) -> Manner {
        Manner {
            forgets: true,
            ..Manner::default()
        }
    }

    fn prompt(&self) -> String {
        "Hindsight keeps what was learned in all conversations; memories that match a message come along with it. \
         hindsight_recall finds more, hindsight_reflect answers a question from all of them, hindsight_retain keeps \
         something."
            .to_owned()
    }

    fn tools(&self) -> Vec<ToolSpec> {
        vec![
            spec(
                "hindsight_retain",
                "Keeps something worth knowing in later conversations.",
                json!({
                    "content": {"type": "string"},
                    "context": {"type": "string", "description": "in a few words, where it comes from"},
                }),
                &["content"],
                Effect::Mutating,
            ),
            spec(
                "hindsight_recall",
                "Finds memories by meaning, words, people and time.",
                json!({"query": {"type": "string"}}),
                &["query"],
                Effect::ReadOnly,
            ),
            spec(
                "hindsight_reflect",
                "Answers a question by thinking about all memories. Slower than recall.",
                json!({"query": {"type": "string"}}),
                &["query"],
                Effect::ReadOnly,
            ),
        ]
    }

    fn recall<'a>(
        &'a self,
        question: &'a Question,
    ) -> BoxFuture<'a, Result<Option<String>, ProviderError>> {
        Box::pin(async move {
            let found = self.recalled(&question.text).await?;
            let lines: Vec<String> = found
                .iter()
                .filter_map(|row| Some(format!("- {}", row["text"].as_str()?)))
                .collect();
            Ok((!lines.is_empty()).then(|| lines.join("\n")))
        })
    }

    fn deliver<'a>(&'a self, delivery: &'a Delivery) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            let named = |token: &str| format!("{}-{token}", delivery.scene.session);
            let document = Some(named(&delivery.token));
            match &delivery.errand {
                Errand::Turn { user, assistant } => {
                    let said = format!("User: {user}\n\nAssistant: {assistant}");
                    self.retain(&said, "a conversation", document).await?;
                }
                Errand::Written { target, content } => {
                    let context = match target.as_str() {
                        "user" => "what the agent noted about the user",
                        _ => "a note of the agent",
                    };
                    self.retain(content, context, document).await?;
                }
                Errand::TakenBack { turn, .. } => {
                    let document = format!("documents/{}", segment(&named(turn)));
                    self.api.remove(&self.path(&document)).await?;
                }
                // It draws its own conclusions from what it was told, and has no way to take one of them back.
                Errand::Removed { .. } | Errand::Ended => {}
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
                "hindsight_retain" => {
                    let context = optional(asked, "context").unwrap_or("a conversation");
                    self.retain(needed(asked, "content")?, context, None)
                        .await?;
                    Ok(json!({"retained": true}))
                }
                "hindsight_recall" => {
                    let found = self.recalled(needed(asked, "query")?).await?;
                    Ok(json!({"count": found.len(), "results": found}))
                }
                "hindsight_reflect" => {
                    let query = needed(asked, "query")?;
                    let body = json!({"query": query, "budget": self.budget});
                    let answer = self.api.ask(&self.path("reflect"), body).await?;
                    Ok(json!({"answer": text_of(&answer, &["text"])}))
                }
                other => Err(unknown(other)),
            }
        })
    }

    fn check(&self) -> BoxFuture<'_, Result<String, ProviderError>> {
        Box::pin(async move {
            self.api.get("health", &[]).await?;
            self.recalled("hello").await?;
            Ok(format!("the bank {}", self.bank))
        })
    }
}
