//! OpenViking: memories and documents as a tree of files behind `viking://`, on a server of one's own.
//!
//! What is said goes to a session there; when the conversation ends it is committed, which is when memories are made.

mod tools;

use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_core::ToolSpec;
use hermes_http::AuthScheme;
use http::HeaderName;
use serde_json::{Value as Json, json};

use super::api::{Api, ApiOptions, rows, segment, text_of};
use super::catalog::Setup;
use super::error::ProviderError;
use super::fields::Fields;
use super::provider::{Delivery, Errand, Manner, Provider, Question, Scene};

pub(super) const NAME: &str = "openviking";
const LOCAL: &str = "http://127.0.0.1:1933";
const TIMEOUT: Duration = Duration::from_secs(30);
/// Things recalled for one message.
const MOST_RECALLED: u64 = 8;

pub(super) fn make(setup: &Setup<'_>) -> Result<Arc<dyn Provider>, ProviderError> {
    let file = setup.home.join("openviking.json");
    let fields = Fields::read(NAME, &file, setup.environment)?;
    let address = fields.text(&["endpoint"], "OPENVIKING_ENDPOINT");
    let key = fields.text(&["api_key"], "OPENVIKING_API_KEY");
    let scheme = AuthScheme::Header(HeaderName::from_static("x-api-key"));
    let agent = fields.text(&["agent"], "OPENVIKING_AGENT");
    let api = Api::new(ApiOptions {
        provider: NAME,
        client: setup.client.clone(),
        address: address.unwrap_or_else(|| LOCAL.to_owned()),
        key: key.map(|key| ("OPENVIKING_API_KEY", key, scheme)),
        timeout: TIMEOUT,
    })?
    .header(
        "x-openviking-account",
        fields.text(&["account"], "OPENVIKING_ACCOUNT"),
    )
    .header(
        "x-openviking-user",
        fields.text(&["user"], "OPENVIKING_USER"),
    )
    .header(
        "x-openviking-agent",
        Some(agent.unwrap_or_else(|| setup.own("hermes"))),
    );
    Ok(Arc::new(OpenViking { api }))
}

pub(crate) struct OpenViking {
    api: Api,
}

impl OpenViking {
    async fn find(
        &self,
        query: &str,
        under: Option<&str>,
        most: u64,
    ) -> Result<Vec<Json>, ProviderError> {
        let mut body = json!({"query": query, "limit": most});
        if let Some(under) = under {
            body["target_uri"] = json!(under);
        }
        let answer = self.api.ask("api/v1/search/find", body).await?;
        let result = answer.get("result").unwrap_or(&answer);
        let kinds = ["memories", "resources", "skills"].into_iter();
        let found = kinds.flat_map(|kind| {
            rows(&result[kind], &[]).iter().map(move |row| {
                let text = text_of(row, &["abstract", "overview"]);
                json!({"uri": row["uri"], "kind": kind, "abstract": text, "score": row["score"]})
            })
        });
        Ok(found
            .take(usize::try_from(most).unwrap_or(usize::MAX))
            .collect())
    }

    /// Adds messages to the session of a conversation, which the first of them makes.
    async fn add(&self, session: &str, messages: Json) -> Result<(), ProviderError> {
        let path = format!("api/v1/sessions/{}/messages/batch", segment(session));
        self.api.add(&path, json!({"messages": messages})).await?;
        Ok(())
    }
}

/// One message of a session.
fn said(role: &str, content: &str) -> Json {
    json!({"role": role, "parts": [{"type": "text", "text": content}]})
}

impl Provider for OpenViking {
    fn manner(&self) -> Manner {
        Manner {
            ends: true,
            forgets: true,
            ..Manner::default()
        }
    }

    fn prompt(&self) -> String {
        "OpenViking keeps memories and documents as a tree behind viking:// addresses; what matches a message comes along \
         with it, with its address. viking_search finds more, viking_read opens an address, viking_browse lists below one, \
         viking_remember and viking_forget keep and remove, viking_add_resource takes a page in."
            .to_owned()
    }

    fn tools(&self) -> Vec<ToolSpec> {
        tools::specs()
    }

    fn recall<'a>(
        &'a self,
        question: &'a Question,
    ) -> BoxFuture<'a, Result<Option<String>, ProviderError>> {
        Box::pin(async move {
            let found = self.find(&question.text, None, MOST_RECALLED).await?;
            let lines: Vec<String> = found
                .iter()
                .filter_map(|row| {
                    let (text, uri) = (row["abstract"].as_str()?, row["uri"].as_str()?);
                    Some(format!("- {text} ({uri})"))
                })
                .collect();
            Ok((!lines.is_empty()).then(|| lines.join("\n")))
        })
    }

    fn deliver<'a>(&'a self, delivery: &'a Delivery) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            let session = &delivery.scene.session;
            match &delivery.errand {
                Errand::Turn { user, assistant } => {
                    let both = json!([said("user", user), said("assistant", assistant)]);
                    self.add(session, both).await
                }
                Errand::Written { content, .. } => {
                    let noted = format!("Remember this: {content}");
                    self.add(session, json!([said("user", &noted)])).await
                }
                Errand::Removed { content, .. } => {
                    let noted = format!("Forget this, it does not hold any more: {content}");
                    self.add(session, json!([said("user", &noted)])).await
                }
                Errand::TakenBack {
                    user, assistant, ..
                } => {
                    let noted = format!(
                        "I took this back; remember nothing of it.\n\nUser: {user}\n\nAssistant: {assistant}"
                    );
                    self.add(session, json!([said("user", &noted)])).await
                }
                Errand::Ended => {
                    let path = format!("api/v1/sessions/{}/commit", segment(session));
                    self.api.ask(&path, json!({})).await?;
                    Ok(())
                }
            }
        })
    }

    fn call<'a>(
        &'a self,
        scene: &'a Scene,
        tool: &'a str,
        asked: &'a Json,
    ) -> BoxFuture<'a, Result<Json, ProviderError>> {
        Box::pin(self.called(scene, tool, asked))
    }

    fn check(&self) -> BoxFuture<'_, Result<String, ProviderError>> {
        Box::pin(async move {
            self.api.get("health", &[]).await?;
            self.api
                .get("api/v1/fs/ls", &[("uri", "viking://")])
                .await?;
            Ok("a tree at viking://".to_owned())
        })
    }
}
