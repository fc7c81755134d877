//! The list of sessions beside the transcript.

use crossterm::event::{KeyCode, KeyEvent};
use hermes_core::SessionId;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::Mode;
use crate::amount::plural;
use crate::composer::keys::{Action, action};
use crate::host::SessionRow;
use crate::text::{clean_line, cut, fit};
use crate::theme::Theme;

/// From this many columns the list stands beside the transcript; else it stands in front of it.
const BESIDE: u16 = 100;
/// Its columns there.
const COLUMNS: u16 = 30;
/// From this many rows a session has two.
const TALL: usize = 12;
/// Sessions that are listed.
const MOST_SESSIONS: usize = 500;

/// What the user wants of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    /// Nothing was said: it is there where there is room.
    None,
    Shown,
    Hidden,
}

/// Where the list is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Where {
    Nowhere,
    /// Beside the transcript, so many columns wide.
    Beside(u16),
    /// In front of it.
    InFront,
}

/// Columns for the conversation in a window of so many, as long as nobody asks for more or less of the list.
pub fn reading_columns(mode: Mode, columns: u16) -> u16 {
    match (mode, Sidebar::default().place(columns)) {
        (Mode::Full, Where::Beside(list)) => columns.saturating_sub(list + 1),
        (Mode::Full, Where::InFront | Where::Nowhere) | (Mode::Inline, _) => columns,
    }
}

/// What a key or a click in the list led to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Picked {
    Nothing,
    /// This is to be carried out.
    Command(String),
}

/// The list of sessions.
#[derive(Debug)]
pub(super) struct Sidebar {
    rows: Vec<SessionRow>,
    /// The session in front. A list that comes late does not know it.
    active: Option<SessionId>,
    wish: Wish,
    /// Whether keys go to it.
    focused: bool,
    /// The entry that is chosen; the first begins a new session.
    selected: usize,
    /// Whether the list was asked for and did not come yet.
    pub(super) awaited: bool,
    /// Whether it is to be asked for again when it comes.
    pub(super) again: bool,
}

impl Default for Sidebar {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            active: None,
            wish: Wish::None,
            focused: false,
            selected: 0,
            awaited: false,
            again: false,
        }
    }
}

impl Sidebar {
    pub(super) fn place(&self, columns: u16) -> Where {
        match (columns >= BESIDE, self.wish) {
            (true, Wish::None | Wish::Shown) => Where::Beside(COLUMNS),
            // Who reads must see what there is to read.
            (false, Wish::Shown) if self.focused => Where::InFront,
            (true, Wish::Hidden) | (false, _) => Where::Nowhere,
        }
    }

    pub(super) fn is_focused(&self) -> bool {
        self.focused
    }

    /// Brings it up, gives it the keys, or puts it away.
    pub(super) fn toggle(&mut self, columns: u16) {
        if self.focused {
            self.focused = false;
            self.wish = Wish::Hidden;
        } else {
            self.focused = true;
            self.wish = Wish::Shown;
            self.select_active();
        }
        if columns < BESIDE && !self.focused {
            self.wish = Wish::None;
        }
    }

    /// The keys go elsewhere; what stood in front of the transcript is gone.
    pub(super) fn leave(&mut self, columns: u16) {
        self.focused = false;
        if columns < BESIDE {
            self.wish = Wish::None;
        }
    }

    pub(super) fn supply(&mut self, mut rows: Vec<SessionRow>) {
        self.awaited = false;
        rows.truncate(MOST_SESSIONS);
        let chosen = self.chosen().map(|row| row.id.clone());
        // Who went to the first entry by keys stays there.
        let chose_new = self.focused && !self.rows.is_empty() && chosen.is_none();
        self.rows = rows;
        let same = self
            .rows
            .iter()
            .position(|row| Some(&row.id) == chosen.as_ref());
        self.selected = same.map_or(0, |place| place + 1);
        if chosen.is_none() && !chose_new {
            self.select_active();
        }
    }

    /// Another session is in front.
    pub(super) fn put_in_front(&mut self, session: Option<SessionId>) {
        self.active = session;
    }

    fn is_active(&self, row: &SessionRow) -> bool {
        self.active.as_ref().map(SessionId::as_str) == Some(&row.id)
    }

    /// What the session in front is called.
    pub(super) fn active_title(&self) -> Option<String> {
        let active = self.rows.iter().find(|row| self.is_active(row))?;
        Some(active.title.clone()).filter(|title| !title.is_empty())
    }

