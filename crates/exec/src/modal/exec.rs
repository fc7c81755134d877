//! A shell in a sandbox, through the calls that start, feed, read and await a program.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::grpc::{Code, Failure};
use super::proto::{
    Ended, Nothing, PIPE, PTY_SHELL, PtyInfo, STDERR, STDOUT, TaskExecStartRequest,
    TaskExecStdinWriteRequest, TaskExecStdioReadRequest, TaskExecStdioReadResponse,
    TaskExecWaitRequest, TaskExecWaitResponse,
};
use super::router::{Router, trouble};
use crate::ExecError;
use crate::supervise::{Channel, Closed, Crew, Ends, Role};

const CHUNK: usize = 64 << 10;
const ANSWER: Duration = Duration::from_secs(60);
/// How long an output may be silent before it is asked for again.
const SILENCE: Duration = Duration::from_secs(120);
/// How often a stream that broke is asked for again before the sandbox counts as gone.
const MAX_BROKEN: u32 = 8;
const PAUSE: Duration = Duration::from_millis(200);
/// What a program complains about is short, and there when it has ended.
const MAX_COMPLAINT: usize = 4 << 10;
const COMPLAINT: Duration = Duration::from_secs(2);
/// How long the last word to a program may take.
const LAST: Duration = Duration::from_secs(2);

/// One program.
#[derive(Clone)]
struct Exec {
    router: Arc<Router>,
    id: String,
}

/// Runs `role.boot()`.
pub(super) async fn open(
    router: &Arc<Router>,
    role: Role,
    crew: &Crew,
) -> Result<Channel, ExecError> {
    let exec = Exec {
        router: Arc::clone(router),
        id: router.next_id(),
    };
    let request = start(&router.task, &exec.id, role.boot(), role);
    let started: Result<Nothing, Failure> = router.call("TaskExecStart", &request, ANSWER).await;
    started.map_err(|failure| trouble(&failure, "starting a program"))?;
    let (channel, ends) = Channel::served();
    let Ends { typed, shown, over } = ends;
    // Told when the shell has ended: what else is typed is for nobody.
    let ended = CancellationToken::new();
    let (stop, feeder, feeding) = (crew.stop.clone(), exec.clone(), ended.clone());
    crew.tasks.spawn(async move {
        let mut offset = 0;
        tokio::select! {
            () = feeder.feed(typed, &mut offset) => return,
            () = feeding.cancelled() => return,
            () = stop.cancelled() => {}
        }
        // The end of its input ends a guard, and whatever it guards.
        if let Ok(Err(failure)) = timeout(LAST, feeder.write(offset, &[], true)).await {
            tracing::debug!(%failure, "a program is left to its guard's patience");
        }
    });
    let (stop, shower) = (crew.stop.clone(), exec.clone());
    crew.tasks.spawn(async move {
        tokio::select! {
            () = shower.show(shown) => {}
            () = stop.cancelled() => {}
        }
    });
    let stop = crew.stop.clone();
    crew.tasks.spawn(async move {
        let closed = tokio::select! {
            closed = exec.wait() => closed,
            () = stop.cancelled() => Closed::default(),
        };
        ended.cancel();
        // Nobody may be waiting any more.
        let _ = over.send(closed);
    });
    Ok(channel)
}

/// The request that starts a shell with a script.
pub(super) fn start(task: &str, id: &str, script: &str, role: Role) -> TaskExecStartRequest {
    let terminal = PtyInfo {
        enabled: true,
        winsz_rows: 24,
        winsz_cols: 80,
        env_term: "xterm-256color".to_owned(),
        pty_type: PTY_SHELL,
        no_terminate_on_idle_stdin: true,
    };
    TaskExecStartRequest {
        task_id: task.to_owned(),
        exec_id: id.to_owned(),
        command_args: ["/bin/sh", "-c", script].map(str::to_owned).to_vec(),
        stdout_config: PIPE,
        stderr_config: PIPE,
        pty_info: (role == Role::Terminal).then_some(terminal),
        env: HashMap::new(),
    }
}

