//! The tools that touch the world, wired: one backend and one guard for the process, one workplace and one
//! memory of files for each session.

mod allow_list;
mod dens;
mod files;
mod judges;
mod offers;
mod places;
mod rules;
mod way_out;

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use hermes_agent::{SessionFacts, ToolSource};
use hermes_config::{Config, Home};
use hermes_core::{Clock, FailureKind, Random, SessionId, Tool};
use hermes_exec::sandbox::{Sandbox, confine_main};
use hermes_exec::{
    Backend, Place, ProcessState, Processes, ProcessesOptions, Shell, ShellOptions, Startup,
    tether_main, warden_main,
};
use hermes_policy::FileRules;
use hermes_secrets::{ChildName, RedactorHandle, Secret, SecretName};
use hermes_store::Store;
use hermes_tools::{
    Checkpoints, Clarify, Defined, ExecuteCode, FileRegistry, FileTools, Guard, LazyConfined,
    Limits, Process, Sudo, Terminal, Todo, Workplace,
};
use tokio::sync::watch;

use crate::complaint::Complaint;
use crate::context::Context;
use crate::network;
use allow_list::AllowList;
use dens::Dens;
use way_out::WayOut;

pub(crate) use places::{
    Helpers, backend, checkpoint_settings, confined, containers, environment, found, sandbox,
    this_machine,
};

/// Does what a helper of ours does, when this process was started as one. Comes before everything else: a
/// helper has no home, no settings and no time.
pub(crate) fn become_helper(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let role = arguments.nth(1)?;
    if role == Helpers::WARDEN {
        let ours = [Helpers::WARDEN.to_owned()];
        let rest = arguments.filter_map(|argument| argument.into_string().ok());
        return Some(warden_main(&ours, rest));
    }
    if role == Helpers::CONFINE {
        let rest: Vec<OsString> = arguments.collect();
        return Some(confine_main(&rest).unwrap_or_else(|error| {
            // Without anybody to read it there is nothing left to say.
            drop(writeln!(std::io::stderr(), "hermes: {error}"));
            ExitCode::from(126)
        }));
    }
    None
}

/// Clears up in a cloud when the process that started this one is gone. Unlike other helpers it needs the home: that is
/// where the network is described.
pub(crate) fn become_tether(context: &Context, arguments: &[OsString]) -> Option<ExitCode> {
    if arguments.get(1).is_none_or(|role| role != Helpers::TETHER) {
        return None;
    }
    let client = context
        .load()
        .and_then(|loaded| network::client(&loaded, &context.redactor));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let (Ok(client), Ok(runtime)) = (client, runtime) else {
        return Some(ExitCode::FAILURE);
    };
    runtime.block_on(tether_main(&client));
    Some(ExitCode::SUCCESS)
}

/// Sessions whose shells are kept; the one that came first goes first.
const MOST_SESSIONS: usize = 256;

/// What the tools of all sessions share.
pub(crate) struct Hands {
    config: Arc<Config>,
    home: Home,
    user_home: Option<PathBuf>,
    /// What commands see, without what only we should know.
    environment: Vec<(String, String)>,
    /// What commands elsewhere see of it: what the user lets through.
    passed_through: Vec<(String, String)>,
    project_environment: Option<PathBuf>,
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
    redactor: RedactorHandle,
    random: Arc<dyn Random>,
    sessions: Mutex<Kits>,
    /// The directories with the states of shells on this machine, from the first session on.
    dens: OnceLock<Dens>,
}

#[derive(Default)]
struct Kits {
    by_session: HashMap<SessionId, Kit>,
    order: Vec<SessionId>,
}

/// What one session holds on to between turns.
#[derive(Clone)]
struct Kit {
    place: Arc<Workplace>,
    files: FileTools,
}

/// Where a `Hands` gets its parts.
pub(crate) struct Parts {
    pub(crate) config: Arc<Config>,
    pub(crate) store: Store,
    pub(crate) random: Arc<dyn Random>,
}

