//! GitHub's API, as far as skills need it.

use std::collections::BTreeMap;

use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Json, Response};
use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY};
use serde_json::{Value, json};

use super::{State, text_of};
use crate::clouds::locked;

/// The files of a repository.
#[derive(Clone, Default)]
pub(super) struct Repository {
    /// Mode and content by path.
    files: BTreeMap<String, (&'static str, Vec<u8>)>,
    /// Who else may see it.
    pub(super) token: Option<String>,
}

impl Repository {
    pub(super) fn new(files: Vec<(String, Vec<u8>)>) -> Self {
        let mut repository = Self::default();
        for (path, bytes) in files {
            repository.put(&path, bytes);
        }
        repository
    }

    pub(super) fn put(&mut self, path: &str, bytes: Vec<u8>) {
        let mode = if bytes.starts_with(b"#!") {
            "100755"
        } else {
            "100644"
        };
        self.files.insert(path.to_owned(), (mode, bytes));
    }

    pub(super) fn link(&mut self, path: &str, target: &str) {
        let link = ("120000", target.as_bytes().to_vec());
        self.files.insert(path.to_owned(), link);
    }

    fn tree(&self) -> Value {
        let rows: Vec<Value> = self
            .files
            .iter()
            .map(|(path, (mode, bytes))| {
                json!({
                    "path": path, "mode": mode, "type": "blob", "size": bytes.len(),
                    "sha": git_hash(bytes),
                })
            })
            .collect();
        let sha = git_hash(json!(rows).to_string().as_bytes());
        json!({ "sha": sha, "tree": rows, "truncated": false })
    }
}

fn git_hash(bytes: &[u8]) -> String {
    let mut context = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
    context.update(format!("blob {}\0", bytes.len()).as_bytes());
    context.update(bytes);
    let digest = context.finish();
    let hex = digest.as_ref().iter().map(|byte| format!("{byte:02x}"));
    hex.collect()
}

pub(super) fn answer(
    state: &State,
    method: &Method,
    path: &str,
    headers: &HeaderMap,
    body: &[u8],
) -> Response {
    let missing = || {
        (
            StatusCode::NOT_FOUND,
            Json(json!({ "message": "Not Found" })),
        )
    };
    if path.starts_with("/app/installations/") && method == Method::POST {
        let token = json!({ "token": "ghs_of_the_app", "expires_at": "2099-01-01T00:00:00Z" });
        return (StatusCode::CREATED, Json(token)).into_response();
    }
    let mut parts = path.trim_start_matches("/repos/").splitn(3, '/');
    let (Some(owner), Some(name)) = (parts.next(), parts.next()) else {
        return missing().into_response();
    };
    let rest = parts.next().unwrap_or_default();
    let full = format!("{owner}/{name}");
    if let Some(to) = locked(&state.moved).get(&full) {
        let location = format!("/gh/repos/{to}/{rest}");
        return (
            StatusCode::MOVED_PERMANENTLY,
            [(header::LOCATION, location)],
        )
            .into_response();
    }
    let found = locked(&state.repositories).get(&full).cloned();
    let Some(repository) = found else {
        return missing().into_response();
    };
    let shown = text_of(headers, header::AUTHORIZATION);
    if let Some(token) = &repository.token
        && shown.as_deref() != Some(&format!("Bearer {token}"))
    {
        return missing().into_response();
    }
    if method == Method::POST {
        return written(&full, rest, body).into_response();
    }
    if rest.starts_with("git/trees/") {
        return Json(repository.tree()).into_response();
    }
    match rest {
        "" => Json(json!({
            "full_name": full, "default_branch": "main", "permissions": { "push": false },
        }))
        .into_response(),
        "git/ref/heads/main" => {
            Json(json!({ "object": { "sha": "0123456789abcdef" } })).into_response()
        }
        _ => match rest.strip_prefix("contents/").map(decoded) {
            Some(path) => match repository.files.get(&path) {
                Some((_, bytes)) => bytes.clone().into_response(),
                None => missing().into_response(),
            },
            None => missing().into_response(),
        },
    }
}

/// What is sent when somebody offers a change; it is only recorded.
fn written(full: &str, rest: &str, body: &[u8]) -> (StatusCode, Json<Value>) {
    let name = full.rsplit('/').next().unwrap_or_default();
    let answer = match rest {
        "forks" => json!({ "full_name": format!("me/{name}"), "default_branch": "main" }),
        "pulls" => json!({ "html_url": format!("https://github.com/{full}/pull/1") }),
        _ => json!({ "sha": git_hash(body), "ref": "refs/heads/x" }),
    };
    (StatusCode::CREATED, Json(answer))
}

fn decoded(path: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        let digits = (byte == b'%').then(|| [rest.next(), rest.next()]);
        let value = match digits {
            Some([Some(high), Some(low)]) => {
                let text = [high, low].map(char::from);
                let text: String = text.iter().collect();
                u8::from_str_radix(&text, 16).unwrap_or(b'?')
            }
            Some(_) => b'?',
            None => byte,
        };
        bytes.push(value);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
