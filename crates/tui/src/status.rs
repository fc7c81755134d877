//! The status bar.

use std::time::Duration;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::amount::{clock, count, dollars};
use crate::text::{clean_line, cut, spans_width};
use crate::theme::Theme;

/// From this many columns the bar says everything.
const WIDE: usize = 76;
/// From this many columns it says more than the model and the time.
const MIDDLE: usize = 52;
/// Cells of the bar that shows how full the context is.
const CELLS: u64 = 10;
/// Characters of a model's name.
const LONGEST_NAME: usize = 26;

/// What the status bar says. Plain values: whoever draws it asks nobody else.
#[derive(Debug, Clone, PartialEq)]
pub struct StatusLine {
    /// The model, as [`model_label`] shortens it.
    pub model: String,
    /// How full the context is; none when the limit is not known.
    pub context: Option<Context>,
    /// How often the conversation was compressed.
    pub compressions: u32,
    /// Prompts that run in the background.
    pub prompts: u32,
    /// Processes that run in the background.
    pub processes: u32,
    /// Subagents that run in the background.
    pub subagents: u32,
    /// How long the session lasts.
    pub session: Duration,
    /// How long the turn takes or took.
    pub turn: Option<Turn>,
    /// How long nothing has happened.
    pub idle: Option<Duration>,
    /// What the session cost.
    pub cost: Cost,
    /// How the MCP servers are.
    pub mcp: Mcp,
    /// A mode in which the agent may do more than usual, such as `YOLO`.
    pub warning: Option<String>,
}

/// What the program knows of how things stand; the rest of the bar the screen knows itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Standing {
    /// The model, as [`model_label`] shortens it.
    pub model: String,
    /// Tokens there is room for, when that is known.
    pub window: Option<u64>,
    /// Prompts that run in the background.
    pub prompts: u32,
    /// Processes that run in the background.
    pub processes: u32,
    /// Subagents that run in the background.
    pub subagents: u32,
    /// What the session cost.
    pub cost: Cost,
    /// How the MCP servers are.
    pub mcp: Mcp,
    /// A mode in which the agent may do more than usual, such as `YOLO`.
    pub warning: Option<String>,
}

/// How full the context is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Context {
    /// Tokens in use.
    pub used: u64,
    /// Tokens there is room for.
    pub limit: u64,
}

impl Context {
    fn percent(self) -> u64 {
        (self.used.saturating_mul(100) / self.limit.max(1)).min(100)
    }
}

/// A turn and its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// It runs.
    Running(Duration),
    /// It is over.
    Done(Duration),
}

/// What the session cost.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Cost {
    /// Nobody asked.
    #[default]
    Hidden,
    /// The model's prices are not known.
    Unknown,
    /// In dollars.
    Known(f64),
}

/// How the MCP servers are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mcp {
    /// Servers that answer.
    pub up: u32,
    /// Servers that do not.
    pub down: u32,
}

/// A short name for a model: its alias, or what follows the last slash, without the ending of a model file.
pub fn model_label(model: &str, alias: Option<&str>) -> String {
    let name = clean_line(model);
    let name = name.rsplit('/').next().unwrap_or_default();
    let name = name.strip_suffix(".gguf").unwrap_or(name);
    let alias = alias.map(clean_line).filter(|alias| !alias.is_empty());
    cut(&alias.unwrap_or_else(|| name.to_owned()), LONGEST_NAME)
}

/// A part of the bar, and how soon it gives way when there is no room: the highest first.
struct Part {
    spans: Vec<Span<'static>>,
    gives_way: u8,
}

