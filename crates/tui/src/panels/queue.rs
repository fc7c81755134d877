//! Several questions, asked one after the other.
//!
//! The composer is not involved: keys go to the panel in front while there is one, so the draft stays
//! as it is.

use std::collections::VecDeque;
use std::time::Duration;

use crossterm::event::KeyEvent;

use super::frame::Frame;
use super::{Panel, PanelOutcome, Verdict, View};
use crate::Theme;

/// Questions beyond this are turned away.
const MOST_WAITING: usize = 64;

/// Panels in the order they came, each with a tag that says whose it is.
#[derive(Debug, Clone)]
pub struct Queue<T> {
    waiting: VecDeque<Asked<T>>,
}

#[derive(Debug, Clone)]
struct Asked<T> {
    tag: T,
    panel: Panel,
    left: Option<Duration>,
}

/// A panel that is over.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished<T> {
    /// Whose it was.
    pub tag: T,
    /// How it ended.
    pub verdict: Verdict,
    /// A line for the transcript.
    pub summary: Option<String>,
}

/// What a key led to.
#[derive(Debug, Clone, PartialEq)]
pub enum QueueOutcome<T> {
    /// Nothing: no panel is open, or the key has no meaning in it.
    Ignored,
    /// It looks different now.
    Changed,
    /// The panel in front is over; the next one is in front now.
    Done(Finished<T>),
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self {
            waiting: VecDeque::new(),
        }
    }
}

impl<T> Queue<T> {
    /// Adds a panel behind the others, with the time there is to answer. When too many wait it says no.
    pub fn push(&mut self, tag: T, panel: Panel, left: Option<Duration>) -> bool {
        let room = self.waiting.len() < MOST_WAITING;
        if room {
            self.waiting.push_back(Asked { tag, panel, left });
        }
        room
    }

    /// The panel in front.
    pub fn front(&self) -> Option<&Panel> {
        self.waiting.front().map(|asked| &asked.panel)
    }

    /// Whose the panel in front is.
    pub fn front_tag(&self) -> Option<&T> {
        self.waiting.front().map(|asked| &asked.tag)
    }

    /// Whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// How many are open.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Reads a key, for the panel in front.
    pub fn key(&mut self, event: KeyEvent) -> QueueOutcome<T> {
        let outcome = self.waiting.front_mut().map(|asked| asked.panel.key(event));
        self.settle(outcome)
    }

    /// Takes a paste in, for the panel in front.
    pub fn paste(&mut self, text: &str) -> QueueOutcome<T> {
        let outcome = self
            .waiting
            .front_mut()
            .map(|asked| asked.panel.paste(text));
        self.settle(outcome)
    }

    fn settle(&mut self, outcome: Option<PanelOutcome>) -> QueueOutcome<T> {
        match outcome {
            None | Some(PanelOutcome::Ignored) => QueueOutcome::Ignored,
            Some(PanelOutcome::Changed) => QueueOutcome::Changed,
            Some(PanelOutcome::Done(verdict)) => match self.waiting.pop_front() {
                Some(asked) => QueueOutcome::Done(finished(asked, verdict)),
                None => QueueOutcome::Ignored,
            },
        }
    }

    /// Lets time pass. What was not answered in time is over, wherever it waited.
    pub fn tick(&mut self, passed: Duration) -> Vec<Finished<T>> {
        for asked in &mut self.waiting {
            asked.left = asked.left.map(|left| left.saturating_sub(passed));
        }
        self.remove(
            |asked| asked.left.is_some_and(|left| left.is_zero()),
            Verdict::TimedOut,
        )
    }

    /// Ends panels that have no more than so much time left, as if it had passed.
    pub fn lapse(&mut self, near: Duration, of: impl Fn(&T) -> bool) -> Vec<Finished<T>> {
        self.remove(
            |asked| asked.left.is_some_and(|left| left <= near) && of(&asked.tag),
            Verdict::TimedOut,
        )
    }

    /// Ends panels that nobody waits for any more, such as those of an interrupted turn.
    pub fn withdraw(&mut self, gone: impl Fn(&T) -> bool) -> Vec<Finished<T>> {
        self.remove(|asked| gone(&asked.tag), Verdict::Closed)
    }