impl Exec {
    async fn write(&self, offset: u64, data: &[u8], eof: bool) -> Result<(), Failure> {
        let request = TaskExecStdinWriteRequest {
            task_id: self.router.task.clone(),
            exec_id: self.id.clone(),
            offset,
            data: data.to_vec(),
            eof,
        };
        let written: Result<Nothing, Failure> = self
            .router
            .call("TaskExecStdinWrite", &request, ANSWER)
            .await;
        written.map(drop)
    }

    /// Moves on what is typed until that ends or nobody takes it.
    async fn feed(&self, mut typed: DuplexStream, offset: &mut u64) {
        let mut buffer = vec![0; CHUNK];
        loop {
            let read = typed.read(&mut buffer).await.unwrap_or(0);
            let bytes = buffer.get(..read).unwrap_or_default();
            if let Err(failure) = self.write(*offset, bytes, read == 0).await {
                tracing::debug!(%failure, "input was not taken");
                return;
            }
            if read == 0 {
                return;
            }
            *offset += bytes.len() as u64;
        }
    }

    fn read(&self, offset: u64, file_descriptor: i32) -> TaskExecStdioReadRequest {
        TaskExecStdioReadRequest {
            task_id: self.router.task.clone(),
            exec_id: self.id.clone(),
            offset,
            file_descriptor,
        }
    }

    /// Moves on what is shown, asking again from where it broke. A reader that went away does not hold up the program.
    async fn show(&self, shown: DuplexStream) {
        let mut shown = Some(shown);
        let mut offset = 0;
        let mut broken = 0;
        while broken < MAX_BROKEN {
            let request = self.read(offset, STDOUT);
            let failure = match self
                .router
                .stream::<TaskExecStdioReadResponse>("TaskExecStdioRead", &request, SILENCE)
                .await
            {
                Ok(mut answers) => loop {
                    match answers.next().await {
                        Ok(Some(piece)) => {
                            broken = 0;
                            offset += piece.data.len() as u64;
                            if let Some(open) = shown.as_mut()
                                && open.write_all(&piece.data).await.is_err()
                            {
                                shown = None;
                            }
                        }
                        Ok(None) => return,
                        Err(failure) => break failure,
                    }
                },
                Err(failure) => failure,
            };
            if failure.is_patience() {
                continue;
            }
            broken += 1;
            match failure.code() {
                Some(Code::Unauthenticated) => {
                    if self.router.renew().await.is_err() {
                        return;
                    }
                }
                Some(Code::NotFound) => return,
                _ => tokio::time::sleep(PAUSE * broken).await,
            }
        }
    }

    /// Waits for the program, however long it takes.
    async fn wait(&self) -> Closed {
        let request = TaskExecWaitRequest {
            task_id: self.router.task.clone(),
            exec_id: self.id.clone(),
        };
        loop {
            let waited: Result<TaskExecWaitResponse, Failure> =
                self.router.call("TaskExecWait", &request, ANSWER).await;
            let code = match waited {
                Ok(TaskExecWaitResponse { ended: None }) => continue,
                Ok(TaskExecWaitResponse {
                    ended: Some(Ended::Code(code)),
                }) => code,
                Ok(TaskExecWaitResponse {
                    ended: Some(Ended::Signal(signal)),
                }) => 128 + signal,
                Err(failure) if failure.is_patience() => continue,
                Err(failure) => {
                    return Closed {
                        code: None,
                        complaint: failure.to_string(),
                    };
                }
            };
            let complaint = timeout(COMPLAINT, self.complaint()).await;
            return Closed {
                code: Some(code),
                complaint: complaint.unwrap_or_default(),
            };
        }
    }

    /// What the program wrote to standard error, where only shells of ours write.
    async fn complaint(&self) -> String {
        let request = self.read(0, STDERR);
        let mut kept = Vec::new();
        if let Ok(mut answers) = self
            .router
            .stream::<TaskExecStdioReadResponse>("TaskExecStdioRead", &request, COMPLAINT)
            .await
        {
            while let Ok(Some(piece)) = answers.next().await {
                kept.extend(piece.data);
                let extra = kept.len().saturating_sub(MAX_COMPLAINT);
                kept.drain(..extra);
            }
        }
        String::from_utf8_lossy(&kept).trim().to_owned()
    }
}
