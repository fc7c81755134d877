//! Driving a program in a real pseudo-terminal and reading its screen.
//!
//! Waiting is always for an event: the reader thread wakes whoever waits after each piece of
//! output. The terminal answers cursor-position and device queries, as programs expect.

mod key;
mod picture;
mod queries;
mod screen;
mod wrapping;

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;
use portable_pty::{Child, MasterPty, PtySize, native_pty_system};
use vt100::Parser;

pub use self::key::Key;
pub use self::picture::Paper;
use self::queries::Queries;
pub use self::screen::{Cell, Color, Screen};
pub use self::wrapping::Wrapping;
use crate::command::HermeticCommand;

const SCROLLBACK_ROWS: usize = 10_000;
const KILL_LIMIT: Duration = Duration::from_secs(5);
/// How long the end of what a program said may take after its end: a child may still have the terminal.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// How long a picture that has begun may take. A program that never ends one is looked at all the same.
const PICTURE_LIMIT: Duration = Duration::from_secs(1);

/// How a program in a terminal ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// Exit code; 1 when a signal ended it.
    pub code: u32,
    /// Description of the signal that ended it.
    pub signal: Option<String>,
}

/// A program in a pseudo-terminal; dropping it kills the program's process group.
pub struct Terminal {
    pid: Pid,
    master: Box<dyn MasterPty + Send>,
    writer: Arc<Mutex<Box<dyn Write + Send>>>,
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    parser: Parser<Queries>,
    wrapping: Wrapping,
    /// Bytes of output so far.
    received: u64,
    exit: Option<Exit>,
    /// The program and everything it started have closed the terminal.
    closed: bool,
}

