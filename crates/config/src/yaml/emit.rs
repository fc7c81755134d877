//! Writing values as YAML that reads back as the same values.

use super::scalar;
use crate::value::{Value, float_text};

/// A whole value in block style, ending in a newline.
pub fn to_yaml(value: &Value) -> String {
    let mut out = String::new();
    if is_multi_line(value) {
        block(value, 0, 2, "\n", &mut out);
    } else {
        out.push_str(&inline(value, Context::Block));
        out.push('\n');
    }
    out
}

/// What surrounds a value on its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    /// Nothing: the rest of the line is its own.
    Block,
    /// Brackets, in which commas and brackets mean something.
    Flow,
}

/// A value on one line: a scalar or a flow collection.
pub(super) fn inline(value: &Value, context: Context) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => float_text(*number),
        Value::Text(text) => quote(text, context),
        Value::List(items) => {
            let items: Vec<_> = items
                .iter()
                .map(|item| inline(&item.value, Context::Flow))
                .collect();
            format!("[{}]", items.join(", "))
        }
        Value::Map(map) => {
            let entries: Vec<_> = map
                .iter()
                .map(|(key, node)| {
                    format!(
                        "{}: {}",
                        quote(key, Context::Flow),
                        inline(&node.value, Context::Flow)
                    )
                })
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

/// `key: value` lines at an indentation, each ending in `newline`.
pub(super) fn entry(key: &str, value: &Value, indent: usize, step: usize, newline: &str) -> String {
    let mut out = format!("{:indent$}{}:", "", quote(key, Context::Flow));
    if is_multi_line(value) {
        out.push_str(newline);
        out.push_str(&below(value, indent, step, newline));
    } else {
        out.push(' ');
        out.push_str(&inline(value, Context::Block));
        out.push_str(newline);
    }
    out
}

/// The lines of a value that stand below a key at `indent`.
pub(super) fn below(value: &Value, indent: usize, step: usize, newline: &str) -> String {
    // Lists stand at the indentation of their key, as the reference writes them.
    let indent = match value {
        Value::Map(_) => indent + step,
        _ => indent,
    };
    let mut out = String::new();
    block(value, indent, step, newline, &mut out);
    out
}

fn is_multi_line(value: &Value) -> bool {
    match value {
        Value::Map(map) => !map.is_empty(),
        Value::List(items) => !items.is_empty(),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) => false,
    }
}

fn block(value: &Value, indent: usize, step: usize, newline: &str, out: &mut String) {
    match value {
        Value::Map(map) => {
            for (key, node) in map.iter() {
                out.push_str(&entry(key, &node.value, indent, step, newline));
            }
        }
        Value::List(items) => {
            for item in items {
                out.push_str(&format!("{:indent$}- ", ""));
                match &item.value {
                    nested @ Value::Map(map) if !map.is_empty() => {
                        let mut lines = String::new();
                        block(nested, indent + 2, step, newline, &mut lines);
                        out.push_str(lines.trim_start_matches(' '));
                    }
                    other => {
                        out.push_str(&inline(other, Context::Block));
                        out.push_str(newline);
                    }
                }
            }
        }
        scalar => {
            out.push_str(&format!(
                "{:indent$}{}{newline}",
                "",
                inline(scalar, Context::Block)
            ));
        }
    }
}

/// Text as a scalar: plain when that reads back as the same text, double-quoted otherwise.
pub(super) fn quote(text: &str, context: Context) -> String {
    if is_plain(text, context) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if (c as u32) < 0x20 || matches!(c as u32, 0x7f..=0x9f) => {
                out.push_str(&format!("\\x{:02x}", c as u32));
            }
            c if matches!(c as u32, 0x2028 | 0x2029 | 0xfeff) => {
                out.push_str(&format!("\\u{:04x}", c as u32));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn is_plain(text: &str, context: Context) -> bool {
    let Some(first) = text.chars().next() else {
        return false;
    };
    let awkward_start = matches!(
        first,
        '-' | '?'
            | ':'
            | ','
            | '['
            | ']'
            | '{'
            | '}'
            | '#'
            | '&'
            | '*'
            | '!'
            | '|'
            | '>'
            | '\''
            | '"'
            | '%'
            | '@'
            | '`'
            | '~'
            | '='
            | '<'
            | ' '
    );
    let awkward_inside = text.contains(|c: char| {
        c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{85}')
    }) || text.contains(": ")
        || text.contains(" #")
        || text.ends_with([':', ' ']);
    let breaks_flow = context == Context::Flow && text.contains([',', '[', ']', '{', '}']);
    // YAML 1.1 readers see dates and other forms where we see text: when in doubt, quote.
    let looks_typed = first.is_ascii_digit() && text.contains(['-', ':'])
        || matches!(text, "y" | "Y" | "n" | "N");
    !awkward_start
        && !awkward_inside
        && !breaks_flow
        && !looks_typed
        && matches!(scalar::resolve(text), Value::Text(_))
}
