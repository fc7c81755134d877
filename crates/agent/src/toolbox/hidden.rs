//! Tools that are found instead of shown. When the descriptions of servers' tools would fill the window, the
//! model gets three small tools in their place: one to search, one to read a description, one to call.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_core::future::BoxFuture;
use hermes_config::{Automatic, ToolSearch};
use hermes_core::{
    Beside, Effect, Handling, Tool, ToolContext, ToolError, ToolOutcome, ToolResult, ToolSpec,
};
use serde_json::{Value as Json, json};

use super::ranking::Ranking;
use crate::repair::read;

/// Calls a hidden tool. Taken apart before the call is run, so it never runs itself.
pub(crate) const CALL: &str = "tool_call";
const SEARCH: &str = "tool_search";
const DESCRIBE: &str = "tool_describe";
/// Characters of a description in a list of tools.
const MOST_SHOWN: usize = 240;

/// Tools by name.
pub(crate) type Named = BTreeMap<String, Arc<dyn Tool>>;

/// Whether tools that take this many tokens to show are hidden in a window of this size.
pub(crate) fn hides(settings: &ToolSearch, tokens: u32, window: u32) -> bool {
    match settings.enabled {
        Automatic::On => tokens > 0,
        Automatic::Off => false,
        Automatic::Auto => {
            tokens > 0 && f64::from(tokens) >= f64::from(window) * settings.threshold_pct / 100.0
        }
    }
}

/// The three tools that stand for the hidden ones.
pub(crate) fn stand_ins(hidden: Named, settings: &ToolSearch) -> Vec<Arc<dyn Tool>> {
    let about = servers(&hidden);
    let ranking = Ranking::of(hidden.values().map(|tool| tool.spec()));
    let hidden = Arc::new(hidden);
    vec![
        Arc::new(Search {
            spec: search_spec(&about, settings),
            hidden: Arc::clone(&hidden),
            ranking,
            usual: settings.search_default_limit as usize,
            most: settings.max_search_limit as usize,
        }),
        Arc::new(Describe {
            spec: describe_spec(),
            hidden,
        }),
        Arc::new(Call(call_spec())),
    ]
}

/// The call that a `tool_call` stands for: the name of the tool and its arguments.
pub(crate) fn inner(arguments: &Json) -> Result<(&str, Json), String> {
    let name = arguments.get("name").and_then(Json::as_str);
    let name = name.ok_or("name is missing: which tool to call")?;
    let inner = match arguments.get("arguments") {
        None | Some(Json::Null) => json!({}),
        Some(object @ Json::Object(_)) => object.clone(),
        // Some models write an object as a text.
        Some(Json::String(text)) => read(text)
            .filter(Json::is_object)
            .ok_or("arguments is not a JSON object")?,
        Some(_) => return Err("arguments is not a JSON object".to_owned()),
    };
    Ok((name, inner))
}

/// The servers that hidden tools belong to, in words.
fn servers(hidden: &Named) -> String {
    let servers = hidden.values().filter_map(|tool| tool.server());
    let servers: BTreeSet<&str> = servers.collect();
    servers.into_iter().collect::<Vec<_>>().join(", ")
}

fn search_spec(servers: &str, settings: &ToolSearch) -> ToolSpec {
    ToolSpec {
        name: SEARCH.to_owned(),
        description: format!(
            "Finds further tools by what they do. More tools are connected than are listed here, from: \
             {servers}. Search before you say that something cannot be done."
        ),
        parameters: json!({
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "Words for what the tool should do"},
                "limit": {
                    "type": "integer",
                    "description": "Most tools to return",
                    "default": settings.search_default_limit,
                    "minimum": 1,
                    "maximum": settings.max_search_limit,
                },
            },
            "required": ["query"],
        }),
        effect: Effect::ReadOnly,
    }
}

fn describe_spec() -> ToolSpec {
    ToolSpec {
        name: DESCRIBE.to_owned(),
        description: "Shows the description and the parameters of a tool that tool_search found."
            .to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {"name": {"type": "string", "description": "The name of the tool"}},
            "required": ["name"],
        }),
        effect: Effect::ReadOnly,
    }
}

fn call_spec() -> ToolSpec {
    ToolSpec {
        name: CALL.to_owned(),
        description:
            "Calls a tool that tool_search found. Look at its parameters with tool_describe first."
                .to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "The name of the tool"},
                "arguments": {"type": "object", "description": "Its arguments"},
            },
            "required": ["name"],
        }),
        effect: Effect::Mutating,
    }
}

