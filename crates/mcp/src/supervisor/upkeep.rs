//! Looking after a session: signs of life, closing programs nobody uses, and the list of tools.

use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::attempt::Old;
use super::happening::Note;
use super::{Cause, Shared, Supervisor};
use crate::keepalive::{Pulse, Sign, interval, probe};
use crate::memory::Recollection;
use crate::scan::review;
use crate::session::{Patience, Session};
use crate::state::Event;
use crate::transport::Connection;
use crate::{Catalog, Failure, RecoveryPolicy, RemoteTool, Restated, discover};

/// How soon a program that is due to be closed is looked at again while a call runs.
const LATER: Duration = Duration::from_millis(250);

/// A session in use.
pub(super) struct Live {
    pub(super) connection: Connection,
    pub(super) session: Arc<Session>,
    pub(super) ended: BoxFuture<'static, String>,
    begun: Instant,
    last_used: Instant,
    sign: Sign,
    /// When a sign of life is asked for.
    check_at: Instant,
    /// When it is looked whether the program is still needed.
    recycle_at: Option<Instant>,
    probing: Option<Asked>,
    refresh: Refresh,
    /// When the tools were last read again, and the wait before that is done once more.
    reread: Option<Instant>,
    pause: Duration,
}

/// Who wants to know whether the session works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// We, after a silence.
    Ourselves,
    /// A call that got no answer; the new sessions that calls may cause are counted.
    ACall,
}

/// Whether the tools are being read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refresh {
    No,
    /// Not before this time.
    Due(Instant),
    Running,
    /// The server changed them again meanwhile.
    Again,
}

impl Live {
    pub(super) fn new(
        connection: Connection,
        generation: u64,
        shared: &Shared,
        lifeless: u32,
    ) -> Self {
        let now = Instant::now();
        let mut live = Self {
            session: Arc::new(Session::of(&connection, generation, shared)),
            ended: connection.ended(),
            connection,
            begun: now,
            last_used: now,
            sign: Sign::default(),
            check_at: now + interval(&shared.policy, lifeless),
            recycle_at: None,
            probing: None,
            refresh: Refresh::No,
            reread: None,
            pause: shared.policy.refresh_pause,
        };
        live.recycle_at = live.unneeded_at(shared);
        live
    }

    /// The session is not offered to calls any more; those that use it go on.
    pub(super) fn retire(self) -> Old {
        Old {
            users: Arc::downgrade(&self.session),
            connection: self.connection,
        }
    }

    pub(super) fn used(&mut self, now: Instant) {
        self.last_used = now;
    }

    pub(super) fn next_look(&self) -> Instant {
        let refresh = match self.refresh {
            Refresh::Due(at) => Some(at),
            Refresh::No | Refresh::Running | Refresh::Again => None,
        };
        let others = [self.recycle_at, refresh].into_iter().flatten();
        others.fold(self.check_at, Instant::min)
    }

    /// Whether the session has lasted so long.
    pub(super) fn lasted(&self, time: Duration) -> bool {
        self.begun.elapsed() >= time
    }

    /// When the tools, which have changed, may be read again. A server that always has news is asked less and
    /// less often.
    fn reread_at(&mut self, now: Instant, policy: &RecoveryPolicy) -> Instant {
        match self.reread.map(|last| last + self.pause) {
            Some(at) if at > now => {
                self.pause = self.pause.saturating_mul(2).min(policy.backoff_cap);
                at
            }
            Some(_) | None => {
                self.pause = policy.refresh_pause;
                now
            }
        }
    }

    /// Whether somebody besides the supervisor uses the session.
    fn is_busy(&self) -> bool {
        Arc::strong_count(&self.session) > 1
    }

    fn unneeded_at(&self, shared: &Shared) -> Option<Instant> {
        let idle = shared
            .server
            .idle_limit()
            .map(|limit| self.last_used + limit);
        let old = shared.server.life_limit().map(|limit| self.begun + limit);
        match (idle, old) {
            (Some(idle), Some(old)) => Some(idle.min(old)),
            (one, other) => one.or(other),
        }
    }
}

impl Supervisor {
    pub(super) fn look_after(&mut self) {
        let now = Instant::now();
        let Some(live) = &mut self.live else {
            return;
        };
        if live.recycle_at.is_some_and(|at| at <= now) {
            let unneeded = live.unneeded_at(&self.shared).is_some_and(|at| at <= now);
            if unneeded && !live.is_busy() {
                self.apply(Event::Unused);
                return;
            }
            let later = now + LATER;
            live.recycle_at = live.unneeded_at(&self.shared).map(|at| at.max(later));
        }
        if matches!(live.refresh, Refresh::Due(at) if at <= now) {
            self.read_tools();
        }
        let Some(live) = &mut self.live else {
            return;
        };
        if live.check_at <= now {
            live.check_at = now + interval(&self.shared.policy, self.lifeless);
            // Traffic is a sign of life, and a call in flight will tell.
            if !live.is_busy() && !live.connection.marks.was_heard() {
                self.check(Asked::Ourselves);
            }
        }
    }

    /// A call got no answer.
    pub(super) fn doubt(&mut self, generation: u64) {
        if self.generation == generation {
            self.check(Asked::ACall);
        }
    }

    fn check(&mut self, asked: Asked) {
        let Some(live) = self.live.as_mut().filter(|live| live.probing.is_none()) else {
            return;
        };
        live.probing = Some(asked);
        let (sign, generation) = (live.sign, live.session.generation);
        // One of its own, so that the supervisor does not take it for a call.
        let session = Session::of(&live.connection, generation, &self.shared);
        let (shared, notes) = (Arc::clone(&self.shared), self.notes.0.clone());
        self.shared.tasks.spawn(async move {
            let pulse = probe(&session, sign, &shared.policy).await;
            // The supervisor has ended: nobody wants to know.
            let _ = notes.send(Note::Pulse(generation, pulse)).await;
        });
    }

