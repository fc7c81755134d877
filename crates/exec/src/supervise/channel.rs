//! A shell running elsewhere, seen from here.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, DuplexStream, ReadBuf};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// What is under way between the far side and the caller.
const BUFFER: usize = 64 << 10;
/// How much a login shell's start-up files may print before our marker.
const MAX_NOISE: usize = 64 << 10;
/// How much of what a program complains about is kept.
const MAX_COMPLAINT: usize = 4 << 10;

/// Standard input and output of a shell running elsewhere.
pub(crate) struct Channel {
    /// Dropping it is the end of input over there.
    pub(crate) input: Box<dyn AsyncWrite + Send + Unpin>,
    pub(crate) output: Box<dyn AsyncRead + Send + Unpin>,
    /// Resolves when the shell has ended or cannot be reached any more.
    pub(crate) closed: BoxFuture<'static, Closed>,
}

/// The far ends of a channel that is served by tasks of ours.
pub(crate) struct Ends {
    /// What the caller writes.
    pub(crate) typed: DuplexStream,
    /// What the caller reads.
    pub(crate) shown: DuplexStream,
    /// Says that it is over.
    pub(crate) over: oneshot::Sender<Closed>,
}

impl Channel {
    /// A channel and its far ends.
    pub(crate) fn served() -> (Self, Ends) {
        let (input, typed) = tokio::io::duplex(BUFFER);
        let (shown, output) = tokio::io::duplex(BUFFER);
        let (over, ended) = oneshot::channel();
        let channel = Self {
            input: Box::new(input),
            output: Box::new(output),
            closed: Box::pin(async move { ended.await.unwrap_or_default() }),
        };
        (channel, Ends { typed, shown, over })
    }
}

/// How a channel ended.
#[derive(Debug, Default)]
pub(crate) struct Closed {
    /// The shell's exit code, unless the channel broke.
    pub(crate) code: Option<i32>,
    /// What was said about it.
    pub(crate) complaint: String,
}

impl Closed {
    /// Why, as far as anybody said.
    pub(crate) fn why(&self) -> String {
        match (self.complaint.as_str(), self.code) {
            ("", Some(code)) => format!("it ended with code {code} and said nothing"),
            ("", None) => "it said nothing".to_owned(),
            (said, _) => said.to_owned(),
        }
    }
}

/// The line that separates noise from what our script wrote.
pub(super) struct Marker {
    pub(super) pid: Option<u32>,
    /// What came with it and belongs to what follows.
    pub(super) rest: Vec<u8>,
}

/// Reads until the marker called `name`.
pub(super) async fn read_marker(
    output: &mut (impl AsyncRead + Unpin),
    name: &str,
) -> io::Result<Marker> {
    let head = format!("\u{1}hermes {name}");
    let mut seen = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let start = memchr::memmem::find(&seen, head.as_bytes());
        if let Some(start) = start
            && let Some(length) = seen[start..].iter().position(|byte| *byte == b'\n')
        {
            let line = String::from_utf8_lossy(&seen[start + head.len()..start + length]);
            return Ok(Marker {
                pid: line.trim().parse().ok(),
                rest: seen.split_off(start + length + 1),
            });
        }
        let count = output.read(&mut buffer).await?;
        if count == 0 || seen.len() > MAX_NOISE {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        seen.extend_from_slice(&buffer[..count]);
    }
}

/// Reads to the end and keeps the last part, as text.
pub(crate) async fn tail(mut from: impl AsyncRead + Unpin) -> String {
    let mut kept = Vec::new();
    let mut buffer = [0; 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        kept.extend_from_slice(&buffer[..count]);
        kept.drain(..kept.len().saturating_sub(MAX_COMPLAINT));
    }
    String::from_utf8_lossy(&kept).trim().to_owned()
}

/// A reader that says when it came to the end.
pub(super) struct Watched<R> {
    inner: R,
    ended: CancellationToken,
}

impl<R> Watched<R> {
    pub(super) fn new(inner: R, ended: CancellationToken) -> Self {
        Self { inner, ended }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Watched<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let room = buffer.remaining() > 0;
        let result = Pin::new(&mut self.inner).poll_read(context, buffer);
        match &result {
            Poll::Ready(Ok(())) if room && buffer.filled().len() == before => self.ended.cancel(),
            Poll::Ready(Err(_)) => self.ended.cancel(),
            Poll::Ready(Ok(())) | Poll::Pending => {}
        }
        result
    }
}
