//! Looking for skills in the repositories everybody has and in those the user added.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use futures_util::stream::{self, StreamExt as _};
use serde::{Deserialize, Serialize};

use super::tree::Tree;
use super::{AT_ONCE, Github};
use crate::hub::error::SourceError;
use crate::hub::identifier::{Identifier, Repository};
use crate::hub::search::Query;
use crate::hub::sources::{Harvest, Listing, SourceName, matches};
use crate::hub::state::Tap;
use crate::hub::trust;
use crate::skill::Skill;

/// Descriptions that are fetched for one search: without a key GitHub answers sixty requests an hour.
const MOST_DESCRIBED: usize = 6;
/// Descriptions that are kept.
const MOST_KEPT: usize = 500;
/// Most bytes of a file that is read for its description.
const LARGEST: usize = 256 * 1024;
const KEPT: &str = "github-descriptions";
const DEFAULTS: [(&str, &str); 6] = [
    ("openai/skills", "skills/.curated"),
    ("openai/skills", "skills/.system"),
    ("anthropics/skills", "skills"),
    ("huggingface/skills", "skills"),
    ("NVIDIA/skills", "skills"),
    ("garrytan/gstack", ""),
];

/// Repositories that are looked at without being added.
pub(in crate::hub) fn default_taps() -> Vec<Tap> {
    DEFAULTS
        .iter()
        .map(|(repo, path)| Tap {
            repo: (*repo).to_owned(),
            path: (*path).to_owned(),
        })
        .collect()
}

/// What a `SKILL.md` says about itself, by the hash of the file.
type Descriptions = BTreeMap<String, About>;

#[derive(Clone, Serialize, Deserialize)]
struct About {
    name: String,
    description: String,
}

/// A skill whose directory fits a query.
#[derive(Clone)]
struct Hit {
    repository: Repository,
    directory: String,
    sha: String,
}

impl Github {
    pub(super) async fn search_taps(&self, query: &Query) -> Result<Harvest, SourceError> {
        let mut taps = self
            .common
            .state
            .taps()
            .map_err(|_| SourceError::NotFound {
                what: "a list of taps that can be read".to_owned(),
            })?
            .taps;
        taps.extend(default_taps());
        let mut paths: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for tap in taps {
            paths.entry(tap.repo).or_default().push(tap.path);
        }
        let trees: Vec<(String, Vec<String>, Result<Tree, SourceError>)> = stream::iter(paths)
            .map(|(repo, paths)| async move {
                let tree = match repo.parse::<Repository>() {
                    Ok(repository) => self.recent_tree(&repository).await,
                    Err(_) => Err(SourceError::NotFound { what: repo.clone() }),
                };
                (repo, paths, tree)
            })
            .buffered(AT_ONCE)
            .collect()
            .await;
        let mut hits = Vec::new();
        let mut failed = Vec::new();
        for (repo, paths, tree) in trees {
            match (tree, repo.parse::<Repository>()) {
                (Ok(tree), Ok(repository)) => {
                    hits.extend(in_tree(&tree, &repository, &paths, query))
                }
                (Err(error), _) => failed.push((repo, error)),
                (Ok(_), Err(_)) => {}
            }
        }
        // Only the first are described.
        hits.sort_by_key(|hit| Reverse(query.fit(last(&hit.directory, &hit.repository))));
        let listings = self.described(hits, query).await;
        Ok(Harvest { listings, failed })
    }

    /// Adds what the skills say about themselves, as far as that is known or can be asked for cheaply.
    async fn described(&self, hits: Vec<Hit>, query: &Query) -> Vec<Listing> {
        let state = &self.common.state;
        let kept = state.cached::<Descriptions>(KEPT, self.common.life);
        let mut known = kept.map(|kept| kept.body).unwrap_or_default();
        let unknown: Vec<Hit> = hits
            .iter()
            .filter(|hit| !known.contains_key(&hit.sha))
            .take(if query.words.is_empty() {
                0
            } else {
                MOST_DESCRIBED
            })
            .cloned()
            .collect();
        let asked = !unknown.is_empty();
        let fetched: Vec<(String, Option<About>)> = stream::iter(unknown)
            .map(|hit| async move { (hit.sha.clone(), self.about(&hit).await) })
            .buffered(AT_ONCE)
            .collect()
            .await;
        for (sha, about) in fetched {
            if let Some(about) = about {
                known.insert(sha, about);
            }
        }
        if asked {
            while known.len() > MOST_KEPT {
                known.pop_first();
            }
            state.keep(KEPT, &known);
        }
        hits.into_iter().map(|hit| listing(hit, &known)).collect()
    }

    /// A description is a convenience: without it the name is shown.
    async fn about(&self, hit: &Hit) -> Option<About> {
        let path = match hit.directory.as_str() {
            "" => "SKILL.md".to_owned(),
            directory => format!("{directory}/SKILL.md"),
        };
        let got = self
            .file(&hit.repository, &path, None, LARGEST)
            .await
            .ok()?;
        let text = String::from_utf8_lossy(&got.bytes);
        let skill = Skill::parse(&text, last(&hit.directory, &hit.repository));
        Some(About {
            name: skill.name,
            description: skill.description,
        })
    }
}

fn in_tree(tree: &Tree, repository: &Repository, paths: &[String], query: &Query) -> Vec<Hit> {
    let below = |directory: &str| {
        paths.iter().any(|path| {
            let path = path.trim_matches('/');
            let rest = directory.strip_prefix(path);
            path.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    let name = repository.to_string();
    tree.skills()
        .filter(|directory| below(directory) && matches(&query.words, &[*directory, name.as_str()]))
        .map(|directory| Hit {
            repository: repository.clone(),
            directory: directory.to_owned(),
            sha: tree.skill_sha(directory).unwrap_or_default().to_owned(),
        })
        .collect()
}

fn listing(hit: Hit, known: &Descriptions) -> Listing {
    let about = known.get(&hit.sha);
    let name = about.map_or_else(
        || last(&hit.directory, &hit.repository).to_owned(),
        |about| about.name.clone(),
    );
    Listing {
        name,
        description: about
            .map(|about| about.description.clone())
            .unwrap_or_default(),
        source: SourceName::Github,
        trust: trust::of_repository(&hit.repository),
        identifier: Identifier::Github {
            repository: hit.repository,
            path: hit.directory,
            reference: None,
        },
        tags: Vec::new(),
        installs: None,
    }
}

fn last<'a>(directory: &'a str, repository: &'a Repository) -> &'a str {
    match directory {
        "" => repository.name(),
        _ => directory.rsplit('/').next().unwrap_or(directory),
    }
}
