//! May this be done?

use std::ops::Range;

use crossterm::event::KeyEvent;
use hermes_core::{Answer, Reach};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::choices::{Choice, Chosen, Cursor};
use super::field::{Writing, Written};
use super::frame::Frame;
use super::scroll::Scroll;
use super::{PanelOutcome, Verdict, View};
use crate::composer::keys::{Action, action};
use crate::text::rows::{block, columns, cut, paint, wrap};

/// An action longer than this can be viewed by itself.
const LONG: usize = 70;
/// Rows above the choices that always stay: the title, what is dangerous, and why.
const FEWEST_ABOVE: usize = 3;
/// Columns for the signs at both ends of a row that say that something is left out there.
const SIGNS: usize = 4;

/// Asks whether an action may be done.
#[derive(Debug, Clone)]
pub struct Approval {
    action: String,
    reasons: Vec<String>,
    marks: Vec<(usize, usize)>,
    choices: Vec<Choice<Pick>>,
    cursor: Cursor,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pick {
    Once,
    Session,
    Always,
    Deny,
    DenyWhy,
    Edit,
    View,
}

#[derive(Debug, Clone)]
enum Stage {
    Choosing,
    /// Saying why not.
    Reason(Writing),
    /// Writing what is to be done instead.
    Editing(Writing),
    /// Looking at the whole action.
    Viewing(Scroll),
}

impl Approval {
    /// Asks about an action. `marks` are the byte ranges that gave the reasons; `reach` is how far a yes may
    /// go. Nothing is marked at first: Enter meant for the draft must not allow anything.
    pub fn new(action: &str, reasons: &[String], marks: &[(usize, usize)], reach: Reach) -> Self {
        Self::offering(action, reasons, marks, reach, false)
    }

    /// The same for an action that may be changed, and is done as it stands then.
    pub fn editable(
        action: &str,
        reasons: &[String],
        marks: &[(usize, usize)],
        reach: Reach,
    ) -> Self {
        Self::offering(action, reasons, marks, reach, true)
    }

    fn offering(
        action: &str,
        reasons: &[String],
        marks: &[(usize, usize)],
        reach: Reach,
        editable: bool,
    ) -> Self {
        let long = columns(action) > LONG || action.contains('\n');
        let choice = |value, long, short| Choice { value, long, short };
        let all = [
            (true, choice(Pick::Once, "Allow once", "once")),
            (
                reach >= Reach::Session,
                choice(Pick::Session, "Allow for this session", "session"),
            ),
            (
                reach >= Reach::Always,
                choice(Pick::Always, "Always allow", "always"),
            ),
            (true, choice(Pick::Deny, "Deny", "deny")),
            (
                true,
                choice(Pick::DenyWhy, "Deny and say why", "deny, say why"),
            ),
            (editable, choice(Pick::Edit, "Change it, then run", "edit")),
            (long, choice(Pick::View, "View all of it", "view")),
        ];
        let choices: Vec<_> = all
            .into_iter()
            .filter(|(offered, _)| *offered)
            .map(|(_, choice)| choice)
            .collect();
        Self {
            action: action.to_owned(),
            reasons: reasons.to_vec(),
            marks: marks.to_vec(),
            cursor: Cursor::new(choices.len(), None),
            choices,
            stage: Stage::Choosing,
        }
    }

