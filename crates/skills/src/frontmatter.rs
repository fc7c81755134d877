//! The fields at the head of a Markdown file, between two lines of `---`.
//!
//! Skills are written by people and models, and a description with a colon in it is not YAML. What the
//! YAML reader refuses is read key by key, so that one bad line costs one field.

use hermes_config::{Layer, Map, Node, Value, parse};

const FENCE: &str = "---";
const BOM: char = '\u{feff}';

/// A file in two parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Frontmatter<'text> {
    /// The fields; none when there is no head.
    pub fields: Map,
    /// The head as it was written, without the fences.
    pub head: &'text str,
    /// What follows, without the blank lines before it.
    pub body: &'text str,
    /// How the fields could be read.
    pub form: Form,
}

/// How the fields of a file could be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// There is no head.
    Absent,
    /// As YAML.
    Yaml,
    /// Key by key, because it is not YAML.
    Lines,
}

impl<'text> Frontmatter<'text> {
    /// Reads a file. Whatever stands in it, there is an answer.
    pub fn parse(text: &'text str) -> Self {
        let text = text.strip_prefix(BOM).unwrap_or(text);
        let Some((head, body)) = split(text) else {
            return Self {
                fields: Map::new(),
                head: "",
                body: text,
                form: Form::Absent,
            };
        };
        let (fields, form) = match map(head) {
            Some(fields) => (fields, Form::Yaml),
            None => (by_key(head), Form::Lines),
        };
        Self {
            fields,
            head,
            body,
            form,
        }
    }

    /// The text of a field that holds one word, number or sentence.
    pub fn text(&self, key: &str) -> Option<String> {
        text_of(self.fields.get(key)?)
    }
}

/// The head and the body; nothing when the file does not begin with a fence or never closes it.
fn split(text: &str) -> Option<(&str, &str)> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().filter(|line| is_fence(line))?;
    let mut end = first.len();
    for line in lines {
        if is_fence(line) {
            let head = text.get(first.len()..end)?;
            let body = text.get(end + line.len()..)?;
            return Some((head, body.trim_start_matches(['\n', '\r'])));
        }
        end += line.len();
    }
    None
}

fn is_fence(line: &str) -> bool {
    line.trim_end() == FENCE
}

fn map(yaml: &str) -> Option<Map> {
    match parse(yaml, Layer::File).ok()?.value {
        Value::Map(map) => Some(map),
        Value::Null => Some(Map::new()),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::List(_) => None,
    }
}

/// Each key with the lines that belong to it, read on its own; a part that is no YAML either is the text
/// after its colon.
fn by_key(head: &str) -> Map {
    let mut fields = Map::new();
    for part in parts(head) {
        let Some((key, rest)) = part.split_once(':') else {
            continue;
        };
        let key = key.trim().trim_matches(['"', '\'']);
        if key.is_empty() {
            continue;
        }
        let read = map(part).and_then(|mut map| map.remove(key));
        let node = read.unwrap_or_else(|| {
            let line = rest.lines().next().unwrap_or_default().trim();
            Node::new(Value::Text(unquoted(line).to_owned()), Layer::File)
        });
        fields.insert(key, node);
    }
    fields
}

