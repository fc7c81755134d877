//! How the popup looks.

use ratatui::text::{Line, Span};

use super::{Complete, MOST_ROWS};
use crate::Theme;
use crate::rows::{columns, cut, fit};

impl Complete {
    /// The popup's rows: the candidate, and what is said about it in a column of its own.
    pub fn view(&self, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let Some(open) = &self.open else {
            return Vec::new();
        };
        let first = (open.selected + 1).saturating_sub(MOST_ROWS);
        let shown: Vec<_> = (first..first + MOST_ROWS)
            .map_while(|rank| Some((rank, open.candidate(rank)?)))
            .collect();
        let widest = shown
            .iter()
            .map(|(_, candidate)| columns(&candidate.label))
            .max()
            .unwrap_or(0);
        let any_about = shown
            .iter()
            .any(|(_, candidate)| !candidate.about.is_empty());
        let label = match any_about && width >= 30 {
            true => widest.min(width / 2),
            false => width.saturating_sub(2),
        };
        let about = width.saturating_sub(label + 4);
        let rows = shown.into_iter().map(|(rank, candidate)| {
            let selected = rank == open.selected;
            let style = if selected { theme.selected } else { theme.text };
            let mark = if selected { "› " } else { "  " };
            let mut spans = vec![
                Span::styled(cut(mark, width), theme.accent),
                Span::styled(fit(&candidate.label, label), style),
            ];
            if any_about && width >= 30 {
                spans.push(Span::styled(
                    format!("  {}", cut(&candidate.about, about)),
                    theme.faint,
                ));
            }
            Line::from(spans)
        });
        rows.collect()
    }
}
