//! One state for everything on the screen.
//!
//! `App::update` takes what happened and answers what is to be done; `App::live` is what the live area shows, and
//! `App::take_finished` what has become history. Nothing here reads a clock, a file or a key.

mod busy;
mod commands;
mod events;
mod input;
mod live;
mod turn;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::time::Duration;

use crossterm::event::KeyEvent;
use hermes_core::{Event, Op, QuestionId};
use ratatui::text::Line;

use crate::cells::{Cell, Level, Notice};
use crate::composer::complete::{Candidate, Request};
use crate::composer::paste::Kept;
use crate::composer::{Attachment, Composer};
use crate::panels::Queue;
use crate::status::StatusLine;
use crate::theme::Theme;

pub use busy::WhileBusy;
use turn::Turn;

/// What happened.
#[derive(Debug, Clone)]
pub enum Input {
    /// A key was pressed.
    Key(KeyEvent),
    /// Something was pasted.
    Paste(String),
    /// The terminal has this many columns and rows now.
    Resize(u16, u16),
    /// The session is there; how it stands.
    Opened(Box<Opened>),
    /// The session says something.
    Event(Event),
    /// The session is over.
    Ended,
    /// Candidates for a completion.
    Completed {
        /// The request they answer.
        id: u64,
        /// What could be meant.
        candidates: Vec<Candidate>,
    },
    /// A command was carried out.
    Replied(Reply),
    /// The user's editor was closed; with the text, if it was saved.
    Edited(Option<String>),
    /// A path that was pasted is a picture, or is none.
    Looked {
        /// What was pasted.
        text: String,
        /// What goes with the message, if it is a picture.
        picture: Option<Attachment>,
    },
    /// Time has passed.
    Tick,
}

/// How a session stands when it is opened.
#[derive(Debug, Clone)]
pub struct Opened {
    /// What is shown above the conversation.
    pub greeting: Vec<Cell>,
    /// The lines of the banner, for the width at hand.
    pub banner: Vec<Line<'static>>,
    /// What the status bar says at first.
    pub status: StatusLine,
}

/// What came of a command.
#[derive(Debug, Clone, Default)]
pub struct Reply {
    /// The command, as it was given.
    pub asked: Option<String>,
    /// It is one of the screen's own: its name, and what stands behind it.
    pub own: Option<(&'static str, String)>,
    /// What to show.
    pub cells: Vec<Cell>,
    /// What to put into the composer.
    pub draft: Option<String>,
    /// Another theme.
    pub theme: Option<Box<Theme>>,
    /// Another status, when the command changed it.
    pub status: Option<StatusLine>,
    /// The program is to end.
    pub leave: bool,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Say this to the session.
    Send(Op),
    /// Send a message, with pictures by path.
    Message {
        /// The text.
        text: String,
        /// What goes with it.
        attachments: Vec<Attachment>,
    },
    /// Carry out a command of the conversation.
    Command(String),
    /// Find candidates.
    Complete(Request),
    /// Save a paste.
    Keep(Kept),
    /// Put a line into the history.
    Remember(String),
    /// Let the user edit this text in an editor.
    Edit(String),
    /// Find out whether a path is a picture.
    Look {
        /// The path.
        path: String,
        /// What was pasted.
        text: String,
    },
    /// Call the user.
    Ring,
    /// Hand the terminal to the shell for a while.
    Suspend,
    /// Draw everything again.
    Repaint,
    /// End.
    Leave,
}

/// Whose panel it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tag {
    /// The session waits for it.
    Question(QuestionId),
}

/// How far the session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// It is being opened; what is written waits.
    Opening,
    /// It is there.
    Open,
    /// It is over.
    Over,
}

/// How the screen behaves.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What a message does that is sent while the agent works.
    pub busy: WhileBusy,
    /// Whether the thoughts of the model are shown as they come.
    pub show_reasoning: bool,
    /// Whether the end of a turn is told with tokens and time.
    pub show_usage: bool,
    /// Whether the end of a long turn rings.
    pub ring: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            busy: WhileBusy::Interrupt,
            show_reasoning: false,
            show_usage: false,
            ring: false,
        }
    }
}

