//! One program, one conversation in front, and what runs beside it.

mod earlier;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use hermes_config::Loaded;
use hermes_core::{Event, Op, QuestionId, SessionId, TurnEnd};
use hermes_store::{BACKGROUND, KeptSnapshot, NewSession};
use hermes_tui::app::{ToolLines, UnderWay};
use jiff::Timestamp;
use tokio::runtime::Runtime;
use tokio::sync::Notify;

use super::away::{Away, Left};
use super::front::Front;
use super::house::{Begin, Company, House, Manner, Start};
use super::notes;
use super::prompts::{Aside, Prompt, Prompts};
use super::questions::{self, Questions};
use super::recap::{self, Recap};
use super::screen::tool_lines;
use super::standing::RouteInUse;
use super::waiting::{Waited, Waiting};
use crate::args::chat::RunArgs;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use earlier::{Earlier, taken_up};

/// How long a turn may take to end when its conversation is left.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// What is heard while a question is open; beyond that sessions wait.
const MOST_MEANWHILE: usize = 1_024;

/// A program that talks.
pub(super) struct Conversation {
    pub(super) house: House,
    front: RefCell<Rc<Front>>,
    /// What runs beside it.
    pub(super) prompts: Prompts,
    /// What was left and works on.
    pub(super) away: Away,
    questions: Questions,
    /// What waits for its turn.
    pub(super) waiting: Waiting,
    manner: RefCell<Manner>,
    /// Something else is in front, or there is one more beside it.
    changed: Notify,
    /// Another conversation is in front and nobody has shown it yet: what it says waits.
    held: Cell<bool>,
    /// What was heard already and is told next.
    later: RefCell<VecDeque<Heard>>,
    /// What is unsafe.
    pub(super) warning: Option<String>,
    /// What somebody at the terminal should know before the first word.
    pub(super) notes: Vec<String>,
    /// What was said before, in a conversation that is taken up again.
    pub(super) recap: Option<Recap>,
    /// What waited in it.
    pub(super) waited: Vec<Waited>,
    pub(super) began: Timestamp,
    /// Whether the session in front is deleted at the end.
    pub(super) forgotten: Cell<bool>,
    /// What is printed of calls, a line at a time.
    pub(super) tools: Cell<ToolLines>,
    /// What is put back once everything is closed.
    pub(super) put_back: RefCell<Option<KeptSnapshot>>,
    /// Whether destructive commands ask first.
    pub(super) careful: Cell<bool>,
    /// Whether a line of facts stands below answers.
    pub(super) footer: Cell<bool>,
}

/// What is new.
pub(super) enum Heard {
    /// From the session in front.
    Front(Event),
    /// From what runs beside it.
    Aside(Aside),
}

/// What was heard while something else was waited for; it is there again afterwards.
struct Meanwhile<'a>(&'a RefCell<VecDeque<Heard>>, VecDeque<Heard>);

impl Drop for Meanwhile<'_> {
    fn drop(&mut self) {
        self.0.borrow_mut().append(&mut self.1);
    }
}

impl Conversation {
    /// Opens what the arguments ask for.
    pub(super) fn open(
        run: &RunArgs,
        company: Company,
        loaded: Loaded,
        runtime: &Runtime,
        context: &Context,
    ) -> Outcome<Self> {
        let careful = loaded.config.approvals.destructive_slash_confirm;
        let footer = loaded.config.display.runtime_footer.enabled;
        let tools = tool_lines(loaded.config.display.tool_progress);
        let Start {
            house,
            manner,
            id,
            resumed,
            mut notes,
        } = House::open(run, company, loaded, runtime, context)?;
        let warning = notes::warning(&house).filter(|_| company.lasts());
        if company.lasts() {
            notes.extend(notes::at_first(&house, &manner, context));
        }
        let asking = house.asks;
        let mode = house.mode_when(asking);
        let course = house.course.clone();
        let waiting = Waiting::default();
        // Who asks one question has it answered, and nothing else.
        let brings_back = company.lasts().then_some(&waiting);
        let earlier = match resumed {
            false => Earlier::none(house.directory.clone()),
            true => runtime.block_on(Earlier::of(&house, &id, brings_back))?,
        };
        notes.extend(earlier.notes);
        let directory = earlier.directory;
        let _entered = runtime.enter();
        let session = house.begin(Begin {
            id,
            directory: directory.clone(),
            course,
            manner: &manner,
            mode,
            lasting: true,
        });
        let route = RouteInUse::new(&house.course);
        let front = Front::new(session, directory, route, asking, resumed, house.calls());
        Ok(Self {
            front: RefCell::new(Rc::new(front)),
            prompts: Prompts::default(),
            away: Away::default(),
            questions: Questions::default(),
            waiting,
            manner: RefCell::new(manner),
            changed: Notify::new(),
            held: Cell::new(false),
            later: RefCell::default(),
            warning,
            notes,
            recap: earlier.recap,
            waited: earlier.waited,
            began: house.clock.now(),
            forgotten: Cell::new(false),
            put_back: RefCell::default(),
            tools: Cell::new(tools),
            careful: Cell::new(careful),
            footer: Cell::new(footer),
            house,
        })
    }

