//! Should this really happen?

use crossterm::event::KeyEvent;

use super::choices::{Choice, Chosen, Cursor};
use super::frame::Frame;
use super::{PanelOutcome, Verdict, View};
use crate::text::rows::cut;

/// What was said to a confirmation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confirmation {
    /// Yes, this time.
    Once,
    /// Yes, and it is not asked again.
    Always,
    /// No.
    Cancel,
}

/// Whether a yes can be for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lasting {
    /// It can.
    Offered,
    /// It is asked each time.
    Never,
}

/// Asks before something that cannot be taken back.
#[derive(Debug, Clone)]
pub struct Confirm {
    title: String,
    text: String,
    choices: Vec<Choice<Confirmation>>,
    cursor: Cursor,
}

impl Confirm {
    /// Asks whether what `title` names should happen; `text` says what that means.
    pub fn new(title: impl Into<String>, text: impl Into<String>, lasting: Lasting) -> Self {
        let choice = |value, long, short| Choice { value, long, short };
        let mut choices = vec![
            choice(Confirmation::Once, "Yes, this time", "yes"),
            choice(Confirmation::Always, "Yes, and do not ask again", "always"),
            choice(Confirmation::Cancel, "Cancel", "cancel"),
        ];
        choices
            .retain(|choice| choice.value != Confirmation::Always || lasting == Lasting::Offered);
        Self {
            title: title.into(),
            text: text.into(),
            cursor: Cursor::new(choices.len(), Some(0)),
            choices,
        }
    }

    pub(super) fn key(&mut self, event: KeyEvent) -> PanelOutcome {
        let value = match self.cursor.key(event) {
            Chosen::Nothing => return PanelOutcome::Ignored,
            Chosen::Moved => return PanelOutcome::Changed,
            Chosen::Left => Confirmation::Cancel,
            Chosen::At(at) => self
                .choices
                .get(at)
                .map_or(Confirmation::Cancel, |choice| choice.value),
        };
        PanelOutcome::Done(Verdict::Confirm(value))
    }

    pub(super) fn view(&self, frame: Frame) -> View {
        let tight = frame.height < self.choices.len() + 2;
        let end = match tight {
            true => self.cursor.inline(
                self.choices.iter().map(|choice| choice.short).enumerate(),
                frame,
            ),
            false => self.cursor.rows(
                self.choices.iter().map(|choice| choice.long),
                usize::MAX,
                frame,
            ),
        };
        let mut lines = vec![frame.title(&self.title)];
        let room = frame.height.saturating_sub(1 + end.len());
        lines.extend(frame.text(&self.text, room, frame.theme.text));
        lines.extend(end);
        if lines.len() < frame.height {
            lines.push(frame.hint("Number, or arrows and Enter. Esc cancels."));
        }
        frame.view(lines, None)
    }

    pub(super) fn summary(&self, verdict: &Verdict) -> String {
        let said = match verdict {
            Verdict::Confirm(Confirmation::Once) => "confirmed",
            Verdict::Confirm(Confirmation::Always) => "confirmed, and not asked again",
            _ => "cancelled",
        };
        format!("{}: {said}", cut(&self.title, 60))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::{KeyCode, KeyModifiers};

    fn pressed(lasting: Lasting, code: KeyCode) -> PanelOutcome {
        Confirm::new("Start over", "", lasting).key(KeyEvent::new(code, KeyModifiers::NONE))
    }

    // CL-19
    #[test]
    fn yes_for_good_is_offered_only_where_it_can_be() {
        let said = |value| PanelOutcome::Done(Verdict::Confirm(value));
        assert_eq!(
            pressed(Lasting::Offered, KeyCode::Char('2')),
            said(Confirmation::Always)
        );
        assert_eq!(
            pressed(Lasting::Never, KeyCode::Char('2')),
            said(Confirmation::Cancel)
        );
        assert_eq!(
            pressed(Lasting::Never, KeyCode::Char('3')),
            PanelOutcome::Ignored
        );
        assert_eq!(
            pressed(Lasting::Never, KeyCode::Esc),
            said(Confirmation::Cancel)
        );
        assert_eq!(
            pressed(Lasting::Never, KeyCode::Enter),
            said(Confirmation::Once)
        );
    }
}
