//! What tools do.

use std::time::Duration;

use ratatui::text::{Line, Span};

use super::Fold;
use super::output::{MOST_LINES, Output};
use crate::amount::{plural, time};
use crate::text::{Prefix, clean, clean_line, cut, cut_path, width, wrap_with};
use crate::theme::Theme;

/// Lines of output that are shown while a tool runs.
const LIVE_LINES: usize = 4;
/// What the verbs are filled up to, so that previews stand below each other.
const VERB: usize = 9;

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// The name of the tool, which chooses the emoji.
    pub name: String,
    /// What it does, in a word: see [`tool_verb`].
    pub verb: String,
    /// What it does it to: a command, a path, an address.
    pub preview: String,
    /// How far it is.
    pub state: ToolState,
    /// What it printed.
    pub output: Output,
    /// Whether the output is shown when it is done.
    pub fold: Fold,
}

/// How far a call is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolState {
    /// It runs, for this long.
    Running(Duration),
    /// It is done, and took this long.
    Done(Duration),
    /// It failed after this long, for this reason.
    Failed(Duration, String),
}

impl Tool {
    /// Its lines: what it does, and below that what it prints while it runs or when it is open.
    pub fn lines(&self, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
        self.lines_in(&self.state, columns, theme)
    }

    /// Its lines as they would be in this state: what runs is drawn often, and its output is not copied for that.
    pub(crate) fn lines_in(
        &self,
        state: &ToolState,
        columns: usize,
        theme: &Theme,
    ) -> Vec<Line<'static>> {
        let mut out = vec![self.head(state, columns, theme)];
        let shown = match (state, self.fold) {
            (ToolState::Running(_), Fold::Folded | Fold::Clamped) => LIVE_LINES,
            (ToolState::Running(_) | ToolState::Done(_) | ToolState::Failed(..), Fold::Open) => {
                MOST_LINES
            }
            (ToolState::Done(_) | ToolState::Failed(..), Fold::Folded | Fold::Clamped) => 0,
        };
        if self.fold == Fold::Open {
            out.extend(self.whole_preview(columns, theme));
        }
        if shown > 0 {
            out.extend(self.printed(shown, columns, theme));
        }
        out
    }

    fn head(&self, state: &ToolState, columns: usize, theme: &Theme) -> Line<'static> {
        let emoji = theme
            .tool_emojis
            .get(&self.name)
            .map_or("🔧", String::as_str);
        let start = format!("{} {emoji} ", theme.tool_prefix);
        let (tail, style) = match state {
            ToolState::Running(elapsed) => (format!("{} …", time(*elapsed)), theme.accent),
            ToolState::Done(took) => (time(*took), theme.faint),
            ToolState::Failed(took, reason) => (
                cut(
                    format!("{} ✗ {}", time(*took), clean_line(reason)).trim_end(),
                    columns / 2,
                ),
                theme.bad,
            ),
        };
        let (mut verb, subject) = (clean_line(&self.verb), clean_line(&self.preview));
        if !subject.is_empty() {
            let missing = VERB.saturating_sub(width(&verb));
            verb.extend(std::iter::repeat_n(' ', missing));
        }
        let room = columns.saturating_sub(width(&start) + width(&verb) + width(&tail) + 4);
        let preview = if is_path(&subject) {
            cut_path(&subject, room)
        } else {
            cut(&subject, room)
        };
        let gap = if preview.is_empty() { "" } else { "  " };
        let line = Line::from(vec![
            Span::styled(start, theme.faint),
            Span::styled(verb, theme.label),
            Span::styled(format!("{gap}{preview}  "), theme.text),
            Span::styled(tail, style),
        ]);
        if line
            .spans
            .iter()
            .map(|span| width(&span.content))
            .sum::<usize>()
            <= columns
        {
            return line;
        }
        Line::from(vec![Span::styled(cut(&line.to_string(), columns), style)])
    }

    /// What the first line had no room for.
    fn whole_preview(&self, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
        let bar = vec![Span::styled(
            format!("{}   ", theme.tool_prefix),
            theme.faint,
        )];
        let prefix = Prefix {
            first: bar.clone(),
            rest: bar,
        };
        let text = clean(&self.preview);
        let lines = text.trim().lines().take(MOST_LINES);
        lines
            .flat_map(|line| {
                wrap_with(
                    &Line::from(vec![Span::styled(line.to_owned(), theme.code)]),
                    columns,
                    &prefix,
                )
            })
            .collect()
    }

    fn printed(&self, count: usize, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
        let (lines, hidden) = self.output.last(count);
        let bar = format!("{}   ", theme.tool_prefix);
        let one = |text: &str| {
            Line::from(vec![Span::styled(
                cut(&format!("{bar}{text}"), columns),
                theme.faint,
            )])
        };
        let more = (hidden > 0).then(|| one(&format!("… {} above", plural(hidden, "line"))));
        more.into_iter().chain(lines.into_iter().map(one)).collect()
    }
}

/// Paths differ at their ends, everything else at its beginning.
fn is_path(subject: &str) -> bool {
    subject.starts_with(['/', '~', '.']) && !subject.contains(' ')
}

/// A word for what a tool does; its name when it has none.
pub fn tool_verb(name: &str) -> &str {
    match name {
        "terminal" | "execute_code" => "run",
        "process" => "process",
        "read_file" | "skill_view" => "read",
        "write_file" => "write",
        "patch" => "edit",
        "search_files" | "web_search" => "search",
        "session_search" => "recall",
        "web_extract" | "browser_navigate" => "open",
        "browser_click" => "click",
        "browser_type" => "type",
        "browser_snapshot" | "vision_analyze" => "look",
        "delegate_task" => "delegate",
        "memory" => "remember",
        "todo" => "plan",
        "skills_list" => "skills",
        "skill_manage" => "skill",
        "image_generate" => "draw",
        "text_to_speech" => "speak",
        "cronjob" => "schedule",
        "clarify" => "ask",
        "send_message" => "send",
        other => other,
    }
}
