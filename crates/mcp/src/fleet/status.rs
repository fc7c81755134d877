//! What people and models are told about the servers.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Member;
use crate::{Handle, Restated, SamplingCounts, State, View};

/// A server in a listing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Its name.
    pub name: String,
    /// How it is reached: `stdio`, `http` or `sse`.
    pub transport: String,
    /// How many tools it offers.
    pub tools: usize,
    /// Whether calls are answered.
    pub connected: bool,
    /// Whether it is switched off.
    pub disabled: bool,
    /// What it is doing.
    pub status: StatusWord,
    /// What went wrong last; what the server said is in quotes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Why some of its tools are missing, and which describe themselves differently than before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// When it is tried again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_retry: Option<String>,
    /// How many sessions there have been.
    pub sessions: u64,
    /// Failed calls in a row.
    pub failures: u32,
    /// What its questions to models came to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling: Option<SamplingCounts>,
    /// The id of its program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
}

/// What a server is doing, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatusWord {
    /// Calls are answered.
    Connected,
    /// Switched off.
    Disabled,
    /// On its way.
    Connecting,
    /// Never was up; tried once in a while.
    Failed,
    /// Was up; tried once in a while.
    Parked,
    /// Waits for a login.
    NeedsAuth,
    /// Its program starts with the next call.
    Recycled,
    /// Not running.
    Configured,
}

impl Status {
    pub(super) fn of(member: &Member) -> Self {
        let server = member.server();
        let mut status = Self {
            name: server.name().to_owned(),
            transport: server.kind().word().to_owned(),
            tools: 0,
            connected: false,
            disabled: false,
            status: StatusWord::Configured,
            error: None,
            warning: None,
            next_retry: None,
            sessions: 0,
            failures: 0,
            sampling: None,
            pid: None,
        };
        match member {
            Member::Disabled(_) => {
                status.disabled = true;
                status.status = StatusWord::Disabled;
            }
            Member::Refused(_, why) => {
                status.status = StatusWord::Failed;
                status.error = Some(why.clone());
            }
            Member::On(handle) => {
                let view = handle.view();
                status.tools = view.catalog.tools.len();
                status.warning = warning(handle, &view);
                status.connected = view.is_ready();
                status.status = word(&view);
                status.next_retry = view.next_try.map(|at| format!("{at:.0}"));
                status.sessions = view.generation;
                status.failures = view.failures;
                status.sampling = handle.sampling();
                status.pid = view.pid;
                status.error = view.last_error;
            }
        }
        status
    }
}

fn warning(handle: &Handle, view: &View) -> Option<String> {
    let told = Change::of(handle).map(|change| change.told);
    let parts: Vec<String> = view.catalog.cut.iter().cloned().chain(told).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn word(view: &View) -> StatusWord {
    match view.state {
        State::Ready => StatusWord::Connected,
        State::Connecting { .. } | State::Reconnecting { .. } => StatusWord::Connecting,
        State::Recycled => StatusWord::Recycled,
        State::Parked if view.generation == 0 => StatusWord::Failed,
        State::Parked => StatusWord::Parked,
        State::NeedsAuth => StatusWord::NeedsAuth,
        State::Stopping | State::Stopped => StatusWord::Configured,
    }
}

/// That tools of a server describe themselves differently than when a person last heard of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Its name.
    pub server: String,
    /// The tools.
    pub restated: Arc<Restated>,
    /// A sentence about it, for people and models.
    pub told: String,
}

impl Change {
    pub(super) fn of(handle: &Handle) -> Option<Self> {
        let restated = handle.view().restated?;
        let redactor = handle.shared.ears.redactor.snapshot();
        Some(Self {
            server: handle.name().to_owned(),
            told: restated.told(handle.name(), &redactor)?,
            restated,
        })
    }
}

/// A configured server whose tools cannot be used now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unavailable {
    /// Its name.
    pub server: String,
    /// Why, and what would help; in our own words, never in the server's.
    pub why: String,
    /// Whether some of its tools can be used.
    pub partly: bool,
}

impl Unavailable {
    pub(super) fn of(member: &Member) -> Option<Self> {
        let server = member.server().name().to_owned();
        let why = match member {
            Member::Disabled(_) => return None,
            Member::Refused(_, why) => why.clone(),
            Member::On(handle) => {
                let view = handle.view();
                let usable = view.state.is_on_its_way()
                    || matches!(view.state, State::Ready | State::Recycled);
                if let Some(cut) = view.catalog.cut.as_ref().filter(|_| usable) {
                    return Some(Self {
                        server,
                        why: cut.clone(),
                        partly: true,
                    });
                }
                // One that is tried again is as unavailable as it was: no news to whoever heard of it.
                let unreachable = |error: &str| format!("it cannot be reached ({error})");
                match view.state {
                    State::Ready | State::Recycled => return None,
                    State::Connecting { .. } | State::Reconnecting { .. } => view
                        .last_failure
                        .as_deref()
                        .map_or_else(|| "it is being connected".to_owned(), unreachable),
                    State::NeedsAuth => {
                        format!(
                            "it does not let us in; the user can {}",
                            handle.server().way_in()
                        )
                    }
                    State::Parked => unreachable(view.last_failure.as_deref().unwrap_or_default()),
                    State::Stopping | State::Stopped => "it is being ended".to_owned(),
                }
            }
        };
        Some(Self {
            server,
            why,
            partly: false,
        })
    }
}
