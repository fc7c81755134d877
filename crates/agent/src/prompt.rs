//! The system prompt: built once for a session, stored with it, and used byte for byte until another
//! model answers.
//!
//! Three parts, the steadiest first, so that providers can remember as much as possible: what never
//! changes, what belongs to the project, what belongs to this session.

mod coding;
mod context;
mod guidance;
mod scan;
mod size;
mod surface;
mod toolchain;

use std::path::{Path, PathBuf};

use hermes_config::Config;
use hermes_core::local_zone;
use jiff::Timestamp;

pub(crate) use coding::is_surface as is_coding_surface;
pub(crate) use context::Hints;
pub use size::{PromptPart, PromptQuestion, PromptSize, Tier, prompt_size};

/// What a prompt is made from.
pub(crate) struct Facts<'a> {
    pub(crate) config: &'a Config,
    pub(crate) home: &'a Path,
    pub(crate) directory: &'a Path,
    pub(crate) surface: &'a str,
    pub(crate) model: &'a str,
    pub(crate) provider: &'a str,
    /// The window in tokens, which limits context files.
    pub(crate) window: u32,
    pub(crate) tools: &'a [&'a str],
    /// The directories that programs are found in.
    pub(crate) programs: &'a [PathBuf],
    pub(crate) ignore_rules: bool,
    /// A tiny model gets a few sentences only.
    pub(crate) small: bool,
    pub(crate) now: Timestamp,
}

/// A prompt, and what the user should know about how it was made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Made {
    pub(crate) text: String,
    pub(crate) warnings: Vec<String>,
    /// The parts by name, for `prompt-size`.
    pub(crate) parts: Vec<(&'static str, String)>,
}

/// Builds the prompt.
pub(crate) fn build(facts: &Facts<'_>) -> Made {
    let mut made = Made::default();
    let mut add = |name: &'static str, text: String| {
        let text = text.trim();
        if !text.is_empty() {
            made.parts.push((name, text.to_owned()));
        }
    };
    let soul = if facts.ignore_rules {
        None
    } else {
        context::soul(facts.home)
    };
    let mut warnings = Vec::new();
    match soul {
        Some(soul) => {
            warnings.extend(soul.warnings);
            add("identity", soul.text);
        }
        None if facts.small => add("identity", guidance::SMALL_IDENTITY.to_owned()),
        None => add("identity", guidance::IDENTITY.to_owned()),
    }
    if !facts.small {
        add("guidance", guidance::of(facts));
        add("environment", surface::environment(facts));
        add("coding", coding::of(facts));
        add("toolchain", toolchain::line(facts));
        add("surface", surface::hint(facts));
        add("instructions", facts.config.agent.system_prompt.clone());
        if !facts.ignore_rules
            && let Some(project) = context::project(facts)
        {
            warnings.extend(project.warnings);
            add("project", project.text);
        }
    }
    add("session", session_lines(facts));
    made.text = made
        .parts
        .iter()
        .map(|(_, text)| text.as_str())
        .collect::<Vec<_>>()
        .join("\n\n");
    made.warnings = warnings;
    made
}

/// The day, not the time: a prompt that changes every minute is never remembered.
fn session_lines(facts: &Facts<'_>) -> String {
    let today = facts.now.to_zoned(local_zone());
    format!(
        "Today is {}.\nModel: {}\nProvider: {}",
        today.strftime("%A, %B %-d, %Y"),
        facts.model,
        facts.provider
    )
}

/// Whether a stored prompt was made for this model.
pub(crate) fn is_for(prompt: &str, model: &str, provider: &str) -> bool {
    let last = |label: &str| {
        prompt
            .lines()
            .rev()
            .find_map(|line| line.strip_prefix(label))
            .map(str::trim)
    };
    last("Model:") == Some(model) && last("Provider:") == Some(provider)
}
