//! Notices, failures, and what frames a turn or a session.

use std::time::Duration;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

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

/// Exchanges that a recap shows.
const MOST_EXCHANGES: usize = 10;
/// Characters of what the user wrote.
const MOST_ASKED: usize = 300;
/// Characters of what the agent answered.
const MOST_ANSWERED: usize = 200;
/// Lines of either.
const MOST_LINES: usize = 3;

/// What was said before, in a session that is taken up again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recap {
    /// The title of the session, or its id.
    pub title: String,
    /// What was asked and answered, in turn. The last ten are shown.
    pub exchanges: Vec<(String, String)>,
}

impl Recap {
    /// Its lines.
    pub fn lines(&self, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
        let hidden = self.exchanges.len().saturating_sub(MOST_EXCHANGES);
        let title = cut(&format!("↻ {}", clean_line(&self.title)), columns);
        let mut out = vec![Line::from(vec![Span::styled(title, theme.session_label)])];
        if hidden > 0 {
            let earlier = cut(
                &format!("  … {}", plural(hidden, "earlier exchange")),
                columns,
            );
            out.push(Line::from(vec![Span::styled(earlier, theme.faint)]));
        }
        for (asked, answered) in self.exchanges.iter().skip(hidden) {
            out.extend(short("● ", theme.accent, asked, MOST_ASKED, columns, theme));
            out.extend(short(
                "◆ ",
                theme.answer_rule,
                answered,
                MOST_ANSWERED,
                columns,
                theme,
            ));
        }
        out
    }
}

fn short(
    mark: &str,
    style: Style,
    text: &str,
    limit: usize,
    columns: usize,
    theme: &Theme,
) -> Vec<Line<'static>> {
    let words = clean_line(text);
    if words.is_empty() {
        return Vec::new();
    }
    let mut text: String = words.chars().take(limit).collect();
    if text.len() < words.len() {
        text.push('…');
    }
    let mut lines = marked(&format!("  {mark}"), style, &text, theme.faint, columns);
    if lines.len() > MOST_LINES {
        lines.truncate(MOST_LINES);
        if let Some(last) = lines.last_mut().and_then(|line| line.spans.last_mut()) {
            let kept = cut(
                &format!("{}……", last.content),
                crate::text::width(&last.content),
            );
            last.content = kept.into();
        }
    }
    lines
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
