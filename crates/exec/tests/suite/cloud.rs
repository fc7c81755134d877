//! What tests of sandboxes in a cloud have in common.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hermes_core::SystemClock;
use hermes_exec::{CloudConfig, TetherProgram};
use hermes_http::{AddressPolicy, ClientBuilder, ClientSettings};

/// The helper that clears up after us, as a program of its own.
pub(crate) fn tether() -> &'static str {
    env!("CARGO_BIN_EXE_hermes-tether")
}

pub(crate) fn config(folder: &Path) -> CloudConfig {
    CloudConfig {
        image: "debian:12".to_owned(),
        task: "a task/1".to_owned(),
        profile: "main".to_owned(),
        cpus: 1.5,
        memory_mb: 1500,
        disk_mb: 51_200,
        persistent: true,
        lifetime: Duration::from_secs(300),
        sandboxes: folder.join("sandboxes"),
        http: ClientBuilder::new(ClientSettings::default(), AddressPolicy::Any)
            .build()
            .unwrap(),
        tether: TetherProgram {
            program: PathBuf::from(tether()),
            arguments: Vec::new(),
            environment: Vec::new(),
        },
        clock: Arc::new(SystemClock),
    }
}
