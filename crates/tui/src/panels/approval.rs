//! May this be done?

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
/// Rows above the choices that always stay: the title and the beginning of the action.
const FEWEST_ABOVE: usize = 2;

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
                    false => self
                        .cursor
                        .inline(self.first_things().filter_map(short), frame),
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
    /// action last; the title and the end always stay.
    fn question(
        &self,
        end: Vec<Line<'static>>,
        cursor: Option<(usize, usize)>,
        frame: Frame,
    ) -> View {
        let room = frame.height.saturating_sub(1 + end.len());
        let mut action = self.action_rows(frame);
        let reasons = self.reason_rows(frame);
        let for_action = room
            .saturating_sub(reasons.len())
            .max(room.div_ceil(2))
            .max(1);
        match for_action {
            1 => self.begin_action(&mut action, frame),
            more => clip(&mut action, more, "more of it", frame),
        }
        let mut reasons = reasons;
        clip(
            &mut reasons,
            room.saturating_sub(action.len()),
            "more reasons",
            frame,
        );
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

    fn action_rows(&self, frame: Frame) -> Vec<Line<'static>> {
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
        let rows = wrap(&self.action, frame.width);
        rows.into_iter()
            .map(|row| Line::from(paint(&self.action, row, frame.width, style)))
            .collect()
    }

    /// The beginning of the action in the one row there is for it: whoever decides must see what it is about.
    fn begin_action(&self, rows: &mut Vec<Line<'static>>, frame: Frame) {
        if rows.len() <= 1 {
            return;
        }
        let narrower = Frame {
            width: frame.width.saturating_sub(2).max(1),
            ..frame
        };
        rows.clear();
        rows.extend(
            self.action_rows(narrower)
                .into_iter()
                .take(1)
                .map(|mut row| {
                    if row.width() + 2 <= frame.width {
                        row.push_span(Span::styled(" …", frame.theme.faint));
                    }
                    row
                }),
        );
    }

    fn reason_rows(&self, frame: Frame) -> Vec<Line<'static>> {
        let reasons = self.reasons.iter().map(|reason| format!("• {reason}"));
        let rows = reasons.flat_map(|reason| block(&reason, frame.width, usize::MAX));
        rows.map(|row| Line::styled(row, frame.theme.warn))
            .collect()
    }

    /// The action as it is being changed. What was found in it stays in view, where there is room.
    fn editor(&self, writing: &Writing, frame: Frame) -> View {
        let room = frame.height.saturating_sub(2).max(1);
        let (rows, (x, y)) = writing.rows("› ", room, frame);
        let mut lines = vec![frame.title("Change it, then run")];
        lines.extend(rows);
        let mut reasons = self.reason_rows(frame);
        let left = frame.height.saturating_sub(lines.len() + 1);
        clip(&mut reasons, left, "more reasons", frame);
        lines.extend(reasons);
        if lines.len() < frame.height {
            lines.push(frame.hint("Enter runs it as it stands here, Esc goes back."));
        }
        frame.view(lines, Some((x, y + 1)))
    }

    fn whole(&self, scroll: &Scroll, frame: Frame) -> View {
        let rows = self.action_rows(frame);
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

/// Leaves out what does not fit, and says so in the last row.
fn clip(lines: &mut Vec<Line<'static>>, limit: usize, what: &str, frame: Frame) {
    if lines.len() <= limit {
        return;
    }
    let hidden = lines.len() + 1 - limit;
    lines.truncate(limit.saturating_sub(1));
    if limit > 0 {
        lines.push(frame.hint(&format!("… {hidden} rows with {what}")));
    }
}

#[cfg(test)]
mod tests;
