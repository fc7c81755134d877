//! One call under its deadline and its token.

use std::time::Duration;

use hermes_core::{ToolContext, ToolError, ToolOutcome};
use tokio::time::timeout;

use super::Ready;

/// How long a call may take to end after it was told to.
const GRACE: Duration = Duration::from_millis(200);

/// Runs a call to its end, its deadline or the stop of the turn, whichever is first.
///
/// A call that does not end in time is abandoned, and the model is told that its outcome is unknown.
pub(crate) async fn run(ready: &Ready, context: &ToolContext) -> ToolOutcome {
    if context.cancel.is_cancelled() {
        return Err(ToolError::Cancelled);
    }
    let mut call = ready.tool.call(ready.call.arguments.clone(), context);
    let late = tokio::select! {
        biased;
        outcome = &mut call => return outcome,
        () = context.cancel.cancelled() => ToolError::Cancelled,
        () = tokio::time::sleep(context.deadline) => ToolError::TimedOut { limit: context.deadline },
    };
    context.cancel.cancel();
    match timeout(GRACE, call).await {
        Ok(Ok(result)) => Ok(result),
        // What it says about being stopped is less than what we know.
        Ok(Err(_)) | Err(_) => Err(late),
    }
}