    /// The session in front.
    pub(super) fn front(&self) -> Rc<Front> {
        self.front.borrow().clone()
    }

    /// What is new; nothing when the session in front is over. May be dropped before it ends.
    pub(super) async fn next(&self) -> Option<Heard> {
        let later = self.later.borrow_mut().pop_front();
        if later.is_some() {
            return later;
        }
        loop {
            let front = self.front();
            tokio::select! {
                biased;
                () = self.changed.notified() => {}
                event = front.next_event(), if !self.held.get() => match event {
                    Some(event) => {
                        if let Event::TurnFinished { .. } = event {
                            self.house.filler.poke();
                        }
                        return Some(Heard::Front(self.questions.number(&front, event)));
                    }
                    // It was left.
                    None if !Rc::ptr_eq(&front, &self.front()) => {}
                    None => return None,
                },
                aside = self.prompts.next() => return Some(Heard::Aside(aside)),
                (left, event) = self.away.next() => {
                    if let Some(aside) = self.heard_behind(&left, event) {
                        return Some(Heard::Aside(aside));
                    }
                }
            }
        }
    }

    /// Waits until somebody elsewhere answers a question that is shown here, and says how. Everything else that is new
    /// meanwhile comes next. May be dropped before it ends.
    pub(super) async fn answered(&self, asked: QuestionId) -> String {
        let mut meanwhile = Meanwhile(&self.later, VecDeque::new());
        loop {
            let answered = match self.next().await {
                Some(
                    Heard::Front(Event::Answered { question, how })
                    | Heard::Aside(Aside::Answered { question, how }),
                ) if question == asked => how,
                Some(other) if meanwhile.1.len() < MOST_MEANWHILE => {
                    meanwhile.1.push_back(other);
                    continue;
                }
                Some(other) => {
                    meanwhile.1.push_back(other);
                    std::future::pending().await
                }
                None => std::future::pending().await,
            };
            return answered;
        }
    }

    /// What is told at once of what a conversation says that was left; it keeps the rest for whoever comes back.
    fn heard_behind(&self, left: &Rc<Front>, event: Option<Event>) -> Option<Aside> {
        let why = match event.map(|event| self.questions.number(left, event)) {
            Some(Event::Ask(question)) => {
                let question = questions::from_behind(question, &left.last_asked());
                return Some(Aside::Asks(question));
            }
            Some(Event::Answered { question, how }) => {
                return Some(Aside::Answered { question, how });
            }
            Some(Event::TurnFinished { why, .. }) => why,
            Some(_) => return None,
            None => TurnEnd::Interrupted,
        };
        self.away.remove(left);
        self.questions.forget(left);
        self.house.filler.poke();
        Some(Aside::Left(Left {
            id: left.id(),
            asked: left.last_asked(),
            why,
        }))
    }

    /// What the conversation in front says is shown from here on.
    pub(super) fn release(&self) {
        if self.held.replace(false) {
            self.changed.notify_one();
        }
    }

    /// Answers a question, of the session in front or of one beside it.
    pub(super) fn send(&self, op: Op) {
        let op = match op {
            Op::Answer { question, answer } => match self.prompts.answer(question, answer) {
                Some(answer) => match self.questions.answer(question, answer) {
                    Some(answer) => Op::Answer { question, answer },
                    None => return,
                },
                None => return,
            },
            other => other,
        };
        self.front().send(op);
    }

    /// Changes what sessions are opened with, now and later.
    pub(super) fn adjust(&self, change: impl FnOnce(&mut Manner), op: Op) {
        change(&mut self.manner.borrow_mut());
        self.front().send(op);
    }

    pub(super) fn manner(&self) -> Manner {
        self.manner.borrow().clone()
    }

    /// Leaves the conversation in front for a fresh one.
    pub(super) async fn start_over(&self, title: Option<&str>) -> Outcome {
        self.check_room()?;
        let left = self.front();
        let store = &self.house.store;
        let id = self.house.fresh_id();
        if let Some(title) = title {
            // A name that is taken is refused while the old conversation is still there.
            self.create_row(&id, &left).await?;
            if let Err(error) = store.rename(&id, title).await {
                store.delete_session(&id).await?;
                return Err(error.into());
            }
        }
        self.put_in_front(id, self.house.directory.clone(), false)
            .await;
        if !self.away.has(&left.id()) {
            store.end_session(&left.id(), "new_session").await?;
        }
        Ok(())
    }