impl StatusLine {
    /// The bar for a terminal of so many columns. It leaves the last one free: a full line would be broken by a terminal
    /// that becomes narrower.
    pub fn line(&self, columns: usize, theme: &Theme) -> Line<'static> {
        let (parts, separator) = if columns >= WIDE {
            (self.wide(theme), " │ ")
        } else if columns >= MIDDLE {
            (self.middle(theme), " · ")
        } else {
            (self.narrow(theme), " · ")
        };
        let separator = Span::styled(separator, theme.bar.dim);
        let columns = columns.saturating_sub(1).max(1);
        let mut spans = fitted(parts, &separator, columns, theme);
        let missing = columns.saturating_sub(spans_width(&spans));
        spans.push(Span::styled(" ".repeat(missing), theme.status));
        Line::from(spans)
    }

    fn wide(&self, theme: &Theme) -> Vec<Part> {
        let mut parts = vec![self.model("⚕ ", theme)];
        match self.context {
            Some(context) => {
                let style = fullness(context.percent(), theme);
                parts.push(part(
                    3,
                    format!("{}/{}", count(context.used), count(context.limit)),
                    theme.status,
                ));
                parts.push(part(
                    1,
                    format!("[{}] {}%", bar(context.percent()), context.percent()),
                    style,
                ));
            }
            None => parts.push(part(3, "ctx --".to_owned(), theme.bar.dim)),
        }
        parts.extend(self.counters(theme));
        parts.extend(self.cost(theme));
        parts.push(part(4, clock(self.session), theme.bar.dim));
        match self.turn {
            Some(Turn::Running(elapsed)) => {
                parts.push(part(2, format!("⏱ {}", clock(elapsed)), theme.status))
            }
            Some(Turn::Done(took)) => {
                parts.push(part(5, format!("⏲ {}", clock(took)), theme.bar.dim))
            }
            None => {}
        }
        parts.extend(
            self.idle
                .map(|idle| part(6, format!("✓ {}", clock(idle)), theme.bar.dim)),
        );
        parts.extend(self.health(theme));
        parts.extend(self.warning(theme));
        parts
    }

    fn middle(&self, theme: &Theme) -> Vec<Part> {
        let mut parts = vec![self.model("", theme)];
        parts.push(match self.context {
            Some(context) => part(
                1,
                format!("{}%", context.percent()),
                fullness(context.percent(), theme),
            ),
            None => part(3, "ctx --".to_owned(), theme.bar.dim),
        });
        parts.extend(self.counters(theme));
        parts.push(part(4, clock(self.session), theme.bar.dim));
        parts.extend(self.health(theme));
        parts.extend(self.warning(theme));
        parts
    }

    /// The danger is said at any width.
    fn narrow(&self, theme: &Theme) -> Vec<Part> {
        let mut parts = vec![
            self.model("", theme),
            part(1, clock(self.session), theme.bar.dim),
        ];
        parts.extend(self.warning(theme));
        parts
    }

    fn model(&self, mark: &str, theme: &Theme) -> Part {
        part(
            0,
            format!("{mark}{}", clean_line(&self.model)),
            theme.bar.strong,
        )
    }

    fn counters(&self, theme: &Theme) -> Option<Part> {
        let all = [
            ("🗜️", self.compressions),
            ("▶", self.prompts),
            ("⚙", self.processes),
            ("⛓", self.subagents),
        ];
        let shown: Vec<String> = all
            .iter()
            .filter(|(_, number)| *number > 0)
            .map(|(sign, number)| format!("{sign} {number}"))
            .collect();
        (!shown.is_empty()).then(|| part(2, shown.join(" "), theme.status))
    }

    fn cost(&self, theme: &Theme) -> Option<Part> {
        match self.cost {
            Cost::Hidden => None,
            Cost::Unknown => Some(part(5, "n/a".to_owned(), theme.bar.dim)),
            Cost::Known(sum) => Some(part(3, dollars(sum), theme.status)),
        }
    }

    fn health(&self, theme: &Theme) -> Option<Part> {
        let all = self.mcp.up + self.mcp.down;
        (self.mcp.down > 0).then(|| part(1, format!("MCP {}/{all}", self.mcp.up), theme.bar.bad))
    }

    fn warning(&self, theme: &Theme) -> Option<Part> {
        self.warning
            .as_deref()
            .map(|mode| part(0, format!("⚠ {}", clean_line(mode)), theme.bar.critical))
    }
}

fn part(gives_way: u8, text: String, style: Style) -> Part {
    Part {
        spans: vec![Span::styled(text, style)],
        gives_way,
    }
}

/// Joins parts, leaving out what there is no room for; at last the model's name is cut.
fn fitted(
    mut parts: Vec<Part>,
    separator: &Span<'static>,
    columns: usize,
    theme: &Theme,
) -> Vec<Span<'static>> {
    let margin = 1;
    let taken = |parts: &[Part]| {
        let text: usize = parts.iter().map(|part| spans_width(&part.spans)).sum();
        text + parts.len().saturating_sub(1) * spans_width(std::slice::from_ref(separator)) + margin
    };
    while taken(&parts) > columns {
        let Some((index, first)) = parts
            .iter()
            .enumerate()
            .max_by_key(|(index, part)| (part.gives_way, *index))
        else {
            break;
        };
        if first.gives_way == 0 {
            break;
        }
        parts.remove(index);
    }
    let over = taken(&parts).saturating_sub(columns);
    if let Some(model) = parts.first_mut().and_then(|part| part.spans.first_mut()) {
        let room = crate::text::width(&model.content).saturating_sub(over);
        model.content = cut(&model.content, room).into();
    }
    // A warning that fits says more than the rest of a name.
    parts.retain(|part| spans_width(&part.spans) > 0);
    let mut spans = vec![Span::styled(" ".repeat(margin.min(columns)), theme.status)];
    for (index, part) in parts.into_iter().enumerate() {
        if index > 0 {
            spans.push(separator.clone());
        }
        spans.extend(part.spans);
    }
    if spans_width(&spans) > columns {
        let text: String = spans.iter().map(|span| span.content.as_ref()).collect();
        return vec![Span::styled(cut(&text, columns), theme.bar.critical)];
    }
    spans
}

fn bar(percent: u64) -> String {
    let full = (percent * CELLS + 50) / 100;
    (0..CELLS)
        .map(|cell| if cell < full { '█' } else { '░' })
        .collect()
}

fn fullness(percent: u64, theme: &Theme) -> Style {
    match percent {
        0..50 => theme.bar.good,
        50..=80 => theme.bar.warn,
        81..95 => theme.bar.bad,
        _ => theme.bar.critical,
    }
}

#[cfg(test)]
#[path = "status_tests.rs"]
mod tests;
