//! The tools that touch the world, wired: one backend and one guard for the process, one workplace and one
//! memory of files for each session.

mod absent;
mod allow_list;
mod dens;
mod diagnostics;
mod files;
mod helper;
mod judges;
mod kits;
mod machine;
mod memory;
mod offers;
mod places;
mod repositories;
mod rules;
mod secluded;
mod skills;
mod trusted;
mod way_out;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use futures_core::future::BoxFuture;
use hermes_agent::{Audience, SessionFacts, ToolSource};
use hermes_config::{Config, Home, Variable};
use hermes_core::{FailureKind, Random, SessionId, Tool};
use hermes_exec::sandbox::Sandbox;
use hermes_exec::{
    Backend, Growing, Offer, ProcessInfo, ProcessState, Processes, ProcessesOptions, Source,
};
use hermes_memory::External;
use hermes_policy::FileRules;
use hermes_secrets::RedactorHandle;
use hermes_store::Store;
use hermes_tools::{
    Checkpoints, Clarify, DisabledTerminal, ExecuteCode, FileRegistry, Guard, LanguageServers,
    MemoryServices, Person, Process, SearchServices, SessionSearch, SkillServices, Terminal, Todo,
    WebServices, equip, web_tools,
};
use tokio::sync::watch;

use crate::complaint::Complaint;
use crate::context::Context;
use crate::models::tell;
use allow_list::AllowList;
use dens::Dens;
use kits::{Kit, Kits, MOST_SESSIONS};
use places::UserFolders;
use skills::Grants;
use way_out::WayOut;

pub(crate) use absent::{Absent, absent};
pub(crate) use helper::{become_helper, become_tether};
pub(crate) use machine::{Machine, this_machine};
pub(crate) use memory::{memory_at, staging_at};
pub(crate) use places::{
    Helpers, backend, came_back, checkpoint_settings, confined, containers, environment, found,
    sandbox,
};
pub(crate) use skills::{bundles_at, library_at, no_skills, shipped};
pub(crate) use trusted::Trusted;

/// Whether somebody sits at a surface who can be asked before something is remembered or learned, and for a key.
/// Elsewhere changes wait until they are approved: a question in a chat would be answered by whoever is in it.
fn is_asked_at(surface: &str) -> bool {
    ["cli", "tui"].contains(&surface)
}

/// What the tools of all sessions share.
pub(crate) struct Hands {
    config: Arc<Config>,
    home: Home,
    user: UserFolders,
    /// What is hidden from commands because of who runs us.
    secluded: Vec<PathBuf>,
    /// What commands see, without what only we should know.
    environment: Vec<(String, String)>,
    /// What commands elsewhere see of it: what the user lets through.
    passed_through: Vec<(String, String)>,
    project_environment: Option<PathBuf>,
    /// The programs that run outside the sandbox.
    trusted: Trusted,
    /// What the file tools may touch on this machine.
    rules: Arc<FileRules>,
    /// Where commands run, or why they cannot.
    backend: Result<Arc<dyn Backend>, String>,
    sandbox: Arc<Sandbox>,
    way_out: Option<WayOut>,
    processes: Processes,
    guard: Arc<Guard>,
    registry: Arc<FileRegistry>,
    checkpoints: Option<Arc<Checkpoints>>,
    /// Who looks at changed files, when that is switched on and they are on this machine.
    language_servers: Option<Arc<LanguageServers>>,
    search: Arc<SearchServices>,
    web: Arc<WebServices>,
    skills: Arc<SkillServices>,
    grants: Arc<Grants>,
    memory: Arc<MemoryServices>,
    external: Option<External>,
    redactor: RedactorHandle,
    random: Arc<dyn Random>,
    sessions: Mutex<Kits>,
    /// Sessions that heard that commands cannot run.
    told: Mutex<HashSet<SessionId>>,
    /// The directories with the states of shells on this machine, from the first session on.
    dens: OnceLock<Arc<Dens>>,
}

/// Where a `Hands` gets its parts.
pub(crate) struct Parts {
    pub(crate) config: Arc<Config>,
    pub(crate) store: Store,
    pub(crate) search: Arc<SearchServices>,
    pub(crate) web: WebServices,
    pub(crate) random: Arc<dyn Random>,
    /// The external memory, where one is used.
    pub(crate) external: Option<External>,
}