    /// Leaves the conversation in front for an earlier one, or for one that works on.
    pub(super) async fn go_on_with(&self, id: SessionId) -> Outcome<Arrived> {
        self.check_room()?;
        let place = taken_up(&self.house, &id).await?;
        let mut recap = recap::of(&self.house, &id).await?;
        let (note, running, waited) = match self.away.take(&id) {
            Some(front) => {
                let running = front.under_way();
                self.show(front);
                // Remarks that its turn has not heard yet are on their way to it.
                (None, running, Vec::new())
            }
            None => {
                let waited = self.waiting.bring_back(&self.house, &id).await?;
                self.put_in_front(id, place.directory, true).await;
                (place.note, None, waited)
            }
        };
        // What is under way is shown as it goes, not as something that was.
        let asked = running
            .as_ref()
            .and_then(|running| running.asked.as_deref());
        recap.leave_out(asked);
        Ok(Arrived {
            recap,
            note,
            running,
            waited,
        })
    }

    /// Whether the conversation in front can be left: what works on counts.
    fn check_room(&self) -> Outcome {
        let most = self.house.models.loaded.config.max_live_sessions as usize;
        if !self.front().is_busy() || self.away.count() < most {
            return Ok(());
        }
        Err(
            Complaint::bad_request("too many conversations work already".to_owned())
                .hint("wait for one, end them with /stop, or raise max_live_sessions"),
        )
    }

    /// Puts a conversation in front. The one that was there works on if it works.
    fn show(&self, front: Rc<Front>) {
        self.held.set(true);
        let left = self.front.replace(front);
        if left.is_busy() {
            self.away.add(left);
        }
        self.changed.notify_one();
    }

    /// Stops what runs in front, so that it can be left.
    pub(super) async fn leave(&self) -> Rc<Front> {
        let front = self.front();
        front.rest(LAST_WORDS).await;
        front
    }

    async fn put_in_front(&self, id: SessionId, directory: PathBuf, talked: bool) {
        let old = self.front();
        let (provider, model) = {
            let route = old.route();
            (route.provider.clone(), route.model.clone())
        };
        let course = self.house.course_to(&provider, &model).await;
        let session = self.house.begin(Begin {
            id,
            directory: directory.clone(),
            course: course.clone(),
            manner: &self.manner(),
            mode: self.house.mode_when(old.is_asking()),
            lasting: true,
        });
        let route = RouteInUse::new(&course);
        let front = Front::new(
            session,
            directory,
            route,
            old.is_asking(),
            talked,
            self.house.calls(),
        );
        self.show(Rc::new(front));
    }

    /// Makes sure there is a row for a session that nothing was said in yet.
    pub(super) async fn create_row(&self, id: &SessionId, like: &Front) -> Outcome {
        let model = like.route().model.clone();
        let session = NewSession {
            model: Some(model),
            cwd: Some(like.directory.display().to_string()),
            ..NewSession::new(id.clone(), self.house.source.clone())
        };
        Ok(self.house.store.create_session(session).await?)
    }

    /// Has something done beside the conversation, and answers its id.
    pub(super) async fn ask_aside(&self, text: &str) -> String {
        let front = self.front();
        let (provider, model) = {
            let route = front.route();
            (route.provider.clone(), route.model.clone())
        };
        let now = self.house.clock.local();
        let clock = now.strftime("%H%M%S").to_string();
        let tail = self.house.random.next_u64() & 0xff_ffff;
        let id = SessionId::try_from(format!("{BACKGROUND}{clock}_{tail:06x}"));
        let session = self.house.begin(Begin {
            id: id.unwrap_or_else(|_| self.house.fresh_id()),
            directory: front.directory.clone(),
            course: self.house.course_to(&provider, &model).await,
            manner: &self.manner(),
            mode: self.house.mode_when(front.is_asking()),
            lasting: false,
        });
        let prompt = Prompt::new(
            session,
            text.to_owned(),
            now.timestamp(),
            self.house.calls(),
        );
        let label = prompt.label().to_owned();
        self.prompts.add(prompt);
        self.changed.notify_one();
        label
    }

    /// Ends all of it; what was acknowledged is on disk already. Answers with what the user should still know.
    pub(super) async fn close(self) -> Option<String> {
        let Self {
            house,
            front,
            prompts,
            away,
            questions,
            ..
        } = self;
        drop((front, prompts, away, questions));
        house.close().await
    }
}

/// What a conversation that is taken up again shows.
pub(super) struct Arrived {
    pub(super) recap: Recap,
    /// What the user should know about the place.
    pub(super) note: Option<String>,
    /// The turn under way in it.
    pub(super) running: Option<UnderWay>,
    /// What waited in it.
    pub(super) waited: Vec<Waited>,
}

/// What is said about messages that waited when their conversation was left.
pub(super) fn still_waiting(count: usize) -> Option<String> {
    match count {
        0 => None,
        1 => Some("One message waited here; it is said now.".to_owned()),
        more => Some(format!("{more} messages waited here; they are said now.")),
    }
}
