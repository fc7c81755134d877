//! Tables whose columns line up in every script.

use std::io;

use unicode_width::UnicodeWidthStr;

use crate::output::{Output, Style, one_line};

/// Rows under a heading; the last column may be as long as it likes.
pub(crate) struct Table {
    heading: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new<const N: usize>(heading: [&'static str; N]) -> Self {
        Self {
            heading: heading.to_vec(),
            rows: Vec::new(),
        }
    }

    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows
            .push(cells.into_iter().map(|cell| one_line(&cell)).collect());
    }

    pub(crate) fn print(&self, output: &mut Output) -> io::Result<()> {
        let widths: Vec<usize> = (0..self.heading.len())
            .map(|column| {
                let cells = self
                    .rows
                    .iter()
                    .filter_map(|row| row.get(column))
                    .map(|cell| cell.width());
                cells
                    .chain([self.heading[column].width()])
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        let heading = line(self.heading.iter().copied(), &widths);
        let heading = output.paint(Style::Strong, &heading);
        output.line(heading)?;
        for row in &self.rows {
            output.line(line(row.iter().map(String::as_str), &widths))?;
        }
        Ok(())
    }
}

/// Text cut to a width, with an ellipsis where something is missing.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 1;
    for character in text.chars() {
        used += unicode_width::UnicodeWidthChar::width(character).unwrap_or(0);
        if used > width {
            break;
        }
        out.push(character);
    }
    out.push('…');
    out
}

fn line<'c>(cells: impl Iterator<Item = &'c str>, widths: &[usize]) -> String {
    let mut out = String::new();
    for (cell, width) in cells.zip(widths) {
        out.push_str(cell);
        let padding = width.saturating_sub(cell.width()) + 2;
        out.extend(std::iter::repeat_n(' ', padding));
    }
    out.trim_end().to_owned()
}
