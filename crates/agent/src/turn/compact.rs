//! Making the history shorter: planned, summarised, written in one step, and only then forgotten.

use hermes_core::{Event, MessageId, Notice, SessionId, TurnEnd};
use hermes_store::{NewRecord, StoreError, TurnTaken};

use super::{CompactFor, Compacting, Entry, Step, Turn, scene, tokens};
use crate::compaction::ahead::{self, Ahead};
use crate::compaction::lease::Lease;
use crate::compaction::past::{Outcome, Past, Prepared};
use crate::compaction::plan::{self, Plan, Sizes, is_gain};
use crate::compaction::summarise::{self, Job, Verdict, last_request};
use crate::compaction::{self, steps, summary};

/// Why nothing was made shorter.
enum Obstacle {
    /// There is too little to gain.
    NothingToGain,
    /// It failed lately, or did not help.
    Resting,
    /// Another process is at it, or changed the history meanwhile.
    Elsewhere,
    /// No summary could be made.
    NoSummary { message: String, hint: String },
    /// The user stopped it.
    Stopped,
}

/// The user stopped it.
struct Stopped;

/// A compaction that was written.
struct Done {
    before: u32,
    after: u32,
    local: bool,
}

/// What the user asks for without another word.
fn usual() -> CompactFor {
    CompactFor::User {
        focus: None,
        exchanges: None,
    }
}

/// What a compaction is made from.
struct Work {
    plan: Plan,
    /// The summary, when it was prepared already.
    written: Option<String>,
}

