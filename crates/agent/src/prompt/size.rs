//! How much of the window is taken before anybody has said anything.

use std::path::{Path, PathBuf};

use hermes_config::Config;
use hermes_core::ToolSpec;
use jiff::Timestamp;

use super::{Facts, build};
use crate::toolsets;
use crate::turn::text_tokens;

/// The session that is asked about.
pub struct PromptQuestion<'a> {
    /// The settings.
    pub config: &'a Config,
    /// The home directory, for the user's own files.
    pub home: &'a Path,
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
    /// Whether the model is a tiny one, which gets a few sentences and no tools.
    pub small: bool,
    /// The tools there are.
    pub tools: Vec<ToolSpec>,
    /// The directories that programs are found in.
    pub programs: &'a [PathBuf],
    /// The time now.
    pub now: Timestamp,
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
    let chosen = toolsets::chosen(question.config, question.surface, None);
    let mut offered: Vec<&ToolSpec> = question
        .tools
        .iter()
        .filter(|spec| !question.small && chosen.has(&spec.name))
        .collect();
    offered.sort_by(|left, right| left.name.cmp(&right.name));
    let made = build(&Facts {
        config: question.config,
        home: question.home,
        directory: question.directory,
        surface: question.surface,
        model: question.model,
        provider: question.provider,
        window: question.window,
        tools: &offered
            .iter()
            .map(|spec| spec.name.as_str())
            .collect::<Vec<_>>(),
        programs: question.programs,
        ignore_rules: false,
        small: question.small,
        now: question.now,
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
        "session" => Tier::Volatile,
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