impl Hands {
    /// Wires them. Nothing is started before a tool is called; must be made inside a runtime.
    pub(crate) fn new(context: &Context, parts: Parts) -> crate::complaint::Outcome<Self> {
        let (config, random) = (&parts.config, &parts.random);
        let home = context.home()?.clone();
        let user = UserFolders::of(context);
        let environment = environment(context, config, &home);
        let trusted = Trusted::new(context, config, &home);
        let (sandbox, way_out) =
            WayOut::open(sandbox(&trusted), config, &**random, &user.temporary)
                .map_err(|error| Complaint::caused(FailureKind::Unavailable, error))?;
        let sandbox = Arc::new(sandbox);
        let rules = Arc::new(file_rules(context, &home, &user));
        let (grants, sources, offers) = grants(context, config, &home, &rules);
        let backend = backend(context, config, &home, &sandbox, random, sources, offers)
            .map_err(|error| error.to_string());
        let skills = skills::services(context, config, &home, &parts.store, random, &grants);
        let processes = processes(context, &parts, &home);
        let memory = memory_services(context, &parts, &home);
        let guard = Guard::new(
            judges::settings(config, &home, user.home.as_deref()),
            parts.store,
            context.clock().clone(),
            context.redactor.clone(),
            Arc::new(AllowList::new(context, config)?),
            judges::tirith(config, &trusted, &environment),
        );
        let checkpoints = checkpoints(config, &home, &trusted, user.home.clone(), context);
        let language_servers = diagnostics::servers(config, &environment).map(Arc::new);
        Ok(Self {
            project_environment: project_environment(context),
            passed_through: places::passed(context, config, &context.key_names()),
            trusted,
            rules,
            config: parts.config,
            home,
            user,
            secluded: secluded::secluded(context),
            environment,
            backend,
            sandbox,
            way_out,
            processes,
            guard: Arc::new(guard),
            registry: FileRegistry::new(),
            checkpoints,
            language_servers,
            search: parts.search,
            web: Arc::new(parts.web),
            skills: Arc::new(skills),
            grants,
            memory: Arc::new(memory),
            external: parts.external,
            redactor: context.redactor.clone(),
            random: parts.random,
            sessions: Mutex::default(),
            told: Mutex::default(),
            dens: OnceLock::new(),
        })
    }

    /// Changes when a process in the background may have something to tell.
    pub(crate) fn news(&self) -> watch::Receiver<u64> {
        self.processes.changed()
    }

    /// Finds the processes that an earlier run of the program left running, and those that ended since.
    pub(crate) async fn recover(&self) {
        match self.processes.recover().await {
            Ok(found) => tracing::debug!(?found, "looked for processes of earlier runs"),
            Err(error) => tracing::warn!(%error, "processes of earlier runs were not looked for"),
        }
    }

    /// That files of ours were changed elsewhere and wait to be looked at, if any do.
    pub(crate) fn waiting(&self) -> Option<String> {
        places::waiting(&self.home)
    }

    /// What files may be touched on this machine.
    pub(crate) fn rules(&self) -> &Arc<FileRules> {
        &self.rules
    }

    /// The states files were in before the agent changed them, when they are kept.
    pub(crate) fn checkpoints(&self) -> Option<&Arc<Checkpoints>> {
        self.checkpoints.as_ref()
    }

    /// What the agent knows how to do.
    pub(crate) fn skills(&self) -> &Arc<SkillServices> {
        &self.skills
    }

    /// What is remembered, and who is asked before it is changed.
    pub(crate) fn memory(&self) -> &Arc<MemoryServices> {
        &self.memory
    }

    /// What runs in the background.
    pub(crate) async fn running(&self) -> Vec<ProcessInfo> {
        let listed = self.processes.list().await.unwrap_or_default();
        let running = listed.into_iter();
        running
            .filter(|process| process.state == ProcessState::Running)
            .collect()
    }

    /// Ends what a session runs in the background. Says how many processes there were.
    pub(crate) async fn end_processes(&self, session: &SessionId) -> usize {
        let running = self.running().await.into_iter();
        let mut ended = 0;
        for process in running.filter(|process| process.session == session.as_str()) {
            match self.processes.kill(&process.id, 0).await {
                Ok(_) => ended += 1,
                Err(error) => tracing::warn!(%error, process = process.id, "was not ended"),
            }
        }
        ended
    }

    /// Lets go of everything.
    pub(crate) async fn close(&self) {
        self.forget_shells().await;
        if let Some(servers) = &self.language_servers {
            servers.close().await;
        }
        if let Ok(backend) = &self.backend {
            let before = self.waiting();
            if let Err(error) = backend.close().await {
                tracing::warn!(%error, "the place commands ran in was not closed cleanly");
            }
            // What was changed elsewhere is known only now.
            let now = self.waiting().filter(|now| Some(now) != before.as_ref());
            tell(now.as_slice());
        }
        if let Some(way_out) = &self.way_out {
            way_out.close().await;
        }
        if let Some(checkpoints) = &self.checkpoints {
            checkpoints.close().await;
        }
    }
}

