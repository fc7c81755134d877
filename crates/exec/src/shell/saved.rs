//! The state a shell keeps where its commands run: reading it, and removing it in the end.

use std::path::PathBuf;
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio_util::sync::CancellationToken;

use super::{Command, Shell, script_path};
use crate::follow::{Ended, Follow, follow};
use crate::{ExecError, Exit, Input, Place};

/// How long removing the state elsewhere may take.
const CLOSE_LIMIT: Duration = Duration::from_secs(5);
/// How long reading the state elsewhere may take, and how much of it is read.
const READ_LIMIT: Duration = Duration::from_secs(10);
const LONGEST_STATE: usize = 8 << 20;

impl Shell {
    /// What the next command finds already there, as a text that bash would read: exported variables, functions and
    /// aliases. `None` when nothing was saved.
    pub async fn saved(&self) -> Result<Option<String>, ExecError> {
        self.prepare().await?;
        let Some(slot) = self.with_state(|state| state.slots.current()) else {
            return Ok(None);
        };
        let file = self.file(slot);
        let bytes = match self.options.backend.place() {
            Place::Host => read_bounded(file).await?,
            Place::Away { .. } => {
                let arguments = vec!["-c".to_owned(), format!("cat -- {}", script_path(&file))];
                let process = self
                    .spawn(arguments, Input::None, &Command::default())
                    .await?;
                let mut bytes = Vec::new();
                let how = Follow {
                    timeout: READ_LIMIT,
                    cancel: &CancellationToken::new(),
                    input: Vec::new(),
                };
                let followed = follow(process, how, &mut |more| {
                    let room = LONGEST_STATE.saturating_sub(bytes.len());
                    bytes.extend_from_slice(more.get(..room.min(more.len())).unwrap_or_default());
                })
                .await?;
                match (followed.ended, followed.exit) {
                    (Ended::Done, Some(Exit::Code(0))) => bytes,
                    // It is lost there; the next command puts back what was kept of it.
                    _ => self
                        .with_state(|state| state.kept.clone())
                        .unwrap_or_default(),
                }
            }
        };
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Removes its state from where commands run. A command that still runs keeps what it has read.
    pub async fn close(&self) -> Result<(), ExecError> {
        if !self.prepared.initialized() {
            return Ok(());
        }
        if self.options.backend.place() == Place::Host {
            return match tokio::fs::remove_dir_all(&self.folder).await {
                Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                    let what = format!("removing {}", self.folder.display());
                    Err(ExecError::Io { what, source })
                }
                Ok(()) | Err(_) => Ok(()),
            };
        }
        if self.options.backend.edition() != self.with_state(|state| state.edition) {
            // The place took it along when it went, and must not be made again for that.
            return Ok(());
        }
        let remove = format!("rm -rf -- {}", script_path(&self.folder));
        let arguments = vec!["-c".to_owned(), remove];
        let process = self
            .spawn(arguments, Input::None, &Command::default())
            .await?;
        let how = Follow {
            timeout: CLOSE_LIMIT,
            cancel: &CancellationToken::new(),
            input: Vec::new(),
        };
        follow(process, how, &mut |_| {}).await?;
        Ok(())
    }
}

async fn read_bounded(path: PathBuf) -> Result<Vec<u8>, ExecError> {
    let what = format!("reading {}", path.display());
    let read = async {
        let mut bytes = Vec::new();
        let file = tokio::fs::File::open(&path).await?;
        let most = u64::try_from(LONGEST_STATE).unwrap_or(u64::MAX);
        file.take(most).read_to_end(&mut bytes).await?;
        Ok(bytes)
    };
    read.await.map_err(|source| ExecError::Io { what, source })
}
