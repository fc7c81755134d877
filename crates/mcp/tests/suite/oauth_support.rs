//! What the tests about signing in have in common.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use futures_core::future::BoxFuture;
use hermes_config::{McpOAuth, McpServer};
use hermes_core::{Clock as _, SystemClock};
use hermes_http::{AddressPolicy, ClientBuilder, ClientSettings, HttpClient, RedirectRule};
use hermes_mcp::{
    Authority as _, Browser, OAuth, OAuthParts, OAuthSettings, Person, Recovery, Refusal,
};
use hermes_testkit::authorization_server::AuthorizationServer;
use serde_json::{Value as Json, json};
use tempfile::TempDir;
use url::Url;

pub(super) fn client() -> HttpClient {
    let policy = AddressPolicy::PublicAndPrivate;
    ClientBuilder::new(ClientSettings::default(), policy)
        .build()
        .unwrap()
}

/// A home with the settings of one server, `s`.
pub(super) struct Fixture {
    pub(super) home: TempDir,
    pub(super) server: AuthorizationServer,
    pub(super) oauth: McpOAuth,
}

impl Fixture {
    pub(super) fn new() -> Self {
        Self {
            home: tempfile::tempdir().unwrap(),
            server: AuthorizationServer::start().unwrap(),
            oauth: McpOAuth::default(),
        }
    }

    /// Somebody who signed in before, with a token that has this many seconds left.
    pub(super) fn signed_in(left: i64) -> Self {
        let fixture = Self::new();
        let client = json!({ "client_id": "known", "redirect_uris": ["http://127.0.0.1:9/callback"],
            "token_endpoint_auth_method": "none" });
        fixture.server.add_client("known", None);
        fixture.write("s.client.json", &client);
        fixture.write_tokens(left);
        fixture
    }

    /// Fresh tokens of the server, as the file of another process would hold them.
    pub(super) fn write_tokens(&self, left: i64) -> String {
        let (access, refresh) = self.server.grant("known", "read");
        let until = SystemClock.now().as_second() + left;
        let tokens = json!({ "access_token": access, "token_type": "Bearer", "expires_in": 3600,
            "refresh_token": refresh, "scope": "read", "expires_at": until as f64 });
        self.write("s.json", &tokens);
        access
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join("mcp-tokens").join(name)
    }

    pub(super) fn write(&self, name: &str, value: &Json) {
        fs::create_dir_all(self.path("")).unwrap();
        let scratch = self.path("scratch");
        fs::write(&scratch, value.to_string()).unwrap();
        fs::rename(scratch, self.path(name)).unwrap();
    }

    pub(super) fn read(&self, name: &str) -> Json {
        serde_json::from_slice(&fs::read(self.path(name)).unwrap()).unwrap()
    }

    pub(super) fn authority(&self, person: Option<Arc<dyn Person>>) -> OAuth {
        self.with_browser(person, Browser::Unlikely)
    }

    pub(super) fn with_browser(&self, person: Option<Arc<dyn Person>>, browser: Browser) -> OAuth {
        let person = person.map(|person| (person, browser));
        self.of("s", self.server.resource(), person)
    }

    /// The authority of a server with this name and address, in the same home.
    pub(super) fn of(
        &self,
        name: &str,
        url: String,
        person: Option<(Arc<dyn Person>, Browser)>,
    ) -> OAuth {
        let entry = McpServer {
            url,
            oauth: Some(self.oauth.clone()),
            ..McpServer::default()
        };
        OAuth::new(OAuthParts {
            settings: OAuthSettings::new(name, &entry, None).unwrap(),
            http: client(),
            home: self.home.path().to_owned(),
            clock: Arc::new(SystemClock),
            person,
        })
        .unwrap()
    }

    /// What the authorization server says about itself, as the reference keeps it.
    pub(super) async fn describe(&self) -> Json {
        let address = format!(
            "{}/.well-known/oauth-authorization-server",
            self.server.base()
        );
        let answer = client().get(address.as_str()).send().await.unwrap();
        answer.json(1 << 20).await.unwrap()
    }
}

/// What the protected resource answered: its status and challenge.
pub(super) struct Answered {
    pub(super) status: u16,
    pub(super) challenge: Option<String>,
}

/// One request to the protected resource with the token the authority gives.
pub(super) async fn call(
    fixture: &Fixture,
    oauth: &OAuth,
) -> (Answered, Option<hermes_secrets::Secret>) {
    let token = oauth.bearer().await.unwrap();
    let mut request = client().post(fixture.server.resource().as_str());
    if let Some(token) = &token {
        request = request.auth(token, hermes_http::AuthScheme::Bearer);
    }
    let response = request.send().await.unwrap();
    let challenge = response.headers().get("www-authenticate");
    let answered = Answered {
        status: response.status().as_u16(),
        challenge: challenge.map(|value| value.to_str().unwrap().to_owned()),
    };
    (answered, token)
}