    pub(super) fn key(&mut self, event: KeyEvent) -> PanelOutcome {
        match &mut self.stage {
            Stage::Choosing => match self.cursor.key(event) {
                Chosen::Nothing => PanelOutcome::Ignored,
                Chosen::Moved => PanelOutcome::Changed,
                Chosen::Left => done(Answer::no()),
                Chosen::At(at) => self.pick(at),
            },
            Stage::Reason(writing) => match writing.key(event) {
                Written::Changed => PanelOutcome::Changed,
                Written::Other(_) => PanelOutcome::Ignored,
                Written::Sent => {
                    let reason = writing.text().trim().to_owned();
                    done(Answer::Deny {
                        reason: (!reason.is_empty()).then_some(reason),
                    })
                }
                Written::Left => self.enter(Stage::Choosing),
            },
            Stage::Editing(writing) => match writing.key(event) {
                Written::Changed => PanelOutcome::Changed,
                Written::Other(Some(Action::Up)) if writing.up() => PanelOutcome::Changed,
                Written::Other(Some(Action::Down)) if writing.down() => PanelOutcome::Changed,
                Written::Other(_) => PanelOutcome::Ignored,
                Written::Sent => match writing.text().trim() {
                    "" => PanelOutcome::Ignored,
                    text if text == self.action.trim() => done(Answer::AllowOnce),
                    text => done(Answer::Instead(text.to_owned())),
                },
                Written::Left => self.enter(Stage::Choosing),
            },
            Stage::Viewing(scroll) => match action(event) {
                Some(Action::Escape | Action::Send) => self.enter(Stage::Choosing),
                _ if scroll.key(event) => PanelOutcome::Changed,
                _ => PanelOutcome::Ignored,
            },
        }
    }

    pub(super) fn paste(&mut self, text: &str) -> bool {
        match &mut self.stage {
            Stage::Reason(writing) | Stage::Editing(writing) => writing.insert(text),
            Stage::Choosing | Stage::Viewing(_) => return false,
        }
        true
    }

    fn pick(&mut self, at: usize) -> PanelOutcome {
        match self.choices.get(at).map(|choice| choice.value) {
            Some(Pick::Once) => done(Answer::AllowOnce),
            Some(Pick::Session) => done(Answer::AllowSession),
            Some(Pick::Always) => done(Answer::AllowAlways),
            Some(Pick::Deny) => done(Answer::no()),
            Some(Pick::DenyWhy) => self.enter(Stage::Reason(Writing::default())),
            Some(Pick::Edit) => self.enter(Stage::Editing(Writing::new(&self.action))),
            Some(Pick::View) => self.enter(Stage::Viewing(Scroll::default())),
            None => PanelOutcome::Ignored,
        }
    }

    fn enter(&mut self, stage: Stage) -> PanelOutcome {
        self.stage = stage;
        PanelOutcome::Changed
    }

    pub(super) fn view(&self, frame: Frame) -> View {
        match &self.stage {
            Stage::Choosing => self.question(self.choice_rows(frame), None, frame),
            Stage::Reason(writing) => {
                let (rows, cursor) = writing.rows("Why not? ", 3, frame);
                self.question(rows, Some(cursor), frame)
            }
            Stage::Editing(writing) => self.editor(writing, frame),
            Stage::Viewing(scroll) => self.whole(scroll, frame),
        }
    }

    fn choice_rows(&self, frame: Frame) -> Vec<Line<'static>> {
        let action = wrap(&self.action, frame.width).len();
        let rich =
            1 + action.min(4) + self.reasons.len().min(3) + self.choices.len() <= frame.height;
        match rich {
            true => self.cursor.rows(
                self.choices.iter().map(|choice| choice.long),
                usize::MAX,
                frame,
            ),
            false => {
                let short = |at: usize| Some((at, self.choices.get(at)?.short));
                let all = self
                    .cursor
                    .inline((0..self.choices.len()).filter_map(short), frame);
                match all.len() + FEWEST_ABOVE <= frame.height {
                    true => all,
                    false => {
                        let first = self.first_things().filter_map(short);
                        let mut rows = self.cursor.inline(first, frame);
                        rows.truncate(frame.height.saturating_sub(FEWEST_ABOVE).max(1));
                        rows
                    }
                }
            }
        }
    }

