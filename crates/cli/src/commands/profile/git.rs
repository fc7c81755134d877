//! Where a distribution comes from: a directory, or a git repository.

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use hermes_config::{Environment, Staging};
use hermes_core::{Failure, FailureKind};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::complaint::{Complaint, Outcome};

const TIME_LIMIT: Duration = Duration::from_secs(120);
const MOST_COMPLAINING: u64 = 64 * 1024;
/// What git may know about us: how to reach the network and the user's keys.
const PASSED_ON: [&str; 14] = [
    "ALL_PROXY",
    "GIT_SSL_CAINFO",
    "HOME",
    "HTTPS_PROXY",
    "LOGNAME",
    "NO_PROXY",
    "PATH",
    "SSH_AUTH_SOCK",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "USER",
    "all_proxy",
    "https_proxy",
    "no_proxy",
];
/// No other transport, no hook, no waiting for a line that says nothing.
const SETTINGS: [&str; 7] = [
    "protocol.allow=never",
    "protocol.https.allow=always",
    "protocol.ssh.allow=always",
    "protocol.file.allow=always",
    "core.hooksPath=/dev/null",
    "http.lowSpeedLimit=100",
    "http.lowSpeedTime=30",
];

/// A place a distribution can be fetched from.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Source {
    /// As it is recorded for the next update.
    text: String,
    is_directory: bool,
}

impl Source {
    pub(super) fn parse(text: &str) -> Outcome<Self> {
        if let Ok(path) = Path::new(text).canonicalize()
            && path.is_dir()
        {
            return Ok(Self {
                text: path.to_string_lossy().into_owned(),
                is_directory: true,
            });
        }
        Ok(Self {
            text: git_address(text)?,
            is_directory: false,
        })
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The directory it is in; a repository is cloned into the staging directory first.
    pub(super) fn fetch(&self, staging: &Staging, environment: &Environment) -> Outcome<PathBuf> {
        if self.is_directory {
            return Ok(PathBuf::from(&self.text));
        }
        let target = staging.path().join("clone");
        clone(&self.text, &target, environment)?;
        Ok(target)
    }
}

/// An address git may be given.
fn git_address(text: &str) -> Outcome<String> {
    let refused = |why: &str| {
        Complaint::bad_request(format!("`{text}` {why}"))
            .hint("name a directory, or a git address that starts with https://, ssh:// or file://")
    };
    if text.starts_with('-') || text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(refused("is neither a directory nor a git address"));
    }
    let (scheme, rest) = match text.split_once("://") {
        Some(("file", _)) => return Ok(text.to_owned()),
        Some(("https", rest)) => ("https", rest),
        Some(("ssh", rest)) => ("ssh", rest),
        Some(_) => return Err(refused("is an address of a kind that is not fetched")),
        // github.com/name/repository
        None => match text.split_once('/') {
            Some((host, path))
                if host.contains('.') && !host.starts_with('.') && !path.is_empty() =>
            {
                if host.contains(['@', ':']) {
                    ("ssh", text)
                } else {
                    return git_address(&format!("https://{text}"));
                }
            }
            Some(_) | None => return Err(refused("is neither a directory nor a git address")),
        },
    };
    let authority = rest.split('/').next().unwrap_or_default();
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    if user.contains(':') || (scheme == "https" && !user.is_empty()) {
        // It would be stored, and shown by `profile info`.
        return Err(
            Complaint::bad_request("the git address has a password in it")
                .hint("leave it out; git's credential helper or an SSH key can give it"),
        );
    }
    if host.is_empty() || host.starts_with('-') {
        return Err(refused("names no host"));
    }
    Ok(text.to_owned())
}

pub(in crate::commands) fn clone(
    address: &str,
    target: &Path,
    environment: &Environment,
) -> Outcome {
    let mut command = git(environment);
    command
        .args([
            "clone",
            "--quiet",
            "--depth",
            "1",
            "--single-branch",
            "--no-tags",
        ])
        .args(["--no-recurse-submodules", "--template=", "--", address])
        .arg(target);
    run(command, address)
}

