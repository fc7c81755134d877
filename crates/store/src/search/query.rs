//! What the user typed, understood. Nothing a user can type is an error.

use super::fold::{Folded, normalize};
use super::neighbours::{Bucket, each_neighbours};
use super::terms::{LONGEST as LONGEST_TERM, each_term, is_dense, runs};

/// Longer queries are cut.
const LONGEST: usize = 2048;
/// More terms than this make a query slower, not better.
const MOST_ATOMS: usize = 24;
/// A longer phrase is looked up by its beginning; the rest is compared with the text.
const MOST_TERMS: usize = 24;

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
    /// Which neighbours the index must hold.
    pub(super) neighbours: Vec<Bucket>,
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
        let wanted = groups.join(" OR ");
        let mut excluded = self
            .excluded
            .iter()
            .filter(|atom| atom.is_exact())
            .peekable();
        if wanted.is_empty() || excluded.peek().is_none() {
            return wanted;
        }
        excluded.fold(format!("({wanted})"), |expression, atom| {
            format!("{expression} NOT {}", atom.expression())
        })
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
        let folded = Folded::new(&normalize(text)).text;
        let mut terms: Vec<(String, bool)> = Vec::new();
        let last = runs(&folded).count();
        for (index, run) in runs(&folded).enumerate() {
            push_terms(&mut terms, run, index + 1 == last, starred);
        }
        terms.dedup();
        let mut neighbours = Vec::new();
        each_neighbours(&folded, starred, |bucket| neighbours.push(bucket));
        neighbours.dedup();
        terms.truncate(MOST_TERMS);
        neighbours.truncate(MOST_TERMS);
        (!terms.is_empty()).then(|| Self {
            folded,
            literal: text.to_lowercase(),
            terms,
            neighbours,
            open_end: starred,
        })
    }

    /// Whether the index alone can tell which messages hold it.
    fn is_exact(&self) -> bool {
        self.terms.len() == 1 && self.neighbours.is_empty() && self.folded.len() < LONGEST_TERM
    }

    /// The expression the index understands for this atom alone.
    pub(super) fn expression(&self) -> String {
        // The smallest sets first: they decide how far the others are read.
        let neighbours = self
            .neighbours
            .iter()
            .map(|bucket| format!("\"{}\"", bucket.letter()));
        let terms = self
            .terms
            .iter()
            .map(|(term, prefix)| format!("\"{term}\"{}", if *prefix { " *" } else { "" }));
        neighbours.chain(terms).collect::<Vec<_>>().join(" AND ")
    }
}

/// Adds what the index must hold for a run; the text may go on where the last one ends.
fn push_terms(terms: &mut Vec<(String, bool)>, run: &str, is_last: bool, starred: bool) {
    let first = terms.len();
    each_term(run, |term| terms.push((term.to_owned(), false)));
    if !is_dense(run) {
        if let (true, Some(word)) = (is_last && starred, terms.last_mut()) {
            word.1 = true;
        }
        return;
    }
    match (terms.len() - first, is_last) {
        (1, true) => terms[first].1 = true,
        // The pair before holds the last character too.
        (_, true) => drop(terms.pop()),
        (_, false) => {}
    }
    // The neighbours in the middle hold the pairs in the middle.
    if terms.len() > first + 2 {
        terms.drain(first + 1..terms.len() - 1);
    }
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
        let expression = Query::parse(text).expression();
        let is_neighbours = |c: char| ('\u{e000}'..'\u{f000}').contains(&c);
        assert_eq!(expression.replace(is_neighbours, "&"), expected, "{text}");
    }

    #[test]
    fn turns_what_was_typed_into_terms() {
        check("hello World", "(\"hello\" AND \"world\")");
        check("foo-bar", "(\"&\" AND \"foo\" AND \"bar\")");
        check("\"foo ba\"*", "(\"&\" AND \"foo\" AND \"ba\")");
        check("foo-ba*", "(\"foo\" AND \"ba\" *)");
        check("hel*", "(\"hel\" *)");
        check("a OR b", "(\"a\") OR (\"b\")");
        check("北京", "(\"北京\")");
        check("北京大学", "(\"&\" AND \"&\" AND \"北京\" AND \"大学\")");
        check("我", "(\"我\" *)");
        check("用Docker", "(\"&\" AND \"用\" AND \"docker\")");
        check("Docker用", "(\"&\" AND \"docker\" AND \"用\" *)");
        check("北京*", "(\"北京\")");
        check("\"open end", "(\"open\" AND \"end\")");
        check("NOT x", "");
        check("x NOT y NOT z*", "((\"x\")) NOT \"y\" NOT \"z\" *");
        check("x NOT y-z", "(\"x\")");
        check("*** ( ) : ^ \"\"", "");
        check("AND OR NOT", "");
    }
}
