//! Making the history shorter: planned, summarised, written in one step, and only then forgotten.

use hermes_core::{CallId, Event, Message, Part, Role, ToolCall, TurnEnd};
use hermes_store::StoreError;

use super::{CompactFor, Compacting, Entry, Step, Turn, tokens};
use crate::compaction::lease::Lease;
use crate::compaction::past::{Outcome, Past};
use crate::compaction::plan::{self, Plan, Sizes, is_gain};
use crate::compaction::summarise::{self, Job, Verdict, last_request};
use crate::compaction::{self, summary};

/// The tool whose last result is the list of steps.
const TODO: &str = "todo";

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

/// A compaction that was written.
struct Done {
    before: u32,
    after: u32,
    local: bool,
}

impl Turn<'_> {
    /// Replaces the middle of the history by a summary and goes on with what is left.
    pub(super) async fn compact(&mut self, why: CompactFor) -> Result<Step, StoreError> {
        let services = self.around.services;
        let session = self.around.spec.id.clone();
        let model = self.around.spec.course.route().model.clone();
        let mut past = Past::read(services.store.compaction_notes(&session).await?, &model);
        if why == CompactFor::Room && !past.allows(services.clock.now()) {
            return Ok(self.not_compacted(why, Obstacle::Resting).await);
        }
        let Some(plan) = self.plan(why) else {
            return Ok(self.not_compacted(why, Obstacle::NothingToGain).await);
        };
        let lease = Lease::take(&services.store, &session, &*services.random).await?;
        let Some(lease) = lease else {
            self.reload().await?;
            return Ok(self.not_compacted(why, Obstacle::Elsewhere).await);
        };
        let result = self.replace(&plan, why, &lease, &mut past).await;
        lease.release().await?;
        services
            .store
            .set_compaction_notes(&session, &past.notes())
            .await?;
        Ok(match result? {
            Ok(done) => self.compacted(why, &done, &past).await,
            Err(obstacle) => self.not_compacted(why, obstacle).await,
        })
    }

    fn plan(&self, why: CompactFor) -> Option<Plan> {
        let estimate = self.estimate();
        let history: u32 = self.history.iter().map(|entry| entry.tokens).sum();
        // The plan counts as we do, not as the provider does.
        let limit = (f64::from(self.limit()) / self.scale.factor) as u32;
        let sizes = Sizes {
            limit: match why {
                CompactFor::Room => limit,
                // Whatever we believe the limit to be: the history must become shorter than it is.
                CompactFor::Overflow | CompactFor::User => limit.min(estimate),
            },
            window: self.around.spec.course.window(),
            fixed: estimate - history,
        };
        plan::plan(
            &self.history,
            sizes,
            &self.around.services.config.compression,
        )
    }

    fn limit(&self) -> u32 {
        let course = &self.around.spec.course;
        let config = &self.around.services.config.compression;
        compaction::limit(course.window(), course.route().limits.output, config)
    }

    /// Makes the summary and puts it in the place of what it stands for.
    async fn replace(
        &mut self,
        plan: &Plan,
        why: CompactFor,
        lease: &Lease<'_>,
        past: &mut Past,
    ) -> Result<Result<Done, Obstacle>, StoreError> {
        let text = "Summarising the earlier part of the conversation …".to_owned();
        self.say(Event::Notice { text }).await;
        let services = self.around.services;
        let job = Job {
            services,
            session: &self.around.spec.id,
            main: self.around.spec.course.route(),
            history: &self.history,
            plan,
            cancel: &self.around.cancel,
        };
        let written = lease.hold(job.write()).await;
        let now = services.clock.now();
        let (text, local) = match written {
            Ok(text) => (text, false),
            Err(failure) => match summarise::verdict(&failure, why == CompactFor::Overflow) {
                Verdict::Stopped => return Ok(Err(Obstacle::Stopped)),
                Verdict::Leave {
                    outcome,
                    message,
                    hint,
                } => {
                    past.record(outcome, now);
                    return Ok(Err(Obstacle::NoSummary { message, hint }));
                }
                Verdict::Local if services.config.compression.abort_on_summary_failure => {
                    past.record(Outcome::Failed, now);
                    let message = "no summary could be made".to_owned();
                    let hint = "set another auxiliary.compression.model".to_owned();
                    return Ok(Err(Obstacle::NoSummary { message, hint }));
                }
                Verdict::Local => {
                    past.record(Outcome::Failed, now);
                    let replaced: Vec<&Entry> = plan.entries(&self.history).collect();
                    (compaction::local(&replaced), true)
                }
            },
        };
        let redactor = services.redactor.snapshot();
        let request = last_request(&self.history);
        let mut rows = vec![summary::message(&text, &request, plan.budget, &redactor)];
        rows.extend(self.lost_steps(plan).into_iter().flatten());
        let before = self.estimate();
        let dropped: u32 = plan.entries(&self.history).map(|entry| entry.tokens).sum();
        let after = before - dropped + rows.iter().map(tokens).sum::<u32>();
        if !is_gain(before, after) {
            past.record(Outcome::Fruitless, now);
            return Ok(Err(Obstacle::NothingToGain));
        }
        let (ids, rows) = (plan.rows(&self.history), rows.iter().map(Into::into));
        let session = &self.around.spec.id;
        let replaced = services.store.compact(session, ids, rows.collect()).await?;
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

    /// The list of steps, when the rows that hold it are replaced: a call and its result, as before.
    fn lost_steps(&self, plan: &Plan) -> Option<[Message; 2]> {
        let is_list = |part: &&Part| matches!(part, Part::ToolResult { name, failed: false, .. } if name == TODO);
        let (at, list) = self
            .history
            .iter()
            .enumerate()
            .rev()
            .find_map(|(at, entry)| Some((at, entry.message.parts.iter().rfind(is_list)?)))?;
        let Part::ToolResult { content, .. } = list else {
            return None;
        };
        plan.replaced.binary_search(&at).ok()?;
        let id = CallId(format!("kept_{}", self.history.get(at)?.row));
        let call = ToolCall {
            id: id.clone(),
            name: TODO.to_owned(),
            arguments: serde_json::json!({}),
        };
        let result = Part::ToolResult {
            call: id,
            name: TODO.to_owned(),
            content: content.clone(),
            failed: false,
        };
        let message = |role, part| Message {
            role,
            parts: vec![part],
            raw: None,
        };
        Some([
            message(Role::Assistant, Part::ToolCall(call)),
            message(Role::Tool, result),
        ])
    }

    async fn reload(&mut self) -> Result<(), StoreError> {
        let rows = self
            .around
            .services
            .store
            .history(&self.around.spec.id)
            .await?;
        self.history = rows
            .iter()
            .map(|row| Entry::new(row.id, row.to_message()))
            .collect();
        Ok(())
    }

    async fn compacted(&mut self, why: CompactFor, done: &Done, past: &Past) -> Step {
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
            CompactFor::User => Step::Finish(TurnEnd::Done),
        }
    }

    /// Goes on without a compaction, if that is possible.
    async fn not_compacted(&mut self, why: CompactFor, obstacle: Obstacle) -> Step {
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
            // Once more as it is: with compaction out of the question, another model may take it.
            CompactFor::Overflow if hint.is_none() && !tried => Step::CallModel,
            CompactFor::Overflow => Step::Finish(TurnEnd::Failed {
                message: format!(
                    "the conversation is too long for the model and could not be shortened: {message}"
                ),
                hint: hint.or_else(|| {
                    Some("start a new one, or choose a model with a larger window".to_owned())
                }),
            }),
            CompactFor::User if hint.is_none() => {
                let text = format!("The conversation stays as it is: {message}.");
                self.say(Event::Notice { text }).await;
                Step::Finish(TurnEnd::Done)
            }
            CompactFor::User => Step::Finish(TurnEnd::Failed {
                message: format!("the conversation could not be shortened: {message}"),
                hint,
            }),
        }
    }
}