    /// The choices for rows that do not hold them all: what is marked or allows once, then how to say no, then the rest.
    fn first_things(&self) -> impl Iterator<Item = usize> {
        let first = self.cursor.at.unwrap_or(0);
        let deny = self.choices.iter().position(|one| one.value == Pick::Deny);
        let deny = deny.filter(|at| *at != first);
        let others = (0..self.choices.len()).filter(move |at| *at != first && Some(*at) != deny);
        std::iter::once(first).chain(deny).chain(others)
    }

    /// Title, action, reasons and what can be done. When rows are short the reasons give way first and the
    /// action last; the title, what is marked, one reason and the end always stay.
    fn question(
        &self,
        end: Vec<Line<'static>>,
        cursor: Option<(usize, usize)>,
        frame: Frame,
    ) -> View {
        let room = frame.height.saturating_sub(1 + end.len());
        let reasons = self.reason_rows(usize::MAX, frame).len();
        let for_action = room.saturating_sub(reasons).max(room.div_ceil(2)).max(1);
        let action = self.action_rows(for_action, frame);
        let reasons = self.reason_rows(room.saturating_sub(action.len()), frame);
        let mut lines = vec![frame.title("Allow this?")];
        lines.extend(action);
        lines.extend(reasons);
        let start = lines.len();
        lines.extend(end);
        if lines.len() < frame.height {
            lines.push(frame.hint(match self.stage {
                Stage::Reason(_) => "Enter denies with this reason, Esc goes back.",
                _ => "Number, or arrows and Enter. Esc denies.",
            }));
        }
        frame.view(lines, cursor.map(|(x, y)| (x, y + start)))
    }

