//! One or more of a list that is narrowed by typing.

mod view;

use crossterm::event::{KeyCode, KeyEvent};

use super::{PanelOutcome, Verdict};
use crate::composer::keys::{Action, action};
use crate::fuzzy;

/// Entries beyond this are left out.
const MOST_ITEMS: usize = 10_000;
/// How far a page goes.
const PAGE: usize = 8;
const LONGEST_FILTER: usize = 100;

/// On which side of its column a text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A column of the list. When there is no room for all, the last ones go first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// What stands above it.
    pub title: String,
    /// Where its texts stand.
    pub side: Side,
}

/// An entry of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// A text for each column.
    pub cells: Vec<String>,
    /// What is found by typing besides the cells.
    pub also: String,
    /// Whether it is picked at first, where several can be.
    pub picked: bool,
}

/// How many can be picked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// One: Enter takes it.
    One,
    /// Several: space picks and Enter takes them.
    Many,
}

/// A list to pick from.
#[derive(Debug, Clone)]
pub struct Picker {
    title: String,
    columns: Vec<Column>,
    items: Vec<Item>,
    texts: Vec<String>,
    takes: Takes,
    filter: String,
    /// Places in `items` that fit the filter, best first.
    shown: Vec<usize>,
    at: usize,
}

impl Picker {
    /// Offers a list.
    pub fn new(
        title: impl Into<String>,
        columns: Vec<Column>,
        mut items: Vec<Item>,
        takes: Takes,
    ) -> Self {
        items.truncate(MOST_ITEMS);
        let texts = items
            .iter()
            .map(|item| format!("{} {}", item.cells.join(" "), item.also))
            .collect();
        let shown = (0..items.len()).collect();
        Self {
            title: title.into(),
            columns,
            items,
            texts,
            takes,
            filter: String::new(),
            shown,
            at: 0,
        }
    }

    /// Marks the entry at a place of the list, such as the one in use.
    pub fn select(&mut self, item: usize) {
        self.at = self
            .shown
            .iter()
            .position(|shown| *shown == item)
            .unwrap_or(self.at);
    }

    pub(super) fn key(&mut self, event: KeyEvent) -> PanelOutcome {
        let last = self.shown.len().saturating_sub(1);
        match (event.code, action(event)) {
            (KeyCode::PageUp, _) => self.at = self.at.saturating_sub(PAGE),
            (KeyCode::PageDown, _) => self.at = (self.at + PAGE).min(last),
            (_, Some(Action::Up)) => self.at = self.at.checked_sub(1).unwrap_or(last),
            (_, Some(Action::Down | Action::Complete)) => {
                self.at = if self.at >= last { 0 } else { self.at + 1 }
            }
            (_, Some(Action::LineStart | Action::TextStart)) => self.at = 0,
            (_, Some(Action::LineEnd | Action::TextEnd)) => self.at = last,
            (_, Some(Action::Insert(' '))) if self.takes == Takes::Many => return self.toggle(),
            (_, Some(Action::Insert(letter))) => return self.narrow(|filter| filter.push(letter)),
            (_, Some(Action::Backspace)) => return self.narrow(|filter| _ = filter.pop()),
            (_, Some(Action::KillToLineStart | Action::KillToSpace)) => {
                return self.narrow(String::clear);
            }
            (_, Some(Action::Send)) => return self.take(),
            (_, Some(Action::Escape | Action::Interrupt | Action::Cancel)) => {
                return PanelOutcome::Done(Verdict::Closed);
            }
            _ => return PanelOutcome::Ignored,
        }
        PanelOutcome::Changed
    }

    pub(super) fn paste(&mut self, text: &str) -> bool {
        let line = text.lines().next().unwrap_or_default().to_owned();
        self.narrow(|filter| filter.push_str(&line)) == PanelOutcome::Changed
    }

    fn narrow(&mut self, change: impl FnOnce(&mut String)) -> PanelOutcome {
        let mut filter = self.filter.clone();
        change(&mut filter);
        if filter == self.filter || filter.len() > LONGEST_FILTER {
            return PanelOutcome::Ignored;
        }
        self.filter = filter;
        self.shown = fuzzy::rank(&self.filter, self.texts.iter().map(String::as_str));
        self.at = 0;
        PanelOutcome::Changed
    }

