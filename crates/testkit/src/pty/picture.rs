//! A screen as a drawing for documents.

use std::fmt::Write as _;

use super::screen::{Cell, Color, Screen};

/// Size of one character in the drawing.
const WIDTH: f64 = 8.4;
const HEIGHT: f64 = 18.0;
/// Room around the text.
const MARGIN: f64 = 14.0;
const FONT: &str = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";

/// Stand for cells that have no letter of their own, and for those that have several; no program prints them.
const SECOND_HALF: char = '\u{e000}';
const SEVERAL: char = '\u{e001}';

/// Whether the terminal of the drawing is dark or light.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paper {
    /// Light text on a dark ground.
    Dark,
    /// Dark text on a light ground.
    Light,
}

impl Paper {
    fn ground(self) -> &'static str {
        match self {
            Self::Dark => "#14141c",
            Self::Light => "#fbfaf6",
        }
    }

    fn ink(self) -> &'static str {
        match self {
            Self::Dark => "#d8d8d8",
            Self::Light => "#24242c",
        }
    }
}

/// A stretch of one row that looks the same.
struct Run {
    start: u16,
    columns: u16,
    text: String,
    cell: Cell,
}

impl Screen {
    /// The screen as SVG, down to the last row with something on it. The same screen gives the same bytes.
    ///
    /// `tidy` may change what stands in a row, such as a time; the row keeps its length.
    pub fn svg(&self, paper: Paper, tidy: impl Fn(&str) -> String) -> String {
        let (columns, rows) = self.size();
        let used = self.text().lines().count().max(1);
        let rows = rows.min(u16::try_from(used).unwrap_or(u16::MAX));
        let width = f64::from(columns) * WIDTH + 2.0 * MARGIN;
        let height = f64::from(rows) * HEIGHT + 2.0 * MARGIN;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.1} {height:.1}\" \
             font-family=\"{FONT}\" font-size=\"14\">\n\
             <rect width=\"{width:.1}\" height=\"{height:.1}\" rx=\"8\" fill=\"{}\"/>\n",
            paper.ground()
        );
        for row in 0..rows {
            let top = MARGIN + f64::from(row) * HEIGHT;
            for run in self.runs(row, columns, &tidy) {
                run.draw(top, paper, &mut svg);
            }
        }
        svg.push_str("</svg>\n");
        svg
    }

    /// The stretches of a row that differ from empty paper.
    fn runs(&self, row: u16, columns: u16, tidy: &impl Fn(&str) -> String) -> Vec<Run> {
        let cells: Vec<Cell> = (0..columns)
            .filter_map(|column| self.cell(row, column))
            .collect();
        // One letter for each cell, so that what is changed can be put back where it was.
        let mut rare: Vec<&str> = Vec::new();
        let mut plain = String::new();
        for cell in &cells {
            let mut letters = cell.text.chars();
            plain.push(match (letters.next(), letters.next()) {
                (None, _) if cell.continues => SECOND_HALF,
                (None, _) => ' ',
                (Some(letter), None) => letter,
                (Some(_), Some(_)) => {
                    rare.push(&cell.text);
                    SEVERAL
                }
            });
        }
        let mut rare = rare.into_iter();
        let texts: Vec<String> = tidy(&plain)
            .chars()
            .map(|letter| match letter {
                SECOND_HALF => String::new(),
                SEVERAL => rare.next().unwrap_or_default().to_owned(),
                letter => letter.to_string(),
            })
            .collect();
        let mut runs: Vec<Run> = Vec::new();
        for ((column, cell), text) in (0_u16..).zip(&cells).zip(texts) {
            match runs.last_mut() {
                Some(run) if run.looks_like(cell) => {
                    run.text.push_str(&text);
                    run.columns += 1;
                }
                _ => runs.push(Run {
                    start: column,
                    columns: 1,
                    text,
                    cell: cell.clone(),
                }),
            }
        }
        runs
    }
}

impl Run {
    fn looks_like(&self, cell: &Cell) -> bool {
        let own = &self.cell;
        (own.foreground, own.background) == (cell.foreground, cell.background)
            && (own.bold, own.dim, own.underline, own.inverse)
                == (cell.bold, cell.dim, cell.underline, cell.inverse)
    }

    fn draw(&self, top: f64, paper: Paper, svg: &mut String) {
        let mut ink = colour(self.cell.foreground, paper.ink());
        let mut ground = colour(self.cell.background, paper.ground());
        if self.cell.inverse {
            std::mem::swap(&mut ink, &mut ground);
        }
        let left = MARGIN + f64::from(self.start) * WIDTH;
        let width = f64::from(self.columns) * WIDTH;
        // Writing to a string cannot fail.
        if ground != paper.ground() {
            let _ = writeln!(
                svg,
                "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{HEIGHT:.1}\" fill=\"{ground}\"/>"
            );
        }
        if self.text.trim().is_empty() {
            return;
        }
        let mut look = format!("fill=\"{ink}\"");
        if self.cell.bold {
            look.push_str(" font-weight=\"bold\"");
        }
        if self.cell.dim {
            look.push_str(" opacity=\"0.6\"");
        }
        if self.cell.underline {
            look.push_str(" text-decoration=\"underline\"");
        }
        let base = top + HEIGHT * 0.75;
        let _ = writeln!(
            svg,
            "<text x=\"{left:.1}\" y=\"{base:.1}\" textLength=\"{width:.1}\" lengthAdjust=\"spacingAndGlyphs\" \
             xml:space=\"preserve\" {look}>{}</text>",
            escaped(&self.text)
        );
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            character if character.is_control() => out.push(' '),
            character => out.push(character),
        }
    }
    out
}

/// The sixteen colours of a usual terminal.
const NAMED: [&str; 16] = [
    "#2e3436", "#cc4444", "#5c9e31", "#c4a000", "#4a7fc1", "#8f6aa5", "#2f9a9c", "#d3d7cf",
    "#6c706b", "#ef5350", "#8ae234", "#fce94f", "#729fcf", "#ad7fa8", "#34e2e2", "#eeeeec",
];

fn colour(colour: Color, usual: &str) -> String {
    match colour {
        Color::Default => usual.to_owned(),
        Color::Rgb(red, green, blue) => format!("#{red:02x}{green:02x}{blue:02x}"),
        Color::Idx(index) => match NAMED.get(usize::from(index)) {
            Some(named) => (*named).to_owned(),
            None => indexed(index),
        },
    }
}

/// The cube and the greys of the 256 colours.
fn indexed(index: u8) -> String {
    if let Some(grey) = index.checked_sub(232) {
        let level = 8 + 10 * grey;
        return format!("#{level:02x}{level:02x}{level:02x}");
    }
    let index = index.saturating_sub(16);
    let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
    let (red, green, blue) = (level(index / 36), level(index / 6 % 6), level(index % 6));
    format!("#{red:02x}{green:02x}{blue:02x}")
}
