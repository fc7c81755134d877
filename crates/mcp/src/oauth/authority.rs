//! The tokens of one server: given, renewed once for everybody, and never lost.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_core::future::BoxFuture;
use futures_util::FutureExt as _;
use futures_util::future::Shared;
use hermes_core::Clock;
use hermes_http::HttpClient;
use hermes_secrets::{Origin, Secret};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::browser::Browser;
use super::challenge::Challenge;
use super::client::Client;
use super::discover::canonical;
use super::error::OAuthError;
use super::files::{Stamp, TokenFiles};
use super::grant::blocking;
use super::login::{LoggedIn, Person};
use super::metadata::Metadata;
use super::renew::Adopt;
use super::settings::{Grant, OAuthSettings};
use super::tokens::Tokens;
use crate::{AuthError, Authority, Recovery, Refusal};

/// How often a wait looks whether the token file has changed.
const LOOK: Duration = Duration::from_millis(500);
/// How long a request waits for a token that is being renewed.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// Most recoveries under way; more than there are tokens at any time.
const MOST_FLIGHTS: usize = 16;

/// What is needed to sign in to a server.
pub struct OAuthParts {
    /// What the settings say.
    pub settings: OAuthSettings,
    /// Makes the requests. It may reach private addresses, but no cloud metadata: servers name addresses.
    pub http: HttpClient,
    /// The home the tokens are kept in.
    pub home: PathBuf,
    /// Tells when tokens end.
    pub clock: Arc<dyn Clock>,
    /// Who can sign in, and how a browser is opened for them. `None`: nobody is there, so nothing is
    /// opened, no port is bound, and what needs a person fails at once.
    pub person: Option<(Arc<dyn Person>, Browser)>,
}

/// Signs in to one server and keeps its tokens. Clones share everything.
#[derive(Clone)]
pub struct OAuth(Arc<Inner>);

struct Inner {
    parts: OAuthParts,
    origin: Origin,
    files: TokenFiles,
    tasks: TaskTracker,
    state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    /// The token file as it was last read, also when it held no token.
    read: Option<(Stamp, Option<Tokens>)>,
    /// A refresh token that the server refused. Sending it again would only raise suspicion.
    pub(super) dead: Option<String>,
    /// Recoveries under way, by the token that was refused.
    flights: BTreeMap<String, Flight>,
}

type Flight = Shared<BoxFuture<'static, Result<(), AuthError>>>;

impl OAuth {
    /// For the server that the settings name.
    pub fn new(parts: OAuthParts) -> Result<Self, OAuthError> {
        let origin = Origin::of(&parts.settings.url)
            .map_err(|_| OAuthError::Settings("the server's address has no host"))?;
        let settings = &parts.settings;
        let files = TokenFiles::new(&parts.home, &settings.server, settings.url.as_str());
        Ok(Self(Arc::new(Inner {
            parts,
            origin,
            files,
            tasks: TaskTracker::new(),
            state: Mutex::default(),
        })))
    }

    /// Signs in now, whatever is kept. What is kept stays until the new tokens are there.
    pub async fn login(&self, cancel: &CancellationToken) -> Result<LoggedIn, OAuthError> {
        let asked = Challenge::default();
        match self.parts().settings.grant {
            Grant::Person => self.sign_in(&asked, cancel).await,
            Grant::Client | Grant::IdentityProvider(_) => {
                let tokens = self.without_person(&asked, Adopt::Never).await?;
                Ok(LoggedIn::of(&tokens, tokens.left(self.parts().clock.now())))
            }
        }
    }

    pub(super) fn parts(&self) -> &OAuthParts {
        &self.0.parts
    }

