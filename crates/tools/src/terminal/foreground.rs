//! A command that is waited for.

use std::time::Duration;

use hermes_core::{ToolContext, ToolOutcome};
use hermes_exec::guidance::{exit_code_note, foreground_refusal, foreground_timeout};
use hermes_exec::{Command, Ended, ExecError, Finished, Shell, strip_ansi};
use serde_json::{Map, Value as Json, json};
use tokio::sync::mpsc;

use super::sudo::{self, Password};
use super::unsent::Unsent;
use super::{Asked, failed, unable};
use crate::arguments::text;
use crate::guard::{Action, Clearance, Cleared};
use crate::workplace::{Confined, LET_OUT, LOST, Workplace, refused_by_sandbox};

/// Rows and columns of a terminal that nobody looks at.
const TERMINAL: (u16, u16) = (30, 120);
/// Pieces of output that may wait for a slow listener; what is printed meanwhile is joined to the last.
const PIECES: usize = 64;

/// Runs it.
pub(super) async fn run(
    place: &Workplace,
    confined: &Confined,
    mut asked: Asked,
    context: &ToolContext,
) -> ToolOutcome {
    let limits = &place.limits;
    let timeout = match foreground_timeout(
        asked.timeout.map(Duration::from_secs),
        limits.usual,
        limits.most,
    ) {
        Ok(timeout) => timeout,
        Err(why) => return Ok(text(json!({ "error": why }).to_string())),
    };
    if let Some(why) = foreground_refusal(&asked.command) {
        return Ok(failed("error", &why));
    }
    let action = Action::command("terminal", &asked.command);
    let cleared = match place.guard.clear(&action, place, context).await {
        Clearance::Cleared(cleared) => cleared,
        Clearance::Refused(why) => return Ok(failed("blocked", &why)),
    };
    if let Some(instead) = &cleared.instead {
        asked.command.clone_from(instead);
        if let Some(why) = foreground_refusal(&asked.command) {
            return Ok(failed("error", &why));
        }
    }
    if cleared.changes_files {
        place.before_change(asked.workdir.as_deref(), context).await;
    }
    // No sandbox lets `sudo` gain rights, and a function made inside would only read what was typed.
    let mut password = match confined.confinement().is_some() {
        true => Password::None,
        false => sudo::password(place, &asked.command, context).await,
    };
    let attempt = Attempt {
        place,
        confined,
        asked: &asked,
        timeout,
        context,
    };
    let ran = attempt.inside(&password).await;
    if cleared.defines {
        place.defined.outdate();
    }
    let first = match ran {
        Ok(finished) => finished,
        Err(error) => return Ok(unable(&error)),
    };
    let outcome = match attempt.freed(first, &mut password).await {
        Ok(outcome) => outcome,
        Err(error) => return Ok(unable(&error)),
    };
    let (finished, sandbox) = (&outcome.finished, outcome.sandbox);
    let mut answer = present(
        place, &asked, finished, timeout, &cleared, &password, sandbox,
    );
    if let Some(why) = outcome.kept_inside {
        answer.insert("sandbox_note".to_owned(), why.into());
    }
    Ok(text(Json::Object(answer).to_string()))
}

/// A command that may run.
struct Attempt<'a> {
    place: &'a Workplace,
    confined: &'a Confined,
    asked: &'a Asked,
    timeout: Duration,
    context: &'a ToolContext,
}

/// How a command ended, in the sandbox or out of it.
struct Outcome<'a> {
    finished: Finished,
    /// What it ran in.
    sandbox: &'a str,
    /// Why it was not let out.
    kept_inside: Option<String>,
}

impl<'a> Attempt<'a> {
    fn command(&self, password: &Password) -> Command {
        Command {
            text: self.asked.command.clone(),
            workdir: self.asked.workdir.clone(),
            timeout: self.timeout,
            input: None,
            terminal: self.asked.pty.then_some(TERMINAL),
            sudo_password: password.secret(),
            confinement: self.confined.confinement(),
        }
    }

    /// Runs it where commands run.
    async fn inside(&self, password: &Password) -> Result<Finished, ExecError> {
        let command = self.command(password);
        follow(self.place, &self.place.shell, command, self.context).await
    }

    /// Runs it once more without the sandbox, if that said no and a person lets it out.
    async fn freed(
        &self,
        first: Finished,
        password: &mut Password,
    ) -> Result<Outcome<'a>, ExecError> {
        let (place, asked, context) = (self.place, self.asked, self.context);
        let Some(line) = refused(&first, self.confined) else {
            return Ok(Outcome {
                finished: first,
                sandbox: self.confined.words(),
                kept_inside: None,
            });
        };
        // The sandbox said no; a person may let it out, once for each command.
        let action = Action::outside("terminal", &asked.command, &line);
        match place.guard.clear(&action, place, context).await {
            Clearance::Cleared(_) => {
                *password = sudo::password(place, &asked.command, context).await;
                let here = place.directory().display().to_string();
                let freed = Command {
                    workdir: Some(asked.workdir.clone().unwrap_or(here)),
                    confinement: None,
                    ..self.command(password)
                };
                Ok(Outcome {
                    finished: follow(place, &place.outside, freed, context).await?,
                    sandbox: LET_OUT,
                    kept_inside: None,
                })
            }
            Clearance::Refused(why) => Ok(Outcome {
                finished: first,
                sandbox: self.confined.words(),
                kept_inside: Some(why),
            }),
        }
    }
}

