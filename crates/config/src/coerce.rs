//! From the text on a command line or in a variable to a value of the shape a setting has.

use crate::shape::Shape;
use crate::value::{Layer, Node, Value};
use crate::yaml;

/// A text that cannot be a value of the shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unfit {
    pub(crate) expected: String,
}

/// Reads `raw` as the shape asks; ranges and words are checked later, by the type itself.
pub(crate) fn coerce(shape: &Shape, raw: &str) -> Result<Value, Unfit> {
    let word = raw.trim();
    let unfit = || Unfit {
        expected: shape.expected(),
    };
    match shape {
        Shape::Bool => bool_of(word).map(Value::Bool).ok_or_else(unfit),
        Shape::Int { .. } => word.parse().map(Value::Int).map_err(|_| unfit()),
        Shape::Float { .. } => match (word.parse::<i64>(), word.parse::<f64>()) {
            (Ok(whole), _) => Ok(Value::Int(whole)),
            (Err(_), Ok(number)) if number.is_finite() => Ok(Value::Float(number)),
            (Err(_), _) => Err(unfit()),
        },
        Shape::Text | Shape::Secret => Ok(Value::Text(raw.to_owned())),
        Shape::Choice(choices) => {
            let known = choices
                .iter()
                .find(|choice| choice.word.eq_ignore_ascii_case(word));
            Ok(Value::Text(
                known.map_or(word, |choice| choice.word).to_owned(),
            ))
        }
        Shape::Any => Ok(any(raw)),
        Shape::Optional(_) if word == "null" || word == "~" => Ok(Value::Null),
        Shape::Optional(inner) => coerce(inner, raw),
        Shape::List(inner) => list(inner, raw).ok_or_else(unfit),
        Shape::Map(_) | Shape::Section(_) => match flow(word) {
            Some(map @ Value::Map(_)) => Ok(map),
            Some(_) | None => Err(unfit()),
        },
        Shape::OneOf(shapes) => {
            // Text takes anything, so it comes last unless nothing else is asked for.
            let mut ordered: Vec<_> = shapes.iter().collect();
            ordered.sort_by_key(|shape| matches!(shape, Shape::Text | Shape::Secret | Shape::Any));
            let brackets = word.starts_with(['[', '{']);
            ordered
                .into_iter()
                .filter(|shape| brackets || !matches!(shape, Shape::List(_)))
                .find_map(|shape| coerce(shape, raw).ok())
                .ok_or_else(unfit)
        }
    }
}

/// A value nobody has described: YAML's own reading, for collections too.
pub(crate) fn any(raw: &str) -> Value {
    let word = raw.trim();
    if let Some(value) = flow(word) {
        return value;
    }
    if raw.contains([
        '\n', '#', ':', '&', '*', '!', '|', '>', '%', '@', '`', '"', '\'',
    ]) {
        return Value::Text(raw.to_owned());
    }
    match yaml::parse(raw, Layer::Default).map(|node| node.value) {
        Ok(value @ (Value::Bool(_) | Value::Int(_) | Value::Float(_))) => value,
        Ok(Value::Null) if !word.is_empty() => Value::Null,
        Ok(_) | Err(_) => Value::Text(raw.to_owned()),
    }
}

fn bool_of(word: &str) -> Option<bool> {
    match word.to_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}

/// JSON or YAML in brackets.
fn flow(word: &str) -> Option<Value> {
    if !word.starts_with(['[', '{']) {
        return None;
    }
    match yaml::parse(word, Layer::Default).map(|node| node.value) {
        Ok(value @ (Value::List(_) | Value::Map(_))) => Some(value),
        Ok(_) | Err(_) => None,
    }
}

/// `[a, b]`, or `a,b`.
fn list(inner: &Shape, raw: &str) -> Option<Value> {
    let word = raw.trim();
    if word.starts_with(['[', '{']) {
        return match flow(word)? {
            list @ Value::List(_) => Some(list),
            map => Some(Value::List(vec![map.into()])),
        };
    }
    let items: Option<Vec<Node>> = word
        .split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty())
        .map(|item| coerce(inner, item).ok().map(Node::from))
        .collect();
    items.map(Value::List)
}
