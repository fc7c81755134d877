//! The loop that joins keys, events and pictures.

mod jobs;

use std::fs::File;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use crossterm::event::Event as Terminal;
use hermes_core::Event;
use tokio::time::{Interval, MissedTickBehavior};

use super::ground::{self, Ground};
use super::kept::Kept;
use super::keyboard::{Keyboard, Typed};
use super::signals::{self, Signals, Told, Watch};
use super::surface::Surface;
use super::{Cause, Frames, Guard, Hold};
use crate::app::{App, Effect, Input, Opened, Reply};
use crate::composer::history::History;
use crate::host::{Host, News};
use crate::skin::Background;
use crate::theme::Theme;
use jobs::Jobs;

/// How often things that move are drawn.
const TICK: Duration = Duration::from_millis(100);
/// How long an answer of the terminal is waited for before somebody else reads its keys.
const LAST_ANSWER: Duration = Duration::from_millis(50);
/// Columns and rows of the smallest window in which anything is drawn.
const SMALLEST: (u16, u16) = (8, 3);

/// How a run of the screen ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The user left.
    Left,
    /// Somebody asked the process to end, with this exit code.
    Terminated(u8),
}

/// The screen with an app on it.
pub struct Screen {
    app: App,
    surface: Surface<File>,
    guard: Option<Guard>,
    frames: Frames,
    start: Instant,
    /// The size of the window when it was last drawn.
    size: (u16, u16),
    /// When a window that is being resized rests.
    rests: Option<Instant>,
    /// The title the terminal has.
    title: Option<String>,
    /// Listens to the system until the loop does.
    watch: Option<Watch>,
    /// The end of the history, to be written again.
    kept: Kept,
    /// Everything is to be drawn again.
    anew: bool,
    /// The keys, as soon as somebody reads them.
    keys: Option<Keyboard>,
    /// What was asked of the terminal, until then.
    ground: Ground,
}

/// What ended a wait of the loop.
enum Heard {
    /// A signal.
    System(Told),
    Keyboard(Option<io::Result<Typed>>),
    /// The window has not changed for a while.
    Rest,
    /// A picture is due.
    Due,
    Input(Input, Cause),
}

/// What the app takes in next, if anything is left for it; or the end.
type Next = ControlFlow<Ended, Option<(Input, Cause)>>;

impl Screen {
    /// Takes the terminal and draws the app for the first time. Until the loop runs, a signal that ends the process
    /// gives the terminal back and calls `end` with the exit code.
    ///
    /// # Errors
    ///
    /// There is no terminal.
    pub fn begin(
        mut app: App,
        start: Instant,
        end: impl FnOnce(u8) + Send + 'static,
    ) -> io::Result<Self> {
        let guard = Guard::take(Hold::of(app.settings()))?;
        let (columns, rows) = crossterm::terminal::size()?;
        app.update(Input::Resize(columns, rows), start.elapsed());
        // A picture is one write. The standard output would make two of it, at the last end of a line.
        let out = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        let settings = app.settings();
        let (mode, kept, asks) = (settings.mode, settings.kept_lines, settings.ask_ground);
        let mut screen = Self {
            app,
            kept: Kept::new(kept),
            anew: false,
            keys: None,
            ground: Ground::default(),
            surface: Surface::new(mode, out, columns),
            guard: Some(guard),
            frames: Frames::default(),
            start,
            size: (columns, rows),
            rests: None,
            title: None,
            // Whoever sees the first picture may send a signal already.
            watch: Some(Watch::begin(end)?),
        };
        screen.draw()?;
        if asks {
            // Behind the first picture: nobody waits for the answer.
            let mut out = io::stdout();
            out.write_all(ground::QUERY.as_bytes())?;
            out.flush()?;
            screen.ground.asked(Instant::now());
        }
        Ok(screen)
    }

