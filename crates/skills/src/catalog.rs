//! What there is at one moment: names, descriptions and conditions, without the texts.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::conditions::Conditions;

/// How the category of a skill that lies in none is shown.
pub const NO_CATEGORY: &str = "general";

/// A skill as lists show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CatalogEntry {
    pub name: String,
    pub description: String,
    /// The directories between the root and its own, joined by slashes; empty when there are none.
    pub category: String,
    /// Where its `SKILL.md` lies.
    pub directory: PathBuf,
    /// Whether it lies in somebody else's directory.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub external: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(default)]
    pub conditions: Conditions,
}

/// All skills, sorted by category and name, and what the categories are for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Catalog {
    pub entries: Vec<CatalogEntry>,
    pub categories: BTreeMap<String, String>,
}

/// What a name stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found<'a> {
    One(&'a CatalogEntry),
    Several(Vec<&'a CatalogEntry>),
    Nothing,
}

impl CatalogEntry {
    /// The name that means this one and no other: with its category, if it has one.
    pub fn full_name(&self) -> String {
        match self.category.as_str() {
            "" => self.name.clone(),
            category => format!("{category}/{}", self.name),
        }
    }

    /// Its category as it is shown.
    pub fn shown_category(&self) -> &str {
        match self.category.as_str() {
            "" => NO_CATEGORY,
            category => category,
        }
    }

    /// The first part of its category, by which lists are narrowed.
    pub fn top_category(&self) -> Option<&str> {
        self.category
            .split('/')
            .next()
            .filter(|top| !top.is_empty())
    }

    /// The name of its directory.
    pub fn directory_name(&self) -> &str {
        let name = self.directory.file_name();
        name.and_then(|name| name.to_str()).unwrap_or_default()
    }
}

impl Catalog {
    /// The skill of this name: bare, or with its category before it. A name that no skill gives itself may
    /// be that of a directory.
    pub fn find(&self, name: &str) -> Found<'_> {
        let name = name.trim().trim_matches('/');
        let called = |entry: &&CatalogEntry| entry.name == name || entry.full_name() == name;
        let lies_in = |entry: &&CatalogEntry| {
            let directory = entry.directory_name();
            directory == name
                || (!entry.category.is_empty() && name == format!("{}/{directory}", entry.category))
        };
        let mut found: Vec<&CatalogEntry> = self.entries.iter().filter(called).collect();
        if found.is_empty() {
            found = self.entries.iter().filter(lies_in).collect();
        }
        match found.as_slice() {
            [] => Found::Nothing,
            [one] => Found::One(one),
            _ => Found::Several(found),
        }
    }
}
