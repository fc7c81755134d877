//! What a failed call does about it: once, and never in a loop.

use std::sync::Arc;

use serde_json::Value as Json;

use super::{Call, End};
use crate::failure::Remedy;
use crate::keepalive::is_unknown;
use crate::session::Session;
use crate::supervisor::{Begin, Cause, Command};
use crate::{Failure, Recovery, State, Trouble, View};

impl Call<'_> {
    pub(super) async fn recover(
        &self,
        session: &Arc<Session>,
        failure: Failure,
    ) -> Result<Json, End> {
        // Whoever stopped the call wants nothing more of the server, whatever it answered meanwhile.
        if self.patience.cancel.is_cancelled() {
            return Err(self.ended(Failure::Cancelled));
        }
        match failure.remedy() {
            Remedy::Reauthenticate => self.with_another_token(session, failure).await,
            Remedy::Visit => self.after_a_visit(session, failure).await,
            Remedy::Reconnect => self.on_a_new_session(session, failure).await,
            Remedy::ReconnectCarefully if self.is_repeatable() => {
                self.on_a_new_session(session, failure).await
            }
            Remedy::ReconnectCarefully => {
                // The next call finds a session; this one may have been carried out.
                self.replace(session, &failure).await;
                Err(self.ended(failure))
            }
            Remedy::Check => self.after_a_look(session, failure).await,
            Remedy::CheckRejected => match self.works(session).await {
                true => Err(self.ended(failure)),
                false => self.on_a_new_session(session, failure).await,
            },
            Remedy::None => {
                if matches!(failure, Failure::Timeout { .. }) {
                    self.handle
                        .command(Command::Doubt(session.generation))
                        .await;
                }
                Err(self.ended(failure))
            }
        }
    }

    /// Another token, another session, once more.
    async fn with_another_token(
        &self,
        session: &Arc<Session>,
        failure: Failure,
    ) -> Result<Json, End> {
        let limit = self.policy().auth_decision;
        let decision = self.handle.shared.route.recover(&failure);
        let decided = tokio::select! {
            biased;
            () = self.patience.cancel.cancelled() => return Err(self.ended(Failure::Cancelled)),
            decided = tokio::time::timeout(limit, decision) => decided,
        };
        let refused = |why: String| {
            let how = self.handle.server().way_in();
            End::strike(Trouble::NeedsReauth { why, how })
        };
        match decided {
            Ok(Recovery::Possible) => {}
            Ok(Recovery::NeedsLogin { why }) => return Err(refused(why)),
            Ok(Recovery::Later { why }) => {
                return Err(End::strike(Trouble::Failed {
                    kind: failure.kind().to_owned(),
                    text: why,
                }));
            }
            Err(_) => return Err(self.ended(failure)),
        }
        let asked = self.handle.replace(session.generation, Cause::Token).await;
        let Some(fresh) = self.newer(session, asked).await? else {
            return Err(self.ended(failure));
        };
        // A new session has reset the breaker, so that a failure from here on is the first one.
        self.attempt(&fresh)
            .await
            .map_err(|second| self.ended(second))
    }

    /// Once more, when the person has opened what the server names.
    async fn after_a_visit(&self, session: &Arc<Session>, failure: Failure) -> Result<Json, End> {
        let Failure::NeedsVisit { links, .. } = &failure else {
            return Err(self.ended(failure));
        };
        let ears = &self.handle.shared.ears;
        if !ears.visited(&self.caller, links).await {
            return Err(self.ended(failure));
        }
        let again = self.attempt(session).await;
        again.map_err(|second| self.ended(second))
    }

    /// A new session, once more. Nothing was carried out before, or it may be carried out twice.
    async fn on_a_new_session(
        &self,
        session: &Arc<Session>,
        failure: Failure,
    ) -> Result<Json, End> {
        let asked = self.replace(session, &failure).await;
        let Some(fresh) = self.newer(session, asked).await? else {
            return Err(self.ended(failure));
        };
        match self.attempt(&fresh).await {
            Ok(answer) => Ok(answer),
            Err(second) => {
                let asks_again = matches!(
                    second.remedy(),
                    Remedy::Reconnect | Remedy::ReconnectCarefully
                );
                let gist = second.gist();
                if asks_again && gist == failure.gist() {
                    self.handle.command(Command::Useless(gist)).await;
                }
                Err(self.ended(second))
            }
        }
    }

    /// One exchange broke off. Often the session works all the same.
    async fn after_a_look(&self, session: &Arc<Session>, failure: Failure) -> Result<Json, End> {
        if failure.may_have_run() && !self.is_repeatable() {
            self.handle
                .command(Command::Doubt(session.generation))
                .await;
            return Err(self.ended(failure));
        }
        // Counted once, by how the call ends.
        if self.works(session).await {
            return self
                .attempt(session)
                .await
                .map_err(|second| self.ended(second));
        }
        let asked = self.replace(session, &failure).await;
        match self.newer(session, asked).await? {
            Some(fresh) => self
                .attempt(&fresh)
                .await
                .map_err(|second| self.ended(second)),
            None => Err(self.ended(failure)),
        }
    }

    async fn works(&self, session: &Session) -> bool {
        tokio::select! {
            biased;
            () = self.patience.cancel.cancelled() => true,
            sign = session.ping(self.policy().keepalive_timeout) => match sign {
                Ok(()) => true,
                // It answered, which is all that was asked.
                Err(failure) => is_unknown(&failure),
            },
        }
    }

    async fn replace(&self, session: &Session, failure: &Failure) -> bool {
        let cause = Cause::Said(failure.gist());
        self.handle.replace(session.generation, cause).await
    }

    /// Waits for a session that is newer than the failed one.
    async fn newer(&self, session: &Session, asked: bool) -> Result<Option<Arc<Session>>, End> {
        let adrift = self.adrift();
        if !asked {
            return Ok(None);
        }
        let failed = session.generation;
        let base = self.handle.view().failed_attempts;
        let over = move |view: &View| match view.state {
            State::Ready => view.generation > failed,
            State::Parked | State::NeedsAuth => view.failed_attempts > base,
            State::Stopping | State::Stopped => true,
            State::Connecting { .. } | State::Reconnecting { .. } | State::Recycled => false,
        };
        let limit = self.policy().fresh_session_wait;
        let view = tokio::select! {
            biased;
            () = self.patience.cancel.cancelled() => return Err(self.ended(Failure::Cancelled)),
            view = self.handle.wait_for(limit, over) => view,
        };
        if view.state != State::Ready || view.generation <= failed {
            return Ok(None);
        }
        match self.begin().await? {
            Begin::Go(fresh) if fresh.generation > failed => {
                adrift.found();
                Ok(Some(fresh))
            }
            Begin::Go(_) | Begin::Open { .. } | Begin::Absent { .. } => Ok(None),
        }
    }
}
