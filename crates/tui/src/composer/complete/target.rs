//! Which word is completed, and what it is.

use std::ops::Range;

/// What a word stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// The name of a command.
    Command,
    /// An argument of a command.
    Argument {
        /// Which command, without the slash.
        command: String,
        /// How many arguments stand in front of it.
        given: usize,
    },
    /// A file.
    Path,
    /// Something referred to with `@`.
    Reference,
}

/// The word that is completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// What it stands for.
    pub subject: Subject,
    /// Where it stands.
    pub range: Range<usize>,
    /// The part in front of the cursor.
    pub typed: String,
}

/// The word at a cursor. Without being asked only words that show what they are are completed.
pub fn target(text: &str, cursor: usize, asked: bool) -> Option<Target> {
    let before = text.get(..cursor)?;
    let start = quoted(before).unwrap_or_else(|| word(before));
    let typed = before.get(start..)?;
    let behind = text.get(cursor..)?;
    let end = cursor + behind.find(char::is_whitespace).unwrap_or(behind.len());
    let subject = subject(before, start, typed, asked)?;
    Some(Target {
        subject,
        range: start..end,
        typed: typed.to_owned(),
    })
}

/// Where a reference begins whose value is in quotes that are still open: spaces belong to it.
fn quoted(before: &str) -> Option<usize> {
    let at = ["@file:\"", "@folder:\""]
        .iter()
        .filter_map(|start| Some((before.rfind(start)?, start.len())))
        .max()?;
    let value = before.get(at.0 + at.1..)?;
    (!value.contains(['"', '\n'])).then_some(at.0)
}

/// Where the word at the end begins.
fn word(before: &str) -> usize {
    before.rfind(char::is_whitespace).map_or(0, |at| {
        at + before
            .get(at..)
            .and_then(|rest| rest.chars().next())
            .map_or(1, char::len_utf8)
    })
}

fn subject(before: &str, start: usize, typed: &str, asked: bool) -> Option<Subject> {
    if typed.starts_with('@') {
        return Some(Subject::Reference);
    }
    let in_command = before.strip_prefix('/').filter(|line| !line.contains('\n'));
    if let Some(line) = in_command {
        let (name, _) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        return match (start, name.contains('/')) {
            (_, true) => Some(Subject::Path),
            (0, false) => Some(Subject::Command),
            (_, false) if looks_like_path(typed) => Some(Subject::Path),
            (_, false) => {
                let words = before
                    .get(..start)
                    .unwrap_or_default()
                    .split_whitespace()
                    .count();
                Some(Subject::Argument {
                    command: name.to_owned(),
                    given: words.saturating_sub(1),
                })
            }
        };
    }
    (looks_like_path(typed) || asked).then_some(Subject::Path)
}

fn looks_like_path(word: &str) -> bool {
    ["./", "../", "~/", "/"]
        .iter()
        .any(|start| word.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_end(text: &str) -> Option<Subject> {
        target(text, text.len(), false).map(|target| target.subject)
    }

    #[test]
    fn words_show_what_they_are() {
        let argument = |command: &str, given| {
            Some(Subject::Argument {
                command: command.into(),
                given,
            })
        };
        assert_eq!(at_end("/mo"), Some(Subject::Command));
        assert_eq!(at_end("/model "), argument("model", 0));
        assert_eq!(at_end("/model a b"), argument("model", 1));
        assert_eq!(at_end("/image ./a"), Some(Subject::Path));
        assert_eq!(at_end("/usr/li"), Some(Subject::Path));
        assert_eq!(at_end("look at ~/no"), Some(Subject::Path));
        assert_eq!(at_end("look at @fi"), Some(Subject::Reference));
        let open = "look at @file:\"my no";
        let found = target(open, open.len(), false);
        assert_eq!(found.map(|target| target.range), Some(8..open.len()));
        assert_eq!(at_end("look at @file:\"my notes\" and th"), None);
        assert_eq!(at_end("/goal see @fi"), Some(Subject::Reference));
        assert_eq!(at_end("look at it"), None);
        assert_eq!(at_end("/goal x\nmore wor"), None);
        assert_eq!(at_end(""), None);
    }

    #[test]
    fn any_word_is_a_file_when_asked() {
        let found = target("open Carg now", 9, true);
        let expected = Target {
            subject: Subject::Path,
            range: 5..9,
            typed: "Carg".into(),
        };
        assert_eq!(found, Some(expected));
        assert_eq!(
            target("a\u{2003}b", 5, true).map(|target| target.range),
            Some(4..5)
        );
    }
}
