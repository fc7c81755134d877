//! Markdown that comes in pieces.

use ratatui::text::Line;

use super::blocks::{Boundary, Scanner};
use super::fence::Code;
use super::given::{letters, steady, without};
use super::open;
use super::render::{Ending, render};
use crate::text::Cleaner;
use crate::theme::Theme;

/// A block that is longer than this is handed out line by line while it is open. Shorter ones wait for their end: until
/// then a line of marks may turn them into something else, which nobody does to a long one.
const LONG: usize = 600;

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
    /// Letters of the open block that are in finished lines already: long blocks need not be complete for that.
    given: usize,
    /// How long the open block is to be before that is looked at again.
    look_at: usize,
}

impl Stream {
    /// Begins a text.
    pub fn new(columns: usize, theme: &Theme) -> Self {
        Self {
            columns: columns.max(1),
            theme: theme.clone(),
            cleaner: Cleaner::prose(),
            open: String::new(),
            scanned: 0,
            scanner: Scanner::default(),
            code: None,
            finished: Vec::new(),
            ending: Ending::default(),
            begun: false,
            given: 0,
            look_at: 0,
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
        self.settle();
    }

    /// Ends the text: what is open is taken as it is written.
    pub fn finish(&mut self) {
        self.cleaner = Cleaner::prose();
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

    /// Whether nothing is open: what came so far is complete.
    pub fn is_between_blocks(&self) -> bool {
        self.open.trim().is_empty() && self.code.is_none()
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
        if lines.is_empty() || !self.begun || self.given > 0 {
            return without(lines, self.given);
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
        let begun = self.open.get(self.scanned..).unwrap_or_default();
        if self.code.is_none() && self.scanned > from && self.scanner.ends_before(begun) {
            let end = self.scanned;
            self.close(from, end);
            from = end;
        }
        self.open.drain(..from);
        self.scanned -= from;
    }

    /// Takes all lines but the last out of a block that goes on, where they stay as they are.
    fn settle(&mut self) {
        if self.code.is_some() || self.open.len() < self.look_at.max(LONG) {
            return;
        }
        // A long block is looked at less often, so that all looks together stay in proportion to its length.
        self.look_at = self.open.len() + self.columns.max(self.open.len() / 16);
        let Some(text) = steady(&self.open) else {
            return;
        };
        let (mut lines, _) = render(&text, self.columns, &self.theme, self.ending);
        lines.pop();
        while lines.last().is_some_and(|line| line.width() == 0) {
            lines.pop();
        }
        let count = letters(&lines);
        if count <= self.given {
            return;
        }
        if self.given == 0 {
            self.gap();
        }
        let fresh = without(lines, self.given);
        self.finished.extend(fresh);
        self.given = count;
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
        let given = std::mem::take(&mut self.given);
        self.look_at = 0;
        if lines.is_empty() {
            self.given = given;
            return;
        }
        // A block that is cut for its length may have been given out further than that.
        self.given = given.saturating_sub(letters(&lines));
        if given == 0 {
            self.gap();
        }
        self.finished.extend(without(lines, given));
        self.ending = ending;
    }

    fn gap(&mut self) {
        if std::mem::replace(&mut self.begun, true) {
            self.finished.push(Line::default());
        }
    }
}
