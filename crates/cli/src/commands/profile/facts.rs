//! What can be said about a profile at a glance.

use hermes_config::{Distribution, Home};
use serde::Serialize;

use super::Desk;
use crate::complaint::Outcome;

#[derive(Debug, Serialize)]
pub(super) struct Facts {
    pub(super) name: String,
    pub(super) home: String,
    /// This run uses it.
    pub(super) in_use: bool,
    /// It is used when none is named.
    pub(super) active: bool,
    pub(super) model: Option<String>,
    pub(super) description: Option<String>,
    pub(super) gateway_pid: Option<i32>,
    pub(super) skills: usize,
    pub(super) wrappers: Vec<String>,
    pub(super) distribution: Option<Installed>,
}

#[derive(Debug, Serialize)]
pub(super) struct Installed {
    pub(super) name: String,
    pub(super) version: Option<String>,
    pub(super) source: Option<String>,
}

impl Facts {
    pub(super) fn of(home: &Home, desk: &Desk<'_>) -> Outcome<Self> {
        let profiles = &desk.profiles;
        let active = profiles.active()?.unwrap_or_default();
        // One damaged file must not hide the other profiles.
        let distribution = Distribution::read(home.path()).ok().flatten();
        Ok(Self {
            name: home.profile().to_string(),
            home: home.path().display().to_string(),
            in_use: home.path() == desk.home.path(),
            active: *home.profile() == active,
            model: profiles.model(home),
            description: profiles.description(home).ok().flatten(),
            gateway_pid: profiles.running_gateway(home),
            skills: profiles.skill_count(home),
            wrappers: desk
                .wrappers
                .of(home)
                .iter()
                .map(|path| path.display().to_string())
                .collect(),
            distribution: distribution.map(|distribution| Installed {
                name: distribution.name,
                version: distribution.version,
                source: distribution.source,
            }),
        })
    }
}
