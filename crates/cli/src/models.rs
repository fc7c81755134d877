//! The models of this run: providers, credentials and routes, wired together.

mod begun;
mod listener;
mod only;
mod renewed;

use std::path::PathBuf;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use futures_util::future::join_all;
use hermes_agent::{Helpers, Routes};
use hermes_config::{Home, LoadMode, Loaded, Variable};
use hermes_core::{Clock, Failure, FailureKind, Random, SystemRandom};
use hermes_http::HttpClient;
use hermes_llm::keys::{
    AuthFile, FoundPlace, KeyNeed, KeySource as StoredFrom, Keyring, KeyringParts, OwnKey,
    ProviderKeys, StoredKey,
};
use hermes_llm::metadata::{Catalogue, KeptLists, Learned as LearnedWindows};
use hermes_llm::nearby::{self, Prepared, Reach};
use hermes_llm::oauth::Flow;
use hermes_llm::profile::{self, Profile, Profiles};
use hermes_llm::resolve::{
    self, CloudMachine, Credential, Flags, KeySource, Request, ResolveError, Resolved,
};
use hermes_llm::{
    Allowances, Caller, Course, Endpoint, Learned, LocalModels, PatienceSettings, Pictures, Route,
    Transport,
};
use hermes_secrets::Secret;
use hermes_store::Store;

use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::network;
use crate::timing::Timing;
use begun::Begun;
use listener::Listener;
use renewed::Renewed;

pub(crate) use listener::tell;

/// Everything that leads to a model.
pub(crate) struct Models {
    pub(crate) loaded: Loaded,
    pub(crate) profiles: Profiles,
    pub(crate) keys: Arc<Keyring>,
    pub(crate) http: HttpClient,
    clock: Arc<dyn Clock>,
    logins: Vec<String>,
    stored: Vec<StoredKey>,
    places: Vec<FoundPlace>,
    embedded: Option<PathBuf>,
    machine: Option<CloudMachine>,
    /// Windows that refusals taught us, and the file they are kept in.
    windows: LearnedWindows,
    windows_file: PathBuf,
    catalogue: Catalogue,
    /// What providers said about their models when they were last asked.
    pub(crate) lists: KeptLists,
    pub(crate) timing: Timing,
    /// Hears what takes long while a conversation goes on.
    pub(crate) listener: Listener,
    begun: Begun,
    /// What providers said may still be used.
    pub(crate) allowances: Allowances,
    /// The settings as they were read again while the program runs.
    renewed: Renewed,
}

/// What was said on the command line.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chosen {
    pub(crate) model: Option<String>,
    pub(crate) provider: Option<String>,
}

/// The routes of a conversation.
pub(crate) struct Found {
    pub(crate) course: Course,
    /// What the user should know about them.
    pub(crate) notes: Vec<String>,
}

/// The models to fall back to.
#[derive(Default)]
struct Fallbacks {
    routes: Vec<Resolved>,
    /// What is wrong with the entries that lead nowhere.
    notes: Vec<String>,
}

/// Where people sign in to Nous, unless a variable names another place.
const PORTAL: &str = "https://portal.nousresearch.com";

/// What the firmware of Azure's machines says; vendor and name are those of any machine of Microsoft.
const AZURE_TAG: &str = "7783-7084-3265-9085-8269-3286-77";

/// The cloud this machine belongs to, which may lend it a role; its firmware says so.
fn cloud_machine() -> Option<CloudMachine> {
    let said = |name: &str| {
        let text = std::fs::read_to_string(format!("/sys/class/dmi/id/{name}"));
        text.unwrap_or_default().trim().to_owned()
    };
    if said("sys_vendor") == "Amazon EC2" {
        Some(CloudMachine::Amazon)
    } else if said("product_name") == "Google Compute Engine" {
        Some(CloudMachine::Google)
    } else if said("chassis_asset_tag") == AZURE_TAG {
        Some(CloudMachine::Azure)
    } else {
        None
    }
}

/// Where the small model that everybody may use is kept.
pub(crate) fn embedded_file(home: &Home) -> PathBuf {
    embedded_dir(home).join(hermes_llm::SMALL_MODEL)
}

