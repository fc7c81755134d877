//! The proxy through which confined commands reach the hosts that are listed for them.

use std::path::Path;

use hermes_config::{Config, SandboxNetwork};
use hermes_core::Random;
use hermes_exec::ExecError;
use hermes_exec::sandbox::{Proxy, Sandbox};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// A proxy that serves until it is closed.
pub(super) struct WayOut {
    stop: CancellationToken,
    serving: TaskTracker,
}

impl WayOut {
    /// Opens one when the settings list hosts. Must be called inside a runtime.
    pub(super) fn open(
        sandbox: Sandbox,
        config: &Config,
        random: &dyn Random,
        temporary: &Path,
    ) -> Result<(Sandbox, Option<Self>), ExecError> {
        let settings = &config.terminal.sandbox;
        if settings.network != SandboxNetwork::Only {
            return Ok((sandbox, None));
        }
        let name = format!("hermes-proxy-{:016x}", random.next_u64());
        let proxy = Proxy::bind(temporary.join(name), &settings.allow_hosts)?;
        let sandbox = sandbox.with_proxy(proxy.socket().to_owned());
        let (stop, serving) = (CancellationToken::new(), TaskTracker::new());
        serving.spawn(proxy.serve(stop.clone()));
        serving.close();
        Ok((sandbox, Some(Self { stop, serving })))
    }

    pub(super) async fn close(&self) {
        self.stop.cancel();
        self.serving.wait().await;
    }
}