    /// What the text stands on, if the terminal has told it by now. Needs a runtime, and waits for nothing.
    pub async fn background(&mut self) -> Option<Background> {
        self.keys().answer().await
    }

    /// What was sent before.
    pub fn remember(&mut self, history: History) {
        self.app.remember(history);
    }

    /// Everything looks different from now on.
    pub fn dress(&mut self, theme: Theme) {
        let theme = Some(Box::new(theme));
        self.update(Input::Replied(Reply {
            theme,
            ..Reply::default()
        }));
    }

    fn keys(&mut self) -> &mut Keyboard {
        let burst = self.app.settings().burst;
        let ground = &mut self.ground;
        self.keys
            .get_or_insert_with(|| Keyboard::new(burst, std::mem::take(ground)))
    }

    /// Gives the terminal back: there will be no conversation.
    ///
    /// # Errors
    ///
    /// The terminal is gone.
    pub fn abandon(self) -> io::Result<()> {
        self.end()
    }

    /// Runs until the user leaves.
    ///
    /// # Errors
    ///
    /// The terminal is gone.
    pub async fn run(mut self, host: &dyn Host, opened: Opened) -> io::Result<Ended> {
        let mut jobs = Jobs::default();
        let effects = self.update(Input::Opened(Box::new(opened)));
        self.changed(Cause::Person);
        let mut signals = Signals::new()?;
        let first = self.carry_out(effects, host, &mut jobs, &mut signals);
        let mut ended = first.await?;
        drop(self.watch.take());
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        self.keys();
        while ended.is_none() {
            if self.due().is_some_and(|due| due <= Instant::now()) {
                if crossterm::terminal::size()? != self.size {
                    self.resized()?;
                    continue;
                }
                self.update(Input::Standing(host.standing()));
                self.draw()?;
                continue;
            }
            let heard = self.hear(host, &mut jobs, &mut signals, &mut ticks).await;
            let (input, cause) = match self.next(heard, host)? {
                Next::Continue(Some((input, cause))) => (input, cause),
                Next::Continue(None) => continue,
                Next::Break(how) => {
                    ended = Some(how);
                    continue;
                }
            };
            if matches!(input, Input::Event(Event::TurnFinished { .. })) {
                // What a turn cost is known at its end.
                self.update(Input::Standing(host.standing()));
            }
            let effects = self.update(input);
            self.changed(cause);
            let leaves = matches!(effects.as_slice(), [Effect::Edit(_)] | [Effect::Suspend]);
            if leaves {
                // Whoever has the terminal meanwhile reads the keys.
                self.keys().let_go();
            }
            ended = self
                .carry_out(effects, host, &mut jobs, &mut signals)
                .await?;
            self.keys().take();
        }
        self.end()?;
        Ok(ended.unwrap_or(Ended::Left))
    }

    /// When a picture is due. While the window changes, nothing is drawn: each picture would be for a size that is
    /// gone. Neither is it where there is no room.
    fn due(&self) -> Option<Instant> {
        let room = self.size.0 >= SMALLEST.0 && self.size.1 >= SMALLEST.1;
        self.frames.due().filter(|_| room && self.rests.is_none())
    }

    /// Waits for whatever comes first.
    async fn hear(
        &mut self,
        host: &dyn Host,
        jobs: &mut Jobs<'_>,
        signals: &mut Signals,
        ticks: &mut Interval,
    ) -> Heard {
        let due = self.due();
        let rests = self.rests;
        let moving = self.app.is_moving();
        let refresh = self.app.until_refresh(self.start.elapsed());
        let keys = self.keys();
        tokio::select! {
            biased;
            told = signals.next() => Heard::System(told),
            typed = keys.next() => Heard::Keyboard(typed),
            () = until(rests) => Heard::Rest,
            () = until(due) => Heard::Due,
            // Before what the session says: that may come without a pause.
            _ = ticks.tick(), if moving => Heard::Input(Input::Tick, Cause::World),
            input = jobs.next() => Heard::Input(input, Cause::Person),
            news = host.next_news() => match news {
                Some(News::Event(event)) => Heard::Input(Input::Event(event), Cause::World),
                Some(News::Reply(reply)) => Heard::Input(Input::Replied(reply), Cause::World),
                None => Heard::Input(Input::Ended, Cause::Person),
            },
            // The bar follows what happens elsewhere; what looks the same is not drawn again.
            () = tokio::time::sleep(refresh.unwrap_or_default()), if !moving && refresh.is_some() => {
                Heard::Input(Input::Tick, Cause::World)
            }
        }
    }

