//! What `${…}` makes of the values of variables.

use super::field::HOLE;
use super::scope::{Kind, MAX_VALUE, Scope};
use super::tree::Parameter;
use crate::wildcard;

/// The arguments of a script or function.
pub(super) const ARGUMENTS: &str = "@";

/// The name a value is kept under: arguments are one list.
pub(super) fn kept_under(name: &str) -> &str {
    let number = name.bytes().all(|byte| byte.is_ascii_digit());
    match name {
        "*" => ARGUMENTS,
        "0" | "" => name,
        _ if number => ARGUMENTS,
        _ => name,
    }
}

/// Whether all elements are meant, not only the first.
pub(super) fn is_whole(name: &str, index: Option<&str>) -> bool {
    matches!(name, "@" | "*") || matches!(index, Some("@" | "*"))
}

/// The elements that are meant, where they are known.
pub(super) fn known(scope: &Scope, name: &str, index: Option<&str>) -> Option<Vec<String>> {
    let kept = kept_under(name);
    let values = scope.get(kept)?;
    if scope.kind(kept) == Kind::Reference {
        return None;
    }
    let number = match index {
        _ if is_whole(name, index) => return Some(values.to_vec()),
        Some(index) => index.parse::<usize>().ok()?,
        None if kept == ARGUMENTS => name.parse::<usize>().ok()?.checked_sub(1)?,
        None => 0,
    };
    match values.get(number) {
        Some(value) => Some(vec![value.clone()]),
        // An element that is unknown may stand for several.
        None if values.iter().any(|value| value.contains(HOLE)) => None,
        None => Some(Vec::new()),
    }
}

/// What an expansion gives, with the elements it is about.
pub(super) fn value(
    known: Option<Vec<String>>,
    parameter: &Parameter,
    whole: bool,
    operand: Option<&str>,
) -> Vec<String> {
    let unknown = || vec![HOLE.to_string()];
    let Some(operation) = &parameter.operation else {
        return known.unwrap_or_else(unknown);
    };
    let operand = operand.unwrap_or_default();
    let filled = |values: &Vec<String>| values.iter().any(|value| !value.is_empty());
    match operation.operator {
        // A variable we do not know may be set outside; what is written here is what can be judged.
        ":-" | ":=" => known
            .filter(filled)
            .unwrap_or_else(|| vec![operand.to_owned()]),
        "-" | "=" => known
            .filter(|values| !values.is_empty())
            .unwrap_or_else(|| vec![operand.to_owned()]),
        ":+" if known.as_ref().is_some_and(|values| !filled(values)) => Vec::new(),
        "+" if known.as_ref().is_some_and(Vec::is_empty) => Vec::new(),
        ":+" | "+" => vec![operand.to_owned()],
        ":?" | "?" => known.unwrap_or_else(unknown),
        ":" if whole => known
            .and_then(|values| slice(values, &parameter.name, operand))
            .unwrap_or_else(unknown),
        operator => match known {
            Some(values) => values
                .iter()
                .map(|value| changed(value, operator, operand))
                .collect(),
            None => unknown(),
        },
    }
}

/// Elements from one on, at most so many.
fn slice(mut values: Vec<String>, name: &str, operand: &str) -> Option<Vec<String>> {
    let (offset, length) = match operand.split_once(':') {
        Some((offset, length)) => (offset, length.trim().parse::<usize>().ok()?),
        None => (operand, usize::MAX),
    };
    let offset = offset.trim().parse::<usize>().ok()?;
    if values.iter().any(|value| value.contains(HOLE)) {
        return None;
    }
    if matches!(name, "@" | "*") {
        // The first argument is number one; before it stands the shell itself.
        values.insert(0, "bash".to_owned());
    }
    Some(values.into_iter().skip(offset).take(length).collect())
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