impl Turn<'_> {
    /// Replaces the middle of the history by a summary and goes on with what is left.
    pub(super) async fn compact(&mut self, why: CompactFor) -> Result<Step, StoreError> {
        let services = self.around.services;
        if self.prepared_or_stopped().await.is_err() {
            return Ok(self.not_compacted(&why, Obstacle::Stopped).await);
        }
        let session = self.around.spec.id.clone();
        let mut past = self.past().await?;
        if why == CompactFor::Room && !past.allows(services.clock.now()) {
            return Ok(self.not_compacted(&why, Obstacle::Resting).await);
        }
        let mut work = self.work(&why, past.prepared.take());
        if work.is_none() {
            return Ok(self.not_compacted(&why, Obstacle::NothingToGain).await);
        }
        let mut lease = Lease::take(&services.store, &session, &*services.random).await?;
        if lease.is_none() {
            if why == CompactFor::Overflow {
                // Whoever is at it, alive or not: without room there is nothing else to do than to wait.
                let text = "Another process is shortening this conversation; waiting for it …";
                let text = text.to_owned();
                self.say(Event::Notice { text }).await;
                let waited = tokio::select! {
                    biased;
                    () = self.around.cancel.cancelled() => None,
                    lease = Lease::wait(&services.store, &session, &*services.random) => Some(lease?),
                };
                let Some(waited) = waited else {
                    return Ok(self.not_compacted(&why, Obstacle::Stopped).await);
                };
                lease = waited;
            }
            self.reload().await?;
            past = self.past().await?;
            work = self.work(&why, past.prepared.take());
        }
        let Some(lease) = lease else {
            return Ok(self.not_compacted(&why, Obstacle::Elsewhere).await);
        };
        let Some(work) = work else {
            lease.release().await?;
            return Ok(self.not_compacted(&why, Obstacle::NothingToGain).await);
        };
        let result = self.replace(work, &why, &lease, &mut past).await;
        services
            .store
            .set_compaction_notes(&self.around.spec.id, &past.notes())
            .await?;
        lease.release().await?;
        Ok(match result? {
            Ok(done) => {
                self.refresh_memory().await?;
                self.compacted(&why, &done, &past).await
            }
            Err(obstacle) => self.not_compacted(&why, obstacle).await,
        })
    }

    /// What is known about earlier compactions.
    async fn past(&self) -> Result<Past, StoreError> {
        let store = &self.around.services.store;
        let notes = store.compaction_notes(&self.around.spec.id).await?;
        Ok(Past::read(notes, &self.around.spec.course.route().model))
    }

    /// Whether the history may be made shorter in this turn.
    pub(super) fn may_compact(&self) -> bool {
        self.around.services.config.compression.enabled
            && self.around.spec.course.compactions() < hermes_llm::COMPACTIONS
            && self.compacting == Compacting::Open
    }

    /// Has a summary made behind the conversation once it is clear that one will be needed.
    pub(super) fn prepare_summary(&mut self) {
        let limit = (f64::from(self.limit()) * ahead::FROM) as u32;
        let due = self.may_compact() && self.expected() > limit;
        // A model inside this process has no hands free while it answers.
        let able = !self.around.spec.course.route().is_embedded();
        if !due || !able || self.around.ahead.is_some() {
            return;
        }
        let Some(plan) = self.plan(&usual()) else {
            return;
        };
        let work = Ahead {
            session: self.around.spec.id.clone(),
            main: self.around.spec.course.route().clone(),
            history: self.history.clone(),
            plan,
            cancel: self.around.stop.child_token(),
        };
        let shared = self.around.shared;
        *self.around.ahead = Some(shared.sessions.spawn(work.prepare(shared.clone())));
    }

    /// Waits for a summary that is on its way: making another one would take longer.
    async fn prepared_or_stopped(&mut self) -> Result<(), Stopped> {
        let Some(ahead) = self.around.ahead.take() else {
            return Ok(());
        };
        tokio::select! {
            biased;
            () = self.around.cancel.cancelled() => Err(Stopped),
            ended = ahead => {
                if let Err(error) = ended {
                    tracing::warn!("preparing a summary ended early: {error}");
                }
                Ok(())
            }
        }
    }

    /// What a compaction would be made from; a summary that was prepared, if it makes enough room.
    fn work(&self, why: &CompactFor, prepared: Option<Prepared>) -> Option<Work> {
        // What was prepared dwells on nothing, and keeps what it usually does.
        let asked = matches!(why, CompactFor::User { .. }) && *why != usual();
        let ready = prepared.filter(|_| !asked).and_then(|prepared| {
            let plan = prepared.plan(&self.history)?;
            let dropped: u32 = plan.entries(&self.history).map(|entry| entry.tokens).sum();
            let after = self.estimate() - dropped + plan.budget;
            (self.scale.apply(after) <= self.limit()).then_some(Work {
                plan,
                written: Some(prepared.text),
            })
        });
        ready.or_else(|| {
            Some(Work {
                plan: self.plan(why)?,
                written: None,
            })
        })
    }

    fn plan(&self, why: &CompactFor) -> Option<Plan> {
        let estimate = self.estimate();
        let history: u32 = self.history.iter().map(|entry| entry.tokens).sum();
        // The plan counts as we do, not as the provider does.
        let limit = (f64::from(self.limit()) / self.scale.factor) as u32;
        let sizes = Sizes {
            limit: match why {
                CompactFor::Room => limit,
                // Whatever we believe the limit to be: the history must become shorter than it is.
                CompactFor::Overflow | CompactFor::User { .. } => limit.min(estimate),
            },
            window: self.around.spec.course.window(),
            fixed: estimate - history,
        };
        let config = &self.around.services.config.compression;
        match why {
            CompactFor::User {
                exchanges: Some(exchanges),
                ..
            } => plan::plan_before(&self.history, *exchanges, sizes, config),
            _ => plan::plan(&self.history, sizes, config),
        }
    }

    /// Tells what a compaction would keep and gain.
    pub(super) async fn preview_compact(&self, exchanges: Option<u32>) -> Step {
        let focus = None;
        let before = self.estimate();
        let tokens = |estimate| self.scale.apply(estimate);
        let all = self.history.len();
        let text = match self.plan(&CompactFor::User { focus, exchanges }) {
            Some(plan) => {
                let dropped: u32 = plan.entries(&self.history).map(|entry| entry.tokens).sum();
                let gone = plan.replaced.len();
                format!(
                    "A summary would stand for {gone} of {all} messages, and {} stay word for word: about {} → {} \
                     tokens. Nothing was changed.",
                    all - gone,
                    tokens(before),
                    tokens(before - dropped + plan.budget)
                )
            }
            None => format!(
                "There is too little to gain: {all} messages, about {} tokens. Nothing was changed.",
                tokens(before)
            ),
        };
        self.say(Event::Notice { text }).await;
        Step::Finish(TurnEnd::Done)
    }

    pub(super) fn limit(&self) -> u32 {
        let course = &self.around.spec.course;
        let config = &self.around.services.config.compression;
        compaction::limit(course.window(), course.route(), config)
    }

    /// Makes the summary, unless there is one, and puts it in the place of what it stands for.
    async fn replace(
        &mut self,
        work: Work,
        why: &CompactFor,
        lease: &Lease<'_>,
        past: &mut Past,
    ) -> Result<Result<Done, Obstacle>, StoreError> {
        let services = self.around.services;
        let plan = &work.plan;
        let (text, local) = match work.written {
            Some(text) => (text, false),
            None => match self.summarise(plan, why, lease, past).await {
                Ok(written) => written,
                Err(obstacle) => return Ok(Err(obstacle)),
            },
        };
        let now = services.clock.now();
        let redactor = services.redactor.snapshot();
        let request = last_request(&self.history);
        let mut rows = vec![summary::message(&text, &request, plan.budget, &redactor)];
        rows.extend(steps::lost(&self.history, plan).into_iter().flatten());
        let before = self.estimate();
        let dropped: u32 = plan.entries(&self.history).map(|entry| entry.tokens).sum();
        let after = before - dropped + rows.iter().map(tokens).sum::<u32>();
        if !is_gain(before, after) {
            past.record(Outcome::Fruitless, now);
            return Ok(Err(Obstacle::NothingToGain));
        }
        let rows = rows.iter().map(Into::into).collect();
        // Before it goes: what an external memory never heard of would be lost to it.
        self.hand_over(&plan.replaced).await;
        let replaced = self.put(plan.rows(&self.history), rows).await?;
        self.reload().await?;
        if !replaced {
            return Ok(Err(Obstacle::Elsewhere));
        }
        let helped = !local && self.scale.apply(self.estimate()) <= self.limit();
        past.record(
            if helped {
                Outcome::Helped
            } else {
                Outcome::Fruitless
            },
            now,
        );
        Ok(Ok(Done {
            before,
            after: self.estimate(),
            local,
        }))
    }

    /// Asks for the summary; says whether it had to be made without a model.
    async fn summarise(
        &self,
        plan: &Plan,
        why: &CompactFor,
        lease: &Lease<'_>,
        past: &mut Past,
    ) -> Result<(String, bool), Obstacle> {
        let text = "Summarising the earlier part of the conversation …".to_owned();
        self.say(Event::Notice { text }).await;
        let services = self.around.services;
        let job = Job {
            services,
            session: &self.around.spec.id,
            main: self.around.spec.course.route(),
            history: &self.history,
            plan,
            focus: match why {
                CompactFor::User { focus, .. } => focus.as_deref(),
                CompactFor::Room | CompactFor::Overflow => None,
            },
            cancel: &self.around.cancel,
            events: Some(self.around.events),
        };
        let failure = match lease.hold(job.write()).await {
            Ok(text) => return Ok((text, false)),
            Err(failure) => failure,
        };
        let verdict = summarise::verdict(&failure, *why == CompactFor::Overflow);
        if verdict != Verdict::Stopped {
            past.record(summarise::outcome(&failure), services.clock.now());
        }
        match verdict {
            Verdict::Stopped => Err(Obstacle::Stopped),
            Verdict::Leave { message, hint } => Err(Obstacle::NoSummary { message, hint }),
            Verdict::Local if services.config.compression.abort_on_summary_failure => {
                Err(Obstacle::NoSummary {
                    message: "no summary could be made".to_owned(),
                    hint: "set another auxiliary.compression.model".to_owned(),
                })
            }
            Verdict::Local => {
                let replaced: Vec<&Entry> = plan.entries(&self.history).collect();
                Ok((compaction::local(&replaced), true))
            }
        }
    }

    /// Writes the summary, in this session or, if the settings say so, in one that goes on from it.
    async fn put(
        &mut self,
        replaced: Vec<MessageId>,
        rows: Vec<NewRecord>,
    ) -> Result<bool, StoreError> {
        let services = self.around.services;
        let session = &self.around.spec.id;
        if services.config.compression.in_place {
            return services.store.compact(session, replaced, rows).await;
        }
        let child = SessionId::generate(&*services.clock, &*services.random);
        let moved = services
            .store
            .compact_into(session, child.clone(), replaced, rows)
            .await?;
        if moved {
            if let Some(external) = &services.external {
                external.ended(scene(self.around.spec)).await;
            }
            // Nobody can have found it before now, or this would be the second one that goes on from there.
            if let TurnTaken::Ours(own) = services.store.take_turn(&child) {
                self.own = Some(own);
            }
            self.around.spec.id = child.clone();
            self.say(Event::SessionChanged { session: child }).await;
        }
        Ok(moved)
    }

    async fn reload(&mut self) -> Result<(), StoreError> {
        let rows = self
            .around
            .services
            .store
            .history(&self.around.spec.id)
            .await?;
        self.around.recollections.forget();
        let last = self.history.last().cloned();
        self.history = self.around.recollections.attach(&rows);
        self.find_said(last.as_ref());
        self.hang_on();
        Ok(())
    }

    async fn compacted(&mut self, why: &CompactFor, done: &Done, past: &Past) -> Step {
        self.toolbox.notice(Notice::Compacted);
        let scaled = |tokens| u64::from(self.scale.apply(tokens));
        let (before, after) = (scaled(done.before), scaled(done.after));
        if self.scale.apply(done.after) > self.limit() {
            self.compacting = Compacting::InVain;
        }
        self.say(Event::Compacted { before, after }).await;
        if done.local {
            let text = "No model could summarise the conversation, so only its outline was kept. The old messages \
                        can still be searched."
                .to_owned();
            self.say(Event::Notice { text }).await;
        } else if past.count > 1 {
            let text = format!(
                "This conversation has been summarised {} times and details get lost. A new one may serve you better.",
                past.count
            );
            self.say(Event::Notice { text }).await;
        }
        match why {
            CompactFor::Room | CompactFor::Overflow => Step::CallModel,
            CompactFor::User { .. } => Step::Finish(TurnEnd::Done),
        }
    }

    /// Goes on without a compaction, if that is possible.
    async fn not_compacted(&mut self, why: &CompactFor, obstacle: Obstacle) -> Step {
        let next = match obstacle {
            Obstacle::NothingToGain => Compacting::InVain,
            _ => Compacting::Resting,
        };
        let tried = std::mem::replace(&mut self.compacting, next) != Compacting::Open;
        let (message, hint) = match obstacle {
            Obstacle::Stopped => return Step::Finish(TurnEnd::Interrupted),
            Obstacle::NoSummary { message, hint } => (message, Some(hint)),
            Obstacle::NothingToGain => ("there is too little to gain from it".to_owned(), None),
            Obstacle::Resting => ("it failed or did not help lately".to_owned(), None),
            Obstacle::Elsewhere => ("another process is shortening it".to_owned(), None),
        };
        match why {
            CompactFor::Room => {
                if hint.is_some() {
                    let text = format!(
                        "The conversation could not be shortened and goes on as it is: {message}"
                    );
                    self.say(Event::Notice { text }).await;
                }
                Step::CallModel
            }
            // With compaction out of the question the caller tries what is left, such as another model. It does
            // not send again what was just refused.
            CompactFor::Overflow if hint.is_none() && !tried => Step::CallModel,
            CompactFor::Overflow => Step::Finish(TurnEnd::Failed {
                message: format!(
                    "the conversation is too long for the model and could not be shortened: {message}"
                ),
                hint: hint.or_else(|| {
                    Some("start a new one, or choose a model with a larger window".to_owned())
                }),
            }),
            CompactFor::User { .. } if hint.is_none() => {
                let text = format!("The conversation stays as it is: {message}.");
                self.say(Event::Notice { text }).await;
                Step::Finish(TurnEnd::Done)
            }
            CompactFor::User { .. } => Step::Finish(TurnEnd::Failed {
                message: format!("the conversation could not be shortened: {message}"),
                hint,
            }),
        }
    }
}
