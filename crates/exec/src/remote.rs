//! From settings to a backend.

mod clouds;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hermes_config::{Backend as Choice, Environment, Terminal, Variable};
use hermes_core::{Clock, Random};
use hermes_http::HttpClient;
use hermes_policy::Isolation;

use crate::{
    Backend, Carriers, DaytonaConfig, DockerConfig, ExecError, Growing, LocalBackend, LocalOptions,
    ManagedModalConfig, ModalConfig, Offer, SingularityConfig, SshConfig, TetherProgram, daytona,
    docker, modal, singularity, ssh,
};

pub use clouds::on_another_account;

const CONNECT: Duration = Duration::from_secs(10);
const DOCKER_SOCKET: &str = "/var/run/docker.sock";
/// Where commands in containers start.
const CONTAINER_HOME: &str = "/root";
/// All that programs which carry commands elsewhere may see of our environment: nothing secret.
const CARRIED: [&str; 12] = [
    "APPTAINER_CACHEDIR",
    "APPTAINER_TMPDIR",
    "HOME",
    "LANG",
    "LOGNAME",
    "PATH",
    "SINGULARITY_CACHEDIR",
    "SSH_AUTH_SOCK",
    "TMPDIR",
    "USER",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
];

/// Where commands are to run, with everything that is needed for it. Resolved once for a session, so that
/// nothing that changes later can move its commands elsewhere.
pub enum BackendConfig {
    /// On this machine.
    Local(LocalOptions),
    /// In a container.
    Docker(DockerConfig),
    /// In a container of Apptainer or Singularity.
    Singularity(SingularityConfig),
    /// On another machine.
    Ssh(SshConfig),
    /// In a sandbox of Daytona.
    Daytona(DaytonaConfig),
    /// In a sandbox of Modal.
    Modal(ModalConfig),
    /// In a sandbox of Modal that a gateway makes.
    ManagedModal(ManagedModalConfig),
}

/// What a backend needs to know beside the settings.
pub struct Surroundings {
    /// Our home directory.
    pub home: PathBuf,
    /// The directory the program was started in.
    pub launched_in: PathBuf,
    /// A private directory with a short path, for sockets.
    pub sockets: PathBuf,
    /// The program's environment.
    pub environment: Environment,
    /// User and group that run the program.
    pub user: (u32, u32),
    /// Whose sandbox it is: the same name finds it again.
    pub task: String,
    /// The profile in use.
    pub profile: String,
    /// Files and directories that sandboxes may read.
    pub offers: Growing<Offer>,
    /// Tells idle time.
    pub clock: Arc<dyn Clock>,
    /// What the backend on this machine needs.
    pub local: LocalOptions,
    /// What backends in a cloud need.
    pub network: Network,
}

/// The way to a cloud.
pub struct Network {
    /// Makes the client; only called for a backend that needs one.
    pub client: Box<dyn FnOnce() -> Result<HttpClient, String> + Send>,
    /// Ends what was started there when this process is killed.
    pub tether: TetherProgram,
}

impl BackendConfig {
    /// What the settings ask for. Values of `docker_forward_env` come from the surroundings' environment.
    pub fn resolve(settings: &Terminal, around: Surroundings) -> Result<Self, ExecError> {
        match settings.backend {
            Choice::Local => Ok(Self::Local(around.local)),
            Choice::Docker => Ok(Self::Docker(container(settings, around))),
            Choice::Singularity => Ok(Self::Singularity(instance(settings, around))),
            Choice::Ssh => Ok(Self::Ssh(machine(settings, around))),
            Choice::Modal => clouds::modal(settings, around),
            Choice::Daytona => clouds::daytona(settings, around).map(Self::Daytona),
        }
    }
}

