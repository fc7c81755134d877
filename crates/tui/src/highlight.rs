//! Colours for code.

use std::sync::OnceLock;

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxSet};

use crate::skin::Depth;
use crate::theme::{SyntaxStyles, Theme};

/// Code beyond this is shown without colours.
const MOST_CODE: usize = 64 * 1024;
/// A longer line is generated, not written, and costs more than its colours are worth.
const LONGEST_LINE: usize = 2_000;

/// The lines of a piece of code, in the colours of its language. Unknown languages get the plain code style.
pub(crate) fn highlight(code: &str, language: &str, theme: &Theme) -> Vec<Line<'static>> {
    let mut highlighter = Highlighter::new(language, theme);
    code.lines().map(|line| highlighter.line(line)).collect()
}

/// Colours code that comes line by line.
#[derive(Debug, Clone)]
pub(crate) struct Highlighter {
    parser: Option<(ParseState, ScopeStack)>,
    code: Style,
    text: Style,
    styles: SyntaxStyles,
    seen: usize,
}

impl Highlighter {
    /// Begins a piece of code in a language, named as behind the fence of a code block.
    pub(crate) fn new(language: &str, theme: &Theme) -> Self {
        let parser = (theme.depth != Depth::None)
            .then(|| parser(language))
            .flatten();
        Self {
            parser,
            code: theme.code,
            text: theme.text,
            styles: theme.syntax,
            seen: 0,
        }
    }

    /// The next line, without its line end.
    pub(crate) fn line(&mut self, line: &str) -> Line<'static> {
        self.seen += line.len() + 1;
        if self.seen > MOST_CODE {
            self.parser = None;
        }
        if line.len() > LONGEST_LINE {
            return self.plain(line);
        }
        let Some((state, stack)) = &mut self.parser else {
            return self.plain(line);
        };
        let mut fed = String::with_capacity(line.len() + 1);
        fed.push_str(line);
        fed.push('\n');
        let Ok(changes) = state.parse_line(&fed, syntaxes()) else {
            self.parser = None;
            return self.plain(line);
        };
        let mut spans: Vec<Span<'static>> = Vec::new();
        let mut from = 0;
        for (place, change) in changes {
            push(
                &mut spans,
                line.get(from..place.min(line.len())),
                style(stack, &self.styles, self.text),
            );
            from = place.min(line.len());
            if stack.apply(&change).is_err() {
                self.parser = None;
                return self.plain(line);
            }
        }
        push(
            &mut spans,
            line.get(from..),
            style(stack, &self.styles, self.text),
        );
        Line::from(spans)
    }

    fn plain(&self, line: &str) -> Line<'static> {
        Line::from(vec![Span::styled(line.to_owned(), self.code)])
    }
}

fn push(spans: &mut Vec<Span<'static>>, text: Option<&str>, style: Style) {
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        return;
    };
    match spans.last_mut() {
        Some(last) if last.style == style => last.content.to_mut().push_str(text),
        _ => spans.push(Span::styled(text.to_owned(), style)),
    }
}

/// Loading takes a while, so it happens with the first code that is shown, and once.
fn syntaxes() -> &'static SyntaxSet {
    static SYNTAXES: OnceLock<SyntaxSet> = OnceLock::new();
    SYNTAXES.get_or_init(SyntaxSet::load_defaults_newlines)
}

fn parser(language: &str) -> Option<(ParseState, ScopeStack)> {
    let name = language
        .split([' ', ',', '{', ':'])
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    // Names in use that the syntaxes do not know, each with a language that reads alike.
    let token = match name.as_str() {
        "" | "text" | "txt" | "plain" | "plaintext" => return None,
        "ts" | "tsx" | "jsx" | "mjs" | "typescript" => "js",
        "shell" | "console" | "zsh" | "shell-session" => "bash",
        "jsonc" | "json5" | "jsonl" => "json",
        "golang" => "go",
        "c#" => "cs",
        "kotlin" | "kt" => "java",
        "vue" | "svelte" => "html",
        other => other,
    };
    let syntax = syntaxes().find_syntax_by_token(token)?;
    Some((ParseState::new(syntax), ScopeStack::new()))
}

#[derive(Debug, Clone, Copy)]
enum Part {
    Comment,
    String,
    Constant,
    Keyword,
    Function,
    Kind,
}

