//! The external memory of this program, wired.

use std::path::PathBuf;
use std::sync::Arc;

use hermes_config::{Environment, Home, Loaded, Variable};
use hermes_core::Random;
use hermes_http::{AddressPolicy, ClientBuilder, ClientSettings};
use hermes_memory::{External, ExternalOptions, Provider, ProviderError, Setup, known};
use hermes_secrets::RedactorHandle;
use hermes_store::Store;

use crate::complaint::Outcome;
use crate::context::Context;
use crate::network;

/// What a provider is made from, before it is needed.
pub(crate) struct Ground {
    home: Home,
    user_home: Option<PathBuf>,
    pub(crate) environment: Environment,
    settings: ClientSettings,
    redactor: RedactorHandle,
    store: Store,
}

impl Ground {
    pub(crate) fn new(context: &Context, loaded: &Loaded, store: &Store) -> Outcome<Self> {
        Ok(Self {
            home: context.home()?.clone(),
            user_home: context
                .environment
                .filled(&Variable::HOME)
                .map(PathBuf::from),
            environment: loaded.environment.clone(),
            settings: network::settings(loaded, context)?,
            redactor: context.redactor.clone(),
            store: store.clone(),
        })
    }

    /// Makes a provider. Reads its settings and asks nobody.
    pub(crate) fn provider(&self, name: &str) -> Result<Arc<dyn Provider>, ProviderError> {
        let known = known(name)?;
        // These are places the user chose, perhaps on this very machine.
        let client = ClientBuilder::new(self.settings.clone(), AddressPolicy::Any)
            .redactor(self.redactor.clone())
            .build()
            .map_err(|error| ProviderError::Setup {
                provider: known.name,
                what: error.to_string(),
            })?;
        known.make(&Setup {
            home: self.home.path(),
            root: self.home.root(),
            user_home: self.user_home.as_deref(),
            profile: self.home.profile().as_str(),
            environment: &self.environment,
            client,
            store: self.store.clone(),
        })
    }
}

/// The external memory the settings name, if they name one. Nothing is read and nobody is asked.
pub(crate) fn external(
    context: &Context,
    loaded: &Loaded,
    store: &Store,
    random: Arc<dyn Random>,
) -> Outcome<Option<External>> {
    let memory = &loaded.config.memory;
    let name = memory.provider.trim().to_owned();
    if name.is_empty() {
        return Ok(None);
    }
    let ground = Ground::new(context, loaded, store)?;
    let made = name.clone();
    Ok(Some(External::new(ExternalOptions {
        name,
        make: Box::new(move || ground.provider(&made)),
        store: store.clone(),
        lock: context.home()?.path().join(".memory.lock"),
        patience: memory.recall_timeout,
        clock: context.clock().clone(),
        random,
    })))
}
