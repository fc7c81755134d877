//! `hermes checkpoints`: snapshots of directories, taken before the agent changed something in them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hermes_config::{Config, Variable};
use hermes_tools::{Checkpoints, Restored, Snapshot};
use jiff::tz::TimeZone;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::ask::confirm;
use crate::args::checkpoints::{CheckpointsArgs, CheckpointsCommand};
use crate::complaint::Outcome;
use crate::context::Context;
use crate::hands::{Trusted, checkpoint_settings};
use crate::output::{Output, one_line};
use crate::size;
use crate::table::Table;
use crate::when::{iso, show};

pub(crate) fn run(args: CheckpointsArgs, context: &Context, output: &mut Output) -> Outcome {
    let command = args
        .command
        .unwrap_or(CheckpointsCommand::Status { json: false });
    let config = &context.settings()?.config;
    let home = context.home()?;
    let settings = checkpoint_settings(
        config,
        home,
        &Trusted::new(context, config, home),
        context
            .environment
            .filled(&Variable::HOME)
            .map(PathBuf::from),
        context.clock().clone(),
    );
    let checkpoints = Checkpoints::new(settings);
    let directory = context.directory().unwrap_or_default();
    let runtime = super::chat::runtime()?;
    runtime.block_on(async {
        let store = Store {
            checkpoints: &checkpoints,
            config,
            directory: &directory,
            zone: context.zone(),
        };
        store.carry_out(command, output).await?;
        checkpoints.close().await;
        Ok(())
    })
}

/// The checkpoints, as commands see them.
struct Store<'a> {
    checkpoints: &'a Arc<Checkpoints>,
    config: &'a Config,
    /// The directory that is meant.
    directory: &'a Path,
    zone: &'a TimeZone,
}

impl Store<'_> {
    async fn carry_out(&self, command: CheckpointsCommand, output: &mut Output) -> Outcome {
        let checkpoints = self.checkpoints;
        let cancel = CancellationToken::new();
        match command {
            CheckpointsCommand::Status { json } => {
                status(checkpoints, self.config, json, self.zone, output).await?;
            }
            CheckpointsCommand::List { json } => {
                let snapshots = checkpoints.list(self.directory, &cancel).await?;
                list(&snapshots, json, self.zone, output)?;
            }
            CheckpointsCommand::Diff { which } => {
                let diff = checkpoints.diff(self.directory, &which, &cancel).await?;
                output.line(diff.trim_end())?;
            }
            CheckpointsCommand::Restore { which, file, yes } => {
                if !yes {
                    confirm(&format!("Go back to checkpoint {which}"))?;
                }
                let file = file.as_deref();
                let restored = checkpoints
                    .restore(self.directory, &which, file, &cancel)
                    .await?;
                output.line(told(&restored))?;
            }
            CheckpointsCommand::Prune => {
                let pruned = checkpoints.prune(&cancel).await?;
                output.line(format!(
                    "removed {} checkpoints and {} directories",
                    pruned.snapshots, pruned.projects
                ))?;
            }
            CheckpointsCommand::Clear { yes } => {
                if !yes {
                    confirm("Remove all checkpoints")?;
                }
                checkpoints.clear().await?;
                output.line("removed all checkpoints")?;
            }
            CheckpointsCommand::ClearLegacy => {
                let count = checkpoints.clear_legacy().await?;
                output.line(format!("removed {count} older stores"))?;
            }
        }
        Ok(())
    }
}

async fn status(
    checkpoints: &Arc<Checkpoints>,
    config: &Config,
    as_json: bool,
    zone: &TimeZone,
    output: &mut Output,
) -> Outcome {
    let enabled = config.checkpoints.enabled;
    let status = checkpoints.status(&CancellationToken::new()).await?;
    if as_json {
        let projects: Vec<_> = status
            .projects
            .iter()
            .map(|project| {
                json!({
                    "directory": project.workdir,
                    "checkpoints": project.snapshots,
                    "exists": project.exists,
                    "last_at": iso(project.last_touch),
                })
            })
            .collect();
        return Ok(output.json(&json!({
            "enabled": enabled,
            "bytes": status.bytes,
            "projects": projects,
        }))?);
    }
    let word = if enabled { "on" } else { "off" };
    output.line(format!(
        "Checkpoints are {word} and take {}.",
        size::show(status.bytes)
    ))?;
    if !enabled {
        output.line("Turn them on with: hermes config set checkpoints.enabled true")?;
    }
    if status.projects.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(["DIRECTORY", "CHECKPOINTS", "LAST"]);
    for project in status.projects {
        let gone = if project.exists { "" } else { " (gone)" };
        table.row([
            format!("{}{gone}", project.workdir.display()),
            project.snapshots.to_string(),
            show(project.last_touch, zone),
        ]);
    }
    Ok(table.print(output)?)
}

/// The checkpoints of a directory, numbered as other commands take them.
pub(super) fn list(
    snapshots: &[Snapshot],
    as_json: bool,
    zone: &TimeZone,
    output: &mut Output,
) -> Outcome {
    if as_json {
        let numbered = snapshots.iter().zip(1..);
        let snapshots: Vec<_> = numbered
            .map(|(snapshot, number)| {
                json!({
                    "number": number,
                    "hash": snapshot.hash,
                    "taken_at": iso(snapshot.taken_at as f64),
                    "reason": snapshot.reason,
                })
            })
            .collect();
        return Ok(output.json(&json!({ "checkpoints": snapshots }))?);
    }
    if snapshots.is_empty() {
        return Ok(output.line("There are no checkpoints of this directory.")?);
    }
    let mut table = Table::new(["#", "HASH", "TAKEN", "BEFORE"]);
    for (snapshot, number) in snapshots.iter().zip(1..) {
        table.row([
            number.to_string(),
            snapshot.hash.chars().take(8).collect(),
            show(snapshot.taken_at as f64, zone),
            one_line(&snapshot.reason),
        ]);
    }
    Ok(table.print(output)?)
}

/// What going back did, and how to undo it.
pub(super) fn told(restored: &Restored) -> String {
    let mut text = format!(
        "Back at {}: {} files written, {} removed",
        restored.snapshot.hash.chars().take(8).collect::<String>(),
        restored.written.len(),
        restored.removed.len()
    );
    if !restored.left_alone.is_empty() {
        text.push_str(&format!(
            ", {} left alone because they are ignored or too large",
            restored.left_alone.len()
        ));
    }
    if let Some(safety) = &restored.safety {
        let hash: String = safety.hash.chars().take(8).collect();
        text.push_str(&format!(".\nUndo with: hermes checkpoints restore {hash}"));
    }
    text
}
