//! Settings that differ from the defaults, in a form that may be shown to strangers.

use hermes_config::{Config, KeyPath, Layer, Loaded, Node, Setting, Shape, Value, names_secret};
use hermes_secrets::{Redactor, Scope};

/// Longer texts are prompts and notes: private, and of no use in a report.
const LONGEST: usize = 80;

/// Keys and values in the order of the file.
///
/// Values are shown where the key says what they are. Maps and lists of the user's own may hold
/// anything, headers and arguments with keys in them included, so only their size is told.
pub(super) fn overrides(loaded: &Loaded, redactor: &Redactor) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut walk = Walk {
        redactor,
        found: &mut found,
    };
    walk.node(&loaded.tree, &Config::shape(), None, &KeyPath::root());
    found
}

struct Walk<'a> {
    redactor: &'a Redactor,
    found: &'a mut Vec<(String, String)>,
}

impl Walk<'_> {
    fn node(&mut self, node: &Node, shape: &Shape, default: Option<&Value>, path: &KeyPath) {
        if let (Shape::Section(section), Value::Map(map)) = (bare(shape), &node.value) {
            for (key, child) in map.iter() {
                let path = path.child(key);
                match section.fields.iter().find(|field| field.key == key) {
                    Some(field) => self.node(child, &field.shape, Some(&field.default), &path),
                    None => self.unknown(child, &path),
                }
            }
            return;
        }
        let is_default = default.is_some_and(|value| value.to_json() == node.value.to_json());
        if node.origin.layer == Layer::Default || is_default {
            return;
        }
        let value = self.show(&node.value, bare(shape), path);
        self.found.push((path.to_string(), value));
    }

    /// Of a key nobody knows, only that it is there.
    fn unknown(&mut self, node: &Node, path: &KeyPath) {
        if node.origin.layer != Layer::Default {
            self.found
                .push((path.to_string(), "(unknown key)".to_owned()));
        }
    }

    fn show(&self, value: &Value, shape: &Shape, path: &KeyPath) -> String {
        let is_secret = *shape == Shape::Secret || path.last().is_some_and(names_secret);
        match value {
            Value::Null => "null".to_owned(),
            Value::Text(text) if text.is_empty() => "\"\"".to_owned(),
            _ if is_secret => "***".to_owned(),
            Value::Text(text) if text.chars().count() > LONGEST => {
                format!("({} characters)", text.chars().count())
            }
            Value::Text(text) => self.redactor.redact_in(Scope::Log, text).into_owned(),
            Value::Bool(_) | Value::Int(_) | Value::Float(_) => value.to_json().to_string(),
            Value::List(items) => counted(items.len(), "item", "items"),
            Value::Map(map) => counted(map.len(), "entry", "entries"),
        }
    }
}

fn counted(number: usize, one: &str, several: &str) -> String {
    let noun = if number == 1 { one } else { several };
    format!("({number} {noun})")
}

/// The shape of a value that is there.
fn bare(shape: &Shape) -> &Shape {
    match shape {
        Shape::Optional(inner) => bare(inner),
        other => other,
    }
}