    /// What was heard, as the app takes it in; what only the screen has to know is dealt with here.
    fn next(&mut self, heard: Heard, host: &dyn Host) -> io::Result<Next> {
        match heard {
            Heard::System(Told::End(signal)) => {
                return Ok(Next::Break(Ended::Terminated(signals::code(signal))));
            }
            Heard::System(Told::Stop) => self.suspend()?,
            Heard::System(Told::GoOn) => {
                drop(self.guard.take());
                self.take_back()?;
            }
            Heard::Keyboard(Some(typed)) => return self.typed(typed?, host),
            Heard::Keyboard(None) => {
                return Ok(Next::Continue(Some((Input::Ended, Cause::Person))));
            }
            Heard::Rest => {
                self.rests = None;
                self.size = crossterm::terminal::size()?;
                self.changed(Cause::Person);
            }
            Heard::Due => {}
            Heard::Input(input, cause) => return Ok(Next::Continue(Some((input, cause)))),
        }
        Ok(Next::Continue(None))
    }

    fn typed(&mut self, typed: Typed, host: &dyn Host) -> io::Result<Next> {
        let event = match typed {
            Typed::Ground(ground) => {
                if let Some(theme) = host.ground(ground) {
                    self.dress(theme);
                    self.changed(Cause::World);
                }
                return Ok(Next::Continue(None));
            }
            Typed::Event(event) => event,
        };
        let input = match event {
            Terminal::Key(key) => Input::Key(key),
            Terminal::Mouse(event) => Input::Mouse(event),
            Terminal::Paste(text) => Input::Paste(text),
            Terminal::Resize(..) => {
                self.resized()?;
                return Ok(Next::Continue(None));
            }
            Terminal::FocusGained | Terminal::FocusLost => return Ok(Next::Continue(None)),
        };
        Ok(Next::Continue(Some((input, Cause::Person))))
    }

    fn update(&mut self, input: Input) -> Vec<Effect> {
        self.app.update(input, self.start.elapsed())
    }

    fn changed(&mut self, cause: Cause) {
        self.frames.changed(cause, Instant::now());
    }

    /// The window has another size. What is finished waits until it rests.
    fn resized(&mut self) -> io::Result<()> {
        if self.rests.is_none() {
            self.surface.hide(crossterm::terminal::size()?)?;
        }
        self.rests = Some(Instant::now() + self.app.settings().rest);
        Ok(())
    }

    fn draw(&mut self) -> io::Result<()> {
        let (columns, rows) = self.size;
        self.update(Input::Resize(columns, rows));
        let finished = self.app.take_finished();
        let live = self.app.live(self.start.elapsed());
        self.kept.push(&finished);
        if std::mem::take(&mut self.anew) {
            self.surface
                .repaint(self.kept.lines(), live, (columns, rows))?;
        } else {
            self.surface.draw(&finished, live, (columns, rows))?;
        }
        self.entitle()?;
        self.frames.drawn(Instant::now());
        Ok(())
    }

    /// Writes the title when it changed.
    fn entitle(&mut self) -> io::Result<()> {
        let title = self.app.title();
        if title == self.title {
            return Ok(());
        }
        let mut out = io::stdout();
        write!(out, "\x1b]2;{}\x1b\\", title.as_deref().unwrap_or_default())?;
        self.title = title;
        out.flush()
    }

