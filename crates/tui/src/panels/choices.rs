//! A few answers to choose from, by number or with the arrows.

use crossterm::event::KeyEvent;
use ratatui::text::{Line, Span};

use super::frame::Frame;
use crate::composer::keys::{Action, action};
use crate::text::rows::{columns, cut};

/// An answer, in words for a row of its own and for a row it shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Choice<T> {
    pub(super) value: T,
    pub(super) long: &'static str,
    pub(super) short: &'static str,
}

/// What a key chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chosen {
    Nothing,
    Moved,
    At(usize),
    Left,
}

/// Which of so many answers is marked.
#[derive(Debug, Clone)]
pub(super) struct Cursor {
    count: usize,
    /// Nothing is marked at first where a key pressed too early must not decide.
    pub(super) at: Option<usize>,
}

impl Cursor {
    pub(super) fn new(count: usize, at: Option<usize>) -> Self {
        Self { count, at }
    }

    pub(super) fn key(&mut self, event: KeyEvent) -> Chosen {
        let last = self.count.saturating_sub(1);
        match action(event) {
            Some(Action::Insert(digit @ '0'..='9')) => {
                // Nought is the tenth.
                let number = digit.to_digit(10).unwrap_or(0) as usize;
                let at = if number == 0 { 9 } else { number - 1 };
                if at < self.count {
                    Chosen::At(at)
                } else {
                    Chosen::Nothing
                }
            }
            Some(Action::Up | Action::Left) => {
                self.mark(self.at.map_or(last, |at| at.checked_sub(1).unwrap_or(last)))
            }
            Some(Action::Down | Action::Right | Action::Complete) => {
                self.mark(self.at.map_or(0, |at| if at >= last { 0 } else { at + 1 }))
            }
            Some(Action::Send) => self.at.map_or(Chosen::Nothing, Chosen::At),
            Some(Action::Escape | Action::Interrupt | Action::Cancel) => Chosen::Left,
            _ => Chosen::Nothing,
        }
    }

    fn mark(&mut self, at: usize) -> Chosen {
        self.at = (self.count > 0).then_some(at);
        Chosen::Moved
    }

    /// One row for each, around the marked one when there are more than rows.
    pub(super) fn rows<'l>(
        &self,
        labels: impl Iterator<Item = &'l str>,
        limit: usize,
        frame: Frame,
    ) -> Vec<Line<'static>> {
        let first = super::frame::first_shown(self.at.unwrap_or(0), limit);
        let shown = labels.enumerate().skip(first).take(limit);
        shown
            .map(|(at, label)| {
                let marked = self.at == Some(at);
                let sign = if marked { "›" } else { " " };
                let style = if marked {
                    frame.theme.selected
                } else {
                    frame.theme.text
                };
                let number = if at < 10 {
                    ((at + 1) % 10).to_string()
                } else {
                    " ".to_owned()
                };
                let head = cut(&format!("{sign} {number} "), frame.width);
                let label = cut(label, frame.width.saturating_sub(columns(&head)));
                Line::from(vec![
                    Span::styled(head, frame.theme.accent),
                    Span::styled(label, style),
                ])
            })
            .collect()
    }

    /// As many in a row as fit, each with its place.
    pub(super) fn inline<'l>(
        &self,
        labels: impl Iterator<Item = (usize, &'l str)>,
        frame: Frame,
    ) -> Vec<Line<'static>> {
        let mut lines: Vec<Line<'static>> = Vec::new();
        let mut taken = usize::MAX;
        for (at, label) in labels {
            let style = if self.at == Some(at) {
                frame.theme.selected
            } else {
                frame.theme.text
            };
            let number = format!("{} ", at + 1);
            let room = columns(&number) + columns(label);
            if taken.saturating_add(2 + room) > frame.width {
                lines.push(Line::default());
                taken = 0;
            }
            let gap = if taken > 0 { "  " } else { "" };
            taken += columns(gap) + room;
            if let Some(line) = lines.last_mut() {
                line.push_span(Span::raw(gap));
                line.push_span(Span::styled(cut(&number, frame.width), frame.theme.accent));
                line.push_span(Span::styled(
                    cut(label, frame.width.saturating_sub(columns(&number))),
                    style,
                ));
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::{KeyCode, KeyModifiers};

    fn press(cursor: &mut Cursor, code: KeyCode) -> Chosen {
        cursor.key(KeyEvent::new(code, KeyModifiers::NONE))
    }

    #[test]
    fn numbers_choose_at_once_and_arrows_mark() {
        let mut cursor = Cursor::new(3, None);
        assert_eq!(
            press(&mut cursor, KeyCode::Enter),
            Chosen::Nothing,
            "nothing is marked yet"
        );
        assert_eq!(press(&mut cursor, KeyCode::Char('4')), Chosen::Nothing);
        assert_eq!(press(&mut cursor, KeyCode::Char('3')), Chosen::At(2));
        assert_eq!(press(&mut cursor, KeyCode::Down), Chosen::Moved);
        assert_eq!(press(&mut cursor, KeyCode::Enter), Chosen::At(0));
        press(&mut cursor, KeyCode::Up);
        assert_eq!(press(&mut cursor, KeyCode::Enter), Chosen::At(2));
        press(&mut cursor, KeyCode::Down);
        assert_eq!(press(&mut cursor, KeyCode::Enter), Chosen::At(0));
        assert_eq!(press(&mut cursor, KeyCode::Esc), Chosen::Left);
        let mut ten = Cursor::new(10, None);
        assert_eq!(press(&mut ten, KeyCode::Char('0')), Chosen::At(9));
    }
}
