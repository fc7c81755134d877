//! The full screen: the transcript, the list of sessions, and below them what is written in.

use std::ops::Range;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::text::{Line, Span};

use super::sidebar::{Picked, Where};
use super::{App, Effect, Mode, Record, ToolLines};
use crate::host::SessionRow;
use crate::screen::Live;
use crate::text::cut;
use crate::transcript::Tail;

/// Where everything was when it was last drawn.
#[derive(Debug, Default)]
pub(super) struct Hits {
    /// Columns and rows of the list of sessions.
    pub(super) list: Option<(Range<u16>, usize)>,
    /// The first column of the conversation.
    pub(super) left: u16,
    /// Rows of the transcript.
    pub(super) transcript: Range<u16>,
    /// The first row of the composer, when it is there.
    pub(super) composer: Option<u16>,
}

impl App {
    /// The whole screen at this time, in exactly the rows there are.
    pub(super) fn full(&mut self, now: Duration) -> Live {
        let rows = usize::from(self.size.1).max(1);
        let width = self.columns();
        let status = self.status_line(now).filter(|_| rows > 2);
        let below = usize::from(status.is_some());
        // The part that is written in comes first; everything else gives way to it.
        let most = (rows - below).max(1);
        let columns = u16::try_from(width).unwrap_or(u16::MAX);
        let (mut input, ruled) = self.input_lines(columns, most.saturating_sub(1).max(1));
        let cut_off = input.lines.len().saturating_sub(most);
        input.lines.drain(..cut_off);
        let ends = matches!(&self.record, Record::Full(transcript) if transcript.is_at_end());
        let carded = ends && self.settings.tools != ToolLines::Off;
        let mut above = self.moving_lines(now, width, carded);
        let room = most.saturating_sub(input.lines.len() + 1);
        above.drain(..above.len().saturating_sub(room));
        let height = most - input.lines.len() - above.len();
        let place = self.sidebar.place(self.size.0);
        let mut lines = match place {
            Where::InFront => self.sidebar.lines(width, height, &self.theme),
            Where::Nowhere | Where::Beside(_) => self.read(now, width, height),
        };
        lines.resize(height, Line::default());
        lines.extend(above);
        let (over, under) = self.around(status);
        lines.extend(over);
        let first = small(lines.len());
        // While the list has the keys, nothing is written.
        let written = !self.sidebar.is_focused() || !self.panels.is_empty();
        let cursor = input.cursor.filter(|_| written).map(|(column, row)| {
            let row = row.saturating_sub(small(cut_off));
            (first + row, column)
        });
        lines.extend(input.lines);
        lines.extend(under);
        lines.truncate(rows);
        let composer = (first + ruled).saturating_sub(small(cut_off));
        self.hits = self.places(place, rows, height, composer);
        let left = self.hits.left;
        if let Where::Beside(columns) = place {
            lines = self.beside(lines, usize::from(columns));
        }
        Live {
            lines,
            yielding: 0,
            cursor: cursor.map(|(row, column)| {
                (
                    row.min(small(rows - 1)),
                    (left + column).min(self.size.0.saturating_sub(1)),
                )
            }),
        }
    }

    /// Where everything is, in a picture of so many rows with a transcript of such a height.
    fn places(&self, place: Where, rows: usize, height: usize, composer: u16) -> Hits {
        let (list, left, read) = match place {
            Where::Nowhere => (None, 0, height),
            Where::InFront => (Some((0..self.size.0, height)), 0, 0),
            Where::Beside(columns) => (Some((0..columns, rows)), columns + 1, height),
        };
        Hits {
            list,
            left,
            transcript: 0..small(read),
            composer: self.panels.is_empty().then_some(composer),
        }
    }

