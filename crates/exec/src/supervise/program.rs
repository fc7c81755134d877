//! Channels that are a program on this machine, such as `ssh`. The warden starts them, so that none of them is left
//! when we are gone, however we went.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::{Channel, Closed, Crew, tail};
use crate::{
    Backend, Ending, ExecError, Exit, Input, Launch, LocalBackend, LocalOptions, Owner, Process,
    RunId, Unfinished, WardenProgram,
};

/// How long its last complaint may take after a program has ended.
const LAST_COMPLAINT: Duration = Duration::from_millis(500);

/// How programs of this machine are started that carry commands elsewhere.
#[derive(Debug, Clone)]
pub struct Carriers {
    /// What starts them.
    pub warden: WardenProgram,
    /// Their whole environment, without anything secret.
    pub environment: Vec<(String, String)>,
    /// Where they start.
    pub directory: PathBuf,
}

/// Starts them.
#[derive(Clone)]
pub(crate) struct Programs {
    hands: Arc<LocalBackend>,
    carriers: Carriers,
}

/// What a program said that ran to its end.
pub(crate) struct Said {
    pub(crate) exit: Exit,
    pub(crate) output: Vec<u8>,
    pub(crate) errors: String,
}

impl Programs {
    pub(crate) fn new(carriers: Carriers) -> Self {
        let hands = LocalBackend::new(LocalOptions {
            warden: carriers.warden.clone(),
            scratch: carriers.directory.clone(),
            confiner: None,
        });
        Self {
            hands: Arc::new(hands),
            carriers,
        }
    }

    /// Starts a program whose standard input and output are a shell's over there.
    pub(crate) async fn channel(
        &self,
        argv: Vec<String>,
        crew: &Crew,
    ) -> Result<Channel, ExecError> {
        let process = self.start(argv, Input::Apart).await?;
        carry(process, crew)
    }

    /// Runs a program to its end; no more than `most` bytes of what it prints are kept.
    pub(crate) async fn run(
        &self,
        argv: Vec<String>,
        limit: Duration,
        most: u64,
    ) -> Result<Said, ExecError> {
        let what = argv.join(" ");
        let Process {
            output,
            errors,
            input,
            exit,
            control,
            ..
        } = self.start(argv, Input::Apart).await?;
        drop(input);
        let unfinished = Unfinished::new(control);
        let printed = async {
            let mut printed = Vec::new();
            output.take(most).read_to_end(&mut printed).await?;
            Ok(printed)
        };
        let complained = async {
            match errors {
                Some(errors) => tail(errors).await,
                None => String::new(),
            }
        };
        let all = async { tokio::join!(printed, complained, exit) };
        let Ok((printed, errors, exit)) = timeout(limit, all).await else {
            return Err(ExecError::TimedOut { what, limit });
        };
        unfinished.finished();
        Ok(Said {
            exit: exit?,
            output: printed.map_err(|source| ExecError::Io { what, source })?,
            errors,
        })
    }

    async fn start(&self, argv: Vec<String>, input: Input) -> Result<Process, ExecError> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let Owner { pid, started } = Owner::this();
        // The directory we were started in may be gone by now.
        let here = Some(&self.carriers.directory).filter(|directory| directory.is_dir());
        let launch = Launch {
            id: RunId::new(format!("carrier{pid}x{started}x{number}")),
            argv,
            directory: here.cloned(),
            environment: self.carriers.environment.clone(),
            input,
            confinement: None,
        };
        self.hands.spawn(launch).await
    }
}

/// Makes a channel of a process. The crew's token ends it at once, the end of its input in good order.
pub(super) fn carry(process: Process, crew: &Crew) -> Result<Channel, ExecError> {
    let Process {
        output,
        errors: Some(errors),
        input: Some(input),
        mut exit,
        control,
        ..
    } = process
    else {
        return Err(ExecError::Io {
            what: "carrying commands".to_owned(),
            source: std::io::ErrorKind::BrokenPipe.into(),
        });
    };
    let (sender, receiver) = oneshot::channel();
    let stop = crew.stop.clone();
    crew.tasks.spawn(async move {
        let mut complaint = std::pin::pin!(tail(errors));
        let mut said = None;
        let exit = loop {
            tokio::select! {
                exit = &mut exit => break exit.ok(),
                text = &mut complaint, if said.is_none() => said = Some(text),
                () = stop.cancelled() => break None,
            }
        };
        // It may have ended by itself in the meantime.
        if exit.is_none()
            && let Err(error) = control.end(Ending::Kill).await
        {
            tracing::debug!(%error, "a program that carries commands could not be ended");
        }
        let complaint = match said {
            Some(text) => text,
            None => timeout(LAST_COMPLAINT, complaint).await.unwrap_or_default(),
        };
        // Nobody may be waiting any more.
        let _ = sender.send(Closed {
            code: match exit {
                Some(Exit::Code(code)) => Some(code),
                Some(Exit::Signal(_)) | None => None,
            },
            complaint,
        });
    });
    Ok(Channel {
        input: Box::new(input),
        output: Box::new(output),
        closed: Box::pin(async move { receiver.await.unwrap_or_default() }),
    })
}
