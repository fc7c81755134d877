//! `hermes curator`: looks after the skills the agent has written.

mod behind;
mod change;
mod merge;
mod show;
mod written;

use std::sync::Arc;

use hermes_config::Curator as Settings;
use hermes_core::FailureKind;
use hermes_skills::{Curator, CuratorError, Library};

use super::ask::confirm;
use super::skills::{Asking, Ended};
use crate::args::curator::{CuratorArgs, CuratorCommand};
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::hands::library_at;
use crate::output::Output;

pub(crate) use behind::start as start_behind;
pub(crate) use merge::Means;

/// What the commands work on.
struct Desk<'a> {
    context: &'a Context,
    asking: Asking,
    library: Arc<Library>,
    curator: Curator,
    settings: Settings,
}

impl<'a> Desk<'a> {
    fn open(context: &'a Context, asking: Asking) -> Outcome<Self> {
        let config = context.settings()?.config;
        let library = Arc::new(library_at(context, &config, context.home()?));
        Ok(Self {
            context,
            asking,
            curator: Curator::new(library.clone(), config.curator.clone()),
            library,
            settings: config.curator,
        })
    }

    /// Asks whether to go on: `false` when the one who can say so is not here.
    fn agreed(&self, question: &str, yes: bool) -> Outcome<bool> {
        match self.asking {
            _ if yes => Ok(true),
            Asking::Terminal => confirm(question).map(|()| true),
            Asking::Elsewhere => Ok(false),
        }
    }
}

/// The curator of a home.
pub(crate) fn curator_at(context: &Context) -> Outcome<Curator> {
    Ok(Desk::open(context, Asking::Terminal)?.curator)
}

pub(crate) fn run(args: CuratorArgs, context: &Context, output: &mut Output) -> Outcome {
    carry_out(args, Asking::Terminal, context, output).map(|_| ())
}

/// The same for a conversation, which asks in its own way.
pub(crate) fn carry_out(
    args: CuratorArgs,
    asking: Asking,
    context: &Context,
    output: &mut Output,
) -> Outcome<Ended> {
    let command = args
        .command
        .unwrap_or(CuratorCommand::Status { json: false });
    let desk = Desk::open(context, asking)?;
    match command {
        CuratorCommand::Status { json } => show::status(&desk, json, output)?,
        CuratorCommand::Usage { json } => show::usage(&desk, json, output)?,
        CuratorCommand::Run(args) => {
            let merges = args.consolidate || desk.settings.consolidate;
            match (args.dry_run, merges) {
                (true, false) => show::plan(&desk, args.json, output)?,
                (true, true) => change::try_out(&desk, args.json, output)?,
                (false, merges) => change::run(&desk, merges, args.json, output)?,
            }
        }
        CuratorCommand::Pause => change::pause(&desk, true, output)?,
        CuratorCommand::Resume => change::pause(&desk, false, output)?,
        CuratorCommand::Pin { name } => change::pin(&desk, &name, true, output)?,
        CuratorCommand::Unpin { name } => change::pin(&desk, &name, false, output)?,
        CuratorCommand::Archive { name } => change::archive(&desk, &name, output)?,
        CuratorCommand::Restore { name } => change::restore(&desk, &name, output)?,
        CuratorCommand::ListArchived { json } => show::archived(&desk, json, output)?,
        CuratorCommand::Prune { days, yes } => return change::prune(&desk, days, yes, output),
        CuratorCommand::Backup => change::backup(&desk, output)?,
        CuratorCommand::Rollback {
            list: true, json, ..
        } => show::backups(&desk, json, output)?,
        CuratorCommand::Rollback {
            list: false,
            name,
            yes,
            ..
        } => return change::rollback(&desk, name, yes, output),
    }
    Ok(Ended::Done)
}

impl From<CuratorError> for Complaint {
    fn from(error: CuratorError) -> Self {
        let kind = match &error {
            CuratorError::Ambiguous { .. } => FailureKind::BadRequest,
            CuratorError::Unknown { .. }
            | CuratorError::NotArchived { .. }
            | CuratorError::NoBackup { .. } => FailureKind::NotFound,
            CuratorError::Taken { .. }
            | CuratorError::InTheWay { .. }
            | CuratorError::Pinned { .. }
            | CuratorError::Foreign { .. } => FailureKind::Refused,
            CuratorError::BadBackup { .. } => FailureKind::Damaged,
            CuratorError::File(_)
            | CuratorError::Usage(_)
            | CuratorError::Busy
            | CuratorError::Io { .. } => FailureKind::Unavailable,
        };
        let hint = error.hint();
        Self::caused(kind, error).hint(hint)
    }
}