    fn select_active(&mut self) {
        let active = self.rows.iter().position(|row| self.is_active(row));
        self.selected = active.map_or(0, |place| place + 1);
    }

    fn chosen(&self) -> Option<&SessionRow> {
        self.rows.get(self.selected.checked_sub(1)?)
    }

    /// Reads a key; it has all of them while it is focused.
    pub(super) fn key(&mut self, key: KeyEvent, columns: u16) -> Picked {
        let last = self.rows.len();
        match (key.code, action(key)) {
            (KeyCode::PageUp, _) => self.selected = self.selected.saturating_sub(10),
            (KeyCode::PageDown, _) => self.selected = (self.selected + 10).min(last),
            (_, Some(Action::Up)) => self.selected = self.selected.saturating_sub(1),
            (_, Some(Action::Down)) => self.selected = (self.selected + 1).min(last),
            (_, Some(Action::LineStart | Action::TextStart)) => self.selected = 0,
            (_, Some(Action::LineEnd | Action::TextEnd)) => self.selected = last,
            (_, Some(Action::Escape)) => self.leave(columns),
            (_, Some(Action::Send)) => return self.pick(columns),
            (_, Some(Action::Insert('n' | 'N'))) => {
                self.selected = 0;
                return self.pick(columns);
            }
            _ => {}
        }
        Picked::Nothing
    }

    /// Takes the entry that is chosen.
    fn pick(&mut self, columns: u16) -> Picked {
        self.leave(columns);
        match self.chosen() {
            Some(row) if self.is_active(row) => Picked::Nothing,
            Some(row) => Picked::Command(format!("/resume {}", row.id)),
            None => Picked::Command("/new".to_owned()),
        }
    }

    /// The entry that is drawn in a row of the list.
    pub(super) fn entry_in(&self, row: usize, height: usize) -> Option<usize> {
        let row = row.checked_sub(1)?;
        let entry = self.top(height) + row / per_entry(height);
        (entry <= self.rows.len()).then_some(entry)
    }

    /// The wheel was turned.
    pub(super) fn step(&mut self, back: bool) {
        self.selected = match back {
            true => self.selected.saturating_sub(1),
            false => (self.selected + 1).min(self.rows.len()),
        };
    }

    /// The pointer is on an entry.
    pub(super) fn point(&mut self, entry: usize) {
        self.selected = entry;
    }

    pub(super) fn click(&mut self, entry: usize, columns: u16) -> Picked {
        self.selected = entry;
        self.pick(columns)
    }

    /// The first entry that is drawn: the chosen one is always seen.
    fn top(&self, height: usize) -> usize {
        let seen = (height.saturating_sub(1) / per_entry(height)).max(1);
        (self.selected + 1).saturating_sub(seen)
    }

    /// The list in exactly so many columns and rows.
    pub(super) fn lines(&self, columns: usize, height: usize, theme: &Theme) -> Vec<Line<'static>> {
        let hint = if self.focused {
            "Enter · N · Esc"
        } else {
            "F2"
        };
        let title = format!(" Sessions  {hint}");
        let one = |text: &str, style: Style| Line::from(Span::styled(fit(text, columns), style));
        let mut lines = vec![one(&title, theme.label)];
        for entry in self.top(height)..=self.rows.len() {
            if lines.len() >= height {
                break;
            }
            let chosen = entry == self.selected && self.focused;
            let style = |style: Style| match chosen {
                true => style.patch(theme.selected),
                false => style,
            };
            let Some(row) = entry.checked_sub(1).and_then(|place| self.rows.get(place)) else {
                lines.push(one(" + new session", style(theme.accent)));
                lines.extend((per_entry(height) == 2).then(|| one("", style(theme.faint))));
                continue;
            };
            let (mark, look) = match (self.is_active(row), row.busy) {
                (_, true) => ("●", theme.warn),
                (true, false) => ("▸", theme.strong),
                (false, false) => (" ", theme.text),
            };
            let title = clean_line(&row.title);
            let title = if title.is_empty() { &row.id } else { &title };
            lines.push(one(&cut(&format!("{mark} {title}"), columns), style(look)));
            if per_entry(height) == 2 {
                let messages = plural(
                    usize::try_from(row.messages).unwrap_or(usize::MAX),
                    "message",
                );
                let about = format!("  {} · {messages}", clean_line(&row.when));
                lines.push(one(&about, style(theme.faint)));
            }
        }
        lines.resize(height, one("", theme.text));
        lines.truncate(height);
        lines
    }
}

fn per_entry(height: usize) -> usize {
    if height >= TALL { 2 } else { 1 }
}
