//! `skills_list`: which skills there are.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use hermes_core::{Beside, Effect, Handling, Tool, ToolContext, ToolOutcome, ToolSpec};
use hermes_skills::{CatalogEntry, best, unusable};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::{SkillCaller, SkillServices, blocking, told};
use crate::arguments::read;

/// Most skills of one answer.
const MOST: usize = 100;
/// Most skills that fit a question.
const MOST_FITTING: usize = 20;

pub(super) struct SkillsList {
    spec: ToolSpec,
    services: Arc<SkillServices>,
    caller: SkillCaller,
}

#[derive(Deserialize)]
struct Asked {
    #[serde(default)]
    category: Option<String>,
    #[serde(default)]
    query: Option<String>,
}

pub(super) fn spec() -> ToolSpec {
    ToolSpec {
        name: "skills_list".to_owned(),
        description: "List the skills there are, by name and description; with a query those that fit it best. \
                      Read one with skill_view."
            .to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                "category": {"type": "string", "description": "Only skills of this category."},
                "query": {"type": "string", "description": "What the skill should be about, in a few words."},
            },
        }),
        effect: Effect::ReadOnly,
    }
}

impl SkillsList {
    pub(super) fn new(services: Arc<SkillServices>, caller: SkillCaller) -> Self {
        Self {
            spec: spec(),
            services,
            caller,
        }
    }
}

fn filled(text: Option<String>) -> Option<String> {
    text.map(|text| text.trim().to_owned())
        .filter(|text| !text.is_empty())
}

fn answer(services: &SkillServices, surface: &str, asked: Asked) -> Json {
    let library = &services.library;
    let catalog = library.catalog();
    let usable: Vec<&CatalogEntry> = catalog
        .entries
        .iter()
        .filter(|entry| unusable(entry, library.locality(), library.settings(), surface).is_none())
        .collect();
    let mut categories: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in &usable {
        if let Some(category) = entry.top_category() {
            *categories.entry(category).or_insert(0) += 1;
        }
    }
    let (category, query) = (filled(asked.category), filled(asked.query));
    let mut found: Vec<&CatalogEntry> = usable
        .iter()
        .copied()
        .filter(|entry| {
            category.as_deref().is_none_or(|category| {
                entry.top_category() == Some(category) || entry.category == category
            })
        })
        .collect();
    let most = match &query {
        Some(query) => {
            found = best(&found, query);
            MOST_FITTING
        }
        None => MOST,
    };
    let left_out = found.len().saturating_sub(most);
    found.truncate(most);
    let hint = match (found.is_empty(), left_out) {
        (true, _) if usable.is_empty() => "there are no skills yet".to_owned(),
        (true, _) => "nothing fits; try other words, or leave the category out".to_owned(),
        (false, 0) => "skill_view(name) reads one".to_owned(),
        (false, more) => {
            format!("{more} more are left out; a query or a category narrows the list")
        }
    };
    json!({
        "success": true,
        "skills": found.iter().map(|entry| json!({
            "name": entry.name,
            "description": entry.description,
            "category": entry.top_category(),
        })).collect::<Vec<_>>(),
        "categories": categories.keys().collect::<Vec<_>>(),
        "count": found.len(),
        "hint": hint,
    })
}

impl Tool for SkillsList {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn handling(&self) -> Handling {
        Handling {
            beside: Beside::Anything,
            ..Handling::default()
        }
    }

    fn call<'a>(&'a self, arguments: Json, _: &'a ToolContext) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move {
            let asked: Asked = read(arguments)?;
            let surface = self.caller.surface.clone();
            let answer = blocking(&self.services, move |services| {
                answer(services, &surface, asked)
            });
            Ok(told(answer.await?))
        })
    }
}
