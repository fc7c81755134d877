//! What the index holds for a text.

use std::borrow::Cow;

use hermes_core::Role;

use super::fold::{folded_chars, normalize};
use super::letter::Class;

/// Longer words are cut; a commit hash fits.
const LONGEST: usize = 64;
/// How much of a message is searchable. Tool output is mostly noise after its first screens.
const INDEXED_BYTES: usize = 64 * 1024;
const INDEXED_TOOL_BYTES: usize = 4 * 1024;

/// What of a message can be found: its text up to a limit, and the name of its tool behind it.
pub(crate) fn search_text<'t>(role: &str, content: &'t str, tool: Option<&str>) -> Cow<'t, str> {
    let limit = if role == Role::Tool.word() {
        INDEXED_TOOL_BYTES
    } else {
        INDEXED_BYTES
    };
    let mut end = content.len().min(limit);
    while !content.is_char_boundary(end) {
        end -= 1;
    }
    match tool {
        Some(tool) if !tool.is_empty() => Cow::Owned(format!("{}\n{tool}", &content[..end])),
        _ => Cow::Borrowed(&content[..end]),
    }
}

/// The terms of a text, parted by spaces, as the index takes them.
pub(crate) fn index_terms(text: &str) -> String {
    let mut out = String::with_capacity(text.len() / 2);
    each_term(text, |term| {
        out.push_str(term);
        out.push(' ');
    });
    out
}

/// Calls `visit` for each term.
///
/// In a dense run every character starts one term: the pair with its right neighbour, or itself
/// alone at the end. So a single character is found as a prefix and two are found exactly.
pub(super) fn each_term(text: &str, mut visit: impl FnMut(&str)) {
    let mut term = String::new();
    let mut class = Class::Gap;
    folded_chars(&normalize(text), |character, now, _| {
        if now != class {
            flush(&mut term, class, &mut visit);
            class = now;
        }
        match now {
            Class::Gap => {}
            Class::Word => {
                if term.len() < LONGEST {
                    term.push(character);
                }
            }
            Class::Dense => {
                if !term.is_empty() {
                    term.push(character);
                    visit(&term);
                    term.clear();
                }
                term.push(character);
            }
        }
    });
    flush(&mut term, class, &mut visit);
}

fn flush(term: &mut String, class: Class, visit: &mut impl FnMut(&str)) {
    if !term.is_empty() && class != Class::Gap {
        visit(term);
    }
    term.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut terms = Vec::new();
        each_term(text, |term| terms.push(term.to_owned()));
        assert_eq!(terms, expected);
    }

    #[test]
    fn words_pairs_and_glued_scripts() {
        check("Hello, foo_bar", &["hello", "foo", "bar"]);
        check("北京大学", &["北京", "京大", "大学", "学"]);
        check("用Docker部署x", &["用", "docker", "部署", "署", "x"]);
        check("中", &["中"]);
        check("...", &[]);
    }
}
