//! A real SSH server on loopback with throw-away keys.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};

use crate::eventually::eventually;
use crate::process;

const START: Duration = Duration::from_secs(30);

/// A running server, ended with everything it started when dropped.
#[derive(Debug)]
pub struct Sshd {
    folder: tempfile::TempDir,
    port: u16,
    server: Child,
}

impl Sshd {
    /// Starts one that lets the current user in with [`Sshd::key`].
    pub fn start() -> anyhow::Result<Self> {
        Self::with_options(&[])
    }

    /// The same, with another home directory for those who come in; it is made when missing.
    pub fn start_at(home: &Path) -> anyhow::Result<Self> {
        fs::create_dir_all(home)?;
        Self::with_options(&[format!("SetEnv=HOME={}", home.display())])
    }

    fn with_options(more: &[String]) -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("sshd").tempdir()?;
        let path = folder.path();
        for name in ["host", "key", "stranger"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(path.join(name))
                .stdin(Stdio::null())
                .status()
                .context("ssh-keygen")?;
            ensure!(made.success(), "ssh-keygen failed");
        }
        fs::copy(path.join("key.pub"), path.join("authorized"))?;
        // The server refuses to start without it, and it is on a file system that starts empty.
        let _ = fs::create_dir_all("/run/sshd");
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let server = Command::new("/usr/sbin/sshd")
            .args(["-D", "-f", "/dev/null", "-p", &port.to_string()])
            .arg("-h")
            .arg(path.join("host"))
            .arg("-E")
            .arg(path.join("log"))
            .args(["-o", "ListenAddress=127.0.0.1", "-o", "StrictModes=no"])
            .args([
                "-o",
                "UsePAM=no",
                "-o",
                "LogLevel=VERBOSE",
                "-o",
                "MaxStartups=100",
            ])
            .args(["-o", "PidFile=none", "-o"])
            .arg(format!(
                "AuthorizedKeysFile={}",
                path.join("authorized").display()
            ))
            .args(more.iter().flat_map(|option| ["-o", option]))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("sshd")?;
        let server = Self {
            folder,
            port,
            server,
        };
        eventually(START, "sshd answers", || {
            TcpStream::connect(("127.0.0.1", port)).ok()
        })?;
        Ok(server)
    }

    /// Its port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The user it lets in: the one who runs the tests.
    pub fn user(&self) -> anyhow::Result<String> {
        let user = nix::unistd::User::from_uid(nix::unistd::geteuid())?;
        Ok(user.context("the current user has no name")?.name)
    }

    /// A private key it accepts.
    pub fn key(&self) -> PathBuf {
        self.path().join("key")
    }

    /// A private key it does not accept.
    pub fn wrong_key(&self) -> PathBuf {
        self.path().join("stranger")
    }

    /// A file for known hosts, not there at first.
    pub fn known_hosts(&self) -> PathBuf {
        self.path().join("known_hosts")
    }

    /// A directory that goes with the server.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// How many connections have logged in so far.
    pub fn logins(&self) -> usize {
        let log = fs::read_to_string(self.path().join("log")).unwrap_or_default();
        log.matches("Accepted publickey").count()
    }

    /// How many connections are open now.
    pub fn connections(&self) -> usize {
        process::descendants(self.pid())
            .iter()
            .filter(|one| one.to_string().contains("sshd: ") && one.to_string().contains("@"))
            .count()
    }

    fn pid(&self) -> i32 {
        i32::try_from(self.server.id()).unwrap_or(0)
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let started = process::descendants(self.pid());
        let _ = self.server.kill();
        let _ = self.server.wait();
        for one in started.into_iter().filter(|one| one.alive()) {
            let _ = nix::sys::signal::kill(
                nix::unistd::Pid::from_raw(one.pid),
                nix::sys::signal::Signal::SIGKILL,
            );
        }
    }
}
