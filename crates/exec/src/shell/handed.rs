//! What is put into files where commands run: commands too long for an argument, and a state that was lost.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{Command, STARTUP_OUTPUT, Shell, script};
use crate::capture::Capture;
use crate::follow::{Ended, Follow, follow};
use crate::{ExecError, Exit, Input};

/// How long a file may take to get to where commands run.
const PUT_LIMIT: Duration = Duration::from_secs(60);

/// What became of putting a command into a file.
pub(super) enum Put {
    Unneeded,
    In(PathBuf),
    Stopped,
}

/// What a command finds of the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    Everything,
    /// Nothing: the place was made anew.
    Nothing,
}

impl Shell {
    /// Puts a command that is too long for an argument into a file, where commands run.
    pub(super) async fn put(
        &self,
        text: &str,
        command: &Command,
        cancel: &CancellationToken,
    ) -> Result<Put, ExecError> {
        if !script::is_long(text) {
            return Ok(Put::Unneeded);
        }
        let file = self.folder.join(format!("command-{}", self.unique()));
        self.write(&file, text.as_bytes().to_vec(), command, cancel)
            .await
    }

    /// Writes a file of ours where commands run.
    async fn write(
        &self,
        file: &Path,
        bytes: Vec<u8>,
        command: &Command,
        cancel: &CancellationToken,
    ) -> Result<Put, ExecError> {
        let process = self.spawn(script::put(file), Input::Pipe, command).await?;
        let mut said = Capture::new(STARTUP_OUTPUT);
        let how = Follow {
            timeout: PUT_LIMIT,
            cancel,
            input: bytes,
        };
        let followed = follow(process, how, &mut |bytes| said.push(bytes)).await?;
        match (followed.ended, followed.exit) {
            (Ended::Interrupted, _) => Ok(Put::Stopped),
            (Ended::Done, Some(Exit::Code(0))) => Ok(Put::In(file.to_owned())),
            (Ended::TimedOut, _) => Err(ExecError::TimedOut {
                what: format!("writing {}", file.display()),
                limit: PUT_LIMIT,
            }),
            (Ended::Lost, _) => Err(ExecError::broke()),
            (Ended::Done, _) => Err(ExecError::Io {
                what: format!("writing {}", file.display()),
                source: std::io::Error::other(said.finish().text.trim().to_owned()),
            }),
        }
    }

    /// Puts the state back where it was lost: what was kept of it, else what a first command finds.
    pub(super) async fn put_back(&self) -> Result<Found, ExecError> {
        let Some(kept) = self.with_state(|state| state.kept.clone()) else {
            self.start_up().await?;
            return Ok(match self.with_state(|state| state.handed_on) {
                true => Found::Nothing,
                false => Found::Everything,
            });
        };
        let lease = self.with_state(|state| state.slots.lease());
        let never = CancellationToken::new();
        let put = self
            .write(&self.file(lease.to), kept, &Command::default(), &never)
            .await;
        self.with_state(|state| state.slots.give_back(lease, put.is_ok()));
        put.map(|_| Found::Everything)
    }
}