/// The innermost scope that says something decides.
fn style(stack: &ScopeStack, styles: &SyntaxStyles, text: Style) -> Style {
    let part = stack.as_slice().iter().rev().find_map(|scope| {
        let known = parts()
            .iter()
            .find(|(prefix, _)| prefix.is_prefix_of(*scope));
        known.map(|(_, part)| *part)
    });
    match part {
        Some(Part::Comment) => styles.comment,
        Some(Part::String) => styles.string,
        Some(Part::Constant) => styles.constant,
        Some(Part::Keyword) => styles.keyword,
        Some(Part::Function) => styles.function,
        Some(Part::Kind) => styles.kind,
        None => text,
    }
}

fn parts() -> &'static [(Scope, Part)] {
    static PARTS: OnceLock<Vec<(Scope, Part)>> = OnceLock::new();
    PARTS.get_or_init(|| {
        let table = [
            ("comment", Part::Comment),
            ("string", Part::String),
            ("markup.inserted", Part::String),
            ("markup.raw", Part::String),
            ("constant", Part::Constant),
            ("entity.other.attribute-name", Part::Constant),
            ("markup.deleted", Part::Constant),
            ("keyword.operator.word", Part::Keyword),
            ("keyword.control", Part::Keyword),
            ("keyword.other", Part::Keyword),
            ("keyword.declaration", Part::Keyword),
            ("storage", Part::Keyword),
            ("variable.language", Part::Keyword),
            ("markup.heading", Part::Keyword),
            ("entity.name.function", Part::Function),
            ("support.function", Part::Function),
            ("support.macro", Part::Function),
            ("variable.function", Part::Function),
            ("entity.name", Part::Kind),
            ("entity.other.inherited-class", Part::Kind),
            ("support.type", Part::Kind),
            ("support.class", Part::Kind),
        ];
        table
            .into_iter()
            .filter_map(|(name, part)| Some((Scope::new(name).ok()?, part)))
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "// say it\nfn main() {\n    let n = 42;\n    greet(\"hi\");\n}";

    fn styled(lines: &[Line<'_>], text: &str) -> Option<Style> {
        lines
            .iter()
            .flat_map(|line| &line.spans)
            .find(|span| span.content.contains(text))
            .map(|span| span.style)
    }

    #[test]
    fn parts_of_code_have_the_colours_of_the_skin() {
        let theme = Theme::default();
        let lines = highlight(CODE, "rust", &theme);
        let text: Vec<String> = lines.iter().map(ToString::to_string).collect();
        assert_eq!(text.join("\n"), CODE);
        assert_eq!(styled(&lines, "say it"), Some(theme.syntax.comment));
        assert_eq!(styled(&lines, "42"), Some(theme.syntax.constant));
        assert_eq!(styled(&lines, "hi"), Some(theme.syntax.string));
        assert_eq!(styled(&lines, "let"), Some(theme.syntax.keyword));
    }

    #[test]
    fn common_names_of_languages_are_known() {
        let theme = Theme::default();
        for name in [
            "rust",
            "rs",
            "python",
            "py",
            "js",
            "typescript",
            "tsx",
            "bash",
            "sh",
            "console",
            "json",
            "yaml",
            "go",
            "c",
            "c++",
            "cpp",
            "java",
            "ruby",
            "sql",
            "html",
            "css",
            "diff",
            "markdown",
            "Rust",
            "rust,ignore",
        ] {
            assert!(Highlighter::new(name, &theme).parser.is_some(), "{name}");
        }
    }

    #[test]
    fn unknown_languages_large_code_and_plain_terminals_are_plain() {
        let theme = Theme::default();
        let plain =
            |line: &Line<'_>, theme: &Theme| line.spans.iter().all(|span| span.style == theme.code);
        assert!(
            highlight(CODE, "no such language", &theme)
                .iter()
                .all(|line| plain(line, &theme))
        );
        assert!(
            highlight(CODE, "", &theme)
                .iter()
                .all(|line| plain(line, &theme))
        );
        let bare = Theme::plain();
        assert!(
            highlight(CODE, "rust", &bare)
                .iter()
                .all(|line| plain(line, &bare))
        );
        let large = "let a = 1;\n".repeat(MOST_CODE / 11 + 2);
        let lines = highlight(&large, "rust", &theme);
        assert!(lines.last().is_some_and(|line| plain(line, &theme)));
        let long = format!("let a = \"{}\";", "x".repeat(LONGEST_LINE));
        assert!(plain(&highlight(&long, "rust", &theme)[0], &theme));
    }
}
