//! What servers run in and are reached through, in this program.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hermes_config::{Loaded, Variable};
use hermes_core::{FailureKind, Random, SystemRandom};
use hermes_http::ClientSettings;
use hermes_mcp::{
    Browser, Fleet, Gate, Logins, Memory, OSV_ENDPOINT, Osv, OsvParts, Person, RecoveryPolicy,
    Sampler, Shelf, ShelfFolders, Surroundings,
};
use hermes_store::Store;

use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::hands::{Machine, this_machine};
use crate::network;

use super::sampler::NoModel;

/// A fleet and the machine its programs run on.
pub(crate) struct Wiring {
    pub(crate) fleet: Fleet,
    pub(crate) memory: Memory,
    machine: Machine,
}

impl Wiring {
    /// A fleet without servers, with the usual patience.
    pub(crate) fn new(
        context: &Context,
        loaded: &Loaded,
        store: &Store,
        sampler: Option<Arc<dyn Sampler>>,
    ) -> Outcome<Self> {
        Self::with(context, loaded, store, sampler, RecoveryPolicy::default())
    }

    /// The same with another patience. Must be made inside a runtime; starts nothing.
    pub(crate) fn with(
        context: &Context,
        loaded: &Loaded,
        store: &Store,
        sampler: Option<Arc<dyn Sampler>>,
        policy: RecoveryPolicy,
    ) -> Outcome<Self> {
        let home = context.home()?;
        let random: Arc<dyn Random> = Arc::new(SystemRandom);
        let machine = this_machine(context, &loaded.config, home, &random);
        let home = home.path().to_owned();
        let network = network::announced(loaded, context)?;
        let memory = Memory::new(store.clone());
        let blobs = Some(store.blobs().clone());
        let fleet = Fleet::new(Surroundings {
            policy,
            backend: machine.backend.clone(),
            borders: machine.borders.clone(),
            network: network.clone(),
            redactor: context.redactor.clone(),
            user_home: user_home(context),
            directory: context.directory().unwrap_or_else(|| home.clone()),
            environment: loaded.environment.clone(),
            clock: context.clock().clone(),
            random,
            gatekeeper: Arc::new(Gate {
                logins: logins(context, loaded, network.clone(), None)?,
                around: around(context, &home),
                deny: loaded.config.approvals.deny.clone(),
                decisions: Some(store.clone()),
                osv: Some(osv(context, loaded, network, Some(store))?),
            }),
            shelf: Arc::new(Shelf::new(ShelfFolders::of_home(&home), blobs)),
            home,
            memory: Some(memory.clone()),
            decisions: Some(store.clone()),
            patience: loaded.config.approvals.timeout,
            sampler: Some(sampler.unwrap_or_else(|| Arc::new(NoModel))),
            reserved: hermes_tools::names()
                .iter()
                .map(|name| (*name).to_owned())
                .collect(),
            blocked: loaded.config.mcp.blocked_strings.clone(),
        });
        Ok(Self {
            fleet,
            memory,
            machine,
        })
    }

    /// Ends all servers.
    pub(crate) async fn close(&self) {
        self.fleet.shutdown().await;
        if let Err(error) = self.machine.close().await {
            tracing::warn!(%error, "what MCP servers ran in was not closed cleanly");
        }
    }
}

/// How people and this program sign in to servers.
pub(crate) fn logins(
    context: &Context,
    loaded: &Loaded,
    network: ClientSettings,
    person: Option<Arc<dyn Person>>,
) -> Outcome<Logins> {
    Ok(Logins {
        network,
        home: context.home()?.path().to_owned(),
        user_home: user_home(context),
        clock: context.clock().clone(),
        person: person.map(|person| (person, Browser::new(&loaded.environment))),
        redactor: context.redactor.clone(),
    })
}

/// Where the programs of servers run, for the rules about commands.
fn around(context: &Context, home: &Path) -> hermes_policy::Surroundings {
    let shown = |path: &Path| path.display().to_string();
    hermes_policy::Surroundings {
        home: shown(&user_home(context).unwrap_or_else(|| PathBuf::from("/"))),
        product_home: shown(home),
        cwd: shown(&context.directory().unwrap_or_else(|| home.to_owned())),
        own_pid: Some(std::process::id()),
        isolation: hermes_policy::Isolation::None,
    }
}

/// The list of what is known against packages; answers about malware are kept in the store.
pub(crate) fn osv(
    context: &Context,
    loaded: &Loaded,
    network: ClientSettings,
    store: Option<&Store>,
) -> Outcome<Osv> {
    let named = loaded.environment.filled(&Variable::OSV_ENDPOINT);
    let endpoint = named.unwrap_or(OSV_ENDPOINT).parse().map_err(|error| {
        Complaint::caused(FailureKind::BadInput, error)
            .hint("mend or unset OSV_ENDPOINT, the address of the list of malicious packages")
    })?;
    Ok(Osv::new(OsvParts {
        network,
        redactor: context.redactor.clone(),
        endpoint,
        store: store.cloned(),
        clock: context.clock().clone(),
    }))
}

fn user_home(context: &Context) -> Option<PathBuf> {
    context
        .environment
        .filled(&Variable::HOME)
        .map(PathBuf::from)
}
