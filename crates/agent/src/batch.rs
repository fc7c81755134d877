//! Running the tools of one answer.
//!
//! | module | does |
//! |---|---|
//! | `plan` | which calls may run side by side |
//! | `run` | runs one call under its deadline and its token |
//! | `present` | what the model sees of the outcome: limits, spill files, fences |
//! | `kept` | what such a file holds, line by line |
//! | `guard` | notices a model that goes round in circles |
//!
//! Calls start in the order the model asked for them; no call starts before an earlier barrier ended.

pub(crate) mod guard;
mod kept;
pub(crate) mod plan;
pub(crate) mod present;
pub(crate) mod run;

use std::sync::Arc;

use hermes_core::{Tool, ToolCall};

/// A call that is going to be run.
#[derive(Clone)]
pub(crate) struct Ready {
    /// The name the model called, under which the result is kept.
    pub(crate) asked: String,
    /// The call as the tool gets it.
    pub(crate) call: ToolCall,
    pub(crate) tool: Arc<dyn Tool>,
}
