//! Whether a skill is of any use here and now.

use hermes_config::Skills;
use serde::{Deserialize, Serialize};

use crate::catalog::CatalogEntry;
use crate::skill::Skill;

/// The system the program runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    Linux,
    Macos,
    Windows,
    /// Linux on a telephone.
    Termux,
}

/// Surroundings a skill can be meant for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surrounding {
    Kanban,
    Docker,
    S6,
}

/// What a skill asks of where it is offered; a part of what is remembered about it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Conditions {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub platforms: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub environments: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requires_toolsets: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requires_tools: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fallback_for_toolsets: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fallback_for_tools: Vec<String>,
}

/// Where the program runs, as far as skills care; the same for the whole run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locality {
    pub system: System,
    pub surroundings: Vec<Surrounding>,
}

/// What a conversation offers.
#[derive(Debug, Clone, Copy)]
pub struct Circumstances<'a> {
    pub locality: &'a Locality,
    pub settings: &'a Skills,
    /// Where the conversation takes place: `cli`, `telegram`, ….
    pub surface: &'a str,
    pub tools: &'a [&'a str],
    pub toolsets: &'a [&'a str],
}

/// Why a skill is not offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hidden {
    /// It is for another system.
    System,
    /// It is for other surroundings.
    Surroundings,
    /// The settings switch it off.
    Disabled,
    /// A tool or a toolset it needs is missing.
    Missing(String),
    /// Something better is there.
    Superseded(String),
}

impl System {
    /// The one this program was built for.
    pub fn built_for() -> Self {
        if cfg!(target_os = "macos") {
            Self::Macos
        } else if cfg!(target_os = "windows") {
            Self::Windows
        } else if cfg!(target_os = "android") {
            Self::Termux
        } else {
            Self::Linux
        }
    }

    fn is(self, word: &str) -> bool {
        match self {
            Self::Linux => word == "linux",
            Self::Macos => matches!(word, "macos" | "darwin"),
            Self::Windows => word == "windows",
            Self::Termux => matches!(word, "termux" | "android" | "linux"),
        }
    }
}

impl Surrounding {
    fn named(word: &str) -> Option<Self> {
        match word {
            "kanban" => Some(Self::Kanban),
            "docker" => Some(Self::Docker),
            "s6" => Some(Self::S6),
            _ => None,
        }
    }
}

impl Conditions {
    pub fn of(skill: &Skill) -> Self {
        Self {
            platforms: skill.platforms.clone(),
            environments: skill.environments.clone(),
            requires_toolsets: skill.hermes.requires_toolsets.clone(),
            requires_tools: skill.hermes.requires_tools.clone(),
            fallback_for_toolsets: skill.hermes.fallback_for_toolsets.clone(),
            fallback_for_tools: skill.hermes.fallback_for_tools.clone(),
        }
    }

    /// Whether the skill works on this system.
    pub fn fits(&self, system: System) -> bool {
        self.platforms.is_empty() || self.platforms.iter().any(|word| system.is(word))
    }

    /// Whether it is meant for these surroundings. Words nobody knows may mean anything, so they pass.
    fn fits_surroundings(&self, here: &[Surrounding]) -> bool {
        self.environments.is_empty()
            || self.environments.iter().any(|word| {
                Surrounding::named(word).is_none_or(|surrounding| here.contains(&surrounding))
            })
    }

    fn unmet(&self, around: &Circumstances<'_>) -> Option<Hidden> {
        let missing = |names: &[String], there: &[&str]| {
            let mut names = names.iter();
            names.find(|name| !there.contains(&name.as_str())).cloned()
        };
        let present = |names: &[String], there: &[&str]| {
            let mut names = names.iter();
            names.find(|name| there.contains(&name.as_str())).cloned()
        };
        missing(&self.requires_tools, around.tools)
            .or_else(|| missing(&self.requires_toolsets, around.toolsets))
            .map(Hidden::Missing)
            .or_else(|| {
                present(&self.fallback_for_tools, around.tools)
                    .or_else(|| present(&self.fallback_for_toolsets, around.toolsets))
                    .map(Hidden::Superseded)
            })
    }
}

/// Whether the settings switch a skill off on a surface.
pub fn is_disabled(name: &str, surface: &str, settings: &Skills) -> bool {
    let here = settings.platform_disabled.get(surface);
    let mut off = settings.disabled.iter().chain(here.into_iter().flatten());
    off.any(|other| other == name)
}

/// Why a skill cannot be used here, whatever tools there are; `None` when it can.
pub fn unusable(
    entry: &CatalogEntry,
    locality: &Locality,
    settings: &Skills,
    surface: &str,
) -> Option<Hidden> {
    if is_disabled(&entry.name, surface, settings) {
        Some(Hidden::Disabled)
    } else if !entry.conditions.fits(locality.system) {
        Some(Hidden::System)
    } else if !entry.conditions.fits_surroundings(&locality.surroundings) {
        Some(Hidden::Surroundings)
    } else {
        None
    }
}

/// Why the prompt does not show a skill; `None` when it does.
pub fn hidden(entry: &CatalogEntry, around: &Circumstances<'_>) -> Option<Hidden> {
    unusable(entry, around.locality, around.settings, around.surface)
        .or_else(|| entry.conditions.unmet(around))
}
