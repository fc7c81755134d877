//! Which assignments a text holds, and where.

use std::ops::Range;

/// One logical line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    /// Nothing, or a comment.
    Blank {
        line: u32,
    },
    Malformed {
        line: u32,
    },
    OpenQuote {
        line: u32,
        name: String,
    },
    Assignment(Assignment),
}

/// `NAME=value` with the places of its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Assignment {
    pub(super) line: u32,
    pub(super) name: String,
    /// The value without quotes and escapes.
    pub(super) value: String,
    pub(super) quote: Quote,
    /// The value as written, quotes included.
    pub(super) written: Range<usize>,
    /// Everything up to and including the end of its last line.
    pub(super) span: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quote {
    None,
    Single,
    Double,
}

impl Item {
    pub(super) fn line(&self) -> u32 {
        match self {
            Self::Blank { line } | Self::Malformed { line } | Self::OpenQuote { line, .. } => *line,
            Self::Assignment(assignment) => assignment.line,
        }
    }
}

/// Reads a text line by line; a quoted value may go on over several.
pub(super) fn scan(text: &str) -> Vec<Item> {
    let mut items = Vec::new();
    let mut at = 0;
    let mut line = 1;
    while at < text.len() {
        let end = line_end(text, at);
        let item = scan_line(text, at, end, line);
        let next = match &item {
            Item::Assignment(assignment) => assignment.span.end,
            Item::Blank { .. } | Item::Malformed { .. } | Item::OpenQuote { .. } => end,
        };
        line += line_count(&text[at..next]);
        at = next;
        items.push(item);
    }
    items
}

/// The end of the line that starts at `at`, behind `\n`, `\r\n` or `\r`.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    match text[at..].find(['\n', '\r']) {
        None => text.len(),
        Some(offset) if text[at + offset..].starts_with("\r\n") => at + offset + 2,
        Some(offset) => at + offset + 1,
    }
}

fn line_count(text: &str) -> u32 {
    let ends = text.matches(['\n', '\r']).count() - text.matches("\r\n").count();
    u32::try_from(ends).unwrap_or(u32::MAX)
}

fn scan_line(text: &str, start: usize, end: usize, line: u32) -> Item {
    let body = &text[start..end];
    let code = body.trim();
    if code.is_empty() || code.starts_with('#') {
        return Item::Blank { line };
    }
    let Some(equals) = body.find('=') else {
        return Item::Malformed { line };
    };
    let name = without_export(body[..equals].trim());
    if name.is_empty()
        || name.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '#'))
    {
        return Item::Malformed { line };
    }
    let after = start + equals + 1;
    let gap = text[after..end].len() - text[after..end].trim_start().len();
    let from = after + gap.min(text[after..end].trim_end_matches(['\n', '\r']).len());
    let found = match text[from..].chars().next() {
        Some('"') if from < end => quoted(text, from, Quote::Double),
        Some('\'') if from < end => quoted(text, from, Quote::Single),
        _ => Some(plain(text, from, end)),
    };
    let Some((value, written, quote)) = found else {
        return Item::OpenQuote {
            line,
            name: name.to_owned(),
        };
    };
    let span_end = line_end(text, written.end.max(from));
    Item::Assignment(Assignment {
        line,
        name: name.to_owned(),
        value,
        quote,
        span: start..span_end,
        written,
    })
}

/// A leading `export` belongs to the shell.
fn without_export(name: &str) -> &str {
    name.strip_prefix("export")
        .filter(|rest| rest.starts_with(char::is_whitespace))
        .map_or(name, str::trim_start)
}

type Found = (String, Range<usize>, Quote);

fn plain(text: &str, from: usize, end: usize) -> Found {
    let line = &text[from..end];
    let mut stop = line.len();
    // A comment begins at a `#` behind a space.
    for (at, _) in line.match_indices('#') {
        if line[..at].ends_with(char::is_whitespace) {
            stop = at;
            break;
        }
    }
    let value = line[..stop].trim_end();
    (value.to_owned(), from..from + value.len(), Quote::None)
}

/// A quoted value, `None` when its quote is not closed or something else follows on its line.
fn quoted(text: &str, from: usize, quote: Quote) -> Option<Found> {
    let mark = if quote == Quote::Double { '"' } else { '\'' };
    let mut value = String::new();
    let mut characters = text[from + 1..].char_indices();
    while let Some((at, character)) = characters.next() {
        if character == mark {
            let to = from + 1 + at + 1;
            let rest = &text[to..line_end(text, to)];
            let clean = rest.trim().is_empty()
                || (rest.starts_with(char::is_whitespace) && rest.trim_start().starts_with('#'));
            return clean.then_some((value, from..to, quote));
        }
        if character != '\\' {
            value.push(character);
            continue;
        }
        match characters.next() {
            None => return None,
            Some((_, next)) => match escaped(next, quote) {
                Some(meant) => value.push(meant),
                None => {
                    value.push('\\');
                    value.push(next);
                }
            },
        }
    }
    None
}

fn escaped(character: char, quote: Quote) -> Option<char> {
    match (character, quote) {
        ('\\', _) => Some('\\'),
        ('\'', _) => Some('\''),
        ('"', Quote::Double) => Some('"'),
        ('n', Quote::Double) => Some('\n'),
        ('r', Quote::Double) => Some('\r'),
        ('t', Quote::Double) => Some('\t'),
        ('a', Quote::Double) => Some('\u{7}'),
        ('b', Quote::Double) => Some('\u{8}'),
        ('f', Quote::Double) => Some('\u{c}'),
        ('v', Quote::Double) => Some('\u{b}'),
        _ => None,
    }
}
