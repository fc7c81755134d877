//! Which tools fit some words best: BM25 over names, descriptions and the names of parameters.

use std::collections::HashMap;

use hermes_core::ToolSpec;

/// How much a word counts that comes up again.
const K1: f64 = 1.5;
/// How much longer descriptions are held against a tool.
const B: f64 = 0.75;

/// Tools prepared for searching.
pub(crate) struct Ranking {
    tools: Vec<Document>,
    /// In how many tools a word stands.
    spread: HashMap<String, usize>,
    average: f64,
}

struct Document {
    name: String,
    words: HashMap<String, usize>,
    length: usize,
}

impl Ranking {
    pub(crate) fn of<'t>(specs: impl Iterator<Item = &'t ToolSpec>) -> Self {
        let tools: Vec<Document> = specs.map(document).collect();
        let mut spread: HashMap<String, usize> = HashMap::new();
        for word in tools.iter().flat_map(|tool| tool.words.keys()) {
            *spread.entry(word.clone()).or_default() += 1;
        }
        let total: usize = tools.iter().map(|tool| tool.length).sum();
        let average = total as f64 / tools.len().max(1) as f64;
        Self {
            tools,
            spread,
            average,
        }
    }

    /// The names of the best, best first.
    pub(crate) fn search(&self, query: &str, limit: usize) -> Vec<&str> {
        let words: Vec<String> = words(query).collect();
        let mut scored: Vec<(f64, &str)> = self
            .tools
            .iter()
            .map(|tool| {
                let named = if tool.name == query.trim() {
                    f64::MAX
                } else {
                    0.0
                };
                let score: f64 = words.iter().map(|word| self.score(tool, word)).sum();
                (score.max(named), tool.name.as_str())
            })
            .filter(|(score, _)| *score > 0.0)
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        scored
            .into_iter()
            .take(limit)
            .map(|(_, name)| name)
            .collect()
    }

    fn score(&self, tool: &Document, word: &str) -> f64 {
        let Some(count) = tool.words.get(word) else {
            return 0.0;
        };
        let count = *count as f64;
        let spread = self.spread.get(word).copied().unwrap_or_default() as f64;
        let rare = (1.0 + (self.tools.len() as f64 - spread + 0.5) / (spread + 0.5)).ln();
        let length = 1.0 - B + B * tool.length as f64 / self.average.max(1.0);
        rare * count * (K1 + 1.0) / (count + K1 * length)
    }
}

fn document(spec: &ToolSpec) -> Document {
    let parameters = spec
        .parameters
        .get("properties")
        .and_then(|all| all.as_object());
    let parameters = parameters.into_iter().flat_map(|all| all.keys());
    let texts = [spec.name.as_str(), spec.description.as_str()];
    let texts = texts.into_iter().chain(parameters.map(String::as_str));
    let mut counted: HashMap<String, usize> = HashMap::new();
    let mut length = 0;
    for word in texts.flat_map(words) {
        length += 1;
        *counted.entry(word).or_default() += 1;
    }
    Document {
        name: spec.name.clone(),
        words: counted,
        length,
    }
}

/// The words of a text in small letters; `camelCase` and `snake_case` are two words each.
fn words(text: &str) -> impl Iterator<Item = String> {
    let mut spaced = String::with_capacity(text.len() + 8);
    let mut before = ' ';
    for letter in text.chars() {
        if letter.is_uppercase() && before.is_lowercase() {
            spaced.push(' ');
        }
        spaced.push(if letter.is_alphanumeric() {
            letter
        } else {
            ' '
        });
        before = letter;
    }
    let words: Vec<String> = spaced.split_whitespace().map(str::to_lowercase).collect();
    words.into_iter()
}

#[cfg(test)]
mod tests {
    use hermes_core::Effect;
    use serde_json::json;

    use super::*;

    fn spec(name: &str, description: &str, parameter: &str) -> ToolSpec {
        ToolSpec {
            name: name.to_owned(),
            description: description.to_owned(),
            parameters: json!({"properties": {parameter: {}}}),
            effect: Effect::ReadOnly,
        }
    }

    // AG-30
    #[test]
    fn the_tool_that_fits_comes_first() {
        let specs = [
            spec(
                "mcp__tracker__create_issue",
                "Opens a new issue in a project",
                "title",
            ),
            spec(
                "mcp__tracker__list_issues",
                "Lists the issues of a project",
                "project",
            ),
            spec("mcp__mail__send", "Sends a letter", "recipient"),
            spec("mcp__mail__readInbox", "Shows what came in", "since"),
        ];
        let ranking = Ranking::of(specs.iter());
        let first = |query: &str| ranking.search(query, 1).first().copied();
        assert_eq!(first("create issue"), Some("mcp__tracker__create_issue"));
        assert_eq!(first("Recipient"), Some("mcp__mail__send"));
        assert_eq!(first("inbox"), Some("mcp__mail__readInbox"));
        assert_eq!(first("mcp__mail__send"), Some("mcp__mail__send"));
        assert_eq!(ranking.search("project", 5).len(), 2);
        assert!(ranking.search("weather", 5).is_empty());
        assert!(ranking.search("", 5).is_empty());
    }
}
