//! What a supervisor waits for.

use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::attempt::Done;
use super::{Command, Live, Supervisor};
use crate::keepalive::Pulse;
use crate::{Catalog, Failure, Restated, State};

/// Something that happened.
pub(super) enum Happening {
    Command(Command),
    Note(Note),
    /// The work that was under way is over.
    Done(Done),
    /// The session ended by itself.
    Ended(String),
    /// It is time to look after the session.
    Upkeep,
    /// The server said that its tools are others now.
    ToolsChanged,
    /// The timer of the state rang.
    Due,
    /// Somebody logged in.
    CredentialsChanged,
    Shutdown,
}

/// The outcome of a task of the supervisor, for the session of a generation.
pub(super) enum Note {
    Pulse(u64, Pulse),
    Tools(u64, Result<Catalog, Failure>),
    /// What the server offered the last time Hermes ran.
    Recalled(Catalog),
    /// Tools that describe themselves differently than before.
    Reviewed(u64, Restated),
}

impl Supervisor {
    /// Waits for the next thing to happen. A shutdown comes before everything else.
    pub(super) async fn next(&mut self) -> Happening {
        let Self {
            commands,
            notes,
            work,
            live,
            timer,
            shared,
            state,
            shutdown,
            ..
        } = self;
        let wants_login = *state == State::NeedsAuth;
        let next_look = live.as_ref().map(Live::next_look);
        tokio::select! {
            biased;
            () = shutdown.cancelled(), if state.is_alive() => Happening::Shutdown,
            Some(done) = finished(work) => Happening::Done(done),
            why = ended(live) => Happening::Ended(why),
            happening = asked(commands, *state) => happening,
            Some(note) = notes.1.recv() => Happening::Note(note),
            () = shared.ears.tools_changed.notified(), if next_look.is_some() => Happening::ToolsChanged,
            () = at(next_look) => Happening::Upkeep,
            () = at(*timer) => Happening::Due,
            () = shared.route.credentials_changed(), if wants_login => Happening::CredentialsChanged,
        }
    }
}

/// The next command, also at the end: whoever waits for a reply must not wait for the rest of it.
async fn asked(commands: &mut mpsc::Receiver<Command>, state: State) -> Happening {
    match commands.recv().await {
        Some(command) => Happening::Command(command),
        // Nobody can ask for anything any more.
        None if state.is_alive() => Happening::Shutdown,
        None => std::future::pending().await,
    }
}

async fn at(when: Option<Instant>) {
    match when {
        Some(when) => sleep_until(when).await,
        None => std::future::pending().await,
    }
}

/// The outcome of the work; forgets it.
async fn finished(work: &mut Option<tokio::task::JoinHandle<Done>>) -> Option<Done> {
    let Some(running) = work else {
        return std::future::pending().await;
    };
    let done = running.await;
    *work = None;
    Some(done.unwrap_or_else(|error| {
        Done::Failed(Failure::Protocol {
            text: format!("connecting broke off: {error}"),
        })
    }))
}

async fn ended(live: &mut Option<Live>) -> String {
    match live {
        Some(live) => (&mut live.ended).await,
        None => std::future::pending().await,
    }
}
