//! What Honcho is told: both sides of a turn, what is written about the user, and the files of an earlier time.

use http::Method;
use serde_json::{Value as Json, json};

use super::super::api::{Repeat, rows, segment};
use super::super::error::ProviderError;
use super::super::form::form;
use super::super::provider::{Delivery, Errand};
use super::{Honcho, names};
use crate::entries::{parse, serialise};
use crate::planted::planted;

/// Files that are handed over once, and whether they are about the user.
const FILES: [(&str, bool); 3] = [
    ("memories/MEMORY.md", true),
    ("memories/USER.md", true),
    ("SOUL.md", false),
];

impl Honcho {
    pub(super) async fn delivered(&self, delivery: &Delivery) -> Result<(), ProviderError> {
        match &delivery.errand {
            Errand::Turn { user, assistant } if self.settings.saves => {
                let session = self.session(&delivery.scene).await?;
                let speaker = names::user(&self.settings, &delivery.scene);
                // The files are about the one the settings name.
                if speaker == self.settings.user {
                    self.hand_over_files(&session).await;
                }
                if delivery.doubtful && self.has(&session, &delivery.token).await? {
                    return Ok(());
                }
                let said = [(user, &speaker), (assistant, &self.settings.agent)].into_iter();
                let messages: Vec<Json> = said
                    .flat_map(|(text, peer)| self.pieces(text, peer, &delivery.token))
                    .collect();
                if messages.is_empty() {
                    return Ok(());
                }
                let path = self.session_path(&session, "messages");
                self.api.add(&path, json!({"messages": messages})).await?;
                self.settle(&delivery.scene, &session).await;
                Ok(())
            }
            Errand::Written { target, content } if target == "user" => {
                let session = self.session(&delivery.scene).await?;
                let about = names::user(&self.settings, &delivery.scene);
                if delivery.doubtful && !self.concluded(&about, content).await?.is_empty() {
                    return Ok(());
                }
                self.conclude(&about, &session, content).await?;
                Ok(())
            }
            Errand::Removed { target, content } if target == "user" => {
                let about = names::user(&self.settings, &delivery.scene);
                let found = self.concluded(&about, content).await?;
                for id in found.iter().filter(|id| !id.is_empty()) {
                    let path = self.path(&format!("conclusions/{}", segment(id)));
                    self.api.delete(&path, &[]).await?;
                }
                Ok(())
            }
            Errand::Turn { .. }
            | Errand::Written { .. }
            | Errand::Removed { .. }
            // It has no way to take a message out of a session.
            | Errand::TakenBack { .. }
            | Errand::Ended => Ok(()),
        }
    }

    /// A message in pieces that Honcho takes, each marked so that it can be found again.
    fn pieces(&self, text: &str, peer: &str, token: &str) -> Vec<Json> {
        let letters: Vec<char> = text.trim().chars().collect();
        letters
            .chunks(self.settings.most_of_message)
            .map(|piece| {
                let content: String = piece.iter().collect();
                json!({"content": content, "peer_id": peer, "metadata": {"hermes": token}})
            })
            .collect()
    }

    /// Whether a delivery that ended in doubt is there.
    async fn has(&self, session: &str, token: &str) -> Result<bool, ProviderError> {
        let path = self.session_path(session, "messages/list");
        let filters = json!({"filters": {"metadata": {"hermes": token}}});
        let found = self.api.ask(&path, filters).await?;
        Ok(!rows(&found, &["items"]).is_empty())
    }

    pub(super) async fn conclude(
        &self,
        about: &str,
        session: &str,
        content: &str,
    ) -> Result<Json, ProviderError> {
        let conclusion = json!({
            "content": content,
            "observer_id": self.settings.agent,
            "observed_id": about,
            "session_id": session,
        });
        let body = json!({"conclusions": [conclusion]});
        self.api.add(&self.path("conclusions"), body).await
    }

    /// The ids of what is concluded in these very words. Conclusions carry no mark of ours, so they are asked for by
    /// meaning, and what is the same comes first.
    async fn concluded(&self, about: &str, content: &str) -> Result<Vec<String>, ProviderError> {
        let filters = json!({"observer_id": self.settings.agent, "observed_id": about});
        let body = json!({"query": content, "top_k": 10, "filters": filters});
        let found = self.api.ask(&self.path("conclusions/query"), body).await?;
        let found = rows(&found, &["items"]).iter();
        let same = found
            .filter(|row| row["content"].as_str().map(str::trim) == Some(content.trim()))
            .map(|row| row["id"].as_str().unwrap_or_default().to_owned());
        Ok(same.collect())
    }

    /// Gives Honcho what the files know, each once, in the first session of a workspace. What cannot be handed over
    /// now is next time.
    async fn hand_over_files(&self, session: &str) {
        for (name, of_user) in FILES {
            let mark = format!(
                "honcho file {} {} {name}",
                self.settings.address, self.settings.workspace
            );
            match self.store.memory_is_marked(&mark).await {
                Ok(false) => {}
                Ok(true) | Err(_) => continue,
            }
            if let Err(error) = self.hand_over(session, name, of_user).await {
                tracing::warn!(%error, "{name} was not handed to honcho");
                return;
            }
            // Also one that is not there: what comes into it later is told as it comes.
            if let Err(error) = self.store.mark_memory(&mark).await {
                tracing::warn!(%error, "{name} may be handed to honcho again");
            }
        }
    }

    async fn hand_over(
        &self,
        session: &str,
        name: &str,
        of_user: bool,
    ) -> Result<(), ProviderError> {
        let Ok(Some(bytes)) = hermes_config::read_file(&self.home.join(name)) else {
            return Ok(());
        };
        let text = self.presentable(&String::from_utf8_lossy(&bytes), of_user);
        if text.trim().is_empty() {
            return Ok(());
        }
        let peer = match of_user {
            true => &self.settings.user,
            false => &self.settings.agent,
        };
        let name = name.rsplit('/').next().unwrap_or(name);
        let path = self.session_path(session, "messages/upload");
        let body = form(&[("peer_id", peer)], name, "text/markdown", text.as_bytes());
        self.api
            .send(Method::POST, &path, &[], body, Repeat::Refused)
            .await?;
        Ok(())
    }

    /// A file as it may leave this machine: what no prompt shows, nobody else is told either.
    fn presentable(&self, text: &str, of_entries: bool) -> String {
        let text = match of_entries {
            true => serialise(
                parse(text)
                    .into_iter()
                    .filter(|one| planted(one).is_empty()),
            ),
            false => text.to_owned(),
        };
        self.store.clean(text)
    }
}
