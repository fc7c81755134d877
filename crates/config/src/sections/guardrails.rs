//! `tool_loop_guardrails`: noticing a model that goes round in circles.

use crate::macros::section;

section! {
    /// Noticing a model that repeats failing or useless tool calls.
    pub struct ToolLoopGuardrails {
        /// Tells the model that it repeats itself.
        warnings_enabled: bool = true;
        /// Ends the turn when it goes on.
        hard_stop_enabled: bool = false;
        /// Repetitions after which the model is told.
        warn_after: LoopLimits = LoopLimits::default();
        /// Repetitions after which the turn ends.
        hard_stop_after: LoopLimits = LoopLimits {
            exact_failure: 5,
            same_tool_failure: 8,
            idempotent_no_progress: 5,
        };
    }
}

section! {
    /// Repetitions that count as going round in circles.
    pub struct LoopLimits {
        /// The same call failing the same way.
        exact_failure: u32 = 2, in 1..=10_000;
        /// One tool failing, whatever the arguments.
        same_tool_failure: u32 = 3, in 1..=10_000;
        /// A call that only reads returning what it returned before.
        idempotent_no_progress: u32 = 2, in 1..=10_000;
    }
}
