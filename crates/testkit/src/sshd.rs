//! A real SSH server on loopback with throw-away keys.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::eventually::eventually;
use crate::process;

const SERVER: &str = "/usr/sbin/sshd";
const START: Duration = Duration::from_secs(30);
/// How many ports are tried.
const PORTS: usize = 20;
/// The number of a user that no machine has.
const SUDOER: u32 = 54_321;

/// Starts what follows where these files of the system are others, which nobody else sees.
const WITH_ITS_OWN_USERS: &str = r#"
folder=$1
shift
for name in passwd group shadow sudoers; do mount --bind "$folder/$name" "/etc/$name" || exit 1; done
exec "$@"
"#;

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

    /// One that lets this user in, who exists nowhere else and may use `sudo` with the password.
    pub fn start_with_sudoer(name: &str, password: &str) -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("sshd").tempdir()?;
        // The server looks for keys as the user.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
        let hashed = Command::new("openssl")
            .args(["passwd", "-6", password])
            .output()
            .context("openssl")?;
        ensure!(hashed.status.success(), "openssl failed");
        let hash = String::from_utf8(hashed.stdout)?.trim().to_owned();
        let home = folder.path().join("user");
        fs::create_dir(&home)?;
        std::os::unix::fs::chown(&home, Some(SUDOER), Some(SUDOER))?;
        let home = home.display();
        let files = [
            (
                "passwd",
                0o644,
                format!("{name}:x:{SUDOER}:{SUDOER}::{home}:/bin/bash\n"),
            ),
            ("group", 0o644, format!("{name}:x:{SUDOER}:\n")),
            (
                "shadow",
                0o640,
                format!("{name}:{hash}:19000:0:99999:7:::\n"),
            ),
            (
                "sudoers",
                0o440,
                format!(
                    "Defaults timestamp_timeout=0, !lecture\nroot ALL=(ALL) ALL\n{name} ALL=(ALL) ALL\n"
                ),
            ),
        ];
        for (file, mode, line) in files {
            let path = folder.path().join(file);
            let known = match file {
                "sudoers" => String::new(),
                _ => fs::read_to_string(Path::new("/etc").join(file))?,
            };
            fs::write(&path, format!("{known}{line}"))?;
            fs::set_permissions(&path, fs::Permissions::from_mode(mode))?;
        }
        let mut command = Command::new("unshare");
        command.args(["-m", "sh", "-c", WITH_ITS_OWN_USERS, "users"]);
        command.arg(folder.path()).arg(SERVER);
        Self::serve(folder, command, &[])
    }

    fn with_options(more: &[String]) -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("sshd").tempdir()?;
        Self::serve(folder, Command::new(SERVER), more)
    }

    /// Starts the server by a command that its arguments are added to.
    fn serve(
        folder: tempfile::TempDir,
        mut command: Command,
        more: &[String],
    ) -> anyhow::Result<Self> {
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
        let (settings, log) = (path.join("settings"), path.join("log"));
        command
            .arg("-D")
            .arg("-f")
            .arg(&settings)
            .arg("-h")
            .arg(path.join("host"))
            .arg("-E")
            .arg(&log)
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
            .stderr(Stdio::null());
        // It cannot choose a port by itself, and between our choice and its start somebody else may take that one.
        for _ in 0..PORTS {
            let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
            fs::write(&settings, format!("Port {port}\n"))?;
            let mut server = command.spawn().context("sshd")?;
            if listens(&mut server, &log, port)? {
                return Ok(Self {
                    folder,
                    port,
                    server,
                });
            }
        }
        bail!("every port was taken before sshd had it")
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

    /// Breaks every connection off.
    pub fn cut(&self) -> anyhow::Result<()> {
        let all = process::descendants(self.pid());
        Self::send(
            all.iter().filter(|one| one.to_string().contains("sshd: ")),
            Signal::SIGKILL,
        )
    }

    /// Stops everything that serves connections, as a network that is gone would look from here.
    pub fn hold(&self) -> anyhow::Result<()> {
        self.signal(Signal::SIGSTOP)
    }

    /// Lets it go on.
    pub fn go_on(&self) -> anyhow::Result<()> {
        self.signal(Signal::SIGCONT)
    }

    fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        Self::send(&process::descendants(self.pid()), signal)
    }

    fn send<'a>(
        to: impl IntoIterator<Item = &'a process::Process>,
        signal: Signal,
    ) -> anyhow::Result<()> {
        for one in to {
            match kill(Pid::from_raw(one.pid), signal) {
                Ok(()) | Err(Errno::ESRCH) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn pid(&self) -> i32 {
        i32::try_from(self.server.id()).unwrap_or(0)
    }
}

/// Waits until the server itself says that it has the port; `false` when somebody else had it first.
fn listens(server: &mut Child, log: &Path, port: u16) -> anyhow::Result<bool> {
    let said = || fs::read_to_string(log).unwrap_or_default();
    let has = format!("Server listening on 127.0.0.1 port {port}.");
    let up = eventually(START, "sshd listens", || {
        if said().contains(&has) {
            return Some(true);
        }
        matches!(server.try_wait(), Ok(Some(_))).then_some(false)
    });
    match up {
        Ok(false) if said().contains("Address already in use") => Ok(false),
        Ok(true) => Ok(true),
        Ok(false) => bail!("sshd ended: {}", said()),
        Err(error) => {
            let _ = server.kill();
            let _ = server.wait();
            Err(error.context(said()))
        }
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let started = process::descendants(self.pid());
        let _ = self.server.kill();
        let _ = self.server.wait();
        for one in started.into_iter().filter(|one| one.alive()) {
            let _ = kill(Pid::from_raw(one.pid), Signal::SIGKILL);
        }
    }
}
