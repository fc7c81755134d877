//! Where commands run and what surrounds them, from the settings.

use std::collections::BTreeSet;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use hermes_config::{
    Backend as Choice, Config, Environment, Home, SandboxMode, SandboxNetwork,
    Terminal as TerminalSettings, Variable,
};
use hermes_core::{Clock, Random};
use hermes_exec::guidance::Masking;
use hermes_exec::sandbox::{Choice as Confining, Helper, Need, Sandbox, choose, exposing, settled};
use hermes_exec::{
    Backend, BackendConfig, ChildEnvironment, Den, ExecError, FileSync, Granted, Growing,
    LocalOptions, Network as Way, Offer, Returned, Source, Surroundings as Around, SyncedBackend,
    TetherProgram, WardenProgram, on_another_account as on_another, open, passed_through, returned,
};
use hermes_http::HttpClient;
use hermes_policy::confine::Surroundings;
use hermes_policy::{Confinement, Mode, Network};
use hermes_tools::{CheckpointSettings, Confined};
use nix::unistd::{Gid, Uid};

use super::secluded::secluded;
use super::{Trusted, dens, offers};
use crate::context::Context;
use crate::network;

/// The hidden arguments with which this program becomes one of its helpers.
pub(crate) struct Helpers;

impl Helpers {
    /// Watches over commands.
    pub(crate) const WARDEN: &str = "__warden";
    /// Confines one command.
    pub(crate) const CONFINE: &str = "__confine";
    /// Clears up in a cloud after us.
    pub(crate) const TETHER: &str = "__tether";
}

/// Our home on another machine.
const HOME_THERE: &str = "~/.hermes";
/// Why there is no client for these backends.
const UNUSED: &str = "this backend makes no requests";
/// What container engines leave in their containers: Docker and Podman.
const CONTAINER_MARKS: [&str; 2] = ["/.dockerenv", "/run/.containerenv"];
const MEGABYTE: u64 = 1024 * 1024;
const DAY: u64 = 24 * 60 * 60;

/// What confines commands on this machine; what works is found out when it is first needed.
pub(crate) fn sandbox(trusted: &Trusted) -> Sandbox {
    let helper = Helper {
        program: program(),
        argument: Helpers::CONFINE.to_owned(),
    };
    Sandbox::new(helper, trusted.folders().to_vec())
}

/// This program. Started from a place that is gone by now, it is found again by its name.
fn program() -> PathBuf {
    std::env::current_exe().unwrap_or_else(|_| PathBuf::from("hermes"))
}

/// The backend the settings name. There is no other one to fall back to.
pub(crate) fn backend(
    context: &Context,
    config: &Config,
    home: &Home,
    sandbox: &Arc<Sandbox>,
    random: &Arc<dyn Random>,
    sources: Growing<Source>,
    offers: Growing<Offer>,
) -> Result<Arc<dyn Backend>, ExecError> {
    let terminal = &config.terminal;
    let choice = terminal.backend;
    if matches!(choice, Choice::Docker | Choice::Singularity) {
        for offer in offers::mounted(&sources.list()) {
            offers.add(offer);
        }
    }
    let local = local(terminal, home, sandbox, &**random);
    let backend = open(resolved(context, terminal, home, local, offers)?, &**random)?;
    if !matches!(choice, Choice::Ssh | Choice::Daytona | Choice::Modal) {
        return Ok(backend);
    }
    let work = returns(home);
    let sync = FileSync::new(backend.clone(), random.clone(), HOME_THERE, sources, work);
    Ok(Arc::new(SyncedBackend::new(backend, sync)))
}

/// Where files that were changed elsewhere wait for somebody to look at them.
fn returns(home: &Home) -> PathBuf {
    home.cache_dir().join("sync")
}

/// What was changed elsewhere and nobody has removed yet, the newest first.
pub(crate) fn came_back(home: &Home) -> std::io::Result<Vec<Returned>> {
    returned(&returns(home))
}

/// Says that something waits; nothing when nothing does.
pub(super) fn waiting(home: &Home) -> Option<String> {
    let came_back = came_back(home).ok()?;
    let newest = came_back.first()?;
    let files = newest.note.changes.len();
    let more = match came_back.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more times"),
    };
    Some(format!(
        "Files of ours were changed elsewhere ({files} in {}{more}); they were put aside and nothing was applied: \
         `hermes sandbox returned show {}` shows them, `hermes sandbox returned rm` removes them",
        newest.folder.display(),
        newest.name
    ))
}

