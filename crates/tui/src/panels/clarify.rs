//! What was meant?

use crossterm::event::KeyEvent;
use hermes_core::Answer;

use super::choices::{Chosen, Cursor};
use super::field::{Writing, Written};
use super::frame::Frame;
use super::{PanelOutcome, Verdict, View};
use crate::composer::keys::{Action, action};
use crate::text::rows::cut;

const OTHER: &str = "Something else…";
/// Choices beyond this are left out; the person can still write them.
const MOST_CHOICES: usize = 50;

/// A question with answers to pick from, or to be answered in words.
#[derive(Debug, Clone)]
pub struct Clarify {
    question: String,
    choices: Vec<String>,
    cursor: Cursor,
    /// The answer in words, once it is being written.
    writing: Option<Writing>,
}

impl Clarify {
    /// Asks a question.
    pub fn new(question: &str, choices: &[String]) -> Self {
        let choices: Vec<String> = choices.iter().take(MOST_CHOICES).cloned().collect();
        Self {
            question: question.to_owned(),
            cursor: Cursor::new(choices.len() + 1, Some(0)),
            writing: choices.is_empty().then(Writing::default),
            choices,
        }
    }

    pub(super) fn key(&mut self, event: KeyEvent) -> PanelOutcome {
        let Some(writing) = &mut self.writing else {
            return self.choose(event);
        };
        match writing.key(event) {
            Written::Changed => PanelOutcome::Changed,
            Written::Other(_) => PanelOutcome::Ignored,
            Written::Sent => match writing.text().trim() {
                "" => PanelOutcome::Ignored,
                text => PanelOutcome::Done(Verdict::Answer(Answer::Text(text.to_owned()))),
            },
            Written::Left if self.choices.is_empty() => PanelOutcome::Done(Verdict::Closed),
            Written::Left => {
                self.writing = None;
                PanelOutcome::Changed
            }
        }
    }

    fn choose(&mut self, event: KeyEvent) -> PanelOutcome {
        match (self.cursor.key(event), action(event)) {
            (Chosen::Moved, _) => PanelOutcome::Changed,
            (Chosen::Left, _) => PanelOutcome::Done(Verdict::Closed),
            (Chosen::At(at), _) => match self.choices.get(at) {
                Some(choice) => PanelOutcome::Done(Verdict::Answer(Answer::Text(choice.clone()))),
                None => self.write(""),
            },
            // Whoever begins to write wants to answer in words.
            (Chosen::Nothing, Some(Action::Insert(letter))) if !letter.is_ascii_digit() => {
                self.write(letter.encode_utf8(&mut [0; 4]))
            }
            (Chosen::Nothing, _) => PanelOutcome::Ignored,
        }
    }

    fn write(&mut self, text: &str) -> PanelOutcome {
        self.writing = Some(Writing::new(text));
        PanelOutcome::Changed
    }

    pub(super) fn paste(&mut self, text: &str) -> bool {
        self.writing.get_or_insert_default().insert(text);
        true
    }

    pub(super) fn view(&self, frame: Frame) -> View {
        let (end, cursor) = match &self.writing {
            Some(writing) => {
                let (rows, cursor) = writing.rows("Answer: ", 4, frame);
                (rows, Some(cursor))
            }
            None => {
                let labels = self.choices.iter().map(String::as_str).chain([OTHER]);
                (
                    self.cursor
                        .rows(labels, frame.height.saturating_sub(2).max(1), frame),
                    None,
                )
            }
        };
        let mut lines = vec![frame.title("A question")];
        let room = frame.height.saturating_sub(1 + end.len()).max(1);
        lines.extend(frame.text(&self.question, room, frame.theme.strong));
        let start = lines.len();
        lines.extend(end);
        if lines.len() < frame.height {
            lines.push(frame.hint(match &self.writing {
                Some(_) if !self.choices.is_empty() => "Enter answers, Esc goes back.",
                _ => "Enter answers, Esc leaves it to the agent.",
            }));
        }
        frame.view(lines, cursor.map(|(x, y)| (x, y + start)))
    }

    pub(super) fn summary(&self, verdict: &Verdict) -> String {
        let question = cut(&self.question, 60);
        match verdict {
            Verdict::Answer(Answer::Text(text)) => format!("{question} → {}", cut(text, 60)),
            Verdict::TimedOut => format!("{question} → not answered in time"),
            _ => format!("{question} → not answered"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::{KeyCode, KeyModifiers};

    fn press(panel: &mut Clarify, code: KeyCode) -> PanelOutcome {
        panel.key(KeyEvent::new(code, KeyModifiers::NONE))
    }

    fn text(text: &str) -> PanelOutcome {
        PanelOutcome::Done(Verdict::Answer(Answer::Text(text.into())))
    }

    // CL-19
    #[test]
    fn an_answer_is_picked_or_written() {
        let panel = Clarify::new("Which?", &["red".into(), "blue".into()]);
        assert_eq!(press(&mut panel.clone(), KeyCode::Char('2')), text("blue"));
        assert_eq!(press(&mut panel.clone(), KeyCode::Enter), text("red"));
        let mut other = panel.clone();
        press(&mut other, KeyCode::Char('3'));
        for letter in "7 g".chars() {
            press(&mut other, KeyCode::Char(letter));
        }
        assert_eq!(press(&mut other, KeyCode::Enter), text("7 g"));
        let mut written = panel;
        press(&mut written, KeyCode::Char('g'));
        assert_eq!(press(&mut written.clone(), KeyCode::Enter), text("g"));
        press(&mut written, KeyCode::Esc);
        assert_eq!(
            press(&mut written, KeyCode::Esc),
            PanelOutcome::Done(Verdict::Closed)
        );
    }

    #[test]
    fn without_choices_it_is_written() {
        let mut panel = Clarify::new("What?", &[]);
        assert_eq!(press(&mut panel, KeyCode::Enter), PanelOutcome::Ignored);
        press(&mut panel, KeyCode::Char('1'));
        let outcome = press(&mut panel, KeyCode::Enter);
        assert_eq!(outcome, text("1"));
        assert_eq!(
            panel.summary(&Verdict::Answer(Answer::Text("1".into()))),
            "What? → 1"
        );
        assert_eq!(
            panel.summary(&Verdict::TimedOut),
            "What? → not answered in time"
        );
    }
}
