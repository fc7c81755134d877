//! An answer as it is written.

use ratatui::text::{Line, Span};

use super::Marks;
use crate::markdown::Stream;
use crate::text::{Cleaner, wrap};
use crate::theme::Theme;

/// Turns an answer into lines while it comes. A whole answer goes the same way.
#[derive(Debug, Clone)]
pub(crate) struct Writing {
    marks: Marks,
    columns: usize,
    theme: Theme,
    body: Body,
    /// Lines that will not change any more.
    done: Vec<Line<'static>>,
}

#[derive(Debug, Clone)]
enum Body {
    Marked(Box<Stream>),
    /// The marks stay, so each line is complete with its end.
    Raw {
        cleaner: Cleaner,
        open: String,
    },
}

impl Writing {
    pub(crate) fn new(marks: Marks, columns: usize, theme: &Theme) -> Self {
        let body = match marks {
            Marks::Render | Marks::Strip => Body::Marked(Box::new(Stream::new(columns, theme))),
            Marks::Keep => Body::Raw {
                cleaner: Cleaner::default(),
                open: String::new(),
            },
        };
        Self {
            marks,
            columns,
            theme: theme.clone(),
            body,
            done: Vec::new(),
        }
    }

    /// Takes the next piece, cut at any place.
    pub(crate) fn push(&mut self, delta: &str) {
        match &mut self.body {
            Body::Marked(stream) => stream.push(delta),
            Body::Raw { cleaner, open } => cleaner.push(delta, open),
        }
        self.settle();
    }

    /// Nothing comes any more.
    pub(crate) fn finish(&mut self) {
        match &mut self.body {
            Body::Marked(stream) => stream.finish(),
            Body::Raw { open, .. } => {
                open.truncate(open.trim_end().len());
                if !open.is_empty() {
                    open.push('\n');
                }
            }
        }
        self.settle();
    }

    /// Takes what became complete.
    fn settle(&mut self) {
        let lines = match &mut self.body {
            Body::Marked(stream) => stream.take_finished(),
            Body::Raw { open, .. } => {
                let end = open.rfind('\n').map_or(0, |end| end + 1);
                let complete: String = open.drain(..end).collect();
                raw(&complete, self.columns, &self.theme)
            }
        };
        let lines = self.looking(lines);
        self.done.extend(lines);
    }

    /// Lines that will not change any more and were not taken yet.
    pub(crate) fn done(&self) -> &[Line<'static>] {
        &self.done
    }

    /// Takes them.
    pub(crate) fn take_done(&mut self) -> Vec<Line<'static>> {
        std::mem::take(&mut self.done)
    }

    /// What may still change.
    pub(crate) fn tail(&self) -> Vec<Line<'static>> {
        let lines = match &self.body {
            Body::Marked(stream) => stream.tail(),
            Body::Raw { open, .. } => raw(open, self.columns, &self.theme),
        };
        self.looking(lines)
    }

    /// Whether nothing is open: what came so far is complete, and what comes next begins something.
    pub(crate) fn is_between_blocks(&self) -> bool {
        match &self.body {
            Body::Marked(stream) => stream.is_between_blocks(),
            Body::Raw { open, .. } => open.is_empty(),
        }
    }

    /// From now on lines have another width; what is done stays as it is.
    pub(crate) fn resize(&mut self, columns: usize) {
        self.columns = columns;
        if let Body::Marked(stream) = &mut self.body {
            stream.resize(columns);
        }
    }

    fn looking(&self, lines: Vec<Line<'static>>) -> Vec<Line<'static>> {
        if self.marks != Marks::Strip {
            return lines;
        }
        let plain =
            |line: Line<'static>| Line::from(vec![Span::styled(line.to_string(), self.theme.text)]);
        lines.into_iter().map(plain).collect()
    }
}

fn raw(text: &str, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
    let line = |line: &str| Line::from(vec![Span::styled(line.to_owned(), theme.text)]);
    text.lines()
        .flat_map(|text| wrap(&line(text), columns))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_and_the_whole_make_the_same_lines() {
        let text = "# A\n\n**b** and a\n\n- long enough to be broken somewhere\n- two\n\n\nend";
        for marks in [Marks::Render, Marks::Strip, Marks::Keep] {
            let mut whole = Writing::new(marks, 20, &Theme::default());
            whole.push(text);
            whole.finish();
            let mut pieces = Writing::new(marks, 20, &Theme::default());
            for letter in text.chars() {
                pieces.push(letter.encode_utf8(&mut [0; 4]));
                assert!(pieces.tail().len() < 10);
            }
            pieces.finish();
            assert_eq!(whole.done(), pieces.done(), "{marks:?}");
            assert!(pieces.tail().is_empty());
            let styled = whole.done().iter().flat_map(|line| &line.spans);
            let mut styled = styled.map(|span| span.style);
            assert_eq!(
                styled.all(|style| style == Theme::default().text),
                marks != Marks::Render
            );
        }
    }
}
