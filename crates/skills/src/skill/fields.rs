//! What stands below `metadata.hermes`.

use hermes_config::{Map, Node};
use serde_json::Value as Json;

use crate::frontmatter::{is_yes, items_of, text_of, words_of};

/// What only Hermes reads of a skill.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Hermes {
    pub category: Option<String>,
    pub homepage: Option<String>,
    /// Offered only when all of these toolsets are on.
    pub requires_toolsets: Vec<String>,
    /// Offered only when all of these tools are there.
    pub requires_tools: Vec<String>,
    /// Offered only when none of these toolsets is on.
    pub fallback_for_toolsets: Vec<String>,
    /// Offered only when none of these tools is there.
    pub fallback_for_tools: Vec<String>,
    /// Settings of its own, kept at `skills.config.<key>`.
    pub config: Vec<ConfigItem>,
    pub blueprint: Option<Blueprint>,
}

/// A setting of a skill.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigItem {
    pub key: String,
    pub description: Option<String>,
    pub default: Option<Json>,
    /// How a person is asked for it.
    pub prompt: Option<String>,
}

/// A job the skill can be made into.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Blueprint {
    pub schedule: Option<String>,
    pub deliver: Option<String>,
    pub prompt: Option<String>,
    pub no_agent: bool,
    pub model: Option<String>,
    pub provider: Option<String>,
    pub enabled_toolsets: Vec<String>,
}

impl Hermes {
    pub(super) fn read(fields: &Map) -> Self {
        let words = |key| words_of(fields.get(key));
        let text = |key| fields.get(key).and_then(text_of);
        Self {
            category: text("category"),
            homepage: text("homepage"),
            requires_toolsets: words("requires_toolsets"),
            requires_tools: words("requires_tools"),
            fallback_for_toolsets: words("fallback_for_toolsets"),
            fallback_for_tools: words("fallback_for_tools"),
            config: items_of(fields.get("config"))
                .iter()
                .filter_map(item)
                .collect(),
            blueprint: fields
                .get("blueprint")
                .and_then(|node| node.value.as_map())
                .map(blueprint),
        }
    }
}

fn item(node: &Node) -> Option<ConfigItem> {
    let text = |key| node.child(key).and_then(text_of);
    Some(ConfigItem {
        key: text("key")?,
        description: text("description"),
        default: node
            .child("default")
            .map(|found| found.value.to_json())
            .filter(|found| !found.is_null()),
        prompt: text("prompt"),
    })
}

fn blueprint(fields: &Map) -> Blueprint {
    let text = |key| fields.get(key).and_then(text_of);
    Blueprint {
        schedule: text("schedule"),
        deliver: text("deliver"),
        prompt: text("prompt"),
        no_agent: is_yes(fields.get("no_agent")),
        model: text("model"),
        provider: text("provider"),
        enabled_toolsets: words_of(fields.get("enabled_toolsets")),
    }
}
