//! What Daytona's answers mean.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;

use super::KIND;
use crate::ExecError;
use crate::rest::Words;

/// What to do about its troubles.
pub(super) const WORDS: Words = Words {
    backend: KIND,
    address: "Check DAYTONA_API_URL.",
    unreachable: "Check DAYTONA_API_URL and the network.",
    refused,
};

fn refused(status: u16, scarce: bool) -> &'static str {
    match status {
        429 => "Wait a little and try again.",
        400 | 402 | 403 | 412 if scarce => {
            "Remove sandboxes with hermes sandbox rm, or lower terminal.container_cpu, \
             container_memory and container_disk."
        }
        401 | 403 => "Check DAYTONA_API_KEY.",
        500.. => "Daytona has trouble; try again later.",
        _ => "Check the settings terminal.daytona_image and terminal.container_*.",
    }
}

/// A sandbox as the API describes it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Described {
    pub(super) id: String,
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) labels: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) state: State,
    #[serde(default)]
    pub(super) error_reason: Option<String>,
    #[serde(default)]
    created_at: Option<String>,
    #[serde(default)]
    pub(super) snapshot: Option<String>,
    #[serde(default)]
    pub(super) toolbox_proxy_url: Option<String>,
}

/// What a sandbox is up to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    Started,
    Stopped,
    Archived,
    Error,
    BuildFailed,
    Destroying,
    Destroyed,
    /// On its way from one of these to another.
    #[default]
    #[serde(other)]
    Moving,
}

impl Described {
    pub(super) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.id)
    }

    /// When it was made, in seconds since 1970; long ago if that is not known.
    pub(super) fn created_at(&self) -> i64 {
        let at = self.created_at.as_deref();
        let at = at.and_then(|at| at.parse::<Timestamp>().ok());
        at.map_or(0, Timestamp::as_second)
    }
}

/// A sandbox that cannot be used, in words.
pub(super) fn broken(sandbox: &Described, image: &str) -> ExecError {
    let reason = sandbox.error_reason.as_deref().unwrap_or("no reason given");
    ExecError::Unavailable {
        backend: KIND,
        cause: format!("the sandbox of {image} does not start: {reason}"),
        next: "Check terminal.daytona_image.".to_owned(),
    }
}
