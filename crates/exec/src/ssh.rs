//! Commands on another machine, through the system's `ssh`.
//!
//! The guard's connection is also the one that all commands share: closing it, or losing it, ends what ran
//! over it and nothing of anybody else, and no connection outlives us in the background.

use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_core::future::BoxFuture;
use hermes_core::Random;

use crate::supervise::{
    Carrier, Carriers, Channel, Closed, Crew, Programs, Pulse, Role, Supervised, quote,
};
use crate::{Backend, ExecError, Place};

const KIND: &str = "ssh";
/// A socket's path may have 107 bytes, and ssh appends seventeen while it makes one.
const MAX_SOCKET: usize = 90;
/// Shared connections live for the whole session, so a network that is gone for a moment is waited for.
const PULSE: Pulse = Pulse {
    every: Duration::from_secs(10),
    patience: Duration::from_secs(60),
};

/// Which machine, and how to get there. Everything else comes from the user's own ssh configuration.
#[derive(Debug, Clone)]
pub struct SshConfig {
    /// Name or address of the machine.
    pub host: String,
    /// User over there.
    pub user: String,
    /// Port of its server.
    pub port: u16,
    /// File with the private key; the agent's and the usual ones when absent.
    pub key: Option<PathBuf>,
    /// File with known host keys in place of the user's.
    pub known_hosts: Option<PathBuf>,
    /// The client program.
    pub program: PathBuf,
    /// How it is started; it needs `PATH`, `HOME` and `SSH_AUTH_SOCK`.
    pub carriers: Carriers,
    /// A directory of ours with a short path, for the connection's socket.
    pub sockets: PathBuf,
    /// How long the machine may take to answer.
    pub connect: Duration,
}

/// A backend for the machine; nothing is connected before it is used.
pub(crate) fn backend(
    config: SshConfig,
    random: &dyn Random,
) -> Result<Arc<dyn Backend>, ExecError> {
    for (value, name) in [(&config.host, "host"), (&config.user, "user")] {
        if value.is_empty() || value.starts_with('-') {
            return Err(unavailable(
                format!("no {name} is set"),
                format!("Set terminal.ssh_{name}."),
            ));
        }
    }
    let carrier = Ssh {
        programs: Programs::new(config.carriers.clone()),
        stem: format!("{:012x}", random.next_u64() >> 16),
        config,
        connections: AtomicU32::new(0),
        socket: Mutex::new(PathBuf::new()),
    };
    Ok(Arc::new(Supervised::new(carrier, random)))
}

struct Ssh {
    config: SshConfig,
    programs: Programs,
    stem: String,
    connections: AtomicU32,
    /// The socket of the connection that commands share.
    socket: Mutex<PathBuf>,
}

impl Ssh {
    fn new_socket(&self) -> Result<PathBuf, ExecError> {
        let sockets = &self.config.sockets;
        private_directory(sockets)?;
        let number = self.connections.fetch_add(1, Ordering::Relaxed);
        let socket = sockets.join(format!("{}-{number}", self.stem));
        if socket.as_os_str().len() > MAX_SOCKET {
            return Err(unavailable(
                format!("the path {} is too long for a socket", socket.display()),
                "Use a temporary directory with a shorter path.".to_owned(),
            ));
        }
        Ok(socket)
    }

    fn command(&self, role: Role, socket: &Path) -> Vec<String> {
        let config = &self.config;
        let terminal = match role {
            Role::Guard | Role::Pipes => "-T",
            Role::Terminal => "-tt",
        };
        let mut words = vec![config.program.display().to_string(), terminal.to_owned()];
        let master = if role == Role::Guard { "yes" } else { "no" };
        let path = socket.to_string_lossy().replace('%', "%%");
        let mut options = vec![
            "BatchMode=yes".to_owned(),
            "StrictHostKeyChecking=accept-new".to_owned(),
            format!("ConnectTimeout={}", config.connect.as_secs().max(1)),
            "ServerAliveInterval=15".to_owned(),
            "ServerAliveCountMax=4".to_owned(),
            format!("ControlMaster={master}"),
            format!("ControlPath={path}"),
            "ControlPersist=no".to_owned(),
            "EscapeChar=none".to_owned(),
            "LogLevel=ERROR".to_owned(),
            "RemoteCommand=none".to_owned(),
        ];
        if let Some(file) = &config.known_hosts {
            options.push(format!("UserKnownHostsFile={}", file.display()));
        }
        if let Some(key) = &config.key {
            options.push(format!("IdentityFile={}", key.display()));
            options.push("IdentitiesOnly=yes".to_owned());
        }
        for option in options {
            words.extend(["-o".to_owned(), option]);
        }
        words.extend(["-p".to_owned(), config.port.to_string()]);
        words.extend(["-l".to_owned(), config.user.clone()]);
        words.extend(["--".to_owned(), config.host.clone()]);
        words.push(format!("exec /bin/sh -c {}", quote(role.boot())));
        words
    }
}

