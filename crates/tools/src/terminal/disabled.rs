//! `terminal` where commands cannot run: it says why, instead of running them somewhere else.

use futures_core::future::BoxFuture;
use hermes_core::{Tool, ToolContext, ToolOutcome, ToolSpec};
use serde_json::Value as Json;

use super::{Terminal, failed};
use crate::workplace::Limits;

/// Answers every command with the reason.
pub struct DisabledTerminal {
    spec: ToolSpec,
    why: String,
}

impl DisabledTerminal {
    /// The tool of a session that cannot run commands because of this.
    pub fn new(limits: Limits, why: String) -> Self {
        Self {
            spec: Terminal::described(limits),
            why,
        }
    }
}

impl Tool for DisabledTerminal {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, _: Json, _: &'a ToolContext) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move { Ok(failed("disabled", &self.why)) })
    }
}