/// Makes the backend that is configured. Nothing is started or connected yet: what is wrong with the place
/// is found by the first command, which then fails and runs nowhere else.
pub fn open(config: BackendConfig, random: &dyn Random) -> Result<Arc<dyn Backend>, ExecError> {
    match config {
        BackendConfig::Local(options) => Ok(Arc::new(LocalBackend::new(options))),
        BackendConfig::Docker(config) => Ok(docker::backend(config, random)),
        BackendConfig::Singularity(config) => Ok(singularity::backend(config, random)),
        BackendConfig::Ssh(config) => ssh::backend(config, random),
        BackendConfig::Daytona(config) => Ok(daytona::backend(config, random)),
        BackendConfig::Modal(config) => Ok(modal::backend(config, random)),
        BackendConfig::ManagedModal(config) => Ok(modal::managed::backend(config, random)),
    }
}

/// How far the containers and sandboxes of these settings keep commands away from this machine.
pub fn isolation(settings: &Terminal) -> Isolation {
    let seen = settings.docker_mount_cwd_to_workspace
        || !settings.docker_volumes.is_empty()
        || !docker::keep_away(&settings.docker_extra_args);
    match settings.backend {
        Choice::Local | Choice::Ssh => Isolation::None,
        Choice::Docker if seen => Isolation::Mounts,
        Choice::Docker | Choice::Singularity | Choice::Modal | Choice::Daytona => Isolation::Full,
    }
}

fn container(settings: &Terminal, around: Surroundings) -> DockerConfig {
    let forwarded = settings.docker_forward_env.iter().filter_map(|name| {
        let value = around.environment.get_named(name)?;
        Some((name.clone(), value.to_owned()))
    });
    DockerConfig {
        engine: engine(&around.environment),
        image: settings.docker_image.clone(),
        directory: directory(settings, &around),
        cpus: settings.container_cpu,
        memory_mb: settings.container_memory,
        disk_mb: settings.container_disk,
        persistent: settings.container_persistent,
        across_processes: settings.docker_persist_across_processes,
        reaper: settings.docker_orphan_reaper,
        lifetime: settings.lifetime_seconds,
        network: settings.docker_network,
        run_as: settings.docker_run_as_host_user.then_some(around.user),
        workspace: settings
            .docker_mount_cwd_to_workspace
            .then(|| around.launched_in.clone()),
        volumes: settings.docker_volumes.clone(),
        environment: settings.docker_env.clone(),
        forwarded: forwarded.collect(),
        arguments: settings.docker_extra_args.clone(),
        sandboxes: sandboxes(settings, &around.home),
        task: around.task,
        profile: around.profile,
        offers: around.offers,
        clock: around.clock,
    }
}

/// The address of the container engine: what the user names, else the first socket that is there.
fn engine(environment: &Environment) -> String {
    if let Some(named) = environment.filled(&Variable::DOCKER_HOST) {
        return named.to_owned();
    }
    let below =
        |variable: &Variable, rest: &str| Some(Path::new(environment.get(variable)?).join(rest));
    let sockets = [
        Some(PathBuf::from(DOCKER_SOCKET)),
        below(&Variable::XDG_RUNTIME_DIR, "docker.sock"),
        below(&Variable::HOME, ".docker/run/docker.sock"),
        below(&Variable::HOME, ".docker/desktop/docker.sock"),
        below(&Variable::HOME, ".colima/default/docker.sock"),
        below(&Variable::XDG_RUNTIME_DIR, "podman/podman.sock"),
        Some(PathBuf::from("/run/podman/podman.sock")),
    ];
    let there = sockets.into_iter().flatten().find(|socket| socket.exists());
    let socket = there.unwrap_or_else(|| PathBuf::from(DOCKER_SOCKET));
    format!("unix://{}", socket.display())
}

/// Where Apptainer keeps what is large: where the user says, on the cluster's scratch disk, or with other sandboxes.
fn scratch(environment: &Environment, sandboxes: &Path) -> PathBuf {
    if let Some(named) = environment.get(&Variable::TERMINAL_SCRATCH_DIR) {
        return PathBuf::from(named);
    }
    let own = environment
        .get(&Variable::USER)
        .map(|user| Path::new("/scratch").join(user));
    match own.filter(|folder| folder.is_dir()) {
        Some(folder) => folder.join("hermes-agent"),
        None => sandboxes.to_owned(),
    }
}