impl Terminal {
    /// Starts `command` in a terminal of this size. Input set on the command is not used.
    pub fn spawn(command: &HermeticCommand, cols: u16, rows: u16) -> anyhow::Result<Self> {
        let (columns, lines) = dimensions(cols, rows)?;
        let pair = native_pty_system()
            .openpty(size(cols, rows))
            .context("could not open a pseudo-terminal")?;
        let child = pair
            .slave
            .spawn_command(command.for_terminal())
            .with_context(|| format!("could not start {}", command.program.display()))?;
        // Only the child may hold the slave side: its end must be the end of the output.
        drop(pair.slave);
        let pid = child.process_id().context("the child has no process id")?;
        let pid = Pid::from_raw(i32::try_from(pid)?);
        let queries = Queries::default();
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                parser: Parser::new_with_callbacks(lines, columns, SCROLLBACK_ROWS, queries),
                wrapping: Wrapping::default(),
                received: 0,
                exit: None,
                closed: false,
            }),
            changed: Condvar::new(),
        });
        let writer = Arc::new(Mutex::new(pair.master.take_writer()?));
        let reader = pair.master.try_clone_reader()?;
        thread::spawn({
            let (shared, writer) = (Arc::clone(&shared), Arc::clone(&writer));
            move || shared.follow(reader, &writer)
        });
        thread::spawn({
            let shared = Arc::clone(&shared);
            move || shared.await_exit(pid, child)
        });
        Ok(Self {
            pid,
            master: pair.master,
            writer,
            shared,
        })
    }

    /// Process id, which is also the session and the process group.
    pub fn pid(&self) -> i32 {
        self.pid.as_raw()
    }

    /// Types text as it is.
    pub fn send(&self, keys: &str) -> anyhow::Result<()> {
        let mut writer = locked(&self.writer);
        writer
            .write_all(keys.as_bytes())
            .and_then(|()| writer.flush())
            .context("could not write to the terminal")
    }

    /// Presses a key, encoded for the mode the program has set.
    pub fn send_key(&self, key: Key) -> anyhow::Result<()> {
        let application_cursor = self.shared.locked().parser.screen().application_cursor();
        self.send(&key.encode(application_cursor))
    }

    /// Pastes text: bracketed when the program has asked for it, as a real terminal does.
    pub fn paste(&self, text: &str) -> anyhow::Result<()> {
        let bracketed = self.shared.locked().parser.screen().bracketed_paste();
        if bracketed {
            self.send(&format!("\x1b[200~{text}\x1b[201~"))
        } else {
            self.send(text)
        }
    }

    /// Changes the size of the window.
    pub fn resize(&self, cols: u16, rows: u16) -> anyhow::Result<()> {
        let (columns, lines) = dimensions(cols, rows)?;
        self.shared.locked().parser.set_size(lines, columns);
        self.master
            .resize(size(cols, rows))
            .context("could not resize the terminal")
    }

    /// What the screen shows now; what is drawn as a whole is waited for, as nobody sees half of it.
    pub fn screen(&self) -> Screen {
        Screen::of(self.shared.whole().parser.screen())
    }

    /// Everything there is to read, from the first line that scrolled away to the last one on the screen.
    pub fn everything(&self) -> Vec<String> {
        let mut state = self.shared.whole();
        let screen = state.parser.screen_mut();
        let columns = screen.size().1.get();
        screen.set_scrollback(usize::MAX);
        let mut lines = Vec::new();
        for behind in (1..=screen.scrollback()).rev() {
            screen.set_scrollback(behind);
            lines.extend(screen.rows(0, columns).next());
        }
        screen.set_scrollback(0);
        lines.extend(screen.rows(0, columns));
        lines
            .iter()
            .map(|line| line.trim_end().to_owned())
            .collect()
    }

    /// How often the bell rang.
    pub fn bells(&self) -> u32 {
        self.shared.locked().parser.callbacks().bells
    }

    /// What the desktop was to be told.
    pub fn notifications(&self) -> Vec<String> {
        self.shared
            .locked()
            .parser
            .callbacks()
            .notifications
            .clone()
    }

    /// How often the program asked what its text stands on.
    pub fn ground_queries(&self) -> u32 {
        self.shared.locked().parser.callbacks().ground_queries
    }

    /// What the program called the window.
    pub fn title(&self) -> String {
        self.shared.locked().parser.callbacks().title.clone()
    }

    /// What the program put on the clipboard, in base64.
    pub fn copied(&self) -> Vec<String> {
        self.shared.locked().parser.callbacks().copied.clone()
    }

    /// How many pictures the program has drawn as a whole, between the marks of synchronized output.
    pub fn pictures(&self) -> u32 {
        self.shared.locked().parser.callbacks().pictures
    }

    /// How much the program has written so far, in bytes.
    pub fn received(&self) -> u64 {
        self.shared.locked().received
    }

    /// Waits until the screen satisfies `wanted`; the error shows the last screen.
    pub fn wait_for(
        &self,
        wanted: impl FnMut(&Screen) -> bool,
        timeout: Duration,
    ) -> anyhow::Result<Screen> {
        self.wait_past(None, wanted, timeout)
    }

    /// The same, for a screen that was drawn after `seen` bytes had come; without a number any will do.
    pub fn wait_past(
        &self,
        seen: Option<u64>,
        mut wanted: impl FnMut(&Screen) -> bool,
        timeout: Duration,
    ) -> anyhow::Result<Screen> {
        let deadline = Instant::now() + timeout;
        let mut state = self.shared.whole();
        loop {
            let screen = Screen::of(state.parser.screen());
            let fresh = seen.is_none_or(|seen| state.received > seen);
            if fresh && wanted(&screen) {
                return Ok(screen);
            }
            if state.closed {
                bail!(
                    "the program ended first ({:?}); last screen:\n{screen}",
                    state.exit
                );
            }
            let Some(left) = deadline.checked_duration_since(Instant::now()) else {
                bail!("not on screen within {timeout:?}; last screen:\n{screen}");
            };
            state = self.shared.wait(state, left);
            state = self.shared.until_whole(state);
        }
    }

    /// Waits until the screen contains `text`.
    pub fn wait_for_text(&self, text: &str, timeout: Duration) -> anyhow::Result<Screen> {
        self.wait_for(|screen| screen.contains(text), timeout)
            .with_context(|| format!("waited for {text:?}"))
    }

    /// Waits for the program to end and for what it said last; the error shows the last screen.
    pub fn wait_exit(&self, timeout: Duration) -> anyhow::Result<Exit> {
        let deadline = Instant::now() + timeout;
        let mut ended_at = None;
        let mut state = self.shared.locked();
        loop {
            if let Some(exit) = &state.exit {
                let since = ended_at.get_or_insert_with(Instant::now).elapsed();
                match LAST_WORDS.checked_sub(since) {
                    Some(left) if !state.closed => {
                        state = self.shared.wait(state, left);
                        continue;
                    }
                    _ => return Ok(exit.clone()),
                }
            }
            let Some(left) = deadline.checked_duration_since(Instant::now()) else {
                let screen = Screen::of(state.parser.screen());
                bail!("still running after {timeout:?}; last screen:\n{screen}");
            };
            state = self.shared.wait(state, left);
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let state = self.shared.locked();
        if state.exit.is_none() {
            // Under the lock the child is not reaped, so the id is still its own.
            match killpg(self.pid, Signal::SIGKILL) {
                Ok(()) | Err(Errno::ESRCH | Errno::EPERM) => {}
                Err(_) => return,
            }
        }
        drop(state);
        // Nobody is left to tell; the test has its result already.
        let _ = self.wait_exit(KILL_LIMIT);
    }
}

