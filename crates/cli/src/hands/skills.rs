//! What the agent knows how to do, wired.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use hermes_config::{Config, DotEnv, EnvName, Home, ManagedScope, Settings, Variable};
use hermes_core::{Random, SessionId, Tool};
use hermes_exec::{Granted, Growing, Offer, Source, SourceKind};
use hermes_policy::FileRules;
use hermes_secrets::{Secret, SecretName};
use hermes_skills::{
    Bare, Library, LibraryOptions, Locality, Shipped, Surrounding, Surroundings, System,
    plugin_roots, roots,
};
use hermes_store::Store;
use hermes_tools::{Seen, SkillCaller, SkillServices, skill_tools};

use super::{is_asked_at, offers};
use crate::context::Context;

/// Sessions whose grants are kept; the one that came first goes first.
const MOST_SESSIONS: usize = 256;

/// The skills of a home, to look at. Nothing is read yet.
pub(crate) fn library_at(context: &Context, config: &Config, home: &Home) -> Library {
    library(context, config, home, Arc::new(Bare))
}

/// None at all, for who only asks about tools: nothing is looked at and nothing brought in.
pub(crate) fn no_skills(context: &Context, config: &Config, home: &Home) -> Library {
    Library::new(LibraryOptions {
        home: home.path().to_owned(),
        roots: Vec::new(),
        settings: config.skills.clone(),
        locality: locality(context),
        shipped: Shipped::Nothing,
        surroundings: Arc::new(Bare),
        clock: context.clock().clone(),
    })
}

fn library(
    context: &Context,
    config: &Config,
    home: &Home,
    surroundings: Arc<dyn Surroundings>,
) -> Library {
    let environment = &context.environment;
    let user_home = environment.filled(&Variable::HOME).map(Path::new);
    let mut roots = roots(
        home.path(),
        &config.skills.external_dirs,
        user_home,
        environment,
    );
    let plugins = config.plugins.enabled.iter().flatten();
    let plugins = plugins.filter(|name| !config.plugins.disabled.contains(name));
    roots.extend(plugin_roots(home.path(), plugins));
    Library::new(LibraryOptions {
        home: home.path().to_owned(),
        roots,
        settings: config.skills.clone(),
        locality: locality(context),
        shipped: shipped(context),
        surroundings,
        clock: context.clock().clone(),
    })
}

/// The skills that come with the program.
pub(crate) fn shipped(context: &Context) -> Shipped {
    match context.environment.filled(&Variable::HERMES_BUNDLED_SKILLS) {
        Some(directory) => Shipped::Directory(PathBuf::from(directory)),
        None => Shipped::Embedded,
    }
}

fn locality(context: &Context) -> Locality {
    let set = |variable: &Variable| context.environment.filled(variable).is_some();
    let system = match set(&Variable::TERMUX_VERSION) {
        true => System::Termux,
        false => System::built_for(),
    };
    let surroundings = [
        (set(&Variable::HERMES_KANBAN_TASK), Surrounding::Kanban),
        (Path::new("/.dockerenv").exists(), Surrounding::Docker),
        (Path::new("/run/s6").exists(), Surrounding::S6),
    ];
    Locality {
        system,
        surroundings: surroundings
            .into_iter()
            .filter_map(|(here, surrounding)| here.then_some(surrounding))
            .collect(),
    }
}

/// The directory of bundles of skills.
pub(crate) fn bundles_at(context: &Context, home: &Home) -> PathBuf {
    match context.environment.filled(&Variable::HERMES_BUNDLES_DIR) {
        Some(directory) => home.path().join(directory),
        None => home.path().join("skill-bundles"),
    }
}

pub(super) fn services(
    context: &Context,
    config: &Config,
    home: &Home,
    store: &Store,
    random: &Arc<dyn Random>,
    grants: &Arc<Grants>,
) -> SkillServices {
    SkillServices {
        library: Arc::new(library(context, config, home, grants.clone())),
        store: store.clone(),
        staging: super::staging_at(context, home, random.clone()),
        approval: AtomicBool::new(config.skills.write_approval),
        seen: Seen::default(),
        patience: SkillServices::patience(config.approvals.timeout),
    }
}

