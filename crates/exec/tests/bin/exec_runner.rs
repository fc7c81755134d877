//! A program that runs commands, for tests that kill it: `exec-runner MODE FOLDER WARDEN COMMAND`.
//!
//! `foreground` passes on what the command says; `background` prints the process's name and waits.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hermes_core::{SystemClock, SystemRandom};
use hermes_exec::{
    Command, LocalBackend, LocalOptions, Processes, ProcessesOptions, Shell, ShellOptions,
    StartProcess, Startup, WardenProgram,
};
use hermes_secrets::RedactorHandle;
use hermes_store::{Options, Store, StoreError};
use tokio_util::sync::CancellationToken;

type Outcome = Result<(), Box<dyn std::error::Error>>;

const FOREVER: Duration = Duration::from_secs(3_600);

fn main() -> Outcome {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(run())
}

fn processes(folder: &Path) -> Result<Processes, StoreError> {
    Ok(Processes::new(ProcessesOptions {
        store: Store::open(Options {
            path: folder.join("hermes.db"),
            blobs: folder.join("blobs"),
            clock: Arc::new(SystemClock),
            redactor: RedactorHandle::default(),
            vfs: None,
        })?,
        redactor: RedactorHandle::default(),
        masking: hermes_exec::guidance::Masking::default(),
        clock: Arc::new(SystemClock),
        random: Arc::new(SystemRandom),
        logs: folder.join("logs"),
        grace: Duration::from_secs(1),
    }))
}

async fn run() -> Outcome {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().ok_or("MODE FOLDER WARDEN COMMAND");
    let (mode, folder, warden, text) = (next()?, PathBuf::from(next()?), next()?, next()?);
    let backend = Arc::new(LocalBackend::new(LocalOptions {
        warden: WardenProgram {
            program: warden.into(),
            arguments: Vec::new(),
            grace: Duration::from_millis(500),
        },
        scratch: folder.join("scratch"),
        confiner: None,
    }));
    let shell = Shell::new(ShellOptions {
        backend: backend.clone(),
        directory: folder.clone(),
        environment: vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())],
        startup: Startup::Nothing,
        output_limit: 10_000,
        folder: folder.join("scratch"),
        ready: None,
        random: Arc::new(SystemRandom),
    });
    let command = Command {
        text: text.clone(),
        timeout: FOREVER,
        ..Command::default()
    };
    if mode == "foreground" {
        shell
            .run(command, &CancellationToken::new(), &mut |piece| {
                let mut out = io::stdout();
                // Whoever reads this kills us anyway.
                let _ = out.write_all(piece.as_bytes()).and_then(|()| out.flush());
            })
            .await?;
        return Ok(());
    }
    let processes = processes(&folder)?;
    let launch = shell.background(&command).await?;
    let started = processes
        .start(StartProcess {
            session: "one".to_owned(),
            command: text,
            directory: folder,
            backend,
            launch,
            notify_on_complete: true,
            watch_patterns: Vec::new(),
        })
        .await?;
    let mut out = io::stdout();
    writeln!(out, "{}", started.id)?;
    out.flush()?;
    tokio::time::sleep(FOREVER).await;
    Ok(())
}
