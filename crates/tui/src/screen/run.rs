//! The loop that joins keys, events and pictures.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd as _;
use std::task::Poll;
use std::time::{Duration, Instant};

use crossterm::event::Event as Terminal;
use futures_core::future::LocalBoxFuture;
use hermes_core::Event;
use tokio::time::MissedTickBehavior;

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

/// How often things that move are drawn.
const TICK: Duration = Duration::from_millis(100);
/// How long an answer of the terminal is waited for before somebody else reads its keys.
const LAST_ANSWER: Duration = Duration::from_millis(50);
/// A window that is being resized is drawn when it rests.
const REST: Duration = Duration::from_millis(40);

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

/// What goes on beside the loop.
#[derive(Default)]
struct Jobs<'a>(Vec<Job<'a>>);

struct Job<'a> {
    work: LocalBoxFuture<'a, Input>,
    /// Whether it carries out a command, which may be given up.
    command: bool,
}

impl<'a> Jobs<'a> {
    fn add(&mut self, work: impl Future<Output = Input> + 'a) {
        self.0.push(Job {
            work: Box::pin(work),
            command: false,
        });
    }

    fn add_command(&mut self, work: impl Future<Output = Input> + 'a) {
        self.0.push(Job {
            work: Box::pin(work),
            command: true,
        });
    }

    fn drop_commands(&mut self) {
        self.0.retain(|job| !job.command);
    }

    /// The first that ends; never, while there is none.
    async fn next(&mut self) -> Input {
        std::future::poll_fn(|context| {
            for place in 0..self.0.len() {
                let Some(job) = self.0.get_mut(place) else {
                    break;
                };
                if let Poll::Ready(input) = job.work.as_mut().poll(context) {
                    // In the order they were given: what was written behind a command is for the session it leads to.
                    drop(self.0.remove(place));
                    return Poll::Ready(input);
                }
            }
            Poll::Pending
        })
        .await
    }
}

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
            // While the window changes, nothing is drawn: each picture would be for a size that is gone.
            let due = self.frames.due().filter(|_| self.rests.is_none());
            if due.is_some_and(|due| due <= Instant::now()) {
                if crossterm::terminal::size()? != self.size {
                    self.resized()?;
                    continue;
                }
                self.update(Input::Standing(host.standing()));
                self.draw()?;
                continue;
            }
            let rests = self.rests;
            let moving = self.app.is_moving();
            let refresh = self.app.until_refresh(self.start.elapsed());
            let keys = self.keys();
            let (input, cause) = tokio::select! {
                biased;
                told = signals.next() => {
                    match told {
                        Told::End(signal) => {
                            ended = Some(Ended::Terminated(signals::code(signal)));
                        }
                        Told::Stop => self.suspend()?,
                        Told::GoOn => {
                            drop(self.guard.take());
                            self.take_back()?;
                        }
                    }
                    continue;
                }
                typed = keys.next() => match typed {
                    Some(Ok(Typed::Ground(ground))) => match host.ground(ground) {
                        Some(theme) => {
                            self.dress(theme);
                            self.changed(Cause::World);
                            continue;
                        }
                        None => continue,
                    },
                    Some(Ok(Typed::Event(event))) => match event {
                        Terminal::Key(key) => (Input::Key(key), Cause::Person),
                        Terminal::Mouse(event) => (Input::Mouse(event), Cause::Person),
                        Terminal::Paste(text) => (Input::Paste(text), Cause::Person),
                        Terminal::Resize(..) => {
                            self.resized()?;
                            continue;
                        }
                        Terminal::FocusGained | Terminal::FocusLost => continue,
                    },
                    Some(Err(error)) => return Err(error),
                    None => (Input::Ended, Cause::Person),
                },
                () = until(rests) => {
                    self.rests = None;
                    self.size = crossterm::terminal::size()?;
                    self.changed(Cause::Person);
                    continue;
                }
                () = until(due) => continue,
                // Before what the session says: that may come without a pause.
                _ = ticks.tick(), if moving => (Input::Tick, Cause::World),
                input = jobs.next() => (input, Cause::Person),
                news = host.next_news() => match news {
                    Some(News::Event(event)) => (Input::Event(event), Cause::World),
                    Some(News::Reply(reply)) => (Input::Replied(reply), Cause::World),
                    None => (Input::Ended, Cause::Person),
                },
                // The bar follows what happens elsewhere; what looks the same is not drawn again.
                () = tokio::time::sleep(refresh.unwrap_or_default()), if !moving && refresh.is_some() => {
                    (Input::Tick, Cause::World)
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

    fn update(&mut self, input: Input) -> Vec<Effect> {
        self.app.update(input, self.start.elapsed())
    }

    fn changed(&mut self, cause: Cause) {
        self.frames.changed(cause, Instant::now());
    }

    /// The window has another size. What is finished waits until it rests.
    fn resized(&mut self) -> io::Result<()> {
        if self.rests.is_none() {
            self.surface.hide()?;
        }
        self.rests = Some(Instant::now() + REST);
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
                Effect::Message(message) => {
                    let sent = host.message(message);
                    jobs.add(async move { Input::Replied(sent.await) });
                }
                Effect::LineUp(message) => {
                    let kept = host.line_up(message.clone());
                    let message = Box::new(message);
                    jobs.add(async move {
                        let row = kept.await;
                        Input::LinedUp { message, row }
                    });
                }
                Effect::Withdraw(rows) => host.withdraw(rows),
                Effect::Remark(text) => {
                    let kept = host.remark(text.clone());
                    jobs.add(async move {
                        let failed = kept.await;
                        Input::Remarked { text, failed }
                    });
                }
                Effect::Command(line) => {
                    let command = host.command(line);
                    jobs.add_command(async move { Input::Replied(command.await) });
                }
                Effect::DropCommands => jobs.drop_commands(),
                Effect::Complete(request) => {
                    let id = request.id;
                    let found = host.complete(request);
                    jobs.add(async move {
                        let candidates = found.await;
                        Input::Completed { id, candidates }
                    });
                }
                Effect::Clipboard => {
                    let found = host.clipboard();
                    jobs.add(async move { Input::Clipped(found.await) });
                }
                Effect::Sessions => {
                    let found = host.sessions();
                    jobs.add(async move { Input::Sessions(found.await) });
                }
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

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::pin::pin;
    use std::rc::Rc;
    use std::task::{Context, Waker};

    use super::*;

    // CL-22: what is typed behind a command goes to the session it leads to, so the command is asked first.
    #[test]
    fn jobs_go_on_in_the_order_they_were_given() {
        let asked = Rc::new(RefCell::new(Vec::new()));
        let waits = |name: &'static str| {
            let asked = Rc::clone(&asked);
            std::future::poll_fn(move |_| {
                asked.borrow_mut().push(name);
                Poll::Pending
            })
        };
        let mut jobs = Jobs::default();
        jobs.add(async { Input::Tick });
        jobs.add_command(waits("command"));
        jobs.add(waits("message"));
        let mut context = Context::from_waker(Waker::noop());
        assert!(pin!(jobs.next()).poll(&mut context).is_ready());
        assert!(pin!(jobs.next()).poll(&mut context).is_pending());
        assert_eq!(*asked.borrow(), ["command", "message"]);
    }
}
