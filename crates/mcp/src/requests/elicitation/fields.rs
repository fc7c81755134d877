//! The fields of a form, from the schema a server sends.

use hermes_core::{FieldKind, FieldOption, FormField, TextFormat};
use serde_json::Value as Json;

/// Most fields of a form that are asked for.
const MOST_FIELDS: usize = 30;
/// Most values of one that are offered.
const MOST_OPTIONS: usize = 200;
/// Most characters of a text nobody set a limit for.
const LONGEST: usize = 10_000;

/// The fields in the order the server has them; nothing when there are more than anybody is asked for, because
/// what is left out might be required.
pub(super) fn of(schema: &Json) -> Option<Vec<FormField>> {
    let required = schema.get("required").and_then(Json::as_array);
    let is_required =
        |name: &str| required.is_some_and(|names| names.iter().any(|one| one == name));
    let properties = schema.get("properties").and_then(Json::as_object);
    if properties.is_some_and(|properties| properties.len() > MOST_FIELDS) {
        return None;
    }
    let fields = properties.into_iter().flatten();
    let fields = fields
        .map(|(name, field)| FormField {
            name: name.clone(),
            label: words(field, "title").unwrap_or(name).to_owned(),
            about: words(field, "description").unwrap_or_default().to_owned(),
            required: is_required(name),
            kind: kind(field),
            proposed: field
                .get("default")
                .filter(|value| !value.is_null())
                .cloned(),
        })
        .collect();
    Some(fields)
}

fn kind(field: &Json) -> FieldKind {
    let options = options(field);
    match words(field, "type") {
        Some("boolean") => FieldKind::Bool,
        Some("integer") => FieldKind::Integer {
            least: whole(field, "minimum", f64::ceil),
            most: whole(field, "maximum", f64::floor),
        },
        Some("number") => FieldKind::Number {
            least: field.get("minimum").and_then(Json::as_f64),
            most: field.get("maximum").and_then(Json::as_f64),
        },
        Some("array") => {
            let options = field.get("items").map(self::options).unwrap_or_default();
            FieldKind::Several {
                fewest: count(field, "minItems").unwrap_or(0),
                most: count(field, "maxItems").unwrap_or(MOST_OPTIONS),
                options,
            }
        }
        _ if !options.is_empty() => FieldKind::Choice { options },
        _ => FieldKind::Text {
            shortest: count(field, "minLength").unwrap_or(0),
            longest: count(field, "maxLength").unwrap_or(LONGEST),
            format: match words(field, "format") {
                Some("email") => TextFormat::Email,
                Some("uri") => TextFormat::Uri,
                Some("date") => TextFormat::Date,
                Some("date-time") => TextFormat::DateTime,
                _ => TextFormat::Any,
            },
        },
    }
}

/// What a value may be: plain, with names beside it, or each with its own title.
fn options(field: &Json) -> Vec<FieldOption> {
    let list = |key: &str| {
        field
            .get(key)
            .and_then(Json::as_array)
            .into_iter()
            .flatten()
    };
    let names: Vec<&str> = list("enumNames").filter_map(Json::as_str).collect();
    let plain = list("enum").filter_map(Json::as_str).enumerate();
    let plain = plain.map(|(at, value)| (value, names.get(at).copied()));
    let titled = list("oneOf").chain(list("anyOf"));
    let titled = titled.filter_map(|one| Some((words(one, "const")?, words(one, "title"))));
    let all = plain.chain(titled).take(MOST_OPTIONS);
    all.map(|(value, label)| FieldOption {
        value: value.to_owned(),
        label: label.unwrap_or(value).to_owned(),
    })
    .collect()
}

fn words<'f>(field: &'f Json, key: &str) -> Option<&'f str> {
    field.get(key).and_then(Json::as_str)
}

fn count(field: &Json, key: &str) -> Option<usize> {
    let count = field.get(key).and_then(Json::as_u64)?;
    usize::try_from(count).ok()
}

/// A bound of whole numbers, which servers may write with a point.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a float beyond all whole numbers becomes the last of them, which bounds as much"
)]
fn whole(field: &Json, key: &str, round: fn(f64) -> f64) -> Option<i64> {
    let value = field.get(key)?;
    value
        .as_i64()
        .or_else(|| value.as_f64().map(|number| round(number) as i64))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(field: &Json, expected: FieldKind) {
        assert_eq!(kind(field), expected, "{field}");
    }

    fn option(value: &str, label: &str) -> FieldOption {
        FieldOption {
            value: value.to_owned(),
            label: label.to_owned(),
        }
    }

    #[test]
    fn every_kind_of_field_is_known() {
        let text = |format, shortest, longest| FieldKind::Text {
            shortest,
            longest,
            format,
        };
        check(
            &json!({"type": "string"}),
            text(TextFormat::Any, 0, LONGEST),
        );
        let mail = json!({"type": "string", "format": "email", "minLength": 3, "maxLength": 9});
        check(&mail, text(TextFormat::Email, 3, 9));
        check(&json!({"type": "boolean"}), FieldKind::Bool);
        let (least, most) = (Some(1), Some(9));
        let integer = json!({"type": "integer", "minimum": 0.5, "maximum": 9});
        check(&integer, FieldKind::Integer { least, most });
        let (least, most) = (Some(0.5), None);
        let number = json!({"type": "number", "minimum": 0.5});
        check(&number, FieldKind::Number { least, most });
        let options = vec![option("a", "A"), option("b", "b")];
        let titled = json!({"oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]});
        check(
            &titled,
            FieldKind::Choice {
                options: options.clone(),
            },
        );
        let named = json!({"type": "string", "enum": ["a", "b"], "enumNames": ["A"]});
        check(
            &named,
            FieldKind::Choice {
                options: options.clone(),
            },
        );
        let items = json!({"enum": ["a", "b"], "enumNames": ["A"]});
        let several = json!({"type": "array", "items": items, "maxItems": 2});
        let (fewest, most) = (0, 2);
        check(
            &several,
            FieldKind::Several {
                options,
                fewest,
                most,
            },
        );
    }

    #[test]
    fn what_a_server_says_about_a_field_is_kept_and_too_many_fields_are_no_form() {
        let schema = json!({
            "properties": {"count": {"type": "integer", "title": "How many", "description": "of them", "default": 2}},
            "required": ["count"],
        });
        let fields = of(&schema).unwrap_or_default();
        let field = fields
            .first()
            .map(|field| (&*field.label, &*field.about, field.required));
        assert_eq!(field, Some(("How many", "of them", true)));
        assert_eq!(
            fields.first().map(FormField::proposed_text).as_deref(),
            Some("2")
        );
        let many = |count: usize| -> serde_json::Map<String, Json> {
            let fields = (0..count).map(|number| (format!("f{number}"), json!({})));
            fields.collect()
        };
        let count = |count| of(&json!({ "properties": many(count) })).map(|fields| fields.len());
        assert_eq!(count(MOST_FIELDS), Some(MOST_FIELDS));
        assert_eq!(count(MOST_FIELDS + 1), None);
    }
}
