//! One script from start to end: its output, its calls, its limits.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use hermes_exec::{
    Backend, Capture, Captured, Ending, ExecError, Exit, Input, Launch, Process, RunId, Unfinished,
};
use serde::Serialize;
use serde_json::{Value as Json, json};
use tokio::runtime::Handle;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::frames::{self, Frame};
use super::runner_argv;
use crate::workplace::LOST;

/// Most bytes kept of what a script prints.
const MOST_OUTPUT: usize = 50_000;
/// Most bytes kept of what it complains.
const MOST_COMPLAINT: usize = 10_000;
/// Calls of one script that run at the same time; more wait.
const MOST_AT_ONCE: usize = 8;
/// Calls that may wait for their turn; a script that makes more is not listened to until one is done.
const MOST_WAITING: usize = 256;
/// How long a script that was asked to end may take.
const GRACE: Duration = Duration::from_secs(5);
/// The same when a person stopped it.
const SHORT_GRACE: Duration = Duration::from_millis(500);
/// How long a runner that says nothing any more may take to end, or the place it is in to be given up, and how one ends
/// that was not there at all.
const LAST_WORD: Duration = Duration::from_secs(5);
const NOT_FOUND: i32 = 127;
/// How long removing what a killed script leaves may take.
const CLEARING: Duration = Duration::from_secs(2);

/// What the runner is told.
#[derive(Serialize)]
pub(super) struct Order {
    /// Made for the script and what it needs, and removed behind it.
    pub(super) folder: String,
    /// Where the script runs, byte by byte, because a name need not be text; its own folder when absent.
    pub(super) directory: Option<Vec<u8>>,
    /// The interpreter; the runner's own when absent.
    pub(super) python: Option<String>,
    pub(super) environment: Vec<(String, String)>,
    /// Part of the socket's name.
    pub(super) name: String,
    pub(super) files: Files,
}

#[derive(Serialize)]
pub(super) struct Files {
    #[serde(rename = "hermes_tools.py")]
    pub(super) module: String,
    #[serde(rename = "script.py")]
    pub(super) script: String,
}

/// Answers the calls of a script.
pub(super) trait Calls: Sync {
    /// The reply to one line, as JSON.
    fn answer<'a>(&'a self, line: &'a [u8]) -> BoxFuture<'a, Json>;
}

/// How a script ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    /// By itself.
    Code(i32),
    TimedOut,
    Interrupted,
    /// It could not be run.
    Failed(String),
}

pub(super) struct Ran {
    pub(super) end: End,
    pub(super) output: Captured,
    pub(super) complaint: Captured,
}

/// Runs a script until `over`, if it does not end before.
pub(super) async fn run(
    backend: &Arc<dyn Backend>,
    launch: Launch,
    order: &Order,
    calls: &dyn Calls,
    over: impl Future<Output = ()>,
    cancel: &CancellationToken,
) -> Result<Ran, ExecError> {
    let clearing = Launch {
        id: RunId::new(format!("{}-cleared", launch.id.as_str())),
        argv: ["rm", "-rf", "--", &order.folder]
            .map(str::to_owned)
            .to_vec(),
        input: Input::None,
        ..launch.clone()
    };
    let launch = Launch {
        argv: runner_argv(&launch.argv),
        ..launch
    };
    let mut process = tokio::select! {
        biased;
        () = cancel.cancelled() => return Err(ExecError::Cancelled),
        process = backend.spawn(launch) => process?,
    };
    // Whoever drops this call halfway must not leave the script behind.
    let unfinished = Unfinished::new(process.control.clone());
    let mut output = Capture::new(MOST_OUTPUT);
    let mut complaint = Capture::new(MOST_COMPLAINT);
    let end = tokio::select! {
        biased;
        () = cancel.cancelled() => End::Interrupted,
        () = over => End::TimedOut,
        end = talk(&mut process, order, calls, &mut output, &mut complaint) => end,
    };
    let ending = finish(process, grace(&end), unfinished, backend.clone(), clearing);
    match end {
        // Who stops a script waits for nothing; it may ignore that it is to end for a while.
        End::Interrupted => drop(Handle::current().spawn(async {
            if let Err(error) = ending.await {
                tracing::warn!(%error, "a stopped script could not be ended");
            }
        })),
        End::Code(_) | End::TimedOut | End::Failed(_) => ending.await?,
    }
    Ok(Ran {
        end,
        output: output.finish(),
        complaint: complaint.finish(),
    })
}

