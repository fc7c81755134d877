//! Signing in with a person and a browser.

use std::time::Duration;

use futures_core::future::BoxFuture;
use http::header;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::authority::OAuth;
use super::callback::{Listener, PATH, Returned, Wrong, read_back};
use super::challenge::Challenge;
use super::client::Client;
use super::discover::{Discovered, discover};
use super::error::OAuthError;
use super::grant::{Code, Desk, blocking};
use super::metadata::{Metadata, joined_scopes};
use super::pkce::{challenge, unguessable};
use super::tokens::Tokens;
use super::wire::{is_local, post};

/// How long the server is asked how it refuses.
const LONGEST_PROBE: Duration = Duration::from_secs(10);
/// Most lines a person may paste.
const MOST_LINES: usize = 20;
/// Words that mean no.
const NO: [&str; 7] = ["skip", "cancel", "s", "n", "no", "q", "quit"];

/// The person who signs in, on whatever surface they are.
///
/// `show` comes once for each login, then `line` is waited for beside the browser and dropped when the
/// browser is back first.
pub trait Person: Send + Sync {
    /// Shows the address to open; `opened` says whether a browser was started for it.
    fn show(&self, server: &str, address: &Url, opened: bool);

    /// Says something about what was pasted.
    fn say(&self, words: &str);

    /// The next line the person pastes: the address they were sent to. Never ready when nothing can be
    /// pasted.
    fn line(&self) -> BoxFuture<'_, String>;
}

/// A login that succeeded: the tokens are in their file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedIn {
    /// The rights that were given, when the server says so.
    pub scope: Option<String>,
    /// Seconds until the token ends, when the server says so.
    pub expires_in: Option<u64>,
    /// Whether it can be renewed without the person.
    pub renewable: bool,
}

impl LoggedIn {
    pub(super) fn of(tokens: &Tokens, left: Option<f64>) -> Self {
        Self {
            scope: tokens.scope().map(str::to_owned),
            expires_in: left.map(|left| left.max(0.0) as u64),
            renewable: tokens.refresh().is_some(),
        }
    }
}

/// The way back from the browser.
struct WayBack {
    listener: Option<Listener>,
    uri: String,
}

impl WayBack {
    /// The part of the address that tells our page from others.
    fn path(&self) -> String {
        let url = Url::parse(&self.uri);
        url.map_or_else(|_| PATH.to_owned(), |url| url.path().to_owned())
    }
}

/// How one way through the browser ended.
enum Visit {
    SignedIn(LoggedIn),
    /// The server has forgotten our registration, which is out of use now.
    Forgotten(OAuthError),
}

impl OAuth {
    /// Signs in with a person. What was kept before stays until the new login is complete. A server that has
    /// forgotten us is told once more who we are, and the person goes there once more.
    pub(super) async fn sign_in(
        &self,
        asked: &Challenge,
        cancel: &CancellationToken,
    ) -> Result<LoggedIn, OAuthError> {
        if let Visit::SignedIn(signed) = self.visit(asked, cancel).await? {
            return Ok(signed);
        }
        match self.visit(asked, cancel).await? {
            Visit::SignedIn(signed) => Ok(signed),
            Visit::Forgotten(error) => Err(error),
        }
    }

