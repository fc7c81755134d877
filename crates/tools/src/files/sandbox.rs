//! The sandbox of commands, as far as it concerns files that tools touch.

use std::sync::Arc;

use hermes_core::{ToolContext, ToolError};
use hermes_exec::Located;
use hermes_policy::{Confinement, Leaving};
use serde_json::json;

use super::services::refused_with;
use crate::guard::{Action, Clearance};
use crate::workplace::Workplace;

/// What keeps the file tools where commands are kept.
#[derive(Clone)]
pub struct FileSandbox {
    /// What may be touched.
    pub confinement: Arc<Confinement>,
    /// Where a person is asked.
    pub place: Arc<Workplace>,
}

impl FileSandbox {
    /// Has a person allow a change that a command could not make.
    pub(super) async fn ask(
        &self,
        tool: &'static str,
        place: &Located,
        leaving: &Leaving,
        context: &ToolContext,
    ) -> Result<(), ToolError> {
        let action = format!("{tool} {}", place.real.display());
        let action = Action::change(tool, &action, leaving);
        match self.place.guard.clear(&action, &self.place, context).await {
            Clearance::Cleared(_) => Ok(()),
            Clearance::Refused(why) => {
                let mode = self.confinement.mode;
                let name = place.real.display();
                Err(refused_with(json!({
                    "error": format!("{name} was not written (terminal.sandbox.mode: {mode}). {why}"),
                    "sandbox": mode.to_string(),
                })))
            }
        }
    }
}
