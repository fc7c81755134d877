//! `hermes sandbox`: the containers commands run in.

use std::path::Path;

use hermes_config::Home;
use hermes_core::SystemRandom;
use hermes_exec::BackendConfig;
use hermes_exec::sandboxes::{self, Operator, Reclaimed, Sandbox};
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
    let place = Place::of(context)?;
    match args.command {
        SandboxCommand::Ls { json } => runtime.block_on(list(&place, json, output)),
        SandboxCommand::Rm {
            mut names,
            idle,
            all,
            yes,
        } => {
            if idle {
                return runtime.block_on(reclaim(&place, context, output));
            }
            if all {
                let (operator, folder) = place.operator()?;
                let found = runtime.block_on(sandboxes::list(operator, folder))?;
                names = found.into_iter().map(|sandbox| sandbox.name).collect();
            }
            if names.is_empty() {
                return Ok(output.line(NONE)?);
            }
            if !yes {
                confirm(&format!("Remove {} and what is in it", names.join(", ")))?;
            }
            runtime.block_on(remove(&place, &names, output))
        }
    }
}

/// Where the sandboxes and their leases are.
struct Place {
    config: BackendConfig,
    home: Home,
}

impl Place {
    fn of(context: &Context) -> Outcome<Self> {
        let home = context.home()?.clone();
        let config = &context.settings()?.config;
        Ok(Self {
            config: containers(context, config, &home, &SystemRandom)?,
            home,
        })
    }

    fn operator(&self) -> Outcome<(Operator<'_>, &Path)> {
        let operator = self.config.operator();
        operator.ok_or_else(|| Complaint::bad_request("this backend has no sandboxes"))
    }
}

async fn list(place: &Place, as_json: bool, output: &mut Output) -> Outcome {
    let (operator, folder) = place.operator()?;
    let found = sandboxes::list(operator, folder).await?;
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
            show(sandbox.created_at as f64),
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
        "leases": sandbox.leases,
    })
}

async fn remove(place: &Place, names: &[String], output: &mut Output) -> Outcome {
    for name in names {
        let (operator, folder) = place.operator()?;
        if !sandboxes::remove(operator, folder, name).await? {
            return Err(Complaint::bad_request(format!(
                "there is no container `{name}` of Hermes"
            ))
            .hint("hermes sandbox ls shows them"));
        }
        output.line(format!("removed {name}"))?;
    }
    Ok(())
}

async fn reclaim(place: &Place, context: &Context, output: &mut Output) -> Outcome {
    let profile = place.home.profile().to_string();
    let clock = &*context.clock;
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
