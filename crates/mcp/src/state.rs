//! What a server is doing, and every way from one state to another.
//!
//! [`step`] is pure: it is told the state and what happened and answers the next state and what is to be
//! done. The supervisor does it. Nothing else decides about the life of a server.

use std::time::Duration;

use crate::RecoveryPolicy;

/// What a server is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Being connected for the first time; `failures` attempts have failed.
    Connecting {
        /// Failed attempts so far.
        failures: u32,
    },
    /// Connected.
    Ready,
    /// Being connected again; it failed `failures` times in a row.
    Reconnecting {
        /// Failures in a row.
        failures: u32,
    },
    /// Its program was closed because nobody used it; the next call starts it.
    Recycled,
    /// Given up for now: tried once in a while, and whenever somebody asks.
    Parked,
    /// Waits for a login; otherwise like parked.
    NeedsAuth,
    /// Being ended.
    Stopping,
    /// Ended.
    Stopped,
}

/// Why an attempt to connect failed, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setback {
    /// It may work the next time.
    Passing,
    /// It will not work before something is changed, such as the address. Believed of a server that never
    /// was up.
    Lasting,
    /// The server wants to know who we are.
    Auth,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// A session is there.
    Connected,
    /// An attempt failed.
    Failed(Setback),
    /// The session ended by itself: the program ended or the stream broke.
    Lost {
        /// How many in a row, this one included, ended soon after they began.
        brief: u32,
    },
    /// A new session is wanted: calls found theirs expired, a sign of life failed, a probe found none.
    Wanted,
    /// A person or a changed token asks: no waiting.
    Urged,
    /// Nobody used the program for long, or it is old.
    Unused,
    /// The timer of the present state rang.
    Due,
    /// The end is asked for.
    Shutdown,
    /// Everything is closed.
    Closed,
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// End the session, if there is one; before anything else is started.
    Close,
    /// Connect after a wait.
    Connect {
        /// The wait.
        after: Duration,
    },
    /// Cut the wait before the next attempt short.
    Hurry,
    /// Offer no tools.
    Withdraw,
    /// Forget failures of calls.
    ResetBreaker,
    /// Ring after this time.
    Timer {
        /// The time.
        after: Duration,
    },
}

/// Where an event leads from a state.
pub(crate) fn step(state: State, event: Event, policy: &RecoveryPolicy) -> (State, Vec<Effect>) {
    use {Event as E, State as S};
    match (state, event) {
        (S::Stopped, _) => (S::Stopped, Vec::new()),
        (S::Stopping, E::Closed) => (S::Stopped, Vec::new()),
        (S::Stopping, _) => (S::Stopping, Vec::new()),
        (_, E::Shutdown) => (S::Stopping, vec![Effect::Withdraw, Effect::Close]),

        (S::Connecting { .. } | S::Reconnecting { .. }, E::Connected) => {
            (S::Ready, vec![Effect::ResetBreaker])
        }
        // A session nobody waits for any more, such as after a race with a park: take it.
        (S::Recycled | S::Parked | S::NeedsAuth, E::Connected) => {
            (S::Ready, vec![Effect::ResetBreaker])
        }
        (S::Ready, E::Connected) => (S::Ready, Vec::new()),

        (S::Connecting { failures }, E::Failed(setback)) => failed(
            setback,
            failures,
            policy.first_connect_retries,
            |failures| S::Connecting { failures },
            policy,
        ),
        // It worked with the same settings before, so whatever it is may pass: a proxy's page, say.
        (S::Reconnecting { failures }, E::Failed(setback)) => failed(
            match setback {
                Setback::Lasting => Setback::Passing,
                Setback::Passing | Setback::Auth => setback,
            },
            failures,
            policy.reconnect_retries,
            |failures| S::Reconnecting { failures },
            policy,
        ),
        (S::Recycled | S::Parked | S::NeedsAuth | S::Ready, E::Failed(_)) => (state, Vec::new()),

        (S::Ready, E::Wanted | E::Urged) => reconnect(0, policy.backoff(0)),
        // The budget is whole again after every session, but a program that keeps dying is started less and
        // less often.
        (S::Ready, E::Lost { brief }) => reconnect(1, policy.backoff(brief.max(1))),
        (S::Ready, E::Unused) => (S::Recycled, vec![Effect::Close]),
        (S::Ready, E::Due | E::Closed) => (S::Ready, Vec::new()),

        (S::Recycled, E::Wanted | E::Urged) => reconnect(0, policy.backoff(0)),
        (S::Recycled, E::Lost { .. } | E::Unused | E::Due | E::Closed) => (S::Recycled, Vec::new()),

        // One attempt: the budget is spent already.
        (S::Parked | S::NeedsAuth, E::Wanted | E::Urged | E::Due) => (
            S::Reconnecting {
                failures: policy.reconnect_retries,
            },
            vec![Effect::Connect {
                after: Duration::ZERO,
            }],
        ),
        (S::Parked | S::NeedsAuth, E::Lost { .. } | E::Unused | E::Closed) => (state, Vec::new()),

        (S::Connecting { .. } | S::Reconnecting { .. }, E::Urged) => (state, vec![Effect::Hurry]),
        // Nothing has failed yet: if it waits, then only to let the first question go ahead.
        (S::Connecting { failures: 0 }, E::Wanted) => (state, vec![Effect::Hurry]),
        (
            S::Connecting { .. } | S::Reconnecting { .. },
            E::Wanted | E::Lost { .. } | E::Unused | E::Due | E::Closed,
        ) => (state, Vec::new()),
    }
}

fn reconnect(failures: u32, after: Duration) -> (State, Vec<Effect>) {
    (
        State::Reconnecting { failures },
        vec![Effect::Close, Effect::Connect { after }],
    )
}

fn failed(
    setback: Setback,
    failures: u32,
    budget: u32,
    again: impl FnOnce(u32) -> State,
    policy: &RecoveryPolicy,
) -> (State, Vec<Effect>) {
    let timer = Effect::Timer {
        after: policy.parked_probe,
    };
    let failures = failures.saturating_add(1);
    match setback {
        Setback::Auth => (State::NeedsAuth, vec![Effect::Withdraw, timer]),
        Setback::Passing if failures <= budget => (
            again(failures),
            vec![Effect::Connect {
                after: policy.backoff(failures),
            }],
        ),
        Setback::Passing | Setback::Lasting => (State::Parked, vec![Effect::Withdraw, timer]),
    }
}

impl State {
    /// Whether the server can still come back.
    pub fn is_alive(self) -> bool {
        !matches!(self, Self::Stopping | Self::Stopped)
    }

    /// Whether a session is on its way.
    pub(crate) fn is_on_its_way(self) -> bool {
        matches!(self, Self::Connecting { .. } | Self::Reconnecting { .. })
    }
}

#[cfg(test)]
mod tests;