/// Everything on the screen.
pub struct App {
    theme: Theme,
    settings: Settings,
    size: (u16, u16),
    phase: Phase,
    composer: Composer,
    panels: Queue<Tag>,
    /// When the panel in front came up: keys meant for the draft must not answer it.
    asked_at: Option<Duration>,
    turn: Option<Turn>,
    /// Messages that wait for the end of the turn.
    waiting: VecDeque<(String, Vec<Attachment>)>,
    status: Option<StatusLine>,
    /// When Ctrl+C was last pressed with something running.
    interrupted_at: Option<Duration>,
    finished: Vec<Line<'static>>,
    /// Whether the last finished line is empty, so that cells stand apart by one line and no more.
    spaced: bool,
    ticks: usize,
    last_tick: Duration,
}

impl App {
    /// A screen with nothing on it but the composer.
    pub fn new(theme: Theme, settings: Settings, mut composer: Composer, size: (u16, u16)) -> Self {
        composer.set_width(size.0, &theme);
        let mut app = Self {
            theme,
            settings,
            size,
            phase: Phase::Opening,
            composer,
            panels: Queue::default(),
            asked_at: None,
            turn: None,
            waiting: VecDeque::new(),
            status: None,
            interrupted_at: None,
            finished: Vec::new(),
            spaced: true,
            ticks: 0,
            last_tick: Duration::ZERO,
        };
        app.placeholder();
        app
    }

    /// Takes in what happened; `now` is the time since the start.
    pub fn update(&mut self, input: Input, now: Duration) -> Vec<Effect> {
        let mut effects = Vec::new();
        match input {
            Input::Key(key) => self.key(key, now, &mut effects),
            Input::Paste(text) => self.paste(&text, &mut effects),
            Input::Resize(columns, rows) => self.resize(columns, rows),
            Input::Opened(opened) => self.opened(*opened, now, &mut effects),
            Input::Event(event) => self.event(event, now, &mut effects),
            Input::Ended => {
                self.phase = Phase::Over;
                effects.push(Effect::Leave);
            }
            Input::Completed { id, candidates } => {
                self.composer.supply(id, candidates);
            }
            Input::Replied(reply) => self.replied(reply, now, &mut effects),
            Input::Edited(text) => self.edited(text, now, &mut effects),
            Input::Looked { text, picture } => self.looked(&text, picture, &mut effects),
            Input::Tick => self.tick(now, &mut effects),
        }
        self.placeholder();
        effects
    }

    /// Lines that are history from now on.
    pub fn take_finished(&mut self) -> Vec<Line<'static>> {
        std::mem::take(&mut self.finished)
    }

    /// Whether something moves, so that ticks are wanted.
    pub fn is_moving(&self) -> bool {
        self.turn.is_some() || !self.panels.is_empty()
    }

    /// Whether the session works.
    pub fn is_busy(&self) -> bool {
        self.turn.is_some()
    }

    fn columns(&self) -> usize {
        usize::from(self.size.0).max(1)
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        self.size = (columns, rows);
        self.composer.set_width(columns, &self.theme);
        let width = self.columns();
        if let Some(turn) = &mut self.turn {
            turn.resize(width);
        }
    }

    fn opened(&mut self, opened: Opened, now: Duration, effects: &mut Vec<Effect>) {
        self.phase = Phase::Open;
        self.status = Some(opened.status);
        self.finished.extend(opened.banner);
        self.spaced = false;
        for cell in &opened.greeting {
            self.show(cell);
        }
        self.send_waiting(now, effects);
    }

    fn tick(&mut self, now: Duration, effects: &mut Vec<Effect>) {
        self.ticks += 1;
        let passed = now.saturating_sub(self.last_tick);
        self.last_tick = now;
        for over in self.panels.tick(passed) {
            self.answered(over, effects);
        }
    }

    /// Makes a cell part of the history, an empty line apart from what is before it.
    fn show(&mut self, cell: &Cell) {
        let lines = cell.lines(self.columns(), &self.theme);
        self.push_apart(lines);
    }

    fn push_apart(&mut self, lines: Vec<Line<'static>>) {
        if lines.is_empty() {
            return;
        }
        if !self.spaced {
            self.finished.push(Line::default());
        }
        self.finished.extend(lines);
        self.spaced = false;
    }

    fn notice(&mut self, level: Level, text: impl Into<String>) {
        let text = text.into();
        self.show(&Cell::Notice(Notice { level, text }));
    }

    /// What an empty composer says depends on what happens.
    fn placeholder(&mut self) {
        let text = match (self.phase, &self.turn) {
            (Phase::Opening, _) => "starting; what you write waits",
            (Phase::Over, _) => "",
            (Phase::Open, Some(_)) => self.settings.busy.hint(),
            (Phase::Open, None) => "ask anything, / for commands, @ for files",
        };
        self.composer.set_placeholder(text);
    }
}