/// Descriptions are the words of whoever runs a server.
const LOOKING: Handling = Handling {
    beside: Beside::Anything,
    deadline: std::time::Duration::from_secs(10),
    max_chars: 50_000,
    untrusted: true,
};

struct Search {
    spec: ToolSpec,
    hidden: Arc<Named>,
    ranking: Ranking,
    usual: usize,
    most: usize,
}

impl Search {
    fn answer(&self, arguments: &Json) -> Result<Json, String> {
        let query = arguments.get("query").and_then(Json::as_str);
        let query = query.ok_or("query is missing: words for what the tool should do")?;
        let limit = arguments.get("limit").and_then(Json::as_u64);
        let limit = limit.map_or(self.usual, |limit| {
            usize::try_from(limit).unwrap_or(self.most)
        });
        let found = self.ranking.search(query, limit.clamp(1, self.most));
        let tools = found.iter().filter_map(|name| self.hidden.get(*name));
        let tools: Vec<Json> = tools
            .map(|tool| {
                let spec = tool.spec();
                let about: String = spec.description.chars().take(MOST_SHOWN).collect();
                json!({"name": spec.name, "description": about})
            })
            .collect();
        let mut answer = json!({"tools": tools, "of": self.hidden.len()});
        if tools.is_empty() {
            answer["note"] = json!("nothing fits these words; try others, or fewer");
        }
        Ok(answer)
    }
}

struct Describe {
    spec: ToolSpec,
    hidden: Arc<Named>,
}

impl Describe {
    fn answer(&self, arguments: &Json) -> Result<Json, String> {
        let name = arguments.get("name").and_then(Json::as_str);
        let name = name.ok_or("name is missing: which tool to describe")?;
        let tool = self.hidden.get(name);
        let spec = tool.ok_or_else(|| unknown(name, &self.hidden))?.spec();
        Ok(json!({
            "name": spec.name,
            "description": spec.description,
            "parameters": spec.parameters,
        }))
    }
}

/// What the model is told about a name that no tool has.
pub(crate) fn unknown(name: &str, tools: &Named) -> String {
    let names = tools.keys().map(String::as_str);
    match hermes_config::nearest(name, names) {
        Some(near) => format!("there is no tool {name}; did you mean {near}?"),
        None => format!("there is no tool {name}; {SEARCH} finds the names"),
    }
}

struct Call(ToolSpec);

fn outcome(answer: Result<Json, String>) -> ToolOutcome {
    match answer {
        Ok(answer) => Ok(ToolResult {
            content: answer.to_string(),
            media: Vec::new(),
        }),
        Err(message) => Err(ToolError::ForModel { message }),
    }
}

impl Tool for Search {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn handling(&self) -> Handling {
        LOOKING
    }

    fn call<'a>(&'a self, arguments: Json, _: &'a ToolContext) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move { outcome(self.answer(&arguments)) })
    }
}

impl Tool for Describe {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn handling(&self) -> Handling {
        LOOKING
    }

    fn call<'a>(&'a self, arguments: Json, _: &'a ToolContext) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move { outcome(self.answer(&arguments)) })
    }
}

impl Tool for Call {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn call<'a>(&'a self, _: Json, _: &'a ToolContext) -> BoxFuture<'a, ToolOutcome> {
        // A script calls tools by their own names.
        Box::pin(async { outcome(Err("call the tool itself, by its own name".to_owned())) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_hidden_from_a_share_of_the_window_on() {
        let auto = ToolSearch::default();
        assert!(!hides(&auto, 9_999, 100_000) && hides(&auto, 10_000, 100_000));
        assert!(!hides(&auto, 0, 0));
        let set = |enabled| ToolSearch {
            enabled,
            ..ToolSearch::default()
        };
        assert!(hides(&set(Automatic::On), 1, 1_000_000));
        assert!(!hides(&set(Automatic::Off), 1_000_000, 1));
    }

    #[test]
    fn arguments_may_be_an_object_a_text_or_nothing() {
        for given in [
            json!({"name": "n", "arguments": {"a": 1}}),
            json!({"name": "n", "arguments": "{\"a\": 1}"}),
        ] {
            assert_eq!(inner(&given), Ok(("n", json!({"a": 1}))));
        }
        assert_eq!(inner(&json!({"name": "n"})), Ok(("n", json!({}))));
        assert!(inner(&json!({"arguments": {}})).is_err());
        assert!(inner(&json!({"name": "n", "arguments": [1]})).is_err());
        assert!(inner(&json!({"name": "n", "arguments": "no"})).is_err());
    }
}