    fn toggle(&mut self) -> PanelOutcome {
        match self
            .shown
            .get(self.at)
            .and_then(|at| self.items.get_mut(*at))
        {
            Some(item) => {
                item.picked = !item.picked;
                PanelOutcome::Changed
            }
            None => PanelOutcome::Ignored,
        }
    }

    fn take(&self) -> PanelOutcome {
        let picked = match self.takes {
            Takes::One => match self.shown.get(self.at) {
                Some(at) => vec![*at],
                None => return PanelOutcome::Ignored,
            },
            Takes::Many => {
                let picked = self
                    .items
                    .iter()
                    .enumerate()
                    .filter(|(_, item)| item.picked);
                picked.map(|(at, _)| at).collect()
            }
        };
        PanelOutcome::Done(Verdict::Picked(picked))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::KeyModifiers;

    fn press(picker: &mut Picker, code: KeyCode) -> PanelOutcome {
        picker.key(KeyEvent::new(code, KeyModifiers::NONE))
    }

    fn picker(count: usize, takes: Takes) -> Picker {
        let item = |number: usize| Item {
            cells: vec![format!("entry {number}")],
            also: format!("id{number}x"),
            picked: number == 1,
        };
        let column = Column {
            title: "Name".into(),
            side: Side::Left,
        };
        Picker::new("Pick", vec![column], (0..count).map(item).collect(), takes)
    }

    fn picked(at: usize) -> PanelOutcome {
        PanelOutcome::Done(Verdict::Picked(vec![at]))
    }

    #[test]
    fn typing_narrows_and_enter_takes() {
        let mut one = picker(30, Takes::One);
        for letter in "y 27".chars() {
            press(&mut one, KeyCode::Char(letter));
        }
        assert_eq!(press(&mut one, KeyCode::Enter), picked(27));
        press(&mut one, KeyCode::Char('z'));
        assert_eq!(
            press(&mut one, KeyCode::Enter),
            PanelOutcome::Ignored,
            "nothing fits"
        );
        press(&mut one, KeyCode::Backspace);
        assert_eq!(press(&mut one, KeyCode::Enter), picked(27));
        let mut by_id = picker(30, Takes::One);
        by_id.paste("id12x");
        assert_eq!(press(&mut by_id, KeyCode::Enter), picked(12));
    }

    #[test]
    fn arrows_and_pages_move() {
        let mut one = picker(30, Takes::One);
        press(&mut one, KeyCode::PageDown);
        press(&mut one, KeyCode::Down);
        assert_eq!(press(&mut one, KeyCode::Enter), picked(9));
        press(&mut one, KeyCode::End);
        press(&mut one, KeyCode::PageDown);
        assert_eq!(press(&mut one, KeyCode::Enter), picked(29));
        press(&mut one, KeyCode::Down);
        assert_eq!(press(&mut one, KeyCode::Enter), picked(0));
        one.select(7);
        assert_eq!(press(&mut one, KeyCode::Enter), picked(7));
        assert_eq!(
            press(&mut one, KeyCode::Esc),
            PanelOutcome::Done(Verdict::Closed)
        );
    }

    #[test]
    fn several_are_picked_with_the_space_bar() {
        let mut many = picker(5, Takes::Many);
        press(&mut many, KeyCode::Char('3'));
        press(&mut many, KeyCode::Char(' '));
        press(&mut many, KeyCode::Backspace);
        assert_eq!(
            press(&mut many, KeyCode::Enter),
            PanelOutcome::Done(Verdict::Picked(vec![1, 3]))
        );
    }

    #[test]
    fn an_empty_list_can_be_left() {
        let mut none = picker(0, Takes::One);
        press(&mut none, KeyCode::Down);
        press(&mut none, KeyCode::Up);
        assert_eq!(press(&mut none, KeyCode::Enter), PanelOutcome::Ignored);
    }
}
