//! `hermes sandbox`: the containers commands run in.

mod returned;

use std::path::Path;

use hermes_config::{Backend as Choice, Home};
use hermes_core::SystemRandom;
use hermes_exec::sandboxes::{self, Operator, Reclaimed, Sandbox};
use hermes_exec::{BackendConfig, ExecError};
use jiff::tz::TimeZone;
use serde_json::json;

use super::ask::confirm;
use crate::args::sandbox::{SandboxArgs, SandboxCommand};
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::hands::containers;
use crate::output::Output;
use crate::table::Table;
use crate::when::{iso, show};

const NONE: &str = "No containers of Hermes are here.";

pub(crate) fn run(args: SandboxArgs, context: &Context, output: &mut Output) -> Outcome {
    let runtime = super::chat::runtime()?;
    let _entered = runtime.enter();
    runtime.block_on(async {
        match args.command {
            SandboxCommand::Ls { json } => {
                list(&Place::of(context)?, json, context.zone(), output).await
            }
            SandboxCommand::Rm { idle: true, .. } => {
                reclaim(&Place::of(context)?, context, output).await
            }
            SandboxCommand::Rm {
                names,
                all,
                files,
                yes,
                ..
            } => {
                let place = Place::of(context)?;
                let (wanted, others) = chosen(place.found().await?, &names, all)?;
                if wanted.is_empty() {
                    return Ok(output.line(NONE)?);
                }
                if !yes {
                    confirm(&question(&wanted, files))?;
                }
                remove(&place, &wanted, output).await?;
                if files {
                    remove_files(&wanted, &others, output).await?;
                }
                Ok(())
            }
            SandboxCommand::Returned { command } => returned::run(command, context, output),
        }
    })
}

/// Those that are meant, and the rest.
fn chosen(
    found: Vec<Sandbox>,
    names: &[String],
    all: bool,
) -> Outcome<(Vec<Sandbox>, Vec<Sandbox>)> {
    let known = |name: &&String| found.iter().any(|sandbox| sandbox.name == **name);
    if let Some(name) = names.iter().find(|name| !known(name)) {
        return Err(
            Complaint::bad_request(format!("there is no container `{name}` of Hermes"))
                .hint("hermes sandbox ls shows them"),
        );
    }
    let meant = |sandbox: &Sandbox| all || names.contains(&sandbox.name);
    Ok(found.into_iter().partition(meant))
}

/// What is asked before anything is removed.
fn question(wanted: &[Sandbox], files: bool) -> String {
    let names: Vec<&str> = wanted.iter().map(|sandbox| &*sandbox.name).collect();
    let names = names.join(", ");
    match (files, wanted.iter().any(|sandbox| !sandbox.kept.is_empty())) {
        (true, _) => format!("Remove {names} and all files"),
        (false, true) => format!("Remove {names} (kept files stay; --files removes them)"),
        (false, false) => format!("Remove {names} and what is in it"),
    }
}

/// Where the sandboxes and their leases are.
struct Place {
    config: BackendConfig,
    home: Home,
    /// Whether commands run in sandboxes now.
    in_use: bool,
}

impl Place {
    fn of(context: &Context) -> Outcome<Self> {
        let home = context.home()?.clone();
        let config = &context.settings()?.config;
        Ok(Self {
            config: containers(context, config, &home, &SystemRandom)?,
            in_use: !matches!(config.terminal.backend, Choice::Local | Choice::Ssh),
            home,
        })
    }

    fn operator(&self) -> Outcome<(Operator<'_>, &Path)> {
        let operator = self.config.operator();
        operator.ok_or_else(|| Complaint::bad_request("this backend has no sandboxes"))
    }

    /// All there are. An engine that does not answer is a failure only where one is used or was.
    async fn found(&self) -> Outcome<Vec<Sandbox>> {
        let (operator, folder) = self.operator()?;
        match sandboxes::list(operator, folder).await {
            Err(ExecError::Unavailable { .. }) if !self.in_use && !folder.exists() => Ok(vec![]),
            found => Ok(found?),
        }
    }
}

async fn list(place: &Place, as_json: bool, zone: &TimeZone, output: &mut Output) -> Outcome {
    let found = place.found().await?;
    if as_json {
        let found: Vec<_> = found.iter().map(as_value).collect();
        return Ok(output.json(&json!({ "sandboxes": found }))?);
    }
    if found.is_empty() {
        return Ok(output.line(NONE)?);
    }
    let mut table = Table::new(["NAME", "IMAGE", "STATE", "USED BY", "PROFILE", "MADE"]);
    for sandbox in found {
        let users = users(&sandbox);
        let state = if sandbox.running {
            "running"
        } else {
            "stopped"
        };
        table.row([
            sandbox.name,
            sandbox.image,
            state.to_owned(),
            users,
            sandbox.profile,
            show(sandbox.created_at as f64, zone),
        ]);
    }
    Ok(table.print(output)?)
}

fn users(sandbox: &Sandbox) -> String {
    let alive = sandbox.leases.iter().filter(|lease| lease.owner.is_alive());
    let users: Vec<String> = alive.map(|lease| lease.owner.pid.to_string()).collect();
    match users.is_empty() {
        true => "nobody".to_owned(),
        false => users.join(", "),
    }
}

fn as_value(sandbox: &Sandbox) -> serde_json::Value {
    json!({
        "name": sandbox.name,
        "image": sandbox.image,
        "running": sandbox.running,
        "task": sandbox.task,
        "profile": sandbox.profile,
        "lifetime_seconds": sandbox.lifetime.as_secs(),
        "created_at": iso(sandbox.created_at as f64),
        "files": sandbox.kept,
        "leases": sandbox.leases,
    })
}

async fn remove(place: &Place, wanted: &[Sandbox], output: &mut Output) -> Outcome {
    for Sandbox { name, .. } in wanted {
        let (operator, folder) = place.operator()?;
        // Somebody else may have been faster.
        sandboxes::remove(operator, folder, name).await?;
        output.line(format!("removed {name}"))?;
    }
    Ok(())
}

async fn remove_files(wanted: &[Sandbox], others: &[Sandbox], output: &mut Output) -> Outcome {
    for sandbox in wanted {
        for removed in sandboxes::remove_files(sandbox, others).await? {
            output.line(format!("removed {}", removed.display()))?;
        }
    }
    Ok(())
}

async fn reclaim(place: &Place, context: &Context, output: &mut Output) -> Outcome {
    let profile = place.home.profile().to_string();
    let clock = &**context.clock();
    let (operator, folder) = place.operator()?;
    let reclaimed = sandboxes::reclaim(operator, folder, &profile, clock).await?;
    if reclaimed.is_empty() {
        return Ok(output.line("All containers are in use, or were a short while ago.")?);
    }
    for one in reclaimed {
        output.line(match one {
            Reclaimed::Stopped(name) => format!("stopped {name}"),
            Reclaimed::Removed(name) => format!("removed {name}"),
        })?;
    }
    Ok(())
}
