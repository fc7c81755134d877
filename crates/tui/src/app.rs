//! One state for everything on the screen.
//!
//! `App::update` takes what happened and answers what is to be done; `App::live` is what the live area or the full
//! screen shows, and `App::take_finished` what has become history. Nothing here reads a clock, a file or a key.

mod beside;
mod busy;
mod carrying;
mod commands;
mod events;
mod full;
mod input;
mod live;
mod mouse;
mod record;
mod settings;
mod sidebar;
mod talk;
mod turn;
mod waiting;

#[cfg(test)]
mod early_tests;
#[cfg(test)]
mod full_tests;
#[cfg(test)]
mod left_tests;
#[cfg(test)]
mod live_tests;
#[cfg(test)]
mod settings_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod told_tests;

use std::collections::VecDeque;
use std::time::Duration;

use hermes_core::{Event, QuestionId, SessionId};

use crate::composer::Composer;
use crate::composer::history::History;
use crate::panels::Queue;
use crate::status::Standing;
use crate::theme::Theme;

pub use crate::spinner::Indicator;
use beside::Beside;
pub use busy::WhileBusy;
use carrying::Carrying;
use full::Hits;
use input::Early;
use record::Record;
pub use settings::{
    Call, Details, Labels, Mode, Mouse, Occasion, PasteNames, PasteTexts, Preview, Sections,
    Settings, Stamps, StatusBar, Thoughts, ToolLines,
};
pub use sidebar::reading_columns;
use sidebar::{Sidebar, Where};
pub use talk::{Asked, Called, Effect, Input, Opened, Outgoing, Reply, Then, UnderWay};
use turn::Turn;
pub use turn::tool_cell;

/// Characters of the terminal's title.
const LONGEST_TITLE: usize = 60;

/// Whose panel it is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Tag {
    /// A session waits for it.
    Question(QuestionId, SessionId),
    /// The program asked, and this follows.
    Program(Then),
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

/// Everything on the screen.
pub struct App {
    theme: Theme,
    settings: Settings,
    size: (u16, u16),
    phase: Phase,
    composer: Composer,
    panels: Queue<Tag>,
    /// Keys meant for the draft must not answer the panel in front.
    early: Option<Early>,
    turn: Option<Turn>,
    /// Messages that wait for the end of the turn. One is said once it has its row, or at once.
    waiting: VecDeque<Outgoing>,
    /// The session in front.
    session: Option<SessionId>,
    /// Where it works.
    directory: String,
    standing: Option<Standing>,
    /// Tokens of the conversation.
    used: u64,
    compressions: u32,
    /// When the session in front was opened.
    opened_at: Duration,
    /// How long the last turn took.
    took: Option<Duration>,
    /// When it ended.
    ended_at: Option<Duration>,
    /// When Ctrl+C was last pressed with something running.
    interrupted_at: Option<Duration>,
    record: Record,
    /// What is shown when the paragraph under way is complete.
    beside: Beside,
    /// Commands under way.
    carrying: Carrying,
    sidebar: Sidebar,
    /// Where everything was when it was last drawn.
    hits: Hits,
    /// The tool that was called last, for those who want to see only others.
    last_tool: Option<String>,
    /// The time since the start, at the last thing that happened.
    now: Duration,
    ticks: usize,
}

impl App {
    /// A screen with nothing on it but the composer.
    pub fn new(theme: Theme, settings: Settings, mut composer: Composer, size: (u16, u16)) -> Self {
        composer.set_width(size.0, &theme);
        composer.set_paste_texts(settings.paste_texts.clone());
        let mut app = Self {
            record: Record::new(&settings, &theme, size),
            beside: Beside::default(),
            carrying: Carrying::default(),
            sidebar: Sidebar::default(),
            hits: Hits::default(),
            last_tool: None,
            now: Duration::ZERO,
            theme,
            settings,
            size,
            phase: Phase::Opening,
            composer,
            panels: Queue::default(),
            early: None,
            turn: None,
            waiting: VecDeque::new(),
            session: None,
            directory: String::new(),
            standing: None,
            used: 0,
            compressions: 0,
            opened_at: Duration::ZERO,
            took: None,
            ended_at: None,
            interrupted_at: None,
            ticks: 0,
        };
        app.lay_out();
        app.placeholder();
        app
    }

    /// How it behaves.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What was sent before, as soon as it was read.
    pub(crate) fn remember(&mut self, history: History) {
        self.composer.set_history(history);
    }

    /// Takes in what happened; `now` is the time since the start.
    pub fn update(&mut self, input: Input, now: Duration) -> Vec<Effect> {
        let mut effects = Vec::new();
        let lapsed = self.pass(now, &mut effects);
        match input {
            // It was meant for a question whose time was over before it came.
            Input::Key(_) | Input::Paste(_) if lapsed => {}
            Input::Key(key) => self.key(key, now, &mut effects),
            Input::Mouse(event) => self.mouse(event, &mut effects),
            Input::Paste(text) => self.paste(&text, now, &mut effects),
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
            Input::LinedUp { message, row } => self.lined_up(&message, row, now, &mut effects),
            Input::Remarked { text, failed } => self.remarked(text, failed, &mut effects),
            Input::Replied(reply) => self.replied(reply, now, &mut effects),
            Input::Standing(standing) => self.standing = Some(standing),
            Input::Sessions(rows) => self.list_sessions(rows, &mut effects),
            Input::Clipped(picture) => self.clipped(picture),
            Input::Edited(text) => self.edited(text, now, &mut effects),
            Input::Looked { text, picture } => self.looked(text.as_deref(), picture, &mut effects),
            Input::Tick => self.tick(now),
        }
        self.watch_commands(&effects, now);
        self.placeholder();
        effects
    }

