//! Who judges commands, from the settings.

use std::path::{Path, PathBuf};

use hermes_config::{Config, CronApproval, Home};
use hermes_exec::isolation;
use hermes_policy::Unattended;
use hermes_policy::tirith::Failing;
use hermes_tools::{GuardSettings, Tirith};

use super::Trusted;

/// What the settings say about approvals.
pub(super) fn settings(config: &Config, home: &Home, user_home: Option<&Path>) -> GuardSettings {
    let approvals = &config.approvals;
    GuardSettings {
        patience: approvals.timeout,
        headless: match approvals.headless_mode {
            CronApproval::Approve => Unattended::Approve,
            CronApproval::Deny => Unattended::Deny,
        },
        deny: approvals.deny.clone(),
        allow: config.command_allowlist.clone(),
        home: user_home.unwrap_or(Path::new("/")).display().to_string(),
        product_home: home.path().display().to_string(),
        isolation: isolation(&config.terminal),
    }
}

/// The scanner of commands, when it is switched on and there. Found by its name it must lie where commands cannot
/// write; a path that the user gave is taken as it is.
pub(super) fn tirith(
    config: &Config,
    trusted: &Trusted,
    environment: &[(String, String)],
) -> Option<Tirith> {
    let security = &config.security;
    if !security.tirith_enabled {
        return None;
    }
    let failing = match security.tirith_fail_open {
        true => Failing::Open,
        false => Failing::Closed,
    };
    let named = &security.tirith_path;
    let found = match named.contains('/') {
        true => Some(PathBuf::from(named)).filter(|path| path.is_file()),
        false => trusted.program(named),
    };
    // Without it nothing is lost that was promised, unless the user insists on it.
    let program = match (found, failing) {
        (Some(program), _) => program.into_os_string(),
        (None, Failing::Closed) => named.into(),
        (None, Failing::Open) => {
            if super::found(named, environment).is_some() {
                tracing::warn!(
                    scanner = named,
                    "it lies where commands may write and is not asked; install it for the system"
                );
            }
            return None;
        }
    };
    let limit = security.tirith_timeout;
    let environment = trusted.environment(environment);
    Some(Tirith::new(program, environment, limit, failing))
}
