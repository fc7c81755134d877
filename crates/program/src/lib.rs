//! Short programs: started, read, and ended with all they started.
//!
//! A program is given an input, so many bytes it may print and so much time. Whatever it has started ends with it when
//! it does not end well by itself: when its time is over, when it prints too much, and when nobody waits for it any
//! more. What runs for the user, and what is confined or elsewhere, is started by `exec`.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, Command};

/// What a program may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How long it may run.
    pub time: Duration,
    /// Bytes it may print.
    pub printed: usize,
    /// Bytes of its complaints that are kept; what comes after them is read and thrown away.
    pub complaint: usize,
}

/// How a program ended by itself.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    /// What it wrote to standard output.
    pub printed: Vec<u8>,
    /// How what it wrote to standard error begins.
    pub complaint: Vec<u8>,
}

impl Ended {
    /// The lines of its complaint that are not empty, without the blanks around them.
    pub fn complaints(&self) -> Vec<String> {
        let text = String::from_utf8_lossy(&self.complaint);
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.map(ToOwned::to_owned).collect()
    }
}

/// Why there is no end to tell of.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// It could not be started.
    #[error("it cannot be started: {0}")]
    NotStarted(#[source] io::Error),
    /// Its time was over.
    #[error("it took longer than {} s", .0.as_secs())]
    TooSlow(Duration),
    /// It printed more than it may.
    #[error("it printed more than {0} bytes")]
    TooMuch(usize),
    /// It cannot be waited for.
    #[error("it cannot be waited for: {0}")]
    Lost(#[source] io::Error),
}

/// Runs a program to its end. Its input and both its outputs are pipes, whatever `command` says of them. Dropping this
/// before it is ready ends the program.
pub async fn run(
    mut command: Command,
    input: &[u8],
    limits: Limits,
) -> Result<Ended, ProgramError> {
    let fed = match input {
        [] => Stdio::null(),
        _ => Stdio::piped(),
    };
    let child = command
        .stdin(fed)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(ProgramError::NotStarted)?;
    let mut running = Running(child);
    let ended = tokio::time::timeout(limits.time, running.end(input, limits)).await;
    ended.unwrap_or(Err(ProgramError::TooSlow(limits.time)))
}

/// A program at work; dropping it before its end ends its whole group.
struct Running(Child);

impl Running {
    async fn end(&mut self, input: &[u8], limits: Limits) -> Result<Ended, ProgramError> {
        let child = &mut self.0;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let complaining = rest_thrown_away(child.stderr.take(), limits.complaint);
        let printing = async {
            // One more than it may, so that too much is seen.
            let (printed, _) = first(stdout, limits.printed.saturating_add(1)).await;
            match printed.len() > limits.printed {
                true => Err(ProgramError::TooMuch(limits.printed)),
                false => Ok(printed),
            }
        };
        let complaining = async { Ok::<_, ProgramError>(complaining.await) };
        let feeding = async {
            feed(stdin, input).await;
            Ok::<_, ProgramError>(())
        };
        let ((), printed, complaint) = tokio::try_join!(feeding, printing, complaining)?;
        let status = child.wait().await.map_err(ProgramError::Lost)?;
        Ok(Ended {
            status,
            printed,
            complaint,
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // There is no number any more once its end was heard: the group may be somebody else's by then.
        if let Some(group) = self.0.id().and_then(|id| i32::try_from(id).ok()) {
            // It may have ended by itself meanwhile.
            let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
        }
    }
}

/// A program that ends without hearing all of it says so by its exit.
async fn feed(stdin: Option<ChildStdin>, input: &[u8]) {
    if let Some(mut stdin) = stdin {
        let _ = stdin.write_all(input).await;
    }
}

/// What comes before the limit. A program that cannot go on complaining would end before it prints.
async fn rest_thrown_away(pipe: Option<impl AsyncRead + Unpin>, most: usize) -> Vec<u8> {
    let (bytes, rest) = first(pipe, most).await;
    if let Some(mut rest) = rest {
        let _ = tokio::io::copy(&mut rest, &mut tokio::io::sink()).await;
    }
    bytes
}

/// What comes before the end or the limit, and the pipe behind the limit; one that breaks has ended.
async fn first<P: AsyncRead + Unpin>(pipe: Option<P>, most: usize) -> (Vec<u8>, Option<P>) {
    let mut bytes = Vec::new();
    let Some(pipe) = pipe else {
        return (bytes, None);
    };
    let mut pipe = pipe.take(most as u64);
    // What was read before an error stands.
    let read = pipe.read_to_end(&mut bytes).await;
    let more = read.is_ok() && pipe.limit() == 0;
    (bytes, more.then(|| pipe.into_inner()))
}
