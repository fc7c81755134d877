//! The commands of a shell text, told from everything else in it.

use std::ops::Range;

use super::lexer::{Kind, tokens};

/// A command with its arguments, without redirections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Simple<'a> {
    pub(crate) words: Vec<&'a str>,
    /// Where each word stands.
    pub(crate) places: Vec<Range<usize>>,
}

impl<'a> Simple<'a> {
    /// Program and arguments, without the assignments before them.
    pub(crate) fn argv(&self) -> &[&'a str] {
        let first = self
            .words
            .iter()
            .position(|word| !is_assignment(word))
            .unwrap_or(self.words.len());
        self.words.split_at(first).1
    }

    /// Where the program stands.
    pub(crate) fn program_place(&self) -> Option<Range<usize>> {
        self.places
            .get(self.words.len() - self.argv().len())
            .cloned()
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let name = name.strip_suffix('+').unwrap_or(name);
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// The commands of a text, in order, those inside groups included; substitutions stay inside their word.
pub(crate) fn commands(text: &str) -> Vec<Simple<'_>> {
    let mut found = Vec::new();
    let mut groups = Groups::default();
    let mut current: Option<Simple<'_>> = None;
    let mut redirected = false;
    for token in tokens(text) {
        if token.kind != Kind::Word {
            redirected = token.kind == Kind::Redirect;
            if !redirected {
                found.extend(current.take());
                groups.operator(token.kind);
            }
            continue;
        }
        if std::mem::take(&mut redirected) {
            continue;
        }
        let word = text.get(token.span.clone()).unwrap_or_default();
        match &mut current {
            Some(simple) => {
                simple.words.push(word);
                simple.places.push(token.span);
            }
            None if groups.reserved(word) => {}
            None => {
                current = Some(Simple {
                    words: vec![word],
                    places: vec![token.span],
                });
            }
        }
    }
    found.extend(current);
    found
}

/// What the text is inside of.
#[derive(Debug, Default)]
pub(crate) struct Groups(Vec<Group>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Group {
    Parenthesis,
    Words,
    Case,
}

impl Groups {
    pub(crate) fn depth(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn operator(&mut self, kind: Kind) {
        match kind {
            Kind::Open => self.0.push(Group::Parenthesis),
            // The patterns of a case close what nothing opened.
            Kind::Close if self.0.last() == Some(&Group::Parenthesis) => {
                self.0.pop();
            }
            _ => {}
        }
    }

    /// Whether a word where a command could begin is one of the grammar instead.
    pub(crate) fn reserved(&mut self, word: &str) -> bool {
        match word {
            "if" | "for" | "while" | "until" | "select" | "{" => self.0.push(Group::Words),
            "case" => self.0.push(Group::Case),
            "fi" | "done" | "esac" | "}" => {
                if self.0.last() != Some(&Group::Parenthesis) {
                    self.0.pop();
                }
            }
            "then" | "else" | "elif" | "do" | "in" | "!" | "time" | "function" => {}
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn programs(text: &str) -> Vec<String> {
        commands(text)
            .iter()
            .map(|simple| simple.argv().join(" "))
            .collect()
    }

    #[test]
    fn commands_are_told_from_quoted_text() {
        let cases: &[(&str, &[&str])] = &[
            ("a && b; c | d", &["a", "b", "c", "d"]),
            ("echo 'x; y' \"z & w\"", &["echo 'x; y' \"z & w\""]),
            ("A=1 B='2 3' run --x", &["run --x"]),
            ("echo $(a; b) `c; d`", &["echo $(a; b) `c; d`"]),
            ("a >f 2>&1 <g &>h b", &["a b"]),
            ("if a; then b; else c; fi", &["a", "b", "c"]),
            ("( a; b ) && { c; }", &["a", "b", "c"]),
            ("cat <<EOF\nnot; a command\nEOF\nb", &["cat", "b"]),
            ("cat <<-'E'\n\tx &\n\tE\nb", &["cat", "b"]),
            ("a # b; c\nd", &["a", "d"]),
            ("diff <(a; b) <(c)", &["diff <(a; b) <(c)"]),
            ("echo a\\;b \\\n c", &["echo a\\;b c"]),
            ("echo \"$(echo \")\")\" x", &["echo \"$(echo \")\")\" x"]),
            ("x=(1 2); echo ${x[0]}", &["", "echo ${x[0]}"]),
            ("", &[]),
            ("'unfinished", &["'unfinished"]),
        ];
        for (text, expected) in cases {
            assert_eq!(programs(text), *expected, "{text}");
        }
    }
}
