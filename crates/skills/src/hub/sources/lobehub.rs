//! LobeHub: agents, whose instructions are turned into skills.

use futures_core::future::BoxFuture;
use hermes_http::BaseUrl;
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};

use super::{Common, Harvest, Listing, Source, SourceName, matches, path_of};
use crate::guard::Trust;
use crate::hub::bundle::{Bundle, File, Files, LARGEST_FILE, Origin};
use crate::hub::error::{HubError, SourceError};
use crate::hub::file_path::FilePath;
use crate::hub::identifier::Identifier;
use crate::hub::name::slug;
use crate::hub::search::Query;
use crate::hub::web::Ask;
use crate::skill::{LONGEST_DESCRIPTION, cut, on_one_line};

/// Most bytes of the list.
const LARGEST: usize = 15 * 1024 * 1024;

pub(super) struct Lobehub {
    common: Common,
    base: BaseUrl,
}

#[derive(Deserialize)]
struct Index {
    #[serde(default)]
    agents: Vec<Agent>,
}

/// An agent, in the list and by itself.
#[derive(Clone, Serialize, Deserialize)]
struct Agent {
    #[serde(default)]
    identifier: String,
    #[serde(default)]
    author: Option<String>,
    #[serde(default)]
    meta: Meta,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    config: Option<Config>,
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct Meta {
    #[serde(default)]
    title: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    tags: Vec<String>,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Config {
    #[serde(default)]
    system_role: String,
}

impl Lobehub {
    pub(super) fn new(common: Common, base: BaseUrl) -> Self {
        Self { common, base }
    }

    async fn agents(&self) -> Result<Vec<Agent>, SourceError> {
        let url = self.base.join("index.json");
        let about = format!("lobehub {url}");
        let state = &self.common.state;
        if let Some(kept) = state.cached::<Vec<Agent>>(&about, self.common.life)
            && kept.fresh
        {
            return Ok(kept.body);
        }
        let asked = Ask::json(url, LARGEST);
        let index: Index = self.common.web.json(&asked, "a list of agents").await?;
        state.keep(&about, &index.agents);
        Ok(index.agents)
    }
}

/// An agent as a skill: what it is for, and its instructions as the text.
fn skill_text(agent: &Agent) -> Result<String, SourceError> {
    let role = agent
        .config
        .as_ref()
        .map(|config| config.system_role.trim());
    let Some(role) = role.filter(|role| !role.is_empty()) else {
        return Err(SourceError::NotFound {
            what: format!("the instructions of {}", agent.identifier),
        });
    };
    let title = on_one_line(&agent.meta.title);
    let description = [&on_one_line(&agent.meta.description), &title]
        .into_iter()
        .find(|text| !text.is_empty())
        .unwrap_or(&agent.identifier)
        .clone();
    let description = cut(&description, LONGEST_DESCRIPTION);
    // JSON is YAML, and quotes whatever a stranger wrote; three dashes would end the head for some.
    let quoted = |text: &str| json!(text.replace("---", "—")).to_string();
    let mut head = format!(
        "name: {}\ndescription: {}\n",
        standard_name(&agent.identifier),
        quoted(&description)
    );
    let author = agent.author.as_deref().filter(|author| !author.is_empty());
    if author.is_some() || !agent.meta.tags.is_empty() {
        head.push_str("metadata:\n");
    }
    if let Some(author) = author {
        head.push_str(&format!("  author: {}\n", quoted(author)));
    }
    if !agent.meta.tags.is_empty() {
        head.push_str("  hermes:\n    tags:\n");
    }
    for tag in &agent.meta.tags {
        head.push_str(&format!("      - {}\n", quoted(tag)));
    }
    let title = if title.is_empty() {
        &agent.identifier
    } else {
        &title
    };
    Ok(format!("---\n{head}---\n\n# {title}\n\n{role}\n"))
}

/// A name that every program takes: letters, digits and single dashes.
fn standard_name(words: &str) -> String {
    let name = slug(words);
    let parts = name.split(['-', '_', '.']).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("-")
}

impl Source for Lobehub {
    fn name(&self) -> SourceName {
        SourceName::Lobehub
    }

    fn search<'a>(&'a self, query: &'a Query) -> BoxFuture<'a, Result<Harvest, SourceError>> {
        Box::pin(async move {
            let agents = self.agents().await?;
            let listings = agents.into_iter().filter_map(|agent| {
                let texts = [
                    agent.identifier.as_str(),
                    &agent.meta.title,
                    &agent.meta.description,
                    &agent.meta.tags.join(" "),
                ];
                if !matches(&query.words, &texts) {
                    return None;
                }
                Some(Listing {
                    identifier: format!("lobehub/{}", agent.identifier).parse().ok()?,
                    name: agent.identifier,
                    description: agent.meta.description,
                    source: SourceName::Lobehub,
                    trust: Trust::Community,
                    tags: agent.meta.tags,
                    installs: None,
                })
            });
            Ok(listings.collect())
        })
    }

    fn fetch<'a>(&'a self, identifier: &'a Identifier) -> BoxFuture<'a, Result<Bundle, HubError>> {
        Box::pin(async move {
            let failed = |error| HubError::of_source(SourceName::Lobehub, identifier)(error);
            let Identifier::Lobehub { id } = identifier else {
                let what = identifier.to_string();
                return Err(failed(SourceError::NotFound { what }));
            };
            let url = self.base.join(&format!("{}.json", path_of([id.as_str()])));
            let asked = Ask::json(url, LARGEST_FILE);
            let agent = self.common.web.json::<Agent>(&asked, "an agent").await;
            let mut agent = agent.map_err(failed)?;
            if agent.identifier.is_empty() {
                agent.identifier.clone_from(id);
            }
            let text = skill_text(&agent).map_err(failed)?;
            let file = File {
                bytes: text.into_bytes(),
                executable: false,
            };
            let mut files = Files::default();
            files.add(FilePath::skill(), file).map_err(failed)?;
            let mut metadata = Map::new();
            metadata.insert("converted_from".to_owned(), json!("lobehub agent"));
            let origin = Origin {
                source: SourceName::Lobehub,
                identifier: identifier.clone(),
                trust: Trust::Community,
                metadata,
            };
            Bundle::new(origin, files)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::Skill;

    #[test]
    fn an_agent_becomes_a_skill_whatever_it_is_called() {
        let agent = |title: &str, description: &str, role: &str| Agent {
            identifier: "Code Writer".to_owned(),
            author: Some("a: \"b\"".to_owned()),
            meta: Meta {
                title: title.to_owned(),
                description: description.to_owned(),
                tags: vec!["x".to_owned(), "y]".to_owned()],
            },
            config: Some(Config {
                system_role: role.to_owned(),
            }),
        };
        let text = skill_text(&agent("T: 1", "use when:\n- it breaks", "Do it.")).unwrap();
        let skill = Skill::parse(&text, "x");
        assert_eq!(skill.name, "code-writer");
        assert_eq!(skill.description, "use when: - it breaks");
        assert_eq!(skill.tags, ["x", "y]"]);
        assert!(text.contains("    tags:\n      - \"x\"\n"), "{text}");
        assert_eq!(skill.body, "# T: 1\n\nDo it.\n");
        assert!(skill_text(&agent("T", "", "  ")).is_err());
        let bare = skill_text(&agent("", "", "Do it.")).unwrap();
        assert_eq!(Skill::parse(&bare, "x").description, "Code Writer");
        assert_eq!(standard_name("_my__Agent.v2-"), "my-agent-v2");
    }
}
