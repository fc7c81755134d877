//! Commands of a conversation about what the agent does and did to this machine.

use hermes_core::{Op, RunMode};
use tokio_util::sync::CancellationToken;

use super::open::Conversation;
use crate::commands::checkpoints::{list, told};
use crate::complaint::Outcome;
use crate::output::{Output, printable};

/// Lines of a comparison that are shown.
const MOST_OF_DIFF: usize = 80;

/// What is asked about the states files were in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rollback<'a> {
    List,
    Diff(&'a str),
    To {
        which: &'a str,
        file: Option<&'a str>,
    },
}

impl<'a> Rollback<'a> {
    pub(super) fn parse(rest: Option<&'a str>) -> Self {
        let Some(rest) = rest else {
            return Self::List;
        };
        match rest.split_once(char::is_whitespace) {
            Some(("diff", which)) => Self::Diff(which.trim()),
            Some((which, file)) => Self::To {
                which,
                file: Some(file.trim()),
            },
            None => Self::To {
                which: rest,
                file: None,
            },
        }
    }
}

/// Lists checkpoints, compares with one or goes back to one. Says whether all files went back.
pub(super) async fn rollback(
    conversation: &Conversation,
    asked: Rollback<'_>,
    output: &mut Output,
) -> Outcome<bool> {
    let Some(checkpoints) = conversation.hands.checkpoints() else {
        output.line("No checkpoints are taken. Turn them on with: hermes config set checkpoints.enabled true")?;
        return Ok(false);
    };
    let (directory, cancel) = (&conversation.directory, CancellationToken::new());
    let done = match asked {
        Rollback::List => match checkpoints.list(directory, &cancel).await {
            Ok(snapshots) => return list(&snapshots, false, output).map(|()| false),
            Err(error) => Err(error),
        },
        Rollback::Diff(which) => checkpoints
            .diff(directory, which, &cancel)
            .await
            .map(|diff| (shortened(&diff), false)),
        Rollback::To { which, file } => checkpoints
            .restore(directory, which, file, &cancel)
            .await
            .map(|restored| (told(&restored), file.is_none())),
    };
    match done {
        Ok((text, went_back)) => {
            output.line(text)?;
            Ok(went_back)
        }
        Err(error) => {
            output.line(printable(&error.to_string()))?;
            Ok(false)
        }
    }
}

fn shortened(diff: &str) -> String {
    let diff = printable(diff.trim_end());
    let lines: Vec<&str> = diff.lines().collect();
    match lines.len().checked_sub(MOST_OF_DIFF) {
        None | Some(0) => diff,
        Some(more) => format!("{}\n… {more} more lines", lines[..MOST_OF_DIFF].join("\n")),
    }
}

/// Switches asking off, or on again. Says whether there is asking now.
pub(super) fn yolo(
    conversation: &Conversation,
    asking: bool,
    output: &mut Output,
) -> Outcome<bool> {
    let (mode, words) = match (asking, conversation.mode) {
        (true, _) => (
            RunMode::Off,
            "Risky commands run without asking now. What is hard-blocked still never runs.",
        ),
        (false, RunMode::Off) => (RunMode::Manual, "You are asked before risky commands."),
        (false, mode) => (mode, "You are asked before risky commands again."),
    };
    conversation.session.send(Op::SetMode(mode));
    output.line(words)?;
    Ok(!asking)
}

/// Ends the processes of this conversation.
pub(super) async fn stop(conversation: &Conversation, output: &mut Output) -> Outcome {
    let ended = conversation
        .hands
        .end_processes(conversation.session.id())
        .await;
    output.line(match ended {
        0 => "Nothing runs in the background.".to_owned(),
        1 => "Ended one process.".to_owned(),
        more => format!("Ended {more} processes."),
    })?;
    Ok(())
}
