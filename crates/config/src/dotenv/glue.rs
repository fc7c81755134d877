//! Two assignments that lost the newline between them.
//!
//! A line counts as glued when it starts with a name we know, another known name followed by `=` stands
//! inside it, and what lies between looks like a key rather than an address or a sentence.

use crate::environment::is_known_name;

use super::scan::line_end;

/// A stretch of the text with the line it starts on.
pub(super) struct Part {
    pub(super) line: u32,
    pub(super) text: String,
    /// The names that stood on one line.
    pub(super) glued: Option<Vec<String>>,
}

/// The text in stretches, each glued line taken apart.
pub(super) fn separated(text: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut at = 0;
    let mut line = 1;
    while at < text.len() {
        let end = line_end(text, at);
        let body = &text[at..end];
        match split(body) {
            Some((text, names)) => parts.push(Part {
                line,
                text,
                glued: Some(names),
            }),
            None => match parts.last_mut() {
                Some(part) if part.glued.is_none() => part.text.push_str(body),
                Some(_) | None => parts.push(Part {
                    line,
                    text: body.to_owned(),
                    glued: None,
                }),
            },
        }
        line += 1;
        at = end;
    }
    parts
}

/// The whole text with glued lines taken apart; `None` when there is none.
pub(super) fn repaired(text: &str) -> Option<String> {
    let parts = separated(text);
    let any = parts.iter().any(|part| part.glued.is_some());
    any.then(|| parts.into_iter().map(|part| part.text).collect())
}

/// One line as several, with the names found; `None` when it is not glued.
pub(super) fn split(line: &str) -> Option<(String, Vec<String>)> {
    let body = line.trim();
    if body.starts_with('#') {
        return None;
    }
    let indent = &line[..line.len() - line.trim_start().len()];
    let (export, code) = match body.strip_prefix("export ") {
        Some(rest) => ("export ", rest.trim_start()),
        None => ("", body),
    };
    let starts = starts_of_names(code);
    let (&first, others) = starts.split_first()?;
    if first != 0 || others.is_empty() {
        return None;
    }
    let ends = others.iter().copied().chain([code.len()]);
    let pieces: Vec<_> = starts
        .iter()
        .zip(ends)
        .map(|(from, to)| &code[*from..to])
        .collect();
    let (_, glued) = pieces.split_last()?;
    if !glued.iter().all(|piece| holds_a_plain_value(piece)) {
        return None;
    }
    let newline = &line[line.trim_end_matches(['\n', '\r']).len()..];
    let between = if newline.is_empty() { "\n" } else { newline };
    let mut text = String::new();
    let mut names = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        if index > 0 {
            text.push_str(between);
        }
        text.push_str(indent);
        text.push_str(export);
        text.push_str(piece);
        names.extend(piece.split_once('=').map(|(name, _)| name.to_owned()));
    }
    text.push_str(newline);
    Some((text, names))
}

/// Where known names followed by `=` begin; of `GLM_API_KEY` and `LM_API_KEY` the longer counts.
fn starts_of_names(code: &str) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut free_from = 0;
    for (equals, _) in code.match_indices('=') {
        let word_start = code[..equals]
            .rfind(|c: char| !is_name_character(c))
            .map_or(0, |at| {
                at + code[at..].chars().next().map_or(1, char::len_utf8)
            });
        let from = word_start.max(free_from);
        let known = (from..equals)
            .filter(|at| code.is_char_boundary(*at))
            .find(|at| is_known_name(&code[*at..equals]));
        starts.extend(known);
        free_from = equals + 1;
    }
    starts
}

fn is_name_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn holds_a_plain_value(piece: &str) -> bool {
    let value = piece.split_once('=').map_or("", |(_, value)| value);
    !value.contains("://") && !value.contains(|c: char| c.is_whitespace() || matches!(c, '?' | '&'))
}
