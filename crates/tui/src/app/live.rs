//! What the live area shows.

use std::time::Duration;

use ratatui::text::{Line, Span};

use super::{App, Mode, Occasion, Outgoing, Phase, StatusBar, ToolLines};
use crate::composer::View;
use crate::panels::Panel;
use crate::screen::Live;
use crate::status::{self, StatusLine};
use crate::text::{clean_line, cut};

/// Rows the live area leaves to what is above it.
const LEFT_ABOVE: usize = 1;
/// The end of an answer takes no more than this part of the rows. A terminal that becomes narrower breaks it into more
/// lines before we are told, and all of the live area must still be on the screen then.
const PART_OF_ROWS: usize = 6;
/// So does what can be scrolled, such as help and lists: each of its lines may become two.
const PART_TO_SCROLL: usize = 3;
/// A question may take more, as it is to be read as a whole, with what stands above it.
const PART_TO_ANSWER: usize = 2;
/// Rows a panel may take in any window that has them.
const FEWEST_ROWS: usize = 6;
/// So many, where a yes does harm: what is dangerous and why must be seen before anything else.
const FEWEST_ROWS_TO_ALLOW: usize = 8;

impl App {
    /// What calls the user.
    pub(crate) fn call(&self, occasion: Occasion) -> String {
        let agent = &self.theme.agent_name;
        self.settings.call.bytes(agent, occasion)
    }

    /// How long the picture stays right while nothing happens: until the clock of the session has its next whole
    /// second, or whatever else the settings say. None when it does not follow the time.
    pub(crate) fn until_refresh(&self, now: Duration) -> Option<Duration> {
        let every = self.settings.refresh?.as_nanos().max(1);
        let gone = now.saturating_sub(self.opened_at).as_nanos() % every;
        Some(Duration::from_nanos(
            u64::try_from(every - gone).unwrap_or(u64::MAX),
        ))
    }

    /// What is to be seen at this time: the live area in no more than the rows there are, or all of the screen.
    pub fn live(&mut self, now: Duration) -> Live {
        match self.settings.mode {
            Mode::Inline => self.inline(now),
            Mode::Full => self.full(now),
        }
    }

    fn inline(&self, now: Duration) -> Live {
        let (columns, rows) = self.size;
        let width = self.columns();
        let room = usize::from(rows).saturating_sub(LEFT_ABOVE).max(1);
        let status = self.status_line(now);
        let below = usize::from(status.is_some());
        // The part that is written in comes first; everything else gives way to it, and the bar to what allows.
        let free = match self.panels.front() {
            Some(Panel::Approval(_)) => room,
            _ => room.saturating_sub(below).max(1),
        };
        let most = self.rows_to_ask().map_or(free, |most| most.min(free));
        let (mut input, _) = self.input_lines(columns, most);
        let cut_off = input.lines.len().saturating_sub(room);
        input.lines.drain(..cut_off);
        let mut above = room.saturating_sub(below + input.lines.len());
        if !self.panels.is_empty() {
            let part = usize::from(rows) / PART_TO_ANSWER;
            above = above.min(part.saturating_sub(input.lines.len()));
        }
        let mut lines = self.above(now, width, above);
        let start = lines.len().saturating_sub(above);
        lines.drain(..start);
        let yielding = lines.len();
        let most = room.max(2).min(usize::from(rows));
        let status = status.filter(|_| lines.len() + input.lines.len() < most);
        let (over, under) = self.around(status);
        lines.extend(over);
        let first = u16::try_from(lines.len()).unwrap_or_default();
        let lost = u16::try_from(cut_off).unwrap_or_default();
        let cursor = input
            .cursor
            .map(|(column, row)| (first + row.saturating_sub(lost), column));
        lines.extend(input.lines);
        lines.extend(under);
        Live {
            lines,
            yielding,
            cursor,
        }
    }

    /// The rows a panel may take, when there is one.
    fn rows_to_ask(&self) -> Option<usize> {
        let (part, fewest) = match self.panels.front()? {
            Panel::Help(_) | Panel::Picker(_) => (PART_TO_SCROLL, FEWEST_ROWS),
            Panel::Approval(_) => (PART_TO_ANSWER, FEWEST_ROWS_TO_ALLOW),
            Panel::Clarify(_) | Panel::Secret(_) | Panel::Confirm(_) | Panel::Form(_) => {
                (PART_TO_ANSWER, FEWEST_ROWS)
            }
        };
        Some((usize::from(self.size.1) / part).max(fewest))
    }

