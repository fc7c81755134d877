//! What a model may ask of the facts.

use hermes_core::{Effect, ToolSpec};
use hermes_store::{Fact, FactChange, FactFilter};
use serde_json::{Value as Json, json};

use super::super::error::ProviderError;
use super::super::tool::{bounded, needed, optional, refused, spec};
use super::{FLOOR, Facts, compare, entities};
use crate::planted::planted;

/// What rating a fact adds to its trust.
const HELPED: f64 = 0.05;
const MISLED: f64 = -0.10;
/// Facts that are held against one another.
const MOST_COMPARED: u32 = 300;
/// Facts one call gives.
const USUAL: u64 = 10;
const MOST: u64 = 50;
/// Most characters of a fact.
const LONGEST: usize = 2_000;
const CATEGORIES: [&str; 4] = ["user_pref", "project", "tool", "general"];

pub(super) fn specs() -> Vec<ToolSpec> {
    vec![
        spec(
            "fact_store",
            "Facts kept across conversations. add keeps one sentence; search finds by words; probe gives all about \
             one entity; related names what occurs together with an entity; reason gives facts that join several \
             entities; contradict finds facts that disagree; update, remove and list do what they say.",
            json!({
                "action": {"type": "string", "enum": ["add", "search", "probe", "related", "reason", "contradict", "update", "remove", "list"]},
                "content": {"type": "string", "description": "the fact (add, update)"},
                "query": {"type": "string", "description": "words to look for (search)"},
                "entity": {"type": "string", "description": "a name (probe, related)"},
                "entities": {"type": "array", "items": {"type": "string"}, "description": "names (reason)"},
                "fact_id": {"type": "integer", "description": "its number (update, remove)"},
                "category": {"type": "string", "enum": CATEGORIES},
                "tags": {"type": "string", "description": "words that should find it too"},
                "trust_delta": {"type": "number", "description": "added to its trust (update)"},
                "min_trust": {"type": "number", "description": "leave out what is trusted less; 0.3 if not given"},
                "limit": {"type": "integer", "description": "how many; 10 if not given"},
            }),
            &["action"],
            Effect::Mutating,
        ),
        spec(
            "fact_feedback",
            "Says whether a fact helped or misled you, which changes how far it is trusted.",
            json!({
                "action": {"type": "string", "enum": ["helpful", "unhelpful"]},
                "fact_id": {"type": "integer"},
            }),
            &["action", "fact_id"],
            Effect::Mutating,
        ),
    ]
}

impl Facts {
    pub(super) async fn act(&self, asked: &Json) -> Result<Json, ProviderError> {
        let most = bounded(asked, "limit", USUAL, MOST);
        let filter = FactFilter {
            category: category(asked)?,
            floor: asked["min_trust"].as_f64().unwrap_or(FLOOR).clamp(0.0, 1.0),
            most: u32::try_from(most).unwrap_or(u32::MAX),
        };
        let count = usize::try_from(most).unwrap_or(usize::MAX);
        match needed(asked, "action")? {
            "add" => {
                let content = sound(needed(asked, "content")?)?;
                let category = filter.category.as_deref().unwrap_or("general");
                let tags = optional(asked, "tags").unwrap_or_default();
                let (id, new) = self.keep(content, category, tags).await?;
                Ok(json!({"fact_id": id, "status": if new { "added" } else { "already there" }}))
            }
            "search" => {
                let words = needed(asked, "query")?;
                let found = self.store.search_facts(words, filter).await?;
                let ids = found.iter().map(|fact| fact.id).collect();
                self.store.recalled_facts(ids).await?;
                Ok(listed(found))
            }
            "probe" => {
                let entity = needed(asked, "entity")?;
                Ok(listed(self.store.facts_about(entity, filter).await?))
            }
            "related" => {
                let entity = needed(asked, "entity")?;
                let facts = self.store.facts_about(entity, many(&filter)).await?;
                Ok(json!({"entity": entity, "related": compare::related(entity, &facts, count)}))
            }
            "reason" => {
                let names = asked["entities"].as_array();
                let names: Vec<String> = names
                    .into_iter()
                    .flatten()
                    .filter_map(|name| Some(name.as_str()?.to_owned()))
                    .collect();
                let Some(first) = names.first() else {
                    return Err(refused("entities is missing"));
                };
                let facts = self.store.facts_about(first, many(&filter)).await?;
                Ok(listed(compare::joint(&names, &facts, count)))
            }
            "contradict" => {
                let facts = self.store.facts(many(&filter)).await?;
                let pairs = compare::contradictions(&facts, count);
                Ok(json!({"count": pairs.len(), "contradictions": pairs}))
            }
            "update" => self.update(asked, filter.category).await,
            "remove" => match self.store.remove_fact(id(asked)?).await? {
                true => Ok(json!({"removed": true})),
                false => Err(refused("there is no such fact")),
            },
            "list" => Ok(listed(self.store.facts(filter).await?)),
            other => Err(refused(format!("fact_store cannot {other}"))),
        }
    }

