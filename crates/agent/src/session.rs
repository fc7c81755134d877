//! A session: one task that owns its state, with a lane for operations and one for control.
//!
//! Control (stop, answers, remarks) is read while a turn runs; a busy turn cannot hold it up. Between
//! turns a session is rows in the store: the task holds only its spec, and what an external memory recalled.

use std::sync::Arc;

use hermes_core::{
    Answer, Event, InboxId, MessageId, Op, QuestionId, SessionId, TurnEnd, TurnId, caught,
};
use hermes_secrets::Scope;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::asker::{Board, SessionAsker};
use crate::engine::{SessionSpec, Shared};
use crate::lane::{Item, Lane};
use crate::learning::Learning;
use crate::turn::{self, Input, Recollections, Remark, Steering, Wish};

/// Operations that may wait.
const MOST_OPS: usize = 64;
/// Events nobody has read yet; pieces of text join, so a slow reader holds up little.
const MOST_EVENTS: usize = 256;

/// The handle of a session. Dropping it ends the session's task behind the turn under way.
pub struct Session {
    id: SessionId,
    ops: Lane<Op>,
    control: Lane<Control>,
    events: Lane<Event>,
}

/// What reaches a turn under way.
pub(crate) enum Control {
    Stop,
    Steer(Remark),
    Answer(QuestionId, Answer),
}

impl Item for Control {
    fn join(&mut self, next: Self) -> Option<Self> {
        Some(next)
    }
}

impl Item for Op {
    fn join(&mut self, next: Self) -> Option<Self> {
        Some(next)
    }
}

impl Item for Event {
    fn join(&mut self, next: Self) -> Option<Self> {
        match (self, next) {
            (Self::TextDelta { text }, Self::TextDelta { text: more })
            | (Self::ReasoningDelta { text }, Self::ReasoningDelta { text: more }) => {
                text.push_str(&more);
                None
            }
            (_, next) => Some(next),
        }
    }
}

impl Session {
    /// The session's id.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Asks for something. When too much is waiting already it is not taken: an event says so, and the answer is
    /// `false`.
    pub fn send(&self, op: Op) -> bool {
        let taken = self.offer(op);
        if !taken {
            say_full(&self.events);
        }
        taken
    }

    fn offer(&self, op: Op) -> bool {
        match op {
            Op::Interrupt => self.control.offer(Control::Stop).is_ok(),
            Op::Steer { text } => self.steer(text, Vec::new()),
            Op::FromInbox { rows, said } => match *said {
                Op::Steer { text } => self.steer(text, rows),
                said => {
                    let said = Box::new(said);
                    self.ops.offer(Op::FromInbox { rows, said }).is_ok()
                }
            },
            Op::Answer { question, answer } => self
                .control
                .offer(Control::Answer(question, answer))
                .is_ok(),
            other => self.ops.offer(other).is_ok(),
        }
    }

    fn steer(&self, text: String, rows: Vec<InboxId>) -> bool {
        let remark = Remark { text, rows };
        self.control.offer(Control::Steer(remark)).is_ok()
    }

    /// The next event; `None` once the session has ended.
    pub async fn next_event(&self) -> Option<Event> {
        self.events.next().await
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.ops.close();
        self.events.close();
    }
}

pub(crate) fn open(shared: Arc<Shared>, spec: SessionSpec) -> Session {
    let session = Session {
        id: spec.id.clone(),
        ops: Lane::new(MOST_OPS),
        control: Lane::new(MOST_OPS),
        events: Lane::new(MOST_EVENTS),
    };
    let mut news = shared.services.news.clone();
    // What happened while nobody listened.
    news.mark_changed();
    let actor = Actor {
        stop: shared.services.stop.child_token(),
        asker: SessionAsker::new(
            session.events.clone(),
            spec.attended.then(|| Board {
                store: shared.services.store.clone(),
                random: shared.services.random.clone(),
            }),
        ),
        ops: session.ops.clone(),
        control: session.control.clone(),
        events: session.events.clone(),
        shared: shared.clone(),
        spec,
        ahead: None,
        learning: Learning::default(),
        recollections: Recollections::default(),
        news,
    };
    shared.sessions.spawn(actor.run());
    session
}