/// What is known about where the containers and sandboxes are, also when commands run elsewhere now.
pub(crate) fn containers(
    context: &Context,
    config: &Config,
    home: &Home,
    random: &dyn Random,
) -> Result<BackendConfig, ExecError> {
    let mut terminal = config.terminal.clone();
    match terminal.backend {
        Choice::Docker | Choice::Singularity | Choice::Daytona | Choice::Modal => {}
        Choice::Local | Choice::Ssh => terminal.backend = Choice::Docker,
    }
    let trusted = Trusted::new(context, config, home);
    let local = local(&terminal, home, &Arc::new(sandbox(&trusted)), random);
    resolved(context, &terminal, home, local, Growing::default())
}

fn resolved(
    context: &Context,
    terminal: &TerminalSettings,
    home: &Home,
    local: LocalOptions,
    offers: Growing<Offer>,
) -> Result<BackendConfig, ExecError> {
    // Only clouds need a client, and keys from the file of secrets; a container gets of those what is named for it.
    let (environment, client) = match terminal.backend {
        Choice::Daytona | Choice::Modal => connected(context),
        Choice::Docker if !terminal.docker_forward_env.is_empty() => {
            let loaded = context.load();
            let environment = loaded.as_ref().map(|loaded| &loaded.environment);
            let environment = environment.unwrap_or(&context.environment);
            (environment.clone(), Err(UNUSED.to_owned()))
        }
        Choice::Local | Choice::Docker | Choice::Ssh | Choice::Singularity => {
            (context.environment.clone(), Err(UNUSED.to_owned()))
        }
    };
    let around = Around {
        home: home.path().to_owned(),
        launched_in: context.directory().unwrap_or_default(),
        sockets: context
            .temporary()
            .join(format!("hermes-ssh-{}", Uid::current())),
        environment,
        user: (Uid::current().as_raw(), Gid::current().as_raw()),
        task: "default".to_owned(),
        profile: home.profile().to_string(),
        offers,
        clock: context.clock().clone(),
        local,
        network: Way {
            client: Box::new(move || client),
            tether: tether(context, home),
        },
    };
    BackendConfig::resolve(terminal, around)
}

/// Whether commands run on somebody else's account.
pub(super) fn on_another_account(context: &Context, config: &Config) -> bool {
    let terminal = &config.terminal;
    // Only there it takes the variables of the file of secrets to tell.
    terminal.backend == Choice::Modal && {
        let loaded = context.load();
        let environment = loaded.as_ref().map(|loaded| &loaded.environment);
        on_another(terminal, environment.unwrap_or(&context.environment))
    }
}

pub(super) fn local(
    terminal: &TerminalSettings,
    home: &Home,
    sandbox: &Arc<Sandbox>,
    random: &dyn Random,
) -> LocalOptions {
    LocalOptions {
        warden: WardenProgram {
            program: program(),
            arguments: vec![Helpers::WARDEN.to_owned()],
            grace: terminal.daemon_term_grace_seconds,
        },
        scratch: Den::named(&dens::yard(home), random.next_u64()),
        confiner: Some(sandbox.clone()),
    }
}

pub(super) fn network_of(config: &Config) -> Network {
    let settings = &config.terminal.sandbox;
    match settings.network {
        SandboxNetwork::On => Network::On,
        SandboxNetwork::Off => Network::Off,
        SandboxNetwork::Only => Network::Only(settings.allow_hosts.clone()),
    }
}

/// The environment with the secrets of the home in it, and a client for the network as it is set up.
fn connected(context: &Context) -> (Environment, Result<HttpClient, String>) {
    match context.load() {
        Ok(loaded) => (
            loaded.environment.clone(),
            network::client(&loaded, context).map_err(|complaint| complaint.cause()),
        ),
        Err(complaint) => (context.environment.clone(), Err(complaint.cause())),
    }
}

