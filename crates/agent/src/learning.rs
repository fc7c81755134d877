//! Getting better: behind an answer, the conversation is looked back on for what is worth keeping.
//!
//! | module | holds |
//! |---|---|
//! | `due` | counting: when a look back is due |
//! | `gate` | a look without a model: whether there is anything to learn |
//! | `review` | the look back: the conversation's own prefix, and hands for memory and skills only |
//! | `digest` | conversations in short: this one for another model, others for all |
//! | `merge` | merging skills that overlap, for whoever tidies them up |
//! | `words` | what the model is asked, and what the user is told |
//!
//! What counts is what was said in all conversations of the home since the last look back: the store knows how far
//! that read, and the mark moves only when a model has answered. A look back starts when the answer was delivered,
//! never after a stop, and one at a time. It outlives its session, but not the program. It leaves no rows in the
//! conversation. What it changes is journalled with its origin and can be undone.

mod digest;
mod due;
mod gate;
mod merge;
mod review;
mod words;

use tokio::task::JoinHandle;

use crate::turn::Turn;
use due::{Due, Intervals, Since};
use review::{Ended, Review};

pub use merge::{Merge, Merged, TASK as MERGE_TASK};

/// Turns that pass at most before a look back that failed is tried again.
const LONGEST_REST: u32 = 10;

/// What a session remembers of its looks back.
#[derive(Default)]
pub(crate) struct Learning {
    running: Option<JoinHandle<Ended>>,
    /// How often in a row none came about.
    failures: u32,
    /// Turns that pass before the next is tried.
    rest: u32,
}

impl Learning {
    /// Whether a look back may start. Called once for each turn, because what failed is left alone for some.
    async fn is_free(&mut self) -> bool {
        match self.running.take() {
            Some(running) if !running.is_finished() => {
                self.running = Some(running);
                return false;
            }
            Some(ended) => match ended.await {
                Ok(Ended::Done) => self.failures = 0,
                Ok(Ended::Elsewhere) => {}
                Ok(Ended::Failed) | Err(_) => {
                    self.failures += 1;
                    self.rest = self.failures.min(LONGEST_REST);
                }
            },
            None => {}
        }
        let resting = self.rest > 0;
        self.rest = self.rest.saturating_sub(1);
        !resting
    }
}

/// Starts a look back when one is due. The answer was delivered, and does not wait for it.
pub(crate) async fn after(turn: &mut Turn<'_>) {
    // A run that answers once is over with its answer, and where no model was called there is none.
    if !turn.around.spec.lasting || turn.tries.calls == 0 {
        return;
    }
    let intervals = intervals(turn);
    if intervals.are_never() || !turn.around.learning.is_free().await {
        return;
    }
    let since = match turn
        .around
        .services
        .store
        .unread(&turn.around.spec.id)
        .await
    {
        Ok(unread) => Since::of(unread),
        Err(error) => {
            tracing::warn!(%error, "what was not looked back on could not be read");
            return;
        }
    };
    let due = since.worth_it(since.due(&intervals));
    if due == Due::Nothing {
        return;
    }
    let review = Review::of(turn, due, since);
    turn.around.learning.running = Some(turn.around.shared.behind.spawn(review.run()));
}

fn intervals(turn: &Turn<'_>) -> Intervals {
    let config = &turn.around.services.config;
    let can = |tool: &str| config.learning.daily_tokens > 0 && turn.toolbox.get(tool).is_some();
    Intervals {
        turns: can("memory").then_some(config.memory.nudge_interval),
        calls: can("skill_manage").then_some(config.skills.creation_nudge_interval),
    }
}