    async fn visit(
        &self,
        asked: &Challenge,
        cancel: &CancellationToken,
    ) -> Result<Visit, OAuthError> {
        let parts = self.parts();
        let asked = self.completed(asked).await;
        let found = discover(&parts.http, &parts.settings.url, &asked).await?;
        if found.metadata.lacks_pkce() {
            return Err(OAuthError::NoPkce);
        }
        let scope = self.scope(&asked, &found).await?;
        let files = self.files().clone();
        let kept = blocking(move || files.client()).await?;
        let known = Client::configured(&parts.settings, &found.metadata)
            .or_else(|| Client::registered(kept?, &parts.settings, &found.metadata));
        let way = self.way_back(known.as_ref()).await?;
        let client = self
            .client(known, &found.metadata, &way.uri, scope.as_deref())
            .await?;
        let desk = Desk {
            http: &parts.http,
            settings: &parts.settings,
            metadata: &found.metadata,
            clock: parts.clock.as_ref(),
        };
        let verifier = unguessable()?;
        let state = unguessable()?;
        let address = address(
            &found.metadata,
            &client,
            &way.uri,
            scope.as_deref(),
            &state,
            &verifier,
        )?;
        let back = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(OAuthError::Cancelled),
            back = self.ask_person(&address, &way, &state) => back?,
        };
        check_issuer(&found.metadata, &back)?;
        let code = Code {
            code: back.code,
            verifier,
            redirect: &way.uri,
        };
        let given = match desk.exchange(&client, code).await {
            Err(error) if error.is_unknown_client() && client.registration.is_some() => {
                let files = self.files().clone();
                blocking(move || files.discard_client()).await?;
                return Ok(Visit::Forgotten(error));
            }
            given => given?,
        };
        let mut tokens = Tokens::given(given, parts.clock.now(), None)?;
        tokens.assume_scope(scope.as_deref());
        self.keep(&tokens, Some(&client), &found.metadata).await?;
        let left = tokens.left(parts.clock.now());
        Ok(Visit::SignedIn(LoggedIn::of(&tokens, left)))
    }

    /// What the server asks for, which it may have said only in part.
    async fn completed(&self, asked: &Challenge) -> Challenge {
        if asked.resource_metadata.is_some() {
            return asked.clone();
        }
        let heard = self.probe().await;
        Challenge {
            resource_metadata: heard.resource_metadata,
            scope: asked.scope.clone().or(heard.scope),
            error: asked.error.clone(),
        }
    }

    /// How the server refuses somebody it does not know. What cannot be learned is looked up elsewhere.
    async fn probe(&self) -> Challenge {
        let parts = self.parts();
        // A request that no server acts on: it belongs to no session.
        let body = serde_json::json!({ "jsonrpc": "2.0", "id": 0, "method": "ping" });
        let request = post(&parts.http, &parts.settings.url)
            .header(header::ACCEPT, "application/json, text/event-stream")
            .json(&body);
        let answered = tokio::time::timeout(LONGEST_PROBE, request.send()).await;
        let Ok(Ok(response)) = answered else {
            return Challenge::default();
        };
        let challenge = response.headers().get(header::WWW_AUTHENTICATE);
        challenge
            .and_then(|challenge| challenge.to_str().ok())
            .map(Challenge::read)
            .unwrap_or_default()
    }

    /// The rights to ask for: those of the settings, else what the server asks for, else what it describes.
    /// What it asked for beyond an earlier login is added.
    async fn scope(
        &self,
        asked: &Challenge,
        found: &Discovered,
    ) -> Result<Option<String>, OAuthError> {
        let parts = self.parts();
        let files = self.files().clone();
        let (kept, had) = blocking(move || Ok((files.metadata()?, files.tokens()?))).await?;
        let wanted = kept.and_then(|kept| kept.get("wanted_scope")?.as_str().map(str::to_owned));
        let more = match (asked.wants_more(), &wanted) {
            (true, _) => {
                joined_scopes(had.as_ref().and_then(Tokens::scope), asked.scope.as_deref())
            }
            (false, wanted) => wanted.clone(),
        };
        let usual = match &parts.settings.scope {
            Some(own) => Some(own.clone()),
            None => {
                let scope = asked.scope.clone().or_else(|| found.scope.clone());
                if found.metadata.offers_offline_access() {
                    joined_scopes(scope.as_deref(), Some("offline_access"))
                } else {
                    scope
                }
            }
        };
        Ok(joined_scopes(usual.as_deref(), more.as_deref()))
    }

    /// The address the browser comes back to, with its port already open.
    async fn way_back(&self, known: Option<&Client>) -> Result<WayBack, OAuthError> {
        let settings = &self.parts().settings;
        let kept =
            known.and_then(|client| client.redirect_uris().first().map(|uri| (*uri).to_owned()));
        let fixed = settings.redirect_uri.as_ref().map(Url::to_string);
        let given = fixed.or_else(|| kept.clone().filter(|uri| uri.starts_with("https:")));
        if let Some(uri) = given {
            let url = Url::parse(&uri).map_err(|_| OAuthError::BadAnswer("redirect_uri"))?;
            // Elsewhere somebody else listens, and the person pastes what they see there.
            let here = url.scheme() == "http" && is_local(&url);
            let listener = match url.port_or_known_default().filter(|_| here) {
                Some(port) => Some(Listener::bind(port).await?),
                None => None,
            };
            return Ok(WayBack { listener, uri });
        }
        let kept_port = kept
            .and_then(|uri| Url::parse(&uri).ok())
            .and_then(|url| url.port());
        let listener = match (settings.redirect_port, kept_port) {
            (0, Some(kept)) => match Listener::bind(kept).await {
                Ok(listener) => listener,
                // Somebody else has it; another one needs another registration.
                Err(_) => Listener::bind(0).await?,
            },
            (port, _) => Listener::bind(port).await?,
        };
        let uri = format!("http://{}:{}{PATH}", settings.redirect_host, listener.port);
        Ok(WayBack {
            listener: Some(listener),
            uri,
        })
    }

    /// Who we are: known from before, else described by a document, else registered now.
    async fn client(
        &self,
        known: Option<Client>,
        metadata: &Metadata,
        redirect: &str,
        scope: Option<&str>,
    ) -> Result<Client, OAuthError> {
        let parts = self.parts();
        if let Some(client) = known {
            let fits = client.registration.is_none() || client.redirect_uris().contains(&redirect);
            if fits {
                return Ok(client);
            }
        }
        if let Some(client) = Client::described(&parts.settings, metadata, redirect) {
            return Ok(client);
        }
        Client::register(&parts.http, &parts.settings, metadata, redirect, scope).await
    }

    /// Sends the person to the browser and waits for what comes back first, by the port or by paste.
    async fn ask_person(
        &self,
        address: &Url,
        way: &WayBack,
        state: &str,
    ) -> Result<Returned, OAuthError> {
        let parts = self.parts();
        let Some((person, browser)) = &parts.person else {
            return Err(OAuthError::NeedsLogin(
                "nobody is here to sign in".to_owned(),
            ));
        };
        let opened = browser.open(address);
        person.show(&parts.settings.server, address, opened);
        let heard = async {
            match &way.listener {
                Some(listener) => listener.wait(&way.path(), state).await,
                None => std::future::pending().await,
            }
        };
        let pasted = async {
            for _ in 0..MOST_LINES {
                let line = person.line().await;
                if NO.contains(&line.trim().to_lowercase().as_str()) {
                    return Err(OAuthError::Declined);
                }
                match read_back(&line, state) {
                    Ok(returned) => return Ok(returned),
                    Err(Wrong::Denied(why)) => return Err(OAuthError::Denied(why)),
                    Err(Wrong::NotOurs) => person.say(
                        "this is not the address the browser was sent to after signing in; paste it \
                         whole, or type skip",
                    ),
                }
            }
            Err(OAuthError::Declined)
        };
        tokio::select! {
            heard = heard => heard,
            pasted = pasted => pasted,
            () = tokio::time::sleep(parts.settings.timeout) => Err(OAuthError::TimedOut),
        }
    }
}