    pub(super) fn files(&self) -> &TokenFiles {
        &self.0.files
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tokens as the file has them now; another process may have renewed them.
    pub(super) async fn current(&self) -> Result<Option<Tokens>, OAuthError> {
        let known = self.state().read.clone();
        let files = self.0.files.clone();
        let resource = canonical(&self.parts().settings.url);
        let (stamp, tokens) = blocking(move || {
            let Some(stamp) = files.stamp() else {
                return Ok((None, Ok(None)));
            };
            let tokens = match known {
                Some((old, Some(tokens))) if old == stamp => Ok(Some(tokens)),
                Some(_) | None => claimed(&files, &resource),
            };
            Ok((Some(stamp), tokens))
        })
        .await?;
        // A file without a token has been seen as well: only another one is worth another attempt.
        let found = tokens.as_ref().ok().cloned().flatten();
        self.state().read = stamp.map(|stamp| (stamp, found));
        tokens
    }

    /// Writes down the result of a login, all of it or nothing that matters: tokens come last.
    pub(super) async fn keep(
        &self,
        tokens: &Tokens,
        client: Option<&Client>,
        metadata: &Metadata,
    ) -> Result<(), OAuthError> {
        let files = self.0.files.clone();
        let registration = client.and_then(|client| client.registration.clone());
        let (tokens, metadata) = (tokens.clone(), metadata.fields().clone());
        blocking(move || {
            let _lock = files.lock()?;
            files.make_way()?;
            if let Some(registration) = registration {
                files.save_client(&registration)?;
            }
            let mut metadata = metadata;
            metadata.shift_remove("wanted_scope");
            files.save_metadata(&metadata)?;
            files.save_tokens(&tokens)
        })
        .await
    }

    /// One attempt for everybody who was refused with the same token. It goes on when they stop waiting:
    /// the answer to a renewal is worth a login.
    fn flight(&self, refused: Option<&str>, challenge: Challenge) -> Flight {
        let key = refused.unwrap_or_default().to_owned();
        let mut state = self.state();
        if let Some(flight) = state.flights.get(&key) {
            return flight.clone();
        }
        let (own, token) = (self.clone(), refused.map(str::to_owned));
        let running = self.0.tasks.spawn(async move {
            let result = own.recovered(token.as_deref(), &challenge).await;
            own.state()
                .flights
                .remove(token.as_deref().unwrap_or_default());
            result.map_err(|error| AuthError::from(&error))
        });
        let flight = async move {
            running.await.unwrap_or_else(|error| {
                Err(AuthError::Later {
                    why: error.to_string(),
                })
            })
        }
        .boxed()
        .shared();
        if state.flights.len() < MOST_FLIGHTS {
            state.flights.insert(key, flight.clone());
        }
        flight
    }

    /// Without a person if that works, with one if there is one.
    async fn recovered(
        &self,
        refused: Option<&str>,
        challenge: &Challenge,
    ) -> Result<(), OAuthError> {
        let adopt = refused.map_or(Adopt::Good, Adopt::Other);
        let renewed = self.without_person(challenge, adopt).await;
        match renewed {
            Ok(_) => Ok(()),
            Err(error) if error.is_transient() || self.parts().person.is_none() => Err(error),
            Err(_) if !matches!(self.parts().settings.grant, Grant::Person) => renewed.map(drop),
            Err(_) => {
                // The person stops it by declining.
                let cancel = CancellationToken::new();
                self.sign_in(challenge, &cancel).await.map(drop)
            }
        }
    }

    async fn token(&self) -> Result<Option<Secret>, AuthError> {
        let failed = |error: OAuthError| AuthError::from(&error);
        let grant = &self.parts().settings.grant;
        let now = self.parts().clock.now();
        let tokens = match (self.current().await.map_err(failed)?, grant) {
            (Some(tokens), _) if !tokens.is_due(now) => tokens,
            (Some(tokens), _) => {
                let renewed = self.flight(Some(tokens.access()), Challenge::default());
                match in_time(renewed).await {
                    Ok(()) => self.current().await.map_err(failed)?.unwrap_or(tokens),
                    // It still works for a moment, and the next request tries again.
                    Err(AuthError::Later { .. }) if tokens.left(now) > Some(0.0) => tokens,
                    Err(error) => return Err(error),
                }
            }
            // The server's refusal says what a login needs to know.
            (None, Grant::Person) if self.parts().person.is_some() => return Ok(None),
            (None, Grant::Person) => {
                let files = self.0.files.clone();
                let why = blocking(move || Ok(files.nobody())).await.map_err(failed)?;
                return Err(AuthError::NeedsLogin { why });
            }
            (None, Grant::Client | Grant::IdentityProvider(_)) => {
                in_time(self.flight(None, Challenge::default())).await?;
                match self.current().await.map_err(failed)? {
                    Some(tokens) => tokens,
                    None => return Ok(None),
                }
            }
        };
        tokens.bearer(&self.0.origin).map(Some).map_err(failed)
    }
}

/// The tokens that are kept, which are of this server from now on if nobody said so before.
fn claimed(files: &TokenFiles, resource: &str) -> Result<Option<Tokens>, OAuthError> {
    let tokens = files.tokens()?;
    if tokens.is_some()
        && let Err(error) = files.claim(resource)
    {
        tracing::warn!("whose login it is could not be written down: {error}");
    }
    Ok(tokens)
}

/// What a flight comes to, for somebody who has other things to do: it goes on without him.
async fn in_time(flight: Flight) -> Result<(), AuthError> {
    let landed = tokio::time::timeout(LONGEST_WAIT, flight).await;
    landed.unwrap_or_else(|_| {
        Err(AuthError::Later {
            why: "the authorization server takes its time".to_owned(),
        })
    })
}

impl Authority for OAuth {
    fn bearer(&self) -> BoxFuture<'_, Result<Option<Secret>, AuthError>> {
        self.token().boxed()
    }

    fn recover<'a>(&'a self, refusal: Refusal<'a>) -> BoxFuture<'a, Recovery> {
        async move {
            let refused = refusal
                .token
                .and_then(|token| token.expose_for(&self.0.origin).ok());
            let challenge = refusal.challenge.map(Challenge::read).unwrap_or_default();
            match self.flight(refused, challenge).await {
                Ok(()) => Recovery::Possible,
                Err(AuthError::NeedsLogin { why }) => Recovery::NeedsLogin { why },
                Err(AuthError::Later { why }) => Recovery::Later { why },
            }
        }
        .boxed()
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        async move {
            // What was last used counts: a login that ended a moment ago must not be missed.
            let before = self.state().read.as_ref().map(|(stamp, _)| *stamp);
            loop {
                let files = self.0.files.clone();
                let now = blocking(move || Ok(files.stamp())).await;
                if now.is_ok_and(|now| now != before) {
                    return;
                }
                tokio::time::sleep(LOOK).await;
            }
        }
        .boxed()
    }
}
