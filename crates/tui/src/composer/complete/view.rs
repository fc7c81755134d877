//! How the popup looks.

use ratatui::text::{Line, Span};

use super::{Complete, MOST_ROWS};
use crate::Theme;
use crate::text::cut_path;
use crate::text::rows::{columns, cut, fit};

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
        let told = shown.iter().map(|(_, one)| columns(&one.about)).max();
        let told = told.filter(|told| *told > 0 && width >= 30);
        // The last column stays free: a full line would be broken by a terminal that becomes narrower.
        let free = width.saturating_sub(told.map_or(3, |told| told + 5));
        let least = told.map_or(0, |_| width / 2);
        let label = widest.min(free.max(least));
        let about = told.map(|told| told.min(width.saturating_sub(label + 5)));
        let rows = shown.into_iter().map(|(rank, candidate)| {
            let selected = rank == open.selected;
            let (mark, style, meta) = match selected {
                true => ("› ", theme.menu.current, theme.menu.meta_current),
                false => ("  ", theme.menu.entry, theme.menu.meta),
            };
            let mut spans = vec![
                Span::styled(cut(mark, width), style),
                Span::styled(fit(&named(&candidate.label, label), label), style),
            ];
            spans.extend(about.map(|about| {
                let told = format!("  {}", cut(&candidate.about, about));
                Span::styled(fit(&told, about + 2), meta)
            }));
            Line::from(spans)
        });
        rows.collect()
    }
}

/// Paths differ at their ends, everything else at its beginning.
fn named(label: &str, room: usize) -> String {
    match label.chars().skip(1).any(|letter| letter == '/') {
        true => cut_path(label, room),
        false => label.to_owned(),
    }
}