/// This program as the helper that clears up after us; it finds the same home and so the same network.
fn tether(context: &Context, home: &Home) -> TetherProgram {
    let mut environment = owned(&context.environment);
    environment.push(("HERMES_HOME".to_owned(), home.path().display().to_string()));
    TetherProgram {
        program: program(),
        arguments: vec![Helpers::TETHER.to_owned()],
        environment,
    }
}

fn owned(environment: &Environment) -> Vec<(String, String)> {
    let pairs = environment.iter();
    pairs
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// What of our environment the user lets through to commands, wherever they run.
pub(super) fn passed(
    context: &Context,
    config: &Config,
    keys: &BTreeSet<String>,
) -> Vec<(String, String)> {
    let names = &config.terminal.env_passthrough;
    passed_through(&owned(&context.environment), names, keys)
}

/// What commands on this machine see of our environment.
pub(crate) fn environment(
    context: &Context,
    config: &Config,
    home: &Home,
) -> Vec<(String, String)> {
    let ours = owned(&context.environment);
    let program = program();
    let keys = context.key_names();
    let child = ChildEnvironment {
        ours: &ours,
        keys: &keys,
        home_mode: config.terminal.home_mode,
        hermes_home: home.path(),
        in_container: CONTAINER_MARKS.iter().any(|mark| Path::new(mark).exists()),
        program_folder: program.parent(),
    };
    let mut environment = child.build();
    for passed in passed(context, config, &keys) {
        if !environment.contains(&passed) {
            environment.push(passed);
        }
    }
    environment
}

/// The user's own directories, as the environment names them.
#[derive(Debug, Clone)]
pub(super) struct UserFolders {
    pub(super) home: Option<PathBuf>,
    pub(super) temporary: PathBuf,
}

impl UserFolders {
    pub(super) fn of(context: &Context) -> Self {
        Self {
            home: context
                .environment
                .filled(&Variable::HOME)
                .map(PathBuf::from),
            temporary: context.temporary(),
        }
    }
}

/// The directories a session's confinement is made from.
pub(super) fn surroundings(
    config: &Config,
    workspace: &Path,
    scratch: PathBuf,
    user: &UserFolders,
    home: &Home,
    secluded: &[PathBuf],
) -> Surroundings {
    let sandbox = &config.terminal.sandbox;
    let expanded = |paths: &[String]| -> Vec<PathBuf> {
        let paths = paths.iter();
        paths
            .map(|path| super::kits::expanded(path, user.home.as_deref()))
            .collect()
    };
    let mut hidden = expanded(&sandbox.hidden);
    // What other sessions keep, from the file tools as well; the session's own directory inside it stays.
    hidden.push(dens::yard(home));
    hidden.extend_from_slice(secluded);
    Surroundings {
        workspace: workspace.to_owned(),
        scratch,
        temporary: vec![user.temporary.clone(), PathBuf::from("/var/tmp")],
        writable: expanded(&sandbox.writable),
        hidden,
        home: user.home.clone(),
        product_home: home.path().to_owned(),
    }
}

/// What the file tools keep to; nothing when everything is open. Both the names of places and the places themselves
/// count.
pub(super) fn confined_files(config: &Config, around: &Surroundings) -> Option<Confinement> {
    let mode = mode(config);
    if mode == Mode::Full {
        return None;
    }
    let named = Confinement::for_files(mode, around);
    let begun = begun(around, |around| Confinement::for_files(mode, around));
    Some(named.and(begun))
}

/// A confinement as it is when a session begins. What is closed is closed under its name and where that leads; what
/// is opened is what [`settled`] believes.
fn begun(around: &Surroundings, make: impl Fn(&Surroundings) -> Confinement) -> Confinement {
    let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    let all = |paths: &[PathBuf]| paths.iter().map(real).collect();
    let closed = make(&Surroundings {
        workspace: real(&around.workspace),
        scratch: real(&around.scratch),
        temporary: all(&around.temporary),
        writable: all(&around.writable),
        hidden: all(&around.hidden),
        home: around.home.as_ref().map(real),
        product_home: real(&around.product_home),
    });
    let closed = Confinement {
        writable: Vec::new(),
        exposed: Vec::new(),
        ..closed
    };
    settled(make(around).and(closed))
}

/// What is masked in what commands print.
pub(super) fn masking(config: &Config) -> Masking {
    match config.security.redact_secrets {
        true => Masking::Guessing,
        false => Masking::Known,
    }
}

fn mode(config: &Config) -> Mode {
    match config.terminal.sandbox.mode {
        SandboxMode::WorkspaceWrite => Mode::WorkspaceWrite,
        SandboxMode::ReadOnly => Mode::ReadOnly,
        SandboxMode::Full => Mode::Full,
    }
}

/// Finds out how a session's commands are confined.
pub(super) struct Confine {
    pub(super) sandbox: Arc<Sandbox>,
    pub(super) config: Arc<Config>,
    pub(super) surroundings: Surroundings,
    /// What commands may read besides.
    pub(super) granted: Granted,
    pub(super) here: bool,
    /// What was found out when the session began.
    pub(super) begun: OnceLock<Confinement>,
}

impl Confine {
    /// Blocks for a moment.
    pub(super) fn find(&self) -> Confined {
        if !self.here {
            return Confined::Not("the place itself".to_owned());
        }
        let settings = &self.config.terminal.sandbox;
        let mode = mode(&self.config);
        let need = match settings.required {
            true => Need::Required,
            false => Need::Preferred,
        };
        if mode == Mode::Full {
            return Confined::Not("off".to_owned());
        }
        match choose(mode, need, self.sandbox.mechanism()) {
            Confining::Confine => {
                let made = |around: &Surroundings| {
                    Confinement::for_workspace(mode, around, network_of(&self.config))
                };
                let begun = self.begun.get_or_init(|| begun(&self.surroundings, made));
                let confinement = exposing(begun.clone(), &self.granted.files());
                let words = format!("{} ({})", settings.mode.word(), self.sandbox.describe());
                Confined::By(Arc::new(confinement), words)
            }
            Confining::Open { warning } => {
                Confined::Not(warning.unwrap_or_else(|| "off".to_owned()))
            }
            Confining::Refuse { why } => Confined::Refused(why),
        }
    }
}

/// How commands on this machine would be confined, for people. Blocks for a moment.
pub(crate) fn confined(context: &Context, config: &Arc<Config>, home: &Home) -> Confined {
    let user = UserFolders::of(context);
    let directory = context.directory().unwrap_or_default();
    let confine = Confine {
        sandbox: Arc::new(sandbox(&Trusted::new(context, config, home))),
        config: config.clone(),
        surroundings: surroundings(
            config,
            &directory,
            user.temporary.clone(),
            &user,
            home,
            &secluded(context),
        ),
        granted: Granted::default(),
        begun: OnceLock::new(),
        here: config.terminal.backend == hermes_config::Backend::Local,
    };
    confine.find()
}

/// Makes a directory that nobody else looks into, when it is missing.
pub(super) fn make_private(directory: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
}

/// A program on the path commands have.
pub(crate) fn found(name: &str, environment: &[(String, String)]) -> Option<PathBuf> {
    if name.contains('/') {
        let path = PathBuf::from(name);
        return path.is_file().then_some(path);
    }
    let (_, path) = environment.iter().find(|(name, _)| name == "PATH")?;
    hermes_config::program_on(path, name)
}

/// How snapshots are taken and kept.
pub(crate) fn checkpoint_settings(
    config: &Config,
    home: &Home,
    trusted: &Trusted,
    user_home: Option<PathBuf>,
    clock: Arc<dyn Clock>,
) -> CheckpointSettings {
    let checkpoints = &config.checkpoints;
    let bytes = |megabytes: u32| (megabytes > 0).then(|| u64::from(megabytes) * MEGABYTE);
    CheckpointSettings {
        directory: home.path().join("checkpoints"),
        git: trusted
            .program("git")
            .unwrap_or_else(|| PathBuf::from("git")),
        user_home,
        most_snapshots: checkpoints.max_snapshots as usize,
        most_bytes: bytes(checkpoints.max_total_size_mb),
        largest_file: bytes(checkpoints.max_file_size_mb),
        retention: Duration::from_secs(u64::from(checkpoints.retention_days) * DAY),
        delete_orphans: checkpoints.delete_orphans,
        clean_every: checkpoints
            .auto_prune
            .then(|| Duration::from_secs_f64(checkpoints.min_interval_hours * 3600.0)),
        timeout: Duration::from_secs(30),
        clock,
    }
}
