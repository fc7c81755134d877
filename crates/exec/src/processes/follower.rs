//! Follows one background process: its output goes to its owner and to a file, what is typed to it.

use std::path::PathBuf;
use std::time::Duration;

use tokio::fs::{File, OpenOptions};
use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

use super::owner::{Message, Owner};
use crate::capture::Decoder;
use crate::follow::{MOST_AFTER_EXIT, SILENCE};
use crate::{ExecError, Process};

/// A file grows to this and is then put aside, in place of the one put aside before.
const MOST_LOG_BYTES: u64 = 4 << 20;
const CHUNK: usize = 32 << 10;
/// Writes under way: one, so that it is known what the process was given.
const QUEUE: usize = 1;
/// After so long without output a line that has no end yet is looked at as it is: it may be a prompt.
const PAUSE: Duration = Duration::from_secs(1);
const FAR_AWAY: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// Something to write to standard input.
pub(super) struct Typed {
    pub(super) bytes: Vec<u8>,
    pub(super) reply: oneshot::Sender<std::io::Result<()>>,
}

/// Takes what is typed; the input ends when every sender is gone. The owner hears how much of it was left.
pub(super) fn typing(
    tasks: &tokio_util::task::TaskTracker,
    id: String,
    mut input: Box<dyn AsyncWrite + Send + Unpin>,
    owner: Owner,
) -> mpsc::Sender<Typed> {
    let (sender, mut typed) = mpsc::channel::<Typed>(QUEUE);
    tasks.spawn(async move {
        while let Some(Typed { bytes, reply }) = typed.recv().await {
            let mut reply = reply;
            let mut rest = bytes.as_slice();
            let written = tokio::select! {
                written = hand_over(&mut input, &mut rest) => Some(written),
                // The caller's patience is over; the rest of it is not written.
                () = reply.closed() => None,
            };
            let left = rest.len();
            let id = id.clone();
            owner.tell(Message::Typed { id, left }).await;
            if let Some(written) = written {
                // The caller may be gone by now.
                let _ = reply.send(written);
            }
        }
    });
    sender
}

/// Writes what is left of a text and keeps count of it.
async fn hand_over(input: &mut (impl AsyncWrite + Unpin), rest: &mut &[u8]) -> std::io::Result<()> {
    while !rest.is_empty() {
        let count = input.write(rest).await?;
        if count == 0 {
            return Err(std::io::ErrorKind::WriteZero.into());
        }
        *rest = rest.get(count..).unwrap_or_default();
    }
    input.flush().await
}

/// Follows a process to its end and tells its owner.
pub(super) async fn follow(id: String, process: Process, log: PathBuf, owner: Owner) {
    let Process {
        mut output,
        mut exit,
        // Kept so that the backend does not take the process for abandoned.
        control: _control,
        ..
    } = process;
    let mut log = Log::open(log).await;
    let mut decoder = Decoder::default();
    let mut chunk = vec![0; CHUNK];
    let mut ended: Option<Result<crate::Exit, ExecError>> = None;
    let mut open = true;
    let mut last = Instant::now() + FAR_AWAY;
    let (mut deadline, mut pause) = (last, last);
    while open {
        tokio::select! {
            biased;
            done = &mut exit, if ended.is_none() => {
                ended = Some(done);
                last = Instant::now() + MOST_AFTER_EXIT;
                deadline = Instant::now() + SILENCE;
            }
            () = sleep_until(deadline) => break,
            () = sleep_until(pause) => {
                pause = Instant::now() + FAR_AWAY;
                if owner.tell(Message::Paused { id: id.clone() }).await.is_none() {
                    return;
                }
            }
            read = output.read(&mut chunk) => match read {
                Ok(0) | Err(_) => open = false,
                Ok(count) => {
                    let bytes = chunk.get(..count).unwrap_or_default();
                    log.write(bytes).await;
                    let text = decoder.push(bytes);
                    if owner.tell(Message::Output { id: id.clone(), text }).await.is_none() {
                        return;
                    }
                    pause = Instant::now() + PAUSE;
                    if ended.is_some() {
                        deadline = last.min(Instant::now() + SILENCE);
                    }
                }
            },
        }
    }
    let text = decoder.finish();
    if !text.is_empty() {
        let id = id.clone();
        owner.tell(Message::Output { id, text }).await;
    }
    let exit = match ended {
        Some(ended) => ended,
        None => exit.await,
    };
    log.close().await;
    let exit = exit.ok();
    owner.tell(Message::Exited { id, exit }).await;
}

/// The file with the newest output, and one with what came before it.
struct Log {
    path: PathBuf,
    /// None when it cannot be written: the process matters more than its log.
    file: Option<File>,
    size: u64,
}

impl Log {
    async fn open(path: PathBuf) -> Self {
        let file = match create(&path).await {
            Ok(file) => Some(file),
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "no log of a background process");
                None
            }
        };
        Self {
            path,
            file,
            size: 0,
        }
    }

    async fn write(&mut self, bytes: &[u8]) {
        let Some(file) = &mut self.file else { return };
        if let Err(error) = file.write_all(bytes).await {
            tracing::warn!(path = %self.path.display(), %error, "a log is not written any more");
            self.file = None;
            return;
        }
        self.size += bytes.len() as u64;
        if self.size >= MOST_LOG_BYTES {
            self.close().await;
            let before = self.path.with_extension("log.1");
            // Failing to put it aside means that it is written over.
            let _ = tokio::fs::rename(&self.path, before).await;
            *self = Self::open(std::mem::take(&mut self.path)).await;
        }
    }

    async fn close(&mut self) {
        if let Some(mut file) = self.file.take()
            && let Err(error) = file.flush().await
        {
            tracing::warn!(path = %self.path.display(), %error, "the end of a log is missing");
        }
    }
}

async fn create(path: &PathBuf) -> std::io::Result<File> {
    if let Some(folder) = path.parent() {
        tokio::fs::create_dir_all(folder).await?;
    }
    OpenOptions::new()
        .create(true)
        .write(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .await
}
