//! One call under its deadline and its token.

use std::pin::pin;
use std::time::Duration;

use hermes_core::{ToolContext, ToolError, ToolOutcome, caught};
use hermes_tools::Stopwatch;
use tokio::time::timeout;

use super::Ready;

/// How long a call may take to end after it was told to.
const GRACE: Duration = Duration::from_millis(200);

/// Runs a call to its end, its deadline or the stop of the turn, whichever is first.
///
/// A call that does not end in time is abandoned, and the model is told that its outcome is unknown. While a
/// person is asked on its behalf its time stands still: questions have limits of their own.
pub(crate) async fn run(ready: &Ready, context: &ToolContext) -> ToolOutcome {
    if context.cancel.is_cancelled() {
        return Err(ToolError::Cancelled);
    }
    let (stopwatch, context) = Stopwatch::around(context);
    let limit = context.deadline;
    let mut call = pin!(caught(async {
        let arguments = ready.call.arguments.clone();
        ready.tool.call(arguments, &context).await
    }));
    let late = tokio::select! {
        biased;
        ended = &mut call => return outcome(ended),
        () = context.cancel.cancelled() => ToolError::Cancelled,
        () = stopwatch.over(limit) => ToolError::TimedOut { limit },
    };
    context.cancel.cancel();
    match timeout(GRACE, call).await.map(outcome) {
        Ok(Ok(result)) => Ok(result),
        // What it says about being stopped is less than what we know.
        Ok(Err(_)) | Err(_) => Err(late),
    }
}

/// What came of a call. One that broke down inside has done nobody knows how much.
fn outcome(ended: Result<ToolOutcome, String>) -> ToolOutcome {
    ended.unwrap_or_else(|fault| {
        let message = format!("the tool broke down inside Hermes: {fault}");
        tracing::error!("{message}");
        Err(ToolError::OutcomeUnknown { message })
    })
}
