//! How the composer looks.

use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::Composer;
use super::buffer::Placed;
use super::history::Search;
use crate::Theme;
use crate::text::rows::{columns, cut, fit, paint};

/// Rows of text that are shown at once.
const MOST_ROWS: usize = 8;
/// The text gets at least this much before the symbol in front of it gets anything.
const LEAST_TEXT: usize = 6;
/// What the symbol may take, with a name in front of it.
const WIDEST_SYMBOL: usize = 20;

/// Lines and where the cursor is among them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct View {
    /// The lines.
    pub lines: Vec<Line<'static>>,
    /// Column and row of the cursor, where there is one.
    pub cursor: Option<(u16, u16)>,
}

impl Composer {
    /// The composer in a width: what is attached, a search, and one to eight rows of text.
    pub fn view(&self, width: u16, theme: &Theme) -> View {
        let width = usize::from(width).max(1);
        let mut lines = Vec::new();
        if !self.attachments.is_empty() {
            let labels: Vec<String> = self
                .attachments
                .iter()
                .map(|one| format!("[{}]", one.label))
                .collect();
            lines.push(Line::styled(cut(&labels.join(" "), width), theme.accent));
        }
        match &self.search {
            Some(search) => self.search_view(search, width, theme, lines),
            None => self.text_view(width, theme, lines),
        }
    }

    /// What the popup offers, in rows of its own.
    pub fn popup(&self, width: u16, theme: &Theme) -> Vec<Line<'static>> {
        self.complete.view(usize::from(width), theme)
    }

    fn text_view(&self, width: usize, theme: &Theme, mut lines: Vec<Line<'static>>) -> View {
        let inner = inner(width, theme);
        let placed = self.buffer.placed(inner);
        let top = visible_from(self.top, &placed);
        let badges = lines.len();
        for (index, row) in placed.rows.iter().enumerate().skip(top).take(MOST_ROWS) {
            let mut spans = prompt(width - inner, index == 0, theme);
            let room = inner.saturating_sub(1).max(1);
            spans.extend(paint(self.buffer.text(), row.clone(), room, |_| {
                theme.prompt
            }));
            if index + 1 == placed.rows.len() {
                let text = self.buffer.text().get(row.clone()).unwrap_or_default();
                let left = room.saturating_sub(columns(text).min(room));
                let behind = match self.buffer.is_empty() {
                    true => Some(self.placeholder.as_str()),
                    false => self.suggestion(),
                };
                spans.extend(behind.map(|text| Span::styled(cut(text, left), theme.faint)));
            }
            lines.push(Line::from(spans));
        }
        let x = (width - inner + placed.column).min(width - 1);
        let y = badges + placed.row - top;
        View {
            lines,
            cursor: position(x, y),
        }
    }

    fn search_view(
        &self,
        search: &Search,
        width: usize,
        theme: &Theme,
        mut lines: Vec<Line<'static>>,
    ) -> View {
        let inner = inner(width, theme);
        let shown = search.found(&self.history).unwrap_or(search.draft());
        let start = shown
            .to_lowercase()
            .find(&search.query().to_lowercase())
            .unwrap_or(shown.len());
        let hit = match search.query().is_empty() {
            true => 0..0,
            false => start..start + search.query().len(),
        };
        let room = inner.saturating_sub(1).max(1);
        let rows = crate::text::rows::wrap(shown, room);
        for (index, row) in rows.into_iter().take(MOST_ROWS - 1).enumerate() {
            let mut spans = prompt(width - inner, index == 0, theme);
            let style = |at: usize| {
                if hit.contains(&at) {
                    theme.selected
                } else {
                    theme.prompt
                }
            };
            spans.extend(paint(shown, row, room, style));
            lines.push(Line::from(spans));
        }
        // The cursor stands behind what is searched for, also where a quote closes it.
        let (asked, close, style) = match search.failed() {
            true => ("nothing sent before has “", "”", theme.warn),
            false => ("search: ", "", theme.label),
        };
        let asked = format!("{asked}{}", search.query());
        let x = columns(&asked).min(width - 1);
        let asked = cut(&format!("{asked}{close}"), width.saturating_sub(1));
        lines.push(Line::styled(asked, style));
        let y = lines.len() - 1;
        View {
            lines,
            cursor: position(x, y),
        }
    }

    /// Says how wide the composer is and how it looks. Keys move in the text as it is wrapped there.
    pub fn set_width(&mut self, width: u16, theme: &Theme) {
        self.text_width = inner(usize::from(width).max(1), theme);
        self.scroll();
    }

    /// Puts the cursor where somebody points: at a column and a row of what [`Composer::view`] shows in a width.
    pub fn click(&mut self, column: usize, row: usize, width: usize) {
        let badges = usize::from(!self.attachments.is_empty());
        let Some(row) = row.checked_sub(badges).filter(|row| *row < MOST_ROWS) else {
            return;
        };
        if self.search.is_some() {
            return;
        }
        let symbol = width.saturating_sub(self.text_width);
        let placed = self.buffer.placed(self.text_width);
        let row = visible_from(self.top, &placed) + row;
        self.buffer
            .point(row, column.saturating_sub(symbol), self.text_width);
        self.complete.reset();
        self.scroll();
    }

    /// Keeps the cursor among the rows that are shown.
    pub(super) fn scroll(&mut self) {
        let placed = self.buffer.placed(self.text_width);
        self.top = visible_from(self.top, &placed);
    }
}

/// The columns for text and cursor, behind the symbol and a space.
fn inner(width: usize, theme: &Theme) -> usize {
    let symbol = columns(theme.prompt_symbol.trim()).min(WIDEST_SYMBOL);
    match width.checked_sub(symbol + 1) {
        Some(inner) if inner >= LEAST_TEXT => inner,
        _ => width,
    }
}

fn visible_from(top: usize, placed: &Placed) -> usize {
    let last = placed.rows.len().saturating_sub(MOST_ROWS);
    top.clamp((placed.row + 1).saturating_sub(MOST_ROWS), placed.row)
        .min(last)
}

/// What stands in front of a row: the symbol, or as much space.
fn prompt(indent: usize, first: bool, theme: &Theme) -> Vec<Span<'static>> {
    let symbol = if first {
        theme.prompt_symbol.trim()
    } else {
        ""
    };
    let shown = cut(symbol, indent.saturating_sub(1));
    let style = theme.prompt.add_modifier(Modifier::BOLD);
    vec![Span::styled(fit(&shown, indent), style)]
}

fn position(x: usize, y: usize) -> Option<(u16, u16)> {
    Some((u16::try_from(x).ok()?, u16::try_from(y).ok()?))
}
