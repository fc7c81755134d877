//! What calls ask of a supervisor.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::Supervisor;
use crate::State;
use crate::breaker::{CallNumber, Gate};
use crate::session::Session;
use crate::state::Event;

/// A request of a call or of a person.
pub(crate) enum Command {
    /// May this call be made?
    Begin(CallNumber, oneshot::Sender<Begin>),
    /// How this call ended, on the session of this generation if it got one.
    Report {
        call: CallNumber,
        session: Option<u64>,
        verdict: Verdict,
    },
    /// A call found no session and waits for one.
    Wake,
    /// The session of this generation does not work any more. Answers whether a newer one is there or on
    /// its way.
    Replace {
        failed: u64,
        cause: Cause,
        reply: oneshot::Sender<bool>,
    },
    /// A new session failed with this text like the one before: it does not help against it.
    Useless(String),
    /// A call of this generation got no answer: look whether the session works.
    Doubt(u64),
    /// A person asks for the server.
    Urge,
}

/// Whether a call may be made.
pub(crate) enum Begin {
    Go(Arc<Session>),
    /// The breaker is open.
    Open {
        failures: u32,
        wait: Duration,
    },
    /// There is no session.
    Absent {
        state: State,
        /// Failed attempts to connect so far.
        failed_attempts: u64,
    },
}

/// What a call says about the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It answered.
    Answered,
    /// It failed.
    Strike,
    /// Nothing: the call was stopped.
    Nothing,
}

/// Why a call asks for another session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The server said this, in short.
    Said(String),
    /// There is another token.
    Token,
}

impl Supervisor {
    pub(super) fn obey(&mut self, command: Command) {
        if !self.state.is_alive() {
            return;
        }
        let now = Instant::now();
        match command {
            Command::Begin(call, reply) => {
                let answer = self.admit(call, now);
                if reply.send(answer).is_err() {
                    // The caller went away in this moment, and may have been the one to probe.
                    self.breaker.give_back(call);
                }
            }
            Command::Report {
                call,
                session,
                verdict,
            } => self.judge(call, session, verdict, now),
            Command::Wake => {
                if matches!(
                    self.state,
                    State::Connecting { failures: 0 }
                        | State::Recycled
                        | State::Parked
                        | State::NeedsAuth
                ) {
                    self.apply(Event::Wanted);
                }
            }
            Command::Replace {
                failed,
                cause,
                reply,
            } => {
                let accepted = self.replace(failed, cause, now);
                // Whoever does not wait any more needs no answer.
                let _ = reply.send(accepted);
            }
            Command::Useless(text) => self.ration.forbid(text, now),
            Command::Doubt(generation) => self.doubt(generation),
            Command::Urge => self.apply(Event::Urged),
        }
    }

    fn admit(&mut self, call: CallNumber, now: Instant) -> Begin {
        if let Gate::Open { wait } = self.breaker.admit(call, now) {
            return Begin::Open {
                failures: self.breaker.failures(),
                wait,
            };
        }
        match &mut self.live {
            Some(live) if self.state == State::Ready => {
                live.used(now);
                Begin::Go(Arc::clone(&live.session))
            }
            Some(_) | None => Begin::Absent {
                state: self.state,
                failed_attempts: self.failed_attempts,
            },
        }
    }

    fn judge(&mut self, call: CallNumber, session: Option<u64>, verdict: Verdict, now: Instant) {
        let before = self.breaker.failures();
        // A session that began since has proved the server well; what hung on an older one says nothing of it.
        let outdated = session.is_some_and(|session| session < self.generation);
        match verdict {
            Verdict::Answered => {
                self.breaker.reset();
                self.lifeless = 0;
            }
            Verdict::Strike if !outdated => self.breaker.strike(call, now),
            Verdict::Strike | Verdict::Nothing => self.breaker.give_back(call),
        }
        if let Some(live) = &mut self.live {
            live.used(now);
        }
        if self.breaker.failures() != before {
            self.publish();
        }
    }

    /// Calls of one generation that fail together share one new session.
    fn replace(&mut self, failed: u64, cause: Cause, now: Instant) -> bool {
        let newer = self.generation > failed && self.state == State::Ready;
        if newer || self.state.is_on_its_way() {
            return true;
        }
        if !self.ration.take(&cause, now) {
            return false;
        }
        self.apply(Event::Wanted);
        true
    }
}