    /// The tools have changed: reads them again, and once more afterwards if they change meanwhile.
    pub(super) fn refresh(&mut self) {
        let Some(live) = &mut self.live else {
            return;
        };
        let now = Instant::now();
        match live.refresh {
            Refresh::Due(_) => {}
            Refresh::Running | Refresh::Again => live.refresh = Refresh::Again,
            Refresh::No => match live.reread_at(now, &self.shared.policy) {
                at if at > now => live.refresh = Refresh::Due(at),
                _ => self.read_tools(),
            },
        }
    }

    fn read_tools(&mut self) {
        let Some(live) = &mut self.live else {
            return;
        };
        live.refresh = Refresh::Running;
        let generation = live.session.generation;
        let session = Session::of(&live.connection, generation, &self.shared);
        let (shared, notes) = (Arc::clone(&self.shared), self.notes.0.clone());
        let mut catalog = self.catalog.as_ref().clone();
        self.shared.tasks.spawn(async move {
            let patience = Patience::of(shared.policy.connect_timeout);
            let (server, policy) = (&shared.server, &shared.policy);
            let read = discover::tools(&session, server, &mut catalog, &patience, policy).await;
            let _ = notes
                .send(Note::Tools(generation, read.map(|()| catalog)))
                .await;
        });
    }

    /// Looks up what the server offered before, so that its tools are there while it is being connected.
    /// Answers whether it offered anything.
    pub(super) fn recall(&self, remembered: Recollection) -> JoinHandle<bool> {
        let (shared, notes) = (Arc::clone(&self.shared), self.notes.0.clone());
        self.shared.tasks.spawn(async move {
            let Some(catalog) = remembered.of(shared.server.name()).await else {
                return false;
            };
            let offers = catalog.offers_anything();
            let _ = notes.send(Note::Recalled(catalog)).await;
            offers
        })
    }

    /// Looks at what the tools say about themselves and remembers it.
    pub(super) fn remember(&self) {
        let (shared, catalog) = (Arc::clone(&self.shared), Arc::clone(&self.catalog));
        let (generation, notes) = (self.generation, self.notes.0.clone());
        self.shared.tasks.spawn(async move {
            let restated = match &shared.memory {
                Some(memory) => memory.note(&shared.server, &catalog).await,
                None => {
                    let reviewed = review(shared.server.name(), &catalog, None).await;
                    reviewed.unwrap_or_else(|error| {
                        tracing::debug!(%error, "the tools of a server were not looked at");
                        Restated::default()
                    })
                }
            };
            let _ = notes.send(Note::Reviewed(generation, restated)).await;
        });
    }

    pub(super) fn hear(&mut self, note: Note) {
        match note {
            Note::Pulse(generation, pulse) if generation == self.generation => self.felt(pulse),
            Note::Tools(generation, tools) if generation == self.generation => self.reread(tools),
            Note::Reviewed(generation, restated) if generation == self.generation => {
                self.restated = Some(Arc::new(restated));
                self.publish();
            }
            // Of a session that is gone.
            Note::Pulse(..) | Note::Tools(..) | Note::Reviewed(..) => {}
            Note::Recalled(catalog) => {
                if self.generation == 0 && self.state.is_on_its_way() {
                    self.catalog = Arc::new(catalog);
                    self.publish();
                }
            }
        }
    }

    fn felt(&mut self, pulse: Pulse) {
        let Some(live) = &mut self.live else {
            return;
        };
        let asked = live.probing.take();
        match pulse {
            Pulse::Alive(sign) => {
                live.sign = sign;
                self.lifeless = 0;
            }
            Pulse::Dead(failure) => {
                let kind = failure.kind();
                let server = self.shared.server.name();
                tracing::warn!(server, kind, %failure, "MCP server shows no sign of life");
                if asked == Some(Asked::ACall) {
                    let cause = Cause::Said(failure.gist());
                    if !self.ration.take(&cause, Instant::now()) {
                        tracing::warn!(server, "calls have caused enough new sessions for now");
                        return;
                    }
                }
                self.blame(&failure);
                self.lifeless = self.lifeless.saturating_add(1);
                self.apply(Event::Wanted);
            }
        }
    }

    fn reread(&mut self, read: Result<Catalog, Failure>) {
        let server = self.shared.server.name().to_owned();
        let again = self.live.as_mut().is_some_and(|live| {
            live.reread = Some(Instant::now());
            let again = live.refresh == Refresh::Again;
            live.refresh = Refresh::No;
            again
        });
        match read {
            Ok(catalog) if catalog == *self.catalog => {}
            Ok(catalog) => {
                let missing = |from: &[RemoteTool], of: &[RemoteTool]| -> Vec<String> {
                    of.iter()
                        .filter(|tool| !from.iter().any(|other| other.name == tool.name))
                        .map(|tool| tool.name.clone())
                        .collect()
                };
                let added = missing(&self.catalog.tools, &catalog.tools);
                let removed = missing(&catalog.tools, &self.catalog.tools);
                if !added.is_empty() || !removed.is_empty() {
                    tracing::warn!(server, ?added, ?removed, "MCP server changed its tools");
                }
                self.catalog = Arc::new(catalog);
                self.publish();
                self.remember();
            }
            Err(failure) => {
                tracing::warn!(server, %failure, "the changed tools of an MCP server were not read");
            }
        }
        if again {
            self.refresh();
        }
    }
}
