//! What the two ends of the warden's socket say to each other.
//!
//! A message is its length in four bytes and a JSON text. Descriptors travel with the first byte of the
//! message they belong to; the kernel never mixes those of two messages, so a queue of them is enough.

use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Longer messages are refused: arguments and environment together have less room in the kernel.
const LONGEST: usize = 8 << 20;
/// Standard input, output and error.
const MOST_FILES: usize = 3;
const CHUNK: usize = 64 << 10;

/// One run, recognised also after its first process is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunKey {
    /// Stands in the environment of everything the run starts.
    pub(crate) marker: String,
    /// Its first process.
    pub(crate) root: i32,
    /// Clock ticks since boot at which that started, because ids are used again.
    pub(crate) started: u64,
}

/// What the warden is asked for.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Request {
    Start {
        number: u64,
        argv: Vec<String>,
        directory: Option<PathBuf>,
        environment: Vec<(String, String)>,
        stdio: Stdio,
    },
    /// Answered with `Signalled`.
    End {
        number: u64,
        run: RunKey,
        kill: bool,
    },
}

/// What the descriptors of a start are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stdio {
    /// Standard input, then standard output and error in one.
    Pipes,
    /// Standard input, output and error.
    Apart,
    /// None: the warden makes a terminal of this size, where the command will look for it, and sends our side of
    /// it along with `Started`.
    Terminal { rows: u16, columns: u16 },
    /// The socket of a warden that looks after one run, then what it complains to.
    Cell,
}

impl Stdio {
    pub(super) fn files(self) -> usize {
        match self {
            Self::Pipes | Self::Cell => 2,
            Self::Apart => 3,
            Self::Terminal { .. } => 0,
        }
    }
}

/// What the warden says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Report {
    /// It stands and listens. The first word of every warden.
    Ready,
    Started {
        number: u64,
        pid: i32,
        started: u64,
    },
    /// Nothing runs; the operating system's number for why.
    Refused {
        number: u64,
        errno: i32,
    },
    /// By itself with a code, or by a signal.
    Exited {
        number: u64,
        code: Option<i32>,
        signal: Option<i32>,
        /// Whether something it started still runs.
        left: bool,
        /// Whether something it started did not end in time and was made to.
        cut_off: bool,
    },
    Signalled {
        number: u64,
    },
}

/// A message as it goes over the socket.
pub(super) fn frame<T: Serialize>(message: &T) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message)?;
    let length = bytes.len() - 4;
    let prefix = u32::try_from(length)
        .ok()
        .filter(|_| length <= LONGEST)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the message is too long"))?;
    for (place, byte) in bytes.iter_mut().zip(prefix.to_le_bytes()) {
        *place = byte;
    }
    Ok(bytes)
}

/// Sends bytes and descriptors as far as the socket takes them; the descriptors go with the first byte.
pub(super) fn send(socket: impl AsFd, bytes: &[u8], files: &[OwnedFd]) -> io::Result<usize> {
    let borrowed: Vec<_> = files.iter().map(AsFd::as_fd).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FILES))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !borrowed.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(&borrowed)) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "too many descriptors",
        ));
    }
    let sent = sendmsg(
        socket,
        &[IoSlice::new(bytes)],
        &mut ancillary,
        SendFlags::NOSIGNAL,
    )?;
    Ok(sent)
}

/// Collects what arrives until messages are whole.
#[derive(Default)]
pub(super) struct Inbox {
    bytes: Vec<u8>,
    pub(super) files: VecDeque<OwnedFd>,
}

impl Inbox {
    /// Reads once. Answers `false` at the end of the stream.
    pub(super) fn fill(&mut self, socket: impl AsFd) -> io::Result<bool> {
        let mut chunk = vec![0; CHUNK];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FILES))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let got = recvmsg(
            socket,
            &mut [IoSliceMut::new(&mut chunk)],
            &mut ancillary,
            RecvFlags::CMSG_CLOEXEC,
        )?;
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(files) = message {
                self.files.extend(files);
            }
        }
        self.bytes
            .extend_from_slice(chunk.get(..got.bytes).unwrap_or_default());
        Ok(got.bytes > 0)
    }

    /// The next whole message.
    pub(super) fn next<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let Some(prefix) = self.bytes.first_chunk::<4>() else {
            return Ok(None);
        };
        let length = u32::from_le_bytes(*prefix) as usize;
        if length > LONGEST {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "a message is too long",
            ));
        }
        let Some(body) = self.bytes.get(4..4 + length) else {
            return Ok(None);
        };
        let message = serde_json::from_slice(body)?;
        self.bytes.drain(..4 + length);
        Ok(Some(message))
    }
}
