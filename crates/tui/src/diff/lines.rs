//! Changes to lines.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::{Diff, File, MOST_LINES, Row};
use crate::amount::plural;
use crate::text::{Prefix, clean, clip, cut, cut_path, indentation, wrap_with};
use crate::theme::Theme;

impl Diff {
    /// The changes with their line numbers, at most eighty lines of them; the rest is counted.
    pub fn lines(&self, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
        let mut out = Vec::new();
        let mut room = MOST_LINES;
        let mut hidden = 0;
        for file in &self.files {
            out.push(file.head(columns, theme));
            let shown = file.rows.len().min(room);
            room -= shown;
            hidden += file.more + file.rows.len() - shown;
            let width = file.number_width();
            for row in file.rows.iter().take(shown) {
                out.extend(row.lines(width, columns, theme));
            }
        }
        if let Some(rest) = remainder(hidden, self.more_files) {
            out.push(Line::from(vec![Span::styled(
                cut(&rest, columns),
                theme.faint,
            )]));
        }
        out
    }
}

fn remainder(lines: usize, files: usize) -> Option<String> {
    match (lines, files) {
        (0, 0) => None,
        (lines, 0) => Some(format!("… {} not shown", plural(lines, "more line"))),
        (0, files) => Some(format!("… {} not shown", plural(files, "more file"))),
        (lines, files) => Some(format!(
            "… {} and {} not shown",
            plural(lines, "more line"),
            plural(files, "more file")
        )),
    }
}

impl File {
    fn head(&self, columns: usize, theme: &Theme) -> Line<'static> {
        let (added, removed) = (format!(" +{}", self.added), format!(" -{}", self.removed));
        let room = columns.saturating_sub(added.len() + removed.len());
        let spans = [
            Span::styled(cut_path(&self.path, room), theme.label),
            Span::styled(added, theme.added),
            Span::styled(removed, theme.removed),
        ];
        Line::from(clip(&spans, columns))
    }

    fn number_width(&self) -> usize {
        self.rows
            .iter()
            .filter_map(Row::number)
            .max()
            .unwrap_or(0)
            .to_string()
            .len()
    }
}

impl Row {
    fn number(&self) -> Option<usize> {
        match self {
            Self::Skip => None,
            Self::Same { number, .. }
            | Self::Added { number, .. }
            | Self::Removed { number, .. } => Some(*number),
        }
    }

    fn lines(&self, width: usize, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
        match self {
            Self::Skip => vec![Line::from(vec![Span::styled(
                cut(&format!("{:>width$} ⋯", ""), columns),
                theme.faint,
            )])],
            Self::Same { number, text } => {
                rows(*number, ' ', text, width, columns, theme.faint, theme)
            }
            Self::Added { number, text } => {
                rows(*number, '+', text, width, columns, theme.added, theme)
            }
            Self::Removed { number, text } => {
                rows(*number, '-', text, width, columns, theme.removed, theme)
            }
        }
    }
}

fn rows(
    number: usize,
    sign: char,
    text: &str,
    width: usize,
    columns: usize,
    style: Style,
    theme: &Theme,
) -> Vec<Line<'static>> {
    let first = vec![
        Span::styled(format!("{number:>width$} "), theme.faint),
        Span::styled(format!("{sign} "), style),
    ];
    let line = Line::from(vec![Span::styled(clean(text).replace('\n', " "), style)]);
    let rest = vec![Span::raw(" ".repeat(
        width + 3 + indentation(&line, columns.saturating_sub(width + 3)),
    ))];
    wrap_with(&line, columns, &Prefix { first, rest })
}