impl Shared {
    fn follow(&self, mut reader: impl Read, writer: &Mutex<Box<dyn Write + Send>>) {
        let mut buffer = [0_u8; 16 * 1024];
        // Linux reports the end of a terminal as an input/output error.
        while let Ok(length @ 1..) = reader.read(&mut buffer) {
            let mut state = self.locked();
            state.received += length as u64;
            let State {
                parser, wrapping, ..
            } = &mut *state;
            wrapping.process(buffer.get(..length).unwrap_or_default(), parser);
            let answers = state.parser.callbacks_mut().take_answers();
            drop(state);
            self.changed.notify_all();
            if !answers.is_empty() {
                // A program that is gone needs no answer.
                let _ = locked(writer).write_all(&answers);
            }
        }
        self.locked().closed = true;
        self.changed.notify_all();
    }

    fn await_exit(&self, pid: Pid, mut child: Box<dyn Child + Send + Sync>) {
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
        while waitid(Id::Pid(pid), flags) == Err(Errno::EINTR) {}
        let mut state = self.locked();
        state.exit = Some(match child.wait() {
            Ok(status) => Exit {
                code: status.exit_code(),
                signal: status.signal().map(str::to_owned),
            },
            Err(error) => Exit {
                code: 1,
                signal: Some(format!("unknown: {error}")),
            },
        });
        drop(state);
        self.changed.notify_all();
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    /// The state between two pictures.
    fn whole(&self) -> MutexGuard<'_, State> {
        self.until_whole(self.locked())
    }

    fn until_whole<'a>(&self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let deadline = Instant::now() + PICTURE_LIMIT;
        while state.parser.callbacks().drawing && !state.closed {
            let Some(left) = deadline.checked_duration_since(Instant::now()) else {
                break;
            };
            state = self.wait(state, left);
        }
        state
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>, limit: Duration) -> MutexGuard<'a, State> {
        match self.changed.wait_timeout(state, limit) {
            Ok((state, _)) => state,
            Err(poisoned) => poisoned.into_inner().0,
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn size(cols: u16, rows: u16) -> PtySize {
    PtySize {
        rows,
        cols,
        pixel_width: 0,
        pixel_height: 0,
    }
}

fn dimensions(cols: u16, rows: u16) -> anyhow::Result<(NonZeroU16, NonZeroU16)> {
    let columns = NonZeroU16::new(cols).context("a terminal needs at least one column")?;
    let lines = NonZeroU16::new(rows).context("a terminal needs at least one row")?;
    Ok((columns, lines))
}
