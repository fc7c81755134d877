//! What tests of this machine's backend start from: a directory of their own and the real warden.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hermes_core::SystemRandom;
use hermes_exec::{
    Backend, Carriers, Command, Finished, LocalBackend, LocalOptions, Shell, ShellOptions, Startup,
    WardenProgram,
};
use tokio_util::sync::CancellationToken;

/// Long enough for a loaded machine; nothing waits this long unless it is broken.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
pub(crate) const OUTPUT_LIMIT: usize = 50_000;

pub(crate) struct Local {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) backend: Arc<dyn Backend>,
}

pub(crate) fn warden_program() -> WardenProgram {
    WardenProgram {
        program: PathBuf::from(env!("CARGO_BIN_EXE_hermes-warden")),
        arguments: Vec::new(),
        grace: Duration::from_millis(500),
    }
}

/// How programs are started that carry commands elsewhere, with this environment.
pub(crate) fn carriers(environment: Vec<(String, String)>) -> Carriers {
    Carriers {
        warden: warden_program(),
        environment,
        directory: PathBuf::from("/"),
    }
}

impl Local {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let backend = Arc::new(LocalBackend::new(LocalOptions {
            warden: warden_program(),
            scratch: folder.path().join("scratch"),
            confiner: None,
        }));
        std::fs::create_dir_all(folder.path().join("home")).unwrap();
        Self { folder, backend }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let home = self.path().join("home").display().to_string();
        [
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("LANG", "C.UTF-8"),
            ("HOME", &home),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
    }

    pub(crate) fn shell(&self) -> Shell {
        self.shell_with(Startup::Login, self.environment())
    }

    pub(crate) fn shell_with(&self, startup: Startup, environment: Vec<(String, String)>) -> Shell {
        Shell::new(ShellOptions {
            backend: Arc::clone(&self.backend),
            directory: self.path().to_owned(),
            environment,
            startup,
            output_limit: OUTPUT_LIMIT,
            folder: self.backend.scratch(),
            ready: None,
            random: Arc::new(SystemRandom),
        })
    }
}

pub(crate) fn command(text: &str) -> Command {
    Command {
        text: text.to_owned(),
        timeout: PATIENCE,
        ..Command::default()
    }
}

pub(crate) async fn run(shell: &Shell, text: &str) -> Finished {
    run_command(shell, command(text)).await
}

pub(crate) async fn run_command(shell: &Shell, command: Command) -> Finished {
    shell
        .run(command, &CancellationToken::new(), &mut |_| {})
        .await
        .unwrap()
}

/// What a command printed, without the spaces around it.
pub(crate) async fn output(shell: &Shell, text: &str) -> String {
    let finished = run(shell, text).await;
    finished.output.text.trim().to_owned()
}