/// Models are shared by all profiles: they are large.
pub(crate) fn embedded_dir(home: &Home) -> PathBuf {
    home.root().join("models")
}

/// The known providers, the user's own among them.
pub(crate) fn own_profiles(home: &Home) -> Profiles {
    Profiles::new(Some(home.plugins_dir().join("model-providers")))
}

impl Models {
    pub(crate) fn new(context: &Context, loaded: Loaded) -> Outcome<Self> {
        let home = context.home()?;
        let http = network::client(&loaded, context)?;
        let root = Home::of_root(home.root()).auth_file();
        let keys = Keyring::new(KeyringParts {
            file: AuthFile::new(home.auth_file(), Some(root)),
            http: http.clone(),
            clock: context.clock().clone(),
            random: Arc::new(SystemRandom),
            strategies: loaded.config.credential_pool_strategies.clone(),
        });
        let windows = home.path().join("context_length_cache.yaml");
        let embedded = embedded_file(home);
        Ok(Self {
            profiles: own_profiles(home),
            logins: logins(&keys),
            stored: keys.stored().unwrap_or_default(),
            // A file that cannot be read is met again when it is needed.
            places: keys.found_places().unwrap_or_default(),
            keys: Arc::new(keys),
            http,
            clock: context.clock().clone(),
            machine: cloud_machine(),
            embedded: embedded.is_file().then_some(embedded),
            windows: LearnedWindows::read(&windows).unwrap_or_default(),
            windows_file: windows,
            catalogue: Catalogue::new(&home.path().join("models_dev_cache.json")),
            lists: KeptLists::new(&home.cache_dir()),
            timing: Timing::read(&loaded.environment)?,
            listener: Listener::default(),
            begun: Begun::default(),
            allowances: Allowances::default(),
            renewed: Renewed::default(),
            loaded,
        })
    }

    /// Where people sign in to Nous.
    pub(crate) fn portal(&self) -> &str {
        let set = self
            .loaded
            .environment
            .filled(&Variable::HERMES_PORTAL_BASE_URL);
        set.unwrap_or(PORTAL)
    }

    /// How logins of a provider are renewed, where it has any.
    pub(crate) fn usual_flow(&self, profile: &Profile) -> Option<Flow> {
        match &profile.oauth {
            Some(flow) => Some(flow.clone()),
            None if profile.id == profile::NOUS => Flow::nous(&self.portal().parse().ok()?).ok(),
            None => None,
        }
    }

    pub(crate) fn request<'a>(&'a self, chosen: &'a Chosen) -> Request<'a> {
        self.request_in(&self.loaded, chosen)
    }

