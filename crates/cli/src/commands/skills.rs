//! `hermes skills`: skills of others, those of the program, and your own.

mod audit;
mod chosen;
mod find;
mod ground;
mod inspect;
mod install;
mod list;
pub(crate) mod pending;
mod program;
mod publish;
mod show;
mod snapshot;
mod tap;
mod update;

use hermes_core::FailureKind;
use hermes_skills::hub::{HubError, Recovered, SourceError, recover};

use crate::args::skills::{Kind, ListArgs, SkillsArgs, SkillsCommand};
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::output::Output;

use ground::{Ground, Reaching};
use pending::Decision;

pub(super) use program::{accept, refuse};

/// Who can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asking {
    /// Whoever is at the terminal.
    Terminal,
    /// Nobody here: what needs a yes is told, and the caller asks in its own way.
    Elsewhere,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Done,
    /// It waits for a yes that was not given.
    NeedsYes,
}

pub(crate) fn run(args: SkillsArgs, context: &Context, output: &mut Output) -> Outcome {
    carry_out(args, Asking::Terminal, context, output).map(|_| ())
}

/// The same for a conversation, which asks in its own way.
pub(crate) fn carry_out(
    args: SkillsArgs,
    asking: Asking,
    context: &Context,
    output: &mut Output,
) -> Outcome<Ended> {
    let command = args.command.unwrap_or(SkillsCommand::List(ListArgs {
        source: Kind::All,
        enabled_only: false,
        json: false,
    }));
    let ground = Ground::new(context, asking, reaching(&command))?;
    let recovered = recover(&context.home()?.skills_dir(), context.clock().clone())?;
    told(recovered, output)?;
    match command {
        SkillsCommand::Browse(args) => find::browse(&args, &ground, output)?,
        SkillsCommand::Search(args) => find::search(&args, &ground, output)?,
        SkillsCommand::Install(args) => return install::run(&args, &ground, output),
        SkillsCommand::Inspect { skill, json } => inspect::run(&skill, json, &ground, output)?,
        SkillsCommand::List(args) => list::run(&args, &ground, output)?,
        SkillsCommand::Check { name, json } => {
            update::check(name.as_deref(), json, &ground, output)?;
        }
        SkillsCommand::Update(args) => return update::run(&args, &ground, output),
        SkillsCommand::Audit(args) => audit::run(&args, &ground, output)?,
        SkillsCommand::Uninstall { name, yes } => {
            return install::uninstall(&name, yes, &ground, output);
        }
        SkillsCommand::Reset { name, restore, yes } => {
            return program::reset(&name, restore, yes, &ground, output);
        }
        SkillsCommand::ListModified { json } => program::modified(json, &ground, output)?,
        SkillsCommand::Diff { name } => diff(&name, &ground, output)?,
        SkillsCommand::Pending { json: true } => {
            pending::list_json(&pending::staging(&ground)?, output)?;
        }
        SkillsCommand::Pending { json: false } => {
            pending::list(&pending::staging(&ground)?, "hermes skills", output)?;
        }
        SkillsCommand::Approve { id } => {
            let services = pending::services(&ground)?;
            pending::decide(&services, &id, Decision::Approve, output)?;
        }
        SkillsCommand::Reject { id } => {
            let services = pending::services(&ground)?;
            pending::decide(&services, &id, Decision::Reject, output)?;
        }
        SkillsCommand::OptOut { remove, yes } => {
            return program::opt_out(remove, yes, &ground, output);
        }
        SkillsCommand::OptIn { sync } => program::opt_in(sync, &ground, output)?,
        SkillsCommand::RepairOfficial { name, restore, yes } => {
            return program::repair(&name, restore, yes, &ground, output);
        }
        SkillsCommand::Publish(args) => return publish::run(&args, &ground, output),
        SkillsCommand::Snapshot { command } => return snapshot::run(command, &ground, output),
        SkillsCommand::Tap { command } => tap::run(command, &ground, output)?,
        SkillsCommand::Config(args) => chosen::run(&args, &ground, output)?,
    }
    Ok(Ended::Done)
}

