//! Places that offer skills, all on one loopback port: GitHub's API, a list, skills.sh, ClawHub, LobeHub, browse.sh,
//! well-known addresses and plain files.
//!
//! Everything is kept in memory and can be changed while programs ask. The server runs on threads of its own, so a test
//! may block on a child process that talks to it.

mod catalogs;
mod github;
mod trouble;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use anyhow::Context as _;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Request, State as Shared};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::clouds::{ground, locked};

use self::github::Repository;
pub use self::trouble::{HubFault, Trouble};

/// Larger requests are refused.
const LARGEST_REQUEST: usize = 32 << 20;

/// A running server, ended when dropped.
pub struct SkillHubs {
    state: Arc<State>,
    port: u16,
    runtime: Option<Runtime>,
}

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Method and path with the query.
    pub line: String,
    /// The credentials, if there were any.
    pub authorization: Option<String>,
    /// What was sent along.
    pub body: Vec<u8>,
}

#[derive(Default)]
struct State {
    repositories: Mutex<BTreeMap<String, Repository>>,
    /// Repositories that have moved, and where to.
    moved: Mutex<BTreeMap<String, String>>,
    /// Files by path, with their content type.
    pages: Mutex<BTreeMap<String, (String, Bytes)>>,
    redirects: Mutex<BTreeMap<String, String>>,
    /// Rows of skills.sh.
    listed: Mutex<Vec<Value>>,
    /// Packed skills: slug, version, archive, summary.
    packed: Mutex<Vec<(String, String, Bytes, String)>>,
    faults: Mutex<Vec<HubFault>>,
    seen: Mutex<Vec<Seen>>,
}

impl SkillHubs {
    /// Starts one that offers nothing yet.
    pub fn start() -> anyhow::Result<Self> {
        let (runtime, listener, port) = ground("skill-hubs")?;
        let state = Arc::new(State::default());
        let app = Router::new().fallback(answer).with_state(state.clone());
        runtime.spawn(async move { axum::serve(listener, app).await });
        Ok(Self {
            state,
            port,
            runtime: Some(runtime),
        })
    }

    /// The address of an offer.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The variables that make the program ask here and nowhere else.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        [
            ("HERMES_SKILLS_INDEX_URL", "/index.json"),
            ("HERMES_SKILLS_SH_URL", "/sh"),
            ("HERMES_SKILLS_GITHUB_URL", "/gh"),
            ("HERMES_SKILLS_CLAWHUB_URL", "/claw/api/v1"),
            ("HERMES_SKILLS_LOBEHUB_URL", "/lobe"),
            ("HERMES_SKILLS_BROWSE_SH_URL", "/browse"),
        ]
        .map(|(name, path)| (name, self.url(path)))
        .to_vec()
    }

    /// Makes a repository on GitHub of these files, in the place of an older one of that name.
    pub fn repository(&self, name: &str, files: &[(&str, &str)]) {
        let files = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
        let repository = Repository::new(files.collect());
        locked(&self.state.repositories).insert(name.to_owned(), repository);
    }

    /// Changes or adds one file of a repository.
    pub fn change(&self, name: &str, path: &str, bytes: impl Into<Vec<u8>>) {
        if let Some(repository) = locked(&self.state.repositories).get_mut(name) {
            repository.put(path, bytes.into());
        }
    }

    /// Makes a file of a repository a link.
    pub fn link(&self, name: &str, path: &str, target: &str) {
        if let Some(repository) = locked(&self.state.repositories).get_mut(name) {
            repository.link(path, target);
        }
    }

    /// Shows a repository only to those who have this token.
    pub fn protect(&self, name: &str, token: &str) {
        if let Some(repository) = locked(&self.state.repositories).get_mut(name) {
            repository.token = Some(token.to_owned());
        }
    }

    /// Lets one name lead to another repository, as after a transfer.
    pub fn moves(&self, from: &str, to: &str) {
        locked(&self.state.moved).insert(from.to_owned(), to.to_owned());
    }

    /// Puts a file at an address.
    pub fn page(&self, path: &str, content_type: &str, bytes: impl Into<Vec<u8>>) {
        let page = (content_type.to_owned(), Bytes::from(bytes.into()));
        locked(&self.state.pages).insert(path.to_owned(), page);
    }

    /// Lets an address lead to another.
    pub fn redirect(&self, from: &str, to: &str) {
        locked(&self.state.redirects).insert(from.to_owned(), to.to_owned());
    }

    /// Lists a skill on skills.sh.
    pub fn list_on_skills_sh(&self, id: &str, name: &str, installs: u64) {
        let row =
            serde_json::json!({ "id": id, "skillId": name, "name": name, "installs": installs });
        locked(&self.state.listed).push(row);
    }

    /// Offers a packed skill on ClawHub; a version that comes later is the newest.
    pub fn pack(&self, slug: &str, version: &str, archive: Vec<u8>) {
        let summary = format!("about {slug}");
        let row = (slug.to_owned(), version.to_owned(), archive.into(), summary);
        locked(&self.state.packed).push(row);
    }

    /// Lets something go wrong.
    pub fn fault(&self, about: &'static str, trouble: Trouble, times: usize) {
        locked(&self.state.faults).push(HubFault {
            about,
            trouble,
            times,
        });
    }

    /// All requests so far.
    pub fn seen(&self) -> Vec<Seen> {
        locked(&self.state.seen).clone()
    }

    /// How many requests had this in their method and path.
    pub fn requests(&self, part: &str) -> usize {
        let seen = self.seen();
        seen.iter().filter(|seen| seen.line.contains(part)).count()
    }
}

impl Drop for SkillHubs {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn answer(Shared(state): Shared<Arc<State>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let Ok(body) = axum::body::to_bytes(body, LARGEST_REQUEST).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let line = format!("{} {}", head.method, head.uri);
    let authorization = text_of(&head.headers, header::AUTHORIZATION);
    locked(&state.seen).push(Seen {
        line: line.clone(),
        authorization,
        body: body.to_vec(),
    });
    let path = head.uri.path().to_owned();
    let trouble = trouble::next(&mut locked(&state.faults), &line);
    if let Some(location) = locked(&state.redirects).get(&path).cloned() {
        return (StatusCode::FOUND, [(header::LOCATION, location)]).into_response();
    }
    let real = match path.strip_prefix("/gh") {
        Some(rest) => github::answer(&state, &head.method, rest, &head.headers, &body),
        None => catalogs::answer(&state, &path, &head.uri)
            .unwrap_or_else(|| StatusCode::NOT_FOUND.into_response()),
    };
    match trouble {
        Some(trouble) => trouble.instead_of(real).await,
        None => real,
    }
}

fn text_of(headers: &HeaderMap, name: header::HeaderName) -> Option<String> {
    Some(headers.get(name)?.to_str().ok()?.to_owned())
}

/// The value of one parameter of an address.
fn parameter(uri: &Uri, name: &str) -> Option<String> {
    let url = url::Url::parse(&format!("http://x{uri}"))
        .context("a request without a path")
        .ok()?;
    let mut pairs = url.query_pairs();
    let found = pairs.find(|(key, _)| key == name)?;
    Some(found.1.into_owned())
}