/// Serves the script until it ends.
async fn talk(
    process: &mut Process,
    order: &Order,
    calls: &dyn Calls,
    output: &mut Capture,
    complaint: &mut Capture,
) -> End {
    let Some(input) = process.input.as_mut() else {
        return End::Failed("the script has no input".to_owned());
    };
    let order = json!(order).to_string();
    if let Err(error) = frames::write(input, b's', 0, order.as_bytes()).await {
        return End::Failed(error.to_string());
    }
    let mut asked: Vec<(u32, Vec<u8>)> = Vec::new();
    let mut running = FuturesUnordered::new();
    let mut reading = Box::pin(next(&mut process.output));
    loop {
        while running.len() < MOST_AT_ONCE && !asked.is_empty() {
            let (number, line) = asked.remove(0);
            running.push(async move { (number, calls.answer(&line).await) });
        }
        tokio::select! {
            Some((number, reply)) = running.next(), if !running.is_empty() => {
                if frames::write(input, b'r', number, reply.to_string().as_bytes()).await.is_err() {
                    break;
                }
            }
            (from, frame) = &mut reading, if asked.len() < MOST_WAITING => {
                match frame {
                    Some(Frame::Output(bytes)) => output.push(&bytes),
                    Some(Frame::Complaint(bytes)) => complaint.push(&bytes),
                    Some(Frame::Request { number, line }) => asked.push((number, line)),
                    Some(Frame::Ended(code)) => return End::Code(code),
                    Some(Frame::Failed(why)) => return End::Failed(why),
                    None => break,
                }
                reading.set(next(from));
            }
        }
    }
    drop(reading);
    End::Failed(match timeout(LAST_WORD, &mut process.exit).await {
        Ok(Ok(Exit::Code(NOT_FOUND))) => {
            "there is no python3 where commands run; use an image that has it, install it there, or do this with \
             terminal"
                .to_owned()
        }
        Ok(Err(ExecError::Gone(why))) => {
            tracing::warn!(why, "a script was lost");
            LOST.to_owned()
        }
        Ok(Err(error)) => error.to_string(),
        Ok(Ok(_)) | Err(_) => "Python did not answer where commands run".to_owned(),
    })
}

/// Reading is one future that is never dropped halfway: a frame has several parts.
async fn next<R: tokio::io::AsyncRead + Unpin>(from: &mut R) -> (&mut R, Option<Frame>) {
    let frame = frames::read(from).await;
    (from, frame)
}

/// How long the runner may take to clear up; nothing is left to clear up when the script ended by itself.
fn grace(end: &End) -> Grace {
    match end {
        End::Code(_) => Grace::Cleared,
        End::Failed(_) => Grace::None,
        End::TimedOut => Grace::Of(GRACE),
        End::Interrupted => Grace::Of(SHORT_GRACE),
    }
}

enum Grace {
    Cleared,
    None,
    Of(Duration),
}

/// Ends a script and clears up behind it: nothing of it is left.
async fn finish(
    process: Process,
    grace: Grace,
    unfinished: Unfinished,
    backend: Arc<dyn Backend>,
    clearing: Launch,
) -> Result<(), ExecError> {
    let Process {
        control,
        exit,
        mut output,
        // While it is open the runner knows that somebody is there.
        input: _input,
        ..
    } = process;
    let cleared = match grace {
        Grace::Cleared => true,
        Grace::None => false,
        Grace::Of(grace) => {
            control.end(Ending::Terminate).await?;
            // What it still says is too late to be shown, but a full pipe would hold it up.
            let hearing = async {
                let _ = tokio::io::copy(&mut output, &mut tokio::io::sink()).await;
                std::future::pending::<()>().await;
            };
            tokio::select! {
                _ = exit => true,
                () = hearing => false,
                () = sleep(grace) => false,
            }
        }
    };
    control.end(Ending::Kill).await?;
    unfinished.finished();
    if !cleared {
        clear(&backend, clearing).await;
    }
    Ok(())
}

/// Removes what a script leaves whose runner was killed. A place that cannot be reached any more keeps it.
async fn clear(backend: &Arc<dyn Backend>, launch: Launch) {
    let removing = async { backend.spawn(launch).await?.exit.await };
    match timeout(CLEARING, removing).await {
        Ok(Ok(_)) => {}
        Ok(Err(error)) => tracing::warn!(%error, "the folder of a script was not removed"),
        Err(_) => tracing::warn!("removing the folder of a script took too long"),
    }
}