/// The same for one commit, tag or branch.
pub(in crate::commands) fn clone_at(
    address: &str,
    reference: &str,
    target: &Path,
    environment: &Environment,
) -> Outcome {
    if reference.is_empty() || reference.starts_with('-') {
        return Err(
            Complaint::bad_request(format!("{reference:?} is no commit, tag or branch"))
                .hint("nothing was changed"),
        );
    }
    let mut begin = git(environment);
    begin
        .args(["init", "--quiet", "--template=", "--"])
        .arg(target);
    run(begin, address)?;
    let inside = || {
        let mut command = git(environment);
        command.arg("-C").arg(target);
        command
    };
    let mut fetch = inside();
    fetch.args(["fetch", "--quiet", "--depth", "1", "--no-tags"]);
    fetch.args(["--no-recurse-submodules", "--", address, reference]);
    run(fetch, address)?;
    let mut check_out = inside();
    check_out.args(["checkout", "--quiet", "--detach", "FETCH_HEAD"]);
    run(check_out, address)
}

/// A git that knows little about us and asks nothing.
fn git(environment: &Environment) -> Command {
    let mut command = Command::new("git");
    command.env_clear();
    for name in PASSED_ON {
        if let Some(value) = environment.get_named(name) {
            command.env(name, value);
        }
    }
    command
        .envs([
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_SSH_COMMAND", "ssh -oBatchMode=yes"),
            ("GIT_LFS_SKIP_SMUDGE", "1"),
            ("LC_ALL", "C"),
        ])
        .args(SETTINGS.iter().flat_map(|setting| ["-c", setting]));
    command
}

fn run(mut command: Command, address: &str) -> Outcome {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0);
    let child = command.spawn().map_err(|error| {
        let message = if error.kind() == io::ErrorKind::NotFound {
            "git is not installed"
        } else {
            "git cannot be started"
        };
        let failure = Failure::new(FailureKind::Unavailable, message).because(error);
        Complaint::Failed(failure.hint("install git, or name a directory"))
    })?;
    Running {
        child,
        ended: false,
    }
    .wait(address)
}

/// A git that is at work; dropping it ends it and all it started.
struct Running {
    child: Child,
    ended: bool,
}

impl Running {
    fn wait(mut self, address: &str) -> Outcome {
        let (sender, receiver) = mpsc::channel();
        let errors = self.child.stderr.take();
        thread::spawn(move || {
            let mut text = Vec::new();
            if let Some(errors) = errors {
                // What was read until then is worth showing.
                let mut errors = errors;
                let _ = errors
                    .by_ref()
                    .take(MOST_COMPLAINING)
                    .read_to_end(&mut text);
                let _ = io::copy(&mut errors, &mut io::sink());
            }
            // Nobody listens any more after the time limit.
            let _ = sender.send(text);
        });
        let failed = |message: String| {
            Complaint::new(FailureKind::Unavailable, message)
                .hint("check the address, the network and your access; nothing was changed")
        };
        let Ok(text) = receiver.recv_timeout(TIME_LIMIT) else {
            let seconds = TIME_LIMIT.as_secs();
            return Err(failed(format!(
                "{address} could not be fetched in {seconds} s"
            )));
        };
        let status = self
            .child
            .wait()
            .map_err(|error| failed(error.to_string()))?;
        self.ended = true;
        if status.success() {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&text);
        let last = text.lines().rev().find(|line| !line.trim().is_empty());
        let last: String = last
            .unwrap_or("git gave no reason")
            .chars()
            .filter(|c| !c.is_control())
            .collect();
        Err(failed(format!("{address} could not be fetched: {last}")))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        if let Ok(group) = i32::try_from(self.child.id()) {
            // It may have ended by itself meanwhile.
            let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
        }
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::git_address;

    #[test]
    fn accepts_addresses_git_can_fetch_safely() {
        for (text, expected) in [
            ("https://example.test/a/b", "https://example.test/a/b"),
            ("example.test/a/b", "https://example.test/a/b"),
            ("ssh://git@example.test/a/b", "ssh://git@example.test/a/b"),
            ("git@example.test:a/b.git", "git@example.test:a/b.git"),
            ("file:///srv/a", "file:///srv/a"),
        ] {
            assert_eq!(git_address(text).ok().as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn refuses_addresses_that_run_programs_or_carry_passwords() {
        for text in [
            "ext::sh -c id",
            "ext::sh",
            "http://example.test/a",
            "git://example.test/a",
            "--upload-pack=x",
            "-oProxyCommand=x",
            "ssh://-oProxyCommand=x/a",
            "https://user:pw@example.test/a",
            "https://token@example.test/a",
            "ssh://user:pw@example.test/a",
            "nowhere",
            "./nowhere/x",
            "",
        ] {
            assert!(git_address(text).is_err(), "{text}");
        }
    }
}
