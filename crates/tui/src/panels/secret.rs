//! A value nobody may see.

use std::fmt;

use crossterm::event::KeyEvent;
use ratatui::text::{Line, Span};
use zeroize::Zeroizing;

use super::frame::Frame;
use super::{PanelOutcome, Verdict, View};
use crate::composer::keys::{Action, action};
use crate::text::rows::cut;

/// A password or key may have this many bytes.
const LONGEST: usize = 4_096;

/// A value that prints as hidden.
#[derive(Clone, PartialEq, Eq)]
pub struct Hidden(Zeroizing<String>);

impl Hidden {
    /// The value itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("[hidden]")
    }
}

/// Asks for a value without showing it.
#[derive(Debug, Clone)]
pub struct SecretPrompt {
    prompt: String,
    value: Hidden,
}

impl SecretPrompt {
    /// Asks for a value; `prompt` says what for.
    pub fn new(prompt: &str) -> Self {
        // Room from the start: growing would leave copies behind.
        Self {
            prompt: prompt.to_owned(),
            value: Hidden(Zeroizing::new(String::with_capacity(LONGEST))),
        }
    }

    pub(super) fn key(&mut self, event: KeyEvent) -> PanelOutcome {
        let value = &mut self.value.0;
        match action(event) {
            Some(Action::Insert(letter)) if value.len() + letter.len_utf8() <= LONGEST => {
                value.push(letter)
            }
            Some(Action::Backspace) => _ = value.pop(),
            Some(Action::KillToLineStart | Action::KillToSpace) => value.clear(),
            Some(Action::Send) if value.is_empty() => return PanelOutcome::Done(Verdict::Closed),
            Some(Action::Send) => return PanelOutcome::Done(Verdict::Secret(self.value.clone())),
            Some(Action::Escape | Action::Interrupt | Action::Cancel) => {
                return PanelOutcome::Done(Verdict::Closed);
            }
            _ => return PanelOutcome::Ignored,
        }
        PanelOutcome::Changed
    }

    pub(super) fn paste(&mut self, text: &str) -> bool {
        // A newline behind a copied key is not part of it.
        let text = text.trim_matches('\n');
        let fits = self.value.0.len() + text.len() <= LONGEST;
        if fits {
            self.value.0.push_str(text);
        }
        fits
    }

    pub(super) fn view(&self, frame: Frame) -> View {
        let room = frame.width.saturating_sub(3);
        let dots = "•".repeat(self.value.0.chars().count().min(room));
        let mut lines = vec![frame.title("A secret is needed")];
        let shown = frame.height.saturating_sub(2).max(1);
        lines.extend(frame.text(&self.prompt, shown, frame.theme.strong));
        let cursor = (dots.chars().count() + 2, lines.len());
        let head = Span::styled(cut("› ", frame.width), frame.theme.accent);
        lines.push(Line::from(vec![head, Span::styled(dots, frame.theme.text)]));
        if lines.len() < frame.height {
            lines.push(frame.hint("Enter gives it, Esc skips. It is never shown."));
        }
        frame.view(lines, Some(cursor))
    }

    pub(super) fn summary(&self, verdict: &Verdict) -> String {
        let said = match verdict {
            Verdict::Secret(_) => "Given",
            Verdict::TimedOut => "Not given in time",
            _ => "Not given",
        };
        format!("{said}: {}", cut(&self.prompt, 80))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Theme;
    use crossterm::event::{KeyCode, KeyModifiers};

    // CL-19
    #[test]
    fn the_value_is_in_no_view_no_summary_and_no_debug_output() {
        let mut panel = SecretPrompt::new("Password for sudo");
        for letter in "hun".chars() {
            panel.key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE));
        }
        assert!(panel.paste("ter2\n"));
        let theme = Theme::plain();
        let view = panel.view(Frame::new(60, 10, None, &theme));
        let PanelOutcome::Done(verdict) =
            panel.key(KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE))
        else {
            panic!("not done");
        };
        let seen = format!(
            "{view:?} {panel:?} {panel:#?} {verdict:?} {}",
            panel.summary(&verdict)
        );
        assert!(!seen.contains("hun") && !seen.contains("ter2"), "{seen}");
        assert!(seen.contains("•••••••"));
        assert!(matches!(&verdict, Verdict::Secret(hidden) if hidden.reveal() == "hunter2"));
    }

    #[test]
    fn nothing_given_is_not_an_empty_secret() {
        let mut panel = SecretPrompt::new("Key");
        let enter = KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE);
        assert_eq!(panel.key(enter), PanelOutcome::Done(Verdict::Closed));
    }
}
