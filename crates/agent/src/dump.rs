//! Requests written to files, for those who want to know what a model was really asked: each one when
//! that is switched on, and always the one that failed for good. Known secrets are masked.

use std::path::{Path, PathBuf};

use hermes_config::FileError;
use hermes_core::{ModelRequest, SessionId};
use hermes_llm::Course;
use hermes_secrets::Scope;
use serde_json::json;

use crate::engine::Services;

/// Files that are kept; older ones go.
const MOST_FILES: usize = 50;

/// Where requests are written, and which.
#[derive(Debug, Clone)]
pub struct Dumps {
    /// The folder.
    pub folder: PathBuf,
    /// Every request, not only those that failed.
    pub every: bool,
}

/// Writes a request down. That it cannot be done is worth a line in the log, not more.
pub(crate) fn write(
    services: &Services,
    session: &SessionId,
    course: &Course,
    request: &ModelRequest,
    why: &str,
) {
    let now = services.clock.now();
    let route = course.route();
    let limit = request.settings.max_output_tokens;
    let document = json!({
        "time": now.to_string(),
        "session": session.to_string(),
        "why": why,
        "provider": route.provider,
        "model": route.model,
        "address": route.address_text(),
        "max_output_tokens": limit.or_else(|| course.output_limit()),
        "effort": request.settings.effort.map(|effort| format!("{effort:?}")),
        "system": &*request.system,
        "tools": &*request.tools,
        "messages": request.messages.iter().map(|message| &**message).collect::<Vec<_>>(),
    });
    let text = format!("{document:#}\n");
    let text = services
        .redactor
        .snapshot()
        .redact_in(Scope::Log, &text)
        .into_owned();
    // Names sort by time; two requests never begin in the same microsecond.
    let name = format!("{}_{session}.json", now.strftime("%Y%m%d_%H%M%S_%6f"));
    let folder = &services.dumps.folder;
    if let Err(error) = keep(folder, &name, &text) {
        tracing::warn!("a request could not be written down: {error}");
    }
}

fn keep(folder: &Path, name: &str, text: &str) -> Result<(), FileError> {
    hermes_config::create_directory(folder)?;
    hermes_config::replace_file(&folder.join(name), text.as_bytes())?;
    let mut names: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .collect();
    names.sort();
    let surplus = names.len().saturating_sub(MOST_FILES);
    for old in names.iter().take(surplus) {
        if let Err(error) = std::fs::remove_file(old) {
            tracing::debug!("{} could not be removed: {error}", old.display());
        }
    }
    Ok(())
}
