//! `terminal`: where commands run.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::macros::{choice, secs, section, text};
use crate::setting::SecretText;

choice! {
    /// Where commands run.
    pub enum Backend {
        /// On this machine.
        Local = "local",
        /// In a Docker or Podman container.
        Docker = "docker",
        /// On another machine over SSH.
        Ssh = "ssh",
        /// In a Modal sandbox.
        Modal = "modal",
        /// In a Daytona sandbox.
        Daytona = "daytona",
        /// In a Singularity or Apptainer container.
        Singularity = "singularity",
    }
}

choice! {
    /// Whose account Modal sandboxes run on.
    pub enum ModalMode {
        /// The gateway's account if there is a token for it, otherwise your own.
        Auto = "auto",
        /// Your own account.
        Direct = "direct",
        /// The gateway's account, with the token in `TOOL_GATEWAY_USER_TOKEN`.
        Managed = "managed",
    }
}

choice! {
    /// What `HOME` is for commands.
    pub enum HomeMode {
        /// Your own on a plain machine, the profile's inside a container.
        Auto = "auto",
        /// Your own.
        Real = "real",
        /// The profile's.
        Profile = "profile",
    }
}

choice! {
    /// How much commands on this machine may change.
    pub enum SandboxMode {
        /// The workspace, temporary files and the caches of package managers.
        WorkspaceWrite = "workspace-write",
        /// Nothing but temporary files of their own.
        ReadOnly = "read-only",
        /// Everything; commands are not confined.
        Full = "full",
    }
}

choice! {
    /// Which network confined commands have.
    pub enum SandboxNetwork {
        /// All of it.
        On = "on",
        /// The hosts of `allow_hosts`.
        Only = "only",
        /// None.
        Off = "off",
    }
}

section! {
    /// What commands that run on this machine may touch. See [the sandbox](sandbox.md).
    pub struct TerminalSandbox {
        /// How much commands may change.
        mode: SandboxMode = SandboxMode::WorkspaceWrite;
        /// Which network they have.
        network: SandboxNetwork = SandboxNetwork::On;
        /// Hosts they may reach with `network: only`; `*.example.org` is everything below, `host:port`
        /// another port than those of the web.
        allow_hosts: Vec<String> = Vec::new();
        /// Directories they may write besides the workspace.
        writable: Vec<String> = Vec::new();
        /// Paths they must not see, besides credentials and the home of Hermes.
        hidden: Vec<String> = Vec::new();
        /// Refuses commands where there is no sandbox, in place of a warning.
        required: bool = false;
    }
}

const IMAGE: &str = "nikolaik/python-nodejs:python3.11-nodejs20";

section! {
    /// Where and how commands run.
    pub struct Terminal {
        /// Where commands run.
        backend: Backend = Backend::Local;
        /// Whose account Modal sandboxes run on.
        modal_mode: ModalMode = ModalMode::Auto;
        /// What commands that run on this machine may touch.
        @unlisted sandbox: TerminalSandbox = TerminalSandbox::default();
        /// Directory commands start in; `.` is the one Hermes was started in.
        cwd: String = text(".");
        /// Seconds a command may run unless the model asks for more.
        timeout: Duration = secs(180), in secs(1)..=secs(31_536_000);
        /// Most seconds the model may ask for in the foreground; longer commands go to the background.
        @unlisted max_foreground_timeout: Duration = secs(600), in secs(1)..=secs(31_536_000);
        /// Seconds a sandbox may be idle before it is closed.
        @unlisted lifetime_seconds: Duration = secs(300);
        /// Seconds background processes get to end by themselves at exit.
        daemon_term_grace_seconds: Duration = secs(2);
        /// Environment variables commands may see although they would be held back.
        env_passthrough: Vec<String> = Vec::new();
        /// What `HOME` is for commands.
        home_mode: HomeMode = HomeMode::Auto;
        /// Files sourced before the first command, in place of the usual ones.
        shell_init_files: Vec<String> = Vec::new();
        /// Sources your shell's start-up files before the first command.
        auto_source_bashrc: bool = true;
        /// Image of Docker containers.
        docker_image: String = text(IMAGE);
        /// Environment variables handed into Docker containers.
        docker_forward_env: Vec<String> = Vec::new();
        /// Environment variables set in Docker containers.
        docker_env: BTreeMap<String, String> = BTreeMap::new();
        /// Image of Singularity containers.
        singularity_image: String = format!("docker://{IMAGE}");
        /// Image of Modal sandboxes.
        modal_image: String = text(IMAGE);
        /// Image of Daytona sandboxes.
        daytona_image: String = text(IMAGE);
        /// Processors of a container; 0 is no limit.
        container_cpu: f64 = 1.0, in 0.0..=4096.0;
        /// Memory of a container in MB; 0 is no limit.
        container_memory: u32 = 5120;
        /// Disk of a container in MB; 0 is no limit.
        container_disk: u32 = 51_200;
        /// Keeps a container's files for the next session.
        container_persistent: bool = true;
        /// Volumes of Docker containers, as `host:container[:ro]`.
        docker_volumes: Vec<String> = Vec::new();
        /// Shows the directory Hermes was started in to Docker containers as `/workspace`.
        docker_mount_cwd_to_workspace: bool = false;
        /// Gives Docker containers a network.
        docker_network: bool = true;
        /// Further arguments of `docker run`.
        docker_extra_args: Vec<String> = Vec::new();
        /// Runs Docker containers as your own user.
        docker_run_as_host_user: bool = false;
        /// Leaves Docker containers running for the next process.
        @unlisted docker_persist_across_processes: bool = true;
        /// Removes stopped Docker containers that nobody uses any more.
        @unlisted docker_orphan_reaper: bool = true;
        /// Directory for the files of containers; `sandboxes` in the home when empty.
        @unlisted sandbox_dir: String = String::new();
        /// Keeps one shell alive between commands.
        persistent_shell: bool = true, no_effect "as the state of a shell is always kept";
        /// Machine commands run on with the SSH backend.
        @unlisted ssh_host: String = String::new();
        /// User on that machine.
        @unlisted ssh_user: String = String::new();
        /// Port of its SSH server.
        @unlisted ssh_port: u16 = 22;
        /// File with the private key for it.
        @unlisted ssh_key: String = String::new();
        /// Password for `sudo`; better kept in `.env` as `SUDO_PASSWORD`.
        @unlisted sudo_password: Option<SecretText> = None;
        /// Files below the home that sandboxes may read.
        @unlisted credential_files: Vec<String> = Vec::new();
    }
}