fn instance(settings: &Terminal, around: Surroundings) -> SingularityConfig {
    let path = around.environment.get(&Variable::PATH);
    let folders: Vec<PathBuf> = path.map_or_else(Vec::new, |path| {
        path.split(':').map(PathBuf::from).collect()
    });
    let programs = ["apptainer", "singularity"]
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    let sandboxes = sandboxes(settings, &around.home);
    SingularityConfig {
        programs: programs.collect(),
        carriers: carriers(&around),
        image: settings.singularity_image.clone(),
        directory: directory(settings, &around),
        cpus: settings.container_cpu,
        memory_mb: settings.container_memory,
        persistent: settings.container_persistent,
        lifetime: settings.lifetime_seconds,
        scratch: scratch(&around.environment, &sandboxes),
        sandboxes,
        task: around.task,
        profile: around.profile,
        offers: around.offers,
        clock: around.clock,
    }
}

fn machine(settings: &Terminal, around: Surroundings) -> SshConfig {
    let key = settings.ssh_key.as_str();
    let home = around.environment.get(&Variable::HOME);
    let key = match (key.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => Path::new(home).join(rest),
        (Some(_) | None, _) => PathBuf::from(key),
    };
    SshConfig {
        host: settings.ssh_host.clone(),
        user: settings.ssh_user.clone(),
        port: settings.ssh_port,
        key: (!settings.ssh_key.is_empty()).then_some(key),
        known_hosts: None,
        program: PathBuf::from("ssh"),
        carriers: carriers(&around),
        sockets: around.sockets,
        connect: CONNECT,
    }
}

/// The directory in the settings, unless it is one of this machine.
fn directory(settings: &Terminal, around: &Surroundings) -> String {
    let home = around.environment.get(&Variable::HOME).map(Path::new);
    let here = [&*around.launched_in, &*around.home];
    let here: Vec<&Path> = here.into_iter().chain(home).collect();
    contained(settings, &here)
        .unwrap_or(CONTAINER_HOME)
        .to_owned()
}

/// The directory that the settings name in a container; nothing where they name one of this machine, such as one below
/// the directories that are `here`, or none at all.
fn contained<'a>(settings: &'a Terminal, here: &[&Path]) -> Option<&'a str> {
    let path = Path::new(&settings.cwd);
    let foreign = ["/home", "/Users"]
        .iter()
        .any(|folder| path.starts_with(folder));
    let ours = here.iter().any(|folder| {
        *folder != Path::new(CONTAINER_HOME)
            && *folder != Path::new("/")
            && path.starts_with(folder)
    });
    (path.is_absolute() && !foreign && !ours).then_some(settings.cwd.as_str())
}

/// Where commands that run elsewhere start, as a shell there would be told.
pub fn directory_there(settings: &Terminal, here: &[&Path]) -> PathBuf {
    match (settings.backend, settings.cwd.as_str()) {
        (_, "" | "." | "auto" | "cwd") => PathBuf::from("~"),
        // Another machine of the user's may well have the same directories.
        (Choice::Local | Choice::Ssh, named) => PathBuf::from(named),
        (Choice::Docker | Choice::Singularity | Choice::Modal | Choice::Daytona, _) => {
            PathBuf::from(contained(settings, here).unwrap_or("~"))
        }
    }
}

fn sandboxes(settings: &Terminal, home: &Path) -> PathBuf {
    match settings.sandbox_dir.as_str() {
        "" => home.join("sandboxes"),
        folder => PathBuf::from(folder),
    }
}

fn carriers(around: &Surroundings) -> Carriers {
    Carriers {
        warden: around.local.warden.clone(),
        environment: carried(&around.environment),
        directory: around.launched_in.clone(),
    }
}

fn carried(environment: &Environment) -> Vec<(String, String)> {
    let known = CARRIED.iter().filter_map(|name| {
        let value = environment.get_named(name)?;
        Some(((*name).to_owned(), value.to_owned()))
    });
    known.collect()
}