/// Runs a command and shows what it prints while it does.
async fn follow(
    place: &Workplace,
    shell: &Shell,
    command: Command,
    context: &ToolContext,
) -> Result<Finished, ExecError> {
    let (pieces, mut waiting) = mpsc::channel::<String>(PIECES);
    let redactor = place.redactor.snapshot();
    let scope = place.masking.of_command(&command.text);
    let shown = |text: &str| redactor.redact_in(scope, &strip_ansi(text)).into_owned();
    let mut unsent = Unsent::default();
    let mut on_output = |piece: &str| {
        unsent.push(piece);
        let Ok(permit) = pieces.try_reserve() else {
            return;
        };
        if let Some(ready) = unsent.ready() {
            let length = ready.len();
            permit.send(shown(ready));
            unsent.sent(length);
        }
    };
    let finished = {
        let running = shell.run(command, &context.cancel, &mut on_output);
        tokio::pin!(running);
        loop {
            tokio::select! {
                finished = &mut running => break finished,
                Some(piece) = waiting.recv() => context.host.show(context, piece).await,
            }
        }
    };
    // What came together with the end.
    while let Ok(piece) = waiting.try_recv() {
        context.host.show(context, piece).await;
    }
    let rest = unsent.rest();
    if !rest.is_empty() {
        context.host.show(context, shown(&rest)).await;
    }
    finished
}

/// What stands at the end of the output of a command that did not end by itself.
fn marker(ended: Ended, limit: Duration) -> Option<String> {
    match ended {
        Ended::Done => None,
        Ended::TimedOut => Some(format!("[timed out after {} s]", limit.as_secs())),
        Ended::Interrupted => Some("[interrupted]".to_owned()),
        Ended::Lost => Some("[lost: its outcome is not known]".to_owned()),
    }
}

/// What ended before its time may have said many things; that is not why it ended.
fn refused(finished: &Finished, confined: &Confined) -> Option<String> {
    match finished.ended {
        Ended::Done => refused_by_sandbox(confined, &finished.output.text, finished.exit_code),
        Ended::TimedOut | Ended::Interrupted | Ended::Lost => None,
    }
}

fn present(
    place: &Workplace,
    asked: &Asked,
    finished: &Finished,
    limit: Duration,
    cleared: &Cleared,
    password: &Password,
    sandbox: &str,
) -> Map<String, Json> {
    let stripped = strip_ansi(&finished.output.text);
    let mut output = place
        .redactor
        .snapshot()
        .redact_in(place.masking.of_command(&asked.command), stripped.trim())
        .into_owned();
    if let Some(marker) = marker(finished.ended, limit) {
        if !output.is_empty() {
            output.push('\n');
        }
        output.push_str(&marker);
    }
    let mut answer = Map::new();
    let rejected = password.was_rejected(place, &output);
    answer.insert("output".to_owned(), output.into());
    answer.insert("exit_code".to_owned(), finished.exit_code.into());
    let lost = finished.ended == Ended::Lost;
    answer.insert("error".to_owned(), lost.then_some(LOST).into());
    let mut add = |name: &str, value: Json| answer.insert(name.to_owned(), value);
    if let Some(note) = exit_code_note(&asked.command, finished.exit_code) {
        add("exit_code_meaning", note.into());
    }
    if let Some(note) = &cleared.note {
        add("approval", note.as_str().into());
    }
    for (name, remark) in remarks(finished) {
        add(name, remark);
    }
    if rejected {
        add("sudo_auth_failed", true.into());
        if matches!(password, Password::Typed(_)) {
            add("sudo_cache_cleared", true.into());
        }
    }
    add("backend", place.place().into());
    add("sandbox", sandbox.into());
    answer
}

/// What went otherwise than usual.
fn remarks(finished: &Finished) -> Vec<(&'static str, Json)> {
    let mut remarks = Vec::new();
    let mut add = |name, words: Json| remarks.push((name, words));
    if finished.output.omitted_bytes > 0 {
        add("truncated", true.into());
    }
    if let Some(gone) = &finished.missing_directory {
        let words = format!(
            "{} is gone; this ran in {}",
            gone.display(),
            finished.directory.display()
        );
        add("directory_note", words.into());
    }
    if let Some(folder) = &finished.unsaved {
        let words = format!(
            "what it exported or defined could not be written to {} (no space left, or not writable); the next \
             command starts without it",
            folder.display()
        );
        add("state_note", words.into());
    }
    if finished.started_over {
        let words = "the place where commands run was made anew: what earlier commands exported or defined, and their \
                     temporary files, are gone; this command began without them";
        add("state_note", words.into());
    }
    if finished.cut_off {
        let words = "something it left running did not end within two seconds of it and was ended; what is to go on belongs \
                     in background=true";
        add("left_running", words.into());
    }
    remarks
}
