//! Making the parts of a house and joining them.

use std::sync::Arc;

use hermes_agent::{Dumps, Engine, Services};
use hermes_config::{Config, Variable};
use hermes_core::{SessionId, SystemRandom};
use hermes_llm::Route;
use hermes_memory::External;
use hermes_store::Store;
use hermes_tools::SearchServices;
use tokio_util::sync::CancellationToken;

use super::{Company, Switches};
use crate::complaint::Outcome;
use crate::context::Context;
use crate::external;
use crate::hands::{Hands, Parts};
use crate::models::Models;
use crate::recall::{Filler, holder};
use crate::servers::{ModelSampler, Servers};
use crate::web::{Changes, Web};

/// What all parts are made from.
pub(super) struct Wiring<'a> {
    context: &'a Context,
    pub(super) models: Arc<Models>,
    pub(super) store: Store,
    pub(super) config: Arc<Config>,
    pub(super) random: Arc<SystemRandom>,
}

impl<'a> Wiring<'a> {
    pub(super) fn new(context: &'a Context, models: Arc<Models>, store: Store) -> Self {
        Self {
            context,
            config: Arc::new(models.loaded.config.clone()),
            models,
            store,
            random: Arc::new(SystemRandom),
        }
    }

    pub(super) fn fresh_id(&self) -> SessionId {
        SessionId::generate(&**self.context.clock(), &*self.random)
    }

    pub(super) fn filler(&self, search: &SearchServices, company: Company) -> Filler {
        // A run that answers once is over before there is time for it.
        let embedder = search.embedder.clone().filter(|_| company.lasts());
        Filler::new(&self.store, embedder, holder(&*self.random))
    }

    pub(super) fn web(&self, switches: Switches) -> Outcome<Arc<Web>> {
        let changes = match switches.without_settings {
            true => Changes::LeftOut,
            false => Changes::Followed,
        };
        let web = Web::new(self.context, &self.models.loaded, changes)?;
        Ok(Arc::new(web))
    }

    pub(super) fn external(&self, switches: Switches) -> Outcome<Option<External>> {
        // A run without the user's own rules is also one without what is remembered elsewhere.
        if switches.ignore_rules {
            return Ok(None);
        }
        let loaded = &self.models.loaded;
        external::external(self.context, loaded, &self.store, self.random.clone())
    }

    pub(super) fn hands(
        &self,
        search: Arc<SearchServices>,
        web: &Arc<Web>,
        external: Option<External>,
    ) -> Outcome<Arc<Hands>> {
        let cache = self.context.home()?.cache_dir();
        let parts = Parts {
            config: self.config.clone(),
            store: self.store.clone(),
            search,
            web: web.services(&self.models.loaded, &cache),
            random: self.random.clone(),
            external,
        };
        Ok(Arc::new(Hands::new(self.context, parts)?))
    }

    /// The servers of others, whose requests for a model go out on the route of the session in front.
    pub(super) fn servers(
        &self,
        hands: &Arc<Hands>,
        main: &Arc<Route>,
        session: &SessionId,
        switches: Switches,
    ) -> Arc<Servers> {
        let sampler = ModelSampler::new(
            self.models.clone(),
            self.store.clone(),
            self.context.clock().clone(),
            main.clone(),
            session.clone(),
        );
        Arc::new(Servers::new(
            hands.clone(),
            self.store.clone(),
            Arc::new(sampler),
            !switches.safe,
        ))
    }

    pub(super) fn engine(
        &self,
        servers: &Arc<Servers>,
        hands: &Arc<Hands>,
        web: Arc<Web>,
    ) -> Outcome<Engine> {
        let home = self.context.home()?;
        Ok(Engine::new(Services {
            store: self.store.clone(),
            caller: self.models.caller(&self.store),
            config: self.config.clone(),
            skills: hands.skills().library.clone(),
            memory: hands.memory().memory.clone(),
            external: hands.memory().external.clone(),
            tools: servers.clone(),
            pages: web,
            git: Arc::new(hands.repositories()),
            routes: self.models.clone(),
            clock: self.context.clock().clone(),
            random: Arc::new(SystemRandom),
            redactor: self.context.redactor.clone(),
            rules: hands.rules().clone(),
            home: home.path().to_owned(),
            programs: self.context.programs(),
            spill: home.cache_dir().join("tool-results"),
            news: hands.news(),
            side_by_side: self.models.timing.tools,
            dumps: Dumps {
                folder: home.cache_dir().join("requests"),
                every: self
                    .context
                    .environment
                    .filled(&Variable::HERMES_DUMP_REQUESTS)
                    .is_some_and(|value| value != "0"),
            },
            stop: CancellationToken::new(),
        }))
    }
}
