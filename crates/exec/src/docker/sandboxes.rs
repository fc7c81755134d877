//! Looking at the containers of all processes, and letting go of those that nobody uses.

use std::path::Path;
use std::time::Duration;

use bollard::models::{ContainerSummary, ContainerSummaryStateEnum};
use hermes_core::Clock;

use super::engine::{Engine, Found};
use super::{DockerConfig, spec};
use crate::ExecError;
use crate::lease::{Lease, Leases, Standing, standing};

/// A stopped container is kept at least this long.
const SHORTEST_REST: Duration = Duration::from_secs(120);
/// Taken for containers that do not say.
const LIFETIME: Duration = Duration::from_secs(300);

/// One container of ours.
#[derive(Debug, Clone)]
pub struct Sandbox {
    /// Its name.
    pub name: String,
    /// Its image.
    pub image: String,
    /// Whose it is.
    pub task: String,
    /// The profile it belongs to.
    pub profile: String,
    /// Whether it runs.
    pub running: bool,
    /// How long it may be idle.
    pub lifetime: Duration,
    /// When it was made, in seconds since 1970.
    pub created_at: i64,
    /// Who uses it, or did.
    pub leases: Vec<Lease>,
}

/// What was done about an idle container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reclaimed {
    /// It was stopped; it keeps its files and starts again when it is needed.
    Stopped(String),
    /// It was removed.
    Removed(String),
}

/// All containers of ours, of every profile.
pub async fn list(engine: &str, sandboxes: &Path) -> Result<Vec<Sandbox>, ExecError> {
    let engine = Engine::connect(engine).await?;
    let all = all(&engine, sandboxes).await?;
    Ok(all.into_iter().map(|(_, sandbox)| sandbox).collect())
}

/// Removes a container of ours by its name; false when there is none.
pub async fn remove(engine: &str, sandboxes: &Path, name: &str) -> Result<bool, ExecError> {
    let engine = Engine::connect(engine).await?;
    let all = all(&engine, sandboxes).await?;
    match all.into_iter().find(|(_, sandbox)| sandbox.name == name) {
        None => Ok(false),
        Some((found, _)) => {
            discard(&found, sandboxes).await?;
            Ok(true)
        }
    }
}

/// Stops the containers of a profile that nobody has used for their lifetime, and removes those that have been
/// stopped for long.
pub async fn reclaim(
    engine: &str,
    sandboxes: &Path,
    profile: &str,
    clock: &dyn Clock,
) -> Result<Vec<Reclaimed>, ExecError> {
    let engine = Engine::connect(engine).await?;
    reclaim_where(&engine, sandboxes, profile, clock, |_| true).await
}

/// What one process does for all when it starts: removes what has been stopped for long.
pub(super) async fn tidy(engine: &Engine, config: &DockerConfig) -> Result<(), ExecError> {
    let (sandboxes, clock) = (&config.sandboxes, &*config.clock);
    reclaim_where(engine, sandboxes, &config.profile, clock, |_| true).await?;
    Ok(())
}

/// Stops one container if it is idle.
pub(super) async fn reclaim_one(
    engine: &Engine,
    config: &DockerConfig,
    name: &str,
) -> Result<(), ExecError> {
    // Asking the engine costs more than looking at the leases, and is seldom needed.
    let leases = Leases::new(&config.sandboxes).all().unwrap_or_default();
    let own = leases.get(name).map_or(&[][..], Vec::as_slice);
    if own.is_empty() || standing(own, 0, config.lifetime, &*config.clock) == Standing::InUse {
        return Ok(());
    }
    let (sandboxes, clock) = (&config.sandboxes, &*config.clock);
    let only = |sandbox: &Sandbox| sandbox.name == name && sandbox.running;
    reclaim_where(engine, sandboxes, &config.profile, clock, only).await?;
    Ok(())
}

async fn reclaim_where(
    engine: &Engine,
    sandboxes: &Path,
    profile: &str,
    clock: &dyn Clock,
    wanted: impl Fn(&Sandbox) -> bool,
) -> Result<Vec<Reclaimed>, ExecError> {
    let profile = spec::label(profile);
    let mut reclaimed = Vec::new();
    for (found, sandbox) in all(engine, sandboxes).await? {
        let Sandbox {
            leases,
            created_at,
            lifetime,
            ..
        } = &sandbox;
        let Standing::IdleFor(idle) = standing(leases, *created_at, *lifetime, clock) else {
            continue;
        };
        if sandbox.profile != profile || !wanted(&sandbox) {
            continue;
        }
        if sandbox.running {
            engine.stop(&found.id).await?;
            reclaimed.push(Reclaimed::Stopped(sandbox.name));
        } else if idle >= (*lifetime).max(SHORTEST_REST) {
            discard(&found, sandboxes).await?;
            reclaimed.push(Reclaimed::Removed(sandbox.name));
        }
    }
    Ok(reclaimed)
}

async fn discard(found: &Found, sandboxes: &Path) -> Result<(), ExecError> {
    found.engine.remove(&found.id).await?;
    Leases::new(sandboxes)
        .forget(&found.name)
        .map_err(|source| ExecError::Io {
            what: "cannot remove the lease".to_owned(),
            source,
        })
}

/// Every container of ours. Leases on containers that are gone are forgotten with their owners.
async fn all(engine: &Engine, sandboxes: &Path) -> Result<Vec<(Found, Sandbox)>, ExecError> {
    let trouble = |source| ExecError::Io {
        what: "cannot read the leases".to_owned(),
        source,
    };
    let folder = Leases::new(sandboxes);
    let mut leases = folder.all().map_err(trouble)?;
    let mut known = Vec::new();
    for one in engine.containers(&[(spec::LABEL, "1")]).await? {
        if let Some(found) = engine.name(&one) {
            let leases = leases.remove(&found.name).unwrap_or_default();
            let sandbox = describe(&one, &found.name, leases);
            known.push((found, sandbox));
        }
    }
    for lease in leases.into_values().flatten() {
        if !lease.owner.is_alive() {
            folder
                .release(&lease.sandbox, lease.owner)
                .map_err(trouble)?;
        }
    }
    Ok(known)
}

fn describe(one: &ContainerSummary, name: &str, leases: Vec<Lease>) -> Sandbox {
    let label = |name: &str| {
        let labels = one.labels.as_ref();
        labels
            .and_then(|labels| labels.get(name))
            .cloned()
            .unwrap_or_default()
    };
    Sandbox {
        name: name.to_owned(),
        image: one.image.clone().unwrap_or_default(),
        task: label(spec::TASK),
        profile: label(spec::PROFILE),
        running: one.state == Some(ContainerSummaryStateEnum::RUNNING),
        lifetime: label(spec::LIFETIME)
            .parse()
            .map_or(LIFETIME, Duration::from_secs),
        created_at: one.created.unwrap_or(0),
        leases,
    }
}
