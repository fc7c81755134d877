//! Asking programs something without any shell in between.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::follow::{Follow, follow};
use crate::{Backend, Exit, Input, Launch, RunId};

/// How long asking `sudo` whether it needs a password may take.
const SUDO_PROBE: Duration = Duration::from_secs(3);
/// Where `sudo` is. Directories a session can write must not be looked through: this runs without a sandbox.
const SYSTEM_PATH: &str = "/run/wrappers/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/// Whether `sudo` works there without a password. No shell and nothing of a session's state takes part.
pub async fn sudo_needs_no_password(
    backend: &dyn Backend,
    id: RunId,
    cancel: &CancellationToken,
) -> bool {
    let launch = Launch {
        id,
        argv: ["sudo", "-n", "true"].map(str::to_owned).to_vec(),
        directory: None,
        environment: vec![("PATH".to_owned(), SYSTEM_PATH.to_owned())],
        input: Input::None,
        confinement: None,
    };
    let Ok(process) = backend.spawn(launch).await else {
        return false;
    };
    let how = Follow {
        timeout: SUDO_PROBE,
        cancel,
        input: Vec::new(),
    };
    let ended = follow(process, how, &mut |_| {}).await;
    ended.is_ok_and(|followed| followed.exit == Some(Exit::Code(0)))
}