/// What a waiting change would do, or what was changed of a skill of the program.
fn diff(name: &str, ground: &Ground<'_>, output: &mut Output) -> Outcome {
    match pending::waits(&pending::staging(ground)?, name) {
        true => pending::decide(&pending::services(ground)?, name, Decision::Show, output),
        false => program::diff(name, ground, output),
    }
}

fn reaching(command: &SkillsCommand) -> Reaching {
    match command {
        SkillsCommand::Browse(_)
        | SkillsCommand::Search(_)
        | SkillsCommand::Install(_)
        | SkillsCommand::Inspect { .. }
        | SkillsCommand::Check { .. }
        | SkillsCommand::Update(_)
        | SkillsCommand::Publish(_)
        | SkillsCommand::Snapshot { .. } => Reaching::Network,
        SkillsCommand::List(_)
        | SkillsCommand::Audit(_)
        | SkillsCommand::Uninstall { .. }
        | SkillsCommand::Reset { .. }
        | SkillsCommand::ListModified { .. }
        | SkillsCommand::Diff { .. }
        | SkillsCommand::Pending { .. }
        | SkillsCommand::Approve { .. }
        | SkillsCommand::Reject { .. }
        | SkillsCommand::OptOut { .. }
        | SkillsCommand::OptIn { .. }
        | SkillsCommand::RepairOfficial { .. }
        | SkillsCommand::Tap { .. }
        | SkillsCommand::Config(_) => Reaching::Home,
    }
}

/// Says what a crash had left behind.
fn told(recovered: Recovered, output: &mut Output) -> Outcome {
    for name in &recovered.finished {
        output.remark(format!("{name}: what had been interrupted is finished."))?;
    }
    for name in &recovered.taken_back {
        output.remark(format!("{name}: what had been interrupted is taken back."))?;
    }
    Ok(())
}

impl From<HubError> for Complaint {
    fn from(error: HubError) -> Self {
        let kind = match &error {
            HubError::Source { source, .. } | HubError::NotTaken { source, .. } => match source {
                SourceError::NotFound { .. } => FailureKind::NotFound,
                SourceError::Blocked { .. }
                | SourceError::HostileArchive { .. }
                | SourceError::BadPath { .. }
                | SourceError::TooLarge { .. }
                | SourceError::TooManyFiles { .. } => FailureKind::Refused,
                _ => FailureKind::Unavailable,
            },
            HubError::BadIdentifier { .. }
            | HubError::BadRepository { .. }
            | HubError::BadName { .. }
            | HubError::BadCategory { .. }
            | HubError::Ambiguous { .. } => FailureKind::BadRequest,
            HubError::Unknown { .. } | HubError::NotInstalled { .. } => FailureKind::NotFound,
            HubError::Blocked { .. } | HubError::Link { .. } => FailureKind::Refused,
            HubError::NotASkill { .. }
            | HubError::SecondSkill { .. }
            | HubError::BadHead { .. }
            | HubError::BadState { .. }
            | HubError::BadSetting { .. } => FailureKind::BadInput,
            HubError::Installed { .. }
            | HubError::NameTaken { .. }
            | HubError::Raced { .. }
            | HubError::Busy { .. }
            | HubError::Io { .. }
            | HubError::File(_)
            | HubError::Scan(_)
            | HubError::NeedsKey { .. } => FailureKind::Unavailable,
        };
        let hint = error.hint();
        Self::caused(kind, error).hint(hint)
    }
}

impl From<hermes_skills::SyncError> for Complaint {
    fn from(error: hermes_skills::SyncError) -> Self {
        let hint = error.hint();
        Self::caused(FailureKind::Unavailable, error).hint(hint)
    }
}
