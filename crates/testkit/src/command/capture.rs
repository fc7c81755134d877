//! What a program prints, readable while it runs.

use std::io::{self, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

/// A program that prints more is cut off; its pipe is closed.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// The bytes of one output stream, filled by a thread of its own.
#[derive(Debug, Clone)]
pub(super) struct Capture(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    bytes: Vec<u8>,
    /// Where the next unread line begins.
    line_start: usize,
    closed: bool,
    overflowed: bool,
}

/// What waiting for a line came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Text(String),
    Closed,
    TimedOut,
}

impl Capture {
    pub(super) fn of(source: impl Read + Send + 'static) -> Self {
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let filled = Arc::clone(&shared);
        thread::spawn(move || filled.fill(source));
        Self(shared)
    }

    /// Waits for the next line nobody has read yet; the last one need not end in a newline.
    pub(super) fn next_line(&self, deadline: Instant) -> Line {
        let mut state = self.0.locked();
        loop {
            let unread = state.bytes.get(state.line_start..).unwrap_or_default();
            let newline = unread.iter().position(|byte| *byte == b'\n');
            let length = newline.unwrap_or(unread.len());
            if newline.is_some() || (state.closed && length > 0) {
                let line = unread.get(..length).unwrap_or_default();
                let text = String::from_utf8_lossy(line).into_owned();
                state.line_start += length + usize::from(newline.is_some());
                return Line::Text(text);
            }
            if state.closed {
                return Line::Closed;
            }
            let Some(left) = deadline.checked_duration_since(Instant::now()) else {
                return Line::TimedOut;
            };
            state = match self.0.changed.wait_timeout(state, left) {
                Ok((state, _)) => state,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
    }

    /// Waits until the stream is closed; false when it still is open at the deadline.
    pub(super) fn wait_closed(&self, deadline: Instant) -> bool {
        let state = self.0.locked();
        let left = deadline.saturating_duration_since(Instant::now());
        let waited = self
            .0
            .changed
            .wait_timeout_while(state, left, |state| !state.closed);
        match waited {
            Ok((state, _)) => state.closed,
            Err(poisoned) => poisoned.into_inner().0.closed,
        }
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.locked().bytes).into_owned()
    }

    pub(super) fn overflowed(&self) -> bool {
        self.0.locked().overflowed
    }
}

impl Shared {
    fn fill(&self, mut source: impl Read) {
        let mut buffer = vec![0_u8; 64 * 1024];
        loop {
            let read = match source.read(&mut buffer) {
                Ok(0) => break,
                Ok(length) => buffer.get(..length).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            let mut state = self.locked();
            if state.bytes.len() + read.len() > MAX_BYTES {
                state.overflowed = true;
                break;
            }
            state.bytes.extend_from_slice(read);
            drop(state);
            self.changed.notify_all();
        }
        self.locked().closed = true;
        self.changed.notify_all();
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