    /// The action in so many rows. What is marked comes first, then the beginning: whoever decides must see what it is
    /// about.
    fn action_rows(&self, room: usize, frame: Frame) -> Vec<Line<'static>> {
        let rows = wrap(&self.action, frame.width);
        if rows.len() <= room {
            return rows.into_iter().map(|row| self.row(row, frame)).collect();
        }
        let narrower = Frame {
            width: frame.width.saturating_sub(SIGNS).max(1),
            ..frame
        };
        let rows = self.rows_from_mark(room, narrower.width);
        let mut shown: Vec<usize> = (0..rows.len()).collect();
        shown.sort_by_cached_key(|at| (rows.get(*at).map(|row| self.weight(row)), *at));
        shown.truncate(room);
        shown.sort_unstable();
        let one = |at: &usize| {
            let mut line = self.row(rows.get(*at)?.clone(), narrower);
            if line.width() + SIGNS > frame.width {
                return Some(line);
            }
            if *at > 0 && !shown.contains(&(at - 1)) {
                line.spans.insert(0, Span::styled("… ", frame.theme.faint));
            }
            if at + 1 < rows.len() && !shown.contains(&(at + 1)) {
                line.push_span(Span::styled(" …", frame.theme.faint));
            }
            Some(line)
        };
        shown.iter().filter_map(one).collect()
    }

    /// The rows of the action, where the first part that is marked begins one. Where there is room for one row only, it
    /// is filled to its end, in the middle of a word too.
    fn rows_from_mark(&self, room: usize, width: usize) -> Vec<Range<usize>> {
        let start = self.marks.iter().map(|(start, _)| *start).min();
        let parts = start.and_then(|start| self.action.split_at_checked(start));
        let (before, after) = parts.unwrap_or(("", &self.action));
        let first = wrap(before, width).into_iter();
        let first = first.filter(|row| !row.is_empty());
        let rest = match room {
            1 => wrap(&after.replace(' ', "_"), width),
            _ => wrap(after, width),
        };
        let moved = |row: Range<usize>| row.start + before.len()..row.end + before.len();
        first.chain(rest.into_iter().map(moved)).collect()
    }

    /// What is shown of the action before other parts of it; the least first.
    fn weight(&self, row: &Range<usize>) -> u8 {
        let begins = |(start, _): &(usize, usize)| row.contains(start);
        let touches = |(start, end): &(usize, usize)| *start < row.end && *end > row.start;
        if self.marks.iter().any(begins) {
            0
        } else if self.marks.iter().any(touches) {
            1
        } else {
            2
        }
    }

    fn row(&self, row: Range<usize>, frame: Frame) -> Line<'static> {
        let marked = |at: usize| {
            self.marks
                .iter()
                .any(|(start, end)| (*start..*end).contains(&at))
        };
        // Underlined, as not every terminal has colours.
        let bad = frame.theme.bad.add_modifier(Modifier::UNDERLINED);
        let style = |at: usize| {
            if marked(at) { bad } else { frame.theme.strong }
        };
        Line::from(paint(&self.action, row, frame.width, style))
    }

    /// The reasons in so many rows. The last one says what does not fit, when it is not the only one.
    fn reason_rows(&self, room: usize, frame: Frame) -> Vec<Line<'static>> {
        let reasons: Vec<String> = self.reasons.iter().map(|one| format!("• {one}")).collect();
        let rows = |text: &String, most| block(text, frame.width, most);
        let mut all: Vec<String> = reasons
            .iter()
            .flat_map(|one| rows(one, usize::MAX))
            .collect();
        let hidden = (all.len() + 1).saturating_sub(room);
        if room == 1 && hidden > 1 {
            all = rows(&reasons.join(" "), 1);
        }
        let cut = all.len() > room;
        if cut {
            all.truncate(room.saturating_sub(1));
        }
        let style = frame.theme.warn;
        let mut lines: Vec<_> = all
            .into_iter()
            .map(|row| Line::styled(row, style))
            .collect();
        if cut && room > 0 {
            lines.push(frame.hint(&format!("… {hidden} rows with more reasons")));
        }
        lines
    }

    /// The action as it is being changed. What was found in it stays in view, where there is room.
    fn editor(&self, writing: &Writing, frame: Frame) -> View {
        let room = frame.height.saturating_sub(2).max(1);
        let (rows, (x, y)) = writing.rows("› ", room, frame);
        let mut lines = vec![frame.title("Change it, then run")];
        lines.extend(rows);
        let left = frame.height.saturating_sub(lines.len() + 1);
        lines.extend(self.reason_rows(left, frame));
        if lines.len() < frame.height {
            lines.push(frame.hint("Enter runs it as it stands here, Esc goes back."));
        }
        frame.view(lines, Some((x, y + 1)))
    }

    fn whole(&self, scroll: &Scroll, frame: Frame) -> View {
        let rows = self.action_rows(usize::MAX, frame);
        let room = frame.height.saturating_sub(2).max(1);
        let top = scroll.first(rows.len(), room);
        let mut lines = vec![frame.title("All of it")];
        let total = rows.len();
        lines.extend(rows.into_iter().skip(top).take(room));
        let last = (top + room).min(total);
        lines.push(frame.hint(&format!(
            "Rows {}-{last} of {total}. Arrows scroll, Esc goes back.",
            top + 1
        )));
        frame.view(lines, None)
    }

    pub(super) fn summary(&self, verdict: &Verdict) -> String {
        let said = match verdict {
            Verdict::Answer(Answer::AllowOnce) => "Allowed once",
            Verdict::Answer(Answer::AllowSession) => "Allowed for this session",
            Verdict::Answer(Answer::AllowAlways) => "Always allowed from now on",
            Verdict::Answer(Answer::Deny {
                reason: Some(reason),
            }) => {
                return format!("Denied ({}): {}", cut(reason, 60), cut(&self.action, 60));
            }
            Verdict::Answer(Answer::Instead(text)) => {
                return format!("Changed and allowed once: {}", cut(text, 80));
            }
            Verdict::TimedOut => "Not allowed, nobody answered in time",
            _ => "Denied",
        };
        format!("{said}: {}", cut(&self.action, 80))
    }
}

fn done(answer: Answer) -> PanelOutcome {
    PanelOutcome::Done(Verdict::Answer(answer))
}

#[cfg(test)]
mod tests;
