//! The servers of the storm and what is done to them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use hermes_config::McpServer;
use hermes_core::{Random as _, SeededRandom};
use hermes_testkit::mcp_server::{McpServer as Remote, Mode, Profile};
use hermes_testkit::process::find_by_env_marker;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::Rig;

/// How servers say that they do not know a session.
const EXPIRED: [&str; 6] = [
    "Invalid params: Invalid or expired session",
    "expired session: abc",
    "Session expired",
    "session not found",
    "Unknown session: abc123",
    "SESSION TERMINATED",
];

/// One server and how it is hurt.
pub(super) enum Victim {
    Program(PathBuf),
    Address(Remote),
}

/// Sends a signal to the program with this state, which may have ended by itself.
fn signal(state: &Path, signal: Signal) {
    for process in find_by_env_marker("SX_STATE", &state.display().to_string()) {
        let _ = kill(Pid::from_raw(process.pid), signal);
    }
}

impl Victim {
    /// The entry of the `number`th server; the transports take turns.
    pub(super) fn new(number: usize, rig: &Rig, home: &Path) -> anyhow::Result<(Self, McpServer)> {
        if number.is_multiple_of(3) {
            let state = home.join(format!("state-{number}"));
            std::fs::create_dir_all(&state)?;
            let entry = McpServer {
                command: rig.program.display().to_string(),
                env: BTreeMap::from([("SX_STATE".to_owned(), state.display().to_string())]),
                ..McpServer::default()
            };
            return Ok((Self::Program(state), entry));
        }
        let remote = Remote::start(Profile {
            streams: number.is_multiple_of(2),
            resumable: number % 9 == 7,
            kept_requests: 0,
            ..Profile::default()
        })?;
        let older = number % 3 == 2;
        let entry = McpServer {
            url: remote.url(if older { "/sse" } else { "/mcp" }),
            transport: if older { "sse" } else { "" }.to_owned(),
            ..McpServer::default()
        };
        Ok((Self::Address(remote), entry))
    }

    pub(super) fn hurt(&mut self, random: &SeededRandom) -> anyhow::Result<()> {
        let status = |status, body: &str| Mode::Status {
            status,
            body: body.to_owned(),
        };
        match (self, random.below(13)) {
            (Self::Program(state), 0..=2) => signal(state, Signal::SIGKILL),
            (Self::Program(state), 3) => std::fs::write(state.join("broken"), "")?,
            // It hangs as a whole: pings and farewells are not answered either.
            (Self::Program(state), 4) => signal(state, Signal::SIGSTOP),
            (Self::Program(state), 5 | 6) => std::fs::write(state.join("die"), "")?,
            (Self::Program(state), 7 | 8) => std::fs::write(state.join("half"), "")?,
            (Self::Program(state), _) => std::fs::write(state.join("hang"), "")?,
            (Self::Address(remote), 0) => remote.drop_sessions(),
            (Self::Address(remote), 1) => remote.set_down(true),
            (Self::Address(remote), 2) => remote.arm("*", status(401, ""), 2),
            (Self::Address(remote), 3) => remote.arm("*", status(500, ""), 2),
            (Self::Address(remote), 4) => remote.arm(
                "*",
                Mode::Hold {
                    millis: 1_500,
                    then: None,
                },
                1,
            ),
            (Self::Address(remote), 5) => {
                let count = u64::try_from(EXPIRED.len())?;
                let said = EXPIRED.get(usize::try_from(random.below(count))?);
                let said = Mode::Error {
                    code: -32602,
                    message: said.copied().unwrap_or_default().to_owned(),
                };
                remote.arm("tools/call", said, 1);
            }
            (Self::Address(remote), 6) => {
                remote.arm(
                    "tools/call",
                    status(400, "Bad Request: invalid session id"),
                    1,
                );
            }
            // A page of whoever stands before the server.
            (Self::Address(remote), 7) => remote.arm("*", status(200, "<html>soon</html>"), 2),
            (Self::Address(remote), 8) => remote.restart()?,
            (Self::Address(remote), 9) => remote.arm("*", Mode::Reset, 2),
            (Self::Address(remote), 10) => remote.arm("tools/call", Mode::Cut, 1),
            (Self::Address(remote), 11) => remote.arm("tools/call", Mode::Lose, 1),
            (Self::Address(remote), _) => {
                remote.arm("resume", status(400, "No valid session ID provided"), 1);
                remote.arm("tools/call", Mode::Lose, 1);
            }
        }
        Ok(())
    }

    pub(super) fn mend(&self) {
        match self {
            Self::Program(state) => {
                for file in ["broken", "die", "half", "hang"] {
                    // Most of the time it is not there.
                    let _ = std::fs::remove_file(state.join(file));
                }
                signal(state, Signal::SIGCONT);
            }
            Self::Address(remote) => {
                remote.disarm();
                remote.set_down(false);
            }
        }
    }

    /// What was changed more than once.
    pub(super) fn doubled(&self) -> Vec<String> {
        match self {
            Self::Program(state) => {
                let echoed = std::fs::read_to_string(state.join("echoed")).unwrap_or_default();
                let mut once = BTreeSet::new();
                let twice = echoed.lines().filter(|line| !once.insert(*line));
                twice.map(str::to_owned).collect()
            }
            Self::Address(remote) => remote.stats().doubled,
        }
    }

    pub(super) fn overlaps(&self) -> usize {
        match self {
            Self::Program(state) => std::fs::read_to_string(state.join("overlaps"))
                .unwrap_or_default()
                .lines()
                .count(),
            Self::Address(_) => 0,
        }
    }

    pub(super) fn orphans(&self) -> usize {
        match self {
            Self::Program(state) => {
                find_by_env_marker("SX_STATE", &state.display().to_string()).len()
            }
            Self::Address(_) => 0,
        }
    }
}