/// As a transport does it: one request, and one more after a recovery.
pub(super) async fn call_and_recover(fixture: &Fixture, oauth: &OAuth) -> Result<u16, Recovery> {
    let (answered, token) = call(fixture, oauth).await;
    if answered.status != 401 && answered.status != 403 {
        return Ok(answered.status);
    }
    let refusal = Refusal {
        token: token.as_ref(),
        challenge: answered.challenge.as_deref(),
    };
    match oauth.recover(refusal).await {
        Recovery::Possible => Ok(call(fixture, oauth).await.0.status),
        other => Err(other),
    }
}

/// What a person does with the address.
pub(super) enum Does {
    /// Opens it in a browser that is sent back to the listener.
    Visits,
    /// Opens it, and pastes the address they end up at.
    Pastes,
    /// Types this.
    Types(&'static str),
    /// Nothing.
    Waits,
    /// Nothing, for a browser was opened for them.
    Watches,
}

/// A person, scripted.
pub(super) struct Scripted {
    does: Does,
    shown: Mutex<Vec<Url>>,
    said: Mutex<Vec<String>>,
    wake: tokio::sync::Notify,
    typed: Mutex<bool>,
}

impl Scripted {
    pub(super) fn new(does: Does) -> Arc<Self> {
        Arc::new(Self {
            does,
            shown: Mutex::default(),
            said: Mutex::default(),
            wake: tokio::sync::Notify::new(),
            typed: Mutex::new(false),
        })
    }

    pub(super) fn shown(&self) -> Vec<Url> {
        self.shown.lock().unwrap().clone()
    }

    pub(super) fn said(&self) -> Vec<String> {
        self.said.lock().unwrap().clone()
    }
}

/// Where the authorization server sends the browser.
async fn sent_to(address: &Url) -> String {
    let request = client().get(address.clone()).redirects(RedirectRule::Stop);
    let response = request.send().await.unwrap();
    assert_eq!(response.status().as_u16(), 302, "{address}");
    response.headers()["location"].to_str().unwrap().to_owned()
}

impl Person for Scripted {
    fn show(&self, _server: &str, address: &Url, opened: bool) {
        assert_eq!(opened, matches!(self.does, Does::Watches));
        self.shown.lock().unwrap().push(address.clone());
        *self.typed.lock().unwrap() = false;
        self.wake.notify_one();
    }

    fn say(&self, words: &str) {
        self.said.lock().unwrap().push(words.to_owned());
    }

    fn line(&self) -> BoxFuture<'_, String> {
        Box::pin(async move {
            if std::mem::replace(&mut *self.typed.lock().unwrap(), true) {
                return std::future::pending().await;
            }
            self.wake.notified().await;
            let address = self.shown().pop().unwrap();
            match self.does {
                Does::Visits => {
                    let back = sent_to(&address).await;
                    let url = Url::parse(&back).unwrap();
                    // What is not for us comes first, as from a stranger who guesses.
                    let mut forged = url.clone();
                    forged.set_query(Some("code=stolen&state=guessed"));
                    let refused = client().get(forged).send().await.unwrap();
                    assert_eq!(refused.status().as_u16(), 400);
                    let page = client().get(url).send().await.unwrap();
                    assert_eq!(page.status().as_u16(), 200);
                    std::future::pending().await
                }
                Does::Pastes => sent_to(&address).await,
                Does::Types(text) => text.to_owned(),
                Does::Waits | Does::Watches => std::future::pending().await,
            }
        })
    }
}

/// Looks all the time which sockets of this process wait for connections.
pub(super) struct Listeners {
    before: BTreeSet<String>,
    over: Arc<AtomicBool>,
    looking: std::thread::JoinHandle<BTreeSet<String>>,
}

impl Listeners {
    pub(super) fn watch() -> Self {
        let over = Arc::<AtomicBool>::default();
        let until = Arc::clone(&over);
        let before = all_listening();
        let looking = std::thread::spawn(move || {
            let mut seen = BTreeSet::new();
            // Once more at the end.
            while !until.load(Ordering::Relaxed) {
                seen.extend(listening());
            }
            seen.extend(listening());
            seen
        });
        Self {
            before,
            over,
            looking,
        }
    }

    /// Those that came since.
    pub(super) fn opened(self) -> BTreeSet<String> {
        self.over.store(true, Ordering::Relaxed);
        let seen = self.looking.join().unwrap();
        seen.difference(&self.before).cloned().collect()
    }
}

/// As `listening`, several times: a table that changes while it is read may lack a line.
pub(super) fn all_listening() -> BTreeSet<String> {
    (0..20).flat_map(|_| listening()).collect()
}

/// The sockets of this process that wait for connections.
pub(super) fn listening() -> BTreeSet<String> {
    const LISTEN: &str = "0A";
    let table = fs::read_to_string("/proc/self/net/tcp").unwrap();
    let waiting: BTreeSet<String> = table
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|fields| fields.get(3) == Some(&LISTEN))
        .filter_map(|fields| Some(format!("socket:[{}]", fields.get(9)?)))
        .collect();
    let own = fs::read_dir("/proc/self/fd").unwrap();
    let own = own.filter_map(|entry| {
        let target = fs::read_link(entry.ok()?.path()).ok()?;
        Some(target.display().to_string())
    });
    own.filter(|socket| waiting.contains(socket)).collect()
}
