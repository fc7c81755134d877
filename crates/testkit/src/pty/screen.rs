//! A still picture of the terminal.

use std::fmt;

pub use vt100::Color;

/// What a terminal showed at one moment.
#[derive(Debug, Clone)]
pub struct Screen(vt100::Screen);

/// One character cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// The character with its combining marks; empty for a blank cell.
    pub text: String,
    /// Colour of the character.
    pub foreground: Color,
    /// Colour behind it.
    pub background: Color,
    /// Bold.
    pub bold: bool,
    /// Faint.
    pub dim: bool,
    /// Underlined.
    pub underline: bool,
    /// Colours swapped.
    pub inverse: bool,
    /// The second half of the wide character before it.
    pub continues: bool,
}

impl Screen {
    pub(super) fn of(screen: &vt100::Screen) -> Self {
        Self(screen.clone())
    }

    /// The rows from top to bottom, without trailing blanks.
    pub fn rows(&self) -> Vec<String> {
        let (_, columns) = self.0.size();
        self.0
            .rows(0, columns.get())
            .map(|row| row.trim_end().to_owned())
            .collect()
    }

    /// All rows as one text, without the blank rows at the bottom.
    pub fn text(&self) -> String {
        self.rows().join("\n").trim_end().to_owned()
    }

    /// Whether `text` stands somewhere within one row.
    pub fn contains(&self, text: &str) -> bool {
        self.rows().iter().any(|row| row.contains(text))
    }

    /// Columns and rows.
    pub fn size(&self) -> (u16, u16) {
        let (rows, columns) = self.0.size();
        (columns.get(), rows.get())
    }

    /// Row and column of the cursor, from 0.
    pub fn cursor(&self) -> (u16, u16) {
        self.0.cursor_position()
    }

    /// Whether the cursor is hidden.
    pub fn cursor_hidden(&self) -> bool {
        self.0.hide_cursor()
    }

    /// Whether the program has switched to the alternate screen.
    pub fn alternate(&self) -> bool {
        self.0.alternate_screen()
    }

    /// The cell at a row and column, from 0; `None` outside the screen.
    pub fn cell(&self, row: u16, col: u16) -> Option<Cell> {
        let cell = self.0.cell(row, col)?;
        Some(Cell {
            text: cell.contents().to_owned(),
            foreground: cell.fgcolor(),
            background: cell.bgcolor(),
            bold: cell.bold(),
            dim: cell.dim(),
            underline: cell.underline(),
            inverse: cell.inverse(),
            continues: cell.is_wide_continuation(),
        })
    }
}

impl fmt::Display for Screen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in self.text().lines() {
            writeln!(f, "| {row}")?;
        }
        let (row, col) = self.cursor();
        write!(f, "cursor at row {row}, column {col}")
    }
}
