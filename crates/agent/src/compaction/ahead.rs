//! A summary made while the conversation goes on, so that nobody waits for it once it is needed. It is
//! noted with the session: a restart finds it, and an idle session holds no memory for it.

use std::sync::Arc;

use hermes_core::SessionId;
use hermes_llm::Route;
use hermes_secrets::Scope;
use hermes_store::StoreError;
use tokio_util::sync::CancellationToken;

use super::lease::Lease;
use super::past::{Past, Prepared};
use super::plan::Plan;
use super::summarise::{self, Job, Verdict};
use crate::engine::{Services, Shared};
use crate::turn::Entry;

/// The share of the limit from which a summary is prepared.
pub(crate) const FROM: f64 = 0.7;

/// What is to be summarised, as it was when the work began.
pub(crate) struct Ahead {
    pub(crate) session: SessionId,
    pub(crate) main: Arc<Route>,
    pub(crate) history: Vec<Entry>,
    pub(crate) plan: Plan,
    pub(crate) cancel: CancellationToken,
}

impl Ahead {
    /// Makes the summary and notes it. A failure is noted too, so that it is not tried all the time.
    pub(crate) async fn prepare(self, shared: Arc<Shared>) {
        if let Err(error) = self.work(&shared.services).await {
            tracing::warn!("a summary could not be prepared: {error}");
        }
    }

    async fn work(&self, services: &Services) -> Result<(), StoreError> {
        let (store, session) = (&services.store, &self.session);
        let Some(lease) = Lease::take(store, session, &*services.random).await? else {
            return Ok(());
        };
        let mut past = Past::read(store.compaction_notes(session).await?, &self.main.model);
        let ready = past
            .prepared
            .as_ref()
            .is_some_and(|known| known.plan(&self.history).is_some());
        if !ready && past.allows(services.clock.now()) {
            self.write(services, &lease, &mut past).await;
            store.set_compaction_notes(session, &past.notes()).await?;
        }
        lease.release().await
    }

    async fn write(&self, services: &Services, lease: &Lease<'_>, past: &mut Past) {
        let job = Job {
            services,
            session: &self.session,
            main: &self.main,
            history: &self.history,
            plan: &self.plan,
            focus: None,
            cancel: &self.cancel,
            events: None,
        };
        match lease.hold(job.write()).await {
            Ok(text) => {
                // It is on disk from here on, maybe for long before it becomes a row.
                let redactor = services.redactor.snapshot();
                past.prepared = Some(Prepared {
                    rows: self
                        .plan
                        .rows(&self.history)
                        .iter()
                        .map(|row| row.0)
                        .collect(),
                    budget: self.plan.budget,
                    text: redactor.redact_in(Scope::Chat, &text).into_owned(),
                });
            }
            Err(failure) => match summarise::verdict(&failure, false) {
                Verdict::Stopped => {}
                Verdict::Leave { .. } | Verdict::Local => {
                    past.record(summarise::outcome(&failure), services.clock.now());
                }
            },
        }
    }
}

impl Prepared {
    /// The plan it was made for, if all it stands for is still in the history.
    pub(crate) fn plan(&self, history: &[Entry]) -> Option<Plan> {
        let replaced: Vec<usize> = history
            .iter()
            .enumerate()
            .filter(|(_, entry)| self.rows.contains(&entry.row.0))
            .map(|(at, _)| at)
            .collect();
        (replaced.len() == self.rows.len()).then_some(Plan {
            replaced,
            budget: self.budget,
        })
    }
}
