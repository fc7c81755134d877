//! A command that is started and followed behind the conversation.

use hermes_core::{ToolContext, ToolOutcome};
use hermes_exec::ProcessError;
use serde_json::{Map, Value as Json};

use super::{Asked, failed, unable};
use crate::arguments::text;
use crate::guard::{Action, Clearance};
use crate::workplace::{Confined, Wanted, Workplace};

/// Reads its secret to the end of its input, which a terminal does not have.
const NEEDS_A_PIPE: &str = "gh auth login --with-token";

/// Starts it.
pub(super) async fn start(
    place: &Workplace,
    confined: &Confined,
    mut asked: Asked,
    context: &ToolContext,
) -> ToolOutcome {
    let action = Action::command("terminal", &asked.command);
    let cleared = match place.guard.clear(&action, place, context).await {
        Clearance::Cleared(cleared) => cleared,
        Clearance::Refused(why) => return Ok(failed("blocked", &why)),
    };
    if let Some(instead) = &cleared.instead {
        asked.command.clone_from(instead);
    }
    if cleared.changes_files {
        place.before_change(asked.workdir.as_deref(), context).await;
    }
    let pty = asked.pty && !asked.command.contains(NEEDS_A_PIPE);
    // A watched process tells enough; both would tell its end twice.
    let watch_ignored = asked.notify_on_complete && !asked.watch_patterns.is_empty();
    let watch = match context.lasting && !watch_ignored {
        true => asked.watch_patterns.clone(),
        false => Vec::new(),
    };
    let notify = asked.notify_on_complete && context.lasting;
    let wanted = Wanted {
        command: asked.command,
        directory: match &asked.workdir {
            Some(workdir) => place.directory().join(workdir),
            None => place.directory(),
        },
        workdir: asked.workdir,
        on_terminal: pty,
        notify,
        watch: watch.clone(),
    };
    let started = match place.start_behind(wanted, confined, context).await {
        Ok(started) => started,
        Err(ProcessError::Exec(error)) => return Ok(unable(&error)),
        Err(error) => return Ok(failed("error", &error.to_string())),
    };
    let mut answer = Map::new();
    let mut add = |name: &str, value: Json| answer.insert(name.to_owned(), value);
    add("output", "started in the background".into());
    add("session_id", started.id.into());
    add("pid", started.pid.map_or(Json::Null, Json::from));
    add("exit_code", 0.into());
    add("error", Json::Null);
    if let Some(note) = &cleared.note {
        add("approval", note.as_str().into());
    }
    if let Some(equal) = started.equal_running {
        add(
            "hint",
            format!("the same command runs here already as {equal}; end one of them if that was not meant").into(),
        );
    }
    if notify {
        add("notify_on_complete", true.into());
    }
    if !watch.is_empty() {
        add("watch_patterns", watch.into());
    }
    if watch_ignored {
        add("watch_patterns_ignored", true.into());
    }
    if !context.lasting && (asked.notify_on_complete || !asked.watch_patterns.is_empty()) {
        add(
            "notify_unsupported",
            "this run ends with its answer and hears of nothing later; use process(action=\"wait\")".into(),
        );
    }
    if asked.pty && !pty {
        add(
            "pty_note",
            "started with a pipe: it reads its input to the end".into(),
        );
    }
    add("backend", place.place().into());
    add("sandbox", confined.words().into());
    Ok(text(Json::Object(answer).to_string()))
}
