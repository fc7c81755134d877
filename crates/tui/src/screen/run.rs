//! The loop that joins keys, events and pictures.

use std::io::{self, Stdout, Write};
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use crossterm::event::{Event as Terminal, EventStream};
use futures_core::Stream as _;
use futures_core::future::LocalBoxFuture;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::{Cause, Frames, Guard, Inline};
use crate::app::{App, Effect, Input, Opened};
use crate::host::Host;

/// How often things that move are drawn.
const TICK: Duration = Duration::from_millis(100);
/// A window that is being resized is drawn when it rests.
const REST: Duration = Duration::from_millis(40);

/// How a run of the screen ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The user left.
    Left,
    /// Somebody asked the process to end.
    Terminated,
}

/// The screen with an app on it.
pub struct Screen {
    app: App,
    inline: Inline<Stdout>,
    guard: Option<Guard>,
    frames: Frames,
    start: Instant,
}

/// What goes on beside the loop.
#[derive(Default)]
struct Jobs<'a>(Vec<LocalBoxFuture<'a, Input>>);

impl Jobs<'_> {
    /// The first that ends; never, while there is none.
    async fn next(&mut self) -> Input {
        std::future::poll_fn(|context| {
            for place in 0..self.0.len() {
                let Some(job) = self.0.get_mut(place) else {
                    break;
                };
                if let Poll::Ready(input) = job.as_mut().poll(context) {
                    drop(self.0.swap_remove(place));
                    return Poll::Ready(input);
                }
            }
            Poll::Pending
        })
        .await
    }
}

impl Screen {
    /// Takes the terminal and draws the app for the first time.
    ///
    /// # Errors
    ///
    /// There is no terminal.
    pub fn begin(mut app: App, start: Instant) -> io::Result<Self> {
        let guard = Guard::take()?;
        let (columns, rows) = crossterm::terminal::size()?;
        app.update(Input::Resize(columns, rows), start.elapsed());
        let mut screen = Self {
            app,
            inline: Inline::new(io::stdout(), columns),
            guard: Some(guard),
            frames: Frames::default(),
            start,
        };
        screen.draw()?;
        Ok(screen)
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
        let mut ended = self.carry_out(effects, host, &mut jobs).await?;
        let mut signals = Signals::new()?;
        let mut keys = Some(EventStream::new());
        let mut rested = None;
        while ended.is_none() {
            let due = self.frames.due();
            if due.is_some_and(|due| due <= Instant::now()) {
                self.draw()?;
                continue;
            }
            let (input, cause) = tokio::select! {
                biased;
                () = signals.terminate() => {
                    ended = Some(Ended::Terminated);
                    continue;
                }
                key = next(keys.as_mut()) => match key {
                    Some(Ok(Terminal::Key(key))) => (Input::Key(key), Cause::Person),
                    Some(Ok(Terminal::Paste(text))) => (Input::Paste(text), Cause::Person),
                    Some(Ok(Terminal::Resize(..))) => {
                        rested = Some(Instant::now() + REST);
                        continue;
                    }
                    Some(Ok(_)) => continue,
                    Some(Err(error)) => return Err(error),
                    None => (Input::Ended, Cause::Person),
                },
                () = until(rested) => {
                    rested = None;
                    self.changed(Cause::Person);
                    continue;
                }
                () = until(due) => continue,
                input = jobs.next() => (input, Cause::Person),
                event = host.next_event() => match event {
                    Some(event) => (Input::Event(event), Cause::World),
                    None => (Input::Ended, Cause::Person),
                },
                () = tokio::time::sleep(TICK), if self.app.is_moving() => {
                    (Input::Tick, Cause::World)
                }
            };
            let effects = self.update(input);
            self.changed(cause);
            let leaves = matches!(effects.as_slice(), [Effect::Edit(_)] | [Effect::Suspend]);
            if leaves {
                // Whoever has the terminal meanwhile reads the keys.
                keys = None;
            }
            ended = self.carry_out(effects, host, &mut jobs).await?;
            keys.get_or_insert_with(EventStream::new);
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

    fn draw(&mut self) -> io::Result<()> {
        // The window may have changed since it was last looked at, and nothing may be drawn for another width.
        let (columns, rows) = crossterm::terminal::size()?;
        self.update(Input::Resize(columns, rows));
        let finished = self.app.take_finished();
        let live = self.app.live(self.start.elapsed());
        self.inline.draw(&finished, live, columns)?;
        self.frames.drawn(Instant::now());
        Ok(())
    }

    /// Leaves what is history on the screen, and nothing else.
    fn end(mut self) -> io::Result<()> {
        let (columns, _) = crossterm::terminal::size()?;
        let finished = self.app.take_finished();
        self.inline
            .draw(&finished, super::Live::default(), columns)?;
        self.inline.clear()?;
        drop(self.guard.take());
        Ok(())
    }

    async fn carry_out<'a>(
        &mut self,
        effects: Vec<Effect>,
        host: &'a dyn Host,
        jobs: &mut Jobs<'a>,
    ) -> io::Result<Option<Ended>> {
        for effect in effects {
            match effect {
                Effect::Send(op) => host.send(op),
                Effect::Message { text, attachments } => {
                    let sent = host.message(text, attachments);
                    jobs.0
                        .push(Box::pin(async move { Input::Replied(sent.await) }));
                }
                Effect::Command(line) => {
                    let command = host.command(line);
                    jobs.0
                        .push(Box::pin(async move { Input::Replied(command.await) }));
                }
                Effect::Complete(request) => {
                    let id = request.id;
                    let found = host.complete(request);
                    jobs.0.push(Box::pin(async move {
                        let candidates = found.await;
                        Input::Completed { id, candidates }
                    }));
                }
                Effect::Keep(paste) => host.keep(&paste),
                Effect::Remember(line) => host.remember(&line),
                Effect::Look { path, text } => {
                    let picture = host.look(&path);
                    self.update(Input::Looked { text, picture });
                }
                Effect::Edit(text) => {
                    self.hand_over()?;
                    let edited = host.edit(text).await;
                    self.take_back()?;
                    let more = self.update(Input::Edited(edited));
                    return Box::pin(self.carry_out(more, host, jobs)).await;
                }
                Effect::Suspend => {
                    self.hand_over()?;
                    rustix::process::kill_process(
                        rustix::process::getpid(),
                        rustix::process::Signal::TSTP,
                    )?;
                    self.take_back()?;
                }
                Effect::Ring => {
                    let mut out = io::stdout();
                    out.write_all(b"\x07\x1b]9;Hermes needs you\x07")?;
                    out.flush()?;
                }
                Effect::Repaint => {
                    self.inline.forget();
                    self.changed(Cause::Person);
                }
                Effect::Leave => return Ok(Some(Ended::Left)),
            }
        }
        Ok(None)
    }

    fn hand_over(&mut self) -> io::Result<()> {
        self.inline.clear()?;
        drop(self.guard.take());
        Ok(())
    }

    fn take_back(&mut self) -> io::Result<()> {
        self.guard = Some(Guard::take()?);
        self.inline.forget();
        self.changed(Cause::Person);
        Ok(())
    }
}

async fn next(keys: Option<&mut EventStream>) -> Option<io::Result<Terminal>> {
    let keys = keys?;
    std::future::poll_fn(|context| Pin::new(&mut *keys).poll_next(context)).await
}

async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment.into()).await,
        None => std::future::pending().await,
    }
}

/// What asks a process to end.
struct Signals {
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    async fn terminate(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }
}
