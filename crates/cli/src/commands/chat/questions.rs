//! Whose question an answer is for: sessions count their questions each for themselves.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use hermes_core::{Answer, Event, Op, Question, QuestionId, QuestionKind};

use super::front::Front;
use crate::output::one_line;
use crate::table::cut;

/// Where the numbers given here begin: far from what sessions and prompts count.
const FIRST: u64 = u64::MAX / 2;

/// Characters of what a conversation was asked, in its questions.
const WIDEST: usize = 60;

/// Questions of conversations that wait for an answer, by the number they have on the screen.
#[derive(Default)]
pub(super) struct Questions {
    open: RefCell<HashMap<QuestionId, (Rc<Front>, QuestionId)>>,
    count: Cell<u64>,
}

impl Questions {
    /// Gives a question a number nobody else has, so that it can be answered whatever is in front then. Other
    /// events are passed on as they are.
    pub(super) fn number(&self, front: &Rc<Front>, event: Event) -> Event {
        match event {
            Event::Ask(mut question) => {
                self.count.set(self.count.get() + 1);
                let here = QuestionId(FIRST + self.count.get());
                let own = std::mem::replace(&mut question.id, here);
                self.open.borrow_mut().insert(here, (front.clone(), own));
                Event::Ask(question)
            }
            Event::Answered { question, how } => {
                let mut open = self.open.borrow_mut();
                let here = open.iter().find_map(|(here, (asks, own))| {
                    (Rc::ptr_eq(asks, front) && *own == question).then_some(*here)
                });
                let question = here.unwrap_or(question);
                open.remove(&question);
                Event::Answered { question, how }
            }
            Event::TurnFinished { .. } => {
                self.forget(front);
                event
            }
            other => other,
        }
    }

    /// Nobody waits for these any more.
    pub(super) fn forget(&self, front: &Rc<Front>) {
        let others = |(asks, _): &mut (Rc<Front>, QuestionId)| !Rc::ptr_eq(asks, front);
        self.open.borrow_mut().retain(|_, asked| others(asked));
    }

    /// Passes an answer on. Gives it back when it is for somebody else.
    pub(super) fn answer(&self, question: QuestionId, answer: Answer) -> Option<Answer> {
        let Some((front, question)) = self.open.borrow_mut().remove(&question) else {
            return Some(answer);
        };
        front.send(Op::Answer { question, answer });
        None
    }
}

/// Says in a question that it comes from a conversation nobody looks at, and from which.
pub(super) fn from_behind(mut question: Question, asked: &str) -> Question {
    let asked = cut(&one_line(asked), WIDEST);
    let who = format!("asked by another conversation, “{asked}”");
    match &mut question.kind {
        QuestionKind::Approval { reasons, .. } => reasons.push(who),
        QuestionKind::Clarify { question, .. } => *question = format!("{question} ({who})"),
        QuestionKind::Secret { prompt } => *prompt = format!("{prompt} ({who})"),
        QuestionKind::Form(form) => form.text = format!("{} ({who})", form.text),
    }
    question
}
