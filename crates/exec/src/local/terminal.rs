//! Our side of a pseudo-terminal.

use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::task::{Context, Poll};

use rustix::termios::{Winsize, tcsetwinsize};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::unix::pipe;

/// What a terminal takes for the end of input.
const END_OF_INPUT: u8 = 4;

/// A terminal that a command runs on, as the handles we need.
pub(super) struct Terminal {
    pub(super) screen: Screen,
    pub(super) keyboard: Keyboard,
    pub(super) size: Size,
}

impl Terminal {
    /// From our side of it, which whoever started the command made.
    pub(super) fn of(ours: OwnedFd) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&ours, true)?;
        // Reading and writing a terminal is the same to the operating system as for a pipe.
        let screen = Screen(pipe::Receiver::from_owned_fd_unchecked(ours.try_clone()?)?);
        let keyboard = Keyboard(pipe::Sender::from_owned_fd_unchecked(ours.try_clone()?)?);
        Ok(Self {
            screen,
            keyboard,
            size: Size(ours),
        })
    }
}

/// How many characters fit.
pub(super) struct Size(OwnedFd);

impl Size {
    pub(super) fn set(&self, rows: u16, columns: u16) -> io::Result<()> {
        let size = Winsize {
            ws_row: rows,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        Ok(tcsetwinsize(&self.0, size)?)
    }
}

/// What is shown.
pub(super) struct Screen(pipe::Receiver);

impl AsyncRead for Screen {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.0).poll_read(context, buffer) {
            // This is how a terminal says that nobody has its other side open any more.
            Poll::Ready(Err(error)) if error.raw_os_error() == Some(nix::libc::EIO) => {
                Poll::Ready(Ok(()))
            }
            other => other,
        }
    }
}

/// What is typed.
pub(super) struct Keyboard(pipe::Sender);

impl AsyncWrite for Keyboard {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    /// Types the end of input: a terminal cannot be closed from one side.
    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0)
            .poll_write(context, &[END_OF_INPUT])
            .map_ok(|_| ())
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        // Dropping the input is its end, as with a pipe; a full or closed terminal needs no telling.
        // Past the runtime, which would refuse while it has not heard yet that the terminal can be written to.
        let _ = rustix::io::write(&self.0, &[END_OF_INPUT]);
    }
}
