//! What happens in a session, for whoever wants to know more (`-v`, or `logging.level: debug`).

use hermes_core::{Event, SessionId};

/// Notes the steps of a turn. What was said and printed is no part of it.
pub(super) fn trace(session: &SessionId, event: &Event) {
    let session = session.as_str();
    match event {
        Event::TurnStarted { turn } => tracing::debug!(session, ?turn, "a turn begins"),
        Event::ToolStarted { call, name, .. } => {
            tracing::debug!(session, ?call, "{name} is called");
        }
        Event::ToolFinished { call, failed, .. } => {
            tracing::debug!(session, ?call, failed, "a call has ended");
        }
        Event::RouteChanged {
            provider,
            model,
            reason,
        } => tracing::debug!(session, "{provider}/{model} answers: {reason}"),
        Event::Usage { call, .. } => tracing::debug!(
            session,
            input = call.input_tokens,
            cached = call.cache_read_tokens,
            output = call.output_tokens,
            "a call of the model has ended"
        ),
        Event::Compacted { before, after } => {
            tracing::debug!(session, before, after, "the history was shortened");
        }
        Event::TurnFinished { turn, why, .. } => {
            tracing::debug!(session, ?turn, ?why, "a turn has ended");
        }
        _ => {}
    }
}
