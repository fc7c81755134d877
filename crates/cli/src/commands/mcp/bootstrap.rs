//! What makes a fetched program ready to run: the lines of its description, one after the other.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use hermes_core::FailureKind;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, sleep};

use super::runtime;
use crate::complaint::{Complaint, Outcome};
use crate::output::{Output, one_line};

/// How long one line may take; packages are fetched and built.
const TIME_LIMIT: Duration = Duration::from_secs(900);
/// How often it is looked whether it has ended.
const LOOK: Duration = Duration::from_millis(50);

/// Runs the lines in the folder of a program, with what the program itself would see of the environment. Each is
/// named before it runs; the first that fails ends it, and so does whoever stops this program.
pub(super) fn run(
    lines: &[String],
    folder: &Path,
    environment: &BTreeMap<String, String>,
    output: &mut Output,
) -> Outcome {
    if lines.is_empty() {
        return Ok(());
    }
    let runtime = runtime()?;
    for line in lines {
        output.line(format!("Running: {}", one_line(line)))?;
        output.flush()?;
        runtime.block_on(one(line, folder, environment, TIME_LIMIT))?;
    }
    Ok(())
}

async fn one(
    line: &str,
    folder: &Path,
    environment: &BTreeMap<String, String>,
    limit: Duration,
) -> Outcome {
    let failed = |why: String| {
        Complaint::new(
            FailureKind::Unavailable,
            format!("`{}` {why}", one_line(line)),
        )
        .hint("what it said is above; nothing was installed")
    };
    // From here on these come to us, because what runs is in a group of its own.
    let mut terminated = signal(SignalKind::terminate())?;
    let mut hung_up = signal(SignalKind::hangup())?;
    let mut running = Running::start(line, folder, environment)
        .map_err(|error| failed(format!("cannot be started: {error}")))?;
    let status = tokio::select! {
        ended = running.ended(limit) => ended,
        _ = tokio::signal::ctrl_c() => return Err(stopped(130)),
        _ = terminated.recv() => return Err(stopped(143)),
        _ = hung_up.recv() => return Err(stopped(129)),
    };
    match status {
        Ok(Some(status)) if status.success() => Ok(()),
        Ok(Some(status)) => Err(failed(format!("ended with {status}"))),
        Ok(None) => {
            let seconds = limit.as_secs();
            Err(failed(format!("took longer than {seconds} s")))
        }
        Err(error) => Err(failed(format!("cannot be waited for: {error}"))),
    }
}

fn stopped(code: u8) -> Complaint {
    // Nobody is left to tell when the terminal is gone.
    let _ = writeln!(io::stderr(), "stopped; nothing was installed");
    Complaint::Code(code)
}

/// A line at work; dropping it ends it and all it started.
struct Running {
    child: Child,
    over: bool,
}

impl Running {
    fn start(
        line: &str,
        folder: &Path,
        environment: &BTreeMap<String, String>,
    ) -> io::Result<Self> {
        let child = Command::new("sh")
            .args(["-c", line])
            .current_dir(folder)
            .env_clear()
            .envs(environment)
            .stdin(Stdio::null())
            // Standard output is for what this program says.
            .stdout(io::stderr())
            .stderr(Stdio::inherit())
            .process_group(0)
            .spawn()?;
        Ok(Self { child, over: false })
    }

    /// How it ended; nothing when its time is over before.
    async fn ended(&mut self, limit: Duration) -> io::Result<Option<ExitStatus>> {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(status) = self.child.try_wait()? {
                self.over = true;
                return Ok(Some(status));
            }
            if Instant::now() >= deadline {
                return Ok(None);
            }
            sleep(LOOK).await;
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.over {
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
    use hermes_testkit::process::Process;
    use hermes_testkit::{SYSTEM_PATH, eventually};

    use super::*;

    // MCP-97
    #[test]
    fn a_line_that_takes_too_long_ends_with_all_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let path = ("PATH".to_owned(), SYSTEM_PATH.to_owned());
        let environment = BTreeMap::from([path]);
        let line = "sleep 600 & echo $! > started; wait";
        let limit = Duration::from_secs(2);
        let ended = runtime()
            .unwrap()
            .block_on(one(line, folder.path(), &environment, limit));
        let why = ended.unwrap_err().cause();
        assert!(why.contains("took longer than 2 s"), "{why}");
        let started = std::fs::read_to_string(folder.path().join("started")).unwrap();
        let pid = started.trim().parse().unwrap();
        let gone = || Process::of(pid).is_none().then_some(());
        eventually(Duration::from_secs(20), "nothing is left of it", gone).unwrap();
    }
}