/// The address the person opens.
fn address(
    metadata: &Metadata,
    client: &Client,
    redirect: &str,
    scope: Option<&str>,
    state: &str,
    verifier: &str,
) -> Result<Url, OAuthError> {
    let mut address = metadata.authorization_endpoint()?;
    {
        let mut query = address.query_pairs_mut();
        query
            .append_pair("response_type", "code")
            .append_pair("client_id", &client.id)
            .append_pair("redirect_uri", redirect)
            .append_pair("state", state)
            .append_pair("code_challenge", &challenge(verifier))
            .append_pair("code_challenge_method", "S256");
        if let Some(resource) = metadata.resource() {
            query.append_pair("resource", resource);
        }
        if let Some(scope) = scope {
            query.append_pair("scope", scope);
            // Tokens that outlive the visit are given only when the person is asked for it.
            if scope
                .split_whitespace()
                .any(|word| word == "offline_access")
            {
                query.append_pair("prompt", "consent");
            }
        }
    }
    Ok(address)
}

/// The answer must come from whom we asked (RFC 9207).
fn check_issuer(metadata: &Metadata, back: &Returned) -> Result<(), OAuthError> {
    let Some(expected) = metadata.issuer() else {
        return Ok(());
    };
    match &back.issuer {
        Some(found) if found != expected => Err(OAuthError::Mismatch {
            what: "the browser's answer",
            expected: expected.to_owned(),
            found: super::wire::quoted(found),
        }),
        None if metadata.promises_issuer() => Err(OAuthError::BadAnswer("iss")),
        Some(_) | None => Ok(()),
    }
}
