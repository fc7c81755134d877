//! What the model thinks.

use std::time::Duration;

use ratatui::text::{Line, Span};

use super::Fold;
use crate::amount::time;
use crate::text::{Prefix, clean, clean_line, cut, wrap_with};
use crate::theme::Theme;

/// Characters that are looked at for the first words.
const FIRST_WORDS: usize = 500;

/// What the model thought before it answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reasoning {
    /// The text so far.
    pub text: String,
    /// How long it took, or takes so far.
    pub elapsed: Duration,
    /// Whether it came to an end.
    pub done: bool,
    /// Whether the text is shown.
    pub fold: Fold,
}

impl Reasoning {
    /// Its lines: one when folded.
    pub fn lines(&self, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
        let mark = match self.fold {
            Fold::Folded => "▸",
            Fold::Open => "▾",
        };
        let verb = if self.done { "thought for" } else { "thinking" };
        let head = format!("{mark} {verb} {}", time(self.elapsed));
        match self.fold {
            Fold::Folded => {
                // The first words tell one thought from another.
                let start: String = self.text.chars().take(FIRST_WORDS).collect();
                let words = clean_line(&start);
                let line = if words.is_empty() {
                    head
                } else {
                    format!("{head} · {words}")
                };
                vec![Line::from(vec![Span::styled(
                    cut(&line, columns),
                    theme.faint,
                )])]
            }
            Fold::Open => {
                let bar = vec![Span::styled("│ ", theme.faint)];
                let prefix = Prefix {
                    first: bar.clone(),
                    rest: bar,
                };
                let mut out = vec![Line::from(vec![Span::styled(
                    cut(&head, columns),
                    theme.faint,
                )])];
                for line in clean(&self.text).trim().lines() {
                    out.extend(wrap_with(
                        &Line::from(vec![Span::styled(line.to_owned(), theme.faint)]),
                        columns,
                        &prefix,
                    ));
                }
                out
            }
        }
    }
}