/// The tools for a turn of a session.
pub(super) fn tools(services: &Arc<SkillServices>, surface: &str) -> Vec<Arc<dyn Tool>> {
    skill_tools(services, &caller(surface))
}

/// Who reads skills at a surface.
pub(super) fn caller(surface: &str) -> SkillCaller {
    SkillCaller {
        surface: surface.to_owned(),
        may_ask: is_asked_at(surface),
    }
}

/// What skills got for their sessions, and where it comes from.
pub(super) struct Grants {
    context: Context,
    home: Home,
    rules: Arc<FileRules>,
    /// Files that go along to other machines, and those that containers are made with.
    sources: Growing<Source>,
    offers: Growing<Offer>,
    /// Whether commands run on somebody else's account.
    on_another_account: bool,
    sessions: Mutex<Sessions>,
}

#[derive(Default)]
struct Sessions {
    granted: HashMap<SessionId, Granted>,
    order: Vec<SessionId>,
}

impl Grants {
    pub(super) fn new(
        context: &Context,
        home: &Home,
        rules: Arc<FileRules>,
        sources: Growing<Source>,
        offers: Growing<Offer>,
        on_another_account: bool,
    ) -> Self {
        Self {
            context: context.clone(),
            home: home.clone(),
            rules,
            sources,
            offers,
            on_another_account,
            sessions: Mutex::default(),
        }
    }

    /// What the commands of a session see besides, now and later.
    pub(super) fn of(&self, session: &SessionId) -> Granted {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(granted) = sessions.granted.get(session) {
            return granted.clone();
        }
        sessions.order.push(session.clone());
        if sessions.order.len() > MOST_SESSIONS {
            let oldest = sessions.order.remove(0);
            sessions.granted.remove(&oldest);
        }
        let granted = Granted::default();
        sessions.granted.insert(session.clone(), granted.clone());
        granted
    }

    /// The value of a variable: what was typed lately stands in the file of secrets already.
    fn value(&self, name: &str) -> Option<String> {
        let environment = &self.context.environment;
        let read = DotEnv::read(&self.home.env_file(), environment);
        let kept = read.ok().and_then(|(file, _)| {
            let value = file.expose(name)?;
            (!value.is_empty()).then(|| value.to_owned())
        });
        kept.or_else(|| environment.filled_named(name).map(str::to_owned))
    }
}

impl Surroundings for Grants {
    fn is_set(&self, name: &str) -> bool {
        self.value(name).is_some()
    }

    fn has_program(&self, name: &str) -> bool {
        let mut folders = self.context.programs().into_iter();
        !name.contains('/') && folders.any(|folder| folder.join(name).is_file())
    }

    fn hands_on_files(&self) -> bool {
        !self.on_another_account
    }

    fn keep(&self, name: &EnvName, value: String) -> Result<(), String> {
        // Masked before it is anywhere.
        if let Ok(known) = SecretName::new(name.as_str())
            && let Ok(secret) = Secret::new(known, value.clone(), [])
        {
            self.context.redactor.add(&secret);
        }
        let told = |why: String| format!("{name} was not kept: {why}");
        let owner = self.context.owner().map_err(|error| told(error.cause()))?;
        let managed = ManagedScope::find(&self.context.environment).scope;
        let settings = Settings {
            home: &self.home,
            owner: &owner,
            managed: &managed,
        };
        settings
            .set_variable(name, &value)
            .map(drop)
            .map_err(|error| told(format!("{error}; {}", error.hint())))
    }

    fn grant(&self, session: &SessionId, names: &[EnvName], files: &[String]) {
        let granted = self.of(session);
        let keys = self.context.key_names();
        for name in names.iter().filter(|name| !keys.contains(name.as_str())) {
            if let Some(value) = self.value(name.as_str()) {
                granted.variable(name.as_str(), &value);
            }
        }
        for name in files.iter().filter(|_| self.hands_on_files()) {
            let Some(path) = offers::credential(name, &self.home, &self.rules) else {
                tracing::warn!(
                    file = name,
                    "a skill asked for a file that is not handed on"
                );
                continue;
            };
            if !path.is_file() {
                continue;
            }
            granted.file(&path);
            self.offers.add(offers::offered(&path, name));
            self.sources.add(Source {
                from: path,
                to: name.clone(),
                kind: SourceKind::Credential,
            });
        }
    }
}
