//! Commands of a conversation about what the agent does and did to this machine.

use hermes_core::Op;
use hermes_tools::CheckpointError;
use tokio_util::sync::CancellationToken;

use super::conversation::Conversation;
use crate::commands::checkpoints::{list, told};
use crate::complaint::{Complaint, Outcome};
use crate::output::{Output, cleaned};

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
    let Some(checkpoints) = conversation.house.hands.checkpoints() else {
        return Err(Complaint::bad_request("no checkpoints are taken").hint(
            "hermes config set checkpoints.enabled true turns them on, --checkpoints for one conversation",
        ));
    };
    let (directory, cancel) = (&conversation.front().directory, CancellationToken::new());
    let (text, went_back) = match asked {
        Rollback::List => {
            let snapshots = checkpoints.list(directory, &cancel).await;
            let (snapshots, zone) = (snapshots.map_err(advised)?, conversation.house.clock.zone());
            return list(&snapshots, false, zone, output).map(|()| false);
        }
        Rollback::Diff(which) => {
            let diff = checkpoints.diff(directory, which, &cancel).await;
            (shortened(&diff.map_err(advised)?), false)
        }
        Rollback::To { which, file } => {
            let restored = checkpoints.restore(directory, which, file, &cancel).await;
            (told(&restored.map_err(advised)?), file.is_none())
        }
    };
    output.line(text)?;
    Ok(went_back)
}

/// What failed, with what to do about it in a conversation.
fn advised(error: CheckpointError) -> Complaint {
    let hint = match &error {
        CheckpointError::Unknown(_) => Some("/rollback without a number lists them"),
        CheckpointError::Outside(_) => Some("name a file below this directory"),
        CheckpointError::Git { .. }
        | CheckpointError::TimedOut(_)
        | CheckpointError::Cancelled
        | CheckpointError::Io { .. } => Some("hermes checkpoints status looks at the store"),
        // What is said elsewhere holds here too.
        CheckpointError::NoGit(_) | CheckpointError::Unfit { .. } => None,
    };
    let complaint = Complaint::from(error);
    match hint {
        Some(hint) => complaint.hint(hint),
        None => complaint,
    }
}

/// As much of a comparison as is shown.
pub(super) fn shortened(diff: &str) -> String {
    let diff = cleaned(diff.trim_end());
    let lines: Vec<&str> = diff.lines().collect();
    match lines.len().checked_sub(MOST_OF_DIFF) {
        None | Some(0) => diff,
        Some(more) => format!("{}\n… {more} more lines", lines[..MOST_OF_DIFF].join("\n")),
    }
}

/// Switches asking off, or on again.
pub(super) fn yolo(conversation: &Conversation, output: &mut Output) -> Outcome {
    let front = conversation.front();
    let asking = !front.is_asking();
    front.set_asking(asking);
    front.send(Op::SetMode(conversation.house.mode_when(asking)));
    Ok(output.line(match asking {
        false => "Risky commands run without asking now. What is hard-blocked still never runs.",
        true => "You are asked before risky commands again.",
    })?)
}
