//! A closer look at Python: names that are reached for in a way that hides them.
//!
//! These are hints for a person who reads on, so they weigh little: frameworks do the same for good reasons.

use super::report::Finding;
use super::rule::{Category, Severity};

/// A piece of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Text,
    Mark(char),
}

/// The hints of one file.
pub(super) fn look(path: &str, text: &str) -> Vec<Finding> {
    let tokens = tokens(text);
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, (token, line)) in tokens.iter().enumerate() {
        let Token::Word(word) = token else { continue };
        let before = at.checked_sub(1).and_then(|before| tokens.get(before));
        let behind = tokens.get(at + 1..).unwrap_or_default();
        let Some(id) = hint(word, before.map(|(token, _)| token), behind) else {
            continue;
        };
        let about = (id, Category::Obfuscation, Severity::Low);
        let shown = usize::try_from(*line)
            .ok()
            .and_then(|line| lines.get(line - 1));
        let shown = shown.copied().unwrap_or_default();
        found.push(Finding::of_line(about, path, *line, shown, None));
    }
    found
}

fn hint(word: &str, before: Option<&Token>, behind: &[(Token, u32)]) -> Option<&'static str> {
    let is_called = matches!(behind.first(), Some((Token::Mark('('), _)));
    let arguments = || arguments(behind.get(1..).unwrap_or_default());
    let is_literal = |index: usize| {
        let arguments = arguments();
        arguments
            .get(index)
            .is_some_and(|argument| matches!(argument.as_slice(), [Token::Text]))
    };
    match word {
        "__import__" if is_called && is_literal(0) => Some("dynamic_import"),
        "__import__" if is_called => Some("dynamic_import_computed"),
        "import_module" if is_called && is_literal(0) => Some("importlib_import"),
        "import_module" if is_called => Some("dynamic_import_computed"),
        "getattr" if is_called && before != Some(&Token::Mark('.')) && !is_literal(1) => {
            Some("dynamic_getattr")
        }
        "globals" | "locals" | "vars" if is_called => {
            let length: usize = arguments().iter().map(Vec::len).sum();
            // The brackets of the call, what is in them, and then an index.
            let index = behind.get(length + 2);
            matches!(index, Some((Token::Mark('['), _))).then_some("dict_access")
        }
        "__dict__" | "__builtins__" => {
            matches!(behind.first(), Some((Token::Mark('['), _))).then_some("dict_access")
        }
        _ => None,
    }
}

/// The arguments of a call, from behind its opening bracket.
fn arguments(tokens: &[(Token, u32)]) -> Vec<Vec<Token>> {
    let mut all = vec![Vec::new()];
    let mut depth = 0_usize;
    for (token, _) in tokens {
        match token {
            Token::Mark('(' | '[' | '{') => depth += 1,
            Token::Mark(')' | ']' | '}') if depth == 0 => break,
            Token::Mark(')' | ']' | '}') => depth -= 1,
            Token::Mark(',') if depth == 0 => {
                all.push(Vec::new());
                continue;
            }
            Token::Word(_) | Token::Text | Token::Mark(_) => {}
        }
        if let Some(last) = all.last_mut() {
            last.push(token.clone());
        }
    }
    all
}

/// The pieces of a program with their lines; comments are left out, texts are only counted.
fn tokens(text: &str) -> Vec<(Token, u32)> {
    let characters: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let mut line = 1_u32;
    let mut at = 0;
    while let Some(character) = characters.get(at).copied() {
        match character {
            '\n' => {
                line += 1;
                at += 1;
            }
            '#' => {
                while characters.get(at).is_some_and(|next| *next != '\n') {
                    at += 1;
                }
            }
            '"' | '\'' => {
                let end = end_of_text(&characters, at);
                found.push((Token::Text, line));
                let passed = characters.get(at..end).unwrap_or_default();
                line += passed.iter().filter(|passed| **passed == '\n').count() as u32;
                at = end;
            }
            _ if character.is_alphanumeric() || character == '_' => {
                let rest = characters.get(at..).unwrap_or_default();
                let word: String = rest
                    .iter()
                    .take_while(|next| next.is_alphanumeric() || **next == '_')
                    .collect();
                at += word.chars().count();
                // The letters before a quote belong to the text.
                let quoted = matches!(characters.get(at), Some('"' | '\''));
                if !(quoted && word.len() <= 2) {
                    found.push((Token::Word(word), line));
                }
            }
            _ if character.is_whitespace() => at += 1,
            _ => {
                found.push((Token::Mark(character), line));
                at += 1;
            }
        }
    }
    found
}

/// Where the text that begins at a quote ends.
fn end_of_text(characters: &[char], start: usize) -> usize {
    let quote = characters.get(start).copied().unwrap_or('"');
    let is_quote = |at: usize| characters.get(at) == Some(&quote);
    let triple = is_quote(start + 1) && is_quote(start + 2);
    let mut at = if triple { start + 3 } else { start + 1 };
    while let Some(character) = characters.get(at).copied() {
        match character {
            '\\' => at += 2,
            '\n' if !triple => return at,
            _ if character == quote && !triple => return at + 1,
            _ if character == quote && is_quote(at + 1) && is_quote(at + 2) => return at + 3,
            _ => at += 1,
        }
    }
    characters.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, u32)]) {
        let found = look("a.py", text);
        let found: Vec<_> = found.iter().map(|one| (one.id, one.line)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn names_that_are_reached_for_in_hidden_ways_are_hinted_at() {
        check("x = __import__('os')\n", &[("dynamic_import", 1)]);
        check(
            "x = __import__('o' + 's')\n",
            &[("dynamic_import_computed", 1)],
        );
        check(
            "\nimportlib.import_module('json')",
            &[("importlib_import", 2)],
        );
        check("import_module(name)", &[("dynamic_import_computed", 1)]);
        check(
            "getattr(os, 'sys' + 'tem')('id')",
            &[("dynamic_getattr", 1)],
        );
        check("getattr(x, f(a, b))", &[("dynamic_getattr", 1)]);
        check("globals()['run']()", &[("dict_access", 1)]);
        check("vars(os)['system']('id')", &[("dict_access", 1)]);
        check("os.__dict__['system']", &[("dict_access", 1)]);
    }

    #[test]
    fn ordinary_python_is_left_alone() {
        check(
            "getattr(x, 'name', None)\nimport os\nvars(x)\nlocals()",
            &[],
        );
        check(
            "# __import__('os')\n'''__import__(\"os\")\n'''\nx = r'getattr(a, b)'",
            &[],
        );
        check(
            "s = \"it's __import__('os')\"\nx = 'a\\'__import__(1)'",
            &[],
        );
    }
}
