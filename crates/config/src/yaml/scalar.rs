//! How a plain scalar is understood.
//!
//! The files were written by a YAML 1.1 emitter, so the words and number forms of 1.1 count:
//! `off` is false, `0755` is octal, `1_000` is a thousand, `12:30` is in base sixty, `1e3` is text.

use crate::value::Value;

pub(super) fn resolve(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => {
            return Value::Bool(true);
        }
        "false" | "False" | "FALSE" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => {
            return Value::Bool(false);
        }
        _ => {}
    }
    // Only these can start a number; most scalars are words.
    if !text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.')) {
        return Value::Text(text.to_owned());
    }
    integer(text)
        .map(Value::Int)
        .or_else(|| float(text).map(Value::Float))
        .unwrap_or_else(|| Value::Text(text.to_owned()))
}

/// A plain or quoted scalar with a tag of the YAML 1.1 core, `None` when the text does not fit the tag.
pub(super) fn tagged(suffix: &str, text: &str) -> Option<Value> {
    match suffix {
        "null" => Some(Value::Null),
        "bool" => match resolve(&text.to_lowercase()) {
            flag @ Value::Bool(_) => Some(flag),
            _ => None,
        },
        "int" => integer(text).map(Value::Int),
        "float" => float(text).or_else(|| text.parse().ok()).map(Value::Float),
        "str" | "binary" | "timestamp" => Some(Value::Text(text.to_owned())),
        _ => None,
    }
}

fn split_sign(text: &str) -> (i64, &str) {
    if let Some(rest) = text.strip_prefix('-') {
        (-1, rest)
    } else {
        (1, text.strip_prefix('+').unwrap_or(text))
    }
}

/// Digits of a radix, with `_` anywhere between and behind them.
fn radix_digits(text: &str, radix: u32) -> Option<i64> {
    let fits = text.chars().all(|c| c == '_' || c.is_digit(radix));
    if !fits {
        return None;
    }
    i64::from_str_radix(&text.replace('_', ""), radix).ok()
}

fn integer(text: &str) -> Option<i64> {
    let (sign, body) = split_sign(text);
    let magnitude = if body == "0" {
        0
    } else if let Some(binary) = body.strip_prefix("0b") {
        radix_digits(binary, 2)?
    } else if let Some(hex) = body.strip_prefix("0x") {
        radix_digits(hex, 16)?
    } else if let Some(octal) = body.strip_prefix('0') {
        radix_digits(octal, 8).or_else(|| octal.chars().all(|c| c == '_').then_some(0))?
    } else if !body.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    } else if let Some((first, rest)) = body.split_once(':') {
        sexagesimal(radix_digits(first, 10)?, rest)?
    } else {
        radix_digits(body, 10)?
    };
    magnitude.checked_mul(sign)
}

/// Base sixty: the number so far and the parts behind its first colon.
fn sexagesimal(first: i64, rest: &str) -> Option<i64> {
    rest.split(':').try_fold(first, |total, part| {
        let plausible = matches!(part.len(), 1 | 2) && part.bytes().all(|b| b.is_ascii_digit());
        let minor: i64 = part.parse().ok().filter(|minor| plausible && *minor < 60)?;
        total.checked_mul(60)?.checked_add(minor)
    })
}

fn float(text: &str) -> Option<f64> {
    let (sign, body) = split_sign(text);
    let sign = if sign < 0 { -1.0 } else { 1.0 };
    match body {
        ".inf" | ".Inf" | ".INF" => return Some(sign * f64::INFINITY),
        ".nan" | ".NaN" | ".NAN" if body == text => return Some(f64::NAN),
        _ => {}
    }
    let (mantissa, exponent) = match body.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (body, None),
    };
    let (whole, fraction) = mantissa.split_once('.')?;
    if !fraction.bytes().all(|b| b.is_ascii_digit() || b == b'_') {
        return None;
    }
    let power = match exponent.map(|exponent| (exponent, split_sign(exponent).1)) {
        None => String::new(),
        Some((signed, digits))
            if signed != digits
                && !digits.is_empty()
                && digits.bytes().all(|b| b.is_ascii_digit()) =>
        {
            format!("e{signed}")
        }
        Some(_) => return None,
    };
    let fraction_digits = fraction.replace('_', "");
    if let Some((first, rest)) = whole.split_once(':') {
        let leads = first.starts_with(|c: char| c.is_ascii_digit()) && exponent.is_none();
        let total = sexagesimal(radix_digits(first, 10).filter(|_| leads)?, rest)?;
        let part: f64 = format!("0.{fraction_digits}0").parse().ok()?;
        return Some(sign * (total as f64 + part));
    }
    let leads = if whole.is_empty() {
        body == text && fraction.starts_with(|c: char| c.is_ascii_digit())
    } else {
        whole.starts_with(|c: char| c.is_ascii_digit())
            && whole.bytes().all(|b| b.is_ascii_digit() || b == b'_')
    };
    if !leads {
        return None;
    }
    let whole_digits = whole.replace('_', "");
    format!("0{whole_digits}.{fraction_digits}0{power}")
        .parse::<f64>()
        .ok()
        .map(|number| sign * number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Value) {
        assert_eq!(resolve(text), expected, "{text}");
    }

    #[test]
    fn yaml_1_1_words_and_numbers() {
        check("off", Value::Bool(false));
        check("Yes", Value::Bool(true));
        check("y", Value::Text("y".into()));
        check("~", Value::Null);
        check("017", Value::Int(15));
        check("0o17", Value::Text("0o17".into()));
        check("1_000", Value::Int(1000));
        check("0x1F", Value::Int(31));
        check("12:30:45", Value::Int(45045));
        check("-3", Value::Int(-3));
        check("1.5", Value::Float(1.5));
        check(".5", Value::Float(0.5));
        check("1e3", Value::Text("1e3".into()));
        check("1.0e+3", Value::Float(1000.0));
        check("-.inf", Value::Float(f64::NEG_INFINITY));
        check("2024-01-01", Value::Text("2024-01-01".into()));
        check("-", Value::Text("-".into()));
        check("-.5", Value::Text("-.5".into()));
        check("1:30.5", Value::Float(90.5));
        check("8080:80", Value::Text("8080:80".into()));
        check("1.2.3", Value::Text("1.2.3".into()));
        check("0x-1", Value::Text("0x-1".into()));
        check("00", Value::Int(0));
        check("089", Value::Text("089".into()));
        check(
            "99999999999999999999",
            Value::Text("99999999999999999999".into()),
        );
    }
}
