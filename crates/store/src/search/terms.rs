//! What the index holds for a text.

use std::borrow::Cow;

use hermes_core::Role;

use super::fold::{Folded, normalize};
use super::letter::{Class, Letter};
use super::neighbours::{Seen, each_neighbours};

/// Longer words are cut; a commit hash fits.
pub(super) const LONGEST: usize = 64;
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

/// The terms of a text, parted by spaces, as the index takes them: its words, then its neighbours.
pub(crate) fn index_terms(text: &str) -> String {
    let folded = Folded::new(&normalize(text)).text;
    let mut out = String::with_capacity(folded.len() * 2);
    each_term(&folded, |term| {
        out.push_str(term);
        out.push(' ');
    });
    let mut seen = Seen::default();
    each_neighbours(&folded, false, |bucket| {
        if seen.is_new(bucket) {
            out.push(bucket.letter());
            out.push(' ');
        }
    });
    out
}

/// The words of a text as a search sees them: without case and accents, and as pairs of characters where a
/// script has no spaces.
pub fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    visit_terms(text, |term| terms.push(term.to_owned()));
    terms
}

/// Calls `visit` for each of the `terms` of a text, for those who keep none of them.
pub fn visit_terms(text: &str, visit: impl FnMut(&str)) {
    each_term(&Folded::new(&normalize(text)).text, visit);
}

/// Calls `visit` for each term of a folded text.
///
/// In a dense run every character starts one term: the pair with its right neighbour, or itself
/// alone at the end. So a single character is found as a prefix and two are found exactly.
pub(super) fn each_term(folded: &str, mut visit: impl FnMut(&str)) {
    for run in runs(folded) {
        if !is_dense(run) {
            visit(&run[..run.ceil_char_boundary(LONGEST)]);
            continue;
        }
        let mut starts = run.char_indices().map(|(at, _)| at).skip(2);
        for (at, _) in run.char_indices() {
            visit(&run[at..starts.next().unwrap_or(run.len())]);
        }
    }
}

pub(super) fn runs(folded: &str) -> impl Iterator<Item = &str> {
    folded.split(' ').filter(|run| !run.is_empty())
}

/// Whether a run of folded text is of a script without spaces; no run mixes the two.
pub(super) fn is_dense(run: &str) -> bool {
    run.chars()
        .next()
        .is_some_and(|first| !first.is_ascii() && Letter::of(first).class == Class::Dense)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(terms(text), expected);
    }

    #[test]
    fn words_pairs_and_glued_scripts() {
        check("Hello, foo_bar", &["hello", "foo", "bar"]);
        check("北京大学", &["北京", "京大", "大学", "学"]);
        check("用Docker部署x", &["用", "docker", "部署", "署", "x"]);
        check("中", &["中"]);
        check("...", &[]);
    }

    #[test]
    fn neighbours_stand_behind_the_words_once() {
        let terms = index_terms("to be or to be");
        let (words, neighbours): (Vec<_>, Vec<_>) =
            terms.split_whitespace().partition(|term| term.is_ascii());
        assert_eq!(words, ["to", "be", "or", "to", "be"]);
        assert_eq!(neighbours.len(), 3, "to be, be or, or to");
    }
}
