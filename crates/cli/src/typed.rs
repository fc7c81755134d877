//! What somebody types.

use std::collections::VecDeque;
use std::io::BufRead;

use tokio::sync::mpsc;

/// Lines that may wait to be read.
const QUEUE: usize = 16;

/// The lines of a conversation. What was typed before a question was asked is no answer to it.
pub(crate) struct Typed {
    lines: mpsc::Receiver<String>,
    /// Typed while a question was on its way.
    ahead: VecDeque<String>,
}

impl Typed {
    pub(crate) fn new() -> Self {
        Self {
            lines: lines(),
            ahead: VecDeque::new(),
        }
    }

    /// The next line; `None` when nobody types any more.
    pub(crate) async fn next(&mut self) -> Option<String> {
        match self.ahead.pop_front() {
            Some(line) => Some(line),
            None => self.lines.recv().await,
        }
    }

    /// The next line that is typed from now on. Earlier ones are kept for `next`.
    pub(crate) async fn fresh(&mut self) -> Option<String> {
        while let Ok(line) = self.lines.try_recv() {
            self.ahead.push_back(line);
        }
        self.lines.recv().await
    }
}

/// Lines from the terminal, read on a thread of their own: reading cannot be interrupted.
pub(crate) fn lines() -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel(QUEUE);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    receiver
}
