//! The system prompt: built once for a session, stored with it, and used byte for byte until another
//! model is preferred. One that only takes over is told its own name in the same prompt.
//!
//! Three parts, the steadiest first, so that providers can remember as much as possible: what never
//! changes, what belongs to the project, what belongs to this session.

mod coding;
mod context;
mod guidance;
mod inside;
mod place;
mod scan;
mod size;
mod surface;
mod toolchain;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hermes_config::{Backend, Config};
use hermes_core::{ModelRequest, SessionId};
use hermes_llm::Route;
use hermes_memory::Snapshot;
use hermes_policy::FileRules;
use jiff::Zoned;

use crate::extent::Extent;
use crate::personality;
use crate::turn::SkillsPart;

pub(crate) use coding::is_surface as is_coding_surface;
pub(crate) use context::Hints;
use context::Section;
pub(crate) use inside::Project;
pub use size::{PromptPart, PromptQuestion, PromptSize, Tier, prompt_size};

/// Tells a prompt without the user's own files from one with them.
const WITHOUT_RULES: &str = "The user's own rules and memory are left out of this session.";

/// What a prompt is made from.
pub(crate) struct Facts<'a> {
    pub(crate) config: &'a Config,
    pub(crate) home: &'a Path,
    /// What the file tools may read.
    pub(crate) rules: &'a Arc<FileRules>,
    pub(crate) directory: &'a Path,
    pub(crate) surface: &'a str,
    /// The id of the session, where the model is to know it.
    pub(crate) session: Option<&'a SessionId>,
    /// The name of the personality; none when empty.
    pub(crate) personality: &'a str,
    pub(crate) model: &'a str,
    pub(crate) provider: &'a str,
    /// The window in tokens, which limits context files.
    pub(crate) window: u32,
    pub(crate) tools: &'a [&'a str],
    /// The directories that programs are found in.
    pub(crate) programs: &'a [PathBuf],
    /// What is said about skills.
    pub(crate) skills: &'a SkillsPart,
    /// What is remembered from earlier sessions.
    pub(crate) memory: &'a Snapshot,
    /// What is said about an external memory.
    pub(crate) external: &'a str,
    pub(crate) ignore_rules: bool,
    /// How much there is room for.
    pub(crate) extent: Extent,
    pub(crate) now: Zoned,
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
    let soul = match facts.ignore_rules {
        true => Section::default(),
        false => context::soul(facts),
    };
    let mut warnings = soul.warnings;
    let identity = match (soul.text.is_empty(), facts.extent) {
        (false, _) => soul.text,
        (true, Extent::Tiny) => guidance::SMALL_IDENTITY.to_owned(),
        (true, Extent::Short | Extent::Full) => guidance::IDENTITY.to_owned(),
    };
    add("identity", identity);
    match facts.extent {
        Extent::Tiny => {}
        Extent::Short => add("guidance", guidance::short(facts)),
        Extent::Full => {
            add("guidance", guidance::of(facts));
            add("skills", facts.skills.index.clone());
        }
    }
    if facts.extent != Extent::Tiny {
        warnings.extend_from_slice(&facts.skills.warnings);
        add("preloaded", facts.skills.preloaded.clone());
        if facts.extent.is_full() && !facts.ignore_rules {
            add("external", facts.external.to_owned());
        }
        add("environment", place::environment(facts));
        if facts.extent.is_full() {
            add("coding", coding::of(facts));
            add("toolchain", toolchain::line(facts));
        }
        add("surface", surface::hint(facts));
        add("instructions", facts.config.agent.system_prompt.clone());
        add(
            "personality",
            personality::text(facts.config, facts.personality).unwrap_or_default(),
        );
        if !facts.ignore_rules {
            let project = context::project(facts);
            warnings.extend(project.warnings);
            add("project", project.text);
        }
        // What changes most often comes last, so that the rest stays as providers know it.
        warnings.extend_from_slice(&facts.memory.warnings);
        add("memory", facts.memory.text());
    }
    add("session", session_lines(facts));
    made.text = joined(&made.parts);
    made.warnings = warnings;
    made
}

