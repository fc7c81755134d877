//! Getting new tokens without a person: once for all processes.

use jiff::Timestamp;

use super::authority::OAuth;
use super::challenge::Challenge;
use super::client::Client;
use super::discover::{canonical, discover};
use super::error::OAuthError;
use super::grant::{Desk, blocking};
use super::metadata::{Metadata, joined_scopes};
use super::settings::Grant;
use super::tokens::Tokens;
use super::wire::Reach;

/// When a token that is kept does instead of a new one.
#[derive(Clone, Copy)]
pub(super) enum Adopt<'a> {
    /// Never: a new one is wanted.
    Never,
    /// When it is good: no token was sent.
    Good,
    /// When it is good and another one than the refused.
    Other(&'a str),
}

impl Adopt<'_> {
    fn takes(self, kept: &Tokens, now: Timestamp) -> bool {
        let other = match self {
            Self::Never => false,
            Self::Good => true,
            Self::Other(refused) => kept.access() != refused,
        };
        other && !kept.is_due(now)
    }
}

impl OAuth {
    /// Under the lock of all processes: look whether somebody else did it, else do it.
    pub(super) async fn without_person(
        &self,
        challenge: &Challenge,
        adopt: Adopt<'_>,
    ) -> Result<Tokens, OAuthError> {
        let files = self.files().clone();
        let (_lock, kept) = blocking(move || {
            let lock = files.lock()?;
            let kept = files.tokens()?;
            Ok((lock, kept))
        })
        .await?;
        let now = self.parts().clock.now();
        if let Some(kept) = kept.as_ref().filter(|kept| adopt.takes(kept, now)) {
            return Ok(kept.clone());
        }
        if kept.is_none() && matches!(self.parts().settings.grant, Grant::Person) {
            return Err(OAuthError::NeedsLogin(self.files().nobody()));
        }
        let metadata = self.metadata(challenge).await?;
        let desk = Desk {
            http: &self.parts().http,
            settings: &self.parts().settings,
            metadata: &metadata,
            clock: self.parts().clock.as_ref(),
        };
        let given = match &self.parts().settings.grant {
            Grant::Person => self.refreshed(&desk, kept.as_ref(), challenge).await?,
            grant @ (Grant::Client | Grant::IdentityProvider(_)) => {
                let client = Client::configured(desk.settings, &metadata)
                    .ok_or(OAuthError::Settings("oauth.client_id is not set"))?;
                let scope = self.own_scope(challenge, kept.as_ref());
                match grant {
                    Grant::IdentityProvider(idp) => {
                        desk.vouched(&client, idp, scope.as_deref()).await?
                    }
                    Grant::Client | Grant::Person => desk.own(&client, scope.as_deref()).await?,
                }
            }
        };
        let files = self.files().clone();
        let tokens = Tokens::given(given, now, kept.as_ref())?;
        let (saved, fields) = (tokens.clone(), metadata.fields().clone());
        blocking(move || {
            files.make_way()?;
            files.save_metadata(&fields)?;
            files.save_tokens(&saved)
        })
        .await?;
        Ok(tokens)
    }

    /// Who gives tokens: as kept, else as found out now.
    async fn metadata(&self, challenge: &Challenge) -> Result<Metadata, OAuthError> {
        let parts = self.parts();
        let files = self.files().clone();
        if let Some(kept) = blocking(move || files.metadata()).await? {
            let mut kept = Metadata::new(kept, Reach::of(&parts.settings.url));
            if kept.token_endpoint().is_ok() {
                // The reference does not write down what its tokens are for.
                if kept.resource().is_none() {
                    kept.set_resource(&canonical(&parts.settings.url));
                }
                return Ok(kept);
            }
        }
        let found = discover(&parts.http, &parts.settings.url, challenge).await?;
        Ok(found.metadata)
    }

    /// Renews with the refresh token. Nothing that is kept is given up when that fails.
    async fn refreshed(
        &self,
        desk: &Desk<'_>,
        kept: Option<&Tokens>,
        challenge: &Challenge,
    ) -> Result<serde_json::Value, OAuthError> {
        let needs = |why: &str| OAuthError::NeedsLogin(why.to_owned());
        let kept = kept.ok_or_else(|| OAuthError::NeedsLogin(self.files().nobody()))?;
        if challenge.wants_more() {
            self.remember_wanted(desk.metadata, kept, challenge).await?;
            return Err(needs("the server asks for more rights than the login has"));
        }
        let refresh = kept
            .refresh()
            .ok_or_else(|| needs("the token has ended and cannot be renewed"))?;
        if self.state().dead.as_deref() == Some(refresh) {
            return Err(needs("the server refused to renew the login"));
        }
        let files = self.files().clone();
        let registration = blocking(move || files.client()).await?;
        let client = Client::configured(desk.settings, desk.metadata)
            .or_else(|| Client::registered(registration?, desk.settings, desk.metadata))
            .ok_or_else(|| needs("no client is registered with the server"))?;
        match desk.refresh(&client, refresh).await {
            Err(error) if error.is_unknown_client() && client.registration.is_some() => {
                let files = self.files().clone();
                blocking(move || files.discard_client()).await?;
                Err(needs(
                    "the server has forgotten this client; a new login registers it again",
                ))
            }
            Err(error) if error.is_refusal("invalid_grant") => {
                // A program that knows no lock may have been faster; its token is as good as ours.
                let newer = self.current().await?.filter(|newer| {
                    newer.access() != kept.access() && !newer.is_due(self.parts().clock.now())
                });
                match newer {
                    Some(newer) => Ok(newer.as_answer(self.parts().clock.now())),
                    None => {
                        self.state().dead = Some(refresh.to_owned());
                        Err(needs("the server refused to renew the login"))
                    }
                }
            }
            other => other,
        }
    }

    /// Leaves word for the next login, which may happen in another process.
    async fn remember_wanted(
        &self,
        metadata: &Metadata,
        kept: &Tokens,
        challenge: &Challenge,
    ) -> Result<(), OAuthError> {
        let mut metadata = metadata.clone();
        let before = joined_scopes(kept.scope(), metadata.wanted());
        if let Some(wanted) = joined_scopes(before.as_deref(), challenge.scope.as_deref()) {
            metadata.set_wanted(&wanted);
        }
        let files = self.files().clone();
        blocking(move || files.save_metadata(metadata.fields())).await
    }

    /// The rights a client asks for in its own name.
    fn own_scope(&self, challenge: &Challenge, kept: Option<&Tokens>) -> Option<String> {
        let asked = challenge.scope.as_deref();
        let own = self.parts().settings.scope.as_deref();
        if challenge.wants_more() {
            let had = kept.and_then(Tokens::scope).or(own);
            return joined_scopes(had, asked);
        }
        own.or(asked)
            .or_else(|| kept.and_then(Tokens::scope))
            .map(str::to_owned)
    }
}
