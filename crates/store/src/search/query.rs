//! What the user typed, understood. Nothing a user can type is an error.

use super::fold::{Folded, normalize};
use super::terms::each_term;

/// Longer queries are cut.
const LONGEST: usize = 2048;
/// More terms than this make a query slower, not better.
const MOST_ATOMS: usize = 24;

/// A query: any of some groups must hold, and nothing that is excluded.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Query {
    pub(super) groups: Vec<Vec<Atom>>,
    pub(super) excluded: Vec<Atom>,
    /// Nothing but words: no quotes, no operators. Only then may a search settle for some of them.
    pub(super) only_words: bool,
}

/// One word, phrase or identifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Atom {
    /// The folded form to look for in folded text.
    pub(super) folded: String,
    /// What was typed, in lower case, for exact matches such as `foo-bar`.
    pub(super) literal: String,
    /// What the index must hold; the flag marks a prefix.
    pub(super) terms: Vec<(String, bool)>,
    /// Whether the last word may go on.
    pub(super) open_end: bool,
}

impl Query {
    pub(super) fn parse(text: &str) -> Self {
        let text: String = text.chars().take(LONGEST).collect();
        let mut query = Self {
            groups: vec![Vec::new()],
            excluded: Vec::new(),
            only_words: true,
        };
        let mut negate = false;
        let mut count = 0;
        for token in tokens(&text) {
            query.only_words &=
                !matches!(token, Token::Bare("AND" | "OR" | "NOT") | Token::Quoted(_));
            match token {
                Token::Bare("AND") => {}
                Token::Bare("OR") => query.groups.push(Vec::new()),
                Token::Bare("NOT") => negate = true,
                Token::Bare(word) => {
                    let atom = Atom::new(word);
                    query.add(atom, std::mem::take(&mut negate), &mut count);
                }
                Token::Quoted(phrase) => {
                    let atom = Atom::new(phrase);
                    query.add(atom, std::mem::take(&mut negate), &mut count);
                }
            }
        }
        query.groups.retain(|group| !group.is_empty());
        query
    }

    fn add(&mut self, atom: Option<Atom>, negate: bool, count: &mut usize) {
        let Some(atom) = atom else { return };
        *count += 1;
        if *count > MOST_ATOMS {
            return;
        }
        if negate {
            self.excluded.push(atom);
        } else if let Some(group) = self.groups.last_mut() {
            group.push(atom);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The expression the index understands.
    pub(super) fn expression(&self) -> String {
        let groups: Vec<_> = self
            .groups
            .iter()
            .map(|group| {
                let atoms: Vec<_> = group.iter().map(Atom::expression).collect();
                format!("({})", atoms.join(" AND "))
            })
            .collect();
        groups.join(" OR ")
    }

    /// Every wanted atom once, for a search that settles for some of them.
    pub(super) fn atoms(&self) -> impl Iterator<Item = &Atom> {
        self.groups.iter().flatten()
    }
}

impl Atom {
    fn new(text: &str) -> Option<Self> {
        let starred = text.ends_with('*');
        let text = text.trim_matches('*');
        let normalized = normalize(text);
        let folded = Folded::new(&normalized).text;
        let mut terms: Vec<(String, bool)> = Vec::new();
        for run in folded.split(' ').filter(|run| !run.is_empty()) {
            let first = terms.len();
            each_term(run, |term| terms.push((term.to_owned(), false)));
            let is_dense = run.chars().count() > 1 && terms.len() - first == run.chars().count();
            if is_dense {
                // The text may go on after the query, so its last character alone proves nothing.
                terms.pop();
            } else if is_single_dense(run) {
                terms.iter_mut().skip(first).for_each(|term| term.1 = true);
            }
        }
        if let (true, Some(last)) = (starred, terms.last_mut()) {
            last.1 = true;
        }
        terms.dedup();
        (!terms.is_empty()).then(|| Self {
            folded,
            literal: text.to_lowercase(),
            terms,
            open_end: starred,
        })
    }

    /// The expression the index understands for this atom alone.
    pub(super) fn expression(&self) -> String {
        let terms: Vec<_> = self
            .terms
            .iter()
            .map(|(term, prefix)| format!("\"{term}\"{}", if *prefix { " *" } else { "" }))
            .collect();
        terms.join(" AND ")
    }
}

/// One character of a script without spaces; a one-letter word of another script is a word.
fn is_single_dense(run: &str) -> bool {
    let mut doubled = 0;
    each_term(&format!("{run}{run}"), |_| doubled += 1);
    run.chars().count() == 1 && doubled == 2
}

enum Token<'t> {
    Bare(&'t str),
    Quoted(&'t str),
}

/// Words and quoted phrases; a quote that is never closed is no quote.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        if first == '"' {
            let inner = &rest[1..];
            if let Some(end) = inner.find('"') {
                found.push(Token::Quoted(&inner[..end]));
                rest = inner[end + 1..].trim_start();
            } else {
                rest = inner;
            }
            continue;
        }
        let end = rest
            .find(|c: char| c.is_whitespace() || c == '"')
            .unwrap_or(rest.len());
        found.push(Token::Bare(&rest[..end]));
        rest = rest[end..].trim_start();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(Query::parse(text).expression(), expected, "{text}");
    }

    #[test]
    fn turns_what_was_typed_into_terms() {
        check("hello World", "(\"hello\" AND \"world\")");
        check("foo-bar", "(\"foo\" AND \"bar\")");
        check("hel*", "(\"hel\" *)");
        check("a OR b", "(\"a\") OR (\"b\")");
        check("北京", "(\"北京\")");
        check("北京大学", "(\"北京\" AND \"京大\" AND \"大学\")");
        check("我", "(\"我\" *)");
        check("用Docker", "(\"用\" * AND \"docker\")");
        check("\"open end", "(\"open\" AND \"end\")");
        check("NOT x", "");
        check("*** ( ) : ^ \"\"", "");
        check("AND OR NOT", "");
    }
}