fn joined(parts: &[(&'static str, String)]) -> String {
    parts
        .iter()
        .map(|(_, text)| text.as_str())
        .collect::<Vec<_>>()
        .join("\n\n")
}

/// The day, not the time: a prompt that changes every minute is never remembered.
fn session_lines(facts: &Facts<'_>) -> String {
    let mut lines = format!("Today is {}.", facts.now.strftime("%A, %B %-d, %Y"));
    if let Some(id) = facts.session {
        lines.push_str(&format!("\nThe id of this session is {id}."));
    }
    if facts.ignore_rules {
        lines.push_str(&format!("\n{WITHOUT_RULES}"));
    }
    let (model, provider) = (facts.model, facts.provider);
    lines.push_str(&format!("\nModel: {model}\nProvider: {provider}"));
    if !facts.personality.is_empty() {
        lines.push_str(&format!("\nPersonality: {}", facts.personality));
    }
    lines
}

/// What a session is shown of what is remembered: nothing where the user's own files are left out, and nothing
/// for a tiny model.
pub(crate) fn remembered(
    ignore_rules: bool,
    extent: Extent,
    read: impl FnOnce() -> Snapshot,
) -> Snapshot {
    match ignore_rules || extent == Extent::Tiny {
        true => Snapshot::default(),
        false => read(),
    }
}

/// What a stored prompt must have been made for to be used again.
pub(crate) struct Wanted<'a> {
    pub(crate) model: &'a str,
    pub(crate) provider: &'a str,
    pub(crate) personality: &'a str,
    pub(crate) extent: Extent,
    pub(crate) ignore_rules: bool,
    /// The line about this machine and the directory, where files and commands are here.
    pub(crate) here: Option<String>,
}

/// The line about this machine and the directory; nothing where files and commands are elsewhere.
pub(crate) fn here(config: &Config, directory: &Path) -> Option<String> {
    (config.terminal.backend == Backend::Local).then(|| place::here(directory))
}

/// Whether a stored prompt can be used as it is. The window of a model may have become smaller, or larger.
pub(crate) fn is_for(prompt: &str, wanted: &Wanted<'_>) -> bool {
    let extent = if prompt.contains(guidance::ABOUT_ITSELF) {
        Extent::Full
    } else if prompt.contains(guidance::LITTLE_ROOM) {
        Extent::Short
    } else {
        Extent::Tiny
    };
    // A tiny model is told nothing of it.
    let here = wanted.here.as_deref().filter(|_| extent != Extent::Tiny);
    let is_here = here.is_none_or(|here| prompt.lines().any(|line| line == here));
    Ending::of(prompt).is_some_and(|ending| {
        extent == wanted.extent
            && is_here
            && ending.model == wanted.model
            && ending.provider == wanted.provider
            && ending.personality() == wanted.personality
            && ending.without_rules() == wanted.ignore_rules
    })
}

/// Tells the prompt of a request to the model of a route: everything but the two lines that name it stays as it is,
/// and with it what providers remember of the beginning.
pub(crate) fn address(request: &mut ModelRequest, route: &Route) {
    let Some(ending) = Ending::of(&request.system) else {
        return;
    };
    if ending.model != route.model || ending.provider != route.provider {
        let (model, provider) = (&route.model, &route.provider);
        let (before, behind) = (ending.before, ending.behind);
        request.system = format!("{before}\nModel: {model}\nProvider: {provider}{behind}").into();
    }
}

/// The lines of the session, which are the last: what a project file says there is no matter.
struct Ending<'a> {
    /// Everything up to the line of the model.
    before: &'a str,
    model: &'a str,
    provider: &'a str,
    /// Everything behind the line of the provider, with the break in front of it.
    behind: &'a str,
}

impl<'a> Ending<'a> {
    fn of(prompt: &'a str) -> Option<Self> {
        let (before, rest) = prompt.rsplit_once("\nModel:")?;
        let (model, rest) = rest.split_once("\nProvider:")?;
        let (provider, behind) = rest.split_at(rest.find('\n').unwrap_or(rest.len()));
        Some(Self {
            before,
            model: model.trim(),
            provider: provider.trim(),
            behind,
        })
    }

    fn personality(&self) -> &'a str {
        let line = self.behind.trim();
        line.strip_prefix("Personality:").unwrap_or_default().trim()
    }

    fn without_rules(&self) -> bool {
        self.before.ends_with(WITHOUT_RULES)
    }
}
