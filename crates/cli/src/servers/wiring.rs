//! What servers run in and are reached through, in this program.

use std::path::PathBuf;
use std::sync::Arc;

use hermes_config::Loaded;
use hermes_core::{FailureKind, SystemRandom};
use hermes_exec::{Backend, LocalBackend};
use hermes_mcp::{
    Browser, Fleet, Gate, Logins, Memory, OSV_ENDPOINT, Osv, Person, RecoveryPolicy, Sampler,
    Shelf, ShelfFolders, Surroundings,
};
use hermes_store::Store;

use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::hands::this_machine;
use crate::network;

/// A fleet and the machine its programs run on.
pub(crate) struct Wiring {
    pub(crate) fleet: Fleet,
    pub(crate) memory: Memory,
    machine: Arc<LocalBackend>,
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
        let home = context.home()?.path().to_owned();
        let random = Arc::new(SystemRandom);
        let machine = Arc::new(this_machine(context, &loaded.config, &*random));
        let memory = Memory::new(store.clone());
        let blobs = Some(store.blobs().clone());
        let fleet = Fleet::new(Surroundings {
            policy,
            backend: machine.clone(),
            network: network::settings(loaded)?,
            redactor: context.redactor.clone(),
            user_home: user_home(context),
            directory: context.directory().unwrap_or_else(|| home.clone()),
            environment: loaded.environment.clone(),
            clock: context.clock.clone(),
            random,
            gatekeeper: Arc::new(Gate {
                logins: logins(context, loaded, None)?,
                osv: Some(osv(context, loaded, store)?),
            }),
            shelf: Arc::new(Shelf::new(ShelfFolders::of_home(&home), blobs)),
            home,
            memory: Some(memory.clone()),
            sampler,
            reserved: hermes_tools::specs()
                .into_iter()
                .map(|spec| spec.name)
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
    person: Option<Arc<dyn Person>>,
) -> Outcome<Logins> {
    Ok(Logins {
        network: network::settings(loaded)?,
        home: context.home()?.path().to_owned(),
        user_home: user_home(context),
        clock: context.clock.clone(),
        person: person.map(|person| (person, Browser::new(&loaded.environment))),
        redactor: context.redactor.clone(),
    })
}

fn osv(context: &Context, loaded: &Loaded, store: &Store) -> Outcome<Osv> {
    let http = network::client(loaded, &context.redactor)?;
    let named = loaded.environment.filled("OSV_ENDPOINT");
    let endpoint = named.unwrap_or(OSV_ENDPOINT).parse().map_err(|error| {
        Complaint::caused(FailureKind::BadInput, error)
            .hint("mend or unset OSV_ENDPOINT, the address of the list of malicious packages")
    })?;
    Ok(Osv::new(
        http,
        endpoint,
        Some(store.clone()),
        context.clock.clone(),
    ))
}

fn user_home(context: &Context) -> Option<PathBuf> {
    context.environment.filled("HOME").map(PathBuf::from)
}