    /// The status bar above or below what is written.
    pub(super) fn around<T>(&self, status: Option<T>) -> (Option<T>, Option<T>) {
        match self.settings.status {
            StatusBar::Top => (status, None),
            StatusBar::Bottom => (None, status),
            StatusBar::Off => (None, None),
        }
    }

    fn above(&self, now: Duration, width: usize, room: usize) -> Vec<Line<'static>> {
        let turn = self.turn.as_ref();
        let mut lines = turn.map_or_else(Vec::new, |turn| {
            let most = (usize::from(self.size.1) / PART_OF_ROWS).max(1);
            turn.lines(now, width, most, &self.settings, &self.theme)
        });
        let carded = self.settings.tools != ToolLines::Off && lines.len() < room;
        lines.extend(self.moving_lines(now, width, carded));
        lines
    }

    /// The line that moves while the agent works, and what waits for it.
    ///
    /// `carded` says that calls under way are to be seen above it.
    pub(super) fn moving_lines(
        &self,
        now: Duration,
        width: usize,
        carded: bool,
    ) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        if let Some(turn) = &self.turn {
            let elapsed = now.saturating_sub(turn.started);
            if turn.answer.is_none() || !turn.tools.is_empty() {
                let activity = turn.activity(carded);
                let indicator = self.settings.indicator;
                let (ticks, theme) = (self.ticks, &self.theme);
                lines.push(activity.line_with(indicator, ticks, elapsed, width, theme));
            }
        }
        lines.extend(self.carrying_line(now, width));
        // What has no row yet is on its way to one; before there is a session, there is none to be had.
        let told = |message: &&Outgoing| self.phase == Phase::Opening || !message.rows.is_empty();
        for message in self.waiting.iter().filter(told) {
            let waits = cut(&format!("⋯ {}", clean_line(&message.text)), width);
            lines.push(Line::from(Span::styled(waits, self.theme.faint)));
        }
        lines
    }

    /// The panel in front, or the composer with its popup, and how many rows stand above the composer itself.
    pub(super) fn input_lines(&self, columns: u16, room: usize) -> (View, u16) {
        let height = u16::try_from(room).unwrap_or(u16::MAX);
        if let Some(view) = self.panels.view(columns, height, &self.theme) {
            return (view, 0);
        }
        let mut view = self.composer.view(columns, &self.theme);
        let popup = self.composer.popup(columns, &self.theme);
        let popup_rows = room.saturating_sub(view.lines.len() + 1).min(popup.len());
        view.lines.extend(popup.into_iter().take(popup_rows));
        let ruled = view.lines.len() < room;
        if ruled {
            // Short of the edge: a full line would be broken by a terminal that becomes narrower.
            let length = usize::from(columns).saturating_sub(1).min(60);
            let rule = Line::from(Span::styled("─".repeat(length), self.theme.rule));
            view.lines.insert(0, rule);
            view.cursor = view.cursor.map(|(column, row)| (column, row + 1));
        }
        (view, u16::from(ruled))
    }

    pub(super) fn status_line(&self, now: Duration) -> Option<Line<'static>> {
        let shown = self.settings.status != StatusBar::Off;
        let standing = self.standing.clone().filter(|_| shown)?;
        let status = StatusLine {
            model: standing.model,
            context: standing.window.map(|limit| status::Context {
                used: self.used,
                limit,
            }),
            compressions: self.compressions,
            prompts: standing.prompts,
            processes: standing.processes,
            subagents: standing.subagents,
            session: now.saturating_sub(self.opened_at),
            turn: match &self.turn {
                Some(turn) => Some(status::Turn::Running(now.saturating_sub(turn.started))),
                None => self.took.map(status::Turn::Done),
            },
            idle: match &self.turn {
                Some(_) => None,
                None => self.ended_at.map(|at| now.saturating_sub(at)),
            },
            // It is known anyway, for whoever asks what a turn used.
            cost: match self.settings.show_cost {
                true => standing.cost,
                false => status::Cost::Hidden,
            },
            mcp: standing.mcp,
            warning: standing.warning,
        };
        Some(status.line(self.columns(), &self.theme))
    }
}
