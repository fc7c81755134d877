//! Trying whether another machine lets commands in, before anything is written.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_config::Variable;
use hermes_program::{Limits, ProgramError};
use tokio::process::Command;

use crate::commands::ask;
use crate::commands::setup::draft::Draft;
use crate::complaint::Outcome;
use crate::context::Context;
use crate::output::{Output, one_line};

/// How long the machine may take to answer.
const CONNECT: Duration = Duration::from_secs(10);
/// A login may run things of its own, and print a greeting.
const LIMITS: Limits = Limits {
    time: Duration::from_secs(30),
    printed: 256 * 1024,
    complaint: 64 * 1024,
};
/// Most of what ssh says that is shown.
const MOST_SAID: usize = 300;
/// What ssh needs to know of us.
const CARRIED: [&str; 5] = ["PATH", "HOME", "USER", "LOGNAME", "SSH_AUTH_SOCK"];

/// Offers one connection with the answers so far. Whatever comes of it, they stay: the machine may be off just now.
pub(super) fn offer(draft: &Draft, context: &Context, output: &mut Output) -> Outcome {
    if !ask::agreed("Try the connection now?", output)? {
        return Ok(());
    }
    output.flush()?;
    let runtime = crate::commands::chat::runtime()?;
    let said = match runtime.block_on(tried(draft, context)) {
        Ok(()) => "The machine answers and lets commands in.".to_owned(),
        Err(why) => format!(
            "It does not work yet: {}. The answers are kept; hermes setup terminal asks again.",
            one_line(why.trim_end_matches('.'))
        ),
    };
    Ok(output.line(said)?)
}

async fn tried(draft: &Draft, context: &Context) -> Result<(), String> {
    let folders = context.programs();
    let mut programs = folders.iter().map(|folder| folder.join("ssh"));
    let program = programs.find(|path| path.is_file());
    let program = program.ok_or("ssh is not installed")?;
    let mut command = Command::new(program);
    command
        .args(arguments(
            draft,
            context.environment.filled(&Variable::HOME),
        ))
        .env_clear();
    for name in CARRIED {
        if let Some(value) = context.environment.get_named(name) {
            command.env(name, value);
        }
    }
    let done = hermes_program::run(command, &[], LIMITS).await;
    let done = done.map_err(|error| match error {
        ProgramError::NotStarted(error) => format!("ssh cannot be started: {error}"),
        ProgramError::TooSlow(limit) => format!("no answer within {} s", limit.as_secs()),
        error @ (ProgramError::TooMuch(_) | ProgramError::Lost(_)) => error.to_string(),
    })?;
    if done.status.success() {
        return Ok(());
    }
    let said = done.complaints().pop();
    let said = said.unwrap_or_else(|| "ssh said nothing".to_owned());
    Err(said.chars().take(MOST_SAID).collect())
}

/// What ssh is told: the same as when commands run over there.
fn arguments(draft: &Draft, home: Option<&str>) -> Vec<String> {
    let mut arguments: Vec<String> = [
        "-T".to_owned(),
        "-o".to_owned(),
        "BatchMode=yes".to_owned(),
        "-o".to_owned(),
        "StrictHostKeyChecking=accept-new".to_owned(),
        "-o".to_owned(),
        format!("ConnectTimeout={}", CONNECT.as_secs()),
        "-o".to_owned(),
        "LogLevel=ERROR".to_owned(),
    ]
    .into();
    let mut add = |flag: &str, value: String| {
        if !value.is_empty() {
            arguments.extend([flag.to_owned(), value]);
        }
    };
    add("-p", draft.value("terminal.ssh_port"));
    add("-l", draft.value("terminal.ssh_user"));
    let key = draft.value("terminal.ssh_key");
    let key = match (key.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => Path::new(home).join(rest),
        (Some(_) | None, _) => PathBuf::from(&key),
    };
    add("-i", key.display().to_string());
    let host = draft.value("terminal.ssh_host");
    arguments.extend(["--".to_owned(), host, "exit 0".to_owned()]);
    arguments
}
