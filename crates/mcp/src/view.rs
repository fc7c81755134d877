//! What a supervisor lets everybody see.

use std::sync::Arc;

use jiff::Timestamp;

use crate::{Catalog, Restated, State};

/// A server at one moment.
#[derive(Debug, Clone)]
pub struct View {
    /// What it is doing.
    pub state: State,
    /// Grows with every new session; 0 before the first.
    pub generation: u64,
    /// What it offers; empty while it is given up.
    pub catalog: Arc<Catalog>,
    /// Which of its tools describe themselves differently than before; nothing until that was looked at.
    pub restated: Option<Arc<Restated>>,
    /// What went wrong last, until the next session; for people, with what the server said in quotes.
    pub last_error: Option<String>,
    /// The same for the model, in our own words only.
    pub last_failure: Option<String>,
    /// When it is tried again, if that is known.
    pub next_try: Option<Timestamp>,
    /// Failed attempts to connect since the start.
    pub failed_attempts: u64,
    /// Failed calls in a row.
    pub failures: u32,
    /// The id of its program.
    pub pid: Option<u32>,
    /// The server's own name and version.
    pub server_info: Option<String>,
}

impl View {
    pub(crate) fn new() -> Self {
        Self {
            state: State::Connecting { failures: 0 },
            generation: 0,
            catalog: Arc::default(),
            restated: None,
            last_error: None,
            last_failure: None,
            next_try: None,
            failed_attempts: 0,
            failures: 0,
            pid: None,
            server_info: None,
        }
    }

    /// Whether calls are answered.
    pub fn is_ready(&self) -> bool {
        self.state == State::Ready
    }

    /// Whether the first attempts are over, whichever way.
    pub fn is_settled(&self) -> bool {
        !matches!(self.state, State::Connecting { .. })
    }
}