    /// What is seen of the transcript.
    fn read(&mut self, now: Duration, width: usize, height: usize) -> Vec<Line<'static>> {
        let head = match self.turn.as_ref().and_then(|turn| turn.answer.as_ref()) {
            Some(answer) => self.answer_head(answer.since),
            None => Vec::new(),
        };
        let tail = match &self.turn {
            Some(turn) => turn.tail(now, head, width, &self.settings, &self.theme),
            None => Tail::default(),
        };
        let Record::Full(transcript) = &mut self.record else {
            return Vec::new();
        };
        let shown = transcript.show(height, &tail);
        let mut lines = shown.lines;
        if shown.more && lines.len() < height {
            let more = cut("↓ more below · Ctrl+End", width);
            lines.push(Line::from(Span::styled(more, self.theme.accent)));
        }
        lines
    }

    /// Puts the list of sessions beside lines.
    fn beside(&self, lines: Vec<Line<'static>>, columns: usize) -> Vec<Line<'static>> {
        let list = self.sidebar.lines(columns, lines.len(), &self.theme);
        let join = |(mut left, right): (Line<'static>, Line<'static>)| {
            left.spans.push(Span::styled("│", self.theme.rule));
            left.spans.extend(right.spans.into_iter().map(|mut span| {
                span.style = right.style.patch(span.style);
                span
            }));
            left
        };
        list.into_iter().zip(lines).map(join).collect()
    }

    /// Reads a key that has a meaning only here; says whether it had.
    pub(super) fn full_key(&mut self, key: KeyEvent, effects: &mut Vec<Effect>) -> bool {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::F(2) => {
                self.toggle_list(effects);
                return true;
            }
            KeyCode::Char('x') if control => {
                self.toggle_list(effects);
                return true;
            }
            KeyCode::Char(_) if control && self.sidebar.is_focused() => return false,
            _ => {}
        }
        if self.sidebar.is_focused() {
            let picked = self.sidebar.key(key, self.size.0);
            self.picked(picked, effects);
            return true;
        }
        self.scroll_key(key)
    }

    pub(super) fn picked(&mut self, picked: Picked, effects: &mut Vec<Effect>) {
        self.lay_out();
        if let Picked::Command(line) = picked {
            effects.push(Effect::Command(line));
        }
    }

    fn toggle_list(&mut self, effects: &mut Vec<Effect>) {
        self.sidebar.toggle(self.size.0);
        self.lay_out();
        if self.sidebar.is_focused() {
            self.ask_for_sessions(effects);
        }
    }

    /// Reads a key that moves in the transcript or folds in it; says whether it does.
    pub(super) fn scroll_key(&mut self, key: KeyEvent) -> bool {
        let Some(transcript) = self.transcript() else {
            return false;
        };
        match (key.code, key.modifiers) {
            (KeyCode::PageUp, _) => transcript.page(true),
            (KeyCode::PageDown, _) => transcript.page(false),
            (KeyCode::Home, KeyModifiers::CONTROL) => transcript.go_to_start(),
            (KeyCode::End, KeyModifiers::CONTROL) => transcript.go_to_end(),
            (KeyCode::Up, KeyModifiers::ALT) => transcript.mark(true),
            (KeyCode::Down, KeyModifiers::ALT) => transcript.mark(false),
            (KeyCode::Char('o'), KeyModifiers::CONTROL) => {
                transcript.toggle_marked();
            }
            (KeyCode::Esc, _) => return transcript.unmark(),
            _ => return false,
        }
        true
    }

    /// The list may be another one; it is asked for where it is seen.
    pub(super) fn ask_for_sessions(&mut self, effects: &mut Vec<Effect>) {
        if self.settings.mode != Mode::Full {
            return;
        }
        // The list on its way may be older than what happened now.
        if self.sidebar.awaited {
            self.sidebar.again = true;
            return;
        }
        self.sidebar.awaited = true;
        effects.push(Effect::Sessions);
    }

    /// The list came.
    pub(super) fn list_sessions(&mut self, rows: Vec<SessionRow>, effects: &mut Vec<Effect>) {
        self.sidebar.supply(rows);
        if std::mem::take(&mut self.sidebar.again) {
            self.ask_for_sessions(effects);
        }
    }
}

pub(super) fn small(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}
