//! Notices, failures, and what frames a turn or a session.

use std::time::Duration;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::Cell;
use crate::amount::{count, dollars, plural, time};
use crate::text::{Prefix, clean, clean_line, cut, wrap_with};
use crate::theme::Theme;

/// How much a notice matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Good to know.
    Info,
    /// It went well.
    Good,
    /// It needs attention.
    Warn,
}

/// Something worth knowing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// How much it matters.
    pub level: Level,
    /// What it is.
    pub text: String,
}

impl Notice {
    /// Its lines.
    pub fn lines(&self, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
        let (mark, style, text) = match self.level {
            Level::Info => ("· ", theme.faint, theme.faint),
            Level::Good => ("✓ ", theme.good, theme.text),
            Level::Warn => ("⚠ ", theme.warn, theme.text),
        };
        marked(mark, style, &self.text, text, columns)
    }
}

/// Something that failed, and what can be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What failed.
    pub message: String,
    /// What the user can do next.
    pub next: Option<String>,
}

impl Failure {
    /// Its lines.
    pub fn lines(&self, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
        let mut out = marked("✗ ", theme.bad, &self.message, theme.bad, columns);
        if let Some(next) = &self.next {
            out.extend(marked("→ ", theme.accent, next, theme.text, columns));
        }
        out
    }
}

/// What a turn took, for those who want to know.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnEnd {
    /// Tokens that went to the model.
    pub input: u64,
    /// Tokens that came from it.
    pub output: u64,
    /// What they cost, when that is known.
    pub cost: Option<f64>,
    /// How long it took.
    pub elapsed: Duration,
}

impl TurnEnd {
    /// Its line.
    pub fn lines(&self, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
        let mut parts = vec![
            format!("{} in", count(self.input)),
            format!("{} out", count(self.output)),
        ];
        parts.extend(self.cost.map(dollars));
        parts.push(time(self.elapsed));
        vec![Line::from(vec![Span::styled(
            cut(&format!("· {}", parts.join(" · ")), columns),
            theme.faint,
        )])]
    }
}

/// What stands in front of a step.
const INDENT: &str = "  ";
/// What was done for an answer, of which the last are shown.
const MOST_STEPS: usize = 5;

/// What was said before, in a session that is taken up again. Whoever looks back says how much of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recap {
    /// The title of the session, or its id.
    pub title: String,
    /// What was asked and answered, in turn.
    pub exchanges: Vec<Exchange>,
}

/// A question and what came of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Exchange {
    /// What was asked.
    pub asked: String,
    /// What was thought and called for the answer. The last five are shown.
    pub steps: Vec<Cell>,
    /// The answer.
    pub answered: String,
}

impl From<(String, String)> for Exchange {
    fn from((asked, answered): (String, String)) -> Self {
        Self {
            asked,
            steps: Vec::new(),
            answered,
        }
    }
}

impl Exchange {
    fn lines(&self, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
        let (accent, rule) = (theme.accent, theme.answer_rule);
        let asked = clean_line(&self.asked);
        let mut out = said("● ", accent, &asked, columns, theme);
        let hidden = self.steps.len().saturating_sub(MOST_STEPS);
        if hidden > 0 {
            let earlier = cut(&format!("  … {}", plural(hidden, "earlier step")), columns);
            out.push(Line::from(vec![Span::styled(earlier, theme.faint)]));
        }
        let indent = match columns > 2 * INDENT.len() {
            true => INDENT,
            false => "",
        };
        for step in self.steps.iter().skip(hidden) {
            let lines = step.lines(columns - indent.len(), theme);
            out.extend(lines.into_iter().map(|mut line| {
                line.spans.insert(0, Span::raw(indent));
                line
            }));
        }
        out.extend(said("◆ ", rule, &self.answered, columns, theme));
        out
    }
}

impl Recap {
    /// Its lines.
    pub fn lines(&self, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
        let title = cut(&format!("↻ {}", clean_line(&self.title)), columns);
        let mut out = vec![Line::from(vec![Span::styled(title, theme.session_label)])];
        let all = self.exchanges.iter();
        out.extend(all.flat_map(|exchange| exchange.lines(columns, theme)));
        out
    }
}

fn said(mark: &str, style: Style, text: &str, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
    match clean_line(text).is_empty() {
        true => Vec::new(),
        false => marked(
            &format!("  {mark}"),
            style,
            text.trim(),
            theme.faint,
            columns,
        ),
    }
}

fn marked(
    mark: &str,
    mark_style: Style,
    text: &str,
    style: Style,
    columns: usize,
) -> Vec<Line<'static>> {
    let indent = vec![Span::raw(" ".repeat(crate::text::width(mark)))];
    let mut out = Vec::new();
    for (index, line) in clean(text).trim_end().split('\n').enumerate() {
        let first = if index == 0 {
            vec![Span::styled(mark.to_owned(), mark_style)]
        } else {
            indent.clone()
        };
        let line = Line::from(vec![Span::styled(line.to_owned(), style)]);
        out.extend(wrap_with(
            &line,
            columns,
            &Prefix {
                first,
                rest: indent.clone(),
            },
        ));
    }
    out
}
