//! Tables that fit a width.

use pulldown_cmark::Alignment;
use ratatui::text::{Line, Span};

use crate::text::{Prefix, spans_width, wrap, wrap_with};
use crate::theme::Theme;

/// A column narrower than this shows nothing.
const NARROWEST: usize = 4;

/// A table under construction.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) alignments: Vec<Alignment>,
    /// The first row is the head.
    pub(super) rows: Vec<Vec<Vec<Span<'static>>>>,
}

impl Table {
    pub(super) fn lines(&self, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
        let count = self.alignments.len();
        let room = columns.saturating_sub(count.saturating_sub(1) * 3);
        match widths(&self.natural(), room) {
            Some(widths) => self.grid(&widths, theme),
            None => self.records(columns, theme),
        }
    }

    fn natural(&self) -> Vec<usize> {
        let widest = |column: usize| {
            self.rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| spans_width(cell))
                .max()
        };
        (0..self.alignments.len())
            .map(|column| widest(column).unwrap_or(0).max(1))
            .collect()
    }

    fn grid(&self, widths: &[usize], theme: &Theme) -> Vec<Line<'static>> {
        let rows: Vec<Vec<Vec<Line<'static>>>> =
            self.rows.iter().map(|row| cells(row, widths)).collect();
        let tall = rows
            .iter()
            .skip(1)
            .any(|row| row.iter().any(|cell| cell.len() > 1));
        let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
        let rule = Line::from(vec![Span::styled(rule.join("─┼─"), theme.faint)]);
        let mut out = Vec::new();
        for (index, row) in rows.iter().enumerate() {
            if index == 1 || (index > 1 && tall) {
                out.push(rule.clone());
            }
            let height = row.iter().map(Vec::len).max().unwrap_or(1);
            out.extend((0..height).map(|line| self.row(row, line, widths, theme)));
        }
        if self.rows.len() == 1 {
            out.push(rule);
        }
        out
    }

    fn row(
        &self,
        row: &[Vec<Line<'static>>],
        line: usize,
        widths: &[usize],
        theme: &Theme,
    ) -> Line<'static> {
        let mut spans = Vec::new();
        for (column, width) in widths.iter().enumerate() {
            if column > 0 {
                spans.push(Span::styled(" │ ", theme.faint));
            }
            let content = row
                .get(column)
                .and_then(|cell| cell.get(line))
                .map(|line| line.spans.clone())
                .unwrap_or_default();
            let missing = width.saturating_sub(spans_width(&content));
            let left = match self.alignments.get(column) {
                Some(Alignment::Right) => missing,
                Some(Alignment::Center) => missing / 2,
                Some(Alignment::Left | Alignment::None) | None => 0,
            };
            let last = column + 1 == widths.len();
            spans.extend(blank(left));
            spans.extend(content);
            // Spaces at the end of a line are only in the way when it is copied.
            spans.extend(blank(if last { 0 } else { missing - left }));
        }
        Line::from(spans)
    }

    /// Too narrow for a grid: each row as a list of its cells with their heads.
    fn records(&self, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
        let mut out = Vec::new();
        let head = self.rows.first();
        for row in self.rows.iter().skip(1) {
            if !out.is_empty() {
                out.push(Line::default());
            }
            for (column, cell) in row.iter().enumerate() {
                let mut spans = head
                    .and_then(|head| head.get(column))
                    .cloned()
                    .unwrap_or_default();
                spans.push(Span::styled(": ", theme.faint));
                spans.extend(cell.iter().cloned());
                let rest = vec![Span::raw("  ")];
                out.extend(wrap_with(
                    &Line::from(spans),
                    columns,
                    &Prefix {
                        first: Vec::new(),
                        rest,
                    },
                ));
            }
        }
        out
    }
}

fn cells(row: &[Vec<Span<'static>>], widths: &[usize]) -> Vec<Vec<Line<'static>>> {
    let lines =
        |(cell, width): (&Vec<Span<'static>>, &usize)| wrap(&Line::from(cell.clone()), *width);
    row.iter().zip(widths).map(lines).collect()
}

fn blank(columns: usize) -> Option<Span<'static>> {
    (columns > 0).then(|| Span::raw(" ".repeat(columns)))
}

/// Column widths within `room`: the widest give way first. None when there is no room for all.
fn widths(natural: &[usize], room: usize) -> Option<Vec<usize>> {
    if natural.iter().sum::<usize>() <= room {
        return Some(natural.to_vec());
    }
    let capped = |cap: usize| natural.iter().map(|width| (*width).min(cap)).sum::<usize>();
    let cap = (NARROWEST..=room).rev().find(|cap| capped(*cap) <= room)?;
    let mut left = room - capped(cap);
    let fill = |width: &usize| {
        let more = usize::from(*width > cap && left > 0);
        left -= more;
        (*width).min(cap) + more
    };
    Some(natural.iter().map(fill).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_columns_give_way_first() {
        assert_eq!(widths(&[3, 5], 10), Some(vec![3, 5]));
        assert_eq!(widths(&[3, 30, 10], 20), Some(vec![3, 9, 8]));
        assert_eq!(widths(&[30, 30], 15), Some(vec![8, 7]));
        assert_eq!(widths(&[30, 30, 30], 10), None);
    }
}
