//! What a model may ask of Honcho.

use hermes_core::{Effect, ToolSpec};
use serde_json::{Value as Json, json};

use super::super::api::{rows, segment, text_of};
use super::super::error::ProviderError;
use super::super::provider::Scene;
use super::super::tool::{bounded, needed, optional, refused, spec, unknown};
use super::recall::head;
use super::settings::LEVELS;
use super::{Honcho, names};

/// Roughly how many characters a token has.
const CHARACTERS: usize = 4;
/// Things one search looks at.
const MOST_FOUND: u64 = 50;
/// The longest model of a peer that is shown.
const MOST_SHOWN: usize = 8_000;
/// Stands for all peers where something is searched.
const EVERYBODY: &str = "all";

pub(super) fn specs() -> Vec<ToolSpec> {
    let peer =
        json!({"type": "string", "description": "user (if not given), ai, or the name of a peer"});
    let anybody = json!({"type": "string", "description": "user (if not given), ai, the name of a peer, or all for whoever said it"});
    vec![
        spec(
            "honcho_profile",
            "The short list of facts Honcho keeps about a peer, and the model it has of them. With card, replaces the list.",
            json!({
                "peer": peer,
                "card": {"type": "array", "items": {"type": "string"}, "description": "the new list"},
            }),
            &[],
            Effect::Idempotent,
        ),
        spec(
            "honcho_search",
            "Finds what a peer said in earlier conversations, by meaning; raw excerpts, no answer.",
            json!({
                "query": {"type": "string"},
                "max_tokens": {"type": "integer", "description": "how much to return; 800 if not given, at most 2000"},
                "peer": anybody,
            }),
            &["query"],
            Effect::ReadOnly,
        ),
        spec(
            "honcho_reasoning",
            "Asks Honcho a question about a peer and gets a considered answer. Slower than a search.",
            json!({
                "query": {"type": "string"},
                "reasoning_level": {"type": "string", "enum": LEVELS},
                "peer": peer,
            }),
            &["query"],
            Effect::ReadOnly,
        ),
        spec(
            "honcho_context",
            "What Honcho knows about a peer now: card, model and summary; and who is in this session.",
            json!({"peer": peer}),
            &[],
            Effect::ReadOnly,
        ),
        spec(
            "honcho_conclude",
            "Keeps a conclusion about a peer, removes one by delete_id, or with list shows those there are; query narrows the list.",
            json!({
                "conclusion": {"type": "string"},
                "delete_id": {"type": "string"},
                "list": {"type": "boolean"},
                "query": {"type": "string"},
                "peer": peer,
            }),
            &[],
            Effect::Mutating,
        ),
    ]
}

impl Honcho {
    pub(super) async fn called(
        &self,
        scene: &Scene,
        tool: &str,
        asked: &Json,
    ) -> Result<Json, ProviderError> {
        let session = self.session(scene).await?;
        let user = names::user(&self.settings, scene);
        let peer = match optional(asked, "peer") {
            None | Some("user") => user.as_str(),
            Some("ai") => self.settings.agent.as_str(),
            Some(named) => named,
        };
        let own = peer == user || peer == self.settings.agent;
        if !own && names::has_others(&self.settings, scene) {
            return Err(refused(
                "others are asked about by themselves; peer is user or ai here",
            ));
        }
        match tool {
            "honcho_profile" => self.profile(peer, asked).await,
            "honcho_search" => self.search(peer, asked).await,
            "honcho_reasoning" => {
                let query = needed(asked, "query")?;
                let dialectic = &self.settings.dialectic;
                let wished = optional(asked, "reasoning_level")
                    .filter(|_| dialectic.dynamic)
                    .and_then(|word| LEVELS.iter().position(|level| *level == word));
                let query = head(query, dialectic.most_asked);
                let level = wished.unwrap_or(dialectic.level);
                let answer = self.reason(peer, &session, &query, level).await?;
                Ok(json!({"answer": text_of(&answer, &["content"])}))
            }
            "honcho_context" => self.known(scene, peer, &session).await,
            "honcho_conclude" => self.conclusion(peer, &session, asked).await,
            other => Err(unknown(other)),
        }
    }

