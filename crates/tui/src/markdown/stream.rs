//! Markdown that comes in pieces.

use ratatui::text::Line;

use super::blocks::{Boundary, Scanner};
use super::fence::Code;
use super::open;
use super::render::{Ending, render};
use crate::text::Cleaner;
use crate::theme::Theme;

/// Renders a text while it is written.
///
/// Finished blocks are rendered once and kept. The open rest is rendered on request, in the way it will most
/// likely look when it is complete, so that a mark whose twin is still to come does not flash up.
#[derive(Debug, Clone)]
pub struct Stream {
    columns: usize,
    theme: Theme,
    cleaner: Cleaner,
    /// The text of the open block.
    open: String,
    /// How much of it was looked at: complete lines.
    scanned: usize,
    scanner: Scanner,
    code: Option<Code>,
    finished: Vec<Line<'static>>,
    ending: Ending,
    /// The next lines are not the first.
    begun: bool,
}

impl Stream {
    /// Begins a text.
    pub fn new(columns: usize, theme: &Theme) -> Self {
        Self {
            columns: columns.max(1),
            theme: theme.clone(),
            cleaner: Cleaner::default(),
            open: String::new(),
            scanned: 0,
            scanner: Scanner::default(),
            code: None,
            finished: Vec::new(),
            ending: Ending::default(),
            begun: false,
        }
    }

    /// From now on lines have another width. What is finished stays as it is.
    pub fn resize(&mut self, columns: usize) {
        self.columns = columns.max(1);
    }

    /// Takes the next piece, cut at any place.
    pub fn push(&mut self, delta: &str) {
        self.cleaner.push(delta, &mut self.open);
        self.scan();
    }

    /// Ends the text: what is open is taken as it is written.
    pub fn finish(&mut self) {
        self.cleaner = Cleaner::default();
        if !self.open.is_empty() && !self.open.ends_with('\n') {
            self.open.push('\n');
        }
        self.scan();
        self.close(0, self.open.len());
        self.open.clear();
        self.scanned = 0;
        self.code = None;
        self.scanner = Scanner::default();
    }

    /// Lines that will not change any more and were not taken yet.
    pub fn finished(&self) -> &[Line<'static>] {
        &self.finished
    }

    /// Takes the lines that will not change any more, for instance into the scrollback.
    pub fn take_finished(&mut self) -> Vec<Line<'static>> {
        std::mem::take(&mut self.finished)
    }

    /// Lines of what is still open, to be shown below the finished ones until the next piece comes.
    pub fn tail(&self) -> Vec<Line<'static>> {
        let lines = match &self.code {
            Some(code) if code.fence.may_close(&self.open) => return Vec::new(),
            Some(code) => return code.partial(&self.open, self.columns),
            None => {
                render(
                    &open::completed(&self.open),
                    self.columns,
                    &self.theme,
                    self.ending,
                )
                .0
            }
        };
        if lines.is_empty() || !self.begun {
            return lines;
        }
        std::iter::once(Line::default()).chain(lines).collect()
    }

    fn scan(&mut self) {
        // What is done with is taken out of the front at the end: each removal moves the rest.
        let mut from = 0;
        while let Some((line, end)) = self.next_line() {
            let start = std::mem::replace(&mut self.scanned, end);
            if let Some(code) = &mut self.code {
                if code.fence.closed_by(&line) {
                    self.code = None;
                } else {
                    let rows = code.line(&line, self.columns);
                    self.finished.extend(rows);
                }
                from = end;
                continue;
            }
            match self.scanner.line(&line, start - from) {
                Boundary::None => {}
                Boundary::After => {
                    self.close(from, end);
                    from = end;
                }
                Boundary::Before => {
                    self.close(from, start);
                    from = start;
                }
                Boundary::Code(fence) => {
                    self.close(from, start);
                    from = end;
                    self.gap();
                    self.ending = Ending::default();
                    self.code = Some(Code::new(fence, &self.theme));
                }
            }
        }
        self.open.drain(..from);
        self.scanned -= from;
    }

    /// The next complete line that was not looked at, and where it ends.
    fn next_line(&self) -> Option<(String, usize)> {
        let rest = self.open.get(self.scanned..)?;
        let length = rest.find('\n')?;
        Some((rest.get(..length)?.to_owned(), self.scanned + length + 1))
    }

    /// Finishes a part of the open text.
    fn close(&mut self, from: usize, end: usize) {
        let source = self.open.get(from..end).unwrap_or_default();
        let (lines, ending) = render(source, self.columns, &self.theme, self.ending);
        if !lines.is_empty() {
            self.gap();
            self.finished.extend(lines);
            self.ending = ending;
        }
    }

    fn gap(&mut self) {
        if std::mem::replace(&mut self.begun, true) {
            self.finished.push(Line::default());
        }
    }
}
