//! GitHub: repositories with skills in them.

mod app;
mod key;
mod tap;
mod tree;

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use hermes_core::Clock;
use hermes_http::BaseUrl;
use hermes_secrets::Secret;
use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY};
use serde_json::{Map, json};
use url::Url;

use self::key::Keys;
use self::tree::{Blob, Tree};
use super::{Common, Harvest, Source, SourceName, path_of};
use crate::guard::Trust;
use crate::hub::bundle::{Bundle, File, Files, LARGEST_FILE, MOST_FILES, Origin};
use crate::hub::error::{HubError, SourceError};
use crate::hub::file_path::{FilePath, PathFault};
use crate::hub::identifier::{Identifier, Repository};
use crate::hub::search::Query;
use crate::hub::web::{Ask, Got, Web};
use crate::hub::{referred, trust};

pub use self::app::AppLogin;
pub use self::key::GithubLogin;
pub(in crate::hub) use self::tap::default_taps;

const RAW: &str = "application/vnd.github.raw+json";
/// Requests for files that are under way at once.
const AT_ONCE: usize = 4;
/// How often files that were read name further ones.
const ROUNDS: usize = 4;

pub(in crate::hub) struct Github {
    common: Common,
    base: BaseUrl,
    keys: Keys,
}

/// A skill in a repository.
pub(super) struct Found {
    repository: Repository,
    path: String,
    files: Files,
    trust: Trust,
    tree: String,
}

impl Found {
    /// The same as a bundle of the place that was asked.
    pub(super) fn bundle(
        self,
        source: SourceName,
        identifier: Identifier,
    ) -> Result<Bundle, HubError> {
        let mut metadata = Map::new();
        metadata.insert("repo".to_owned(), json!(self.repository.to_string()));
        metadata.insert("path".to_owned(), json!(self.path));
        metadata.insert("tree".to_owned(), json!(self.tree));
        let origin = Origin {
            source,
            identifier,
            trust: self.trust,
            metadata,
        };
        Bundle::new(origin, self.files)
    }
}

impl Github {
    pub(super) fn new(
        common: Common,
        base: BaseUrl,
        login: GithubLogin,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let keys = Keys::new(login, &base, common.web.clone(), clock);
        Self { common, base, keys }
    }

    pub(in crate::hub) fn web(&self) -> &Web {
        &self.common.web
    }

    /// An address below a repository.
    pub(in crate::hub) fn address(&self, repository: &Repository, rest: &str) -> Url {
        let path = path_of(["repos", repository.owner(), repository.name()]);
        let rest = if rest.is_empty() {
            String::new()
        } else {
            format!("/{rest}")
        };
        self.base.join(&format!("{path}{rest}"))
    }

    pub(in crate::hub) async fn key(&self) -> Result<Option<Secret>, SourceError> {
        self.keys.get().await
    }

    /// Asks with our key, if there is one.
    async fn ask(&self, url: Url, accept: &'static str, limit: usize) -> Result<Got, SourceError> {
        let key = self.key().await?;
        let asked = Ask {
            url,
            accept,
            key: None,
            limit,
        };
        self.common.web.get(&asked.with_key(key.as_ref())).await
    }

    /// The text of one file of a repository.
    pub(super) async fn file(
        &self,
        repository: &Repository,
        path: &str,
        reference: Option<&str>,
        limit: usize,
    ) -> Result<Got, SourceError> {
        let rest = path_of(["contents"].into_iter().chain(path.split('/')));
        let mut url = self.address(repository, &rest);
        if let Some(reference) = reference {
            url.query_pairs_mut().append_pair("ref", reference);
        }
        self.ask(url, RAW, limit).await
    }

    /// The skill at a path of a repository, or the one directory of that name.
    pub(super) async fn skill(
        &self,
        repository: &Repository,
        path: &str,
        reference: Option<&str>,
        identifier: &Identifier,
    ) -> Result<Found, HubError> {
        let failed = |error| HubError::of_source(identifier.source(), identifier)(error);
        let tree = self.tree(repository, reference).await.map_err(failed)?;
        let path = match tree.skill_directory(path).as_slice() {
            [one] => (*one).to_owned(),
            [] => {
                let what = format!("a SKILL.md in {repository}/{path}");
                return Err(failed(SourceError::NotFound { what }));
            }
            several => {
                let candidates = several.iter().map(|path| format!("{repository}/{path}"));
                return Err(HubError::Ambiguous {
                    what: identifier.to_string(),
                    candidates: candidates.collect(),
                });
            }
        };
        let files = self.files(repository, reference, &tree, &path).await;
        Ok(Found {
            repository: repository.clone(),
            files: files.map_err(failed)?,
            // A repository that has moved may belong to somebody else now.
            trust: match tree.moved {
                true => Trust::Community,
                false => trust::of_repository(repository),
            },
            tree: tree.sha,
            path,
        })
    }

