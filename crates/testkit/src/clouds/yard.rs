//! Directories that are sandboxes, and the processes in them.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

use crate::process::find_by_env_marker;

/// Marks every process by its sandbox.
const MARK: &str = "HERMES_TEST_SANDBOX";

/// All sandboxes of one server; dropping it ends what runs in them.
pub(super) struct Yard {
    folder: TempDir,
}

impl Yard {
    pub(super) fn new() -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("yard").tempdir()?;
        Ok(Self { folder })
    }

    /// The directory that is the sandbox.
    pub(super) fn home(&self, sandbox: &str) -> PathBuf {
        self.folder.path().join(sandbox)
    }

    pub(super) fn make(&self, sandbox: &str) -> anyhow::Result<()> {
        std::fs::create_dir_all(self.home(sandbox).join(".toolbox"))?;
        Ok(())
    }

    /// The variables of processes in the sandbox.
    pub(super) fn environment(&self, sandbox: &str) -> Vec<(String, String)> {
        let home = self.home(sandbox).display().to_string();
        let pairs = [
            (MARK, self.mark(sandbox)),
            ("HOME", home),
            ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
        ];
        pairs.map(|(name, value)| (name.to_owned(), value)).to_vec()
    }

    pub(super) fn command(&self, sandbox: &str, program: &str) -> Command {
        use std::os::unix::process::CommandExt as _;

        let mut command = Command::new(program);
        command
            .env_clear()
            .envs(self.environment(sandbox))
            .current_dir(self.home(sandbox))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        command
    }

    /// Ends everything in the sandbox, as a machine that is switched off does.
    pub(super) fn end(&self, sandbox: &str) {
        // What forks while it is being ended needs another round.
        for _ in 0..20 {
            let all = find_by_env_marker(MARK, &self.mark(sandbox));
            if all.is_empty() {
                return;
            }
            for process in all {
                // It may have ended by itself.
                let _ = kill(Pid::from_raw(process.pid), Signal::SIGKILL);
            }
        }
    }

    pub(super) fn remove(&self, sandbox: &str) {
        self.end(sandbox);
        // What is left goes with the whole yard.
        let _ = std::fs::remove_dir_all(self.home(sandbox));
    }

    /// Another sandbox with the same files.
    pub(super) fn copy(&self, from: &str, to: &str) -> anyhow::Result<()> {
        let status = Command::new("cp")
            .arg("-a")
            .arg(self.home(from))
            .arg(self.home(to))
            .status()?;
        anyhow::ensure!(status.success(), "the files were not copied");
        Ok(())
    }

    fn mark(&self, sandbox: &str) -> String {
        format!("{}/{sandbox}", self.folder.path().display())
    }

    fn sandboxes(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path());
        let names = entries.into_iter().flatten().flatten();
        names
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect()
    }
}

impl Drop for Yard {
    fn drop(&mut self) {
        for sandbox in self.sandboxes() {
            self.end(&sandbox);
        }
    }
}

/// Waits for a child on a thread of its own and hands its exit code on.
pub(super) fn on_exit(mut child: Child, then: impl FnOnce(i32) + Send + 'static) {
    use std::os::unix::process::ExitStatusExt as _;

    std::thread::spawn(move || {
        let code = child.wait().map_or(-1, |status| {
            status
                .code()
                .unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
        });
        then(code);
    });
}

/// A path as text.
pub(super) fn text(path: &Path) -> String {
    path.display().to_string()
}
