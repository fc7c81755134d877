//! Connections that can be reset instead of closed.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

/// Accepts connections that can be reset.
pub(super) struct Lines(pub(super) TcpListener);

/// One connection.
pub(super) struct Line {
    stream: TcpStream,
    reset: Reset,
}

/// Resets a connection: from now on nothing is written, and what the other side reads next is an error.
#[derive(Clone, Default)]
pub(super) struct Reset(Arc<AtomicBool>);

impl Reset {
    pub(super) fn now(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn check(&self) -> io::Result<()> {
        match self.0.load(Ordering::Relaxed) {
            true => Err(io::ErrorKind::ConnectionReset.into()),
            false => Ok(()),
        }
    }
}

impl Listener for Lines {
    type Io = Line;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Line, SocketAddr) {
        let (stream, address) = Listener::accept(&mut self.0).await;
        let reset = Reset::default();
        (Line { stream, reset }, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

impl Connected<IncomingStream<'_, Lines>> for Reset {
    fn connect_info(stream: IncomingStream<'_, Lines>) -> Self {
        stream.io().reset.clone()
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if self.reset.check().is_err() {
            // Without it the connection ends in the usual way, which a test would notice.
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Line {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.reset.check()?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.reset.check()?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.reset.check()?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