    /// Leaves what is history on the screen, and nothing else.
    fn end(mut self) -> io::Result<()> {
        let size = crossterm::terminal::size()?;
        drop(self.watch.take());
        let finished = self.app.take_finished();
        self.surface.finish(&finished, size)?;
        self.hear_out()?;
        drop(self.guard.take());
        Ok(())
    }

    /// An answer that is still on its way would be typed into whatever reads the terminal next.
    fn hear_out(&mut self) -> io::Result<()> {
        let awaited = match &self.keys {
            Some(keys) => keys.awaits(),
            None => self.ground.is_awaited(Instant::now()),
        };
        drop(self.keys.take());
        let end = Instant::now() + LAST_ANSWER;
        while awaited && Instant::now() < end {
            if crossterm::event::poll(end.saturating_duration_since(Instant::now()))? {
                crossterm::event::read()?;
            }
        }
        Ok(())
    }

    async fn carry_out<'a>(
        &mut self,
        effects: Vec<Effect>,
        host: &'a dyn Host,
        jobs: &mut Jobs<'a>,
        signals: &mut Signals,
    ) -> io::Result<Option<Ended>> {
        for effect in effects {
            match effect {
                Effect::Send(op) => host.send(op),
                Effect::Message(message) => jobs.message(host, message),
                Effect::LineUp(message) => jobs.line_up(host, message),
                Effect::Withdraw(rows) => host.withdraw(rows),
                Effect::Remark(text) => jobs.remark(host, text),
                Effect::Command(line) => jobs.command(host, line),
                Effect::DropCommands => jobs.drop_commands(),
                Effect::Complete(request) => jobs.complete(host, request),
                Effect::Clipboard => jobs.clipboard(host),
                Effect::Sessions => jobs.sessions(host),
                Effect::Keep(paste) => host.keep(&paste),
                Effect::Remember(line) => host.remember(&line),
                Effect::Explained => host.explained(),
                Effect::Look { path, text } => {
                    let picture = host.look(&path);
                    self.update(Input::Looked { text, picture });
                }
                Effect::Edit(text) => {
                    self.hand_over()?;
                    let edited = signals.while_away(host.edit(text)).await?;
                    self.take_back()?;
                    let edited = match edited {
                        Ok(edited) => edited,
                        Err(signal) => {
                            return Ok(Some(Ended::Terminated(signals::code(signal))));
                        }
                    };
                    let more = self.update(Input::Edited(edited));
                    return Box::pin(self.carry_out(more, host, jobs, signals)).await;
                }
                Effect::Suspend => self.suspend()?,
                Effect::Ring(occasion) => {
                    let mut out = io::stdout();
                    out.write_all(self.app.call(occasion).as_bytes())?;
                    out.flush()?;
                }
                Effect::Repaint => {
                    self.anew = true;
                    self.changed(Cause::Person);
                }
                Effect::Retake => {
                    drop(self.guard.take());
                    self.take_back()?;
                }
                Effect::Leave => return Ok(Some(Ended::Left)),
            }
        }
        Ok(None)
    }

    /// The shell has the terminal until it says to go on.
    fn suspend(&mut self) -> io::Result<()> {
        self.hand_over()?;
        writeln!(io::stdout(), "{}", self.app.while_stopped())?;
        signals::stop()?;
        self.take_back()
    }

    fn hand_over(&mut self) -> io::Result<()> {
        self.surface.clear()?;
        drop(self.guard.take());
        Ok(())
    }

    fn take_back(&mut self) -> io::Result<()> {
        self.guard = Some(Guard::take(Hold::of(self.app.settings()))?);
        self.size = crossterm::terminal::size()?;
        self.title = None;
        self.surface.forget();
        self.changed(Cause::Person);
        Ok(())
    }
}

pub(super) async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment.into()).await,
        None => std::future::pending().await,
    }
}