impl Carrier for Ssh {
    fn place(&self) -> Place {
        Place::Away {
            kind: KIND,
            label: format!("{}@{}", self.config.user, self.config.host),
        }
    }

    fn scratch(&self) -> PathBuf {
        PathBuf::from("/tmp")
    }

    fn pulse(&self) -> Pulse {
        PULSE
    }

    fn open(&self, role: Role, crew: &Crew) -> BoxFuture<'_, Result<Channel, ExecError>> {
        let crew = crew.clone();
        Box::pin(async move {
            let socket = if role == Role::Guard {
                let socket = self.new_socket()?;
                self.socket
                    .lock()
                    .unwrap_or_else(std::sync::PoisonError::into_inner)
                    .clone_from(&socket);
                socket
            } else {
                self.socket
                    .lock()
                    .unwrap_or_else(std::sync::PoisonError::into_inner)
                    .clone()
            };
            let opened = self.programs.channel(self.command(role, &socket), &crew);
            opened.await.map_err(|error| match error {
                ExecError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                    unavailable(
                        format!("there is no program {}", self.config.program.display()),
                        "Install the OpenSSH client.".to_owned(),
                    )
                }
                other => other,
            })
        })
    }

    fn explain(&self, closed: &Closed) -> ExecError {
        let SshConfig {
            host, user, port, ..
        } = &self.config;
        let said = &closed.complaint;
        let next = COMPLAINTS
            .iter()
            .find(|(words, _)| said.contains(words))
            .map_or("Try the same with ssh by hand.", |(_, next)| next);
        let cause = match said.as_str() {
            "" => format!("the connection to {user}@{host}:{port} ended"),
            said => format!("{user}@{host}:{port}: {said}"),
        };
        unavailable(cause, next.to_owned())
    }

    fn beat(&self, _running: usize) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }

    fn close(&self) -> BoxFuture<'_, Result<(), ExecError>> {
        Box::pin(async { Ok(()) })
    }
}

/// What ssh says, and what helps.
const COMPLAINTS: [(&str, &str); 8] = [
    (
        "Permission denied",
        "Check terminal.ssh_user and terminal.ssh_key, and that the key is among the authorized ones there.",
    ),
    (
        "Host key verification failed",
        "The machine shows another key than before: if that is right, remove the old one with ssh-keygen -R.",
    ),
    (
        "HOST IDENTIFICATION HAS CHANGED",
        "If that is right, remove the old key with ssh-keygen -R.",
    ),
    ("Could not resolve", "Check terminal.ssh_host."),
    (
        "Connection refused",
        "Check terminal.ssh_host and terminal.ssh_port, and that the server runs.",
    ),
    (
        "timed out",
        "Check that the machine is up and reachable from here.",
    ),
    (
        "No route to host",
        "Check that the machine is up and reachable from here.",
    ),
    (
        "not found",
        "The machine needs /bin/sh, env, cat and mkfifo.",
    ),
];

fn unavailable(cause: String, next: String) -> ExecError {
    ExecError::Unavailable {
        backend: KIND,
        cause,
        next,
    }
}

/// Makes the directory if it is missing. One that somebody else made, or that others can write, would let them
/// put their own socket in the place of ours and read or answer our commands.
fn private_directory(path: &Path) -> Result<(), ExecError> {
    let failed = |source| ExecError::Io {
        what: format!("cannot make {}", path.display()),
        source,
    };
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(failed)?;
    let found = std::fs::symlink_metadata(path).map_err(failed)?;
    let flaw = if !found.is_dir() {
        "is a link and no directory"
    } else if found.uid() != nix::unistd::geteuid().as_raw() {
        "belongs to another user"
    } else if found.mode() & 0o077 != 0 {
        "is open to other users"
    } else {
        return Ok(());
    };
    Err(unavailable(
        format!("{}, where connections are kept, {flaw}", path.display()),
        "Remove it, or set TMPDIR to a directory of your own.".to_owned(),
    ))
}