impl ToolSource for Hands {
    fn tools(&self, facts: &SessionFacts<'_>) -> Vec<Arc<dyn Tool>> {
        let mut tools: Vec<Arc<dyn Tool>> = vec![
            Arc::new(Clarify::new().patience(self.config.clarify.timeout)),
            Arc::new(Todo::from_history(facts.history)),
            Arc::new(SessionSearch::new(self.search.clone())),
        ];
        tools.extend(web_tools(&self.web));
        tools.extend(skills::tools(&self.skills, facts.surface));
        tools.extend(memory::tool(&self.memory, facts));
        match self.kit(facts.session, facts.directory) {
            Ok(Kit { place, files }) => {
                tools.extend(files.tools());
                tools.push(Arc::new(Terminal::new(place.clone())));
                tools.push(Arc::new(Process::new(place.clone())));
                tools.push(Arc::new(ExecuteCode::new(place, self.code_settings())));
            }
            // Never somewhere else instead: who asked for a container or another machine has a reason.
            Err(why) => {
                let disabled = DisabledTerminal::new(self.limits(), why.to_owned());
                tools.push(Arc::new(disabled));
            }
        }
        if let Some(external) = &self.external {
            memory::add_external(&mut tools, external.tools(facts.surface, facts.user));
        }
        tools
    }

    fn equip<'a>(
        &'a self,
        names: &'a [String],
        audience: Audience<'a>,
        person: Person<'a>,
    ) -> BoxFuture<'a, Vec<String>> {
        Box::pin(async move {
            let caller = skills::caller(audience.surface);
            equip(&self.skills, &caller, names, person).await
        })
    }

    /// Why commands cannot run, once for each session.
    fn remarks(&self, facts: &SessionFacts<'_>) -> Vec<String> {
        let Err(why) = &self.backend else {
            return Vec::new();
        };
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.contains(facts.session) {
            return Vec::new();
        }
        if told.len() >= MOST_SESSIONS {
            told.clear();
        }
        told.insert(facts.session.clone());
        vec![format!(
            "Commands and files are switched off: {why} (`hermes doctor` looks at `terminal.backend`)"
        )]
    }
}

/// The environment of the project the program was started in, where it has one.
fn project_environment(context: &Context) -> Option<PathBuf> {
    [Variable::VIRTUAL_ENV, Variable::CONDA_PREFIX]
        .iter()
        .find_map(|variable| context.environment.filled(variable))
        .map(PathBuf::from)
}

/// What files may be touched on this machine.
fn file_rules(context: &Context, home: &Home, user: &UserFolders) -> FileRules {
    let safe_roots = context
        .environment
        .filled(&Variable::HERMES_WRITE_SAFE_ROOT);
    let safe_roots = safe_roots.map(|roots| std::env::split_paths(roots).collect());
    rules::of(home, user.home.clone(), safe_roots.unwrap_or_default())
}

/// What sessions are granted, and what other places get of this machine; both may grow.
fn grants(
    context: &Context,
    config: &Config,
    home: &Home,
    rules: &Arc<FileRules>,
) -> (Arc<Grants>, Growing<Source>, Growing<Offer>) {
    let sources = Growing::from(offers::of(config, home, rules));
    let offers = Growing::default();
    let grants = Grants::new(
        context,
        home,
        rules.clone(),
        sources.clone(),
        offers.clone(),
        places::on_another_account(context, config),
    );
    (Arc::new(grants), sources, offers)
}

fn processes(context: &Context, parts: &Parts, home: &Home) -> Processes {
    Processes::new(ProcessesOptions {
        store: parts.store.clone(),
        redactor: context.redactor.clone(),
        masking: places::masking(&parts.config),
        clock: context.clock().clone(),
        random: parts.random.clone(),
        logs: home.cache_dir().join("processes"),
        grace: parts.config.terminal.daemon_term_grace_seconds,
    })
}

fn memory_services(context: &Context, parts: &Parts, home: &Home) -> MemoryServices {
    MemoryServices {
        external: parts.external.clone(),
        ..memory::services(context, &parts.config, home, &parts.store, &parts.random)
    }
}

fn checkpoints(
    config: &Config,
    home: &Home,
    trusted: &Trusted,
    user_home: Option<PathBuf>,
    context: &Context,
) -> Option<Arc<Checkpoints>> {
    if !config.checkpoints.enabled {
        return None;
    }
    let clock = context.clock().clone();
    let settings = checkpoint_settings(config, home, trusted, user_home, clock);
    Some(Checkpoints::new(settings))
}

#[cfg(test)]
mod tests {
    use super::is_asked_at;

    // LN-10
    #[test]
    fn only_who_sits_at_a_terminal_is_asked_before_something_is_written() {
        for (surface, asked) in [
            ("cli", true),
            ("tui", true),
            ("telegram", false),
            ("api_server", false),
            ("cron", false),
            ("", false),
        ] {
            assert_eq!(is_asked_at(surface), asked, "{surface}");
        }
    }
}