    fn remove(&mut self, over: impl Fn(&Asked<T>) -> bool, verdict: Verdict) -> Vec<Finished<T>> {
        let (gone, kept): (VecDeque<_>, VecDeque<_>) = self.waiting.drain(..).partition(over);
        self.waiting = kept;
        gone.into_iter()
            .map(|asked| finished(asked, verdict.clone()))
            .collect()
    }

    /// The panel in front, and how many wait behind it.
    pub fn view(&self, width: u16, height: u16, theme: &Theme) -> Option<View> {
        let asked = self.waiting.front()?;
        let behind = self.waiting.len() - 1;
        let told = behind > 0 && height > 4;
        let mut view = asked
            .panel
            .view_with(width, height - u16::from(told), asked.left, theme);
        if told {
            let more = if behind == 1 {
                "1 more waits".to_owned()
            } else {
                format!("{behind} more wait")
            };
            view.lines
                .push(Frame::new(width, height, None, theme).hint(&more));
        }
        Some(view)
    }
}

fn finished<T>(asked: Asked<T>, verdict: Verdict) -> Finished<T> {
    let summary = asked.panel.summary(&verdict);
    Finished {
        tag: asked.tag,
        verdict,
        summary,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::{KeyCode, KeyModifiers};
    use hermes_core::{Answer, Decider, QuestionKind, Reach};

    fn approval(action: &str) -> Panel {
        Panel::for_question(&QuestionKind::Approval {
            action: action.into(),
            reasons: vec!["it deletes".into()],
            marks: Vec::new(),
            reach: Reach::Once,
            editable: false,
            decider: Decider::Anyone,
        })
    }

    fn press(queue: &mut Queue<u8>, code: KeyCode) -> QueueOutcome<u8> {
        queue.key(KeyEvent::new(code, KeyModifiers::NONE))
    }

    // CL-19
    #[test]
    fn questions_that_come_together_are_asked_one_after_the_other() {
        let mut queue = Queue::default();
        assert_eq!(press(&mut queue, KeyCode::Char('1')), QueueOutcome::Ignored);
        queue.push(1, approval("first"), None);
        queue.push(2, approval("second"), None);
        let view = queue.view(60, 12, &Theme::plain()).unwrap();
        let text: Vec<String> = view.lines.iter().map(ToString::to_string).collect();
        assert_eq!(text[1], "first");
        assert_eq!(text.last().map(String::as_str), Some("1 more waits"));
        let QueueOutcome::Done(first) = press(&mut queue, KeyCode::Char('1')) else {
            panic!("not done")
        };
        assert_eq!(
            (first.tag, first.verdict),
            (1, Verdict::Answer(Answer::AllowOnce))
        );
        assert_eq!(first.summary.as_deref(), Some("Allowed once: first"));
        let QueueOutcome::Done(second) = press(&mut queue, KeyCode::Esc) else {
            panic!("not done")
        };
        assert_eq!(
            (second.tag, second.verdict),
            (2, Verdict::Answer(Answer::no()))
        );
        assert!(queue.is_empty());
    }

    // CL-19
    #[test]
    fn silence_ends_a_question_wherever_it_waits() {
        let mut queue = Queue::default();
        queue.push(1, approval("first"), Some(Duration::from_secs(60)));
        queue.push(2, approval("second"), Some(Duration::from_secs(30)));
        assert!(queue.tick(Duration::from_secs(29)).is_empty());
        let view = queue.view(60, 12, &Theme::plain()).unwrap();
        assert!(view.lines[0].to_string().contains(" 31 s "));
        let gone = queue.tick(Duration::from_secs(1));
        assert_eq!(gone.len(), 1);
        assert_eq!((gone[0].tag, &gone[0].verdict), (2, &Verdict::TimedOut));
        assert_eq!(
            gone[0].summary.as_deref(),
            Some("Not allowed, nobody answered in time: second")
        );
        assert_eq!(gone[0].verdict.clone().into_answer(), Some(Answer::no()));
        assert_eq!(queue.len(), 1);
    }

    #[test]
    fn too_many_are_turned_away_and_some_can_be_withdrawn() {
        let mut queue = Queue::default();
        for number in 0..MOST_WAITING {
            assert!(queue.push(number as u8, approval("x"), None));
        }
        assert!(!queue.push(99, approval("x"), None));
        assert_eq!(queue.withdraw(|tag| *tag < 60).len(), 60);
        assert_eq!(queue.len(), 4);
    }
}