    async fn update(&self, asked: &Json, category: Option<String>) -> Result<Json, ProviderError> {
        let content = match optional(asked, "content") {
            Some(content) => Some((sound(content)?.to_owned(), entities::of(content))),
            None => None,
        };
        let change = FactChange {
            content,
            category,
            tags: optional(asked, "tags").map(str::to_owned),
            trust: asked["trust_delta"]
                .as_f64()
                .unwrap_or(0.0)
                .clamp(-1.0, 1.0),
            helped: false,
        };
        match self.store.change_fact(id(asked)?, change).await? {
            Some((_, trust)) => Ok(json!({"updated": true, "trust": trust})),
            None => Err(refused("there is no such fact")),
        }
    }

    pub(super) async fn rate(&self, asked: &Json) -> Result<Json, ProviderError> {
        let helped = match needed(asked, "action")? {
            "helpful" => true,
            "unhelpful" => false,
            other => return Err(refused(format!("{other} is neither helpful nor unhelpful"))),
        };
        let change = FactChange {
            trust: if helped { HELPED } else { MISLED },
            helped,
            ..FactChange::default()
        };
        let id = id(asked)?;
        match self.store.change_fact(id, change).await? {
            Some((before, after)) => {
                Ok(json!({"fact_id": id, "trust_before": before, "trust_after": after}))
            }
            None => Err(refused("there is no such fact")),
        }
    }
}

/// The same question, for more facts than are shown.
fn many(filter: &FactFilter) -> FactFilter {
    FactFilter {
        most: MOST_COMPARED,
        ..filter.clone()
    }
}

fn id(asked: &Json) -> Result<i64, ProviderError> {
    let given = &asked["fact_id"];
    let spelled = given.as_str().and_then(|text| text.trim().parse().ok());
    given
        .as_i64()
        .or(spelled)
        .ok_or_else(|| refused("fact_id is missing"))
}

fn category(asked: &Json) -> Result<Option<String>, ProviderError> {
    match optional(asked, "category") {
        None => Ok(None),
        Some(known) if CATEGORIES.contains(&known) => Ok(Some(known.to_owned())),
        Some(_) => Err(refused(format!(
            "category is one of {}",
            CATEGORIES.join(", ")
        ))),
    }
}

/// Facts come back in later conversations, so what looks planted is not kept.
fn sound(content: &str) -> Result<&str, ProviderError> {
    if content.chars().count() > LONGEST {
        return Err(refused(format!("a fact has at most {LONGEST} characters")));
    }
    let ids = planted(content);
    match ids.is_empty() {
        true => Ok(content),
        false => Err(refused(format!("this looks planted: {}", ids.join(", ")))),
    }
}

fn listed(facts: Vec<Fact>) -> Json {
    json!({"count": facts.len(), "results": facts})
}