    fn request_in<'a>(&'a self, loaded: &'a Loaded, chosen: &'a Chosen) -> Request<'a> {
        Request {
            flags: Flags {
                model: chosen.model.as_deref(),
                provider: chosen.provider.as_deref(),
                ..Flags::default()
            },
            logins: &self.logins,
            stored: &self.stored,
            places: &self.places,
            embedded: self.embedded.as_deref(),
            learned: Some(&self.windows),
            catalogue: Some(&self.catalogue),
            lists: Some(&self.lists),
            machine: self.machine,
            ..Request::new(loaded, &self.profiles)
        }
    }

    /// The route of the conversation's model.
    pub(crate) fn route(&self, chosen: &Chosen) -> Result<Resolved, ResolveError> {
        self.by_latest(chosen, resolve::resolve)
    }

    /// The routes of a conversation: the model and those to fall back to.
    pub(crate) fn course(&self, chosen: &Chosen) -> Result<Found, ResolveError> {
        let main = self.route(chosen)?;
        let Fallbacks { routes, mut notes } = self.fallbacks(chosen);
        let all = std::iter::once(&main).chain(&routes);
        notes.extend(all.filter_map(|found| found.route.unheeded()));
        let main = self.known(main);
        let fallbacks = routes.into_iter().map(|found| self.known(found));
        Ok(Found {
            course: Course::new(main, fallbacks),
            notes,
        })
    }

    /// The same, after a server nearby was asked how large its window is, or told how large it has to be. The notes
    /// are about the servers.
    pub(crate) async fn measured_course(
        &self,
        chosen: &Chosen,
        reach: Reach<'_>,
    ) -> Result<Found, ResolveError> {
        let (chosen, Resolved { route, key }) = self.found_route(chosen).await?;
        let secret = self.met(&route, key).await;
        let main = nearby::prepare(&self.http, route, secret.as_ref(), reach);
        // Side by side: one that is away must not hold up the others. Only asked: what may never be needed is
        // not loaded, which could take the first one's place.
        let fallbacks = self.fallbacks(&chosen).routes.into_iter();
        let fallbacks =
            join_all(fallbacks.map(async |found| Arc::new(self.looked_at(found).await)));
        let (Prepared { route, notes }, fallbacks) = tokio::join!(main, fallbacks);
        let course = Course::new(Arc::new(route), fallbacks);
        Ok(Found { course, notes })
    }

    /// The same route after its server, if it is nearby or nobody knows the window, was asked.
    pub(crate) async fn looked_at(&self, Resolved { route, key }: Resolved) -> Route {
        let secret = self.met(&route, key).await;
        let asked = nearby::prepare(&self.http, route, secret.as_ref(), Reach::Look);
        asked.await.route
    }

    /// How far a look at a server goes before a conversation: the model is loaded, and `progress` hears what takes
    /// long.
    pub(crate) fn loading<'a>(&self, progress: &'a (dyn Fn(&str) + Sync)) -> Reach<'a> {
        let mode = self.loaded.config.model.lmstudio_load_mode;
        Reach::Load {
            mode: mode.unwrap_or(LoadMode::Explicit),
            progress,
        }
    }

    /// The models to fall back to, and a note about each entry that cannot be used.
    fn fallbacks(&self, chosen: &Chosen) -> Fallbacks {
        let mut found = Fallbacks::default();
        for fallback in self.by_latest(chosen, resolve::fallbacks) {
            match fallback {
                Ok(fallback) => found.routes.push(fallback),
                Err(error) => {
                    let note = format!("a fallback cannot be used: {error}; {}", error.hint());
                    found.notes.push(note);
                }
            }
        }
        found
    }

    /// Tells the keyring about a route; gives the key for a server nearby, which may be kept.
    async fn met(&self, route: &Route, key: Credential) -> Option<Secret> {
        let own = match &key {
            Credential::Key { secret, .. } => Some(secret.clone()),
            Credential::None | Credential::Minted(_) | Credential::Login { .. } => None,
        };
        let kept = matches!(key, Credential::Login { .. });
        self.meet(route, key);
        match &route.endpoint {
            Endpoint::Http(address) if kept && (address.local || route.quirks.asks_ollama) => {
                self.keys.lease(route).await.ok()?.secret
            }
            Endpoint::Http(_) | Endpoint::Embedded { .. } => own,
        }
    }

    /// Tells the keyring about the key a route was resolved with.
    pub(crate) fn known(&self, resolved: Resolved) -> Arc<Route> {
        self.meet(&resolved.route, resolved.key);
        Arc::new(resolved.route)
    }

    fn meet(&self, route: &Route, key: Credential) {
        let profile = self.profiles.of_route(&route.provider).ok().flatten();
        let mut keys = ProviderKeys::default();
        if let Some(profile) = &profile {
            keys.variables.clone_from(&profile.key_env);
            keys.signup_url.clone_from(&profile.signup);
            keys.flow = self.usual_flow(profile);
        }
        match key {
            Credential::Key { from, secret } => {
                let source = match from {
                    KeySource::Flag => StoredFrom::Setting("the command line".to_owned()),
                    KeySource::Variable(name) => StoredFrom::Variable(name),
                    KeySource::Setting(name) => StoredFrom::Setting(name),
                };
                keys.keys.push(OwnKey { source, secret });
            }
            Credential::None => keys.need = KeyNeed::Optional,
            Credential::Minted(mint) => keys.mint = Some(*mint),
            Credential::Login { .. } => {
                // The keys of an endpoint are for one address each: at another it may do without.
                let without = |profile: &Arc<Profile>| profile.key == profile::KeyNeed::Optional;
                if profile.as_ref().is_some_and(without) {
                    keys.need = KeyNeed::Optional;
                }
            }
        }
        self.keys.meet(route, keys);
    }

    /// Calls models, with pictures from this store.
    pub(crate) fn caller(&self, store: &Store) -> Caller {
        let agent = &self.loaded.config.agent;
        Caller {
            transport: Transport {
                http: self.http.clone(),
                media: Arc::new(store.blobs().clone()),
                schemas: Arc::default(),
                clock: self.clock.clone(),
                local: LocalModels::default(),
                pictures: Pictures::default(),
                allowances: self.allowances.clone(),
            },
            keys: self.keys.clone(),
            random: Arc::new(SystemRandom) as Arc<dyn Random>,
            patience: PatienceSettings {
                local_stale: agent.local_stream_stale_timeout,
                ..self.timing.patience
            },
            attempts: agent.api_max_retries.max(1),
            learned: Learned::default(),
        }
    }
}

