//! A command that is started and followed behind the conversation.

use hermes_core::{ToolContext, ToolOutcome};
use hermes_exec::{ProcessError, StartedProcess};
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
    let telling = Telling::of(&asked, context);
    let wanted = Wanted {
        command: asked.command,
        directory: match &asked.workdir {
            Some(workdir) => place.directory().join(workdir),
            None => place.directory(),
        },
        workdir: asked.workdir,
        on_terminal: pty,
        notify: telling.end,
        watch: telling.lines.clone(),
    };
    let started = match place.start_behind(wanted, confined, context).await {
        Ok(started) => started,
        Err(ProcessError::Exec(error)) => return Ok(unable(&error)),
        Err(error) => return Ok(failed("error", &error.to_string())),
    };
    let mut answer = begun(started, cleared.note);
    let mut add = |name: &str, value: Json| answer.insert(name.to_owned(), value);
    for (name, value) in telling.words() {
        add(name, value);
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

/// What the model is told of a process that was started.
fn begun(started: StartedProcess, note: Option<String>) -> Map<String, Json> {
    let mut answer = Map::new();
    let mut add = |name: &str, value: Json| answer.insert(name.to_owned(), value);
    add("output", "started in the background".into());
    add("session_id", started.id.into());
    add("pid", started.pid.map_or(Json::Null, Json::from));
    add("exit_code", 0.into());
    add("error", Json::Null);
    if let Some(note) = note {
        add("approval", note.into());
    }
    if let Some(equal) = started.equal_running {
        add(
            "hint",
            format!("the same command runs here already as {equal}; end one of them if that was not meant").into(),
        );
    }
    answer
}

/// What will be told of a process.
struct Telling {
    /// Whether its end is.
    end: bool,
    /// Lines with one of these are.
    lines: Vec<String>,
    /// Whether lines were asked for besides the end.
    too_much: bool,
    /// Whether something was asked for that this run will not hear.
    unheard: bool,
}

impl Telling {
    fn of(asked: &Asked, context: &ToolContext) -> Self {
        let (end, lines) = (asked.notify_on_complete, &asked.watch_patterns);
        // A watched process tells enough; both would tell its end twice.
        let too_much = end && !lines.is_empty();
        Self {
            end: end && context.lasting,
            lines: match context.lasting && !too_much {
                true => lines.clone(),
                false => Vec::new(),
            },
            too_much,
            unheard: !context.lasting && (end || !lines.is_empty()),
        }
    }

    fn words(self) -> Vec<(&'static str, Json)> {
        let mut words: Vec<(&'static str, Json)> = Vec::new();
        if self.end {
            words.push(("notify_on_complete", true.into()));
        }
        if !self.lines.is_empty() {
            words.push(("watch_patterns", self.lines.into()));
        }
        if self.too_much {
            words.push(("watch_patterns_ignored", true.into()));
        }
        if self.unheard {
            words.push((
                "notify_unsupported",
                "this run ends with its answer and hears of nothing later; use process(action=\"wait\")".into(),
            ));
        }
        words
    }
}
