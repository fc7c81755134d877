//! Who is in a session: the agent, and the user who speaks. Where a surface serves several people, each is a peer of
//! their own and comes into the session with their first message.

use http::Method;
use serde_json::{Value as Json, json};

use super::super::api::{Payload, Repeat, rows, segment};
use super::super::error::ProviderError;
use super::super::provider::Scene;
use super::settings::Strategy;
use super::{Honcho, MOST_SESSIONS, locked, names};

impl Honcho {
    /// The session a conversation belongs to, made if it is not known to be there, with whoever speaks in it.
    pub(super) async fn session(&self, scene: &Scene) -> Result<String, ProviderError> {
        let session = names::session(&self.settings, scene);
        let user = names::user(&self.settings, scene);
        let known = |joined: &(String, String)| joined.0 == session;
        let (is_made, is_in) = {
            let made = locked(&self.made);
            let is_in = made.contains(&(session.clone(), user.clone()));
            (is_in || made.iter().any(known), is_in)
        };
        if is_in {
            return Ok(session);
        }
        match is_made {
            true => self.join(&session, &user).await?,
            false => self.make(&session, &user).await?,
        }
        if self.settings.observed_as_said {
            // One that was there already keeps what its peers were told when they came.
            let [of_user, of_agent] = &self.settings.observed;
            self.tell_peer(&session, &user, of_user).await?;
            self.tell_peer(&session, &self.settings.agent, of_agent)
                .await?;
        }
        let mut made = locked(&self.made);
        if made.len() >= MOST_SESSIONS {
            made.clear();
        }
        made.insert((session.clone(), user));
        Ok(session)
    }

    /// Makes a session with its first two peers.
    async fn make(&self, session: &str, user: &str) -> Result<(), ProviderError> {
        let workspace = json!({"id": self.settings.workspace});
        self.api.ask("v3/workspaces", workspace).await?;
        for peer in [user, &self.settings.agent] {
            self.api
                .ask(&self.path("peers"), json!({"id": peer}))
                .await?;
        }
        let body = json!({"id": session, "peers": self.both(user)});
        self.api.ask(&self.path("sessions"), body).await?;
        Ok(())
    }

    /// Brings another user into a session that is there.
    async fn join(&self, session: &str, user: &str) -> Result<(), ProviderError> {
        self.api
            .ask(&self.path("peers"), json!({"id": user}))
            .await?;
        let [of_user, _] = &self.settings.observed;
        let path = self.session_path(session, "peers");
        self.api.ask(&path, json!({user: of_user})).await?;
        Ok(())
    }

    fn both(&self, user: &str) -> Json {
        let [of_user, of_agent] = &self.settings.observed;
        json!({user: of_user, self.settings.agent.as_str(): of_agent})
    }

    /// Says what a peer observes in a session, if that is something else. Only of this peer: others may be in it too.
    async fn tell_peer(
        &self,
        session: &str,
        peer: &str,
        observes: &Json,
    ) -> Result<(), ProviderError> {
        let path = self.session_path(session, &format!("peers/{}/config", segment(peer)));
        let now = self.api.get(&path, &[]).await?;
        let same = |key: &str| now[key] == observes[key];
        if !(same("observe_me") && same("observe_others")) {
            self.api.put(&path, observes.clone()).await?;
        }
        Ok(())
    }

    /// Takes names out of a session that its people had before the settings gave them others; they would be observed
    /// twice. Once for each session and user, and behind an answer; what fails does no harm.
    pub(super) async fn settle(&self, scene: &Scene, session: &str) {
        let before = names::before(&self.settings, scene);
        // The session of one conversation with one person holds nobody else.
        let alone = self.settings.strategy == Strategy::Session && scene.user.is_none();
        if before.is_empty() && !alone {
            return;
        }
        let user = names::user(&self.settings, scene);
        let joined = (session.to_owned(), user.clone());
        {
            let mut settled = locked(&self.settled);
            if settled.contains(&joined) {
                return;
            }
            if settled.len() >= MOST_SESSIONS {
                settled.clear();
            }
            settled.insert(joined);
        }
        let settled = match alone {
            true => self.keep_only(session, &user).await,
            false => self.let_go(session, &before).await,
        };
        if let Err(error) = settled {
            tracing::warn!(%error, "who is in a session of honcho was not looked at");
        }
    }

    async fn keep_only(&self, session: &str, user: &str) -> Result<(), ProviderError> {
        let ours = |peer: &String| peer == user || *peer == self.settings.agent;
        if !self.in_session(session).await?.iter().all(ours) {
            let path = self.session_path(session, "peers");
            self.api.put(&path, self.both(user)).await?;
        }
        Ok(())
    }

    async fn let_go(&self, session: &str, names: &[String]) -> Result<(), ProviderError> {
        let mut gone = self.in_session(session).await?;
        gone.retain(|peer| names.contains(peer));
        if !gone.is_empty() {
            let path = self.session_path(session, "peers");
            let body = Payload::Json(json!(gone));
            self.api
                .send(Method::DELETE, &path, &[], body, Repeat::Safe)
                .await?;
        }
        Ok(())
    }

    /// Everybody in a session.
    pub(super) async fn in_session(&self, session: &str) -> Result<Vec<String>, ProviderError> {
        let path = self.session_path(session, "peers");
        let found = self.api.get(&path, &[]).await?;
        let found = rows(&found, &["items"]).iter();
        Ok(found
            .filter_map(|row| row["id"].as_str().map(str::to_owned))
            .collect())
    }
}
