//! Log messages of servers.

use hermes_secrets::{RedactorHandle, Scope};
#[expect(
    deprecated,
    reason = "servers of the present protocol still send log messages"
)]
use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam};
use serde_json::Value as Json;

/// Passes a message on to our own log.
#[expect(
    deprecated,
    reason = "servers of the present protocol still send log messages"
)]
pub(super) fn pass_on(
    server: &str,
    message: &LoggingMessageNotificationParam,
    most: usize,
    redactor: &RedactorHandle,
) {
    let text = match &message.data {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    };
    let text: String = text.chars().take(most).collect();
    let text = redactor
        .snapshot()
        .redact_in(Scope::Log, &text)
        .into_owned();
    let logger = message.logger.as_deref().unwrap_or_default();
    match message.level {
        LoggingLevel::Debug => tracing::debug!(server, logger, "{text}"),
        LoggingLevel::Info | LoggingLevel::Notice => tracing::info!(server, logger, "{text}"),
        LoggingLevel::Warning => tracing::warn!(server, logger, "{text}"),
        LoggingLevel::Error
        | LoggingLevel::Critical
        | LoggingLevel::Alert
        | LoggingLevel::Emergency => tracing::error!(server, logger, "{text}"),
    }
}
