//! Code blocks.

use ratatui::text::{Line, Span};

use crate::highlight::Highlighter;
use crate::text::{Prefix, indentation, wrap_with};
use crate::theme::Theme;

/// How far code stands from the margin: enough to be told from text, little enough to be copied.
const INDENT: &str = "  ";

/// The line that opens a code block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fence {
    mark: char,
    length: usize,
    indent: usize,
    /// What is written behind the marks.
    pub(super) language: String,
}

impl Fence {
    /// Reads an opening line.
    pub(super) fn opens(line: &str) -> Option<Self> {
        let body = line.trim_start_matches(' ');
        let mark = body.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let info = body.trim_start_matches(mark);
        let length = body.len() - info.len();
        // A backtick behind the marks makes it inline code.
        if length < 3 || (mark == '`' && info.contains('`')) {
            return None;
        }
        Some(Self {
            mark,
            length,
            indent: line.len() - body.len(),
            language: info.trim().to_owned(),
        })
    }

    /// Whether a line ends the block.
    pub(super) fn closed_by(&self, line: &str) -> bool {
        let body = line.trim();
        body.len() >= self.length && body.chars().all(|c| c == self.mark)
    }

    /// Whether an unfinished line may yet end the block.
    pub(super) fn may_close(&self, line: &str) -> bool {
        line.trim().chars().all(|c| c == self.mark)
    }

    /// A line of the block without the indentation of its fence.
    pub(super) fn content<'a>(&self, line: &'a str) -> &'a str {
        let spaces = line.len() - line.trim_start_matches(' ').len();
        line.get(spaces.min(self.indent)..).unwrap_or_default()
    }
}

/// A code block whose lines come one by one.
#[derive(Debug, Clone)]
pub(super) struct Code {
    pub(super) fence: Fence,
    highlighter: Highlighter,
}

impl Code {
    pub(super) fn new(fence: Fence, theme: &Theme) -> Self {
        let highlighter = Highlighter::new(&fence.language, theme);
        Self { fence, highlighter }
    }

    /// The rows of one more line.
    pub(super) fn line(&mut self, line: &str, columns: usize) -> Vec<Line<'static>> {
        rows(&self.highlighter.line(self.fence.content(line)), columns)
    }

    /// The rows of a line that is not complete. The next one still counts as the first.
    pub(super) fn partial(&self, line: &str, columns: usize) -> Vec<Line<'static>> {
        self.clone().line(line, columns)
    }
}

/// The rows of one line of code.
pub(super) fn rows(line: &Line<'_>, columns: usize) -> Vec<Line<'static>> {
    if line.spans.iter().all(|span| span.content.trim().is_empty()) {
        return vec![Line::default()];
    }
    let deep = indentation(line, columns);
    let rest = vec![Span::raw(format!("{INDENT}{}", " ".repeat(deep)))];
    wrap_with(
        line,
        columns,
        &Prefix {
            first: vec![Span::raw(INDENT)],
            rest,
        },
    )
}
