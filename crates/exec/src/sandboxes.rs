//! Looking at the sandboxes of all processes, and letting go of those that nobody uses.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_core::Clock;

use crate::lease::{Lease, Leases, Standing, standing};
use crate::{
    BackendConfig, DaytonaConfig, ExecError, ManagedModalConfig, ModalConfig, SingularityConfig,
    daytona, docker, labels, modal, singularity,
};

/// A stopped sandbox is kept at least this long.
const SHORTEST_REST: Duration = Duration::from_secs(120);
/// Taken for sandboxes that do not say.
const LIFETIME: Duration = Duration::from_secs(300);

/// One sandbox of ours.
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
    /// Directories of this machine below ours in which its files are kept; they stay when it is removed.
    pub kept: Vec<PathBuf>,
    /// Who uses it, or did.
    pub leases: Vec<Lease>,
}

/// What was done about an idle sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reclaimed {
    /// It was stopped; it keeps its files and starts again when it is needed.
    Stopped(String),
    /// It was removed.
    Removed(String),
}

/// Who runs the sandboxes.
pub enum Operator<'a> {
    /// The engine at this address.
    Docker(&'a str),
    /// Apptainer or Singularity.
    Singularity(&'a SingularityConfig),
    /// Daytona.
    Daytona(&'a DaytonaConfig),
    /// Modal.
    Modal(&'a ModalConfig),
    /// Modal through a gateway.
    ManagedModal(&'a ManagedModalConfig),
}

impl BackendConfig {
    /// Who runs the sandboxes of this backend, and where what is written down about them lies. `None` for
    /// backends without sandboxes to look at.
    pub fn operator(&self) -> Option<(Operator<'_>, &Path)> {
        match self {
            Self::Docker(config) => Some((Operator::Docker(&config.engine), &config.sandboxes)),
            Self::Singularity(config) => Some((Operator::Singularity(config), &config.sandboxes)),
            Self::Daytona(config) => Some((Operator::Daytona(config), config.sandboxes())),
            Self::Modal(config) => Some((Operator::Modal(config), config.sandboxes())),
            Self::ManagedModal(config) => {
                Some((Operator::ManagedModal(config), config.sandboxes()))
            }
            Self::Local(_) | Self::Ssh(_) => None,
        }
    }
}

impl Operator<'_> {
    /// Below which directory what sandboxes keep is ours. Other profiles have another one, and what users mount is
    /// theirs.
    fn files(&self, sandboxes: &Path) -> PathBuf {
        match self {
            Self::Docker(_) => sandboxes.join(docker::KIND),
            Self::Singularity(config) => config.scratch.clone(),
            Self::Daytona(_) | Self::Modal(_) | Self::ManagedModal(_) => sandboxes.to_owned(),
        }
    }
}

impl<'a> From<&'a str> for Operator<'a> {
    fn from(engine: &'a str) -> Self {
        Self::Docker(engine)
    }
}

impl<'a> From<&'a String> for Operator<'a> {
    fn from(engine: &'a String) -> Self {
        Self::Docker(engine)
    }
}

/// Does the same with whoever the operator is.
macro_rules! with {
    ($operator:expr, $sandboxes:expr, $inventory:ident, $leases:ident, $do:expr) => {
        match $operator {
            Operator::Docker(address) => {
                let $inventory = docker::Engine::connect(address).await?;
                let $leases = Leases::new($sandboxes);
                $do
            }
            Operator::Singularity(config) => {
                let $inventory = singularity::Instances::of(config)?;
                let $leases = Leases::of($sandboxes, singularity::KIND);
                $do
            }
            Operator::Daytona(config) => {
                let $inventory = daytona::inventory(config);
                let $leases = Leases::of($sandboxes, daytona::KIND);
                $do
            }
            Operator::Modal(config) => {
                let $inventory = modal::inventory(config);
                let $leases = Leases::of($sandboxes, modal::KIND);
                $do
            }
            Operator::ManagedModal(config) => {
                let $inventory = modal::managed::inventory(config);
                let $leases = Leases::of($sandboxes, modal::KIND);
                $do
            }
        }
    };
}

/// All sandboxes of ours, of every profile. The leases are below `sandboxes`.
pub async fn list<'a>(
    operator: impl Into<Operator<'a>>,
    sandboxes: &Path,
) -> Result<Vec<Sandbox>, ExecError> {
    let operator = operator.into();
    let files = operator.files(sandboxes);
    with!(operator, sandboxes, inventory, leases, {
        let all = known(&inventory, &leases).await?;
        let all = all.into_iter().map(|(_, mut sandbox)| {
            sandbox.kept.retain(|kept| kept.starts_with(&files));
            sandbox
        });
        Ok(all.collect())
    })
}

/// Removes the files that a sandbox keeps on this machine, but for those that one of `others` keeps as well.
/// Says what it removed.
pub async fn remove_files(
    sandbox: &Sandbox,
    others: &[Sandbox],
) -> Result<Vec<PathBuf>, ExecError> {
    let shared = |kept: &PathBuf| others.iter().any(|other| other.kept.contains(kept));
    let mut removed = Vec::new();
    for kept in sandbox.kept.iter().filter(|kept| !shared(kept)) {
        match tokio::fs::remove_dir_all(kept).await {
            Ok(()) => removed.push(kept.clone()),
            Err(source) if source.kind() == std::io::ErrorKind::NotFound => {}
            Err(source) => {
                return Err(ExecError::Io {
                    what: format!("cannot remove {}", kept.display()),
                    source,
                });
            }
        }
    }
    Ok(removed)
}

