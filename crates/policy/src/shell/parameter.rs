//! The values of variables, and what `${…}` makes of them.

use std::collections::HashMap;
use std::rc::Rc;

use super::field::HOLE;
use super::tree::Parameter;
use crate::wildcard;

/// The longest value that is remembered.
const MAX_VALUE: usize = 65_536;

/// The most elements of one variable that are remembered.
const MAX_ELEMENTS: usize = 1_024;

/// Values that are known, as lists: a plain variable has one element.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope {
    /// Shared until changed: every substitution starts from a copy.
    values: Rc<HashMap<String, Vec<String>>>,
}

impl Scope {
    pub(super) fn set(&mut self, name: &str, mut values: Vec<String>) {
        values.truncate(MAX_ELEMENTS);
        for value in &mut values {
            if value.len() > MAX_VALUE {
                *value = HOLE.to_string();
            }
        }
        Rc::make_mut(&mut self.values).insert(name.to_owned(), values);
    }

    pub(super) fn append(&mut self, name: &str, value: &str, as_element: bool) {
        let mut values = self.values.get(name).cloned().unwrap_or_default();
        match values.first_mut().filter(|_| !as_element) {
            Some(first) => first.push_str(value),
            None => values.push(value.to_owned()),
        }
        self.set(name, values);
    }

    pub(super) fn get(&self, name: &str) -> Option<&[String]> {
        self.values.get(name).map(Vec::as_slice)
    }
}

/// What an expansion gives.
pub(super) fn value(scope: &Scope, parameter: &Parameter, operand: Option<&str>) -> Vec<String> {
    let unknown = || vec![HOLE.to_string()];
    let mut name = parameter.name.as_str();
    if parameter.indirect {
        match scope.get(name).and_then(<[String]>::first) {
            Some(other) => name = other,
            None => return unknown(),
        }
    }
    let known = scope
        .get(name)
        .and_then(|values| match parameter.index.as_deref() {
            None => Some(values),
            Some("@" | "*") => Some(values),
            Some(index) => index
                .parse::<usize>()
                .ok()
                .and_then(|index| values.get(index))
                .map(std::slice::from_ref),
        });
    let whole = parameter.index.is_some() || matches!(name, "@" | "*");
    let known = known.map(|values| {
        if whole {
            values
        } else {
            values.get(..1).unwrap_or(values)
        }
    });
    let Some(operation) = &parameter.operation else {
        return known.map_or_else(unknown, <[String]>::to_vec);
    };
    let operand = operand.unwrap_or_default();
    match operation.operator {
        ":-" | "-" | ":=" | "=" => match known {
            Some(values) if values.iter().any(|value| !value.is_empty()) => values.to_vec(),
            // The variable may be set outside; what is written here is what can be judged.
            _ => vec![operand.to_owned()],
        },
        ":+" | "+" => vec![operand.to_owned()],
        ":?" | "?" => known.map_or_else(unknown, <[String]>::to_vec),
        operator => match known {
            Some(values) => values
                .iter()
                .map(|value| changed(value, operator, operand))
                .collect(),
            None => unknown(),
        },
    }
}

fn changed(value: &str, operator: &str, operand: &str) -> String {
    let pattern = operand.contains(['*', '?', '[', HOLE]);
    let result = match operator {
        ":" => substring(value, operand),
        "#" | "##" | "%" | "%%" if pattern => cut(value, operator, operand),
        "#" | "##" if !pattern => Some(value.strip_prefix(operand).unwrap_or(value).to_owned()),
        "%" | "%%" if !pattern => Some(value.strip_suffix(operand).unwrap_or(value).to_owned()),
        "/" | "//" if !pattern => {
            let (from, to) = operand.split_once('/').unwrap_or((operand, ""));
            match operator {
                _ if from.is_empty() => Some(value.to_owned()),
                "/" => Some(value.replacen(from, to, 1)),
                _ => Some(value.replace(from, to)),
            }
        }
        "^" | "^^" => Some(value.to_uppercase()),
        "," | ",," => Some(value.to_lowercase()),
        _ => None,
    };
    result
        .filter(|text| text.len() <= MAX_VALUE)
        .unwrap_or_else(|| HOLE.to_string())
}

/// What is left of a value without the part at one end that a pattern holds for.
fn cut(value: &str, operator: &str, pattern: &str) -> Option<String> {
    /// Every end of the value is tried.
    const MAX_CUT: usize = 1_024;
    if value.len() > MAX_CUT || pattern.contains(HOLE) {
        return None;
    }
    let places = (0..=value.len()).filter(|at| value.is_char_boundary(*at));
    let from_start = operator.starts_with('#');
    let held = places.filter(|at| {
        let (before, behind) = value.split_at(*at);
        wildcard::matches(pattern, if from_start { before } else { behind })
    });
    // One sign takes away as little as it can, two as much.
    let least_first = from_start == (operator.len() == 1);
    let place = if least_first { held.min() } else { held.max() };
    Some(match place {
        Some(at) if from_start => value.get(at..)?.to_owned(),
        Some(at) => value.get(..at)?.to_owned(),
        None => value.to_owned(),
    })
}

fn substring(value: &str, operand: &str) -> Option<String> {
    let (offset, length) = match operand.split_once(':') {
        Some((offset, length)) => (offset, Some(length.trim().parse::<usize>().ok()?)),
        None => (operand, None),
    };
    let offset = offset.trim().parse::<usize>().ok()?;
    let rest = value.chars().skip(offset);
    Some(rest.take(length.unwrap_or(usize::MAX)).collect())
}