    async fn profile(&self, peer: &str, asked: &Json) -> Result<Json, ProviderError> {
        let path = self.peer_path(&self.settings.agent, "card");
        let target = [("target", peer)];
        let about_self = peer == self.settings.agent;
        let query = if about_self {
            &target[..0]
        } else {
            &target[..]
        };
        if let Some(card) = asked["card"].as_array() {
            let path = match about_self {
                true => path,
                false => format!("{path}?target={}", segment(peer)),
            };
            let answer = self.api.put(&path, json!({"peer_card": card})).await?;
            return Ok(json!({"peer": peer, "card": answer["peer_card"]}));
        }
        let answer = self.api.get(&path, query).await?;
        let target = (!about_self).then_some(peer);
        let path = self.peer_path(&self.settings.agent, "representation");
        let thought = self.api.ask(&path, json!({"target": target})).await?;
        let thought = text_of(&thought, &["representation"]).map(|text| head(text, MOST_SHOWN));
        Ok(json!({"peer": peer, "card": answer["peer_card"], "representation": thought}))
    }

    async fn search(&self, peer: &str, asked: &Json) -> Result<Json, ProviderError> {
        let query = needed(asked, "query")?;
        let most = bounded(asked, "max_tokens", 800, 2_000);
        let mut room = usize::try_from(most).unwrap_or(0) * CHARACTERS;
        let body = json!({"query": query, "limit": MOST_FOUND});
        let path = match peer {
            EVERYBODY => self.path("search"),
            peer => self.peer_path(peer, "search"),
        };
        let found = self.api.ask(&path, body).await?;
        let mut excerpts = Vec::new();
        for row in rows(&found, &["items"]) {
            let Some(text) = text_of(row, &["content"]).filter(|_| room > 0) else {
                continue;
            };
            let text = head(text, room);
            room = room.saturating_sub(text.chars().count());
            let mut excerpt =
                json!({"text": text, "session": row["session_id"], "at": row["created_at"]});
            if peer == EVERYBODY {
                excerpt["by"] = row["peer_id"].clone();
            }
            excerpts.push(excerpt);
        }
        Ok(json!({"peer": peer, "count": excerpts.len(), "excerpts": excerpts}))
    }

    /// The session's view of who speaks; of others their own. Beside it who is in the session: whom else one may ask
    /// about.
    async fn known(&self, scene: &Scene, peer: &str, session: &str) -> Result<Json, ProviderError> {
        // Who else is there comes beside what was asked for, which does not fail with it.
        let peers = self.in_session(session).await.unwrap_or_default();
        let context = match peer == names::user(&self.settings, scene) {
            true => {
                let query = [
                    self.summary(scene),
                    ("peer_target", peer),
                    ("peer_perspective", self.settings.agent.as_str()),
                ];
                self.api
                    .get(&self.session_path(session, "context"), &query)
                    .await?
            }
            false => self.api.get(&self.peer_path(peer, "context"), &[]).await?,
        };
        Ok(json!({"peer": peer, "context": self.told(scene, &context), "in_session": peers}))
    }

    async fn conclusion(
        &self,
        peer: &str,
        session: &str,
        asked: &Json,
    ) -> Result<Json, ProviderError> {
        if let Some(content) = optional(asked, "conclusion") {
            let kept = self.conclude(peer, session, content).await?;
            let first = rows(&kept, &["conclusions", "items"]).first();
            return Ok(json!({"kept": true, "id": first.map(|row| &row["id"])}));
        }
        if let Some(id) = optional(asked, "delete_id") {
            let path = self.path(&format!("conclusions/{}", segment(id)));
            self.api.delete(&path, &[]).await?;
            return Ok(json!({"removed": true}));
        }
        let filters = json!({"observer_id": self.settings.agent, "observed_id": peer});
        let found = match (optional(asked, "query"), asked["list"].as_bool()) {
            (Some(query), _) => {
                let body = json!({"query": query, "top_k": 10, "filters": filters});
                self.api.ask(&self.path("conclusions/query"), body).await?
            }
            (None, Some(true)) => {
                let body = json!({"filters": filters});
                self.api.ask(&self.path("conclusions/list"), body).await?
            }
            _ => return Err(refused("give conclusion, delete_id, query or list")),
        };
        let listed = rows(&found, &["items"]).iter();
        let listed: Vec<Json> = listed
            .take(50)
            .map(|row| json!({"id": row["id"], "content": row["content"]}))
            .collect();
        Ok(json!({"peer": peer, "count": listed.len(), "conclusions": listed}))
    }
}
