//! Where the reader is.

use ratatui::text::Line;

use super::{Seen, Shown, Tail, Transcript};

/// A row of a cell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Spot {
    pub(super) cell: usize,
    pub(super) row: usize,
}

/// Where the reader is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// At the end, and stays there when more comes.
    End,
    /// Somewhere else, and stays there when more comes: the first row that is seen.
    At(Spot),
}

impl Transcript {
    /// What is seen in so many rows. When there is more below, the last row is left to say so.
    pub(crate) fn show(&mut self, rows: usize, tail: &Tail<'_>) -> Shown {
        let end = Spot {
            cell: self.end(),
            row: tail.len(),
        };
        let last = self.back(end, rows);
        let top = match self.place {
            Place::At(spot) => self.inside(spot).min(last),
            Place::End => last,
        };
        let more = top < last;
        self.place = if more { Place::At(top) } else { Place::End };
        let room = rows.saturating_sub(usize::from(more)).max(1).min(rows);
        let mut shown = Shown {
            lines: Vec::with_capacity(room),
            more,
        };
        let mut cells = Vec::with_capacity(room);
        self.fill(top, room, tail, &mut shown.lines, &mut cells);
        if let Some(marked) = self.marked {
            let first = cells.iter().position(|cell| *cell == Some(marked));
            // An empty line sets a cell apart; the mark is for what can be read.
            let lines = shown.lines.iter_mut().skip(first.unwrap_or(usize::MAX));
            if let Some(line) = lines.take(2).find(|line| line.width() > 0) {
                for span in &mut line.spans {
                    span.style = span.style.patch(self.look.theme.selected);
                }
            }
        }
        self.seen = Seen { top, rows, cells };
        shown
    }

    /// Copies lines from a place on.
    fn fill(
        &mut self,
        from: Spot,
        rows: usize,
        tail: &Tail<'_>,
        lines: &mut Vec<Line<'static>>,
        cells: &mut Vec<Option<usize>>,
    ) {
        let mut row = from.row;
        for number in from.cell..self.end() {
            let cell = self.lines(number);
            for line in cell.iter().skip(row) {
                if lines.len() == rows {
                    return;
                }
                lines.push(line.clone());
                cells.push(Some(number));
            }
            row = 0;
        }
        while let Some(line) = tail.get(row).filter(|_| lines.len() < rows) {
            lines.push(line.clone());
            cells.push(None);
            row += 1;
        }
    }

    /// The nearest place that exists, as cells come, go and are folded.
    fn inside(&mut self, spot: Spot) -> Spot {
        if spot.cell < self.first {
            return Spot {
                cell: self.first,
                row: 0,
            };
        }
        let mut spot = spot;
        while spot.cell < self.end() {
            let height = self.lines(spot.cell).len();
            if spot.row < height {
                return spot;
            }
            // A row too many of a cell that was folded leads to the next one.
            spot = Spot {
                cell: spot.cell + 1,
                row: 0,
            };
        }
        spot
    }

    /// The place so many rows above, or the beginning.
    pub(super) fn back(&mut self, from: Spot, rows: usize) -> Spot {
        let mut left = rows;
        let mut spot = from;
        while left > spot.row {
            left -= spot.row;
            let Some(before) = spot.cell.checked_sub(1).filter(|cell| *cell >= self.first) else {
                return Spot { row: 0, ..spot };
            };
            spot = Spot {
                cell: before,
                row: self.lines(before).len(),
            };
        }
        Spot {
            row: spot.row - left,
            ..spot
        }
    }

    /// The place so many rows below, or the end.
    fn forth(&mut self, from: Spot, rows: usize) -> Spot {
        let mut spot = Spot {
            row: from.row + rows,
            ..from
        };
        while spot.cell < self.end() {
            let height = self.lines(spot.cell).len();
            if spot.row < height {
                return spot;
            }
            spot = Spot {
                cell: spot.cell + 1,
                row: spot.row - height,
            };
        }
        spot
    }

    /// The first row that is seen, or will be: several keys may come between two pictures.
    fn here(&self) -> Spot {
        match self.place {
            Place::At(spot) => spot,
            Place::End => self.seen.top,
        }
    }

    /// Whether the newest is seen, and stays so.
    pub(crate) fn is_at_end(&self) -> bool {
        matches!(self.place, Place::End)
    }

    /// Moves so many rows towards the beginning.
    pub(crate) fn scroll_back(&mut self, rows: usize) {
        let spot = self.back(self.here(), rows);
        self.place = Place::At(spot);
    }

    /// Moves so many rows towards the end.
    pub(crate) fn scroll_on(&mut self, rows: usize) {
        if self.place != Place::End {
            let spot = self.forth(self.here(), rows);
            self.place = Place::At(spot);
        }
    }

    /// Moves almost a screenful.
    pub(crate) fn page(&mut self, back: bool) {
        let rows = self.seen.rows.saturating_sub(2).max(1);
        match back {
            true => self.scroll_back(rows),
            false => self.scroll_on(rows),
        }
    }

    pub(crate) fn go_to_start(&mut self) {
        self.place = Place::At(Spot {
            cell: self.first,
            row: 0,
        });
    }

    pub(crate) fn go_to_end(&mut self) {
        self.place = Place::End;
    }
}