/// Removes a sandbox of ours by its name; false when there is none.
pub async fn remove<'a>(
    operator: impl Into<Operator<'a>>,
    sandboxes: &Path,
    name: &str,
) -> Result<bool, ExecError> {
    with!(operator.into(), sandboxes, inventory, leases, {
        let all = known(&inventory, &leases).await?;
        match all.into_iter().find(|(_, sandbox)| sandbox.name == name) {
            None => Ok(false),
            Some((id, sandbox)) => {
                discard(&inventory, &leases, &id, &sandbox.name).await?;
                Ok(true)
            }
        }
    })
}

/// Stops the sandboxes of a profile that nobody has used for their lifetime, and removes those that have been
/// stopped for long.
pub async fn reclaim<'a>(
    operator: impl Into<Operator<'a>>,
    sandboxes: &Path,
    profile: &str,
    clock: &dyn Clock,
) -> Result<Vec<Reclaimed>, ExecError> {
    with!(
        operator.into(),
        sandboxes,
        inventory,
        leases,
        reclaim_where(&inventory, &leases, profile, clock, |_| true).await
    )
}

/// What an operator can be asked for. Ids are the operator's own; leases are not its business.
pub(crate) trait Inventory: Send + Sync {
    /// Every sandbox of ours with its id.
    fn all(&self) -> impl Future<Output = Result<Vec<(String, Sandbox)>, ExecError>> + Send;

    /// Stops one; one that is not there counts as stopped.
    fn stop(&self, id: &str) -> impl Future<Output = Result<(), ExecError>> + Send;

    /// Removes one; one that is not there counts as removed.
    fn remove(&self, id: &str) -> impl Future<Output = Result<(), ExecError>> + Send;
}

impl Sandbox {
    /// One as its labels describe it.
    pub(crate) fn from_labels(name: String, labels: &BTreeMap<String, String>) -> Self {
        let label = |name: &str| labels.get(name).cloned().unwrap_or_default();
        Self {
            name,
            image: String::new(),
            task: label(labels::TASK),
            profile: label(labels::PROFILE),
            running: false,
            lifetime: label(labels::LIFETIME)
                .parse()
                .map_or(LIFETIME, Duration::from_secs),
            created_at: 0,
            kept: Vec::new(),
            leases: Vec::new(),
        }
    }
}

/// Stops one sandbox if it is idle.
pub(crate) async fn reclaim_one(
    inventory: &impl Inventory,
    leases: &Leases,
    profile: &str,
    name: &str,
    clock: &dyn Clock,
) -> Result<(), ExecError> {
    // Asking the operator costs more than looking at the leases, and is seldom needed.
    let all = leases.all().unwrap_or_default();
    let own = all.get(name).map_or(&[][..], Vec::as_slice);
    if own.is_empty() || standing(own, 0, LIFETIME, clock) == Standing::InUse {
        return Ok(());
    }
    let only = |sandbox: &Sandbox| sandbox.name == name && sandbox.running;
    reclaim_where(inventory, leases, profile, clock, only).await?;
    Ok(())
}

pub(crate) async fn reclaim_where(
    inventory: &impl Inventory,
    leases: &Leases,
    profile: &str,
    clock: &dyn Clock,
    wanted: impl Fn(&Sandbox) -> bool + Send,
) -> Result<Vec<Reclaimed>, ExecError> {
    let profile = labels::value(profile);
    let mut reclaimed = Vec::new();
    for (id, sandbox) in known(inventory, leases).await? {
        let Sandbox {
            leases: own,
            created_at,
            lifetime,
            ..
        } = &sandbox;
        let Standing::IdleFor(idle) = standing(own, *created_at, *lifetime, clock) else {
            continue;
        };
        if sandbox.profile != profile || !wanted(&sandbox) {
            continue;
        }
        if sandbox.running {
            inventory.stop(&id).await?;
            reclaimed.push(Reclaimed::Stopped(sandbox.name));
        } else if idle >= (*lifetime).max(SHORTEST_REST) {
            discard(inventory, leases, &id, &sandbox.name).await?;
            reclaimed.push(Reclaimed::Removed(sandbox.name));
        }
    }
    Ok(reclaimed)
}

/// Removes a sandbox and every lease on it.
pub(crate) async fn discard(
    inventory: &impl Inventory,
    leases: &Leases,
    id: &str,
    name: &str,
) -> Result<(), ExecError> {
    inventory.remove(id).await?;
    leases.forget(name).map_err(|source| ExecError::Io {
        what: "cannot remove the lease".to_owned(),
        source,
    })
}

/// Whether nobody else is likely to come back to a sandbox.
pub(crate) fn is_free(
    leases: &Leases,
    name: &str,
    created_at: i64,
    lifetime: Duration,
    clock: &dyn Clock,
) -> bool {
    let Ok(mut all) = leases.all() else {
        return false;
    };
    let own: Vec<_> = all.remove(name).unwrap_or_default();
    // Somebody who is alive may come back to it; being idle for a moment is no reason to take it away.
    let others = own
        .iter()
        .any(|lease| lease.owner.is_alive() && lease.owner != crate::lease::Owner::this());
    !others || standing(&own, created_at, lifetime, clock) != Standing::InUse
}

/// Every sandbox of ours with its leases. Leases on sandboxes that are gone are forgotten with their owners.
pub(crate) async fn known(
    inventory: &impl Inventory,
    folder: &Leases,
) -> Result<Vec<(String, Sandbox)>, ExecError> {
    let trouble = |source| ExecError::Io {
        what: "cannot read the leases".to_owned(),
        source,
    };
    let mut leases = folder.all().map_err(trouble)?;
    let mut known = inventory.all().await?;
    for (_, sandbox) in &mut known {
        sandbox.leases = leases.remove(&sandbox.name).unwrap_or_default();
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
