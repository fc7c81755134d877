//! What the user and the agent say.

use ratatui::text::{Line, Span};

use super::Writing;
use crate::amount::plural;
use crate::text::{Prefix, clean, clean_line, cut, wrap_with};
use crate::theme::Theme;

/// What the user wrote. A long text shows its beginning and its end: the user knows the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The text.
    pub text: String,
    /// How many of its first lines are shown.
    pub first: usize,
    /// How many of its last lines are shown.
    pub last: usize,
}

impl User {
    /// Shows two lines at each end.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            first: 2,
            last: 2,
        }
    }

    /// Its lines.
    pub fn lines(&self, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
        let mut rows: Vec<Line<'static>> = Vec::new();
        for (index, line) in clean(&self.text).trim_end().split('\n').enumerate() {
            let mark = if index == 0 {
                Span::styled("● ", theme.accent)
            } else {
                Span::raw("  ")
            };
            let line = Line::from(vec![Span::styled(line.to_owned(), theme.strong)]);
            rows.extend(wrap_with(
                &line,
                columns,
                &Prefix {
                    first: vec![mark],
                    rest: vec![Span::raw("  ")],
                },
            ));
        }
        let first = self.first.max(1);
        let hidden = rows.len().saturating_sub(first + self.last);
        if hidden < 2 {
            return rows;
        }
        let note = cut(&format!("  … {}", plural(hidden, "more line")), columns);
        rows.splice(
            first..first + hidden,
            [Line::from(vec![Span::styled(note, theme.faint)])],
        );
        rows
    }
}

/// What becomes of the marks in an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Marks {
    /// They turn into styles.
    #[default]
    Render,
    /// They are left out, and everything is in one style.
    Strip,
    /// They stay as they are written.
    Keep,
}

/// What the agent answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The text, in markdown.
    pub text: String,
    /// Whose answer it is, when it is not the agent's own: the name of a background prompt, for instance.
    pub label: Option<String>,
    /// What becomes of its marks.
    pub marks: Marks,
}

impl Answer {
    /// The line above an answer, which is also there while it is still being written.
    pub fn head(&self, columns: usize, theme: &Theme) -> Line<'static> {
        let label = self
            .label
            .as_deref()
            .map(clean_line)
            .unwrap_or_else(|| theme.response_label.clone());
        Line::from(vec![Span::styled(cut(&label, columns), theme.answer_rule)])
    }

    /// Its lines.
    pub fn lines(&self, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
        let mut writing = Writing::new(self.marks, columns, theme);
        writing.push(&self.text);
        writing.finish();
        let mut out = vec![self.head(columns, theme)];
        out.extend(writing.take_done());
        out
    }
}