    /// Whether something moves, so that ticks are wanted.
    pub fn is_moving(&self) -> bool {
        self.turn.is_some() || !self.panels.is_empty() || self.is_carrying_out()
    }

    /// Whether the session works.
    pub fn is_busy(&self) -> bool {
        self.turn.is_some()
    }

    /// What stays on the screen while the program is stopped.
    pub(crate) fn while_stopped(&self) -> String {
        let name = crate::text::clean_line(&self.theme.agent_name);
        format!("{name} is stopped; fg goes on with it.")
    }

    /// What the terminal's title says, when it says something.
    pub fn title(&self) -> Option<String> {
        let glyph = match (self.phase, self.panels.is_empty(), &self.turn) {
            (_, false, _) => "?",
            (Phase::Opening, ..) => "…",
            (_, true, Some(_)) => "●",
            (Phase::Open | Phase::Over, true, None) => "✓",
        };
        let name = self.sidebar.active_title();
        let name = name.unwrap_or_else(|| self.theme.agent_name.clone());
        let name = crate::text::cut(&crate::text::clean_line(&name), LONGEST_TITLE);
        self.settings.title.then(|| format!("{glyph} {name}"))
    }

    /// Columns for the conversation: all there are, but for a list beside it.
    fn columns(&self) -> usize {
        let beside = match (self.settings.mode, self.sidebar.place(self.size.0)) {
            (Mode::Full, Where::Beside(columns)) => columns + 1,
            (Mode::Full, Where::InFront | Where::Nowhere) | (Mode::Inline, _) => 0,
        };
        usize::from(self.size.0.saturating_sub(beside)).max(1)
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        let resized = self.size != (columns, rows);
        self.size = (columns, rows);
        if resized {
            self.lay_out();
        }
    }

    /// The width may be another one.
    fn lay_out(&mut self) {
        let width = self.columns();
        let columns = u16::try_from(width).unwrap_or(u16::MAX);
        self.composer.set_width(columns, &self.theme);
        if let Some(turn) = &mut self.turn {
            turn.resize(width, &self.settings, &self.theme);
        }
        if let Record::Full(transcript) = &mut self.record {
            transcript.resize(width, usize::from(self.size.1));
        }
    }

    fn opened(&mut self, opened: Opened, now: Duration, effects: &mut Vec<Effect>) {
        if self.phase == Phase::Open {
            self.leave_session(effects);
        }
        self.phase = Phase::Open;
        self.put_in_front(opened.session);
        self.directory = opened.directory;
        self.standing = Some(opened.standing);
        self.used = opened.used;
        self.compressions = 0;
        self.opened_at = now;
        self.took = None;
        self.ended_at = None;
        if let Some(transcript) = self.transcript() {
            transcript.clear();
        }
        if let Some(heading) = opened.heading {
            self.show_heading(*heading);
        }
        if let Record::Full(transcript) = &mut self.record {
            for cell in opened.before {
                transcript.push(cell, None);
            }
        }
        for cell in opened.greeting {
            self.show(cell);
        }
        if let Some(running) = opened.running {
            self.go_on(*running, now, effects);
        }
        self.ask_for_sessions(effects);
        // What was written while it was being opened comes behind what waited in it.
        let written = std::mem::replace(&mut self.waiting, opened.waiting.into());
        self.send_waiting(now, effects);
        for message in written {
            self.line_up(message, now, effects);
        }
    }

    fn put_in_front(&mut self, session: Option<SessionId>) {
        self.sidebar.put_in_front(session.clone());
        self.session = session;
    }

    /// Shows a turn that began before, and goes on with it.
    fn go_on(&mut self, running: UnderWay, now: Duration, effects: &mut Vec<Effect>) {
        if let Some(asked) = running.asked {
            self.show_user(asked);
        }
        let began = now.saturating_sub(running.since);
        self.begin_turn(began);
        for event in running.events {
            // A turn begins once.
            if !matches!(event, Event::TurnStarted { .. }) {
                self.event(event, now, effects);
            }
        }
    }

    /// Another conversation comes to the front: what was under way in this one, or meant for it, is not for that.
    fn leave_session(&mut self, effects: &mut Vec<Effect>) {
        self.end_text();
        self.end_held();
        // A turn that has not ended goes on behind what is shown: whoever asks in it still waits for an answer.
        let goes_on = self.turn.take().is_some();
        self.interrupted_at = None;
        if !goes_on {
            self.withdraw_own();
        }
        let waiting = std::mem::take(&mut self.waiting);
        for message in waiting.into_iter().rev() {
            self.take_back(message, effects);
        }
    }

    /// Counts questions down, whatever it is that happens now; says whether the time of one was over.
    fn pass(&mut self, now: Duration, effects: &mut Vec<Effect>) -> bool {
        let passed = now.saturating_sub(self.now);
        self.now = now;
        let over = self.panels.tick(passed);
        let lapsed = !over.is_empty();
        for one in over {
            self.answered(one, effects);
        }
        if lapsed {
            self.moved_up(now);
        }
        lapsed
    }

    fn tick(&mut self, now: Duration) {
        self.ticks += 1;
        self.lose_patience(now);
    }

    /// What an empty composer says depends on what happens.
    fn placeholder(&mut self) {
        let text = match (self.phase, &self.turn) {
            (Phase::Opening, _) => "starting; what you write waits",
            (Phase::Over, _) => "",
            (Phase::Open, Some(_)) => self.settings.busy.hint(),
            (Phase::Open, None) if self.takes_a_while() => "a command runs; Esc stops it",
            (Phase::Open, None) => "ask anything, / for commands, @ for files",
        };
        self.composer.set_placeholder(text);
    }
}
