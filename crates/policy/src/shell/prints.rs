//! What a few programs print, worked out without running them.
//!
//! Enough to see through text that is put together or decoded on its way into a shell.

use super::ansi::escape_sequence;
use super::field::{Field, HOLE};

/// The output of a program, if its arguments and its input say it.
pub(super) fn output(name: &str, arguments: &[Field], input: Option<&str>) -> Option<String> {
    const SILENT: [&str; 10] = [
        "false", "[[", "[", "test", "shift", "let", "read", "exit", "return", "break",
    ];
    if SILENT.contains(&name) {
        return Some(String::new());
    }
    const KNOWN: [&str; 20] = [
        "dirname", "basename", "echo", "printf", "cat", "tee", "base64", "xxd", "rev", "tr",
        "which", "type", ":", "true", "cd", "export", "set", "unset", "umask", "",
    ];
    if !KNOWN.contains(&name) {
        return None;
    }
    let words: Vec<&str> = arguments.iter().map(|field| field.text.as_str()).collect();
    let text = match name {
        "echo" => echo(&words),
        "printf" => printf(&words)?,
        "cat" | "tee" if words.iter().all(|word| word.starts_with('-')) => input?.to_owned(),
        "base64"
            if words
                .iter()
                .any(|word| matches!(*word, "-d" | "-D" | "--decode" | "-di")) =>
        {
            base64(input?)?
        }
        "xxd" if words.iter().any(|word| word.starts_with("-r")) => hexadecimal(input?)?,
        "rev" => input?
            .lines()
            .map(|line| line.chars().rev().collect::<String>() + "\n")
            .collect(),
        "tr" => translate(&words, input?)?,
        "dirname" => directory(words.last()?).to_owned() + "\n",
        "basename" if words.len() == 1 => {
            let path = words.last()?.trim_end_matches('/');
            path.rsplit('/').next()?.to_owned() + "\n"
        }
        "which" | "type" => (*words.last()?).to_owned(),
        ":" | "true" | "cd" | "export" | "set" | "unset" | "umask" | "" => String::new(),
        _ => return None,
    };
    (!text.contains(HOLE) || name == "echo").then_some(text)
}

fn directory(path: &str) -> &str {
    match path.trim_end_matches('/').rsplit_once('/') {
        None => ".",
        Some(("", _)) => "/",
        Some((directory, _)) => directory,
    }
}

fn echo(words: &[&str]) -> String {
    let is_flag = |word: &&&str| {
        word.strip_prefix('-')
            .is_some_and(|flags| !flags.is_empty() && flags.chars().all(|c| "neE".contains(c)))
    };
    let flags = words.iter().take_while(is_flag).count();
    let escapes = words.iter().take(flags).any(|flag| flag.contains('e'));
    let text = words.get(flags..).unwrap_or_default().join(" ");
    let text = if escapes { unescaped(&text) } else { text };
    text + "\n"
}

fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('\\') {
        plain.push_str(before);
        // In `printf` and `echo -e`, `\0` introduces an octal number.
        let behind = match behind.strip_prefix('0') {
            Some(octal) if octal.starts_with(|c: char| c.is_digit(8)) => octal,
            _ => behind,
        };
        let (value, length) = escape_sequence(behind);
        plain.extend(value);
        rest = behind.get(length..).unwrap_or_default();
    }
    plain + rest
}

fn printf(words: &[&str]) -> Option<String> {
    let words = words.strip_prefix(&["--"]).unwrap_or(words);
    let (format, values) = words.split_first()?;
    if *format == "-v" {
        return Some(String::new());
    }
    let format = unescaped(format);
    let mut values = values.iter();
    let mut text = String::new();
    loop {
        let mut rest = format.as_str();
        let mut used = false;
        while let Some((before, behind)) = rest.split_once('%') {
            text.push_str(before);
            let at = behind.find(|c: char| c.is_ascii_alphabetic() || c == '%')?;
            let kind = behind.get(at..=at)?;
            rest = behind.get(at + 1..)?;
            match kind {
                "%" => text.push('%'),
                "b" => text.push_str(&unescaped(values.next().copied().unwrap_or_default())),
                "s" | "d" | "i" | "u" => text.push_str(values.next().copied().unwrap_or_default()),
                _ => return None,
            }
            used |= kind != "%";
        }
        text.push_str(rest);
        if !used || values.len() == 0 {
            return Some(text);
        }
    }
}

fn base64(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0_u32);
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xff).ok()?);
            bits &= (1 << count) - 1;
        }
    }
    String::from_utf8(bytes).ok()
}

fn hexadecimal(text: &str) -> Option<String> {
    let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(16)).collect();
    let bytes = digits.chunks_exact(2).map(|pair| match pair {
        [high, low] => u8::try_from(high * 16 + low).ok(),
        _ => None,
    });
    String::from_utf8(bytes.collect::<Option<Vec<u8>>>()?).ok()
}

fn translate(words: &[&str], input: &str) -> Option<String> {
    match words {
        ["-d", gone] => {
            let gone = set(gone);
            Some(input.chars().filter(|c| !gone.contains(c)).collect())
        }
        [from, to] if !from.starts_with('-') => {
            let (from, to) = (set(from), set(to));
            let last = to.last().copied()?;
            let swap = |c: char| match from.iter().position(|known| *known == c) {
                Some(at) => to.get(at).copied().unwrap_or(last),
                None => c,
            };
            Some(input.chars().map(swap).collect())
        }
        _ => None,
    }
}

/// The characters of a set of `tr`, with ranges.
fn set(text: &str) -> Vec<char> {
    let text = match text {
        "[:upper:]" => "A-Z",
        "[:lower:]" => "a-z",
        other => other,
    };
    let all: Vec<char> = unescaped(text).chars().collect();
    let mut set = Vec::new();
    let mut at = 0;
    while let Some(first) = all.get(at) {
        match (all.get(at + 1), all.get(at + 2)) {
            (Some('-'), Some(last)) if first <= last => {
                set.extend((*first..=*last).take(256));
                at += 3;
            }
            _ => {
                set.push(*first);
                at += 1;
            }
        }
    }
    set
}