struct Actor {
    shared: Arc<Shared>,
    spec: SessionSpec,
    ops: Lane<Op>,
    control: Lane<Control>,
    events: Lane<Event>,
    asker: Arc<SessionAsker>,
    stop: CancellationToken,
    /// A summary that is being prepared, or was.
    ahead: Option<JoinHandle<()>>,
    learning: Learning,
    /// Only this process knows it: in the store it would be found again.
    recollections: Recollections,
    /// Changes when there may be news of background processes.
    news: watch::Receiver<u64>,
}

/// However a session ends, whoever listens hears of it.
impl Drop for Actor {
    fn drop(&mut self) {
        self.events.close();
    }
}

impl Actor {
    /// What takes room while it runs is boxed, because this future is what an idle session costs.
    async fn run(mut self) {
        loop {
            let op = tokio::select! {
                biased;
                () = self.stop.cancelled() => break,
                op = self.ops.next() => op,
                // Between turns there is nothing to stop and nothing to answer.
                Some(control) = self.control.next() => match control {
                    Control::Steer(Remark { text, rows }) => Some(Op::FromInbox {
                        rows,
                        said: Box::new(Op::UserMessage { text, media: Vec::new() }),
                    }),
                    Control::Stop | Control::Answer(..) => continue,
                },
                Ok(()) = self.news.changed(), if self.spec.lasting => {
                    if Box::pin(self.has_news()).await {
                        Box::pin(self.converse(Input::News, Vec::new())).await;
                    }
                    continue;
                }
            };
            match op {
                None | Some(Op::Shutdown) => break,
                Some(op) => Box::pin(self.serve(op)).await,
            }
        }
        if let Some(external) = &self.shared.services.external {
            Box::pin(external.ended(turn::scene(&self.spec))).await;
        }
        // What is being prepared for a conversation that is over is of no use.
        self.stop.cancel();
    }

    async fn serve(&mut self, op: Op) {
        let (rows, op) = match op {
            Op::FromInbox { rows, said } => (rows, *said),
            op => (Vec::new(), op),
        };
        match op {
            Op::UserMessage { text, media } => {
                self.converse(Input::Message { text, media }, rows).await;
            }
            Op::UseSkills {
                skills,
                instruction,
                text,
                media,
            } => {
                let wish = Wish {
                    skills,
                    instruction,
                    text,
                    media,
                };
                self.converse(Input::Skills(wish), rows).await;
            }
            Op::Compact { focus } => {
                let exchanges = None;
                self.converse(Input::Compact { focus, exchanges }, rows)
                    .await;
            }
            Op::CompactBefore { exchanges } => {
                let (focus, exchanges) = (None, Some(exchanges));
                self.converse(Input::Compact { focus, exchanges }, rows)
                    .await;
            }
            Op::PreviewCompact { exchanges } => {
                self.converse(Input::PreviewCompact { exchanges }, rows)
                    .await;
            }
            Op::Undo { turns } => self.converse(Input::Undo { turns }, rows).await,
            Op::Retry => self.converse(Input::Retry, rows).await,
            Op::SetModel { model, provider } => self.set_model(&model, provider.as_deref()).await,
            Op::SetMode(mode) => self.spec.mode = mode,
            Op::SetEffort { effort } => self.spec.effort = effort,
            Op::SetToolsets { sets } => self.spec.toolsets = sets,
            Op::SetPersonality { name } => self.spec.personality = name,
            Op::Branch { after } => self.branch(after).await,
            // These travel on the control lane.
            Op::Steer { .. }
            | Op::FromInbox { .. }
            | Op::Interrupt
            | Op::Answer { .. }
            | Op::Shutdown => {}
        }
    }

    /// Whether what a process in the background has to tell is for this conversation.
    async fn has_news(&self) -> bool {
        let store = &self.shared.services.store;
        let open = store.open_process_events(self.spec.id.as_str(), 1).await;
        match open {
            Ok(events) => !events.is_empty(),
            Err(error) => {
                tracing::warn!(%error, "news of processes could not be looked up");
                false
            }
        }
    }

    async fn set_model(&mut self, model: &str, provider: Option<&str>) {
        let mut finding = self.shared.services.routes.course(model, provider);
        let found = loop {
            tokio::select! {
                biased;
                () = self.stop.cancelled() => return,
                found = &mut finding => break found,
                Some(control) = self.control.next() => if let Control::Stop = control {
                    let text = "stopped; the model before answers".to_owned();
                    drop(finding);
                    return self.events.send(Event::Notice { text }).await;
                },
            }
        };
        let event = match found {
            Ok(course) => {
                let route = course.route();
                let event = Event::RouteChanged {
                    provider: route.provider.clone(),
                    model: route.model.clone(),
                    reason: "chosen by the user".to_owned(),
                };
                self.spec.course = course;
                event
            }
            Err(failure) => notice(failure.to_string(), failure.hint),
        };
        self.events.send(event).await;
    }