impl Hands {
    /// Wires them. Nothing is started before a tool is called; must be made inside a runtime.
    pub(crate) fn new(context: &Context, parts: Parts) -> crate::complaint::Outcome<Self> {
        let Parts {
            config,
            store,
            random,
        } = parts;
        let home = context.home()?.clone();
        let user_home = context.environment.filled("HOME").map(PathBuf::from);
        let environment = environment(context, &config, &home);
        let (sandbox, way_out) = WayOut::open(sandbox(context), &config, &*random)
            .map_err(|error| Complaint::caused(FailureKind::Unavailable, error))?;
        let sandbox = Arc::new(sandbox);
        let safe_roots = context.environment.filled("HERMES_WRITE_SAFE_ROOT");
        let safe_roots = safe_roots.map(|roots| std::env::split_paths(roots).collect());
        let rules = rules::of(&home, user_home.clone(), safe_roots.unwrap_or_default());
        let sources = offers::of(&config, &home, &rules);
        let backend = backend(context, &config, &home, &sandbox, &random, sources)
            .map_err(|error| error.to_string());
        let processes = Processes::new(ProcessesOptions {
            store: store.clone(),
            redactor: context.redactor.clone(),
            clock: context.clock.clone(),
            random: random.clone(),
            logs: home.cache_dir().join("processes"),
            grace: config.terminal.daemon_term_grace_seconds,
        });
        let guard = Guard::new(
            judges::settings(&config, &home, user_home.as_deref()),
            store,
            context.clock.clone(),
            context.redactor.clone(),
            Arc::new(AllowList::new(context, &config)?),
            judges::tirith(&config, &environment),
        );
        let checkpoints = checkpoints(&config, &home, user_home.clone(), context.clock.clone());
        Ok(Self {
            project_environment: ["VIRTUAL_ENV", "CONDA_PREFIX"]
                .iter()
                .find_map(|name| context.environment.filled(name))
                .map(PathBuf::from),
            passed_through: places::passed(context, &config),
            rules: Arc::new(rules),
            config,
            home,
            user_home,
            environment,
            backend,
            sandbox,
            way_out,
            processes,
            guard: Arc::new(guard),
            registry: FileRegistry::new(),
            checkpoints,
            redactor: context.redactor.clone(),
            random,
            sessions: Mutex::default(),
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

    /// The states files were in before the agent changed them, when they are kept.
    pub(crate) fn checkpoints(&self) -> Option<&Arc<Checkpoints>> {
        self.checkpoints.as_ref()
    }

    /// Ends what a session runs in the background. Says how many processes there were.
    pub(crate) async fn end_processes(&self, session: &SessionId) -> usize {
        let listed = self.processes.list().await.unwrap_or_default();
        let running = listed.into_iter().filter(|process| {
            process.session == session.as_str() && process.state == ProcessState::Running
        });
        let mut ended = 0;
        for process in running {
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
        if let Ok(backend) = &self.backend
            && let Err(error) = backend.close().await
        {
            tracing::warn!(%error, "the place commands ran in was not closed cleanly");
        }
        if let Some(way_out) = &self.way_out {
            way_out.close().await;
        }
        if let Some(checkpoints) = &self.checkpoints {
            checkpoints.close().await;
        }
    }

    /// Removes the states of all shells: they hold exported variables.
    async fn forget_shells(&self) {
        let kits: Vec<Kit> = {
            let mut kits = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
            kits.order.clear();
            kits.by_session.drain().map(|(_, kit)| kit).collect()
        };
        for kit in kits {
            for shell in [&kit.place.shell, &kit.place.outside] {
                if let Err(error) = shell.close().await {
                    tracing::warn!(%error, "the state of a shell was not removed");
                }
            }
        }
    }

    /// What a session holds on to; nothing where commands cannot run.
    fn kit(&self, session: &SessionId, directory: &Path) -> Option<Kit> {
        let backend = self.backend.as_ref().ok()?;
        let mut kits = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kit) = kits.by_session.get(session) {
            return Some(kit.clone());
        }
        let here = backend.place() == Place::Host;
        let place = Arc::new(self.workplace(backend, directory, here));
        let kit = Kit {
            files: FileTools::new(self.file_services(&place, here)),
            place,
        };
        kits.order.push(session.clone());
        if kits.order.len() > MOST_SESSIONS {
            let oldest = kits.order.remove(0);
            kits.by_session.remove(&oldest);
        }
        kits.by_session.insert(session.clone(), kit.clone());
        Some(kit)
    }

    fn workplace(&self, backend: &Arc<dyn Backend>, directory: &Path, here: bool) -> Workplace {
        let terminal = &self.config.terminal;
        let directory = match (terminal.cwd.as_str(), here) {
            ("" | "." | "auto" | "cwd", true) => directory.to_owned(),
            ("" | "." | "auto" | "cwd", false) => PathBuf::from("~"),
            (named, true) => directory.join(expanded(named, self.user_home.as_deref())),
            (named, false) => PathBuf::from(named),
        };
        let startup = match (&terminal.shell_init_files[..], terminal.auto_source_bashrc) {
            ([], true) => Startup::Login,
            ([], false) => Startup::Nothing,
            (files, _) => Startup::Files(files.to_vec()),
        };
        let confine = places::Confine {
            sandbox: self.sandbox.clone(),
            config: self.config.clone(),
            surroundings: places::surroundings(
                &self.config,
                &directory,
                backend.scratch(),
                self.user_home.clone(),
                self.home.path().to_owned(),
            ),
            here,
        };
        let environment = match here {
            true => self.environment.clone(),
            false => self.passed_through.clone(),
        };
        let shell = |startup, folder| {
            Shell::new(ShellOptions {
                backend: backend.clone(),
                directory: directory.clone(),
                environment: environment.clone(),
                startup,
                output_limit: self.config.tool_output.max_bytes as usize,
                folder,
                random: self.random.clone(),
            })
        };
        let unreachable = match here {
            true => {
                let open = || Dens::open(&self.home, backend.scratch(), &*self.random);
                self.dens.get_or_init(open).unreachable().to_owned()
            }
            false => backend.scratch(),
        };
        Workplace {
            shell: shell(startup.clone(), backend.scratch()),
            outside: shell(startup, unreachable),
            backend: backend.clone(),
            defined: Defined::default(),
            confinement: LazyConfined::new(Arc::new(move || confine.find())),
            environment: environment.clone(),
            processes: self.processes.clone(),
            guard: self.guard.clone(),
            redactor: self.redactor.clone(),
            random: self.random.clone(),
            limits: Limits {
                usual: terminal.timeout,
                most: terminal.max_foreground_timeout,
            },
            sudo: Sudo::new(self.sudo_password()),
            checkpoints: self.checkpoints.clone().filter(|_| here),
        }
    }

    fn sudo_password(&self) -> Option<Secret> {
        let text = self.config.terminal.sudo_password.as_ref()?;
        let name = SecretName::new("SUDO_PASSWORD").ok()?;
        Secret::builder(name, text.expose().to_owned())
            .child(ChildName::new("sudo"))
            .build()
            .ok()
    }
}

impl ToolSource for Hands {
    fn tools(&self, facts: &SessionFacts<'_>) -> Vec<Arc<dyn Tool>> {
        let mut tools: Vec<Arc<dyn Tool>> = vec![
            Arc::new(Clarify::new()),
            Arc::new(Todo::from_history(facts.history)),
        ];
        if let Some(Kit { place, files }) = self.kit(facts.session, facts.directory) {
            tools.extend(files.tools());
            tools.push(Arc::new(Terminal::new(place.clone())));
            tools.push(Arc::new(Process::new(place.clone())));
            tools.push(Arc::new(ExecuteCode::new(place, self.code_settings())));
        }
        tools
    }
}

fn checkpoints(
    config: &Config,
    home: &Home,
    user_home: Option<PathBuf>,
    clock: Arc<dyn Clock>,
) -> Option<Arc<Checkpoints>> {
    config
        .checkpoints
        .enabled
        .then(|| Checkpoints::new(checkpoint_settings(config, home, user_home, clock)))
}

fn expanded(path: &str, user_home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~/"), user_home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}
