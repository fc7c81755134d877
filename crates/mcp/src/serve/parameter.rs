//! What tools are given: one table for the schema and for reading, which is lenient with numbers.

use rmcp::model::JsonObject;
use serde_json::{Value as Json, json};

/// Longest text that is taken for a key or a name.
const MOST_TEXT: usize = 500;

/// One parameter of a tool.
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) kind: Kind,
}

/// What a parameter holds.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// A text that must be there.
    Required,
    /// One of these texts; it must be there.
    OneOf(&'static [&'static str]),
    /// A text that may be left out.
    Text,
    /// A whole number; anything else counts as the usual one, and what is out of range as the nearest.
    Whole { least: u64, usual: u64, most: u64 },
}

/// The schema of some parameters.
pub(super) fn schema(parameters: &[Parameter]) -> JsonObject {
    let mut properties = JsonObject::new();
    let mut required = Vec::new();
    for parameter in parameters {
        let about = parameter.about;
        let property = match parameter.kind {
            Kind::Required => {
                required.push(parameter.name);
                json!({ "type": "string", "description": about })
            }
            Kind::OneOf(words) => {
                required.push(parameter.name);
                json!({ "type": "string", "description": about, "enum": words })
            }
            Kind::Text => json!({ "type": "string", "description": about }),
            Kind::Whole { least, usual, most } => json!({
                "type": "integer", "description": about,
                "minimum": least, "maximum": most, "default": usual,
            }),
        };
        properties.insert(parameter.name.to_owned(), property);
    }
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Json::Object(properties));
    schema.insert("required".to_owned(), json!(required));
    schema
}

/// What a call brought along.
pub(super) struct Arguments(pub(super) JsonObject);

impl Arguments {
    /// A text, unless it is missing or empty.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        let text = match self.0.get(name)? {
            Json::String(text) => text.trim().to_owned(),
            Json::Number(number) => number.to_string(),
            _ => return None,
        };
        (!text.is_empty()).then(|| text.chars().take(MOST_TEXT).collect())
    }

    /// A text without which nothing can be done.
    pub(super) fn required(&self, name: &str) -> Result<String, String> {
        self.text(name).ok_or_else(|| format!("{name} is missing"))
    }

    /// A number of the table.
    pub(super) fn whole(&self, name: &str, parameters: &[Parameter]) -> u64 {
        let kind = parameters.iter().find(|parameter| parameter.name == name);
        let Some(Kind::Whole { least, usual, most }) = kind.map(|parameter| parameter.kind) else {
            return 0;
        };
        let given = match self.0.get(name) {
            Some(Json::Number(number)) => number.as_f64(),
            Some(Json::String(text)) => text.trim().parse().ok(),
            _ => None,
        };
        match given {
            // Saturates, which the range then cuts.
            Some(number) if number.is_finite() => (number as u64).clamp(least, most),
            _ => usual,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[Parameter] = &[Parameter {
        name: "limit",
        about: "",
        kind: Kind::Whole {
            least: 1,
            usual: 50,
            most: 200,
        },
    }];

    // MCP-79
    #[test]
    fn bad_numbers_are_made_good() {
        let read = |given: Json| {
            let arguments = Arguments(JsonObject::from_iter([("limit".to_owned(), given)]));
            arguments.whole("limit", TABLE)
        };
        assert_eq!(read(json!(7)), 7);
        assert_eq!(read(json!("7")), 7);
        assert_eq!(read(json!(7.9)), 7);
        assert_eq!(read(json!(0)), 1);
        assert_eq!(read(json!(-3)), 1);
        assert_eq!(read(json!(1e30)), 200);
        for nonsense in [json!(null), json!("many"), json!([]), json!(true)] {
            assert_eq!(read(nonsense), 50);
        }
        assert_eq!(Arguments(JsonObject::new()).whole("limit", TABLE), 50);
    }
}
