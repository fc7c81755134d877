//! The JSON Schema, for editors that complete and check `config.yaml`.

use serde_json::{Map, Value as Json, json};

use super::own_default;
use crate::root::Config;
use crate::setting::Setting;
use crate::shape::{Choice, Field, Section, Shape};
use crate::value::Value;

/// The JSON Schema (draft 2020-12) of `config.yaml`.
///
/// It asks for the plain form of every value, where reading is more generous. A section whose lines
/// are all commented out is null, and allowed.
pub fn json_schema() -> Json {
    let mut schema = Schema::default();
    let root = schema.shape(&Config::shape());
    let mut document = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Hermes configuration",
    });
    if let Json::Object(document) = &mut document {
        if let Json::Object(root) = root {
            document.extend(root);
        }
        schema.definitions.sort_keys();
        document.insert("$defs".to_owned(), Json::Object(schema.definitions));
    }
    document
}

/// The definitions of the sections met so far.
#[derive(Default)]
struct Schema {
    definitions: Map<String, Json>,
}

impl Schema {
    fn shape(&mut self, shape: &Shape) -> Json {
        match shape {
            Shape::Bool => json!({ "type": "boolean" }),
            Shape::Int { least, most } => number("integer", *least as f64, *most as f64),
            Shape::Float { least, most } => number("number", *least, *most),
            // An id made of digits need not be quoted.
            Shape::Text => json!({ "type": ["string", "number"] }),
            Shape::Secret => json!({ "type": "string", "format": "password" }),
            Shape::Choice(choices) => words(choices),
            Shape::Any => json!({}),
            Shape::Optional(inner) => {
                json!({ "anyOf": [self.shape(inner), { "type": "null" }] })
            }
            Shape::List(inner) => json!({ "type": ["array", "null"], "items": self.shape(inner) }),
            Shape::Map(inner) => {
                json!({ "type": ["object", "null"], "additionalProperties": self.shape(inner) })
            }
            Shape::Section(section) => self.section(section),
            Shape::OneOf(shapes) => {
                let forms: Vec<_> = shapes.iter().map(|shape| self.shape(shape)).collect();
                json!({ "anyOf": forms })
            }
        }
    }

    fn section(&mut self, section: &Section) -> Json {
        if !self.definitions.contains_key(section.name) {
            // The place is taken first, so that a section inside itself would end here.
            self.definitions.insert(section.name.to_owned(), Json::Null);
            let properties: Map<String, Json> = section
                .fields
                .iter()
                .map(|field| (field.key.to_owned(), self.field(field)))
                .collect();
            let others = match section.rest.as_deref() {
                None => Json::Bool(false),
                Some(Shape::Any) => Json::Bool(true),
                Some(rest) => self.shape(rest),
            };
            let definition = json!({
                "description": section.about.trim(),
                "type": ["object", "null"],
                "properties": properties,
                "additionalProperties": others,
            });
            self.definitions.insert(section.name.to_owned(), definition);
        }
        json!({ "$ref": format!("#/$defs/{}", section.name) })
    }

    fn field(&mut self, field: &Field) -> Json {
        let mut property = Map::new();
        let mut about = field.about.trim().to_owned();
        if let Some(why) = field.no_effect {
            about += &format!(" Has no effect {why}.");
        }
        property.insert("description".to_owned(), json!(about));
        if let Json::Object(shape) = self.shape(&field.shape) {
            property.extend(shape);
        }
        let default = own_default(field);
        if default != Value::Null {
            property.insert("default".to_owned(), default.to_json());
        }
        Json::Object(property)
    }
}

fn number(kind: &str, least: f64, most: f64) -> Json {
    let mut number = Map::new();
    number.insert("type".to_owned(), json!(kind));
    let bounds = [("minimum", least), ("maximum", most)];
    for (name, bound) in bounds.into_iter().filter(|(_, bound)| bound.abs() < 1e15) {
        number.insert(name.to_owned(), bound.to_value().to_json());
    }
    Json::Object(number)
}

/// A word that YAML reads as a boolean is allowed as one.
fn words(choices: &[Choice]) -> Json {
    let mut allowed: Vec<Json> = choices.iter().map(|choice| json!(choice.word)).collect();
    let has = |word: &str| choices.iter().any(|choice| choice.word == word);
    allowed.extend(has("on").then_some(Json::Bool(true)));
    allowed.extend(has("off").then_some(Json::Bool(false)));
    json!({ "enum": allowed })
}
