//! A pull request that adds a skill to a repository.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hermes_secrets::Secret;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Published;
use crate::hub::bundle::{Bundle, File};
use crate::hub::error::SourceError;
use crate::hub::identifier::Repository;
use crate::hub::sources::{Github, path_of};
use crate::hub::web::Ask;

/// Most bytes of an answer.
const LARGEST: usize = 1024 * 1024;

#[derive(Deserialize)]
struct About {
    default_branch: String,
    full_name: String,
    #[serde(default)]
    permissions: Permissions,
}

#[derive(Deserialize, Default)]
struct Permissions {
    #[serde(default)]
    push: bool,
}

#[derive(Deserialize)]
struct Sha {
    sha: String,
}

#[derive(Deserialize)]
struct Reference {
    object: Sha,
}

#[derive(Deserialize)]
struct Opened {
    html_url: String,
}

/// Talks to GitHub as the user.
struct Desk<'a> {
    github: &'a Github,
    key: Secret,
}

/// Adds the skill on a branch of its own, of a fork where we may not write, and asks for it to be taken in.
pub(super) async fn open(
    github: &Github,
    key: Secret,
    bundle: &Bundle,
    repository: &Repository,
) -> Result<Published, SourceError> {
    let desk = Desk { github, key };
    let theirs: About = desk.get(repository, "").await?;
    let base = theirs.default_branch;
    let ours = match theirs.permissions.push {
        true => repository.clone(),
        false => {
            let fork: About = desk.post(repository, "forks", &json!({})).await?;
            named(&fork.full_name)?
        }
    };
    let path = path_of(["git", "ref", "heads"]);
    let tip: Reference = desk.get(repository, &format!("{path}/{base}")).await?;
    let mut files: Vec<Value> = Vec::new();
    for (path, file) in bundle.files.iter() {
        let path = format!("skills/{}/{path}", bundle.name);
        files.push(desk.leaf(&ours, &path, file).await?);
    }
    let tree = json!({ "base_tree": tip.object.sha, "tree": files });
    let tree: Sha = desk.post(&ours, "git/trees", &tree).await?;
    let title = format!("Add the skill {}", bundle.name);
    let commit = json!({ "message": title, "tree": tree.sha, "parents": [tip.object.sha] });
    let commit: Sha = desk.post(&ours, "git/commits", &commit).await?;
    let branch = format!("skill/{}-{}", bundle.name, short(&commit.sha));
    let reference = json!({ "ref": format!("refs/heads/{branch}"), "sha": commit.sha });
    let _: Value = desk.post(&ours, "git/refs", &reference).await?;
    let request = json!({
        "title": title,
        "head": format!("{}:{branch}", ours.owner()),
        "base": base,
        "body": bundle.skill().description,
    });
    let opened: Opened = desk.post(repository, "pulls", &request).await?;
    Ok(Published {
        address: opened.html_url,
    })
}

impl Desk<'_> {
    /// A file as a tree names it. A tree takes texts as they are; everything else has to be there before.
    async fn leaf(&self, ours: &Repository, path: &str, file: &File) -> Result<Value, SourceError> {
        let mut leaf = json!({
            "path": path,
            "mode": if file.executable { "100755" } else { "100644" },
            "type": "blob",
        });
        match std::str::from_utf8(&file.bytes) {
            Ok(text) => leaf["content"] = json!(text),
            Err(_) => {
                let content = BASE64.encode(&file.bytes);
                let blob = json!({ "content": content, "encoding": "base64" });
                let blob: Sha = self.post(ours, "git/blobs", &blob).await?;
                leaf["sha"] = json!(blob.sha);
            }
        }
        Ok(leaf)
    }

    async fn get<T: DeserializeOwned>(
        &self,
        repository: &Repository,
        rest: &str,
    ) -> Result<T, SourceError> {
        let url = self.github.address(repository, rest);
        let asked = Ask::json(url, LARGEST).with_key(Some(&self.key));
        self.github.web().json(&asked, "an answer of GitHub").await
    }

    async fn post<T: DeserializeOwned>(
        &self,
        repository: &Repository,
        rest: &str,
        body: &Value,
    ) -> Result<T, SourceError> {
        let url = self.github.address(repository, rest);
        let body = body.to_string().into_bytes();
        let web = self.github.web();
        let answer = web.post(url, &self.key, "application/json", body).await?;
        serde_json::from_slice(&answer).map_err(|source| SourceError::Unexpected {
            expected: "an answer of GitHub",
            source: Some(source),
        })
    }
}

fn named(text: &str) -> Result<Repository, SourceError> {
    text.parse().map_err(|_| SourceError::Unexpected {
        expected: "the name of a repository",
        source: None,
    })
}

fn short(sha: &str) -> &str {
    sha.get(..8).unwrap_or(sha)
}
