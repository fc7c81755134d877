//! Finding references in a text.

use std::ops::Range;

/// Most commits that are attached.
const MOST_COMMITS: u32 = 10;

/// What a reference names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reference {
    /// A file, or some of its lines.
    File { path: String, lines: Option<Lines> },
    /// What is in a folder.
    Folder(String),
    /// Changes that are not staged.
    Diff,
    /// Changes that are.
    Staged,
    /// The last commits.
    Commits(u32),
    /// A page.
    Url(String),
}

/// The first and the last line, counted from one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lines {
    pub(super) first: usize,
    pub(super) last: usize,
}

/// A reference and where it stands in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) what: Reference,
    pub(super) range: Range<usize>,
}

/// All references of a text, in order.
pub(super) fn find(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find('@')) {
        let at = from + at;
        from = at + 1;
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        // An address such as me@file:… is none of ours.
        if before
            .is_some_and(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '/' | '@'))
        {
            continue;
        }
        let rest = text.get(at + 1..).unwrap_or_default();
        if let Some((what, length)) = reference(rest) {
            from = at + 1 + length;
            found.push(Found {
                what,
                range: at..from,
            });
        }
    }
    found
}

/// The reference a text begins with, and how long it is.
fn reference(text: &str) -> Option<(Reference, usize)> {
    for (word, what) in [("diff", Reference::Diff), ("staged", Reference::Staged)] {
        if let Some(rest) = text.strip_prefix(word) {
            let goes_on =
                |next: char| next.is_alphanumeric() || matches!(next, '_' | '-' | ':' | '/' | '.');
            // A full stop ends a sentence unless a word follows it.
            let next = rest.trim_start_matches(['.', '!', '?']).chars().next();
            let ended = rest
                .chars()
                .next()
                .is_none_or(|first| !goes_on(first) || first == '.')
                && next.is_none_or(|next| !next.is_alphanumeric());
            return ended.then_some((what, word.len()));
        }
    }
    let (kind, rest) = text.split_once(':')?;
    let (value, range, length) = value(rest)?;
    let length = kind.len() + 1 + length;
    let what = match kind {
        "file" => {
            let (path, lines) = match range {
                Some(range) => (value, Some(range)),
                None => split_lines(value),
            };
            Reference::File {
                path: path.to_owned(),
                lines,
            }
        }
        "folder" => Reference::Folder(value.to_owned()),
        "git" => Reference::Commits(value.parse::<u32>().ok()?.clamp(1, MOST_COMMITS)),
        "url" => Reference::Url(value.to_owned()),
        _ => return None,
    };
    Some((what, length))
}

/// A value, the lines behind a quoted one, and how long both are.
fn value(text: &str) -> Option<(&str, Option<Lines>, usize)> {
    let quote = text.chars().next()?;
    if matches!(quote, '"' | '\'' | '`') {
        let inside = text.get(1..)?;
        let end = inside.find([quote, '\n'])?;
        let (value, behind) = (inside.get(..end)?, inside.get(end + 1..)?);
        if value.is_empty() || !inside.get(end..)?.starts_with(quote) {
            return None;
        }
        let tail: String = behind
            .chars()
            .take_while(|letter| letter.is_ascii_digit() || matches!(letter, ':' | '-'))
            .collect();
        return Some(match split_lines(&tail) {
            ("", Some(lines)) => (value, Some(lines), end + 2 + tail.len()),
            _ => (value, None, end + 2),
        });
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let value = trimmed(text.get(..end)?);
    (!value.is_empty()).then_some((value, None, value.len()))
}

/// Without what belongs to the sentence around it.
fn trimmed(mut value: &str) -> &str {
    // These dots are the path itself.
    if matches!(value, "." | "..") || value.ends_with("/..") {
        return value;
    }
    while let Some(last) = value.chars().next_back() {
        let opening = match last {
            ')' => Some('('),
            ']' => Some('['),
            '}' => Some('{'),
            _ => None,
        };
        let surplus = match opening {
            Some(opening) => value.matches(last).count() > value.matches(opening).count(),
            None => matches!(last, ',' | '.' | ';' | '!' | '?'),
        };
        if !surplus {
            break;
        }
        value = value
            .get(..value.len() - last.len_utf8())
            .unwrap_or_default();
    }
    value
}

/// `path:10` and `path:10-20`.
fn split_lines(value: &str) -> (&str, Option<Lines>) {
    let Some((path, range)) = value.rsplit_once(':') else {
        return (value, None);
    };
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    match (first.parse(), last.parse()) {
        (Ok(first), Ok(last)) if 0 < first && first <= last => (path, Some(Lines { first, last })),
        _ => (value, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, lines: Option<(usize, usize)>) -> Reference {
        Reference::File {
            path: path.to_owned(),
            lines: lines.map(|(first, last)| Lines { first, last }),
        }
    }

    // AG-29
    #[test]
    #[expect(clippy::too_many_lines, reason = "a table of texts")]
    fn references_are_found_where_they_stand() {
        for (text, expected) in [
            (
                "see @file:src/a.rs, please",
                vec![(file("src/a.rs", None), "@file:src/a.rs")],
            ),
            (
                "(@file:a.rs:3)",
                vec![(file("a.rs", Some((3, 3))), "@file:a.rs:3")],
            ),
            (
                "@file:a.rs:3-9.",
                vec![(file("a.rs", Some((3, 9))), "@file:a.rs:3-9")],
            ),
            (
                "@file:a(1).rs)",
                vec![(file("a(1).rs", None), "@file:a(1).rs")],
            ),
            (
                "@file:\"a b.rs\":3-9 x",
                vec![(file("a b.rs", Some((3, 9))), "@file:\"a b.rs\":3-9")],
            ),
            (
                "@folder:'my docs'!",
                vec![(Reference::Folder("my docs".to_owned()), "@folder:'my docs'")],
            ),
            (
                "@folder:.",
                vec![(Reference::Folder(".".to_owned()), "@folder:.")],
            ),
            (
                "@folder:`x y`",
                vec![(Reference::Folder("x y".to_owned()), "@folder:`x y`")],
            ),
            (
                "@diff and @staged.",
                vec![(Reference::Diff, "@diff"), (Reference::Staged, "@staged")],
            ),
            (
                "@git:3 @git:99",
                vec![
                    (Reference::Commits(3), "@git:3"),
                    (Reference::Commits(10), "@git:99"),
                ],
            ),
            (
                "@url:https://example.org/a?b=c:1.",
                vec![(
                    Reference::Url("https://example.org/a?b=c:1".to_owned()),
                    "@url:https://example.org/a?b=c:1",
                )],
            ),
            ("me@file:x a/@file:x", vec![]),
            (
                "@different @diff-tool @diff.txt @git:x @file: @what:x @",
                vec![],
            ),
            ("@file:\"never closed\n", vec![]),
            ("ä@file:x ü @file:ö", vec![(file("ö", None), "@file:ö")]),
        ] {
            let found: Vec<_> = find(text)
                .into_iter()
                .map(|found| (found.what, text.get(found.range).unwrap_or_default()))
                .collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
