//! Messages of the user's own that stand in front of every conversation. They are sent, never kept.

use std::path::Path;
use std::sync::Arc;

use hermes_core::{Message, Role};
use serde::Deserialize;

/// One message of the file.
#[derive(Deserialize)]
struct Row {
    role: Speaker,
    content: String,
}

/// Who may speak there.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Speaker {
    User,
    Assistant,
}

/// Reads the file that the settings name; a relative path starts in the home directory.
pub(crate) fn load(file: &str, home: &Path) -> Result<Vec<Arc<Message>>, String> {
    if file.trim().is_empty() {
        return Ok(Vec::new());
    }
    let path = home.join(file.trim());
    let failed = |what: String| format!("prefill_messages_file: {}: {what}", path.display());
    let bytes = hermes_config::read_file(&path)
        .map_err(|error| failed(error.to_string()))?
        .ok_or_else(|| failed("there is no such file".to_owned()))?;
    let rows: Vec<Row> =
        serde_json::from_slice(&bytes).map_err(|error| failed(error.to_string()))?;
    let messages = rows.into_iter().map(|row| {
        let role = match row.role {
            Speaker::User => Role::User,
            Speaker::Assistant => Role::Assistant,
        };
        Arc::new(Message::text(role, row.content))
    });
    Ok(messages.collect())
}
