//! Breaks a styled line into lines of a width.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;

use super::width::{grapheme_width, head, spans_width, width};

/// What stands in front of the lines a text is broken into.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Prefix {
    /// In front of the first line.
    pub(crate) first: Vec<Span<'static>>,
    /// In front of the others.
    pub(crate) rest: Vec<Span<'static>>,
}

/// Breaks a line at spaces, or inside of words that are longer than a line. Lines after the first keep the
/// indentation of the first. Narrower than one column counts as one.
pub fn wrap(line: &Line<'_>, columns: usize) -> Vec<Line<'static>> {
    let indent = indentation(line, columns);
    let rest = if indent > 0 {
        vec![Span::raw(" ".repeat(indent))]
    } else {
        Vec::new()
    };
    wrap_with(
        line,
        columns,
        &Prefix {
            first: Vec::new(),
            rest,
        },
    )
}

/// How far a line is indented; not at all when that would leave little room for the lines after it.
pub(crate) fn indentation(line: &Line<'_>, columns: usize) -> usize {
    let letters = line.spans.iter().flat_map(|span| span.content.chars());
    let indent = letters.take_while(|c| *c == ' ').count();
    if indent <= columns / 2 { indent } else { 0 }
}

/// Like [`wrap`], with something in front of each line that counts towards its width.
pub(crate) fn wrap_with(line: &Line<'_>, columns: usize, prefix: &Prefix) -> Vec<Line<'static>> {
    let columns = columns.max(1);
    // Whatever stands in front, one column is left for the text.
    let prefix = Prefix {
        first: clip(&prefix.first, columns - 1),
        rest: clip(&prefix.rest, columns - 1),
    };
    let mut rows = Rows::new(columns, &prefix);
    for span in &line.spans {
        let style = line.style.patch(span.style);
        for grapheme in span.content.graphemes(true) {
            rows.push(grapheme, style);
        }
    }
    rows.finish()
}

/// The beginning of a run of styled text that fits into `columns`.
pub(crate) fn clip(spans: &[Span<'static>], columns: usize) -> Vec<Span<'static>> {
    if spans_width(spans) <= columns {
        return spans.to_vec();
    }
    let mut left = columns;
    let mut out = Vec::new();
    for span in spans {
        let text = head(&span.content, left);
        left -= width(text);
        out.push(Span::styled(text.to_owned(), span.style));
    }
    out
}

struct Piece<'a> {
    text: &'a str,
    style: Style,
    width: usize,
}

struct Rows<'a> {
    columns: usize,
    prefix: &'a Prefix,
    done: Vec<Line<'static>>,
    row: Vec<Piece<'a>>,
    width: usize,
    /// How many pieces of the row stay when it is broken at its last opportunity.
    opportunity: Option<usize>,
    /// Nothing but the indentation was seen, which is no place to break.
    indented: bool,
}

impl<'a> Rows<'a> {
    fn new(columns: usize, prefix: &'a Prefix) -> Self {
        Self {
            columns,
            prefix,
            done: Vec::new(),
            row: Vec::new(),
            width: 0,
            opportunity: None,
            indented: true,
        }
    }

    /// Columns for the text of the row under way.
    fn room(&self) -> usize {
        self.columns.saturating_sub(spans_width(self.front()))
    }

    fn front(&self) -> &'a [Span<'static>] {
        if self.done.is_empty() {
            &self.prefix.first
        } else {
            &self.prefix.rest
        }
    }

    fn push(&mut self, text: &'a str, style: Style) {
        self.place(Piece {
            text,
            style,
            width: grapheme_width(text),
        });
    }

    fn place(&mut self, mut piece: Piece<'a>) {
        let space = piece.text == " ";
        while self.width + piece.width > self.room() && !self.row.is_empty() {
            let at = self
                .opportunity
                .filter(|at| *at > 0 && !space)
                .unwrap_or(self.row.len());
            let later = self.row.split_off(at.min(self.row.len()));
            self.close();
            for piece in later {
                self.place(piece);
            }
        }
        if space && self.row.is_empty() && !self.done.is_empty() {
            // The space that would begin a line is what the break stands for.
            return;
        }
        if piece.width > self.room() {
            piece = Piece {
                text: "…",
                width: 1,
                ..piece
            };
        }
        let wide = piece.width > 1;
        if wide && !self.indented {
            // Scripts of wide characters write without spaces and break anywhere.
            self.opportunity = Some(self.row.len());
        }
        self.indented &= space;
        self.width += piece.width;
        self.row.push(piece);
        if (space && !self.indented) || wide {
            self.opportunity = Some(self.row.len());
        }
    }

    fn close(&mut self) {
        let mut spans = self.front().to_vec();
        let row = std::mem::take(&mut self.row);
        let kept = row
            .iter()
            .rposition(|piece| piece.text != " ")
            .map_or(0, |last| last + 1);
        let mut text: Vec<Span<'static>> = Vec::new();
        for piece in row.iter().take(kept) {
            match text.last_mut() {
                Some(last) if last.style == piece.style => {
                    last.content.to_mut().push_str(piece.text)
                }
                _ => text.push(Span::styled(piece.text.to_owned(), piece.style)),
            }
        }
        if text.is_empty() {
            trim_end(&mut spans);
        }
        spans.append(&mut text);
        self.done.push(Line::from(spans));
        self.width = 0;
        self.opportunity = None;
    }

    fn finish(mut self) -> Vec<Line<'static>> {
        if !self.row.is_empty() || self.done.is_empty() {
            self.close();
        }
        self.done
    }
}

/// Takes away spaces at the end, which are only in the way when lines are copied.
pub(crate) fn trim_end(spans: &mut Vec<Span<'static>>) {
    while let Some(last) = spans.last_mut() {
        let length = last.content.trim_end().len();
        if length > 0 {
            last.content.to_mut().truncate(length);
            return;
        }
        spans.pop();
    }
}

#[cfg(test)]
#[path = "wrap_tests.rs"]
mod tests;
