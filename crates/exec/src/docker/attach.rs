//! A program inside a container with its standard input and output here.
//!
//! The engine turns the request that starts it into a plain connection. We make that request ourselves:
//! the library guesses from the first byte whether terminal output is framed, and guesses wrong for some.

use std::io;
use std::path::Path;
use std::time::Duration;

use bollard::Docker;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::time::timeout;

use crate::supervise::{Channel, Closed, Crew, Ends};

/// What is under way between the engine and the reader.
const BUFFER: usize = 64 << 10;
const MAX_HEAD: u64 = 16 << 10;
const MAX_COMPLAINT: usize = 4 << 10;
/// How long the engine may take to start a program or to answer for one.
const ANSWER: Duration = Duration::from_secs(60);

/// Whether output is a terminal's or comes in frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Frames,
    Terminal,
}

/// Starts the prepared program `exec` and hands its streams out.
pub(super) async fn attach(
    socket: &Path,
    docker: Docker,
    exec: String,
    kind: Kind,
    crew: &Crew,
) -> io::Result<Channel> {
    let stream = timeout(ANSWER, start(socket, &docker, &exec, kind)).await??;
    let (from, mut to) = tokio::io::split(stream);
    let (channel, ends) = Channel::served();
    let Ends {
        mut typed,
        mut shown,
        over,
    } = ends;
    let stop = crew.stop.clone();
    crew.tasks.spawn(async move {
        tokio::select! {
            // A program that ended takes no more input; its exit code says more than this.
            _ = tokio::io::copy(&mut typed, &mut to) => {}
            () = stop.cancelled() => return,
        }
        // Only an end of the stream in this direction reaches the program as end of input.
        let _ = to.shutdown().await;
    });
    let stop = crew.stop.clone();
    crew.tasks.spawn(async move {
        let complaint = tokio::select! {
            complaint = forward(BufReader::with_capacity(BUFFER, from), &mut shown, kind) => complaint,
            () = stop.cancelled() => return,
        };
        let code = match timeout(ANSWER, docker.inspect_exec(&exec)).await {
            Ok(Ok(answer)) => answer.exit_code.and_then(|code| i32::try_from(code).ok()),
            Ok(Err(_)) | Err(_) => None,
        };
        drop(shown);
        // Nobody may be waiting any more.
        let _ = over.send(Closed { code, complaint });
    });
    Ok(channel)
}

async fn start(
    socket: &Path,
    docker: &Docker,
    exec: &str,
    kind: Kind,
) -> io::Result<BufReader<UnixStream>> {
    let mut stream = BufReader::new(UnixStream::connect(socket).await?);
    let version = docker.client_version();
    let body = format!(r#"{{"Detach":false,"Tty":{}}}"#, kind == Kind::Terminal);
    let head = format!(
        "POST /v{}.{}/exec/{exec}/start HTTP/1.1\r\nHost: docker\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n{body}",
        version.major_version,
        version.minor_version,
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    let mut answer = (&mut stream).take(MAX_HEAD);
    let mut status = String::new();
    answer.read_line(&mut status).await?;
    let mut line = String::new();
    while answer.read_line(&mut line).await? > 2 {
        line.clear();
    }
    match status.split(' ').nth(1) {
        // Older engines and podman say 200 for the same thing.
        Some("101" | "200") => Ok(stream),
        Some("404" | "409") => Err(io::ErrorKind::NotFound.into()),
        Some(_) | None => Err(io::Error::other(status.trim().to_owned())),
    }
}

/// Moves output on until it ends; a reader that went away does not hold up the program. Returns what came on
/// standard error, where only the engine and our own script write.
async fn forward(
    mut from: impl AsyncRead + Unpin,
    to: &mut (impl AsyncWrite + Unpin),
    kind: Kind,
) -> String {
    let mut wanted = true;
    let mut buffer = vec![0; BUFFER];
    if kind == Kind::Terminal {
        pass(&mut from, u64::MAX, to, &mut wanted, &mut buffer).await;
        return String::new();
    }
    let mut complaint = Vec::new();
    while let Ok([stream, _, _, _, a, b, c, d]) = header(&mut from).await {
        let length = u64::from(u32::from_be_bytes([a, b, c, d]));
        let complete = if stream == 2 {
            let mut text = Vec::new();
            let read = (&mut from).take(length).read_to_end(&mut text).await;
            complaint.extend(text);
            complaint.drain(..complaint.len().saturating_sub(MAX_COMPLAINT));
            read.is_ok()
        } else {
            pass(&mut from, length, to, &mut wanted, &mut buffer).await
        };
        if !complete {
            break;
        }
    }
    String::from_utf8_lossy(&complaint).trim().to_owned()
}

async fn header(from: &mut (impl AsyncRead + Unpin)) -> io::Result<[u8; 8]> {
    let mut header = [0; 8];
    from.read_exact(&mut header).await?;
    Ok(header)
}

/// Moves so many bytes on; false when there were fewer.
async fn pass(
    from: &mut (impl AsyncRead + Unpin),
    mut count: u64,
    to: &mut (impl AsyncWrite + Unpin),
    wanted: &mut bool,
    buffer: &mut [u8],
) -> bool {
    while count > 0 {
        let most = usize::try_from(count).map_or(buffer.len(), |count| count.min(buffer.len()));
        let Ok(read @ 1..) = from.read(&mut buffer[..most]).await else {
            return false;
        };
        count -= read as u64;
        *wanted = *wanted && to.write_all(&buffer[..read]).await.is_ok();
    }
    true
}