    async fn branch(&mut self, after: MessageId) {
        let services = &self.shared.services;
        let id = SessionId::generate(&*services.clock, &*services.random);
        let event = match services.store.branch(&self.spec.id, after, id).await {
            Ok(session) => {
                self.spec.id = session.clone();
                Event::SessionChanged { session }
            }
            Err(error) => notice(error.to_string(), error.hint()),
        };
        self.events.send(event).await;
    }

    /// Runs a turn, and further ones for what was said while it ran. `rows` are those of the inbox that it takes.
    async fn converse(&mut self, input: Input, rows: Vec<InboxId>) {
        let mut left_over = self.turn(input, rows).await;
        // A remark that came too late for its turn becomes the next message.
        while let Some(Remark { text, rows }) = left_over {
            let media = Vec::new();
            left_over = self.turn(Input::Message { text, media }, rows).await;
        }
    }

    /// Runs one turn while listening for control.
    async fn turn(&mut self, input: Input, rows: Vec<InboxId>) -> Option<Remark> {
        let cancel = self.stop.child_token();
        let steering = Steering::default();
        let turn = turn::run(
            turn::Surroundings {
                services: &self.shared.services,
                shared: &self.shared,
                spec: &mut self.spec,
                events: &self.events,
                asker: self.asker.clone(),
                steering: steering.clone(),
                rows,
                ahead: &mut self.ahead,
                learning: &mut self.learning,
                recollections: &mut self.recollections,
                stop: &self.stop,
                cancel: cancel.clone(),
            },
            input,
        );
        let mut running = Box::pin(caught(turn));
        let ended = loop {
            tokio::select! {
                ended = &mut running => break ended,
                Some(control) = self.control.next() => match control {
                    Control::Stop => cancel.cancel(),
                    Control::Steer(remark) => if !steering.push(remark) {
                        say_full(&self.events);
                    },
                    Control::Answer(question, answer) => self.asker.answer(question, answer),
                },
            }
        };
        drop(running);
        if let Err(fault) = ended {
            self.broke_down(&fault).await;
        }
        let left_over = steering.take()?;
        if !cancel.is_cancelled() {
            return Some(left_over);
        }
        if self.stop.is_cancelled() {
            // The session ends: what has a row waits for the next one.
            return None;
        }
        // Stop means stop: what was added before it starts nothing, and is not lost without a word.
        let text = format!("Not delivered, because you stopped: {}", left_over.text);
        self.events.send(Event::Notice { text }).await;
        let store = &self.shared.services.store;
        if let Err(error) = store.withdraw(left_over.rows).await {
            tracing::warn!(%error, "a remark that was stopped will wait again");
        }
        None
    }

    /// Says that a turn ended by a fault of ours. Its rows are there, and the next turn closes what they left open.
    async fn broke_down(&self, fault: &str) {
        let redactor = self.shared.services.redactor.snapshot();
        let fault = redactor.redact_in(Scope::Log, fault).into_owned();
        tracing::error!("a turn broke down: {fault}");
        let why = TurnEnd::Failed {
            message: format!("a fault in Hermes ended this turn: {fault}"),
            hint: Some("what was said is kept; say how to go on, or try again".to_owned()),
        };
        let over = Event::TurnFinished {
            turn: TurnId(0),
            why,
            answer: String::new(),
        };
        self.events.send(over).await;
    }
}

/// Says that something was not taken. Does not wait: whoever reads no events would never let it end.
fn say_full(events: &Lane<Event>) {
    let text = "that was not taken, because too much is waiting already; say it again once some of it is done";
    let told = Event::Notice {
        text: text.to_owned(),
    };
    if events.offer(told).is_err() {
        tracing::warn!("something was not taken, and nobody reads what the session says");
    }
}

fn notice(message: String, hint: Option<String>) -> Event {
    let text = match hint {
        Some(hint) => format!("{message}; {hint}"),
        None => message,
    };
    Event::Notice { text }
}