/// Providers somebody is logged in to. A file that cannot be read is met again when it is needed.
fn logins(keys: &Keyring) -> Vec<String> {
    keys.status()
        .map(|all| all.into_iter().map(|status| status.provider).collect())
        .unwrap_or_default()
}

impl Routes for Models {
    fn helpers(&self, task: &str, main: &Arc<Route>) -> Helpers {
        let main = &self.last_seen(main.clone());
        let chosen = Chosen {
            model: Some(main.model.clone()),
            provider: Some(main.provider.clone()),
        };
        let found = self.by_latest(&chosen, |request| {
            let mut resolved = resolve::resolve(request).ok()?;
            nearby::follow(&mut resolved.route, main);
            Some(resolve::auxiliary(task, request, &resolved))
        });
        let Some(found) = found else {
            return vec![main.clone()].into();
        };
        match found {
            Ok(found) => Helpers {
                named: found.explicit,
                retries: Some(found.retries),
                effort: found.effort,
                routes: found
                    .candidates
                    .into_iter()
                    .map(|mut candidate| {
                        nearby::follow(&mut candidate.route, main);
                        self.known(candidate)
                    })
                    .collect(),
            },
            Err(error) => {
                self.listener.note_once(&format!(
                    "auxiliary.{task} cannot be used, {} does it: {error}; {}",
                    main.label(),
                    error.hint()
                ));
                vec![main.clone()].into()
            }
        }
    }

    fn learned_window(&self, route: &Route, window: u32) {
        let Endpoint::Http(address) = &route.endpoint else {
            return;
        };
        let base = address.base.join("");
        match LearnedWindows::keep(&self.windows_file, &route.model, &base, window) {
            Ok(true) => {}
            Ok(false) => tracing::warn!("the window of {} is not kept", route.label()),
            Err(error) => {
                tracing::warn!("the window of {} could not be kept: {error}", route.label());
            }
        }
    }

    fn course<'a>(
        &'a self,
        model: &'a str,
        provider: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Course, Failure>> {
        let chosen = Chosen {
            model: Some(model.to_owned()),
            provider: provider.map(str::to_owned),
        };
        Box::pin(async move {
            let progress = |line: &str| self.listener.say(line);
            let measured = self.measured_course(&chosen, self.loading(&progress)).await;
            let Found { course, notes } = measured.map_err(|error| {
                let hint = error.hint();
                Failure::new(FailureKind::BadInput, error.to_string()).hint(hint)
            })?;
            self.listener.note(&notes);
            Ok(course)
        })
    }

    fn measured<'a>(&'a self, course: &'a Course) -> BoxFuture<'a, Option<Course>> {
        Box::pin(self.measured_beginning(course))
    }
}

impl From<ResolveError> for Complaint {
    fn from(error: ResolveError) -> Self {
        let hint = error.hint();
        Self::caused(FailureKind::BadInput, error).hint(hint)
    }
}