/// The head cut before every line that begins with a key.
fn parts(head: &str) -> Vec<&str> {
    let mut starts = Vec::new();
    let mut at = 0;
    for line in head.split_inclusive('\n') {
        let begins = line.starts_with(|first: char| !first.is_whitespace() && first != '#');
        if begins && !line.starts_with("- ") && line.contains(':') {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([head.len()]);
    starts
        .iter()
        .zip(ends)
        .filter_map(|(start, end)| head.get(*start..end))
        .collect()
}

fn unquoted(text: &str) -> &str {
    for quote in ['"', '\''] {
        let inner = text
            .strip_prefix(quote)
            .and_then(|rest| rest.strip_suffix(quote));
        if let Some(inner) = inner {
            return inner;
        }
    }
    text
}

/// The text of a scalar, trimmed; nothing for an empty one.
pub(crate) fn text_of(node: &Node) -> Option<String> {
    let text = node.text()?;
    let trimmed = text.trim();
    (!trimmed.is_empty()).then(|| trimmed.to_owned())
}

/// Words given as a list, or as one text with commas.
pub(crate) fn words_of(node: Option<&Node>) -> Vec<String> {
    let Some(node) = node else { return Vec::new() };
    match &node.value {
        Value::List(items) => items.iter().filter_map(text_of).collect(),
        _ => node
            .text()
            .unwrap_or_default()
            .trim()
            .trim_start_matches('[')
            .trim_end_matches(']')
            .split(',')
            .map(|word| unquoted(word.trim()).to_owned())
            .filter(|word| !word.is_empty())
            .collect(),
    }
}

/// The items of a list; a single value counts as a list of one.
pub(crate) fn items_of(node: Option<&Node>) -> &[Node] {
    match node {
        Some(Node {
            value: Value::List(items),
            ..
        }) => items,
        Some(Node {
            value: Value::Null, ..
        })
        | None => &[],
        Some(node) => std::slice::from_ref(node),
    }
}

/// Whether a node says yes, in YAML or in words.
pub(crate) fn is_yes(node: Option<&Node>) -> bool {
    match node.map(|node| &node.value) {
        Some(Value::Bool(flag)) => *flag,
        Some(Value::Text(text)) => matches!(text.trim(), "true" | "yes" | "1"),
        Some(Value::Int(number)) => *number != 0,
        Some(Value::Null | Value::Float(_) | Value::List(_) | Value::Map(_)) | None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Form, Vec<(String, String)>, String) {
        let read = Frontmatter::parse(text);
        let fields = read
            .fields
            .iter()
            .map(|(key, node)| (key.to_owned(), node.value.to_json().to_string()))
            .collect();
        (read.form, fields, read.body.to_owned())
    }

    #[test]
    fn a_head_is_only_what_stands_between_two_fences_at_the_top() {
        for text in [
            "",
            "text",
            "---",
            "---\na: b\n",
            "\n---\na: b\n---\n",
            "--- a\n---\n",
        ] {
            let found = read(text);
            assert_eq!(
                (found.0, found.2.as_str()),
                (Form::Absent, text),
                "{text:?}"
            );
        }
        let (form, fields, body) = read("\u{feff}---\r\na: b\r\n---  \r\n\r\ntext\r\n");
        assert_eq!(form, Form::Yaml);
        assert_eq!(fields, [("a".to_owned(), "\"b\"".to_owned())]);
        assert_eq!(body, "text\r\n");
        assert_eq!(read("---\n---\nx").0, Form::Yaml);
        assert_eq!(read("---\na: b\n---").2, "");
    }

    #[test]
    fn one_bad_line_costs_one_field() {
        let (form, fields, body) = read(
            "---\nname: a\ndescription: use when: it breaks\nplatforms: [linux]\nmetadata:\n  hermes:\n    tags: [x]\nversion: \"1.0\n# note: no\n---\nbody",
        );
        assert_eq!(form, Form::Lines);
        let shown: Vec<String> = fields
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        assert_eq!(
            shown,
            [
                "name=\"a\"",
                "description=\"use when: it breaks\"",
                "platforms=[\"linux\"]",
                "metadata={\"hermes\":{\"tags\":[\"x\"]}}",
                "version=\"\\\"1.0\"",
            ]
        );
        assert_eq!(body, "body");
    }

    #[test]
    fn words_come_as_lists_and_as_text() {
        let read = Frontmatter::parse("---\na: [x, 'y', 2]\nb: x, y\nc: '[x, \"y\"]'\nd:\n---\n");
        let words = |key| words_of(read.fields.get(key));
        assert_eq!(words("a"), ["x", "y", "2"]);
        assert_eq!(words("b"), ["x", "y"]);
        assert_eq!(words("c"), ["x", "y"]);
        assert!(words("d").is_empty() && words("e").is_empty());
    }
}
