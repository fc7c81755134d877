//! What the model thinks.

use std::time::Duration;

use ratatui::text::{Line, Span};

use super::Fold;
use crate::amount::time;
use crate::text::{Prefix, clean, clean_line, cut, width, wrap_with};
use crate::theme::Theme;

/// Characters that are looked at for the first words.
const FIRST_WORDS: usize = 500;

/// Rows that are shown of a thought that is not shown whole.
const CLAMPED: usize = 4;

/// What the model thought before it answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reasoning {
    /// The text so far.
    pub text: String,
    /// How long it took, or takes so far; zero at its end when nobody knows.
    pub elapsed: Duration,
    /// Whether it came to an end.
    pub done: bool,
    /// How much of the text is shown.
    pub fold: Fold,
}

impl Reasoning {
    /// Its lines: one when folded, a few when clamped.
    pub fn lines(&self, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
        match self.fold {
            Fold::Folded => vec![self.line(columns, theme)],
            Fold::Clamped => self.few(columns, theme),
            Fold::Open => {
                let mut out = vec![faint(cut(&self.head("▾"), columns), theme)];
                out.extend(self.rows(columns, theme));
                out
            }
        }
    }

    fn head(&self, mark: &str) -> String {
        match (self.done, self.elapsed) {
            (true, Duration::ZERO) => format!("{mark} thought"),
            (true, elapsed) => format!("{mark} thought for {}", time(elapsed)),
            (false, elapsed) => format!("{mark} thinking {}", time(elapsed)),
        }
    }

    /// All of it in one line, as far as it goes: the first words tell one thought from another.
    fn one_line(&self) -> String {
        let start: String = self.text.chars().take(FIRST_WORDS).collect();
        let words = clean_line(&start);
        let head = self.head("▸");
        match words.is_empty() {
            true => head,
            false => format!("{head} · {words}"),
        }
    }

    fn line(&self, columns: usize, theme: &Theme) -> Line<'static> {
        faint(cut(&self.one_line(), columns), theme)
    }

    /// Its first rows, or its last ones while it goes on.
    fn few(&self, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
        let rows = self.rows(columns, theme);
        if rows.len() <= 1 && width(&self.one_line()) <= columns {
            return vec![self.line(columns, theme)];
        }
        let mut out = vec![faint(cut(&self.head("▸"), columns), theme)];
        let left = rows.len().saturating_sub(CLAMPED);
        match self.done {
            true => out.extend(rows.into_iter().take(CLAMPED)),
            false => out.extend(rows.into_iter().skip(left)),
        }
        if self.done && left > 0 {
            let more = match left {
                1 => "│ … 1 more line".to_owned(),
                left => format!("│ … {left} more lines"),
            };
            out.push(faint(cut(&more, columns), theme));
        }
        out
    }

    /// The text, as wide as there is room for.
    fn rows(&self, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
        let bar = vec![Span::styled("│ ", theme.faint)];
        let prefix = Prefix {
            first: bar.clone(),
            rest: bar,
        };
        let mut out = Vec::new();
        for line in clean(&self.text).trim().lines() {
            out.extend(wrap_with(&faint(line.to_owned(), theme), columns, &prefix));
        }
        out
    }
}

fn faint(text: String, theme: &Theme) -> Line<'static> {
    Line::from(vec![Span::styled(text, theme.faint)])
}
