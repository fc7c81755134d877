//! Rows with a bar, as wide as the terminal allows.

use std::io::{self, IsTerminal};

use hermes_config::{Environment, Variable};
use unicode_width::UnicodeWidthStr;

use super::plot;
use crate::output::{Output, Style, one_line};
use crate::table::cut;

const LONGEST_LABEL: usize = 28;
const LONGEST_BAR: usize = 40;
const SHORTEST_BAR: usize = 4;
const USUAL_WIDTH: usize = 80;
const GAP: usize = 2;

/// How wide the page is, and what bars are made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    width: usize,
    blocks: bool,
}

/// A label, how long its bar is, and what stands behind it.
pub(super) struct Row {
    pub(super) label: String,
    pub(super) amount: u64,
    pub(super) cells: Vec<String>,
}

impl Layout {
    /// Blocks for people; in a file or a pipe they are a nuisance.
    pub(super) fn of(environment: &Environment, output: &Output) -> Self {
        let person = io::stdout().is_terminal();
        let said = environment.filled(&Variable::COLUMNS);
        let said = said.and_then(|text| text.parse().ok());
        let seen = || crossterm::terminal::size().ok().filter(|_| person);
        let given = output.width().or(said);
        let width = given.or_else(|| seen().map(|(columns, _)| usize::from(columns)));
        Self {
            width: width.unwrap_or(USUAL_WIDTH),
            blocks: person && environment.get(&Variable::TERM) != Some("dumb"),
        }
    }

    /// Columns there are for a plot, next to a margin.
    pub(super) fn room(&self) -> usize {
        self.width.saturating_sub(2 * GAP)
    }

    /// A plot of columns, each `wide` characters, from the top row down.
    pub(super) fn columns(&self, values: &[u64], wide: usize) -> Vec<String> {
        plot::columns(values, wide, self.blocks)
    }

    pub(super) fn print(&self, rows: &[Row], output: &mut Output) -> io::Result<()> {
        let labels: Vec<_> = rows
            .iter()
            .map(|row| cut(&one_line(&row.label), LONGEST_LABEL))
            .collect();
        let label_width = labels.iter().map(|label| label.width()).max().unwrap_or(0);
        let columns = rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                let cells = rows.iter().filter_map(|row| row.cells.get(column));
                cells.map(|cell| cell.width()).max().unwrap_or(0)
            })
            .collect();
        let taken: usize = widths.iter().map(|width| width + GAP).sum();
        let room = self.width.saturating_sub(GAP + label_width + GAP + taken);
        let bar_width = room.min(LONGEST_BAR);
        let most = rows.iter().map(|row| row.amount).max().unwrap_or(0);
        for (row, label) in rows.iter().zip(&labels) {
            let mut line = format!("  {label}{}", spaces(label_width - label.width()));
            if bar_width >= SHORTEST_BAR {
                let bar = self.bar(row.amount, most, bar_width);
                let rest = bar_width - bar.width();
                line.push_str(&spaces(GAP));
                line.push_str(&output.paint(Style::Good, &bar));
                line.push_str(&spaces(rest));
            }
            for (cell, width) in row.cells.iter().zip(&widths) {
                line.push_str(&spaces(GAP + width - cell.width()));
                line.push_str(cell);
            }
            output.line(line.trim_end())?;
        }
        Ok(())
    }

    /// A bar in eighths of a character, or in whole characters where there are no blocks.
    fn bar(self, amount: u64, most: u64, width: usize) -> String {
        if amount == 0 || most == 0 {
            return String::new();
        }
        let part = amount as f64 / most as f64 * width as f64;
        if !self.blocks {
            return "#".repeat((part.round() as usize).max(1));
        }
        let eighths = ((part * 8.0).round() as usize).max(1);
        let mut bar = "█".repeat(eighths / 8);
        bar.extend(
            ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
                .get(eighths % 8)
                .copied(),
        );
        bar
    }
}

fn spaces(count: usize) -> String {
    " ".repeat(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(blocks: bool, amount: u64, expected: &str) {
        let layout = Layout { width: 80, blocks };
        assert_eq!(layout.bar(amount, 100, 4), expected);
    }

    #[test]
    fn a_bar_is_as_long_as_its_share() {
        check(true, 100, "████");
        check(true, 50, "██");
        check(true, 47, "█▉");
        check(true, 1, "▏");
        check(true, 0, "");
        check(false, 100, "####");
        check(false, 1, "#");
        check(false, 0, "");
    }
}