    /// The skill of a plugin: its directory, the one directory with a skill below it, or the one of its name.
    pub(super) async fn skill_below(
        &self,
        repository: &Repository,
        directory: &str,
        name: &str,
        identifier: &Identifier,
    ) -> Result<Found, HubError> {
        let tree = self.tree(repository, None).await;
        let tree = tree.map_err(HubError::of_source(identifier.source(), identifier))?;
        let inside = |path: &&str| {
            let rest = path.strip_prefix(directory);
            directory.is_empty()
                || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let below: Vec<&str> = tree.skills().filter(inside).collect();
        let path = match below.as_slice() {
            [one] => *one,
            several => several
                .iter()
                .find(|path| **path == directory || path.rsplit('/').next() == Some(name))
                .copied()
                .unwrap_or(directory),
        };
        self.skill(repository, path, None, identifier).await
    }

    /// The files of a skill that its texts refer to.
    async fn files(
        &self,
        repository: &Repository,
        reference: Option<&str>,
        tree: &Tree,
        directory: &str,
    ) -> Result<Files, SourceError> {
        let blobs = tree.below(directory);
        if blobs.len() > MOST_FILES * 4 {
            return Err(SourceError::TooManyFiles { limit: MOST_FILES });
        }
        let mut paths = Vec::new();
        for (path, blob) in &blobs {
            let bad = |fault| SourceError::BadPath {
                entry: (*path).to_owned(),
                fault,
            };
            if blob.is_link() {
                return Err(bad(PathFault::Link));
            }
            paths.push(FilePath::new(path).map_err(bad)?);
        }
        let blob_of = |path: &FilePath| {
            let found = blobs.iter().find(|(other, _)| *other == path.as_str());
            found.map(|(_, blob)| *blob)
        };
        let mut files = Files::default();
        let mut wanted = BTreeSet::from([FilePath::skill()]);
        for _ in 0..ROUNDS {
            let fetched: Vec<(FilePath, File)> = stream::iter(wanted)
                .map(|path| async move {
                    let blob = blob_of(&path).ok_or_else(|| SourceError::NotFound {
                        what: path.to_string(),
                    })?;
                    let file = self.blob(repository, reference, blob).await?;
                    Ok::<_, SourceError>((path, file))
                })
                .buffered(AT_ONCE)
                .try_collect()
                .await?;
            let mut next = BTreeSet::new();
            for (path, file) in fetched {
                if path.as_str().to_ascii_lowercase().ends_with(".md") {
                    next.extend(referred::by(&String::from_utf8_lossy(&file.bytes), &paths));
                }
                files.add(path, file)?;
            }
            next.retain(|path| files.get(path).is_none());
            if next.is_empty() {
                break;
            }
            wanted = next;
        }
        Ok(files)
    }

    async fn blob(
        &self,
        repository: &Repository,
        reference: Option<&str>,
        blob: &Blob,
    ) -> Result<File, SourceError> {
        let got = self
            .file(repository, &blob.path, reference, LARGEST_FILE)
            .await?;
        let bytes = got.bytes.to_vec();
        if !blob.sha.is_empty() && git_hash(&bytes) != blob.sha {
            return Err(SourceError::Changed {
                what: blob.path.clone(),
            });
        }
        let executable = blob.is_executable();
        Ok(File { bytes, executable })
    }
}

/// The name git has for the content of a file.
fn git_hash(bytes: &[u8]) -> String {
    let mut context = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
    context.update(format!("blob {}\0", bytes.len()).as_bytes());
    context.update(bytes);
    let digest = context.finish();
    digest
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

impl Source for Github {
    fn name(&self) -> SourceName {
        SourceName::Github
    }

    fn search<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, Result<Harvest, SourceError>> {
        Box::pin(self.search_taps(query))
    }

    fn fetch<'a>(&'a self, identifier: &'a Identifier) -> BoxFuture<'a, Result<Bundle, HubError>> {
        Box::pin(async move {
            let Identifier::Github {
                repository,
                path,
                reference,
            } = identifier
            else {
                let what = identifier.to_string();
                let error = SourceError::NotFound { what };
                return Err(HubError::of_source(SourceName::Github, identifier)(error));
            };
            let reference = reference.as_deref();
            let found = self.skill(repository, path, reference, identifier).await?;
            found.bundle(SourceName::Github, identifier.clone())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_one_of_git() {
        // What `printf 'hello\n' | git hash-object --stdin` prints.
        assert_eq!(
            git_hash(b"hello\n"),
            "ce013625030ba8dba906f756967f9e9ca394464a"
        );
    }
}
