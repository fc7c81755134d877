//! How a list looks.

use ratatui::text::{Line, Span};

use super::super::View;
use super::super::frame::{Frame, first_shown};
use super::{Item, Picker, Side, Takes};
use crate::text::rows::{columns, cut, fit};

/// Space between two columns.
const GAP: usize = 2;
/// The least the first column gets before another one is left out.
const FIRST_COLUMN: usize = 16;

/// The least that is shown of a last column of words; one of numbers is shown whole or not at all.
const LAST_COLUMN: usize = 12;

impl Picker {
    pub(in crate::panels) fn view(&self, frame: Frame) -> View {
        let mark = if self.takes == Takes::Many { 6 } else { 2 };
        let titled = self.columns.len() > 1 && frame.height > 5;
        let head = 2 + usize::from(titled);
        // Where there is one row, an entry is worth more than what the keys do.
        let hinted = usize::from(frame.height > head + 1);
        let room = frame.height.saturating_sub(head + hinted).max(1);
        let first = first_shown(self.at, room);
        let shown: Vec<(usize, &Item)> = (first..first + room)
            .map_while(|rank| Some((rank, self.items.get(*self.shown.get(rank)?)?)))
            .collect();
        let widths = self.widths(
            frame.width.saturating_sub(mark),
            shown.iter().map(|(_, item)| *item),
        );
        let mut lines = vec![frame.title(&self.title)];
        let asked = cut(&format!("› {}", self.filter), frame.width);
        let cursor = (columns(&asked), 1);
        lines.push(Line::styled(asked, frame.theme.accent));
        if titled {
            let titles = self.columns.iter().map(|column| column.title.as_str());
            let row = format!("{}{}", " ".repeat(mark), self.row(titles, &widths));
            lines.push(Line::styled(
                cut(row.trim_end(), frame.width),
                frame.theme.label,
            ));
        }
        for (rank, item) in shown {
            let marked = rank == self.at;
            let sign = if marked { "› " } else { "  " };
            let check = match (self.takes, item.picked) {
                (Takes::One, _) => "",
                (Takes::Many, true) => "[x] ",
                (Takes::Many, false) => "[ ] ",
            };
            let style = if marked {
                frame.theme.selected
            } else {
                frame.theme.text
            };
            let head = cut(&format!("{sign}{check}"), frame.width);
            let row = cut(
                &self.row(item.cells.iter().map(String::as_str), &widths),
                frame.width - columns(&head),
            );
            lines.push(Line::from(vec![
                Span::styled(head, frame.theme.accent),
                Span::styled(row, style),
            ]));
        }
        if lines.len() < frame.height {
            lines.push(frame.hint(&self.hint(frame.width)));
        }
        frame.view(lines, Some(cursor))
    }

    /// How much of the list is left, and what the keys do.
    fn hint(&self, width: usize) -> String {
        let count = format!("{} of {}", self.shown.len(), self.items.len());
        let keys = match self.takes {
            // What is typed fits nothing: the way back is the next step.
            _ if self.shown.is_empty() && !self.filter.is_empty() => {
                "nothing fits; Backspace widens"
            }
            Takes::One => "type to narrow, Enter takes, Esc closes",
            Takes::Many => "space picks, Enter takes, Esc closes",
        };
        let hint = format!("{count}; {keys}");
        let more = format!("{hint}, type to narrow");
        let narrows = self.takes == Takes::Many && !self.shown.is_empty();
        let fits = columns(&more) <= width;
        if narrows && fits { more } else { hint }
    }

    /// The columns there is room for, each as wide as what is shown in it; the first one gives way.
    fn widths<'i>(&self, room: usize, items: impl Iterator<Item = &'i Item> + Clone) -> Vec<usize> {
        let wanted = self.columns.iter().enumerate().map(|(at, column)| {
            let cells = items
                .clone()
                .filter_map(|item| item.cells.get(at))
                .map(|cell| columns(cell));
            cells.chain([columns(&column.title)]).max().unwrap_or(0)
        });
        let mut widths: Vec<usize> = wanted.collect();
        while widths.len() > 1 {
            let others: usize = widths.iter().skip(1).map(|width| width + GAP).sum();
            let first = widths.first().copied().unwrap_or(0).min(FIRST_COLUMN);
            let over = (first + others).saturating_sub(room);
            if over == 0 {
                break;
            }
            let words = self.columns.get(widths.len() - 1);
            let words = words.is_some_and(|column| column.side == Side::Left);
            let last = widths.last_mut();
            let Some(last) = last.filter(|last| words && **last >= over + LAST_COLUMN) else {
                widths.pop();
                continue;
            };
            *last -= over;
            break;
        }
        let others: usize = widths.iter().skip(1).map(|width| width + GAP).sum();
        if let Some(first) = widths.first_mut() {
            *first = (*first).min(room.saturating_sub(others));
        }
        widths
    }

    fn row<'c>(&self, cells: impl Iterator<Item = &'c str>, widths: &[usize]) -> String {
        let columned = cells.zip(widths).zip(&self.columns);
        let made: Vec<String> = columned
            .map(|((cell, width), column)| match column.side {
                Side::Left => fit(cell, *width),
                Side::Right => {
                    let cell = cut(cell, *width);
                    format!("{}{cell}", " ".repeat(width.saturating_sub(columns(&cell))))
                }
            })
            .collect();
        made.join(&" ".repeat(GAP))
    }
}
