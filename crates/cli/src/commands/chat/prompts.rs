//! Prompts that run beside the conversation, each in a session of its own.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use futures_util::future::select_all;
use hermes_agent::Session;
use hermes_core::{Answer, Event, Op, Question, QuestionId, SessionId, TurnEnd};
use jiff::Timestamp;

use super::away::Left;
use super::front::Calls;

/// Prompts that may run at once.
pub(super) const MOST_PROMPTS: usize = 8;

/// One that runs.
pub(super) struct Prompt {
    session: Session,
    /// What was asked.
    pub(super) text: String,
    pub(super) since: Timestamp,
    calls: Calls,
}

/// How one ended.
pub(super) struct Ended {
    /// Its id.
    pub(super) label: String,
    pub(super) text: String,
    pub(super) answer: String,
    pub(super) why: TurnEnd,
}

/// What comes from them.
pub(super) enum Aside {
    Ended(Ended),
    Asks(Question),
    /// Somebody elsewhere answered a question.
    Answered {
        question: QuestionId,
        how: String,
    },
    Notice(String),
    /// A conversation that was left while it worked has done so.
    Left(Left),
}

impl Prompt {
    pub(super) fn new(session: Session, text: String, since: Timestamp, calls: Calls) -> Self {
        let message = Op::UserMessage {
            text: text.clone(),
            media: Vec::new(),
        };
        session.send(message);
        Self {
            session,
            text,
            since,
            calls,
        }
    }

    /// Its id.
    pub(super) fn label(&self) -> &str {
        self.session.id().as_str()
    }

    /// The same, as what it is.
    pub(super) fn id(&self) -> &SessionId {
        self.session.id()
    }

    fn ended(&self, why: TurnEnd, answer: String) -> Ended {
        Ended {
            label: self.label().to_owned(),
            text: self.text.clone(),
            answer,
            why,
        }
    }
}

/// All of them.
#[derive(Default)]
pub(super) struct Prompts {
    running: RefCell<Vec<Rc<Prompt>>>,
    /// Questions that wait for an answer, by the id they have here: sessions count for themselves.
    asked: RefCell<HashMap<QuestionId, Asked>>,
    questions: Cell<u64>,
}

struct Asked {
    prompt: Rc<Prompt>,
    own: QuestionId,
}

impl Prompts {
    pub(super) fn add(&self, prompt: Prompt) {
        self.running.borrow_mut().push(Rc::new(prompt));
    }

    /// Those that run.
    pub(super) fn running(&self) -> Vec<Rc<Prompt>> {
        self.running.borrow().clone()
    }

    pub(super) fn count(&self) -> usize {
        self.running.borrow().len()
    }

    /// Stops all of them; each tells its end. Says how many there were.
    pub(super) fn stop(&self) -> usize {
        let running = self.running.borrow();
        for prompt in running.iter() {
            prompt.session.send(Op::Interrupt);
        }
        running.len()
    }

    /// What comes next; never, while there is none. May be dropped before it ends.
    pub(super) async fn next(&self) -> Aside {
        loop {
            let running = self.running();
            if running.is_empty() {
                std::future::pending::<()>().await;
            }
            let events = running
                .iter()
                .map(|prompt| Box::pin(prompt.session.next_event()));
            let (event, at, _) = select_all(events).await;
            let Some(prompt) = running.get(at) else {
                continue;
            };
            if let Some(aside) = self.take(prompt, event) {
                return aside;
            }
        }
    }

    fn take(&self, prompt: &Rc<Prompt>, event: Option<Event>) -> Option<Aside> {
        if let Some(event) = &event {
            prompt.calls.hear(prompt.id(), event);
        }
        match event {
            Some(Event::Ask(question)) => return Some(Aside::Asks(self.ask(prompt, question))),
            Some(Event::Answered { question, how }) => {
                return Some(self.answered(prompt, question, how));
            }
            Some(Event::Notice { text }) => {
                return Some(Aside::Notice(format!("{}: {text}", prompt.label())));
            }
            Some(Event::TurnFinished { why, answer, .. }) => {
                return Some(self.end(prompt, why, answer));
            }
            None => return Some(self.end(prompt, TurnEnd::Interrupted, String::new())),
            Some(_) => {}
        }
        None
    }

    fn end(&self, prompt: &Rc<Prompt>, why: TurnEnd, answer: String) -> Aside {
        self.running
            .borrow_mut()
            .retain(|other| !Rc::ptr_eq(other, prompt));
        self.asked
            .borrow_mut()
            .retain(|_, asked| !Rc::ptr_eq(&asked.prompt, prompt));
        Aside::Ended(prompt.ended(why, answer))
    }

    fn ask(&self, prompt: &Rc<Prompt>, mut question: Question) -> Question {
        self.questions.set(self.questions.get() + 1);
        // Far from what the session in front counts up to.
        let here = QuestionId(u64::MAX - self.questions.get());
        let own = std::mem::replace(&mut question.id, here);
        let asked = Asked {
            prompt: prompt.clone(),
            own,
        };
        self.asked.borrow_mut().insert(here, asked);
        question
    }

    fn answered(&self, prompt: &Rc<Prompt>, own: QuestionId, how: String) -> Aside {
        let mut asked = self.asked.borrow_mut();
        let here = asked.iter().find_map(|(here, asked)| {
            (Rc::ptr_eq(&asked.prompt, prompt) && asked.own == own).then_some(*here)
        });
        let question = here.unwrap_or(own);
        asked.remove(&question);
        let how = format!("{}: {how}", prompt.label());
        Aside::Answered { question, how }
    }

    /// Passes an answer on. Gives it back when it is for somebody else.
    pub(super) fn answer(&self, question: QuestionId, answer: Answer) -> Option<Answer> {
        match self.asked.borrow_mut().remove(&question) {
            Some(asked) => {
                let question = asked.own;
                asked.prompt.session.send(Op::Answer { question, answer });
                None
            }
            None => Some(answer),
        }
    }
}
