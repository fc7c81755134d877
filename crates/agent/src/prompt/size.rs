//! How much of the window is taken before anybody has said anything.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hermes_config::Config;
use hermes_core::ToolSpec;
use hermes_policy::FileRules;
use hermes_skills::Library;
use jiff::Zoned;

use super::{Facts, build, remembered};
use crate::extent::Extent;
use crate::turn::{SkillsPart, skills_listed, text_tokens};
use crate::{personality, toolsets};

/// The session that is asked about.
pub struct PromptQuestion<'a> {
    /// The settings.
    pub config: &'a Config,
    /// The home directory, for the user's own files.
    pub home: &'a Path,
    /// The directory of what is remembered.
    pub memories: &'a Path,
    /// The directory the session would run in.
    pub directory: &'a Path,
    /// Where it would run: `cli`, `telegram`, ….
    pub surface: &'a str,
    /// The model's name.
    pub model: &'a str,
    /// The provider's id.
    pub provider: &'a str,
    /// The window in tokens, which limits context files.
    pub window: u32,
    /// Whether the model is the one inside the program, which gets a few sentences and no tools.
    pub small: bool,
    /// The skills there are.
    pub skills: &'a Library,
    /// The tools there are.
    pub tools: Vec<ToolSpec>,
    /// The directories that programs are found in.
    pub programs: &'a [PathBuf],
    /// What an external memory has to say about itself.
    pub external: &'a str,
    /// The time now, where people are.
    pub now: Zoned,
}

/// How large a prompt is, part by part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptSize {
    /// The parts of the system prompt, in order.
    pub prompt: Vec<(Tier, PromptPart)>,
    /// The tools on offer.
    pub tools: Vec<PromptPart>,
}

/// One part of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptPart {
    /// Its name.
    pub name: String,
    /// Its size.
    pub bytes: usize,
    /// About how many tokens that is.
    pub tokens: u32,
}

/// How long a part stays as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// Until the settings change.
    Stable,
    /// As long as the project's files do.
    Context,
    /// For this session.
    Volatile,
}

impl PromptSize {
    /// Everything together.
    pub fn total(&self) -> PromptPart {
        let prompt = self.prompt.iter().map(|(_, part)| part);
        let all = prompt.chain(&self.tools);
        let (bytes, tokens) = all.fold((0, 0u32), |(bytes, tokens), part| {
            (bytes + part.bytes, tokens.saturating_add(part.tokens))
        });
        PromptPart {
            name: "total".to_owned(),
            bytes,
            tokens,
        }
    }
}

/// Measures what a session would begin with. Reads the same files as a session does.
pub fn prompt_size(question: &PromptQuestion<'_>) -> PromptSize {
    let extent = Extent::of(question.small, question.window);
    let chosen = toolsets::chosen(question.config, question.surface, None);
    let mut offered: Vec<&ToolSpec> = question
        .tools
        .iter()
        .filter(|spec| extent.offers(&spec.name, false) && chosen.has(&spec.name))
        .collect();
    offered.sort_by(|left, right| left.name.cmp(&right.name));
    let names: Vec<&str> = offered.iter().map(|spec| spec.name.as_str()).collect();
    let skills = SkillsPart {
        index: skills_listed(question.skills, &names, question.surface, ""),
        ..SkillsPart::default()
    };
    let memory = remembered(false, extent, || {
        let settings = (&question.config.memory).into();
        hermes_memory::snapshot(question.memories, &settings)
    });
    // Nothing is told to anybody here; the home is enough to know a link to its keys.
    let rules = Arc::new(FileRules {
        product_home: question.home.to_owned(),
        ..FileRules::default()
    });
    let made = build(&Facts {
        config: question.config,
        home: question.home,
        rules: &rules,
        directory: question.directory,
        surface: question.surface,
        session: None,
        personality: personality::chosen(question.config, None),
        model: question.model,
        provider: question.provider,
        window: question.window,
        tools: &names,
        skills: &skills,
        programs: question.programs,
        memory: &memory,
        external: question.external,
        ignore_rules: false,
        extent,
        now: question.now.clone(),
    });
    let prompt = made
        .parts
        .iter()
        .map(|(name, text)| (tier(name), part(name, &[text])))
        .collect();
    let tools = offered
        .iter()
        .map(|spec| {
            let parameters = spec.parameters.to_string();
            part(&spec.name, &[&spec.name, &spec.description, &parameters])
        })
        .collect();
    PromptSize { prompt, tools }
}

fn tier(part: &str) -> Tier {
    match part {
        "project" => Tier::Context,
        "memory" | "session" => Tier::Volatile,
        _ => Tier::Stable,
    }
}

fn part(name: &str, texts: &[&str]) -> PromptPart {
    PromptPart {
        name: name.to_owned(),
        bytes: texts.iter().map(|text| text.len()).sum(),
        tokens: texts.iter().map(|text| text_tokens(text)).sum(),
    }
}
